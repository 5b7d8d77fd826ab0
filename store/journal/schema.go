package journal

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

// Version is the version of the journal. It rises when the tables change, and when the
// vocabulary gains a kind of event that older programs cannot read. Files of other versions are
// refused: an older file is exported by the earshot that wrote it, and imported by this one.
const Version = 9

// tables makes the tables of the journal.
//
// The columns beside the payload only help to find a row. The payload decides, and sum, a checksum
// of sequence and payload, shows whether it is intact: SQLite has no checksums of its own.
const tables = `
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

// CreateTables makes the tables of the journal.
func CreateTables(ctx context.Context, tx *sql.Tx) error { return Exec(ctx, tx, tables) }

// versionName is the name of the journal's own version, beside those of the projections.
const versionName = "journal"

// errStrange says that a file is a database, but not one that earshot wrote.
var errStrange = errors.New("it is not a journal of earshot")

// IsReserved reports whether the journal itself uses a name among the versions.
func IsReserved(name string) bool { return name == versionName || name == traceMark }

// FileVersion returns the version of the file, 0 for an empty one. It is stored in two places,
// which must agree, so that one flipped bit does not make a newer version.
func FileVersion(ctx context.Context, db earshot.View) (int, error) {
	var header, count, row int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&header); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&count); err != nil {
		return 0, err
	}
	if count == 0 && header == 0 {
		return 0, nil
	}
	err := db.QueryRowContext(ctx, "SELECT version FROM versions WHERE name = ?", versionName).Scan(&row)
	if err != nil && !errors.Is(err, sql.ErrNoRows) && Code(err) != sqlite3.SQLITE_ERROR {
		return 0, err
	}
	if row != header || row < 1 {
		return 0, errStrange
	}
	return row, nil
}

// Create makes the tables in an empty file, or in a database of a server that has none, in one step. One of another
// version is refused.
func Create(ctx context.Context, db *sql.DB, name string, server bool) error {
	version, statements := FileVersion, []string{tables, fmt.Sprintf("PRAGMA user_version = %d", Version)}
	if server {
		version, statements = ServerVersion, statements[:1]
	}
	return InTransaction(ctx, db, func(tx *sql.Tx) error {
		has, err := version(ctx, tx)
		if err != nil || has > 0 {
			return errors.Join(err, CheckVersion(name, has, server))
		}
		return errors.Join(Exec(ctx, tx, statements...), SetVersion(ctx, tx, versionName, Version))
	})
}

// ServerVersion returns the version of the journal in a database of PostgreSQL, 0 if there is none.
func ServerVersion(ctx context.Context, db earshot.View) (version int, err error) {
	there, err := Exists(ctx, db, "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'versions'")
	if err == nil && there {
		err = db.QueryRowContext(ctx, "SELECT version FROM versions WHERE name = ?", versionName).Scan(&version)
	}
	return version, err
}

// CheckFileVersion returns an error if the file at path is a journal of another version. It only
// reads, because a connection that writes would move the log beside the file into it. Anything else
// that is wrong with the file is found when it is opened for writing.
func CheckFileVersion(ctx context.Context, path string) error {
	db, err := OpenReaders(path)
	if err != nil {
		return err
	}
	defer db.Close()
	has, err := FileVersion(ctx, db)
	if err != nil {
		return nil
	}
	return CheckVersion(path, has, false)
}

// Definitions returns the definition of everything in the file, by name. It leaves out the tables
// of a virtual table, which its module defines as it likes.
func Definitions(ctx context.Context, db earshot.View) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
	all := map[string]string{}
	err = EachRow(rows, err, func(rows *sql.Rows) error {
		var name, as string
		err := rows.Scan(&name, &as)
		all[name] = as
		return err
	})
	maps.DeleteFunc(all, func(name, _ string) bool {
		at := strings.LastIndexByte(name, '_')
		return at > 0 && strings.HasPrefix(all[name[:at]], "CREATE VIRTUAL TABLE")
	})
	return all, err
}

// SetVersion records the version of the thing called name.
func SetVersion(ctx context.Context, tx *sql.Tx, name string, version int) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO versions (name, version) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version", name, version)
	return err
}

// CheckVersion returns the error for a file at path, or for the database of a server with that name, that has another
// version than this program; nil if it has the same version, or is empty.
func CheckVersion(path string, version int, server bool) error {
	before, away, another := "restore a backup that was made before the upgrade (earshot restore --force FILE)", "move it away", "store.directory"
	if server {
		before, away, another = "bring back a copy of the database from before the upgrade", "name another database in store.url", "store.url"
	}
	switch {
	case version == 0 || version == Version:
		return nil
	case version > Version:
		return fmt.Errorf("%w: %s: it was made by a newer earshot (version %d; this one reads version %d): start that one, %s, or choose another %s", ErrOther, path, version, Version, before, another)
	}
	return fmt.Errorf("%w: %s: it was made by an older earshot (version %d; this one reads version %d): export it with the earshot that made it (earshot export FILE), %s, and import the export with this one (earshot import FILE)", ErrOther, path, version, Version, away)
}

// Versions returns the version of everything in the file.
func Versions(ctx context.Context, db earshot.View) (map[string]int, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, version FROM versions")
	have := map[string]int{}
	err = EachRow(rows, err, func(rows *sql.Rows) error {
		var name string
		var version int
		err := rows.Scan(&name, &version)
		have[name] = version
		return err
	})
	return have, err
}

// traceMark is the name of a mark among the versions. It says that something was deleted whose
// traces may still be in the file. The mark rises with each deletion, so that removing the traces
// of one deletion does not clear the mark of another.
const traceMark = "unpurged"

// MarkTraces notes that something has been deleted whose traces may be in the file.
func MarkTraces(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO versions (name, version) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET version = versions.version + 1", traceMark)
	return err
}

// TraceMark returns the mark, 0 if there is none.
func TraceMark(ctx context.Context, db earshot.View) (mark int, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM versions WHERE name = ?", traceMark).Scan(&mark)
	return mark, err
}

// ClearTraces removes the mark, from a file that has no traces.
func ClearTraces(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "DELETE FROM versions WHERE name = ?", traceMark)
	return err
}

// ClearMark removes the mark unless it has risen since it was read.
func ClearMark(ctx context.Context, tx *sql.Tx, mark int) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE name = ? AND version = ?", traceMark, mark)
	return err
}
