package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"earshot"
)

// views are the projections of the store itself.
func views() []earshot.Projection {
	return []earshot.Projection{messages{}, turns{}, decisions{}}
}

// run executes statements one after the other.
func run(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// odd makes of an error in one of our own statements, which are known to be
// right, what it means: the table is not as we made it.
func odd(err error) error {
	if code(err) == sqlite3.SQLITE_ERROR {
		return fmt.Errorf("%w: %w", errAltered, err)
	}
	return err
}

// messages is the index of the words of what was written, noted, heard, and seen.
// The words live in an index of FTS5, which has no text of its own: it needs
// the old text to forget it, and finds it in the table messages.
type messages struct{}

func (messages) Name() string { return "messages" }
func (messages) Version() int { return 5 }

func (messages) Create(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx,
		`CREATE TABLE messages (sequence INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT`,
		`CREATE VIRTUAL TABLE words USING fts5 (text, content = 'messages', content_rowid = 'sequence', tokenize = 'unicode61 remove_diacritics 2')`,
		`INSERT INTO words (words, rank) VALUES ('secure-delete', 1)`)
}

func (messages) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS words`, `DROP TABLE IF EXISTS messages`)
}

func (m messages) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	switch b := e.Body.(type) {
	case earshot.Message:
		err = m.index(ctx, tx, e.Sequence, b.Whole())
	case earshot.Utterance:
		err = m.index(ctx, tx, e.Sequence, b.Text)
	case earshot.Memo:
		err = m.index(ctx, tx, e.Sequence, b.Text)
	case earshot.Edit:
		if b.Field == "notes" && b.Act != earshot.Ended { // whose words it would repeat
			err = m.index(ctx, tx, e.Sequence, b.Text)
		}
	case earshot.Reply:
		err = m.index(ctx, tx, e.Sequence, b.Delivered())
	case earshot.Sight: // of a code or a caption
		err = m.index(ctx, tx, e.Sequence, b.Text)
	case earshot.Erased:
		err = m.forget(ctx, tx, e.Sequence)
	}
	return odd(err)
}

func (messages) index(ctx context.Context, tx *sql.Tx, sequence int64, text earshot.Text) error {
	if text == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO messages (sequence, text) VALUES (?, ?)", sequence, string(text)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO words (rowid, text) VALUES (?, ?)", sequence, string(text))
	return err
}

func (messages) forget(ctx context.Context, tx *sql.Tx, sequence int64) error {
	var text string
	err := tx.QueryRowContext(ctx, "SELECT text FROM messages WHERE sequence = ?", sequence).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", sequence, text); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM messages WHERE sequence = ?", sequence)
	return err
}

// turns says which reply ended a turn, and what it was about.
type turns struct{}

func (turns) Name() string { return "turns" }
func (turns) Version() int { return 1 }

func (turns) Create(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx,
		`CREATE TABLE turns (sequence INTEGER PRIMARY KEY, turn TEXT NOT NULL, about TEXT NOT NULL, outcome TEXT NOT NULL) STRICT`,
		`CREATE INDEX turns_turn ON turns (turn)`,
		`CREATE INDEX turns_about ON turns (about)`)
}

func (turns) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS turns`)
}

func (turns) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	switch b := e.Body.(type) {
	case earshot.Reply:
		_, err = tx.ExecContext(ctx, "INSERT INTO turns (sequence, turn, about, outcome) VALUES (?, ?, ?, ?)", e.Sequence, b.Turn, b.About, b.Outcome)
	case earshot.Erased:
		_, err = tx.ExecContext(ctx, "DELETE FROM turns WHERE sequence = ?", e.Sequence)
	}
	return err
}

// decisions says what was decided about an event, and which turn it began.
type decisions struct{}

func (decisions) Name() string { return "decisions" }
func (decisions) Version() int { return 1 }

func (decisions) Create(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx,
		`CREATE TABLE decisions (sequence INTEGER PRIMARY KEY, about TEXT NOT NULL, agent TEXT NOT NULL, verdict TEXT NOT NULL, turn TEXT NOT NULL) STRICT`,
		`CREATE INDEX decisions_about ON decisions (about)`,
		`CREATE INDEX decisions_turn ON decisions (turn) WHERE turn <> ''`)
}

func (decisions) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS decisions`)
}

func (decisions) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	switch b := e.Body.(type) {
	case earshot.Decision:
		_, err = tx.ExecContext(ctx, "INSERT INTO decisions (sequence, about, agent, verdict, turn) VALUES (?, ?, ?, ?, ?)", e.Sequence, b.About, b.Agent, b.Verdict, b.Turn)
	case earshot.Erased:
		_, err = tx.ExecContext(ctx, "DELETE FROM decisions WHERE sequence = ?", e.Sequence)
	}
	return err
}
