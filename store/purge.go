package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"earshot"
)

// unpurged is the name of a mark among the versions. It says that something was deleted whose
// traces may still be in the file. The mark rises with each deletion, so that removing the traces
// of one deletion does not clear the mark of another.
const unpurged = "unpurged"

// mark notes that something has been deleted.
func mark(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO versions (name, version) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET version = version + 1", unpurged)
	return err
}

// marked returns the mark, 0 if there is none.
func marked(ctx context.Context, db earshot.View) (mark int, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM versions WHERE name = ?", unpurged).Scan(&mark)
	return mark, err
}

const (
	// attempts is how many times the file is copied if others keep deleting meanwhile.
	attempts = 3

	// separated is how many separators are replaced in one step at most, so that others can write
	// in between: it takes a few milliseconds.
	separated = 32
)

// purge removes the traces of deleted content, first from the index of words, and then from the
// file, which is replaced by a copy of its contents.
//
// SQLite overwrites what it frees. But when it moves rows between pages to balance them, it leaves
// the old copies between the rows, so a row that is deleted later is overwritten in one place only.
// A copy has no such remains, and neither has its log.
func (s *Store) purge(ctx context.Context) (err error) {
	select {
	case s.tidier.purging <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.write.quit:
		return ErrClosed
	}
	defer func() { <-s.tidier.purging }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.tidier.given(func() { cancel(errLeft) })()
	for range attempts {
		var c *fileCopy
		if c, err = s.begin(ctx); err != nil || c == nil {
			return err
		}
		if err = s.sweepIndex(ctx); err == nil {
			err = s.rewrite(ctx, c)
		}
		if !errors.Is(err, errChanged) {
			break
		}
	}
	switch {
	case errors.Is(err, ErrFull):
		s.reports.fault(earshot.Notice{Key: faultTraces, Text: err.Error(), Cure: "df -h " + filepath.Dir(s.archive.path)})
	case err == nil:
		s.reports.over(faultTraces, "the traces of what was forgotten are gone from the files")
	}
	return err
}

// begin returns the copy to make; nil if there is nothing to clean.
func (s *Store) begin(ctx context.Context) (c *fileCopy, err error) {
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		was, err := marked(ctx, tx)
		if was > 0 {
			c = &fileCopy{path: filepath.Join(filepath.Dir(s.archive.path), rewriteFile), mark: was, mended: s.mended}
		}
		return false, err
	})
	return c, err
}

// farewell is how long traces are removed while the store closes, since whoever waits for the next
// daemon also waits for this one. The next start continues.
const farewell = 500 * time.Millisecond

// errLeft says that the time was used up.
var errLeft = errors.New("no time was left; the next start continues")

// sweepIndex removes the terms of deleted texts from the index.
func (s *Store) sweepIndex(ctx context.Context) (err error) {
	for more := true; more && err == nil; {
		err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
			more, err = s.archive.index.sweep(ctx, tx)
			return false, err
		})
	}
	if err != nil {
		return err
	}
	left, err := s.archive.index.separators(ctx, s.archive.db())
	for some := range slices.Chunk(left, separated) {
		if err == nil {
			err = s.write.do(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) { return false, separate(ctx, tx, some) })
		}
	}
	return err
}

// finish starts to remove the traces that an earlier daemon had no time to remove. Nobody waits for
// that, and a failure does not stop this daemon.
func (s *Store) finish(ctx context.Context) {
	mark, err := marked(ctx, s.archive.db())
	if mark > 0 {
		s.tidier.wake()
	}
	if err != nil {
		s.archive.log.Warn("traces of deleted events may be left in the journal", "err", err)
	}
}
