// Package room is one room: what comes in, who gets the floor, what is kept,
// who answers, and where it comes out, always in the same order.
//
//  1. [Room.Admit], on the goroutine of the sense: who is it, whom is it for,
//     who may see it; then the gate and the floor. A cut therefore never waits
//     for a disk, nor for anything that came before it.
//  2. The owner, [Room.Run]: append to the journal, all that waits in one
//     commit; then the scene; then "shall I speak?"; then a turn.
//  3. When the turn has ended: the truth about it into the journal.
//
// At most one turn is live. A message that comes while one is, and may not cut
// it, waits; of several that wait the most urgent is answered and the others
// are context.
//
// What waits for the journal is bounded by maxWaiting: beyond it Admit says
// that the room is busy. Nothing that was admitted is dropped. A reply that the
// journal refuses, because the disk is full, is kept and written as soon as it
// takes something again; as no message is admitted meanwhile, it is at most one.
package room

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

const (
	// maxWaiting is how many events may wait for the journal: a commit takes a
	// millisecond or two, so this many are a flood.
	maxWaiting = 256

	// drain is how long outlets may take after a cut to say where they
	// stopped. A terminal answers within a millisecond, one over a socket
	// within a few; half a second is lost.
	drain = 500 * time.Millisecond

	// retry is how often a journal that refused is asked again.
	retry = time.Second

	// farewell bounds what is written when the program ends.
	farewell = 5 * time.Second
)

// Errors of [Room.Admit].
var (
	ErrClosed = errors.New("the room is closed: earshot is ending")
	ErrBusy   = errors.New("the room is busy: too much came at once; try again in a moment")
)

// A Journal keeps events. Append is called by one goroutine, returns the
// events with their sequence once they are on disk, and may wait for a disk.
// An event whose ID it already has comes back with its old sequence.
type Journal interface {
	Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error)
}

// Config is what a room is made of. Every field is required unless it says
// otherwise.
type Config struct {
	ID       earshot.RoomID
	Settings func() executive.Config // asked once a turn, so that the next one sees a reload
	People   *participants.Registry
	Journal  Journal
	Model    llm.Service // may be nil: then only reflexes answer

	// Past is what the room goes on from: the newest events of its journal,
	// the oldest first, as its agent may see them.
	Past []earshot.Event

	// Works says what the house has, such as "console". May be nil.
	Works func() []string

	Now   func() time.Time
	NewID func() earshot.EventID
	Log   *slog.Logger
}

// A Room is one room. Use [New].
type Room struct {
	cfg      Config
	floor    *interrupt.Floor
	scene    *scene.Scene
	commands command.Table

	wake  chan struct{} // something waits
	ended chan ending   // the live turn is over

	mu        sync.Mutex
	closed    bool
	waiting   []*entry
	recent    []earshot.EventID // of admitted events, so that one sent twice is answered once
	places    []*place
	quiet     bool
	live      earshot.TurnID
	asked     int // questions that wait for a turn
	decisions []earshot.Event
	faults    map[string]earshot.Notice // by key, until they are over
	last      *earshot.Reply

	// What follows belongs to Run.
	pending []question
	history history
	unsaved []earshot.Event
}

// entry is an admitted event on its way into the journal.
type entry struct {
	event  earshot.Event
	signal *interrupt.Signal // nil if it can be none
	events []earshot.Event   // what is kept of it: itself, and what was decided
	asks   question          // with a turn, if it will be answered
	done   chan error
}

// question is a message that will be answered.
type question struct {
	message earshot.Event
	signal  *interrupt.Signal
	turn    earshot.TurnID
	want    reflex.Kind
}

// New returns a room that goes on from its past. It does nothing until it runs.
func New(cfg Config) *Room {
	style, _ := interrupt.ParseStyle(cfg.Settings().MultiParty.TurnTakingProtocol)
	r := &Room{
		cfg:    cfg,
		floor:  &interrupt.Floor{Style: style},
		faults: make(map[string]earshot.Notice),
		scene:  new(scene.Scene),
		wake:   make(chan struct{}, 1),
		ended:  make(chan ending, 1),
	}
	r.commands = r.table()
	r.recall()
	return r
}

// Run is the room at work. It returns when ctx has ended, the live turn is
// over and written down, and nothing is left running.
func (r *Room) Run(ctx context.Context) error {
	var turns sync.WaitGroup
	defer turns.Wait()
	for {
		var again <-chan time.Time
		if len(r.unsaved) > 0 {
			again = time.After(retry)
		}
		select {
		case <-ctx.Done():
			r.close(context.WithoutCancel(ctx))
			return nil
		case <-r.wake:
			r.take(ctx)
		case end := <-r.ended:
			r.conclude(ctx, end)
		case <-again:
			r.keep(ctx)
		}
		r.next(ctx, &turns)
	}
}

// close ends the room: the live turn is awaited, what has not been kept is
// refused.
func (r *Room) close(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	left, live := r.waiting, r.live
	r.waiting = nil
	r.mu.Unlock()
	for _, e := range left {
		e.done <- ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if live != "" {
		r.conclude(ctx, <-r.ended)
	}
	for _, q := range r.pending {
		r.unsaved = append(r.unsaved, r.end(q, earshot.Reply{Outcome: earshot.Suppressed}))
	}
	if len(r.unsaved) > 0 {
		r.keep(ctx)
	}
}

// take brings everything that waits into the journal, in one commit, and then
// to attention. If the journal does not take them together, one may be at
// fault, so each is tried alone.
func (r *Room) take(ctx context.Context) {
	r.mu.Lock()
	batch := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	if len(r.unsaved) > 0 {
		r.keep(ctx)
	}
	for _, e := range batch {
		e.events = []earshot.Event{e.event}
		if m, ok := e.event.Body.(earshot.Message); ok {
			e.events = append(e.events, r.attend(e, m))
		}
	}
	err := r.write(ctx, batch)
	if err != nil && len(batch) > 1 {
		for _, e := range batch {
			e.done <- r.write(ctx, []*entry{e})
		}
		return
	}
	for _, e := range batch {
		e.done <- err
	}
}

// write puts a batch into the journal and, once it is there, lets everybody
// know and the questions wait for a turn. What has begun to be written is
// written, also if the program ends meanwhile: nobody is left in doubt.
func (r *Room) write(ctx context.Context, batch []*entry) error {
	var events []earshot.Event
	for _, e := range batch {
		events = append(events, e.events...)
	}
	kept, err := r.cfg.Journal.Append(context.WithoutCancel(ctx), events...)
	if err != nil {
		return fmt.Errorf("not kept: %w", err)
	}
	for _, e := range batch {
		if e.asks.turn != "" {
			r.pending = append(r.pending, e.asks)
		}
	}
	r.mu.Lock()
	r.asked = len(r.pending)
	r.mu.Unlock()
	r.publish(kept)
	return nil
}

// keep tries again to write what could not be written, and publishes it.
func (r *Room) keep(ctx context.Context) {
	kept, err := r.cfg.Journal.Append(ctx, r.unsaved...)
	if err != nil {
		r.cfg.Log.Warn("the journal takes nothing; trying again", "waiting", len(r.unsaved), "err", err)
		return
	}
	r.unsaved = nil
	r.publish(kept)
}

// publish lets everybody know what is now on record.
func (r *Room) publish(kept []earshot.Event) {
	for _, e := range kept {
		r.remember(e)
		r.show(e)
	}
}

// event returns an event of the house's own.
func (r *Room) event(v earshot.Visibility, body earshot.Body) earshot.Event {
	return earshot.Event{
		ID: r.cfg.NewID(), At: r.cfg.Now(), Room: r.cfg.ID,
		From: earshot.Handle{Provider: "earshot", ID: string(body.Kind())}, Author: participants.Agent,
		Visibility: v, Body: body,
	}
}
