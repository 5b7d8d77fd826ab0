// Package scenetest performs scenes: what is heard and seen, and what must be said in response. A
// scene is a text archive; see testdata/scenes for many.
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
// A scene in which something is said aloud also has a loudspeaker.
//
// The part config has keys of the section executive, and may be left out. Unless it sets
// parallel.reasoning_continuous, the agent thinks only when it is asked to, so the model is only
// asked what the people of the scene ask. The model is a script; see [earshot/llm/llmtest]. Ann
// operates earshot. Time follows the caller's clock: tests perform within a synctest bubble.
//
// If there is a part people, each of them has a terminal, and what the terminal shows is part of
// the result. A line is a name, a type, and perhaps a description:
//
//	-- people --
//	ann    human           whose machine it is
//	bob    human
//	coder  internal_agent  writes programs
//	-- heard --
//	0.0s  console/ann    (comes)
//	0.0s  console/bob    (comes)
//	1.0s  console/bob    @earshot hello
//	2.0s  console/bob#2  (comes)
//	-- said --
//	0.0s  console,console/bob  (sees) bob has joined
//	1.0s  console  (sees) bob: @earshot hello
//
// Somebody who comes opens their terminal, and somebody who goes closes it; console/bob#2 is Bob's
// second terminal. Ann's is called console. After /identity, what is typed at a terminal is by the
// new identity. What only one terminal is told, and is kept nowhere, is marked (told); what the
// room refuses is marked (refused).
//
// If there is a part agents, it lists agents in addition to the one that always exists. A line is a
// name and settings: main, rooms=desk,den (where the agent has a seat; everywhere by default),
// auto_reply=false, engine, model, description and prompt. The name of an agent other than the
// first stands before what it says, and the script can depend on the agent that asks; see
// [earshot/llm/llmtest].
//
//	-- agents --
//	coder  prompt="You write programs." description="writes programs"
//	scout  main
//
// Agents have files, in a directory that is removed afterwards.
//
// If a line has the provider webcam, there is a camera of that name, and its lines say what it
// sees. The picture itself is in a part named after the camera, as plain PGM: a small grey picture,
// which models get as JPEG. The name of a later picture includes the time from which it applies.
//
//	-- desk.pgm --
//	P2 2 2 9
//	0 9
//	9 0
//	-- desk 10s.pgm --
//	P2 1 1 1  0
//
// A part that ends in .film is what the real helper recorded of a film; see [see.Recording]. The
// sense of the camera sees it from the beginning, or from the time in the name of the part.
//
//	-- desk 5s.film --
//	768 576
//	0.00 0.470 0.197 0.0000 0.0000 .+ person,0.833,0.300,0.083,0.277,0.80
//
// Agents have a memory if the script has a rule for it, so that a scene without one costs nothing.
//
// Tasks are worked on, also by the clock, if the config enables them.
//
// If there is a part asked, it says what the model is asked: who it is told is present, what it is
// told to correct, and the dialogue. The part window is how many messages the model accepts at
// once, including those of the program.
package scenetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/txtar"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/executive/explain"
	"earshot/executive/memory"
	"earshot/executive/room"
	"earshot/executive/tool/workspace"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
	"earshot/models/see"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/providers/replay"
)

// Ann is the operator of earshot in every scene.
var Ann = earshot.Handle{Provider: "console", ID: "ann"}

// pace is how long the console of a scene takes to show a rune: so little that the model sets the
// pace.
const pace = time.Millisecond

// breath is how long the loudspeaker takes to say a rune: this makes some 150 words a minute.
const breath = 60 * time.Millisecond

// A Scene is a parsed archive.
type Scene struct {
	Config executive.Config
	People []participants.Participant // nil without a part people
	Agents []agents.Record            // nil without a part agents
	Model  *llmtest.Script
	frames []frame
	films  []film
	Window int // how many messages the model accepts; 0 means any number
	Heard  []replay.At
	Said   string
	Asked  string
}

// Parse reads an archive.
func Parse(archive []byte) (*Scene, error) {
	s := &Scene{Config: unmoved(executive.DefaultConfig(), "")}
	parts := txtar.Parse(archive)
	for _, f := range parts.Files {
		var err error
		name := f.Name
		for _, ending := range []string{".pgm", ".film"} {
			if strings.HasSuffix(name, ending) {
				name = "*" + ending
			}
		}
		switch name {
		case "*.pgm":
			var picture frame
			if picture.part, err = before(f.Name, ".pgm"); err == nil {
				picture.picture, err = parsePGM(f.Data)
			}
			s.frames = append(s.frames, picture)
		case "*.film":
			var seen film
			if seen.part, err = before(f.Name, ".film"); err == nil {
				seen.seen, err = see.ParseRecording(f.Data)
			}
			s.films = append(s.films, seen)
		case "config":
			s.Config, err = configured(f.Data)
		case "people":
			s.People, err = cast(f.Data)
		case "agents":
			s.Agents, err = staff(f.Data)
		case "model":
			s.Model, err = llmtest.Parse(f.Data)
		case "window":
			s.Window, err = strconv.Atoi(strings.TrimSpace(string(f.Data)))
		case "heard":
			s.Heard, err = replay.Parse(archive)
		case "said":
			s.Said = string(f.Data)
		case "asked":
			s.Asked = string(f.Data)
		default:
			err = fmt.Errorf("there is no such part")
		}
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", f.Name, err)
		}
	}
	if len(s.Heard)+len(s.films) == 0 {
		return nil, fmt.Errorf("nothing is heard")
	}
	return s, nil
}

// configured reads keys of the section executive, as strictly as the configuration itself.
func configured(part []byte) (executive.Config, error) {
	text := "executive:\n  " + strings.ReplaceAll(strings.TrimSpace(string(part)), "\n", "\n  ")
	cfg, err := config.Parse("scene", []byte(text), nil)
	if err != nil {
		return executive.Config{}, err
	}
	return unmoved(cfg.Executive, string(part)), nil
}

// unmoved returns c changed so that what its part of the scene does not name is off: thinking unasked, and
// tasks, for which a scene needs a journal.
func unmoved(c executive.Config, part string) executive.Config {
	c.Parallel.ReasoningContinuous = c.Parallel.ReasoningContinuous && strings.Contains(part, "reasoning_continuous:")
	c.Task.Enabled = c.Task.Enabled && strings.Contains(part, "task:")
	return c
}

// Perform performs s, and returns what was said and what the model was asked, in the form of the
// parts with those names. It returns when everything that was heard has been dealt with.
func (s *Scene) Perform(ctx context.Context) (said, asked string, err error) {
	p, err := s.perform(ctx)
	if p == nil {
		return "", "", err
	}
	t := transcript{began: p.began, people: p.people}
	if s.People != nil {
		t.displays(p.house.seen)
	}
	t.journal(p.journal.Events())
	return t.String(), p.model.String(p.began), err
}

// Record performs s, and returns the events that were recorded.
func (s *Scene) Record(ctx context.Context) ([]earshot.Event, error) {
	p, err := s.perform(ctx)
	if p == nil {
		return nil, err
	}
	return p.journal.Events(), err
}

// A performance is the result of performing a scene.
type performance struct {
	began   time.Time
	people  *participants.Registry
	house   *stage
	journal *testkit.Journal
	model   *prompter
}

func (s *Scene) perform(ctx context.Context) (*performance, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	people, err := participants.Open(s.setup())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "earshot-scene-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	began, journal, model := time.Now(), new(testkit.Journal), &prompter{script: s.Model, window: s.Window}
	cfg := room.Config{
		ID: earshot.Desk, Settings: func() executive.Config { return s.Config }, People: people,
		Voices:  new(voices),
		Tools:   (&workspace.Store{Dir: dir}).Tools(),
		Journal: journal, Decided: func(a earshot.Audience) explain.Journal { return journal.For(a) }, Now: time.Now, NewID: counter(), Log: slog.New(slog.DiscardHandler),
	}
	if s.Model != nil {
		cfg.Model = model
	}
	sight := s.eyes()
	if sight != nil {
		cfg.Cameras = sight
	}
	notes := s.memory(journal, model, people, &cfg)
	work, err := s.tasks(ctx, dir, model, people, &cfg)
	if err != nil {
		return nil, err
	}
	if s.Agents != nil {
		seats := s.seats()
		cfg.Agents, cfg.Recall = func() []agents.Record { return seats }, recall(journal)
	}
	house := &stage{room: room.New(cfg), people: people, leaves: make(map[string]func())}
	if s.People == nil {
		house.open(seatOf(Ann))
	}
	if s.aloud() {
		house.room.Enter(&testkit.Voice{Called: "loudspeaker", Every: breath, Aloud: true}, earshot.Audience{Unknown: true})
	}
	var running sync.WaitGroup
	tasks := work(house.room)
	running.Go(func() { tasks(ctx) })
	running.Go(func() { house.room.Run(ctx) })
	if notes != nil {
		notes.Room = func(earshot.RoomID) (memory.Room, bool) { return house.room, true }
		running.Go(func() { notes.Run(ctx) })
	}
	var playing errgroup.Group
	for _, f := range s.films {
		playing.Go(func() error {
			return f.play(ctx, func(ctx context.Context, e earshot.Event) error {
				sight.note(e)
				return house.room.Admit(ctx, e)
			})
		})
	}
	sense := &replay.Provider{Events: s.Heard, Via: "console"}
	err = sense.Run(ctx, func(ctx context.Context, e earshot.Event) error {
		sight.note(e)
		return house.admit(ctx, e)
	})
	err = errors.Join(err, playing.Wait())
	for calm := 0; err == nil && calm < 2; calm++ { // between a thought and what is said about it, there may seem to be nothing left to do
		if house.room.Busy() {
			calm = -1
		}
		time.Sleep(pace)
	}
	leave()
	running.Wait()
	return &performance{began, people, house, journal, model}, err
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
	var n atomic.Int64
	return func() earshot.EventID { return earshot.EventID(fmt.Sprintf("e%04d", n.Add(1))) }
}
