package admission

import (
	"context"
	"errors"
	"slices"

	"earshot"
	"earshot/executive/question"
	"earshot/executive/revision"
	"earshot/internal/lockorder"
	"earshot/interrupt"
)

// An Entry is an admitted event on its way into the journal.
type Entry struct {
	Input
	Ticket    interrupt.Ticket
	Events    []earshot.Event         // what is kept: the event itself, and what was decided
	Questions []question.Question     // to be answered, one for each agent
	Quiets    bool                    // it asks for silence
	Wakes     bool                    // it ends the silence
	OffRecord bool                    // only its ID is known
	Again     bool                    // it is on record, and has been unanswered since earshot stopped
	Had       []earshot.ParticipantID // agents that have answered it nevertheless, or have had their turn
	Then      func(error)             // receives the result; may be nil
	Fits      func() error            // says, when its turn has come, why it can no longer be kept; may be nil

	barred bool          // it was withdrawn before it came; only its ID is known
	queued chan struct{} // closed when it has its place in the queue; nil if it had that already
	done   chan struct{} // closed when the result is known
	err    error         // why it was not kept; set before done is closed
}

// Over reports whether the result of the entry is known: it does not wait for the journal.
func (en *Entry) Over() bool {
	select {
	case <-en.done:
		return true
	default:
		return false
	}
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

// is reports whether e may be the event of en, sent again: the contents of an event that was off
// the record or deleted are unknown.
func (en *Entry) is(e earshot.Event) bool {
	if _, gone := en.Event.Body.(earshot.Tombstone); gone || en.OffRecord {
		return true
	}
	return en.Event.From == e.From && en.Event.Author == e.Author && en.Event.Body.Kind() == e.Body.Kind()
}

// elsewhere reports whether en bars an event of another sense, and so not e.
func (en *Entry) elsewhere(e earshot.Event) bool {
	return en.barred && en.Event.From.Provider != e.From.Provider
}

// over returns an entry for an event about which nothing remains to be done.
func over(e earshot.Event) *Entry {
	done := make(chan struct{})
	close(done)
	return &Entry{Input: Input{Event: e}, done: done}
}

// A Queue is the way of a room's events into its journal, and what is remembered of those that took
// it. Each entry reserves a place first, and takes it when it has acted. All exported fields are
// required. It is safe for concurrent use.
type Queue struct {
	Limit int                 // of the places
	Mode  func() earshot.Mode // of the room
	Wake  func()              // called when an entry waits; it returns at once
	Shut  <-chan struct{}     // closed when the room is

	// Lookup returns an event of the room that it does not remember, and whether it exists. It may
	// wait for a disk. May be nil.
	Lookup func(context.Context, earshot.EventID) (earshot.Event, bool, error)

	mu       lockorder.Mutex[lockorder.Leaf]
	closed   bool
	reserved int           // places that will be taken in a moment
	waiting  []*Entry      // entries that have taken theirs, oldest first
	vacant   chan struct{} // closed when there is room for more; nil if nobody waits for that
	recent   recentCache
}

// unkept are the acts of people and agents that are refused off the record.
var unkept = map[earshot.Kind]bool{earshot.KindMemo: true, earshot.KindReminder: true, earshot.KindEdit: true, earshot.KindRevision: true, earshot.KindFact: true,
	earshot.KindTask: true, earshot.KindSchedule: true}

// governs reports whether events of kind k say what the room is like, or that something must be
// forgotten. They are few, whatever people do, and never refused.
func governs(k earshot.Kind) bool {
	return k == earshot.KindPresence || k == earshot.KindMode || k == earshot.KindWithdrawal
}

// Reserve makes an entry of in, unless there is one with its ID: an event that is sent twice must
// neither act twice nor be acknowledged before it is kept. Reserve also settles whether a message
// is on the record: of one that is not, only the ID is remembered, so that it is not kept when it
// is sent again later.
func (q *Queue) Reserve(in Input) (en *Entry, first bool, err error) {
	kind, off := in.Event.Body.Kind(), q.Mode() == earshot.OffRecord
	q.mu.Lock()
	defer q.mu.Unlock()
	if had, known := q.recent.Get(in.Event.ID); known && !had.elsewhere(in.Event) {
		if !had.is(in.Event) {
			return nil, false, ErrTaken
		}
		return had, false, nil
	}
	switch {
	case q.closed:
		return nil, false, ErrClosed
	case off && kind == earshot.KindMessage:
		en = over(earshot.Event{ID: in.Event.ID})
		en.OffRecord = true
	case off && unkept[kind]:
		return nil, false, errOffRecord
	case !governs(kind) && q.places() >= q.Limit:
		return nil, false, ErrBusy
	default:
		en = &Entry{Input: in, queued: make(chan struct{}), done: make(chan struct{})}
		q.reserved++
	}
	q.recent.Add(en)
	return en, true, nil
}

// places returns how many places are reserved or taken. q.mu must be held.
func (q *Queue) places() int { return q.reserved + len(q.waiting) }

// Len returns how many places are reserved or taken.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.places()
}

// Waiting returns how many places are taken.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// vacancy returns a channel that is closed when there is space for more.
func (q *Queue) vacancy() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.vacant == nil {
		q.vacant = make(chan struct{})
	}
	vacant := q.vacant
	if q.places() < q.Limit {
		q.vacate()
	}
	return vacant
}

// vacate wakes those who wait for space. q.mu must be held.
func (q *Queue) vacate() {
	if q.vacant != nil {
		close(q.vacant)
		q.vacant = nil
	}
}

// ReserveWhenFree is Reserve, but waits until there is space for a message, since its author can
// wait. waits is called before it waits for the first time; waited says that it was.
func (q *Queue) ReserveWhenFree(ctx context.Context, in Input, waits func()) (en *Entry, first, waited bool, err error) {
	for {
		en, first, err = q.Reserve(in)
		if err != ErrBusy || in.Event.Body.Kind() != earshot.KindMessage {
			return en, first, waited, err
		}
		if !waited {
			waited = true
			waits()
		}
		select {
		case <-q.vacancy():
		case <-q.Shut:
		case <-ctx.Done():
			return nil, false, true, errors.Join(ErrBusy, context.Cause(ctx))
		}
	}
}

// Push queues an entry that was reserved.
func (q *Queue) Push(en *Entry) {
	q.mu.Lock()
	q.reserved--
	closed := q.closed
	if !closed {
		q.waiting = append(q.waiting, en)
	}
	q.mu.Unlock()
	close(en.queued)
	if closed {
		q.Finish(en, ErrClosed)
		return
	}
	q.Wake()
}

// Next returns all waiting entries, which have left the queue then.
func (q *Queue) Next() []*Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting
	q.waiting = nil
	q.vacate()
	return waiting
}

// Close closes the queue, and returns the entries that wait: no more come.
func (q *Queue) Close() []*Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting
	q.closed, q.waiting = true, nil
	return waiting
}

// Closed reports whether the queue is closed.
func (q *Queue) Closed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Finish tells everybody who waits for the entry its result. An event that was not kept may be sent
// again, and has not happened.
func (q *Queue) Finish(en *Entry, err error) {
	if err != nil {
		q.Forget(en.Event.ID)
	}
	if en.Then != nil {
		en.Then(err)
	}
	en.err = err
	close(en.done)
}

// Enqueue admits an event of the room itself, to be kept. then, unless it is nil, receives the
// result before anybody who waits for the entry.
func (q *Queue) Enqueue(e earshot.Event, then func(error)) (*Entry, error) {
	en, first, err := q.Reserve(Input{Event: e})
	if first {
		en.Then = then
		q.Push(en)
	}
	return en, err
}

// Keep queues an event of the room itself, and waits until it is kept.
func (q *Queue) Keep(ctx context.Context, e earshot.Event) error { return q.KeepIf(ctx, e, nil) }

// KeepIf is Keep if fits is nil, or returns nil when the turn of the event has come. Otherwise it
// returns that error.
func (q *Queue) KeepIf(ctx context.Context, e earshot.Event, fits func() error) error {
	en, first, err := q.Reserve(Input{Event: e})
	if err != nil {
		return err
	}
	if first {
		en.Fits = fits
		q.Push(en)
	}
	return en.Wait(ctx)
}

// Fitting returns entries without those that no longer fit. Of those with a condition it returns only
// the first, and puts the others back: whether they fit can only be checked when that is kept.
func (q *Queue) Fitting(batch []*Entry) (fit []*Entry) {
	var later []*Entry
	checked := false
	for _, e := range batch {
		switch {
		case e.Fits == nil:
			fit = append(fit, e)
		case checked:
			later = append(later, e)
		default:
			checked = true
			if err := e.Fits(); err != nil {
				q.Finish(e, err)
				continue
			}
			fit = append(fit, e)
		}
	}
	if len(later) > 0 {
		q.mu.Lock()
		q.waiting = append(later, q.waiting...)
		q.mu.Unlock()
		q.Wake()
	}
	return fit
}

// RememberKept remembers an event that is on record.
func (q *Queue) RememberKept(e earshot.Event) { q.remember(over(e)) }

// remember returns the entry of the same event if it is remembered already; otherwise it remembers
// en, which needs no place.
func (q *Queue) remember(en *Entry) (had *Entry, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if had, known = q.recent.Get(en.Event.ID); !known {
		q.recent.Add(en)
	}
	return had, known
}

// Find returns the entry of an event, if it is remembered.
func (q *Queue) Find(id earshot.EventID) (en *Entry, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.recent.Get(id)
}

// Reply returns the reply of a turn, if it is remembered.
func (q *Queue) Reply(turn earshot.TurnID) earshot.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.recent.Reply(turn)
}

// Forget forgets the entry of an event, and reports whether it was remembered.
func (q *Queue) Forget(id earshot.EventID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, known := q.recent.Get(id)
	q.recent.Remove(id)
	return known
}

// Update replaces what is remembered of the events that change.
func (q *Queue) Update(change func(earshot.Event) (now earshot.Event, changed bool)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.recent.Update(change)
}

// Recent returns an event that is remembered; the zero Event if it is not.
func (q *Queue) Recent(id earshot.EventID) (e earshot.Event) {
	if en, ok := q.Find(id); ok {
		e = en.Event
	}
	return e
}

// ChangesSoon reports whether a revision or withdrawal of a message waits to be kept.
func (q *Queue) ChangesSoon(id earshot.EventID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, func(en *Entry) bool { return en.Change.Of != "" && en.Change.Of == id })
}

// original returns the message of that e changes. If it is just entering the queue, original waits
// for that.
func (q *Queue) original(ctx context.Context, e earshot.Event, of earshot.EventID) (was earshot.Event, err error) {
	was, err = q.find(ctx, of)
	for errors.Is(err, revision.ErrNoSuch) && !q.bar(e, of) { // it has come meanwhile
		was, err = q.find(ctx, of)
	}
	return was, err
}

func (q *Queue) find(ctx context.Context, of earshot.EventID) (was earshot.Event, err error) {
	en, known := q.Find(of)
	switch {
	case known && en.OffRecord:
		return was, revision.ErrNothingKept
	case known && en.barred:
		return was, revision.ErrNoSuch
	case known:
		was = en.Event
		if en.queued == nil {
			break
		}
		select {
		case <-en.queued:
		case <-ctx.Done():
			return was, context.Cause(ctx)
		}
	case q.Lookup != nil:
		if was, known, err = q.Lookup(ctx, of); err != nil {
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

// bar keeps out a message that e withdraws although it has not come yet: a sense that has asked for
// past messages can be told that one was deleted before it delivers it. Only a moderator can do
// that, at their place. It reports whether the message has still not come.
func (q *Queue) bar(e earshot.Event, of earshot.EventID) bool {
	if en, known := q.Find(of); known {
		return en.barred
	}
	if revision.Moderates(e) {
		en := over(earshot.Event{ID: of, At: e.At, From: e.From, Room: e.Room, Body: earshot.Tombstone{Was: earshot.KindMessage}})
		en.barred = true
		if had, came := q.remember(en); came {
			return had.barred
		}
	}
	return true
}
