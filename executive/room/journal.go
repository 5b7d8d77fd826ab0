package room

import (
	"context"
	"fmt"
	"slices"

	"earshot"
	"earshot/executive/admission"
	"earshot/executive/dialogue"
	"earshot/executive/record"
)

// maxWaiting is how many events may wait for the journal. A commit takes a millisecond or two, so
// this many are a flood.
const maxWaiting = 256

// A Journal keeps events. Append is called by one goroutine at a time, returns the events with
// their sequence once they are on disk, and may wait for a disk. An event whose ID the journal
// already has comes back with its old sequence.
type Journal interface {
	Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error)
}

// A journalState is how far the room has come with its journal. It belongs to Run.
type journalState struct {
	unsaved record.RetryQueue // records of the room itself; everybody may add to them
	newest  int64             // the newest sequence
	began   int64             // the newest sequence of the past
}

// take writes everything that waits into the journal, in one commit, and then processes it. If the
// journal refuses them together, one may be at fault, so each is tried alone.
func (r *Room) take(ctx context.Context) {
	waiting := r.entries.Next()
	if r.syncSeats() && r.cfg.Scenery != nil {
		_, _ = r.perceiver.Resync(ctx) // of what an agent may see
	}
	batch := r.entries.Fitting(r.owed(waiting))
	if len(batch) == 0 {
		return
	}
	for _, e := range batch {
		e.Events = []earshot.Event{e.Event}
		switch body := e.Event.Body.(type) {
		case earshot.Message:
			if body.Turn == "" { // a message between agents within a turn is answered there
				r.unasked.Hear(e.Event, e.Who, body.Text)
				e.Events = append(e.Events, r.attend(e, body.Text)...)
			}
		case earshot.Revision:
			e.Events = append(e.Events, r.reask(e, body)...)
		case earshot.Utterance:
			text := dialogue.Join(e.Before, body.Text)
			r.unasked.Hear(e.Event, e.Who, text)
			e.Events = append(e.Events, r.attend(e, text)...)
		}
	}
	how := make([]error, len(batch))
	if err := r.write(ctx, batch); err != nil {
		late := false // an announcement is late; those after it wait behind it
		for i, e := range batch {
			how[i] = err
			if len(batch) > 1 && !(late && record.Announces(e.Event)) {
				how[i] = r.write(ctx, []*admission.Entry{e})
			}
			late = late || how[i] != nil && record.Announces(e.Event)
		}
	}
	r.supersede()
	for i, e := range batch {
		if how[i] != nil && record.Announces(e.Event) {
			r.records.unsaved.Add(e.Event) // they came or went nevertheless
			how[i] = nil
		}
		if how[i] == nil {
			if e.NewVoice && r.set.Speech.AnnounceVoices {
				r.unasked.AddStranger(e.Event)
			}
			r.notices.Await(e.Event)
		} else {
			r.unasked.Discard(e.Event.ID)
		}
		r.entries.Finish(e, how[i])
	}
	if slices.Contains(how, nil) { // the journal accepts something
		r.keep(ctx)
	}
}

// owed returns batch without the announcements that come after one which is still unsaved: they
// wait behind it.
func (r *Room) owed(batch []*admission.Entry) []*admission.Entry {
	if !r.records.unsaved.Announces() {
		return batch
	}
	return slices.DeleteFunc(batch, func(e *admission.Entry) bool {
		if !record.Announces(e.Event) {
			return false
		}
		r.records.unsaved.Add(e.Event)
		r.entries.Finish(e, nil)
		return true
	})
}

// write puts a batch into the journal. Then it informs everybody and lets the questions wait for a
// turn.
func (r *Room) write(ctx context.Context, batch []*admission.Entry) error {
	var events []earshot.Event
	var routine []earshot.EventID
	for _, e := range batch {
		events = append(events, e.Events...)
		if r.byReflex(e) {
			routine = append(routine, e.Event.ID)
		}
	}
	r.unasked.SetRoutine(routine)
	before := r.records.newest
	kept, err := r.append(ctx, events...)
	if err != nil {
		return fmt.Errorf("not kept: %w", err)
	}
	for _, e := range batch {
		own := kept[0]
		kept = kept[len(e.Events):]
		if own.Sequence > before {
			r.notices.Hint(own, r.advice(e.Addressees), e.Addressees.Hint == "")
			r.reportProgress(e)
			r.redirectThought(e)
			r.applyChange(ctx, own)
		}
		if own.Sequence <= before && !e.Again || own.Body.Kind() == earshot.KindErased { // the journal had it before: it was answered then
			for _, q := range e.Questions {
				r.giveUp(q)
			}
		} else {
			r.overtake(e)
			r.pending = append(r.pending, e.Questions...)
			r.consider(e)
		}
		r.live.mu.Lock()
		r.live.quiet = (r.live.quiet || e.Quiets) && !e.Wakes
		r.live.mu.Unlock()
	}
	return nil
}

// append puts events into the journal and informs everybody of those that are new.
func (r *Room) append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	ctx, cancel := record.Outlive(ctx)
	defer cancel()
	kept, err := r.cfg.Journal.Append(ctx, events...)
	if err != nil {
		return nil, err
	}
	before := r.records.newest
	var orphans []earshot.EventID
	for i, e := range kept {
		if e.Body.Kind() == earshot.KindErased && i < len(events) && events[i].Body.Kind() != earshot.KindErased {
			orphans = append(orphans, e.ID) // its source was withdrawn meanwhile
		}
		if e.Sequence > before {
			r.records.newest = max(r.records.newest, e.Sequence)
			r.reportCorrection(e)
			r.speech.Listener.Remember(e)
			r.remember(e)
			if gone := r.cfg.Memory.Take(e, r.cfg.Now()); len(gone) > 0 {
				r.unasked.Reminders.Drop(gone)
				r.preparation.Drop()
			}
			if e.Body.Kind() == earshot.KindReply {
				r.entries.RememberKept(e) // somebody may answer it
			}
			r.unasked.ObserveLive(e)
			r.viewer.Captioner.Note(e)
			r.show(e)
		}
	}
	if len(orphans) > 0 {
		r.forget(ctx, "", orphans...)
	}
	if !r.perceiver.Complete() {
		r.perceiver.Mend(ctx)
	}
	return kept, nil
}

// remember takes an event on record into the dialogue of each agent that may see it, and into the
// scene if any agent may.
func (r *Room) remember(e earshot.Event) {
	r.exchange.Take(e)
	r.unasked.Observe(e, r.cfg.Now())
	seen := false
	for _, s := range r.seats {
		if !e.Visibility.AllowsAgent(s.ID) {
			continue
		}
		seen = true
		if slices.Contains(e.To, s.ID) || e.Author == s.ID && e.Body.Kind() != earshot.KindDecision {
			s.Touched = r.cfg.Now()
		}
		if s.Awake {
			s.History.Learn(e, r.cfg.People)
		}
	}
	if seen {
		r.perceiver.Perceive(e)
	}
	if e.Body.Kind() == earshot.KindReminder {
		r.unasked.Reminders.Apply(e)
	}
}

// keep writes the room's own records, and returns those that are on record.
func (r *Room) keep(ctx context.Context) (kept []earshot.Event) {
	kept, dropped, err := r.records.unsaved.Flush(func(events ...earshot.Event) ([]earshot.Event, error) { return r.append(ctx, events...) })
	if dropped > 0 {
		r.dropping("unsaved", dropped)
		r.Report(earshot.Notice{Key: "unsaved", Text: "some ends of replies, arrivals or departures could not be recorded", Cure: "earshot doctor"})
	}
	if err != nil {
		r.cfg.Log.Warn("the journal does not accept events; trying again", "waiting", r.records.unsaved.Len(), "err", err)
	}
	return kept
}

// dropping reports that something was given up because a queue was full.
func (r *Room) dropping(queue string, n int) {
	if r.cfg.Dropped != nil {
		r.cfg.Dropped(queue, n)
	}
}

// record makes sure that an event is kept, whatever becomes of the turn, and waits until it is or
// ctx ends.
func (r *Room) record(ctx context.Context, e earshot.Event) {
	later := func(err error) {
		if err != nil {
			r.records.unsaved.Add(e)
		}
	}
	en, err := r.entries.Enqueue(e, later)
	if err != nil {
		later(err)
		return
	}
	_ = en.Wait(ctx)
}

// settle records decisions of the room itself, and reports whether they are on record: what is not
// recorded does not happen.
func (r *Room) settle(ctx context.Context, decisions ...earshot.Event) bool {
	if len(decisions) == 0 {
		return false
	}
	_, err := r.append(ctx, decisions...)
	return err == nil
}

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
