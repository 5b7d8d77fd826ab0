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

// schemaVersion is the version of the journal. It rises when the tables change, and when the
// vocabulary gains a kind of event that older programs cannot read. Files of other versions are
// refused: an older file is exported by the earshot that wrote it, and imported by this one.
const schemaVersion = 9

// schema makes the tables of the journal.
//
// The columns beside the payload only help to find a row. The payload decides, and sum, a checksum
// of sequence and payload, shows whether it is intact: SQLite has no checksums of its own.
const schema = `
CREATE TABLE journal (
	sequence INTEGER PRIMARY KEY,
	id       TEXT    NOT NULL UNIQUE,
	at       INTEGER NOT NULL, -- milliseconds since 1970
	room     TEXT    NOT NULL,
	kind     TEXT    NOT NULL,
	author   TEXT    NOT NULL,
	scope    TEXT    NOT NULL,
	payload  TEXT    NOT NULL, -- the event as JSON, without its sequence
	sum      INTEGER NOT NULL,
	agents   TEXT              -- those that may see it, as JSON; null means all
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
`

// ours is the name of the journal's own version, beside those of the projections.
const ours = "journal"

// errStrange says that a file is a database, but not one that earshot wrote.
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

// create makes the tables in an empty file, in one step. A file of another version is refused.
func create(ctx context.Context, db *sql.DB, path string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	has, err := version(ctx, tx)
	if err != nil {
		return err
	}
	if has > 0 {
		return other(path, has)
	}
	if err := run(ctx, tx, schema, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
		return err
	}
	if err := stamp(ctx, tx, ours, schemaVersion); err != nil {
		return err
	}
	return tx.Commit()
}

// readable returns an error if the file at path is a journal of another version. It only reads,
// because a connection that writes would move the log beside the file into it. Anything else that
// is wrong with the file is found when it is opened for writing.
func readable(ctx context.Context, path string) error {
	db, err := openReaders(path)
	if err != nil {
		return err
	}
	defer db.Close()
	has, err := version(ctx, db)
	if err != nil {
		return nil
	}
	return other(path, has)
}

// asMade returns an error unless the tables in the open file are defined as this program defines
// them. A flipped bit in a definition leaves a file in which SQLite finds no fault, but whose
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
	if err := run(ctx, tx, schema); err != nil {
		return nil, err
	}
	for _, p := range s.projections {
		if err := p.Create(ctx, tx); err != nil {
			return nil, fmt.Errorf("making the view %s: %w", p.Name(), err)
		}
	}
	return definitions(ctx, tx)
}

// definitions returns the definition of everything in the file, by name. It leaves out the tables
// of a virtual table, which its module defines as it likes.
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

// other returns the error for a file at path that has another version than this program; nil if it
// has the same version, or is empty.
func other(path string, version int) error {
	switch {
	case version == 0 || version == schemaVersion:
		return nil
	case version > schemaVersion:
		return fmt.Errorf("%w: %s: it was made by a newer earshot (version %d; this one reads version %d): start that one, restore a backup that was made before the upgrade (earshot restore --force FILE), or choose another store.directory", ErrOther, path, version, schemaVersion)
	}
	return fmt.Errorf("%w: %s: it was made by an older earshot (version %d; this one reads version %d): export it with the earshot that made it (earshot export FILE), move it away, and import the export with this one (earshot import FILE)", ErrOther, path, version, schemaVersion)
}
