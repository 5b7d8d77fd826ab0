package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"earshot"
	"earshot/config"
	"earshot/daemon"
	"earshot/daemon/access"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/llm"
	"earshot/llm/llmtest"
	outlet "earshot/outlets/console"
	"earshot/participants"
	"earshot/providers"
	"earshot/providers/replay"
)

//go:embed demo.txtar
var demoScene []byte

type demoCommand struct {
	Speed float64 `default:"1" help:"Speed: how many seconds of the scene pass in one second."`
}

// Run performs the demonstration.
func (d demoCommand) Run(a *app) error {
	told := a.told()
	fmt.Fprintln(told, "A conversation with a scripted model, in a temporary journal that is deleted afterwards.")
	fmt.Fprintln(told, "The script types what Ann types. ^C stops it.")
	fmt.Fprintln(told)
	events, err := a.perform(demoScene, d.Speed, true)
	if err != nil {
		return err
	}
	fmt.Fprintln(told, "\nThe journal says what was heard, who cut in, and what was left unsaid:")
	fmt.Fprintln(told)
	for _, e := range transcript.InOrder(events) {
		transcript.Print(a.printed(), e, called)
	}
	fmt.Fprintln(told, "\nTo talk to it yourself: earshot run")
	return nil
}

// called is what the demonstration calls the two who talk.
func called(id earshot.ParticipantID) string {
	if id == participants.Owner {
		return "Ann"
	}
	return "Earshot"
}

type replayCommand struct {
	Scene string  `arg:"" optional:"" type:"existingfile" help:"A scene, such as those in testdata/scenes, or a sound file, which is heard as if it were spoken here."`
	Speed float64 `default:"1" help:"Speed: how many seconds of the scene pass in one second."`
	JSON  bool    `help:"Print the resulting events as JSON, one per line; for a day, the comparison."`
	past
}

// Run performs a recorded scene, or a day.
func (r replayCommand) Run(a *app) error {
	switch {
	case r.Day != "" && r.Scene != "" || r.Day == "" && (r.Scene == "" || r.Room != "" || r.Journal != ""):
		return &verdict{misused, errors.New("say what to replay: a scene, a sound file, or a day from the journal, as in: earshot replay --day yesterday")}
	case r.Day != "":
		return r.again(a, r.JSON)
	}
	if !strings.EqualFold(filepath.Ext(r.Scene), ".txtar") {
		return r.listen(a)
	}
	about, err := os.Stat(r.Scene)
	if err != nil {
		return err
	}
	if about.Size() > largestScene {
		return fmt.Errorf("%s has %d bytes; a scene can have at most %d", r.Scene, about.Size(), largestScene)
	}
	archive, err := os.ReadFile(r.Scene)
	if err != nil {
		return err
	}
	events, err := a.perform(archive, r.Speed, !r.JSON)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Scene, err)
	}
	return r.print(a, events)
}

// print prints what came of it, for programs.
func (r replayCommand) print(a *app, events []earshot.Event) (err error) {
	for _, e := range events {
		if r.JSON {
			err = errors.Join(err, json.NewEncoder(a.out).Encode(e))
		}
	}
	return err
}

// replayed is how many of the newest events of a performance are told.
const replayed = 256

// largestScene is a day of talking, and little enough to read at once.
const largestScene = 4 << 20

// patience is how long a performance waits for its last reply: longer than any
// script talks, and not for ever where one hangs.
const patience = 2 * time.Minute

// perform performs a scene in a house that is thrown away afterwards, and
// returns the events that came of it.
func (a *app) perform(archive []byte, speed float64, live bool) ([]earshot.Event, error) {
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
	d, err := daemon.Open(a.ctx, cfg, daemon.Options{Account: who, Name: who.ID, Version: version()})
	if err != nil {
		return nil, err
	}
	for n := range own {
		d.Voices().Registry.LearnOwn(masked(0, own, time.Duration(n)))
	}
	ctx, leave := context.WithCancel(a.ctx)
	defer leave()
	if !(speed > 0) {
		speed = 1
	}
	hasten(d.Models(), speed)
	s := &stage{daemon: d, sense: &replay.Provider{Events: heard, Speed: speed, Via: local}, heard: heard, speed: speed}
	if live {
		t, done, err := a.terminal(a.in, a.out)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		defer done()
		defer d.AddOutlet(outlet.New(outlet.Config{Outlet: local, Name: d.People().Name}, t))()
		if t.ByKeys() {
			s.screen = t
			stop := watch(ctx, t, leave)
			defer stop()
		}
	}
	err = d.Run(ctx, nil, s)
	events, bad := d.Store().For(d.Audience()).Last(context.WithoutCancel(ctx), transcript.Spoken, replayed)
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
	daemon *daemon.Daemon
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
		awaitSilence(ctx, s.daemon)
	}
	return nil
}

// awaitSilence waits until nobody speaks and no question waits.
func awaitSilence(ctx context.Context, d *daemon.Daemon) {
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
