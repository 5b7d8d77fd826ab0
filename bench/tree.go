package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"earshot/internal/sound/soundtest"
	"earshot/server/client"
)

// treeRounds is how many rounds make the five seconds for which each state is
// watched.
const treeRounds = 60

// longReply is what the model of the tree says when it is asked about the
// tides: more than a minute of speech.
var longReply = strings.Repeat("The tide comes in twice every day, and goes out again as often as it came in before. ", 20)

// tree measures what earshot and its helpers need together, on a virtual sound
// card: with an open microphone in which nobody speaks, while somebody speaks
// beside it, and while it speaks itself. The bare thing is a daemon without a
// voice, in the same seconds.
func tree(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("tree", []string{"speech", "pulse"}, "flite", "pulseaudio", "pactl", "pacat"); rows != nil {
		return rows, nil
	}
	speech, err := b.chatter(ctx)
	if err != nil {
		return nil, err
	}
	sounds, err := soundtest.New(ctx)
	if err != nil {
		return nil, err
	}
	defer sounds.Close()
	ours, err := b.startVoiced(ctx, "tree", sounds.Env())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ours.stop()) }()
	mute, err := b.startVoiced(ctx, "mute", nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, mute.stop()) }()
	if err := ours.opened(ctx, sounds); err != nil {
		return nil, err
	}
	w := &watching{long: time.Duration(min(b.rounds, treeRounds)) * 5 * time.Second / treeRounds, ours: ours.process, bare: mute.process}
	if err := w.state("microphone open, silence"); err != nil {
		return w.rows, err
	}
	speaking, quiet := context.WithCancel(ctx)
	var playing sync.WaitGroup
	playing.Go(func() { sounds.Play(speaking, speech) }) // until it is told to be quiet
	time.Sleep(settling)
	err = w.state("somebody speaks")
	quiet()
	playing.Wait()
	time.Sleep(finishing)
	if err == nil {
		err = ours.ask(ctx, sounds)
	}
	if err == nil {
		err = w.state("the agent speaks")
	}
	return w.rows, err
}

// chatter is what somebody says who does not talk to the agent: half a minute.
func (b bench) chatter(ctx context.Context) (pcm []int16, err error) {
	for text := range strings.Lines(sentencesText) {
		said, err := b.recite(ctx, "slt", strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		pcm = append(pcm, said...)
	}
	breathe(pcm)
	return pcm, nil
}

// A household is a daemon with its helpers.
type household struct {
	process
	client *client.Client
}

// startVoiced starts a daemon in a home of its own, with a voice if there is a
// sound server that it can reach by env, and returns when it answers.
func (b bench) startVoiced(ctx context.Context, name string, env []string) (*household, error) {
	if err := b.helpers(ctx); err != nil {
		return nil, err
	}
	home := filepath.Join(b.dir, name)
	script := filepath.Join(b.dir, name+".yaml")
	if err := os.WriteFile(script, fmt.Appendf(nil, "reply: %s\n", longReply), 0o600); err != nil {
		return nil, err
	}
	args := []string{"--config", os.DevNull, "run"}
	if env == nil {
		args = append(args, "--no-voice")
	}
	p, err := b.runDaemon(ctx, home, append(env, "EARSHOT_EXECUTIVE_LLM_PROVIDER=script", "EARSHOT_EXECUTIVE_LLM_SCRIPT="+script, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true"), args...)
	return &household{p, &client.Client{Socket: socketIn(home)}}, err
}

// helpersOf is how many helpers a daemon with a voice has: for the sound card,
// to hear and to speak.
const helpersOf = 3

// loading is how long helpers that run may still load their models.
const loading = 2 * time.Second

// settling is how long it takes until what is played is being understood.
const settling = time.Second

// finishing is how long what was said may still be understood, which is no cost of speaking.
const finishing = 2 * time.Second

// opened waits until the microphone is open and every helper has started.
func (h *household) opened(ctx context.Context, sounds *soundtest.Server) error {
	err := eventually(ctx, func() (bool, error) {
		in, _, err := sounds.Streams()
		all, err2 := h.tree()
		return in == 1 && len(all) == 1+helpersOf, errors.Join(err, err2)
	})
	time.Sleep(loading)
	return err
}

// ask asks the agent for something long, and waits until it speaks.
func (h *household) ask(ctx context.Context, sounds *soundtest.Server) error {
	if _, err := h.client.Post(ctx, "", "tell me about the tides"); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) {
		n, err := sounds.Playing()
		return n > 0, err
	})
}

// eventually waits until so reports true.
func eventually(ctx context.Context, so func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond) // other processes tell nobody
	defer again.Stop()
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A watching compares what a daemon with a voice needs with one that has none.
type watching struct {
	long       time.Duration
	ours, bare process
	rows       []Row
}

// state watches both for a while.
func (w *watching) state(name string) error {
	var uses [2]load
	var before [2]load
	both := [2]process{w.ours, w.bare}
	for i, p := range both {
		u, err := p.needs()
		if err != nil {
			return err
		}
		before[i] = u
	}
	began := time.Now()
	time.Sleep(w.long)
	for i, p := range both {
		u, err := p.needs()
		if err != nil {
			return err
		}
		u.cpu = 100 * float64(u.busy-before[i].busy) / float64(time.Since(began))
		uses[i] = u
	}
	o, p := uses[0], uses[1]
	idle := same(p.cpu) // of which nothing is a multiple
	w.rows = append(w.rows,
		Row{Name: name + ": CPU of the tree", Unit: "% of a core", Ours: same(o.cpu), Bare: &idle, Note: fmt.Sprintf("after %v, of %d processes: %s; the sound server is not among them", w.long, len(o.each), strings.Join(o.since(before[0], time.Since(began)), ", "))},
		row(name+": memory (PSS)", "MB", same(o.pss), same(p.pss), ""),
		row(name+": memory (RSS)", "MB", same(o.rss), same(p.rss), "files that several have in memory count for each"),
	)
	return nil
}
