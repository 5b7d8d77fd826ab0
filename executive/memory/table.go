package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"earshot"
)

// Projection keeps a table of which events were read for which summary, and of captions, which are read
// with the words of their time. An event whose summary is erased counts as unread again.
type Projection struct{}

// Name implements [earshot.Projection].
func (Projection) Name() string { return "memory" }

// Version implements [earshot.Projection].
func (Projection) Version() int { return 2 }

// Create implements [earshot.Projection].
func (Projection) Create(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `
		CREATE TABLE reading (
			sequence INTEGER PRIMARY KEY,
			id       TEXT    NOT NULL UNIQUE,
			room     TEXT    NOT NULL,
			circle   TEXT    NOT NULL, -- 'seen' of captions
			at       INTEGER NOT NULL,
			pass     INTEGER -- the summary for which it was read
		) STRICT;
		CREATE INDEX unread ON reading (room, circle, sequence) WHERE pass IS NULL;
		CREATE INDEX captions ON reading (room, at) WHERE circle = 'seen';
		CREATE INDEX passes ON reading (pass) WHERE pass IS NOT NULL`)
}

// Reset implements [earshot.Projection].
func (Projection) Reset(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `DROP TABLE IF EXISTS reading`)
}

// Apply implements [earshot.Projection].
func (Projection) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	switch e.Body.(type) {
	case earshot.Summary:
		sources, err := json.Marshal(e.Sources)
		if err != nil {
			return err
		}
		return earshot.Exec(ctx, tx, `UPDATE reading SET pass = ? WHERE id IN (SELECT value FROM json_each(?))`, e.Sequence, string(sources))
	case earshot.Tombstone:
		return earshot.Exec(ctx, tx, `DELETE FROM reading WHERE sequence = ?1; UPDATE reading SET pass = NULL WHERE pass = ?1`, e.Sequence)
	}
	name := circle(e.Visibility)
	switch {
	case caption(e) != "":
		name = seen
	case Words(e) == "":
		return nil
	}
	return earshot.Exec(ctx, tx, `INSERT INTO reading (sequence, id, room, circle, at) VALUES (?, ?, ?, ?, ?)`, e.Sequence, e.ID, e.Room, name, e.At.UnixMilli())
}

// column returns the only column of the result of a query.
func column[T any](rows *sql.Rows, err error) (all []T, _ error) {
	if err != nil {
		return nil, fmt.Errorf("reading what is to be remembered: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := rows.Scan(&one); err != nil {
			return nil, fmt.Errorf("reading what is to be remembered: %w", err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

const (
	seen         = "seen" // the circle of captions in the table, which no conversation has
	mostCaptions = 8      // that are read with one stretch of a conversation, the newest
)

// Unread returns the oldest events of each conversation of a room that were not read yet, by a journal
// that has the [Projection]: from since on, and at most n of each, with the captions of pictures that
// were taken meanwhile or in the minute before.
func Unread(ctx context.Context, v earshot.View, room earshot.RoomID, since time.Time, n int) (circles [][]earshot.EventID, err error) {
	names, err := column[string](v.QueryContext(ctx, `SELECT DISTINCT circle FROM reading WHERE room = ? AND circle <> 'seen' AND pass IS NULL AND at > ?`, room, since.UnixMilli()))
	for _, name := range names {
		ids, bad := column[earshot.EventID](v.QueryContext(ctx, `
			WITH words AS (SELECT id, at, sequence FROM reading WHERE room = ?1 AND circle = ?2 AND pass IS NULL AND at > ?3 ORDER BY sequence LIMIT ?4),
				pictures AS (SELECT id, at, sequence FROM reading WHERE room = ?1 AND circle = 'seen'
					AND at BETWEEN (SELECT min(at) FROM words) - ?5 AND (SELECT max(at) FROM words) ORDER BY at DESC LIMIT ?6)
			SELECT id FROM (SELECT * FROM words UNION ALL SELECT * FROM pictures) AS chosen ORDER BY sequence`,
			room, name, since.UnixMilli(), n, time.Minute.Milliseconds(), mostCaptions))
		if bad != nil {
			return nil, bad
		}
		circles = append(circles, ids)
	}
	return circles, err
}
