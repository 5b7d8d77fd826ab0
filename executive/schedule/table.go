package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"earshot"
)

// Projection keeps the table of the schedules that have not ended, and how far each of them has come.
type Projection struct{}

// Name implements [earshot.Projection].
func (Projection) Name() string { return "schedules" }

// Version implements [earshot.Projection].
func (Projection) Version() int { return 1 }

// Create implements [earshot.Projection].
func (Projection) Create(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `CREATE TABLE schedules (
		sequence INTEGER PRIMARY KEY,
		id       TEXT    NOT NULL UNIQUE,
		whose    TEXT    NOT NULL,
		n        INTEGER NOT NULL, -- among theirs
		event    TEXT    NOT NULL, -- by which it was set, as JSON
		paused   INTEGER NOT NULL DEFAULT 0,
		cursor   INTEGER NOT NULL, -- in seconds
		task     TEXT    NOT NULL DEFAULT '',
		why      TEXT    NOT NULL DEFAULT '',
		UNIQUE (whose, n)
	) STRICT`)
}

// Reset implements [earshot.Projection].
func (Projection) Reset(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `DROP TABLE IF EXISTS schedules`)
}

// Apply implements [earshot.Projection].
func (Projection) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	if _, gone := e.Body.(earshot.Tombstone); gone {
		return earshot.Exec(ctx, tx, `DELETE FROM schedules WHERE sequence = ?`, e.Sequence)
	}
	s, ok := e.Body.(earshot.Schedule)
	if !ok {
		return nil
	}
	switch s.Act {
	case earshot.Created:
		return insert(ctx, tx, e)
	case earshot.Ended:
		return earshot.Exec(ctx, tx, `DELETE FROM schedules WHERE id = ?`, s.Of)
	case earshot.SchedulePaused:
		return earshot.Exec(ctx, tx, `UPDATE schedules SET paused = 1 WHERE id = ?`, s.Of)
	case earshot.ScheduleResumed:
		return earshot.Exec(ctx, tx, `UPDATE schedules SET paused = 0, cursor = ? WHERE id = ?`, e.At.Unix(), s.Of)
	case earshot.ScheduleRan:
		return earshot.Exec(ctx, tx, `UPDATE schedules SET cursor = ?, task = ?, why = '' WHERE id = ?`, s.Due.Unix(), s.Task, s.Of)
	case earshot.ScheduleSkipped:
		return earshot.Exec(ctx, tx, `UPDATE schedules SET cursor = ?, why = ? WHERE id = ?`, s.Due.Unix(), string(s.Text), s.Of)
	}
	return nil
}

// insert gives a schedule the lowest free number.
func insert(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	if len(e.To) == 0 {
		return nil
	}
	event, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return earshot.Exec(ctx, tx, `INSERT INTO schedules (sequence, id, whose, n, event, cursor)
		SELECT ?1, ?2, ?3, min(n), ?4, ?5 FROM (SELECT 1 AS n UNION ALL SELECT n + 1 FROM schedules WHERE whose = ?3) AS free
		WHERE n NOT IN (SELECT n FROM schedules WHERE whose = ?3)`, e.Sequence, e.ID, e.To[0], string(event), e.At.Unix())
}

// read returns the schedules that meet a condition.
func read(ctx context.Context, v earshot.View, which, arg string) (all []Entry, err error) {
	rows, err := v.QueryContext(ctx, `SELECT whose, n, event, paused, cursor, task, why FROM schedules WHERE `+which+` ORDER BY whose, n`, arg)
	if err != nil {
		return nil, fmt.Errorf("reading schedules: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		var event, why string
		var cursor int64
		if err = rows.Scan(&e.For, &e.N, &event, &e.Paused, &cursor, &e.Last, &why); err == nil {
			err = json.Unmarshal([]byte(event), &e.Event)
		}
		if err != nil {
			return nil, fmt.Errorf("reading schedules: %w", err)
		}
		e.Cursor, e.Why = time.Unix(cursor, 0), earshot.Text(why)
		e.Schedule, _ = e.Event.Body.(earshot.Schedule)
		all = append(all, e)
	}
	return all, rows.Err()
}
