// Package sceneplayer performs a recorded scene in a daemon of its own, which is thrown away
// afterwards: for the demonstration, and for whoever replays a scene.
package sceneplayer

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/admin"
	"earshot/executive/room"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/models/voiceprint"
	outlet "earshot/outlets/console"
	"earshot/participants"
	"earshot/providers"
	"earshot/providers/replay"
	"earshot/store"
)

// MaxEvents is how many of the newest events of a performance are told.
const MaxEvents = 256

// patience is how long a performance waits for its last reply: longer than any
// script talks, and not for ever where one hangs.
const patience = 2 * time.Minute

// An OpenTerminal opens the terminal at which somebody watches; closed is called at the end.
type OpenTerminal func() (t *terminal.Terminal, closed func() error, err error)

// A Daemon is the [earshot/daemon.Daemon] in which a scene is performed.
type Daemon interface {
	People() *participants.Registry
	Voices() *admin.Voices
	Models() *llm.Ladder
	Desk() *room.Room
	Store() *store.Store
	Audience() earshot.Audience
	AddOutlet(o earshot.Outlet) (remove func())
	Run(ctx context.Context, l net.Listener, senses ...providers.Provider) error
	Close() error
}

// An OpenDaemon opens a daemon for somebody.
type OpenDaemon func(ctx context.Context, cfg *config.Config, who earshot.Handle) (Daemon, error)

// Play performs a scene in a daemon that is thrown away afterwards, so many times as fast as it
// was, and returns the events that came of it. Whoever watches it at a screen ends it by ^C; a nil
// one is nobody's.
func Play(ctx context.Context, open OpenDaemon, archive []byte, speed float64, screen OpenTerminal) ([]earshot.Event, error) {
	heard, err := replay.Parse(archive)
	if err != nil {
		return nil, err
	}
	if len(heard) == 0 {
		return nil, errors.New("nothing is heard in this scene; it needs a section -- heard --")
	}
	cfg, clean, err := setting(archive)
	if err != nil {
		return nil, err
	}
	defer clean()
	who := host(heard)
	d, err := open(ctx, cfg, who)
	if err != nil {
		return nil, err
	}
	for n := range own {
		d.Voices().Registry.LearnOwn(masked(0, own, time.Duration(n)))
	}
	playing, leave := context.WithCancel(ctx)
	defer leave()
	if !(speed > 0) {
		speed = 1
	}
	hasten(d.Models(), speed)
	s := &stage{daemon: d, sense: &replay.Provider{Events: heard, Speed: speed, Via: "console"}, heard: heard, speed: speed}
	if screen != nil {
		t, closed, err := screen()
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		defer closed()
		defer d.AddOutlet(outlet.New(outlet.Config{Outlet: "console", Name: d.People().Name}, t))()
		if t.ByKeys() {
			s.screen = t
			stop := watch(playing, t, leave)
			defer stop()
		}
	}
	err = d.Run(playing, nil, s)
	events, bad := d.Store().For(d.Audience()).Last(context.WithoutCancel(ctx), transcript.Spoken, MaxEvents)
	return events, errors.Join(err, s.err, bad, d.Close())
}

// host returns whose house it is that a scene is performed in: who writes first there, or
// else whoever performs it. A microphone is nobody.
func host(heard []replay.At) earshot.Handle {
	for _, at := range heard {
		switch at.Event.Body.(type) {
		case earshot.Utterance, earshot.Speech:
		default:
			return at.Event.From
		}
	}
	h, _ := access.Self()
	return h
}

// hasten makes the scripted model of a scene talk as fast as the scene goes.
func hasten(l *llm.Ladder, speed float64) {
	faster := func(every time.Duration) time.Duration { return time.Duration(float64(every) / speed) }
	for _, e := range l.Engines {
		if script, ok := e.Engine.(*llmtest.Script); ok {
			script.Every = faster(script.Every)
			for i := range script.Rules {
				script.Rules[i].Every = faster(script.Rules[i].Every)
			}
		}
	}
}

// setting is the configuration of a scene's house, in a place that clean takes
// away again.
func setting(archive []byte) (cfg *config.Config, clean func(), err error) {
	dir, err := os.MkdirTemp("", "earshot-scene-")
	if err != nil {
		return nil, nil, fmt.Errorf("creating a folder for the scene: %w", err)
	}
	clean = func() { os.RemoveAll(dir) }
	cfg = config.Default()
	cfg.Store.Directory = filepath.Join(dir, "journal")
	cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
	script := []byte("reply: I have nothing to say to that.\n")
	for _, f := range txtar.Parse(archive).Files {
		switch f.Name {
		case "model":
			script = f.Data
		case "config":
			text := "executive:\n  " + strings.ReplaceAll(strings.TrimSpace(string(f.Data)), "\n", "\n  ")
			part, err := config.Parse("part config", []byte(text), nil)
			if err != nil {
				clean()
				return nil, nil, err
			}
			part.Executive.LLM = cfg.Executive.LLM
			cfg.Executive = part.Executive
		}
	}
	if err := os.WriteFile(cfg.Executive.LLM.Script, script, 0o600); err != nil {
		clean()
		return nil, nil, fmt.Errorf("writing the scene's model: %w", err)
	}
	return cfg, clean, nil
}

// A stage is the sense that performs a scene, waits for the last reply, and
// types what is written where people can see it.
type stage struct {
	daemon Daemon
	sense  *replay.Provider
	heard  []replay.At
	speed  float64
	screen *terminal.Terminal // nil if nobody watches
	err    error              // why the performance ended before its time
	next   int                // the event that comes next
}

// Name implements [providers.Provider].
func (s *stage) Name() string { return s.sense.Name() }

// Run implements [providers.Provider]. It never fails, so that it is performed
// once.
func (s *stage) Run(ctx context.Context, emit providers.Emit) error {
	err := s.sense.Run(ctx, func(ctx context.Context, e earshot.Event) error {
		s.typed(e)
		err := emit(ctx, mask(e))
		s.next++
		if t, ok := e.Body.(earshot.Typing); ok && t.Began && err == nil {
			err = s.write(ctx)
		}
		return err
	})
	if ctx.Err() == nil {
		s.err = err
	}
	if s.err == nil {
		AwaitSilence(ctx, s.daemon)
	}
	return nil
}

// AwaitSilence waits until nobody speaks and no question waits.
func AwaitSilence(ctx context.Context, d Daemon) {
	for end := time.Now().Add(patience); d.Desk().Busy() && time.Now().Before(end); {
		select {
		case <-d.Store().Grown():
		case <-time.After(50 * time.Millisecond): // the last turn may not have begun yet
		case <-ctx.Done():
			return
		}
	}
}

// typed shows a message as sent.
func (s *stage) typed(e earshot.Event) {
	if s.screen == nil {
		return
	}
	s.screen.Prompt("", 0)
	if m, ok := e.Body.(earshot.Message); ok {
		s.screen.Echo(string(m.Text))
	}
}

// write types the message that comes next, in nine tenths of the time there is.
func (s *stage) write(ctx context.Context) error {
	if s.screen == nil || s.next >= len(s.heard) {
		return nil
	}
	m, ok := s.heard[s.next].Event.Body.(earshot.Message)
	if !ok {
		return nil
	}
	text := []rune(string(m.Text))
	gap := float64(s.heard[s.next].Offset-s.heard[s.next-1].Offset) / s.speed
	tick := time.NewTicker(max(time.Millisecond, time.Duration(gap*0.9/float64(len(text)+1))))
	defer tick.Stop()
	for i := range text {
		line := string(text[:i+1])
		s.screen.Prompt(line, len(line))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// watch ends the performance at ^C, which a terminal that is read by keys does
// not turn into a signal.
func watch(ctx context.Context, t *terminal.Terminal, leave func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var g sync.WaitGroup
	g.Go(func() {
		for k, err := range t.Keys(ctx) {
			if err != nil || k.Does == terminal.Interrupt || k.Does == terminal.EOF {
				leave()
				return
			}
		}
	})
	return func() { cancel(); g.Wait() }
}

// own is how much is known of the agent's voice before a scene begins, in seconds.
const own = 10

// mask returns e with a voice that can be told from others, where a scene has only the
// number of one.
func mask(e earshot.Event) earshot.Event {
	u, is := e.Body.(earshot.Utterance)
	if !is || u.Voice == nil || len(u.Voice.Print) != 1 {
		return e
	}
	v := masked(uint64(u.Voice.Print[0]), u.Voice.Heard.Seconds(), time.Duration(e.At.UnixNano()))
	v.Channel = u.Voice.Channel
	u.Voice = v
	e.Body = u
	return e
}

// masked returns so many seconds of the voice with a number: one that differs from others
// as people do, and each time a little from itself.
func masked(number uint64, seconds float64, take time.Duration) *earshot.Voice {
	who, how := rand.New(rand.NewPCG(number, 1)), rand.New(rand.NewPCG(number, uint64(take)))
	print := make([]float32, voiceprint.Size)
	for i := range print {
		print[i] = float32(who.NormFloat64() + 0.2*how.NormFloat64())
	}
	return &earshot.Voice{Heard: time.Duration(seconds * float64(time.Second)), Print: print, Channel: "scene"}
}
