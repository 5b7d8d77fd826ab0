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
			event    TEXT    NOT NULL, -- as JSON
			used     INTEGER NOT NULL DEFAULT 0,
			used_at  INTEGER NOT NULL DEFAULT 0 -- in milliseconds
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
	switch b := e.Body.(type) {
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
	case earshot.Reply:
		return use(ctx, tx, e, b)
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

// use counts the facts that a reply repeats.
func use(ctx context.Context, tx *sql.Tx, e earshot.Event, b earshot.Reply) error {
	if len(e.Sources) == 0 || b.Delivered() == "" {
		return nil
	}
	sources, err := json.Marshal(e.Sources)
	if err != nil {
		return err
	}
	facts, _, err := scan(tx.QueryContext(ctx, remembered+` WHERE id IN (SELECT value FROM json_each(?))`, string(sources)))
	if err != nil {
		return err
	}
	for _, k := range facts {
		if k.repeats(b.Delivered()) {
			if err := run(ctx, tx, `UPDATE remembered SET used = used + 1, used_at = ? WHERE id = ?`, e.At.UnixMilli(), k.Event.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func run(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, statement, args...)
	return err
}

const remembered = `SELECT event, used, used_at FROM remembered`

// scan reads facts and summaries.
func scan(rows *sql.Rows, err error) (facts []*Known, summaries []earshot.Event, _ error) {
	if err != nil {
		return nil, nil, fmt.Errorf("reading what is remembered: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var data []byte
		var used int
		var at int64
		var e earshot.Event
		if err = rows.Scan(&data, &used, &at); err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading what is remembered: %w", err)
		}
		switch b := e.Body.(type) {
		case earshot.Fact:
			k := known(e, b)
			if k.used = used; used > 0 {
				k.usedAt = time.UnixMilli(at)
			}
			facts = append(facts, k)
		case earshot.Summary:
			summaries = append(summaries, e)
		}
	}
	return facts, summaries, rows.Err()
}

// Load fills an empty index from a journal that has the [Projection].
func (x *Index) Load(ctx context.Context, v earshot.View, now time.Time) error {
	facts, summaries, err := scan(v.QueryContext(ctx, remembered+` ORDER BY sequence`))
	if err != nil {
		return err
	}
	rows, err := v.QueryContext(ctx, `SELECT DISTINCT room FROM reading WHERE pass IS NULL AND at > ?`, now.Add(-oldest).UnixMilli())
	if err != nil {
		return fmt.Errorf("reading what is to be remembered: %w", err)
	}
	defer rows.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	for rows.Next() {
		var room earshot.RoomID
		if err := rows.Scan(&room); err != nil {
			return fmt.Errorf("reading what is to be remembered: %w", err)
		}
		x.touch(room, now)
	}
	for _, k := range facts {
		x.add(k)
	}
	for _, e := range summaries {
		x.addSummary(e)
	}
	return rows.Err()
}

// Unread returns the oldest events of each conversation of a room that were not read yet, by a journal
// that has the [Projection]: from since on, and at most n of each.
func Unread(ctx context.Context, v earshot.View, room earshot.RoomID, since time.Time, n int) (circles [][]earshot.EventID, err error) {
	rows, err := v.QueryContext(ctx, `SELECT circle, id FROM (
			SELECT circle, id, sequence, row_number() OVER (PARTITION BY circle ORDER BY sequence) AS nth
			FROM reading WHERE room = ? AND pass IS NULL AND at > ?)
		WHERE nth <= ? ORDER BY circle, sequence`, room, since.UnixMilli(), n)
	if err != nil {
		return nil, fmt.Errorf("reading what is to be remembered: %w", err)
	}
	defer rows.Close()
	last := ""
	for rows.Next() {
		var circle string
		var id earshot.EventID
		if err := rows.Scan(&circle, &id); err != nil {
			return nil, fmt.Errorf("reading what is to be remembered: %w", err)
		}
		if circle != last || circles == nil {
			circles, last = append(circles, nil), circle
		}
		circles[len(circles)-1] = append(circles[len(circles)-1], id)
	}
	return circles, rows.Err()
}
