package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"earshot"
	"earshot/store/index"
	"earshot/store/journal"
	"earshot/store/postgres"
	"earshot/store/views"
)

// An Archive is a journal that is only read, while the daemon that owns it is running or when none
// is. It is safe for concurrent use.
type Archive struct {
	pool   atomic.Pointer[sql.DB] // of read-only connections
	path   string
	log    *slog.Logger
	index  *index.Index
	server *postgres.Connector // nil for a file
	damage func(error)         // called with every error; may be nil
	old    *sql.DB             // of the damaged file; nil if there was none
}

// OpenReader opens the journal that c describes for reading. It takes no lock and changes nothing,
// so it fails with [ErrOther] if the journal has another version than this program, and with
// [ErrDamaged] if it cannot be read.
func OpenReader(ctx context.Context, c Config) (*Archive, error) {
	path := filepath.Join(c.Directory, journal.FileName)
	if c.URL != "" {
		return openServerReader(ctx, c, path)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no journal yet: %w: start earshot once", err)
	}
	db, err := journal.OpenReaders(path)
	if err != nil {
		return nil, err
	}
	own := views.New(0)
	a := &Archive{path: path, index: own.Index}
	a.pool.Store(db)
	if err := a.checkVersions(ctx, own); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// checkVersions returns an error unless the file and its views have this program's versions.
func (a *Archive) checkVersions(ctx context.Context, own *views.Set) error {
	version := journal.FileVersion
	if a.server != nil {
		version = journal.ServerVersion
	}
	v, err := version(ctx, a.db())
	if err != nil {
		return fmt.Errorf("reading the journal: %w", a.explain(err))
	}
	if a.server != nil && v == 0 {
		return fmt.Errorf("there is no journal in %s yet: %w: start earshot once", a.name(), os.ErrNotExist)
	}
	if err := journal.CheckVersion(a.name(), v, a.server != nil); err != nil {
		return err
	}
	have, err := journal.Versions(ctx, a.db())
	if v > 0 && err != nil {
		return fmt.Errorf("reading the journal: %w", a.explain(err))
	}
	if !own.AreCurrent(have) {
		return fmt.Errorf("%w: %s: another version of earshot made it: start this version once to update the file", ErrOther, a.name())
	}
	return nil
}

// Close closes the archive.
func (a *Archive) Close() error { return a.db().Close() }

// replacePool sends new queries to another pool. The old pool still answers queries that have
// begun.
func (a *Archive) replacePool(pool *sql.DB) {
	a.old = a.pool.Swap(pool)
	a.old.SetMaxIdleConns(-1)
}

// closeOld closes the pool of the damaged file, if there was one.
func (a *Archive) closeOld() error {
	if a.old == nil {
		return nil
	}
	return a.old.Close()
}

// db returns the pool for queries. A caller that needs several answers as of one moment keeps it.
func (a *Archive) db() *sql.DB { return a.pool.Load() }

// For returns what a may read.
func (a *Archive) For(who earshot.Audience) *Reader { return &Reader{archive: a, who: who} }

// Export yields every event of every room, whoever may see it, in order. It is for the operator's
// own copy, and never for a prompt or an outlet. It yields at most one error, at the end.
func (a *Archive) Export(ctx context.Context) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		stopped := errors.New("the caller has enough")
		err := journal.Each(ctx, a.db(), func(e earshot.Event) error {
			if !yield(e, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(earshot.Event{}, a.failed(ctx, err))
		}
	}
}

// Look calls f with the tables that are made from the journal, all as of the same moment. f may
// take its time, but must not keep the view.
func (a *Archive) Look(ctx context.Context, f func(earshot.View) error) error {
	tx, err := a.db().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return a.failed(ctx, err)
	}
	defer tx.Rollback()
	return f(tx)
}

// copyTo copies the journal into the empty file at path.
func (a *Archive) copyTo(ctx context.Context, path string) error {
	if a.server != nil {
		return fmt.Errorf("copying %s: %w: use pg_dump, or earshot export", a.name(), errors.ErrUnsupported)
	}
	return a.failed(ctx, journal.Vacuum(ctx, a.path, path))
}

// failed describes why a query failed, and reports damage. It returns nil if err is nil.
func (a *Archive) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = fmt.Errorf("reading the journal: %w", a.explain(journal.StatementError(err)))
	if a.damage != nil {
		a.damage(err)
	}
	return err
}

// Totals says how much there is in a journal at one moment.
type Totals = journal.Totals

// Totals counts the events. In a large journal that takes a moment.
func (a *Archive) Totals(ctx context.Context) (Totals, error) {
	n, err := journal.Count(ctx, a.db())
	return n, a.failed(ctx, err)
}

// Totals counts the events; see [Archive.Totals].
func (s *Store) Totals(ctx context.Context) (Totals, error) { return s.archive.Totals(ctx) }

// Wrote reports whether somebody is the author of any of the events.
func (a *Archive) Wrote(ctx context.Context, who earshot.ParticipantID, ids []earshot.EventID) (bool, error) {
	wrote, err := journal.Exists(ctx, a.db(), "SELECT 1 FROM journal WHERE author = ? AND id IN (SELECT value FROM json_each(?))", who, journal.JSON(ids))
	return wrote, a.failed(ctx, err)
}

// All yields every event of every room up to a sequence, as [Archive.Export] does, so that a reader
// beside a running daemon comes to an end.
func (a *Archive) All(ctx context.Context, last int64) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		for e, err := range a.Export(ctx) {
			if err == nil && e.Sequence > last || !yield(e, err) {
				return
			}
		}
	}
}
