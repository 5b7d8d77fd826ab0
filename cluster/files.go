package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"earshot/internal/atomicfile"
	"earshot/internal/keyfile"
)

// maxFile is how many bytes a file may have that members share.
const maxFile = 1 << 20

// Files keeps some small files the same at all members, such as those that say who is let in: whoever
// changes one does it at any member, and nothing else has to know. The database has them, and a file that
// is not there yet is the first member's. If a file is changed at two members within a second, the change
// that comes second to the database is merged with the first if the file can be; otherwise it is undone, which is
// logged. A file that others than its owner could have written is not taken to the other members.
type Files struct {
	DB    *sql.DB // that of [Leases]
	Dir   string
	Names []string
	Merge map[string]func(here, there []byte) ([]byte, error) // by name; nil where there is nothing to merge
	Log   *slog.Logger

	known map[string]fileVersion
}

// A fileVersion is a file as it was here and in the database.
type fileVersion struct {
	version int64
	sum     [sha256.Size]byte
}

// Run has the files the same until ctx ends. It must not run twice at once.
func (f *Files) Run(ctx context.Context) {
	ticks := time.NewTicker(Every)
	defer ticks.Stop()
	failed := false
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		err := f.Sync(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			f.Log.Warn("the files that daemons share are not kept the same at present", "err", err)
		}
		failed = err != nil
	}
}

// Sync makes the files the same once.
func (f *Files) Sync(ctx context.Context) error {
	if f.known == nil {
		f.known = make(map[string]fileVersion)
	}
	for _, name := range f.Names {
		if err := f.sync(ctx, name); err != nil {
			return fmt.Errorf("sharing %s: %w", name, err)
		}
	}
	return nil
}

func (f *Files) sync(ctx context.Context, name string) error {
	path, had := filepath.Join(f.Dir, name), f.known[name]
	here, _, err := keyfile.File{Path: path, What: "files that daemons share", Most: maxFile, Create: "earshot pair, earshot tokens", Review: "look who can write to the folder"}.Read()
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	sum := sha256.Sum256(here)
	changed := !missing && sum != had.sum
	if len(here) > maxFile {
		return fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if missing {
		had.version = 0 // and its content is wanted
	}
	var version int64
	var there []byte // nil if it is that of the version known here
	err = f.DB.QueryRowContext(ctx, "SELECT version, CASE WHEN version <> ? THEN content END FROM shared_files WHERE name = ?", had.version, name).Scan(&version, &there)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case version == had.version && !changed:
		return nil
	case version == had.version:
		err := f.DB.QueryRowContext(ctx, `INSERT INTO shared_files AS f (name, version, content) VALUES (?, 1, ?)
			ON CONFLICT (name) DO UPDATE SET version = f.version + 1, content = excluded.content WHERE f.version = ? RETURNING version`,
			name, here, had.version).Scan(&version)
		if err == nil {
			f.known[name] = fileVersion{version, sum}
		} else if errors.Is(err, sql.ErrNoRows) { // another member was first, and has another version now
			return f.sync(ctx, name)
		}
		return err
	}
	wanted, merge := there, f.Merge[name]
	switch {
	case !changed || bytes.Equal(there, here):
	case merge == nil:
		f.Log.Warn("a file that daemons share was changed elsewhere, too: the change here is undone", "file", name)
	default:
		if wanted, err = merge(here, there); err != nil { // what that has more than there is a change here, the next time
			return err
		}
	}
	if !bytes.Equal(wanted, here) {
		if err := atomicfile.Write(path, wanted); err != nil {
			return err
		}
	}
	f.known[name] = fileVersion{version, sha256.Sum256(there)}
	return nil
}
