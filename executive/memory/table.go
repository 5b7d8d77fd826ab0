package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"earshot"
)

// Projection keeps two tables: what is remembered, and which events were read for it. An event whose
// summary is erased counts as unread again.
type Projection struct{}

// Name implements [earshot.Projection].
func (Projection) Name() string { return "memory" }

// Version implements [earshot.Projection].
func (Projection) Version() int { return 1 }

// Create implements [earshot.Projection].
func (Projection) Create(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `
		CREATE TABLE remembered (
			sequence INTEGER PRIMARY KEY,
			id       TEXT    NOT NULL UNIQUE,
			event    TEXT    NOT NULL -- as JSON
		) STRICT;
		CREATE TABLE reading (
			sequence INTEGER PRIMARY KEY,
			id       TEXT    NOT NULL UNIQUE,
			room     TEXT    NOT NULL,
			circle   TEXT    NOT NULL,
			at       INTEGER NOT NULL,
			pass     INTEGER -- the summary for which it was read
		) STRICT;
		CREATE INDEX unread ON reading (room, circle, sequence) WHERE pass IS NULL;
		CREATE INDEX passes ON reading (pass) WHERE pass IS NOT NULL`)
}

// Reset implements [earshot.Projection].
func (Projection) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS remembered; DROP TABLE IF EXISTS reading`)
}

// Apply implements [earshot.Projection].
func (Projection) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	if Words(e) != "" {
		err := run(ctx, tx, `INSERT INTO reading (sequence, id, room, circle, at) VALUES (?, ?, ?, ?, ?)`, e.Sequence, e.ID, e.Room, circle(e.Visibility), e.At.UnixMilli())
		if err != nil {
			return err
		}
	}
	switch e.Body.(type) {
	case earshot.Fact:
		return remember(ctx, tx, e)
	case earshot.Summary:
		sources, err := json.Marshal(e.Sources)
		if err != nil {
			return err
		}
		if err := run(ctx, tx, `UPDATE reading SET pass = ? WHERE id IN (SELECT value FROM json_each(?))`, e.Sequence, string(sources)); err != nil {
			return err
		}
		return remember(ctx, tx, e)
	case earshot.Tombstone:
		return run(ctx, tx, `DELETE FROM remembered WHERE sequence = ?1; DELETE FROM reading WHERE sequence = ?1; UPDATE reading SET pass = NULL WHERE pass = ?1`, e.Sequence)
	}
	return nil
}

func remember(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	event, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return run(ctx, tx, `INSERT INTO remembered (sequence, id, event) VALUES (?, ?, ?)`, e.Sequence, e.ID, string(event))
}

func run(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, statement, args...)
	return err
}

// Load fills an empty index from a journal that has the [Projection].
func (x *Index) Load(ctx context.Context, v earshot.View, now time.Time) error {
	kept, err := column[string](v.QueryContext(ctx, `SELECT event FROM remembered ORDER BY sequence`))
	if err != nil {
		return err
	}
	rooms, err := column[earshot.RoomID](v.QueryContext(ctx, `SELECT DISTINCT room FROM reading WHERE pass IS NULL AND at > ?`, now.Add(-oldest).UnixMilli()))
	if err != nil {
		return err
	}
	for _, data := range kept {
		var e earshot.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("reading what is remembered: %w", err)
		}
		x.Take(e, now)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for room := range x.rooms { // the last pass may not have got as far as the summary of the whole
		rooms = append(rooms, room)
	}
	for _, room := range rooms {
		x.touch(room, now)
	}
	return nil
}

// column returns the only column of the result of a query.
func column[T any](rows *sql.Rows, err error) (all []T, _ error) {
	if err != nil {
		return nil, fmt.Errorf("reading what is remembered: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := rows.Scan(&one); err != nil {
			return nil, fmt.Errorf("reading what is remembered: %w", err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// Unread returns the oldest events of each conversation of a room that were not read yet, by a journal
// that has the [Projection]: from since on, and at most n of each.
func Unread(ctx context.Context, v earshot.View, room earshot.RoomID, since time.Time, n int) (circles [][]earshot.EventID, err error) {
	names, err := column[string](v.QueryContext(ctx, `SELECT DISTINCT circle FROM reading WHERE room = ? AND pass IS NULL AND at > ?`, room, since.UnixMilli()))
	for _, name := range names {
		ids, bad := column[earshot.EventID](v.QueryContext(ctx, `SELECT id FROM reading WHERE room = ? AND circle = ? AND pass IS NULL AND at > ? ORDER BY sequence LIMIT ?`,
			room, name, since.UnixMilli(), n))
		if bad != nil {
			return nil, bad
		}
		circles = append(circles, ids)
	}
	return circles, err
}
