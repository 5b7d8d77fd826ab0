package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"earshot"
)

// errNothing says that an event is about another that is not there, or not of its kind.
var errNothing = errors.New("it is about a message that this room has not")

// revise overwrites a message, and what was kept of it before: the text of earlier
// revisions, and edits that put right what is no longer there.
func (s *Store) revise(ctx context.Context, tx *sql.Tx, e earshot.Event, b earshot.Revision) error {
	had, err := target(ctx, tx, e.Room, b.Of)
	if err != nil {
		return err
	}
	m, ok := had.Body.(earshot.Message)
	if !ok {
		return errNothing
	}
	about, err := stemming(ctx, tx, b.Of)
	if err != nil {
		return err
	}
	for _, r := range about {
		if err := s.outdate(ctx, tx, r, b.Of); err != nil {
			return err
		}
	}
	m.Text, m.Revised = b.Text, e.At
	had.Body = m
	return s.overwrite(ctx, tx, had)
}

// outdate takes from a row that was derived from a message what repeats its old text.
func (s *Store) outdate(ctx context.Context, tx *sql.Tx, r row, of earshot.EventID) error {
	e, err := r.event()
	if err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case earshot.Revision:
		b.Text = ""
		e.Body = b
		return s.overwrite(ctx, tx, e)
	case earshot.Edit:
		if b.Item == string(of) {
			_, err = s.erase(ctx, tx, victim{row: r, id: e.ID, at: e.At.UnixMilli(), room: e.Room})
			return err
		}
	}
	return nil
}

// overwrite lays e over what is kept under its sequence, and shows it to the views.
func (s *Store) overwrite(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	r, now, err := seal(e, e.Sequence)
	if err == nil {
		err = s.archive.index.remove(ctx, tx, e.Sequence)
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE journal SET payload = ?, sum = ? WHERE sequence = ?", string(r.payload), r.sum, r.sequence); err != nil {
		return err
	}
	gone := erased(now)
	gone.Sequence = now.Sequence
	if err := s.apply(ctx, tx, gone); err != nil { // of what it was the views keep nothing
		return err
	}
	return s.apply(ctx, tx, now)
}

// withdraw erases a message, or a reply, and all that was derived from it, and notes in the event
// that says so what that was.
func (s *Store) withdraw(ctx context.Context, tx *sql.Tx, b earshot.Withdrawal, in earshot.RoomID) (earshot.Withdrawal, error) {
	b.With = nil
	had, err := target(ctx, tx, in, b.Of)
	if err != nil {
		return b, err
	}
	switch had.Body.(type) {
	case earshot.Message, earshot.Utterance, earshot.Reply, earshot.Tombstone: // that, and what came of it since, is erased already
	default:
		return b, errNothing
	}
	victims, err := descendants(ctx, tx, asJSON([]earshot.EventID{b.Of}))
	if err != nil {
		return b, err
	}
	for _, v := range victims {
		if _, err := s.erase(ctx, tx, v); err != nil {
			return b, err
		}
		if v.id != b.Of {
			b.With = append(b.With, v.id)
		}
	}
	return b, nil
}

// target returns the event of a room that another is about.
func target(ctx context.Context, tx *sql.Tx, in earshot.RoomID, id earshot.EventID) (earshot.Event, error) {
	var r row
	err := r.scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.id = ? AND j.room = ?", id, in))
	if errors.Is(err, sql.ErrNoRows) {
		return earshot.Event{}, errNothing
	}
	if err != nil {
		return earshot.Event{}, err
	}
	return r.event()
}

// stemming returns the rows that were derived from an event at first hand.
func stemming(ctx context.Context, tx *sql.Tx, from earshot.EventID) ([]row, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind IN (?, ?)",
		from, earshot.KindRevision, earshot.KindEdit)
	if err != nil {
		return nil, err
	}
	return collect(rows)
}

// changes does to what is kept already what e says of it, and returns e as it is kept.
func (s *Store) changes(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, error) {
	var err error
	switch b := e.Body.(type) {
	case earshot.Revision:
		err = s.revise(ctx, tx, e, b)
	case earshot.Withdrawal:
		e.Body, err = s.withdraw(ctx, tx, b, e.Room)
	default:
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("keeping an event: %w", err)
	}
	s.tidier.wake()
	return e, mark(ctx, tx)
}

// rests returns the sources of e, of which what it revises is always one.
func rests(e earshot.Event) []earshot.EventID {
	b, is := e.Body.(earshot.Revision)
	if !is || slices.Contains(e.Sources, b.Of) {
		return e.Sources
	}
	return append(slices.Clip(e.Sources), b.Of)
}

// Event returns an event of a room, whoever may see it, and whether it exists. It is for the
// keeper of the room, to know what another event is about, and never for a prompt or an outlet.
func (s *Store) Event(ctx context.Context, in earshot.RoomID, id earshot.EventID) (earshot.Event, bool, error) {
	var r row
	err := r.scan(s.archive.db().QueryRowContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.id = ? AND j.room = ?", id, in))
	if errors.Is(err, sql.ErrNoRows) {
		return earshot.Event{}, false, nil
	}
	if err == nil {
		var e earshot.Event
		if e, err = r.event(); err == nil {
			return e, true, nil
		}
	}
	return earshot.Event{}, false, s.archive.failed(ctx, err)
}
