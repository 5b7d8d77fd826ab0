// Package edit changes what a journal holds, in a transaction of its caller: it adds events, and
// revises, withdraws and erases earlier ones. The views change with the events.
package edit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/store/journal"
	"earshot/store/views"
)

// ErrTaken says that another event already has the ID of this one.
var ErrTaken = errors.New("the ID belongs to another event")

// An Editor changes one journal. It is used by one goroutine at a time.
type Editor struct {
	Views *views.Set
	Above int64 // new events get higher sequences

	Now    func() time.Time       // the time of an event that has none
	NewID  func() earshot.EventID // the ID of an event that has none
	Traces func()                 // called when something loses its content, of which the file has traces
}

// Add appends e to the journal and updates the views. It returns the event as it is kept, and
// reports whether it was added now.
func (d *Editor) Add(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, bool, error) {
	if err := journal.CheckEvent(e); err != nil {
		return e, false, fmt.Errorf("keeping an event: %w", err)
	}
	if e.At.IsZero() {
		e.At = d.Now()
	}
	if e.ID == "" {
		e.ID = d.NewID()
	} else if old, err := Find(ctx, tx, e); err == nil || !errors.Is(err, sql.ErrNoRows) {
		return old, false, err
	}
	if b, is := e.Body.(earshot.Revision); is && !slices.Contains(e.Sources, b.Of) {
		e.Sources = append(slices.Clip(e.Sources), b.Of) // the message that it changes
	}
	orphan, err := isAnyErased(ctx, tx, e.Sources)
	if err != nil {
		return e, false, err
	}
	if orphan {
		e = Erased(e)
	}
	if e, err = d.Change(ctx, tx, e); err != nil {
		return e, false, err
	}
	e, err = insert(ctx, tx, e, d.Above)
	if err != nil {
		return e, false, err
	}
	return e, true, d.Views.Apply(ctx, tx, e)
}

// Find returns the event with the ID of e, or [sql.ErrNoRows]. It does not return an event of
// another sender, whose ID somebody may have guessed.
func Find(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, error) {
	var r journal.Row
	if err := r.Scan(tx.QueryRowContext(ctx, "SELECT "+journal.Columns+" FROM journal j WHERE j.id = ?", e.ID)); err != nil {
		return e, err
	}
	old, err := r.Event()
	if err != nil {
		return e, err
	}
	if _, gone := old.Body.(earshot.Tombstone); gone && old.Room == e.Room {
		return old, nil
	}
	if old.Room != e.Room || old.From != e.From || old.Author != e.Author || old.Body.Kind() != e.Body.Kind() {
		return e, fmt.Errorf("keeping event %s: %w", e.ID, ErrTaken)
	}
	return old, nil
}

// isAnyErased reports whether any of the events was erased.
func isAnyErased(ctx context.Context, tx *sql.Tx, ids []earshot.EventID) (is bool, err error) {
	if len(ids) == 0 {
		return false, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM journal WHERE kind = ? AND id IN (SELECT value FROM json_each(?)))",
		earshot.KindErased, journal.JSON(ids)).Scan(&is)
	return is, err
}

// insert writes e after the last event of the journal, with a sequence greater than above.
func insert(ctx context.Context, tx *sql.Tx, e earshot.Event, above int64) (earshot.Event, error) {
	var last sql.NullInt64
	if err := tx.QueryRowContext(ctx, "SELECT max(sequence) FROM journal").Scan(&last); err != nil {
		return e, err
	}
	r, e, err := journal.Seal(e, max(last.Int64, above)+1)
	if err != nil {
		return e, fmt.Errorf("keeping an event: %w", err)
	}
	return e, journal.Insert(ctx, tx, r, e)
}
