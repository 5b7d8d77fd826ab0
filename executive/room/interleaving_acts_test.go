//go:build lockorder && !race

package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// An act is something that happens to a room, on a goroutine of its own; or some time that passes.
type act struct {
	name  string
	do    func(*performance)
	takes time.Duration // of an act that does nothing
}

// A performance is a room in which some acts happen at the same time.
type performance struct {
	*house
	t       *testing.T
	threads *scheduler
	mind    *slowModel
	shelf   gate // where the tool waits for its result
	outlets map[string]*witness
	leave   map[string]func()

	mu       sync.Mutex // guards the following
	n        int
	wrote    map[string]earshot.EventID // the last message of each person
	attempts []*attempt
	read     int // calls of the tool
	left     bool
	ended    bool // the room was closed by an act
	broke    bool // the model failed
	bobLeft  bool
	filled   bool // the disk was full
	took     []string
	history  []earshot.Event // every event that the journal was given, as it was then
}

// An attempt is something that somebody did to the room and waited for.
type attempt struct {
	event earshot.Event
	what  string
	done  bool
	err   error
}

// attempted does something that does not wait for what people, models, tools or disks do.
func (s *performance) attempted(what string, e earshot.Event, do func() error) {
	a, began := &attempt{event: e, what: what}, time.Now()
	s.mu.Lock()
	s.attempts = append(s.attempts, a)
	s.mu.Unlock()
	err := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	a.done, a.err = true, err
	if d := time.Since(began); d > 0 {
		s.took = append(s.took, fmt.Sprintf("%s waited for %v", what, d))
	}
}

// admit admits an event.
func (s *performance) admit(e earshot.Event) {
	s.mu.Lock()
	switch e.Body.(type) {
	case earshot.Message, earshot.Utterance:
		s.n++
		e.ID = earshot.EventID(fmt.Sprint("m", s.n))
		if e.Via != "loudspeaker" {
			s.wrote[e.From.ID] = e.ID
		}
	}
	s.mu.Unlock()
	s.attempted(fmt.Sprint(e.Body.Kind(), " ", e.ID, " of ", e.From.ID), e, func() error { return s.Admit(s.t.Context(), e) })
}

// last returns the last message of somebody.
func (s *performance) last(who string) earshot.EventID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote[who]
}

// by returns an event of somebody at their terminal.
func by(who string, body earshot.Body) earshot.Event {
	return earshot.Event{From: handle(who), Via: map[string]string{"ann": "console"}[who] + map[string]string{"bob": "bob"}[who], Body: body}
}

func writes(who, text string) act {
	return act{name: who + " writes " + text, do: func(s *performance) {
		name, args, _ := strings.Cut(text, " ")
		if name, command := strings.CutPrefix(name, "/"); command {
			s.admit(by(who, earshot.Command{Name: name, Args: earshot.Text(args)}))
			return
		}
		s.admit(by(who, earshot.Message{Text: earshot.Text(text)}))
	}}
}

func types(who string, began bool) act {
	return act{name: who + map[bool]string{true: " presses a key", false: " empties the line"}[began], do: func(s *performance) {
		s.admit(by(who, earshot.Typing{Began: began}))
	}}
}

func speaks(stage earshot.Stage, words string) act {
	return act{name: strings.TrimSpace("the voice " + fmt.Sprint(stage) + " " + words), do: func(s *performance) {
		e := sound(stage)
		b := e.Body.(earshot.Speech)
		b.Words = earshot.Text(words)
		e.From, e.Body = mic, b
		s.admit(e)
	}}
}

// changes changes the last message of somebody.
func changes(who, how string, body func(earshot.EventID) earshot.Body) act {
	return act{name: who + how, do: func(s *performance) {
		if of := s.last(who); of != "" {
			s.admit(by(who, body(of)))
		}
	}}
}

func mode(name string, m earshot.Mode) act {
	return act{name: name, do: func(s *performance) {
		s.attempted(name, earshot.Event{Body: earshot.ModeChange{Mode: m}}, func() error { return s.SetMode(s.t.Context(), participants.Owner, m) })
	}}
}

// bobGoes makes bob go, with his terminal.
func (s *performance) bobGoes() {
	s.mu.Lock()
	s.bobLeft = true
	s.mu.Unlock()
	s.leave["bob"]()
	s.admit(by("bob", earshot.Presence{Session: "bob"}))
}

// fill fills the disk.
func (s *performance) fill() {
	s.mu.Lock()
	s.filled = true
	s.mu.Unlock()
	s.journal.Fail(errDiskFull)
}

// Errors that nobody may read in a prompt, or hear.
var (
	errDiskFull  = errors.New("disk full")
	errModelLost = &llm.Error{Fault: llm.Broken, Engine: "lost engine"}
)

// secretThought is what the model thinks, which nobody may hear.
const secretThought = "a secret thought"

// acts are what may happen at the same time. Their numbers name them in [replayed].
var acts = []act{
	writes("ann", "@Earshot count"), writes("bob", "@Earshot count"), writes("ann", "@Earshot work"), writes("ann", "stop"), writes("bob", "/msg earshot count"), // 0 to 4
	types("ann", true), types("ann", false), // 5, 6
	speaks(earshot.VoiceBegan, ""), speaks(earshot.VoiceWords, "earshot count"), speaks(earshot.VoiceOver, ""), // 7 to 9
	{name: "somebody says it", do: func(s *performance) { s.admit(aloud("earshot count", 0)) }},
	{name: "the disk is full", do: (*performance).fill},
	{name: "the disk has room", do: func(s *performance) { s.journal.Fail(nil) }},
	{name: "the settings change", do: func(s *performance) { // 13
		set := s.settings()
		set.Streaming.DisplayPartial = !set.Streaming.DisplayPartial
		s.reset.Store(&set)
		s.Reseat()
	}},
	mode("it is paused", earshot.Paused), mode("it is live", earshot.Live), // 14, 15
	{name: "bob goes", do: (*performance).bobGoes},
	{name: "it is about to end", do: func(s *performance) { s.end(false) }},
	{name: "it ends", do: func(s *performance) { s.end(true) }}, // 18
	{name: "the tool returns", do: func(s *performance) { s.shelf.let(nil) }},
	{name: "the model comes to its end", do: func(s *performance) { s.mind.let(nil) }}, // 20
	{name: "the model fails", do: func(s *performance) {
		if s.mind.let(errModelLost) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.broke = true
		}
	}},
	changes("ann", " takes it back", func(of earshot.EventID) earshot.Body { return earshot.Withdrawal{Of: of} }), // 22
	changes("ann", " rewords it", func(of earshot.EventID) earshot.Body {
		return earshot.Revision{Of: of, Text: "@Earshot count again"}
	}),
	{name: "bob presses a key and goes", do: func(s *performance) { types("bob", true).do(s); s.bobGoes() }}, // 24
	writes("bob", "/stop"),
	{name: "a moment passes", takes: 20 * time.Millisecond},
	{name: "seconds pass", takes: 3 * time.Second}, // 27
}

// end ends the program: it says that it will, or closes the room.
func (s *performance) end(closes bool) {
	s.mu.Lock()
	s.left, s.ended = s.left || !closes, s.ended || closes
	s.mu.Unlock()
	if !closes {
		s.Leave()
		return
	}
	s.stop()
}

// phases are what the room is doing when the acts happen.
var phases = []act{
	{name: "idle", do: func(*performance) {}},
	{name: "speaking", do: func(s *performance) { s.admit(by("ann", earshot.Message{Text: "@Earshot count"})) }},
	{name: "being heard", do: func(s *performance) { // the model has come to its end
		s.outlets["console"].Every = 5 * time.Millisecond
		s.admit(by("ann", earshot.Message{Text: "@Earshot count"}))
		rests(time.Millisecond)
		s.mind.let(nil)
		rests(20 * time.Millisecond)
	}},
	{name: "at work", do: func(s *performance) { s.admit(by("ann", earshot.Message{Text: "@Earshot work"})) }},
	{name: "while ann types", do: func(s *performance) { s.admit(by("ann", earshot.Typing{Began: true})) }},
	{name: "with a full disk", do: func(s *performance) {
		s.fill()
		s.admit(by("ann", earshot.Message{Text: "@Earshot count"}))
	}},
	{name: "with a queue of one place", do: func(s *performance) { room.Limit(s.Room, 1) }},
}

// A gate holds whoever comes to it until it is opened for them.
type gate struct {
	mu      sync.Mutex
	open    bool
	waiting []chan error
}

// pass waits until the gate is opened, or ctx ends.
func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	if g.open {
		g.mu.Unlock()
		return nil
	}
	mine := make(chan error, 1)
	g.waiting = append(g.waiting, mine)
	g.mu.Unlock()
	select {
	case err := <-mine:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// let lets those who wait pass, with an error if it is not nil, and reports whether anybody waited.
func (g *gate) let(err error) (any bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.waiting {
		c <- err
	}
	any, g.waiting = len(g.waiting) > 0, nil
	return any
}

// stayOpen opens the gate for ever.
func (g *gate) stayOpen() {
	g.let(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
}

// A slowModel is a model that waits at its gate after two words.
type slowModel struct {
	*llmtest.Script
	gate
}

// Stream implements [llm.Service].
func (m *slowModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if !yield(llm.Delta{Thinking: secretThought}, nil) {
			return
		}
		words := 0
		for d, err := range m.Script.Stream(ctx, req) {
			if d.Text != "" {
				words++
			}
			if words == 3 {
				words++
				if lost := m.pass(ctx); lost != nil {
					yield(llm.Delta{}, lost)
					return
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// tools returns a tool that waits for its result.
func (s *performance) tools() tool.Table {
	return tool.Table{{
		Tool:  llm.Tool{Name: "read_file", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)},
		Needs: participants.UseTools,
		Do: func(ctx context.Context, _ tool.Scope, _ json.RawMessage) (tool.Answer, error) {
			s.mu.Lock()
			s.read++
			s.mu.Unlock()
			if err := s.shelf.pass(ctx); err != nil {
				return tool.Answer{}, err
			}
			return tool.Answer{Text: "milk"}, nil
		},
	}}
}

// rehearse opens a room with ann and bob in it, in a phase.
func rehearse(t *testing.T, threads *scheduler, phase act) *performance {
	h := byDay()
	s := &performance{house: h, t: t, threads: threads, outlets: make(map[string]*witness), leave: make(map[string]func()), wrote: make(map[string]earshot.EventID)}
	h.model.Every = 0
	h.model.Rules = []llmtest.Rule{after("Earshot", "", "five six seven"), calls("Earshot", "work", "read_file", `{}`)}
	s.mind = &slowModel{Script: h.model}
	h.people, h.away, h.llm, h.tools = registry(t, "bob"), true, s.mind, s.tools()
	h.journal.RefuseIf(func(e earshot.Event) error {
		s.history = append(s.history, e)
		return nil
	})
	h.open(t.Context())
	for _, name := range []string{"console", "ann's", "bob"} {
		who := participants.Owner
		if name == "bob" {
			who = "bob"
		}
		s.outlets[name] = &witness{Voice: testkit.Voice{Called: name, Flow: name != "ann's"}, turns: make(map[earshot.TurnID]*said)}
		s.leave[name] = s.Enter(s.outlets[name], earshot.Audience{Members: []earshot.ParticipantID{who}})
	}
	s.presence(t, ann, "ann", true)
	s.presence(t, handle("bob"), "bob", true)
	rests(time.Second)
	phase.do(s)
	rests(time.Millisecond)
	return s
}
