package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"earshot"
)

// errNothing says that an event refers to another event that does not exist or has the wrong kind.
var errNothing = errors.New("it is about a message that this room has not")

// revise overwrites a message and everything that repeats its old text: earlier revisions, and
// edits that correct something that is no longer there.
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

// outdate removes the old text of a message from a row that was derived from the message.
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

// overwrite stores e in place of the event with its sequence, and updates the views.
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
	if err := apply(ctx, tx, s.projections, gone); err != nil { // the views keep nothing of the old event
		return err
	}
	return apply(ctx, tx, s.projections, now)
}

// withdraw erases a message or a reply, and everything derived from it. It records in the
// withdrawal what that was.
func (s *Store) withdraw(ctx context.Context, tx *sql.Tx, b earshot.Withdrawal, in earshot.RoomID) (earshot.Withdrawal, error) {
	b.With = nil
	had, err := target(ctx, tx, in, b.Of)
	if err != nil {
		return b, err
	}
	switch had.Body.(type) {
	case earshot.Message, earshot.Utterance, earshot.Reply, earshot.Tombstone: // a Tombstone is erased already, but something may have been made from it since
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

// target returns the event of a room to which another event refers.
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

// stemming returns the rows that were derived directly from an event.
func stemming(ctx context.Context, tx *sql.Tx, from earshot.EventID) ([]row, error) {
	return collect(tx.QueryContext(ctx, "SELECT "+columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind IN (?, ?)",
		from, earshot.KindRevision, earshot.KindEdit))
}

// changes applies e to the earlier events that it changes, and returns e as it is kept.
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

// rests returns the sources of e. The message that a revision changes is always one of them.
func rests(e earshot.Event) []earshot.EventID {
	b, is := e.Body.(earshot.Revision)
	if !is || slices.Contains(e.Sources, b.Of) {
		return e.Sources
	}
	return append(slices.Clip(e.Sources), b.Of)
}

// Event returns an event of a room, whoever may see it, and whether it exists. It lets the room
// look up an event to which another refers. It is never for a prompt or an outlet.
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
