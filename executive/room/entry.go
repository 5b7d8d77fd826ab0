package room

import (
	"context"
	"errors"

	"earshot"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/dialogue"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/interrupt"
)

// maxWaiting is how many events may wait for the journal. A commit takes a millisecond or two, so
// this many are a flood.
const maxWaiting = 256

var (
	errOffRecord = errors.New("the room is off the record, but this would be kept; /resume first")

	// ErrTaken says that an event was not kept because another event has its ID.
	ErrTaken = errors.New("the ID belongs to another event, so this one was not kept; send it with a new ID")
)

// entry is an admitted event on its way into the journal.
type entry struct {
	resolvedEvent
	ticket interrupt.Ticket
	events []earshot.Event         // what is kept: the event itself, and what was decided
	asks   []question.Question     // questions to be answered, one for each agent
	quiets bool                    // it asks for silence
	wakes  bool                    // it ends the silence
	passes bool                    // it is off the record; only its ID is known
	barred bool                    // it was withdrawn before it came; only its ID is known
	again  bool                    // it is on record, and has been unanswered since earshot stopped
	had    []earshot.ParticipantID // agents that have answered it nevertheless, or have had their turn
	then   func(error)             // receives the result; may be nil
	fits   func() error            // says, when its turn has come, why it can no longer be kept; may be nil

	queued chan struct{} // closed when it has its place in the queue; nil if it had that already
	done   chan struct{} // closed when the result is known
	err    error         // why it was not kept; set before done is closed
}

// enqueue admits an event of the room itself, to be kept. then, unless it is nil, receives the
// result before anybody who waits for the entry.
func (r *Room) enqueue(e earshot.Event, then func(error)) (*entry, error) {
	en, first, err := r.reserve(resolvedEvent{event: e})
	if first {
		en.then = then
		r.queue(en)
	}
	return en, err
}

// wait returns when the result is known, or ctx ends.
func (en *entry) wait(ctx context.Context) error {
	select {
	case <-en.done:
		return en.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reserve makes an entry of e, unless there is one with its ID: an event that is sent twice must
// neither act twice nor be acknowledged before it is kept. reserve also settles whether a message
// is on the record: of one that is not, only the ID is remembered, so that it is not kept when it
// is sent again later.
func (r *Room) reserve(in resolvedEvent) (en *entry, first bool, err error) {
	kind, off := in.event.Body.Kind(), r.currentMode() == earshot.OffRecord
	en, first, err = r.entries.Reserve(in.event.ID, record.Rule[*entry]{
		Same: func(had *entry) (same bool, err error) {
			switch {
			case had.elsewhere(in.event):
				return false, nil
			case !had.is(in.event):
				return false, ErrTaken
			}
			return true, nil
		},
		Create: func() (en *entry, place bool, err error) {
			switch {
			case off && kind == earshot.KindMessage:
				en = &entry{resolvedEvent: resolvedEvent{event: earshot.Event{ID: in.event.ID}}, done: make(chan struct{}), passes: true}
				close(en.done)
				return en, false, nil
			case off && unkept[kind]:
				return nil, false, errOffRecord
			}
			return &entry{resolvedEvent: in, queued: make(chan struct{}), done: make(chan struct{})}, true, nil
		},
		Always: governs(kind),
	})
	switch err {
	case record.ErrClosed:
		err = ErrClosed
	case record.ErrFull:
		err = ErrBusy
	}
	return en, first, err
}

// reserveWhenFree is reserve, but waits until there is space for a message, since its author can
// wait. Whether the message cuts the current speech is settled before the wait, by settle. waited
// says that it waited, and called settle.
func (r *Room) reserveWhenFree(ctx context.Context, set *executive.Config, in resolvedEvent, settle func()) (en *entry, first, waited bool, err error) {
	for {
		en, first, err = r.reserve(in)
		if err != ErrBusy || in.event.Body.Kind() != earshot.KindMessage {
			return en, first, waited, err
		}
		if !waited {
			waited = true
			settle()
			r.actOnFloor(set, in)
		}
		select {
		case <-r.entries.Vacancy():
		case <-r.shut:
		case <-ctx.Done():
			return nil, false, true, errors.Join(ErrBusy, context.Cause(ctx))
		}
	}
}

// unkept are the acts of people and agents that are refused off the record.
var unkept = map[earshot.Kind]bool{earshot.KindMemo: true, earshot.KindReminder: true, earshot.KindEdit: true, earshot.KindRevision: true}

// Holds returns [ErrTaken] if a message differs from the one kept under its ID. Sending the same
// message again changes nothing. One that was revised or deleted since cannot be compared.
func (r *Room) Holds(ctx context.Context, e earshot.Event) error {
	sent, is := e.Body.(earshot.Message)
	if !is || r.cfg.Event == nil {
		return nil
	}
	had, found, err := r.cfg.Event(ctx, e.ID)
	if kept, is := had.Body.(earshot.Message); err == nil && found && is && kept.Revised.IsZero() && kept.Text != dialogue.Valid(sent.Text) {
		return ErrTaken
	}
	return nil // it was admitted, whatever else cannot be looked up
}

// is reports whether e may be the event of en, sent again: the contents of an event that was off
// the record or deleted are unknown.
func (en *entry) is(e earshot.Event) bool {
	if _, gone := en.event.Body.(earshot.Tombstone); gone || en.passes {
		return true
	}
	return en.event.From == e.From && en.event.Author == e.Author && en.event.Body.Kind() == e.Body.Kind()
}

// elsewhere reports whether en bars an event of another sense, and so not e.
func (en *entry) elsewhere(e earshot.Event) bool {
	return en.barred && en.event.From.Provider != e.From.Provider
}

// governs reports whether events of kind k say what the room is like, or that something must be
// forgotten. They are few, whatever people do, and never refused.
func governs(k earshot.Kind) bool {
	return k == earshot.KindPresence || k == earshot.KindMode || k == earshot.KindWithdrawal
}

// Event implements [record.Entry].
func (en *entry) Event() earshot.Event { return en.event }

// With implements [record.Entry]: the event is on record. It returns a new entry, because somebody
// may still be reading the old one.
func (en *entry) With(now earshot.Event) *entry {
	return &entry{resolvedEvent: resolvedEvent{event: now}, done: en.done, err: en.err}
}

// Over implements [record.Entry]: the result of the entry is known.
func (en *entry) Over() bool {
	select {
	case <-en.done:
		return true
	default:
		return false
	}
}

// queue hands an entry to the owner.
func (r *Room) queue(en *entry) {
	if en.event.Body.Kind() == earshot.KindMessage && addressing.IsAmong(r.cfg.People.Here(r.cfg.ID), en.who.ID) {
		r.setUserState(en.event, en.who, "here")
	}
	open := r.entries.Take(en)
	close(en.queued)
	if !open {
		r.finish(en, ErrClosed)
		return
	}
	r.nudge()
}

// nudge makes the owner look for work.
func (r *Room) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// finish tells everybody who waits for the entry its result. An event that was not kept may be sent
// again, and has not happened.
func (r *Room) finish(en *entry, err error) {
	if err != nil {
		r.entries.Forget(en.event.ID)
	}
	if en.then != nil {
		en.then(err)
	}
	en.err = err
	close(en.done)
}

// queued queues an event of the room itself, and waits until it is kept.
func (r *Room) queued(ctx context.Context, e earshot.Event) error {
	en, err := r.enqueue(e, nil)
	if err != nil {
		return err
	}
	return en.wait(ctx)
}
