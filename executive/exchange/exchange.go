// Package exchange knows how far agents have gone in answering one another: how much they have said
// in a row in each conversation, for whom they do it, when and with which words they leave the floor
// to that person, and whom a reply calls. It knows no room, and waits for nothing.
package exchange

import (
	"context"
	"fmt"
	"slices"

	"earshot"
	"earshot/executive/askers"
	"earshot/executive/reason"
	"earshot/executive/seat"
	"earshot/executive/tool"
	"earshot/executive/turncontrol"
	"earshot/internal/lockorder"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Tracker follows what agents say to each other in the conversations of a room. It is safe for
// concurrent use.
type Tracker struct {
	People *participants.Registry
	Waits  WaitList       // the agents that other agents wait for
	Askers askers.Tracker // in whose name agents act; it belongs to the owner of the room

	control turncontrol.Control
}

// Take takes in an event on record.
func (t *Tracker) Take(e earshot.Event) { t.control.Take(e, t.Kind) }

// Kind returns the type of a participant.
func (t *Tracker) Kind(id earshot.ParticipantID) participants.Type {
	p, _ := t.People.Get(id)
	return p.Type
}

// Of returns what was said in a row in the conversation of those who may see v.
func (t *Tracker) Of(v earshot.Visibility) turncontrol.Budget { return t.control.Of(v) }

// Reason returns why no agent may answer another any more in that conversation, or nothing if one
// may: limit is how many messages of agents may follow one another.
func (t *Tracker) Reason(v earshot.Visibility, limit int) earshot.Why {
	switch b := t.Of(v); {
	case b.Spent(limit):
		return earshot.TurnLimit
	case b.Repeats():
		return earshot.Repetition
	}
	return ""
}

// Spend says, before an agent asks another within its turn, or answers it, whether enough has been
// said in that conversation: the error is for the model. What the agent then says counts once it is
// on record.
func (t *Tracker) Spend(v earshot.Visibility, limit int) error {
	if t.Reason(v, limit) == "" {
		return nil
	}
	return tool.Refuse("the agents here have said %d messages in a row, and may not say more to each other now; "+
		"say yourself what you know, to %s", t.Of(v).Count, t.Addressee(t.WorksFor(v)))
}

// WorksFor returns for whom the agents of a conversation work: the first asker, or else the owner of
// the machine, if they may see the conversation. It is empty if unknown.
func (t *Tracker) WorksFor(v earshot.Visibility) earshot.ParticipantID {
	for _, id := range []earshot.ParticipantID{t.Of(v).For, participants.Owner} {
		p, known := t.People.Get(id)
		if known && p.Person() && (v.Scope != earshot.Private || slices.Contains(v.Members, p.ID)) {
			return p.ID
		}
	}
	return ""
}

// Addressee returns how agents that hand over address somebody.
func (t *Tracker) Addressee(id earshot.ParticipantID) string {
	if id == "" {
		return "@human"
	}
	return "@" + t.People.Name(id)
}

// Parting returns the words by which an agent hands over, after count messages in a row.
func (t *Tracker) Parting(h *earshot.Handover, agent string, count, limit int) string {
	to := t.Addressee(h.To)
	switch {
	case h.Why == earshot.Passed:
		return to + ", " + agent + " is passing control to you."
	case h.Why == earshot.Repetition:
		return to + ", we are saying the same again and again; it is yours."
	case h.Why == earshot.Apart:
		return to + ", that is for an agent of another user, which I may not call; it is yours."
	case limit < 2:
		return to + ", agents do not answer each other here; it is yours."
	default:
		return fmt.Sprintf("%s, we have said %d messages in a row; it is yours again.", to, count)
	}
}

// DecisionReason returns the reason for handing over, as it stands in the journal; empty for none.
func DecisionReason(why earshot.Why) string {
	return map[earshot.Why]string{
		earshot.TurnLimit: reason.Enough, earshot.Repetition: reason.Again, earshot.Passed: reason.Passing, earshot.Apart: reason.Foreign,
	}[why]
}

// A WaitList holds the seats that agents wait for: those of agents that sit in the room, not of ones
// that were made for a task. The zero value has none. It is safe for concurrent use.
type WaitList struct {
	mu  lockorder.Mutex[lockorder.Leaf]
	all []*Wait
}

// A Wait is a seat that another agent waits for.
type Wait struct {
	seat *seat.Seat // nil until it is known
	end  context.CancelCauseFunc
}

// Add notes that an agent waits for another one, which may work until leave is called, or until its
// seat is taken away; the cause is then [ErrGone].
func (w *WaitList) Add(ctx context.Context, other agents.Record) (_ context.Context, is *Wait, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	is = &Wait{end: end}
	if other.Kind.Below() {
		return ctx, is, func() { end(nil) }
	}
	w.mu.Lock()
	w.all = append(w.all, is)
	w.mu.Unlock()
	return ctx, is, func() {
		end(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = slices.DeleteFunc(w.all, func(e *Wait) bool { return e == is })
	}
}

// Seat notes where the awaited agent sits. It may have gone meanwhile, so the caller then has
// [WaitList.Keep] called.
func (w *WaitList) Seat(is *Wait, at *seat.Seat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	is.seat = at
}

// Keep ends the wait for agents whose seats are not among those of the room.
func (w *WaitList) Keep(seats []*seat.Seat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.all {
		if e.seat != nil && !slices.Contains(seats, e.seat) {
			e.end(ErrGone)
		}
	}
}

// Any reports whether any agent waits for another one.
func (w *WaitList) Any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all) > 0
}
