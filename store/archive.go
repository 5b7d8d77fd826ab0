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
)

// An Archive is a journal that is only read, while the daemon that owns it is running or when none
// is. It is safe for concurrent use.
type Archive struct {
	pool   atomic.Pointer[sql.DB] // of read-only connections
	path   string
	log    *slog.Logger
	index  *messages
	damage func(error) // called with every error; may be nil
	old    *sql.DB     // of the damaged file; nil if there was none
}

// OpenReader opens the journal in the directory for reading. It takes no lock and changes nothing,
// so it fails with [ErrOther] if the file has another version than this program, and with
// [ErrDamaged] if it cannot be read.
func OpenReader(ctx context.Context, directory string) (*Archive, error) {
	path := filepath.Join(directory, journalFile)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no journal yet: %w: start earshot once", err)
	}
	db, err := openReaders(path)
	if err != nil {
		return nil, err
	}
	a := &Archive{path: path, index: new(messages)}
	a.pool.Store(db)
	if err := a.current(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// current returns an error unless the file has this program's version.
func (a *Archive) current(ctx context.Context) error {
	v, err := version(ctx, a.db())
	if err != nil {
		return fmt.Errorf("reading the journal: %w", kept(a.path, err))
	}
	if err := other(a.path, v); err != nil {
		return err
	}
	have, err := versions(ctx, a.db())
	if v > 0 && err != nil {
		return fmt.Errorf("reading the journal: %w", kept(a.path, err))
	}
	for _, p := range views(a.index) {
		if have[p.Name()] != p.Version() {
			return fmt.Errorf("%w: %s: another version of earshot made it: start this version once to update the file", ErrOther, a.path)
		}
	}
	return nil
}

// Close closes the archive.
func (a *Archive) Close() error { return a.db().Close() }

// anew sends new queries to another pool. The old pool still answers queries that have begun.
func (a *Archive) anew(pool *sql.DB) {
	a.old = a.pool.Swap(pool)
	a.old.SetMaxIdleConns(-1)
}

// was closes the pool of the damaged file, if there was one.
func (a *Archive) was() error {
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
		err := each(ctx, a.db(), func(e earshot.Event) error {
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

// failed describes why a query failed, and reports damage.
func (a *Archive) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = fmt.Errorf("reading the journal: %w", kept(a.path, odd(err)))
	if a.damage != nil {
		a.damage(err)
	}
	return err
}
