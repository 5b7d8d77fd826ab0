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

// Entry is an admitted event on its way into the journal.
type Entry struct {
	Input
	Ticket interrupt.Ticket
	Events []earshot.Event         // what is kept: the event itself, and what was decided
	Questions   []question.Question     // questions to be answered, one for each agent
	Quiets bool                    // it asks for silence
	Wakes  bool                    // it ends the silence
	OffRecord bool                    // it is off the record; only its ID is known
	Barred bool                    // it was withdrawn before it came; only its ID is known
	Again  bool                    // it is on record, and has been unanswered since earshot stopped
	Had    []earshot.ParticipantID // agents that have answered it nevertheless, or have had their turn
	Then   func(error)             // receives the result; may be nil
	Fits   func() error            // says, when its turn has come, why it can no longer be kept; may be nil

	queued chan struct{} // closed when it has its place in the queue; nil if it had that already
	done   chan struct{} // closed when the result is known
	err    error         // why it was not kept; set before done is closed
}

// enqueue admits an event of the room itself, to be kept. then, unless it is nil, receives the
// result before anybody who waits for the entry.
func (r *Room) enqueue(e earshot.Event, then func(error)) (*Entry, error) {
	en, first, err := r.reserve(Input{Event: e})
	if first {
		en.Then = then
		r.queue(en)
	}
	return en, err
}

// Wait returns when the result is known, or ctx ends.
func (en *Entry) Wait(ctx context.Context) error {
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
func (r *Room) reserve(in Input) (en *Entry, first bool, err error) {
	kind, off := in.Event.Body.Kind(), r.currentMode() == earshot.OffRecord
	en, first, err = r.entries.Reserve(in.Event.ID, record.Rule[*Entry]{
		Same: func(had *Entry) (same bool, err error) {
			switch {
			case had.elsewhere(in.Event):
				return false, nil
			case !had.is(in.Event):
				return false, ErrTaken
			}
			return true, nil
		},
		Create: func() (en *Entry, place bool, err error) {
			switch {
			case off && kind == earshot.KindMessage:
				en = &Entry{Input: Input{Event: earshot.Event{ID: in.Event.ID}}, done: make(chan struct{}), OffRecord: true}
				close(en.done)
				return en, false, nil
			case off && unkept[kind]:
				return nil, false, errOffRecord
			}
			return &Entry{Input: in, queued: make(chan struct{}), done: make(chan struct{})}, true, nil
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
func (r *Room) reserveWhenFree(ctx context.Context, set *executive.Config, in Input, settle func()) (en *Entry, first, waited bool, err error) {
	for {
		en, first, err = r.reserve(in)
		if err != ErrBusy || in.Event.Body.Kind() != earshot.KindMessage {
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
func (en *Entry) is(e earshot.Event) bool {
	if _, gone := en.Event().Body.(earshot.Tombstone); gone || en.OffRecord {
		return true
	}
	return en.Event().From == e.From && en.Event().Author == e.Author && en.Event().Body.Kind() == e.Body.Kind()
}

// elsewhere reports whether en bars an event of another sense, and so not e.
func (en *Entry) elsewhere(e earshot.Event) bool {
	return en.Barred && en.Event().From.Provider != e.From.Provider
}

// governs reports whether events of kind k say what the room is like, or that something must be
// forgotten. They are few, whatever people do, and never refused.
func governs(k earshot.Kind) bool {
	return k == earshot.KindPresence || k == earshot.KindMode || k == earshot.KindWithdrawal
}

// Event implements [record.Entry].
func (en *Entry) Event() earshot.Event { return en.Input.Event }

// With implements [record.Entry]: the event is on record. It returns a new entry, because somebody
// may still be reading the old one.
func (en *Entry) With(now earshot.Event) *Entry {
	return &Entry{Input: Input{Event: now}, done: en.done, err: en.err}
}

// Over implements [record.Entry]: the result of the entry is known.
func (en *Entry) Over() bool {
	select {
	case <-en.done:
		return true
	default:
		return false
	}
}

// queue hands an entry to the owner.
func (r *Room) queue(en *Entry) {
	if en.Event().Body.Kind() == earshot.KindMessage && addressing.IsAmong(r.cfg.People.Here(r.cfg.ID), en.Who.ID) {
		r.setUserState(en.Event(), en.Who, "here")
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
func (r *Room) finish(en *Entry, err error) {
	if err != nil {
		r.entries.Forget(en.Event().ID)
	}
	if en.Then != nil {
		en.Then(err)
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
	return en.Wait(ctx)
}
