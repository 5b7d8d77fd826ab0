package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/executive/latency"
	"earshot/executive/presence"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/reflex"
	"earshot/executive/revision"
	"earshot/executive/tool"
	"earshot/participants"
)

// applyChange applies an event on record that changes earlier ones to everything that is
// remembered.
func (r *Room) applyChange(ctx context.Context, e earshot.Event) {
	switch b := e.Body.(type) {
	case earshot.Revision:
		r.applyRevision(e, b)
	case earshot.Withdrawal:
		gone := append([]earshot.EventID{b.Of}, b.With...)
		r.forget(ctx, e.Author, gone...)
		if r.cfg.Erased != nil {
			r.cfg.Erased(gone)
		}
	}
}

// applyRevision gives a message its revised text, wherever it is remembered.
func (r *Room) applyRevision(e earshot.Event, b earshot.Revision) {
	r.dropHeldCalls(func(id earshot.EventID) bool { return id == b.Of })
	for _, s := range r.seats {
		s.History.Revise(e.At, b)
	}
	for i, q := range r.pending {
		if q.Message.ID == b.Of {
			r.pending[i].Message, _ = revision.Reword(q.Message, e)
			r.pending[i].Want, r.pending[i].Words = reflex.Recognise(b.Text, q.Seat.Name), ""
		}
	}
	for i, m := range r.unanswered.messages {
		r.unanswered.messages[i], _ = revision.Reword(m, e)
	}
	r.unasked.Reword(b, func(had earshot.Event) earshot.Event {
		now, _ := revision.Reword(had, e)
		return now
	})
	r.slash.ForgetLists()
	r.entries.Update(func(had earshot.Event) (earshot.Event, bool) { return revision.Reword(had, e) })
}

// forget removes erased events from everything that is remembered, and gives up what would have
// followed from them, on behalf of by.
func (r *Room) forget(ctx context.Context, by earshot.ParticipantID, gone ...earshot.EventID) {
	is := record.Among(gone)
	r.dropHeldCalls(is)
	for _, s := range r.seats {
		s.History.Forget(is)
	}
	r.drop(func(q question.Question) bool { return is(q.Message.ID) || is(q.Origin()) })
	if l := r.live.answers(is); l != nil { // its turn may have begun meanwhile, or is ending already
		l.end()
	}
	r.mind.Forget(by, is)
	r.unasked.Forget(is, gone)
	r.preparation.Drop()
	r.viewer.Captioner.Forget(is)
	r.cfg.Memory.Forget(r.cfg.ID, gone, r.cfg.Now())
	r.unanswered.messages = slices.DeleteFunc(r.unanswered.messages, func(e earshot.Event) bool { return is(e.ID) })
	r.chain.Forget(is)
	for _, id := range gone {
		r.unasked.Reminders.Apply(earshot.Event{ID: id, Body: earshot.Tombstone{}})
	}
	r.speech.Listener.Forget(is)
	r.slash.ForgetLists()
	r.forgotten(is)
	r.scene.Forget(gone...)
	if r.cfg.Scenery != nil { // older entries come back
		if _, err := r.perceiver.Resync(ctx); err != nil {
			r.cfg.Log.Warn("the scene could not be compared with the journal", "err", err)
		}
	}
}

// forgotten is forget for state that others than the owner read.
func (r *Room) forgotten(is func(earshot.EventID) bool) {
	r.entries.Update(func(had earshot.Event) (earshot.Event, bool) {
		if !is(had.ID) {
			return had, false
		}
		return earshot.Event{ID: had.ID, At: had.At, Room: had.Room, Visibility: had.Visibility, Body: earshot.Tombstone{Was: had.Body.Kind()}}, true
	})
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	r.live.latencies = slices.DeleteFunc(r.live.latencies, func(t latency.Record) bool { return is(t.About) })
}

// Forget removes erased events from everything that the room remembers, and what it knows by itself
// about forgotten people: nothing more follows from either. A reply that is being said and rests on
// any of them is cut. Forget is safe for concurrent use, and returns when that is done, or the room
// has closed.
func (r *Room) Forget(ctx context.Context, gone []earshot.EventID, people []earshot.ParticipantID) error {
	return r.owner.Do(ctx, func(ctx context.Context) {
		if l := r.live.restsOn(record.Among(gone)); l != nil {
			l.end()
		}
		r.forgetPeople(people)
		r.forget(ctx, "", gone...)
	})
}

// Forgot records that so many events of this room are forgotten.
func (r *Room) Forgot(id earshot.EventID, events int, by earshot.ParticipantID) error {
	e := r.event(earshot.Visibility{Scope: earshot.System}, earshot.ErasureRecord{Events: events})
	e.ID, e.Author = id, by
	_, err := r.entries.Enqueue(e, nil)
	return err
}

// forgetPeople forgets what the room knows about people besides what is in the journal.
func (r *Room) forgetPeople(people []earshot.ParticipantID) {
	if len(people) == 0 {
		return
	}
	is := func(id earshot.ParticipantID) bool { return slices.Contains(people, id) }
	r.drop(func(q question.Question) bool { return is(q.Message.Author) })
	r.presence.Update(func(c *presence.Tracker) { c.Forget(people...) })
	r.scene.ForgetPeople(people...)
	r.speech.Presence.Forget(people)
	r.speech.Listener.ForgetPeople(is)
	r.exchange.Askers.Forget(is)
	r.held.Drop(func(w tool.PendingCall) bool {
		return is(w.By.ID) || slices.ContainsFunc(w.Asked, func(p participants.Participant) bool { return is(p.ID) })
	})
}
