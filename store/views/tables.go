package views

import (
	"context"
	"database/sql"

	"earshot"
	"earshot/store/journal"
)

// turns records which reply ended a turn, and what it was about.
type turns struct{}

func (turns) Name() string { return "turns" }
func (turns) Version() int { return 1 }

func (turns) Create(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx,
		`CREATE TABLE turns (sequence INTEGER PRIMARY KEY, turn TEXT NOT NULL, about TEXT NOT NULL, outcome TEXT NOT NULL) STRICT`,
		`CREATE INDEX turns_turn ON turns (turn)`,
		`CREATE INDEX turns_about ON turns (about)`)
}

func (turns) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, `DROP TABLE IF EXISTS turns`)
}

func (turns) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	switch b := e.Body.(type) {
	case earshot.Reply:
		_, err = tx.ExecContext(ctx, "INSERT INTO turns (sequence, turn, about, outcome) VALUES (?, ?, ?, ?)", e.Sequence, b.Turn, b.About, b.Outcome)
	case earshot.Tombstone:
		_, err = tx.ExecContext(ctx, "DELETE FROM turns WHERE sequence = ?", e.Sequence)
	}
	return err
}

// decisions records what was decided about an event, and which turn that began.
type decisions struct{}

func (decisions) Name() string { return "decisions" }
func (decisions) Version() int { return 1 }

func (decisions) Create(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx,
		`CREATE TABLE decisions (sequence INTEGER PRIMARY KEY, about TEXT NOT NULL, agent TEXT NOT NULL, verdict TEXT NOT NULL, turn TEXT NOT NULL) STRICT`,
		`CREATE INDEX decisions_about ON decisions (about)`,
		`CREATE INDEX decisions_turn ON decisions (turn) WHERE turn <> ''`)
}

func (decisions) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, `DROP TABLE IF EXISTS decisions`)
}

func (decisions) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	switch b := e.Body.(type) {
	case earshot.Decision:
		_, err = tx.ExecContext(ctx, "INSERT INTO decisions (sequence, about, agent, verdict, turn) VALUES (?, ?, ?, ?, ?)", e.Sequence, b.About, b.Agent, b.Verdict, b.Turn)
	case earshot.Tombstone:
		_, err = tx.ExecContext(ctx, "DELETE FROM decisions WHERE sequence = ?", e.Sequence)
	}
	return err
}
