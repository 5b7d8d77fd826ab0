package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"earshot"
	"earshot/store/journal"
	"earshot/store/retention"
)

// Retention is how many days events are kept, by kind; see [retention.Policy].
type Retention = retention.Policy

const (
	// maxExpired is how many events of one kind and room are erased before the next are looked up.
	maxExpired = 256

	// restFactor is how many times as long as a step the eraser rests after it: there is no hurry,
	// and others need the disk.
	restFactor = 4

	// maxRooms is more rooms than there can be.
	maxRooms = 1 << 20
)

// Expire erases, as [Store.Forget] does, the events that are older at now than r allows. It erases
// the oldest first, and rests between its steps. n is how many events lost their content. If Expire
// was cut short, it may be called again.
func (s *Store) Expire(ctx context.Context, r Retention, now time.Time, each func([]SelectedEvent)) (n int, err error) {
	for _, k := range r.Periods() {
		if k.Days == 0 {
			continue
		}
		before := now.AddDate(0, 0, -k.Days)
		gone, err := s.eachRoom(ctx, func(room earshot.RoomID) (int, error) { return s.expire(ctx, room, k.Kind, before, each) })
		n += gone
		if err != nil {
			return n, fmt.Errorf("forgetting what is old: %w", err)
		}
	}
	return n, nil
}

// Lapse erases what was overheard before a time: what was said aloud and meant for no agent. It
// erases the oldest first, rests between its steps, and also erases what was made from overheard
// events unasked. What an agent did for somebody who spoke to it stays, but its sources no longer
// include overheard events: otherwise somebody in front of a television would lose every answer.
//
// first, which may be nil, is called with the IDs of events before any of these is erased. each and
// n are as for [Store.Expire]. If Lapse was cut short, it may be called again.
func (s *Store) Lapse(ctx context.Context, before time.Time, first func([]earshot.EventID) error, each func([]SelectedEvent)) (n int, err error) {
	n, err = s.eachRoom(ctx, func(room earshot.RoomID) (int, error) { return s.lapse(ctx, room, before, first, each) })
	if err != nil {
		return n, fmt.Errorf("forgetting what was overheard: %w", err)
	}
	return n, nil
}

// eachRoom calls erase for each room, and returns how many events it erased. Their traces are removed
// later.
func (s *Store) eachRoom(ctx context.Context, erase func(earshot.RoomID) (int, error)) (n int, err error) {
	defer func() {
		if n > 0 {
			s.cleaner.wake()
		}
	}()
	rooms, err := s.Rooms(ctx, "", maxRooms)
	if err != nil {
		return 0, err
	}
	for _, room := range rooms {
		gone, err := erase(room)
		n += gone
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// expire erases the events of one kind and room that began before a time.
func (s *Store) expire(ctx context.Context, room earshot.RoomID, kind earshot.Kind, before time.Time, each func([]SelectedEvent)) (n int, err error) {
	for last := int64(0); ; { // older events may follow newer ones, because they were imported or a clock was wrong
		some, err := journal.CollectSelected(s.archive.db().QueryContext(ctx, "SELECT "+journal.SelectedColumns+" FROM journal j WHERE j.room = ? AND j.kind = ? AND j.sequence > ? AND j.at < ? ORDER BY j.sequence LIMIT ?",
			room, kind, last, before.UnixMilli(), maxExpired))
		if err != nil {
			return n, s.archive.failed(ctx, err)
		}
		if len(some) == 0 {
			return n, nil
		}
		if last, err = s.lastAfter(ctx, some, last); err != nil {
			return n, err
		}
		for len(some) > 0 {
			gone, err := restAfter(ctx, each, func() (gone []SelectedEvent, err error) {
				gone, done, err := s.forgetSome(ctx, some, gentleTime)
				some = some[done:]
				return gone, err
			})
			if n += gone; err != nil {
				return n, err
			}
		}
	}
}

// lapse is Lapse for one room.
func (s *Store) lapse(ctx context.Context, room earshot.RoomID, before time.Time, first func([]earshot.EventID) error, each func([]SelectedEvent)) (n int, err error) {
	for last := int64(0); ; {
		var some []SelectedEvent
		var plan retention.Plan
		err := s.archive.Look(ctx, func(v earshot.View) (err error) {
			some, err = s.overheard.Find(ctx, v, room, last, before, maxExpired)
			if err == nil {
				plan, err = s.overheard.Plan(ctx, v, some)
			}
			return err
		})
		if err != nil || len(some) == 0 {
			return n, err
		}
		if last, err = s.lastAfter(ctx, some, last); err != nil {
			return n, err
		}
		if first != nil {
			if err := first(plan.Erases()); err != nil {
				return n, err
			}
		}
		for !plan.IsDone() {
			gone, err := restAfter(ctx, each, func() (gone []SelectedEvent, err error) {
				plan, gone, err = s.lapseSome(ctx, plan)
				return gone, err
			})
			if n += gone; err != nil {
				return n, err
			}
		}
	}
}

// lapseSome carries out the first part of a plan, as much as one step has time for, and returns the
// rest of it, and what was erased.
func (s *Store) lapseSome(ctx context.Context, plan retention.Plan) (rest retention.Plan, gone []SelectedEvent, err error) {
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
		began := time.Now()
		more := func() bool { return time.Since(began) < gentleTime && s.write.waiting.Load() == 0 }
		rest, gone, err = s.overheard.Perform(ctx, tx, plan, more)
		return len(gone) > 0, err
	})
	return rest, gone, err
}

// lastAfter returns the last sequence of some events, or an error if they are not after a sequence:
// otherwise, a damaged file could keep the caller busy for ever.
func (s *Store) lastAfter(ctx context.Context, events []SelectedEvent, after int64) (int64, error) {
	if first := events[0].Sequence; first <= after {
		return 0, s.archive.failed(ctx, journal.OutOfOrder(first))
	}
	return events[len(events)-1].Sequence, nil
}

// restAfter performs a step, passes what it erased to each, which may be nil, and rests. It returns
// how many events were erased.
func restAfter(ctx context.Context, each func([]SelectedEvent), step func() ([]SelectedEvent, error)) (n int, err error) {
	began := time.Now()
	gone, err := step()
	if err != nil {
		return 0, err
	}
	if each != nil && len(gone) > 0 {
		each(gone)
	}
	select {
	case <-time.After(restFactor * time.Since(began)):
		return len(gone), nil
	case <-ctx.Done():
		return len(gone), context.Cause(ctx)
	}
}
