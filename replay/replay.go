// Package replay performs a recorded day again: in a house of its own, from what the
// journal has of that day, on whatever clock its caller is on, and compares what is
// decided now with what was decided then.
//
// From the journal comes what came from outside: messages, utterances and whose voice
// they were, who came and went, what cameras noticed, what people changed and took back,
// and what came of their commands. From it, too, comes what the model said: a model that
// answers what it answered then, found by what it was asked about, and outlets that get
// as far as they got. All between, which is who gets the floor, who is addressed, whether
// to speak, and when, is the executive as it is, with the settings that it is given.
//
// # The clock
//
// The order of the journal is the order of the performance, since it is that in which the
// owner of a room dealt with what happened. Each event has its time; how long a reply or a
// stretch of thought took is on record, and of those from before that was so it is guessed.
// Between two events everything comes to rest; see [Setup.Settle].
//
// The rooms take timers from the runtime and not from an interface, in some thirty places
// of five packages. So the clock is that of a bubble of testing/synctest, in which the
// runtime itself moves it on when everything waits; cmd/earshot-replay is a program of its
// own so that no other has to link package testing. An interface for a clock would have had
// to know, besides, when every goroutine of a room waits: that is what the runtime is for.
//
// # What is not on record
//
// Keys and voices that became no message, and glances of a camera, are kept nowhere. That
// they cut a reply, or made a thought give way, is, and happens again; that they only held
// something back does not. The first words of a reply come when it begins, and come out
// evenly until it ends. A message that was changed is performed as it is now. What was
// erased is performed without, and [Result.Erased] counts it. The program is taken to have run
// all day. Commands are not on record, so a call of a tool that somebody confirmed is not made
// again; its decision counts as one that was taken then and is not taken now.
package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Setup is the house in which a day is performed.
type Setup struct {
	Settings    executive.Config
	Actors      participants.Config
	Account     earshot.Handle // whose house it is, if the day does not tell
	AccountName string
	Operators   []earshot.Handle // see [participants.Setup]

	// Agents are those of the configuration. What the journal says of others, and when
	// these came, is added.
	Agents []agents.Record

	// Settle returns when everything that was begun waits for time to pass, or for who
	// called it. It is required.
	Settle func()
}

// A Result is what came of a performance.
type Result struct {
	Events      int          `json:"events"`    // of the day
	Decisions   int          `json:"decisions"` // on record
	Same        int          `json:"same"`      // of those, that were taken again
	Differences []Difference `json:"differences"`

	Erased  int           `json:"erased,omitempty"`  // events that could not be performed, since they were forgotten
	Revised int           `json:"revised,omitempty"` // that were performed as they were changed
	Refused int           `json:"refused,omitempty"` // that the rooms did not take now
	Shift   time.Duration `json:"shift"`             // the most by which a decision came earlier or later than on record

	Now []earshot.Event `json:"-"` // all that is decided now, with the names that things have on record
}

// A Difference is one decision that is another now, or in another place.
type Difference struct {
	About earshot.EventID       `json:"about"`
	By    string                `json:"by,omitempty"` // what they are called who said what it is about
	Room  earshot.RoomID        `json:"room"`
	Agent earshot.ParticipantID `json:"agent"`
	Name  string                `json:"name"` // of the agent
	What  string                `json:"what"` // see the constants

	// Revised says that what it is about was changed since, and is on record only as it
	// is now.
	Revised bool `json:"revised,omitempty"`

	Then *earshot.Event `json:"then,omitempty"`
	Now  *earshot.Event `json:"now,omitempty"`
}

// What can be different.
const (
	Other   = "other"   // it is decided otherwise
	Missing = "missing" // it is not decided now
	Added   = "added"   // it was not decided then
	Order   = "order"   // it is decided before what came before it
)

// ErrEmpty is a day of which there is nothing to perform.
var ErrEmpty = errors.New("nothing is on record of that day")

// Perform performs a day. It wants a clock that moves on when everything waits, such as
// that of a synctest bubble, and moves it on to the end of the day. When it returns nothing
// of it runs any more.
func (s Setup) Perform(ctx context.Context, d *Day) (*Result, error) {
	if d.Empty() {
		return nil, ErrEmpty
	}
	plan := derive(arrange(d.Events))
	if err := pass(ctx, plan[0].at); err != nil {
		return nil, err
	}
	h, err := s.newSimulation(d, plan)
	if err != nil {
		return nil, fmt.Errorf("making a house for that day: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	var rooms sync.WaitGroup
	for _, r := range h.rooms {
		rooms.Go(func() { _ = r.Run(ctx) })
	}
	s.Settle()
	for _, step := range plan {
		if err = pass(ctx, step.at); err != nil {
			break
		}
		s.Settle()
		h.perform(ctx, step)
		s.Settle()
	}
	decided := h.journal.decisions()
	end()
	rooms.Wait()
	h.doing.Wait()
	if err != nil {
		return nil, err
	}
	return h.compare(d, decided), nil
}

// pass returns at a time, or with the cause when ctx ends.
func pass(ctx context.Context, at time.Time) error {
	d := time.Until(at)
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

var quietly = slog.New(slog.DiscardHandler)
