package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot"
)

// overheard is the condition that event j of the journal was said aloud and meant for no agent: it
// addresses no agent, no agent answered it, and nothing was done for it. @heeded are the reasons
// for silence that show that an agent was meant. @unheeded are the reasons for speaking that do not
// show it.
const overheard = `j.kind = 'utterance' AND coalesce(json_array_length(j.payload, '$.to'), 0) = 0
	AND NOT EXISTS (SELECT 1 FROM derived h CROSS JOIN journal k ON k.id = h.event WHERE h.source = j.id
		AND (k.kind = 'snooze' OR k.kind = 'decision' AND json_extract(k.payload, '$.body.about') = j.id
			AND (json_extract(k.payload, '$.body.verdict') = 'speak'
					AND NOT EXISTS (SELECT 1 FROM json_each(k.payload, '$.body.reasons') r WHERE r.value IN (SELECT value FROM json_each(@unheeded)))
				OR EXISTS (SELECT 1 FROM json_each(k.payload, '$.body.reasons') r WHERE r.value IN (SELECT value FROM json_each(@heeded))))))`

// Lapse erases what was overheard before a time: what was said aloud and meant for no agent. It
// erases the oldest first, rests between its steps, and also erases what was made from overheard
// events unasked. What an agent did for somebody who spoke to it stays, but its sources no longer
// include overheard events: otherwise somebody in front of a television would lose every answer.
//
// first, which may be nil, is called with the IDs of events before any of these is erased. each and
// n are as for [Store.Expire]. If Lapse was cut short, it may be called again.
func (s *Store) Lapse(ctx context.Context, before time.Time, first func([]earshot.EventID) error, each func([]SelectedEvent)) (n int, err error) {
	defer func() {
		if n > 0 {
			s.tidier.wake()
		}
	}()
	rooms, err := s.Rooms(ctx, "", mostRooms)
	if err != nil {
		return 0, err
	}
	for _, room := range rooms {
		gone, err := s.lapse(ctx, room, before, first, each)
		n += gone
		if err != nil {
			return n, fmt.Errorf("forgetting what was overheard: %w", err)
		}
	}
	return n, nil
}

// lapse is Lapse for one room.
func (s *Store) lapse(ctx context.Context, room earshot.RoomID, before time.Time, first func([]earshot.EventID) error, each func([]SelectedEvent)) (n int, err error) {
	for seen := int64(0); ; {
		var some []SelectedEvent
		var l *overheardPlan
		err := s.archive.Look(ctx, func(v earshot.View) (err error) {
			some, err = dooms(v.QueryContext(ctx, "SELECT "+doomed+" FROM journal j WHERE j.room = @room AND j.sequence > @seen AND j.at < @before AND "+overheard+" ORDER BY j.sequence LIMIT @most",
				sql.Named("room", room), sql.Named("seen", seen), sql.Named("before", before.UnixMilli()), s.heeded, s.unheeded, sql.Named("most", expiring)))
			if err == nil {
				l, err = s.lapsing(ctx, v, some)
			}
			return err
		})
		if err != nil || len(some) == 0 {
			return n, err
		}
		if some[0].Sequence <= seen {
			return n, s.archive.failed(ctx, astray(some[0].Sequence))
		}
		seen = some[len(some)-1].Sequence
		if first != nil {
			if err := first(slices.Clone(l.erases)); err != nil {
				return n, err
			}
		}
		for len(l.loosens)+len(l.erases) > 0 {
			began := time.Now()
			gone, err := s.lapseSome(ctx, l)
			if err != nil {
				return n, err
			}
			if n += len(gone); each != nil && len(gone) > 0 {
				each(gone)
			}
			select {
			case <-time.After(easing * time.Since(began)):
			case <-ctx.Done():
				return n, context.Cause(ctx)
			}
		}
	}
}

// An overheardPlan says what happens to events that were made from overheard events.
type overheardPlan struct {
	erases  []earshot.EventID // each after everything that was made from it
	loosens []earshot.EventID // these stay, but lose the erased events as sources
	known   map[earshot.EventID]bool
	gone    map[earshot.EventID]bool // everything in erases at the beginning
}

// lapsing determines what was made from some events, and what happens to it.
func (s *Store) lapsing(ctx context.Context, v earshot.View, some []SelectedEvent) (*overheardPlan, error) {
	l := &overheardPlan{known: make(map[earshot.EventID]bool), gone: make(map[earshot.EventID]bool)}
	for _, d := range some {
		l.erases = append(l.erases, d.ID)
		l.known[d.ID], l.gone[d.ID] = true, true
	}
	for i := 0; i < len(l.erases); i++ {
		made, err := madeOf(ctx, v, l.erases[i])
		if err != nil {
			return nil, err
		}
		for _, m := range made {
			if l.known[m.id] {
				continue
			}
			l.known[m.id] = true
			asked, err := s.asked(ctx, v, m, l.gone)
			switch {
			case err != nil:
				return nil, err
			case asked:
				l.loosens = append(l.loosens, m.id)
			default:
				l.erases = append(l.erases, m.id)
				l.gone[m.id] = true
			}
		}
	}
	slices.Reverse(l.erases)
	return l, nil
}

// madeOf returns what was made directly from an event and is not erased.
func madeOf(ctx context.Context, v earshot.View, of earshot.EventID) ([]victim, error) {
	rows, err := v.QueryContext(ctx, "SELECT "+columns+", j.id, j.at, j.room FROM derived d CROSS JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind <> ? ORDER BY j.sequence", of, earshot.KindErased)
	return list(rows, err, (*victim).read)
}

// asked reports whether m, which was made partly from overheard events, was made for somebody who
// spoke to an agent. A damaged event counts as not made for anybody, because nobody will read it.
func (s *Store) asked(ctx context.Context, v earshot.View, m victim, gone map[earshot.EventID]bool) (is bool, err error) {
	e, err := m.event()
	if err != nil {
		return false, nil
	}
	switch b := e.Body.(type) {
	case earshot.Reply:
		return b.About != "" && !gone[b.About], nil
	case earshot.Thought:
		return b.Cause.Asked() && !gone[b.About], nil
	case earshot.Finding:
		err = v.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM journal WHERE id = ? AND kind = 'thought' AND json_extract(payload, '$.body.cause') IN (?, ?, ?))",
			b.Thought, earshot.ByTrigger, earshot.ByCommand, earshot.ByDelegation).Scan(&is)
		return is && !gone[b.Thought], err
	case earshot.Decision:
		return false, nil
	}
	err = v.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM json_each(@sources) s CROSS JOIN journal j ON j.id = s.value WHERE j.kind = 'message' OR j.kind = 'utterance' AND NOT ("+overheard+"))",
		sql.Named("sources", asJSON(e.Sources)), s.heeded, s.unheeded).Scan(&is)
	return is, err
}

// lapseSome carries out the first part of l, as much as one step has time for, and returns what was
// erased.
func (s *Store) lapseSome(ctx context.Context, l *overheardPlan) (gone []SelectedEvent, err error) {
	loosened, erases := 0, 0
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		gone, loosened, erases = nil, 0, 0
		began := time.Now()
		more := func() bool {
			return loosened+erases == 0 || time.Since(began) < gentle && s.write.waiting.Load() == 0
		}
		for ; loosened < len(l.loosens) && more(); loosened++ {
			if err := s.loosen(ctx, tx, l.loosens[loosened], l.gone); err != nil {
				return false, err
			}
		}
		for ; loosened == len(l.loosens) && erases < len(l.erases) && more(); erases++ {
			was, err := s.lapseOne(ctx, tx, l.erases[erases], l.known)
			if err != nil {
				return false, err
			}
			gone = append(gone, was...)
		}
		if loosened+len(gone) == 0 {
			return false, nil
		}
		return len(gone) > 0, mark(ctx, tx) // the mark is also set for loosened events: the copy of the file must contain their change
	})
	l.loosens, l.erases = l.loosens[loosened:], l.erases[erases:]
	return gone, err
}

// lapseIn erases those of the events that were overheard, as Lapse does, in one step.
func (s *Store) lapseIn(ctx context.Context, tx *sql.Tx, ids []earshot.EventID) (gone []SelectedEvent, err error) {
	some, err := dooms(tx.QueryContext(ctx, "SELECT "+doomed+" FROM journal j WHERE j.id IN (SELECT value FROM json_each(@ids)) AND "+overheard, sql.Named("ids", asJSON(ids)), s.heeded, s.unheeded))
	if err != nil {
		return nil, err
	}
	l, err := s.lapsing(ctx, tx, some)
	if err != nil {
		return nil, err
	}
	for _, id := range l.loosens {
		if err := s.loosen(ctx, tx, id, l.gone); err != nil {
			return nil, err
		}
	}
	for _, id := range l.erases {
		was, err := s.lapseOne(ctx, tx, id, l.known)
		if err != nil {
			return nil, err
		}
		gone = append(gone, was...)
	}
	return gone, nil
}

// loosen removes erased events from the sources of an event. No view depends on these.
func (s *Store) loosen(ctx context.Context, tx *sql.Tx, id earshot.EventID, gone map[earshot.EventID]bool) error {
	var r row
	err := r.scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.id = ? AND j.kind <> ?", id, earshot.KindErased))
	if errors.Is(err, sql.ErrNoRows) {
		return nil // somebody has erased it meanwhile
	}
	if err != nil {
		return err
	}
	e, err := r.event()
	if err != nil {
		return nil // a damaged event is not changed
	}
	for _, source := range e.Sources {
		if gone[source] {
			if _, err := tx.ExecContext(ctx, "DELETE FROM derived WHERE source = ? AND event = ?", source, id); err != nil {
				return err
			}
		}
	}
	e.Sources = slices.DeleteFunc(e.Sources, func(id earshot.EventID) bool { return gone[id] })
	if r, _, err = seal(e, r.sequence); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE journal SET payload = ?, sum = ? WHERE sequence = ?", string(r.payload), r.sum, r.sequence)
	return err
}

// lapseOne erases one event, unless something was made from it meanwhile. In that case both are
// erased the next time.
func (s *Store) lapseOne(ctx context.Context, tx *sql.Tx, id earshot.EventID, known map[earshot.EventID]bool) (gone []SelectedEvent, err error) {
	made, err := madeOf(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(made, func(m victim) bool { return !known[m.id] }) {
		return nil, nil
	}
	v := victim{id: id}
	err = v.scan(tx.QueryRowContext(ctx, "SELECT "+columns+", j.at, j.room FROM journal j WHERE j.id = ? AND j.kind <> ?", id, earshot.KindErased), &v.at, &v.room)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	was, err := s.erase(ctx, tx, v)
	was.Sequence, was.Room = v.sequence, v.room
	return []SelectedEvent{was}, err
}
