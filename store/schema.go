package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"earshot"
)

// migrations take the journal from each version to the next; the first creates it. A released
// migration is never changed. The version must also rise when the vocabulary gets a kind of event
// that older programs cannot read.
//
// The columns beside the payload only help to find a row. The payload decides, and sum, a checksum
// of sequence and payload, shows whether it is intact: SQLite has no checksums of its own.
var migrations = []string{`
CREATE TABLE journal (
	sequence INTEGER PRIMARY KEY,
	id       TEXT    NOT NULL UNIQUE,
	at       INTEGER NOT NULL, -- milliseconds since 1970
	room     TEXT    NOT NULL,
	kind     TEXT    NOT NULL,
	author   TEXT    NOT NULL,
	scope    TEXT    NOT NULL,
	payload  TEXT    NOT NULL, -- the event as JSON, without its sequence
	sum      INTEGER NOT NULL
) STRICT;
CREATE INDEX journal_room ON journal (room, sequence);
CREATE INDEX journal_kind ON journal (room, kind, sequence);

CREATE TABLE members ( -- who may see a private event
	sequence INTEGER NOT NULL,
	member   TEXT    NOT NULL,
	PRIMARY KEY (sequence, member)
) STRICT, WITHOUT ROWID;

CREATE TABLE derived ( -- what goes when its source is deleted
	source TEXT NOT NULL,
	event  TEXT NOT NULL,
	PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE versions ( -- of the journal and of each projection
	name    TEXT    PRIMARY KEY,
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`, `
-- 2: the kinds memo, mode and actor; agents from whom an event is hidden
ALTER TABLE journal ADD COLUMN agents TEXT; -- those that may see it, as JSON; null means all
`, `
-- 3: the kinds agent, use and reminder; messages of agents to each other
`, `
-- 4: the kinds thought, finding, edit and snooze
`, `
-- 5: the kind whose
`, `
-- 6: the kinds revision and withdrawal; messages that answer others, and with attachments
`, `
-- 7: the kind sight
`, `
-- 8: the kind forgotten
`}

// ours is the name of the journal's own version among those of projections.
const ours = "journal"

// errStrange says that a file is a database, but not one that we wrote.
var errStrange = errors.New("it is not a journal of earshot")

// version returns the version of the file, 0 for an empty one. It is stored in two places, which
// must agree, so that one flipped bit does not make a newer version.
func version(ctx context.Context, db earshot.View) (int, error) {
	var header, tables, row int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&header); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return 0, err
	}
	if tables == 0 && header == 0 {
		return 0, nil
	}
	err := db.QueryRowContext(ctx, "SELECT version FROM versions WHERE name = ?", ours).Scan(&row)
	if err != nil && !errors.Is(err, sql.ErrNoRows) && code(err) != sqlite3.SQLITE_ERROR {
		return 0, err
	}
	if row != header || row < 1 {
		return 0, errStrange
	}
	return row, nil
}

// migrate brings the file up to the version of this program, in one step.
func migrate(ctx context.Context, db *sql.DB, path string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	from, err := version(ctx, tx)
	if err != nil {
		return err
	}
	if from > len(migrations) {
		return newer(path, from)
	}
	if from == len(migrations) {
		return nil
	}
	for _, step := range migrations[from:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("bringing %s up to date: %w", path, err)
		}
	}
	if err := stamp(ctx, tx, ours, len(migrations)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return err
	}
	return tx.Commit()
}

// asMade returns an error unless the tables in the open file are defined as this program defines
// them. A flipped bit in a definition leaves a file in which SQLite finds nothing wrong, but whose
// statements fail one day.
func (s *Store) asMade(ctx context.Context, db *sql.DB) error {
	have, err := definitions(ctx, db)
	if err != nil {
		return err
	}
	want, err := s.made(ctx)
	if err != nil {
		return err
	}
	for name, as := range want {
		if have[name] != as {
			return fmt.Errorf("the definition of %s was changed", name)
		}
	}
	return nil
}

// made returns the definitions of a new file.
func (s *Store) made(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := run(ctx, tx, migrations...); err != nil {
		return nil, err
	}
	for _, p := range s.projections {
		if err := p.Create(ctx, tx); err != nil {
			return nil, fmt.Errorf("making the view %s: %w", p.Name(), err)
		}
	}
	return definitions(ctx, tx)
}

// definitions returns the definition of everything in the file, by name, except the tables behind a
// virtual one, which its module defines as it likes.
func definitions(ctx context.Context, db earshot.View) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var name, as string
		if err := rows.Scan(&name, &as); err != nil {
			return nil, err
		}
		all[name] = as
	}
	maps.DeleteFunc(all, func(name, _ string) bool {
		at := strings.LastIndexByte(name, '_')
		return at > 0 && strings.HasPrefix(all[name[:at]], "CREATE VIRTUAL TABLE")
	})
	return all, rows.Err()
}

// stamp records the version of the thing called name.
func stamp(ctx context.Context, tx *sql.Tx, name string, version int) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO versions (name, version) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version", name, version)
	return err
}

// newer returns the error that this program is too old for the file at path.
func newer(path string, version int) error {
	return fmt.Errorf("%w: %s: it was made by a newer earshot (version %d; this one knows up to %d): start that one, restore a backup that was made before the upgrade (earshot restore --force FILE), or choose another store.directory", ErrOther, path, version, len(migrations))
}
