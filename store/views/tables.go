package views

import (
	"context"
	"database/sql"
	"strings"

	"earshot"
	"earshot/store/journal"
)

// A table is a view with a row for each event of a kind, which begins with its sequence.
type table struct {
	name    string
	version int
	create  []string
	row     func(earshot.Body) []any // the rest of the row; nil if there is none
}

// turns records which reply ended a turn, and what it was about.
var turns = table{
	name: "turns", version: 1,
	create: []string{
		`CREATE TABLE turns (sequence INTEGER PRIMARY KEY, turn TEXT NOT NULL, about TEXT NOT NULL, outcome TEXT NOT NULL) STRICT`,
		`CREATE INDEX turns_turn ON turns (turn)`,
		`CREATE INDEX turns_about ON turns (about)`,
	},
	row: func(body earshot.Body) []any {
		if b, is := body.(earshot.Reply); is {
			return []any{b.Turn, b.About, b.Outcome}
		}
		return nil
	},
}

// decisions records what was decided about an event, and which turn that began.
var decisions = table{
	name: "decisions", version: 1,
	create: []string{
		`CREATE TABLE decisions (sequence INTEGER PRIMARY KEY, about TEXT NOT NULL, agent TEXT NOT NULL, verdict TEXT NOT NULL, turn TEXT NOT NULL) STRICT`,
		`CREATE INDEX decisions_about ON decisions (about)`,
		`CREATE INDEX decisions_turn ON decisions (turn) WHERE turn <> ''`,
	},
	row: func(body earshot.Body) []any {
		if b, is := body.(earshot.Decision); is {
			return []any{b.About, b.Agent, b.Verdict, b.Turn}
		}
		return nil
	},
}

func (t table) Name() string { return t.name }
func (t table) Version() int { return t.version }

func (t table) Create(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, t.create...)
}

func (t table) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, "DROP TABLE IF EXISTS "+t.name)
}

func (t table) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	if values := t.row(e.Body); values != nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO "+t.name+" VALUES (?"+strings.Repeat(", ?", len(values))+")", append([]any{e.Sequence}, values...)...)
	} else if _, is := e.Body.(earshot.Tombstone); is {
		_, err = tx.ExecContext(ctx, "DELETE FROM "+t.name+" WHERE sequence = ?", e.Sequence)
	}
	return err
}
