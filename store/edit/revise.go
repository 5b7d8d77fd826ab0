package edit

import (
	"context"
	"database/sql"
	"fmt"

	"earshot"
	"earshot/store/journal"
)

// Change applies e to the earlier events that it changes, and returns e as it is kept.
func (d *Editor) Change(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, error) {
	var err error
	switch b := e.Body.(type) {
	case earshot.Revision:
		err = d.revise(ctx, tx, e, b)
	case earshot.Withdrawal:
		e.Body, err = d.withdraw(ctx, tx, b, e.Room)
	default:
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("keeping an event: %w", err)
	}
	d.Traces()
	return e, journal.MarkTraces(ctx, tx)
}

// revise overwrites a message and everything that repeats its old text: earlier revisions, and
// edits that correct something that is no longer there.
func (d *Editor) revise(ctx context.Context, tx *sql.Tx, e earshot.Event, b earshot.Revision) error {
	had, err := journal.Target(ctx, tx, e.Room, b.Of)
	if err != nil {
		return err
	}
	m, ok := had.Body.(earshot.Message)
	if !ok {
		return journal.ErrNoTarget
	}
	about, err := journal.Collect(tx.QueryContext(ctx, "SELECT "+journal.Columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind IN (?, ?)",
		b.Of, earshot.KindRevision, earshot.KindEdit))
	if err != nil {
		return err
	}
	for _, r := range about {
		if err := d.removeOldText(ctx, tx, r, b.Of); err != nil {
			return err
		}
	}
	m.Text, m.Revised = b.Text, e.At
	had.Body = m
	return d.overwrite(ctx, tx, had)
}

// removeOldText removes the old text of a message from a row that was derived from the message.
func (d *Editor) removeOldText(ctx context.Context, tx *sql.Tx, r journal.Row, of earshot.EventID) error {
	e, err := r.Event()
	if err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case earshot.Revision:
		b.Text = ""
		e.Body = b
		return d.overwrite(ctx, tx, e)
	case earshot.Edit:
		if b.Item == string(of) {
			_, err = d.erase(ctx, tx, Entry{Row: r, ID: e.ID, at: e.At.UnixMilli(), room: e.Room})
			return err
		}
	}
	return nil
}

// overwrite stores e in place of the event with its sequence, and updates the views.
func (d *Editor) overwrite(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	r, now, err := journal.Seal(e, e.Sequence)
	if err == nil {
		err = d.Views.Index.Remove(ctx, tx, e.Sequence)
	}
	if err == nil {
		err = journal.Overwrite(ctx, tx, r)
	}
	if err != nil {
		return err
	}
	gone := Erased(now)
	gone.Sequence = now.Sequence
	if err := d.Views.Apply(ctx, tx, gone); err != nil { // the views keep nothing of the old event
		return err
	}
	return d.Views.Apply(ctx, tx, now)
}

// withdraw erases a message or a reply, and everything derived from it. It records in the
// withdrawal what that was.
func (d *Editor) withdraw(ctx context.Context, tx *sql.Tx, b earshot.Withdrawal, in earshot.RoomID) (earshot.Withdrawal, error) {
	b.With = nil
	had, err := journal.Target(ctx, tx, in, b.Of)
	if err != nil {
		return b, err
	}
	switch had.Body.(type) {
	case earshot.Message, earshot.Utterance, earshot.Reply, earshot.Tombstone: // a Tombstone is erased already, but something may have been made from it since
	default:
		return b, journal.ErrNoTarget
	}
	gone, err := d.EraseAll(ctx, tx, b.Of)
	for _, was := range gone {
		if was.ID != b.Of {
			b.With = append(b.With, was.ID)
		}
	}
	return b, err
}
