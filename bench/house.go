package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/hearing"
	"earshot/executive/memory"
	"earshot/executive/room"
	"earshot/internal/wait"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

// patience is how long anything here may take. Only a fault takes so long.
const patience = time.Minute

// errPatience says that something took too long to be measured.
var errPatience = errors.New("it did not happen within a minute")

// ann operates the house.
var ann = earshot.Handle{Provider: "console", ID: "ann"}

// around is who is around its outlet.
var around = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}

// silent is a log that nobody reads.
var silent = slog.New(slog.DiscardHandler)

// A house is a room with one outlet, put together as the daemon does it, and
// what one has to know to measure it. Its methods are for one goroutine.
type house struct {
	*room.Room
	*ear
	replies chan earshot.Reply // on record
	leave   func()
}

// furniture is what a house is made of.
type furniture struct {
	model    llm.Service
	journal  room.Journal
	outlet   earshot.Outlet
	past     []earshot.Event
	settings executive.Config
	people   *participants.Registry // if nil, of Ann alone
	agents   []agents.Record        // if nil, the one of the settings
	voices   hearing.Voices         // if nil, all that is heard is one person's
	recall   func(context.Context, earshot.ParticipantID) ([]earshot.Event, error)
	memory   *memory.Index // if nil, nothing is remembered
}

// open builds a house and lets it run until it is left.
func open(ctx context.Context, f furniture) *house {
	h := &house{ear: listen(f.outlet), replies: make(chan earshot.Reply, 4)}
	if f.people == nil {
		f.people = participants.New(ann, "Ann", f.settings.Name)
	}
	f.settings.Parallel.ReasoningContinuous = false // what is measured is what is asked for
	f.settings.Speech.FillerAfter = 0               // a sign that a reply comes is none
	var seated func() []agents.Record
	if f.agents != nil {
		seated = func() []agents.Record { return f.agents }
	}
	h.Room = room.New(room.Config{
		ID: earshot.Desk, Settings: func() executive.Config { return f.settings }, People: f.people,
		Journal: notary{f.journal, h.replies}, Model: f.model, Past: f.past,
		Agents: seated, Recall: f.recall, Voices: f.voices, Memory: f.memory,
		Now: time.Now, NewID: newID, Log: silent,
	})
	out := h.Enter(h.outlet(), around)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	h.leave = func() {
		cancel()
		running.Wait()
		out()
	}
	return h
}

// say brings in a message, and returns when that was and it is on record.
func (h *house) say(ctx context.Context, text earshot.Text) (time.Time, error) {
	return h.admit(ctx, earshot.Message{Text: text})
}

// stop gives the command, and returns when that was.
func (h *house) stop(ctx context.Context) (time.Time, error) {
	return h.admit(ctx, earshot.Command{Name: "stop"})
}

func (h *house) admit(ctx context.Context, body earshot.Body) (time.Time, error) {
	e := earshot.Event{ID: newID(), From: ann, Via: h.Name(), Body: body}
	at := time.Now()
	e.At = at
	return at, h.Admit(ctx, e)
}

// over waits until a reply has ended and is on record.
func (h *house) over() error {
	if _, err := await("the speech has ended", h.ended); err != nil {
		return err
	}
	_, err := await("the reply is on record", h.replies)
	return err
}

// await returns what comes out of from. For people, what says what that shows.
func await[T any](what string, from <-chan T) (got T, err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case got = <-from:
		return got, nil
	case <-late.C:
		return got, fmt.Errorf("%s: %w", what, errPatience)
	}
}

// awaitThat waits until something is so.
func awaitThat(ctx context.Context, what string, so func() bool) error {
	if !wait.Until(ctx, 2*patience, so) {
		return errors.Join(context.Cause(ctx), fmt.Errorf("%s: not within %v", what, 2*patience))
	}
	return nil
}

// A notary stands before a journal and tells of each reply that is on record.
type notary struct {
	room.Journal
	replies chan<- earshot.Reply
}

// Append implements [room.Journal].
func (n notary) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	kept, err := n.Journal.Append(ctx, events...)
	for _, e := range kept {
		if r, ok := e.Body.(earshot.Reply); ok {
			n.replies <- r
		}
	}
	return kept, err
}

// Blank is a journal that keeps nothing, for figures in which a disk has no
// part.
type blank struct{ last int64 }

// Append implements [room.Journal].
func (b *blank) Append(_ context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	for i := range events {
		b.last++
		events[i].Sequence = b.last
	}
	return events, nil
}

// newID returns a name for an event.
func newID() earshot.EventID { return earshot.EventID(ulid.Make().String()) }

// openStore opens a real journal in a directory of its own.
func (b bench) openStore(ctx context.Context, name string, tables ...earshot.Projection) (*store.Store, error) {
	return store.Open(ctx, store.Config{Directory: filepath.Join(b.dir, name), Projections: tables, NewID: newID, Log: silent})
}

// live fills a journal with so many turns of talking.
func live(ctx context.Context, s *store.Store, turns int) error {
	v := earshot.Visibility{Scope: earshot.Public}
	at := time.Now().Add(-time.Duration(turns) * time.Minute)
	var events []earshot.Event
	for i := range turns {
		at = at.Add(time.Minute)
		id, turn := newID(), earshot.TurnID(newID())
		say := earshot.Text(fmt.Sprintf("question %d: when does the tide come in at the harbour today?", i))
		answer := earshot.Text(fmt.Sprintf("At %d past six, as far as I can tell from the table beside the window; it goes out again at noon.", i%60))
		events = append(events,
			earshot.Event{ID: id, At: at, Room: earshot.Desk, From: ann, Author: participants.Owner, Visibility: v, Body: earshot.Message{Text: say}},
			earshot.Event{At: at, Room: earshot.Desk, Author: participants.Agent, Visibility: v, Sources: []earshot.EventID{id},
				Body: earshot.Decision{About: id, Agent: participants.Agent, Verdict: earshot.Speak, Reasons: []string{addressing.Alone}, Turn: turn}},
			earshot.Event{At: at.Add(time.Second), Room: earshot.Desk, Author: participants.Agent, Visibility: v, Sources: []earshot.EventID{id},
				Body: earshot.Reply{Turn: turn, About: id, Outcome: earshot.Completed, Offered: answer,
					Heard: []earshot.Delivery{{Outlet: "console", Bytes: len(answer)}}}},
		)
	}
	_, err := s.Append(ctx, events...)
	return err
}
