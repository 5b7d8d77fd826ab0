package room

import (
	"context"
	"errors"

	"earshot"
	"earshot/executive"
	"earshot/executive/askers"
	"earshot/executive/decision"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/revision"
)

// A Change is what an event does to a message that was admitted before.
type Change struct {
	Of    earshot.EventID
	Again *question.Question // the question that is being answered, and is asked again
}

// resolveRevision determines what e does to the message of, which is visible to the same people.
func (r *Room) resolveRevision(ctx context.Context, of earshot.EventID, e *earshot.Event, in *Input) error {
	was, err := r.original(ctx, of)
	for errors.Is(err, revision.ErrNoSuch) && !r.barEarlyEvent(*e, of) { // it has come meanwhile
		was, err = r.original(ctx, of)
	}
	if err != nil {
		return err
	}
	if err := revision.Check(*e, was); err != nil {
		return err
	}
	e.To, e.Visibility = was.To, was.Visibility
	in.Change = Change{Of: of}
	b, revises := e.Body.(earshot.Revision)
	if revises {
		e.Sources = []earshot.EventID{of}
		in.Change.Again = r.outdated(b)
	}
	if in.Change.Again != nil || !revises && r.answersNow(func(id earshot.EventID) bool { return id == of }) != nil {
		in.Signal = revision.Signal(*e, in.Who.ID)
	}
	return nil
}

// outdated returns the question that is being answered and whose words a revision changes, nil for
// none.
func (r *Room) outdated(b earshot.Revision) *question.Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.activeTurn == nil || r.activeTurn.Message.ID != b.Of || r.activeTurn.Handover != nil || r.activeTurn.Candidate != nil || revision.Respelt(saidIn(r.activeTurn.Message.Body), b.Text) {
		return nil
	}
	q := r.activeTurn.Question
	return &q
}

// answersNow returns the turn that answers any of some messages, or began with one; nil for none.
func (r *Room) answersNow(is func(earshot.EventID) bool) *activeTurn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.activeTurn != nil && (is(r.activeTurn.Message.ID) || is(r.activeTurn.Origin())) {
		return r.activeTurn
	}
	return nil
}

// changesSoon reports whether a revision or withdrawal of a message waits to be kept.
func (r *Room) changesSoon(id earshot.EventID) bool {
	return r.entries.Has(func(en *Entry) bool { return en.Change.Of != "" && en.Change.Of == id })
}

// original returns the message that is changed. If it is just entering the queue for the journal,
// original waits for that.
func (r *Room) original(ctx context.Context, of earshot.EventID) (was earshot.Event, err error) {
	en, known := r.entries.Find(of)
	switch {
	case known && en.OffRecord:
		return was, revision.ErrNothingKept
	case known && en.Barred:
		return was, revision.ErrNoSuch
	case known:
		was = en.Event()
		if en.queued == nil {
			break
		}
		select {
		case <-en.queued:
		case <-ctx.Done():
			return was, context.Cause(ctx)
		}
	case r.cfg.Event != nil:
		if was, known, err = r.cfg.Event(ctx, of); err != nil {
			return was, err
		}
	}
	switch {
	case !known:
		return was, revision.ErrNoSuch
	case was.Body.Kind() == earshot.KindErased:
		return was, revision.ErrTakenBack
	}
	return was, nil
}

// barEarlyEvent keeps out a message that e withdraws although it has not come yet: a sense that has
// asked for past messages can be told that one was deleted before it delivers it. Only a moderator
// can do that, at their place. It reports whether the message has still not come.
func (r *Room) barEarlyEvent(e earshot.Event, of earshot.EventID) bool {
	if en, known := r.entries.Find(of); known {
		return en.Barred
	}
	if revision.Moderates(e) {
		gone := earshot.Event{ID: of, At: e.At, From: e.From, Room: r.cfg.ID, Body: earshot.Tombstone{Was: earshot.KindMessage}}
		en := &Entry{Input: Input{Event: gone}, Barred: true, done: make(chan struct{})}
		close(en.done)
		if had, came := r.entries.Remember(en); came {
			return had.Barred
		}
	}
	return true
}

// actOnFloor lets an event act on the floor. A revision or withdrawal of the message that is being
// answered always counts, because that question no longer exists.
func (r *Room) actOnFloor(set *executive.Config, in Input) {
	if in.Change.Of == "" {
		r.heed(set, in.Signal)
	} else if in.Signal != nil {
		r.floor.Signal(in.Signal)
	}
}

// reask returns the decision to answer a message again that was changed meanwhile, and records the
// question in the entry.
func (r *Room) reask(e *Entry, b earshot.Revision) []earshot.Event {
	again := e.Change.Again
	if again == nil { // its turn may have begun meanwhile
		if again = r.outdated(b); again != nil {
			e.Signal = revision.Signal(e.Event(), e.Who.ID)
			r.actOnFloor(&r.set, e.Input)
			e.Ticket = r.floor.Ticket()
		}
	}
	if again == nil || !r.answers() || r.seatOf(again.Seat.ID) == nil {
		return nil
	}
	now, _ := revision.Reword(again.Message, e.Event())
	q := question.Question{
		Seat: again.Seat, Message: now, Rank: again.Rank, Chain: again.Chain, Root: again.Root,
		Ticket: e.Ticket, Turn: earshot.TurnID(r.cfg.NewID()), Want: reflex.Recognise(b.Text, again.Seat.Name),
		Everybody: again.Everybody, Aloud: again.Aloud, ToRoom: again.ToRoom,
		Askers: askers.Add(again.Askers, e.Who), Rests: prompt.Provenance{Visibility: again.Message.Visibility},
	}
	e.Questions = append(e.Questions, q)
	return []earshot.Event{r.decided(q, earshot.Speak, []string{decision.Reworded})}
}
