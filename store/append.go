package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"earshot"
)

// add appends e to the journal and updates the views. It returns the event as it is kept, and
// reports whether it was added now.
func (s *Store) add(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, bool, error) {
	if err := admissible(e); err != nil {
		return e, false, fmt.Errorf("keeping an event: %w", err)
	}
	if e.At.IsZero() {
		e.At = s.now()
	}
	if e.ID == "" {
		e.ID = s.newID()
	} else if old, err := find(ctx, tx, e); err == nil || !errors.Is(err, sql.ErrNoRows) {
		return old, false, err
	}
	e.Sources = rests(e)
	orphan, err := orphaned(ctx, tx, e.Sources)
	if err != nil {
		return e, false, err
	}
	if orphan {
		e = erased(e)
	}
	if e, err = s.changes(ctx, tx, e); err != nil {
		return e, false, err
	}
	e, err = insert(ctx, tx, e, s.above)
	if err != nil {
		return e, false, err
	}
	return e, true, apply(ctx, tx, s.projections, e)
}

// find returns the event with the ID of e, or [sql.ErrNoRows]. It does not return an event of
// another sender, whose ID somebody may have guessed.
func find(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, error) {
	var r row
	if err := r.scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.id = ?", e.ID)); err != nil {
		return e, err
	}
	old, err := r.event()
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

// orphaned reports whether any of the sources was deleted.
func orphaned(ctx context.Context, tx *sql.Tx, sources []earshot.EventID) (gone bool, err error) {
	if len(sources) == 0 {
		return false, nil
	}
	list, err := json.Marshal(sources)
	if err != nil {
		return false, err
	}
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM journal WHERE kind = ? AND id IN (SELECT value FROM json_each(?)))`,
		earshot.KindErased, string(list)).Scan(&gone)
	return gone, err
}

// insert writes e after the last event of the journal, with a sequence greater than above.
func insert(ctx context.Context, tx *sql.Tx, e earshot.Event, above int64) (earshot.Event, error) {
	var last sql.NullInt64
	if err := tx.QueryRowContext(ctx, "SELECT max(sequence) FROM journal").Scan(&last); err != nil {
		return e, err
	}
	r, e, err := seal(e, max(last.Int64, above)+1)
	if err != nil {
		return e, fmt.Errorf("keeping an event: %w", err)
	}
	return e, lay(ctx, tx, r, e)
}

// lay writes the row of e, with the columns that help to find it.
func lay(ctx context.Context, tx *sql.Tx, r row, e earshot.Event) error {
	var agents any
	if e.Visibility.Agents != nil {
		agents = asJSON(e.Visibility.Agents)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO journal (sequence, id, at, room, kind, author, scope, payload, sum, agents) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.sequence, e.ID, e.At.UnixMilli(), e.Room, e.Body.Kind(), e.Author, e.Visibility.Scope, string(r.payload), r.sum, agents)
	if err != nil {
		return err
	}
	if e.Visibility.Scope == earshot.Private {
		for _, m := range e.Visibility.Members {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO members (sequence, member) VALUES (?, ?)", r.sequence, m); err != nil {
				return err
			}
		}
	}
	for _, source := range e.Sources {
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO derived (source, event) VALUES (?, ?)", source, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// apply updates views with e.
func apply(ctx context.Context, tx *sql.Tx, views []earshot.Projection, e earshot.Event) error {
	for _, p := range views {
		if err := p.Apply(ctx, tx, e); err != nil {
			return fmt.Errorf("keeping the view %s: %w", p.Name(), err)
		}
	}
	return nil
}
