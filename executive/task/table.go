package task

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"earshot"
)

// Projection keeps the tables of all tasks, with their numbers, and of which events are about which.
type Projection struct{}

// Name implements [earshot.Projection].
func (Projection) Name() string { return "tasks" }

// Version implements [earshot.Projection].
func (Projection) Version() int { return 1 }

// Create implements [earshot.Projection].
func (Projection) Create(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `
		CREATE TABLE tasks (
			sequence INTEGER PRIMARY KEY,
			id       TEXT    NOT NULL UNIQUE,
			room     TEXT    NOT NULL,
			n        INTEGER NOT NULL UNIQUE,
			ended    INTEGER NOT NULL DEFAULT 0,
			call     TEXT    NOT NULL DEFAULT '', -- of the agent that it helps
			told     TEXT    NOT NULL DEFAULT '' -- the event that is still to tell something
		) STRICT;
		CREATE INDEX open_tasks ON tasks (n) WHERE ended = 0 OR told <> '';
		CREATE TABLE task_events (sequence INTEGER PRIMARY KEY, task INTEGER NOT NULL) STRICT;
		CREATE INDEX events_of_tasks ON task_events (task, sequence)`)
}

// Reset implements [earshot.Projection].
func (Projection) Reset(ctx context.Context, tx *sql.Tx) error {
	return earshot.Exec(ctx, tx, `DROP TABLE IF EXISTS tasks; DROP TABLE IF EXISTS task_events`)
}

// Apply implements [earshot.Projection].
func (Projection) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	const note = `INSERT INTO task_events (sequence, task) SELECT ?1, sequence FROM tasks WHERE id = ?2;`
	switch b := e.Body.(type) {
	case earshot.Task:
		switch {
		case b.Act == earshot.Created:
			return earshot.Exec(ctx, tx, `INSERT INTO tasks (sequence, id, room, call, n) SELECT ?1, ?2, ?3, ?4, 1 + coalesce(max(n), 0) FROM tasks;
				INSERT INTO task_events (sequence, task) VALUES (?1, ?1)`, e.Sequence, e.ID, e.Room, b.Call)
		case ends[b.Act]:
			return earshot.Exec(ctx, tx, note+`UPDATE tasks SET ended = 1, told = ?3 WHERE id = ?2`, e.Sequence, b.Of, b.Told)
		case b.Act == earshot.TaskAnswered: // whether or not anybody was told what the question was
			return earshot.Exec(ctx, tx, note+`UPDATE tasks SET told = '' WHERE id = ?2 AND ended = 0`, e.Sequence, b.Of)
		}
		return earshot.Exec(ctx, tx, note, e.Sequence, b.Of)
	case earshot.Step:
		return earshot.Exec(ctx, tx, note+`UPDATE tasks SET told = ?3 WHERE id = ?2 AND ended = 0 AND ?3 <> ''`, e.Sequence, b.Task, b.Told)
	case earshot.Finding:
		return earshot.Exec(ctx, tx, `UPDATE tasks SET told = '' WHERE told = ?`, e.ID)
	case earshot.Tombstone:
		return earshot.Exec(ctx, tx, `UPDATE tasks SET told = '' WHERE sequence IN (SELECT task FROM task_events WHERE sequence = ?1);
			DELETE FROM task_events WHERE sequence = ?1 OR task = ?1; DELETE FROM tasks WHERE sequence = ?1`, e.Sequence)
	}
	return nil
}

// The conditions for [read].
const (
	isOne    = "id = ?"
	isHelper = "ended = 0 AND call = ?"
	isOpen   = "(ended = 0 OR told <> '')"
	inRoom   = "room = ? AND " + isOpen + " OR sequence IN (SELECT sequence FROM tasks WHERE room = ? AND ended <> 0 ORDER BY sequence DESC LIMIT 10)"
)

// read returns the tasks for which a condition holds, in their order, from a journal that has the
// [Projection].
func read(ctx context.Context, v earshot.View, where string, args ...any) (all []State, err error) {
	rows, err := v.QueryContext(ctx, `SELECT t.n, t.ended, t.told, t.sequence = j.sequence, j.payload FROM tasks t JOIN task_events e ON e.task = t.sequence
		JOIN journal j ON j.sequence = e.sequence WHERE t.sequence IN (SELECT sequence FROM tasks WHERE `+where+`) ORDER BY t.sequence, j.sequence`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading tasks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var row State
		var created bool
		var data []byte
		var e earshot.Event
		if err = rows.Scan(&row.N, &row.Over, &row.Untold, &created, &data); err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("reading tasks: %w", err)
		}
		if created { // as the first of its events is
			all = append(all, row)
		}
		all[len(all)-1].Apply(e)
	}
	return all, rows.Err()
}
