// Package scenetest performs scenes: what was heard and seen, and what must be
// said. A scene is a text archive; see testdata/scenes for many.
//
//	A second message stops the agent in mid-sentence.
//
//	-- config --
//	interruption: {enabled: false}
//	-- model --
//	every_seconds: 0.2
//	reply: The tides are the sea's answer to the moon.
//	-- heard --
//	0.0s  console/ann  tell me about the tides
//	1.5s  console/ann  wait
//	-- said --
//	0.2s  console  The tides are the sea's answer to
//	1.5s  cut  command by ann; kept "the moon."
//
// A scene in which something is said aloud has a loudspeaker too.
//
// The config is a part of the section executive, and may be left out. The model
// is a script; see [earshot/llm/llmtest]. Ann is whoever operates earshot. Time
// is whatever clock the caller is on: tests perform within a synctest bubble.
package scenetest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/providers/replay"
)

// Ann operates earshot in every scene.
var Ann = earshot.Handle{Provider: "console", ID: "ann"}

// pace is how fast the console of a scene shows a rune: fast enough that the
// model sets the pace.
const pace = time.Millisecond

// breath is how fast its loudspeaker says one: some hundred and fifty words in
// a minute.
const breath = 60 * time.Millisecond

// A Scene is a parsed archive.
type Scene struct {
	Config executive.Config
	Model  *llmtest.Script
	Heard  []replay.At
	Said   string
}

// Parse reads an archive.
func Parse(archive []byte) (*Scene, error) {
	s := &Scene{Config: executive.DefaultConfig()}
	parts := txtar.Parse(archive)
	for _, f := range parts.Files {
		var err error
		switch f.Name {
		case "config":
			s.Config, err = configured(f.Data)
		case "model":
			s.Model, err = llmtest.Parse(f.Data)
		case "heard":
			s.Heard, err = replay.Parse(archive)
		case "said":
			s.Said = string(f.Data)
		default:
			err = fmt.Errorf("there is no such part")
		}
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", f.Name, err)
		}
	}
	if len(s.Heard) == 0 {
		return nil, fmt.Errorf("nothing is heard")
	}
	return s, nil
}

// configured reads a part of the section executive, as strictly as the
// configuration itself is read.
func configured(part []byte) (executive.Config, error) {
	text := "executive:\n  " + strings.ReplaceAll(strings.TrimSpace(string(part)), "\n", "\n  ")
	cfg, err := config.Parse("scene", []byte(text), nil)
	if err != nil {
		return executive.Config{}, err
	}
	return cfg.Executive, nil
}

// Perform performs s, and returns what was said, in the form of the part said.
// It returns when everything that was heard has been dealt with.
func (s *Scene) Perform(ctx context.Context) (string, error) {
	ctx, leave := context.WithCancel(ctx)
	journal, console := new(testkit.Journal), &testkit.Voice{Called: "console", Every: pace, Flow: true}
	people := participants.New(Ann, "ann", s.Config.Name)
	cfg := room.Config{
		ID: earshot.Desk, Settings: func() executive.Config { return s.Config }, People: people,
		Journal: journal, Now: time.Now, NewID: counter(), Log: slog.New(slog.DiscardHandler),
	}
	if s.Model != nil {
		cfg.Model = s.Model
	}
	r := room.New(cfg)
	r.Enter(console, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
	if s.aloud() {
		r.Enter(&testkit.Voice{Called: "loudspeaker", Every: breath, Aloud: true}, earshot.Audience{Unknown: true})
	}
	began := time.Now()
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	sense := &replay.Provider{Events: s.Heard, Via: "console"}
	err := sense.Run(ctx, r.Admit)
	for err == nil && r.Busy() {
		time.Sleep(pace)
	}
	leave()
	running.Wait()
	return transcript(began, journal.Events(), people), err
}

// aloud reports whether somebody speaks in s.
func (s *Scene) aloud() bool {
	return slices.ContainsFunc(s.Heard, func(at replay.At) bool {
		switch at.Event.Body.(type) {
		case earshot.Speech, earshot.Utterance:
			return true
		}
		return false
	})
}

func counter() func() earshot.EventID {
	var mu sync.Mutex
	n := 0
	return func() earshot.EventID {
		mu.Lock()
		defer mu.Unlock()
		n++
		return earshot.EventID(fmt.Sprintf("e%04d", n))
	}
}

// transcript writes what the house said, one line a fact, in the order in which
// it began: which of two that end together is kept first is nobody's promise.
func transcript(began time.Time, events []earshot.Event, people *participants.Registry) string {
	var b strings.Builder
	line := func(at time.Time, who, format string, args ...any) {
		fmt.Fprintf(&b, "%.1fs  %s  %s\n", at.Sub(began).Seconds(), who, fmt.Sprintf(format, args...))
	}
	slices.SortStableFunc(events, func(a, b earshot.Event) int { return a.At.Compare(b.At) })
	for _, e := range events {
		switch body := e.Body.(type) {
		case earshot.Decision:
			if body.Verdict != earshot.Speak {
				line(e.At, string(body.Verdict), "%s", strings.Join(body.Reasons, "; "))
			}
		case earshot.Notice:
			line(e.At, "notice", "%s", body.Text)
		case earshot.Reply:
			for _, d := range body.Heard {
				if d.Bytes == 0 {
					continue
				}
				line(e.At, d.Outlet, "%s", strings.TrimSpace(string(body.Offered[:d.Bytes])))
			}
			if body.Cut != nil {
				line(body.Cut.At, "cut", "%s by %s; kept %q", body.Cut.Signal, people.Name(body.Cut.By), strings.TrimSpace(string(body.Remainder())))
			} else if body.Outcome != earshot.Completed {
				line(e.At, string(body.Outcome), "%d bytes offered", len(body.Offered))
			}
		}
	}
	return b.String()
}
