package remind

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"earshot"
)

// Projection keeps the table of the open reminders of every room. Past reminders are only in the
// journal, so a room that resumes need not read years of it.
type Projection struct{}

// Name implements [earshot.Projection].
func (Projection) Name() string { return "reminders" }

// Version implements [earshot.Projection].
func (Projection) Version() int { return 1 }

// Create implements [earshot.Projection].
func (Projection) Create(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `CREATE TABLE reminders (
		sequence INTEGER PRIMARY KEY,
		id       TEXT    NOT NULL UNIQUE,
		room     TEXT    NOT NULL,
		whose    TEXT    NOT NULL,
		n        INTEGER NOT NULL, -- among theirs in the room
		event    TEXT    NOT NULL, -- by which it was set, as JSON
		UNIQUE (room, whose, n)
	) STRICT`)
}

// Reset implements [earshot.Projection].
func (Projection) Reset(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `DROP TABLE IF EXISTS reminders`)
}

// Apply implements [earshot.Projection].
func (Projection) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	switch body := e.Body.(type) {
	case earshot.Reminder:
		if body.Act == earshot.Created {
			return insert(ctx, tx, e)
		}
		return earshot.Exec(ctx, tx, `DELETE FROM reminders WHERE id = ?`, body.Of)
	case earshot.Tombstone:
		return earshot.Exec(ctx, tx, `DELETE FROM reminders WHERE sequence = ?`, e.Sequence)
	}
	return nil
}

// insert gives a reminder the lowest free number, as [Agenda.Apply] does.
func insert(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	if len(e.To) == 0 {
		return nil
	}
	event, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return earshot.Exec(ctx, tx, `INSERT INTO reminders (sequence, id, room, whose, n, event)
		SELECT ?1, ?2, ?3, ?4, min(n), ?5 FROM
			(SELECT 1 AS n UNION ALL SELECT n + 1 FROM reminders WHERE room = ?3 AND whose = ?4) AS free
		WHERE n NOT IN (SELECT n FROM reminders WHERE room = ?3 AND whose = ?4)`,
		e.Sequence, e.ID, e.Room, e.To[0], string(event))
}

// Rooms returns the rooms that have open reminders, from a journal that has the [Projection]. The
// room whose open reminders include the oldest comes first.
func Rooms(ctx context.Context, v earshot.View) (rooms []earshot.RoomID, err error) {
	rows, err := v.QueryContext(ctx, `SELECT room FROM reminders GROUP BY room ORDER BY min(sequence)`)
	if err != nil {
		return nil, fmt.Errorf("reading reminders: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var room earshot.RoomID
		if err := rows.Scan(&room); err != nil {
			return nil, fmt.Errorf("reading reminders: %w", err)
		}
		rooms = append(rooms, room)
	}
	return rooms, rows.Err()
}

// Read returns the open reminders of a room, from a journal that has the [Projection].
func Read(ctx context.Context, v earshot.View, room earshot.RoomID) (a Agenda, err error) {
	rows, err := v.QueryContext(ctx, `SELECT n, event FROM reminders WHERE room = ? ORDER BY sequence`, room)
	if err != nil {
		return a, fmt.Errorf("reading reminders: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var data []byte
		var e earshot.Event
		if err = rows.Scan(&n, &data); err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			return a, fmt.Errorf("reading reminders: %w", err)
		}
		if body, ok := e.Body.(earshot.Reminder); ok {
			a.insert(e, body, n)
		}
	}
	return a, rows.Err()
}
