package room

import (
	"context"
	"errors"
	"slices"

	"earshot"
	"earshot/executive"
	"earshot/executive/askers"
	"earshot/executive/decision"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/interrupt"
)

// The errors of revisions and withdrawals. Nothing has changed then.
var (
	errNoSuch    = errors.New("there is no such message in this room")
	errNotTheirs = errors.New("somebody else wrote that message, or it was written elsewhere")
	errNotWords  = errors.New("only a message can be changed or taken back")
	errTakenBack = errors.New("that message was taken back")

	// errNothingKept says that the message is not kept anyway.
	errNothingKept = errors.New("nothing of that message is kept")
)

// A change is what an event does to a message that was admitted before.
type change struct {
	of    earshot.EventID
	again *question.Question // the question that is being answered, and is asked again
}

// changing returns which message a body revises or withdraws, if it does.
func changing(b earshot.Body) (of earshot.EventID, does bool) {
	switch b := b.(type) {
	case earshot.Revision:
		return b.Of, true
	case earshot.Withdrawal:
		return b.Of, true
	}
	return "", false
}

// resolveRevision determines what e does to a message. It is visible to the same people, and only
// its author can send it, by the handle by which they wrote the message. The moderator of the place
// where it was written, represented by the sense itself, can withdraw it, and also a reply that was
// delivered there.
func (r *Room) resolveRevision(ctx context.Context, e *earshot.Event, in *resolvedEvent) error {
	of, _ := changing(e.Body)
	was, err := r.original(ctx, of)
	for errors.Is(err, errNoSuch) && !r.barEarlyEvent(*e, of) { // it has come meanwhile
		was, err = r.original(ctx, of)
	}
	if err != nil {
		return err
	}
	revision, revises := e.Body.(earshot.Revision)
	keepsOrder := !revises && e.From.ID == ""
	m, message := was.Body.(earshot.Message)
	reply, _ := was.Body.(earshot.Reply)
	switch _, aloud := was.Body.(earshot.Utterance); {
	case !revises && keepsOrder && cameOut(reply, e.Via):
	case was.From.Provider != e.From.Provider || was.From != e.From && !keepsOrder:
		return errNotTheirs
	case !message && !(aloud && !revises), m.Turn != "":
		return errNotWords
	case revises && len(m.Attachments) == 0:
		if _, err := dialogue.Wording(revision.Text, earshot.MaxText); err != nil {
			return err
		}
	}
	e.To, e.Visibility = was.To, was.Visibility
	in.change = change{of: of}
	if revises {
		e.Sources = []earshot.EventID{of}
	}
	if revises {
		in.change.again = r.outdated(revision)
	}
	if in.change.again != nil || !revises && r.answersNow(func(id earshot.EventID) bool { return id == of }) != nil {
		in.signal = over(*e, in.who.ID)
	}
	return nil
}

// cameOut reports whether any of a reply was heard at an outlet.
func cameOut(r earshot.Reply, outlet string) bool {
	return slices.ContainsFunc(r.Heard, func(d earshot.Delivery) bool { return d.Outlet == outlet && d.Bytes > 0 })
}

// over returns the signal for the floor that a question no longer exists.
func over(e earshot.Event, by earshot.ParticipantID) *interrupt.Signal {
	return &interrupt.Signal{Kind: interrupt.Addressed, From: e.From, Via: e.Via, By: by, Confidence: 1, At: e.At}
}

// outdated returns the question that is being answered and whose words a revision changes, nil for
// none.
func (r *Room) outdated(b earshot.Revision) *question.Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.activeTurn == nil || r.activeTurn.Message.ID != b.Of || r.activeTurn.Handover != nil || r.activeTurn.Candidate != nil || respelt(saidIn(r.activeTurn.Message.Body), b.Text) {
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
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.waiting, func(en *entry) bool { return en.change.of != "" && en.change.of == id })
}

// original returns the message that is changed. If it is just entering the queue for the journal,
// original waits for that.
func (r *Room) original(ctx context.Context, of earshot.EventID) (earshot.Event, error) {
	was := earshot.Event{}
	r.mu.Lock()
	en, known := r.known.get(of)
	r.mu.Unlock()
	switch {
	case known && en.passes:
		return was, errNothingKept
	case known && en.barred:
		return was, errNoSuch
	case known:
		was = en.event
		if en.queued == nil {
			break
		}
		select {
		case <-en.queued:
		case <-ctx.Done():
			return was, context.Cause(ctx)
		}
	case r.cfg.Event != nil:
		var err error
		if was, known, err = r.cfg.Event(ctx, of); err != nil {
			return was, err
		}
	}
	switch {
	case !known:
		return was, errNoSuch
	case was.Body.Kind() == earshot.KindErased:
		return was, errTakenBack
	}
	return was, nil
}

// barEarlyEvent keeps out a message that e withdraws although it has not come yet: a sense that has
// asked for past messages can be told that one was deleted before it delivers it. Only a moderator
// can do that, at their place. It reports whether the message has still not come.
func (r *Room) barEarlyEvent(e earshot.Event, of earshot.EventID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if en, known := r.known.get(of); known {
		return en.barred
	}
	if _, back := e.Body.(earshot.Withdrawal); back && e.From.ID == "" {
		gone := earshot.Event{ID: of, At: e.At, From: e.From, Room: r.cfg.ID, Body: earshot.Tombstone{Was: earshot.KindMessage}}
		en := &entry{resolvedEvent: resolvedEvent{event: gone}, barred: true, done: make(chan struct{})}
		close(en.done)
		r.known.add(en)
	}
	return true
}

// needless reports whether a failed change is already done: withdrawing something twice is not an
// error of the sender.
func needless(b earshot.Body, why error) bool {
	_, back := b.(earshot.Withdrawal)
	return errors.Is(why, errNothingKept) || back && errors.Is(why, errTakenBack)
}

// actOnFloor lets an event act on the floor. A revision or withdrawal of the message that is being
// answered always counts, because that question no longer exists.
func (r *Room) actOnFloor(set *executive.Config, in resolvedEvent) {
	if in.change.of == "" {
		r.heed(set, in.signal)
	} else if in.signal != nil {
		r.floor.Signal(in.signal)
	}
}

// reask returns the decision to answer a message again that was changed meanwhile, and records the
// question in the entry.
func (r *Room) reask(e *entry, b earshot.Revision) []earshot.Event {
	again := e.change.again
	if again == nil { // its turn may have begun meanwhile
		if again = r.outdated(b); again != nil {
			e.signal = over(e.event, e.who.ID)
			r.actOnFloor(&r.set, e.resolvedEvent)
			e.ticket = r.floor.Ticket()
		}
	}
	if again == nil || !r.answers() || r.seatOf(again.Seat.ID) == nil {
		return nil
	}
	q := question.Question{
		Seat: again.Seat, Message: reworded(again.Message, b.Text, e.event), Rank: again.Rank, Chain: again.Chain, Root: again.Root,
		Ticket: e.ticket, Turn: earshot.TurnID(r.cfg.NewID()), Want: reflex.Recognise(b.Text, again.Seat.Name),
		Everybody: again.Everybody, Aloud: again.Aloud, ToRoom: again.ToRoom,
		Askers: askers.Add(again.Askers, e.who), Rests: prompt.Provenance{Visibility: again.Message.Visibility},
	}
	e.asks = append(e.asks, q)
	return []earshot.Event{r.decided(q, earshot.Speak, []string{decision.Reworded})}
}
