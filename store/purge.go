package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"earshot"
	"earshot/store/index"
	"earshot/store/journal"
)

const (
	// attempts is how many times the file is copied if others keep deleting meanwhile.
	attempts = 3

	// maxSeparators is how many separators are replaced in one step at most, so that others can
	// write in between: it takes a few milliseconds.
	maxSeparators = 32
)

// purge removes the traces of deleted content, first from the index of words, and then from the
// file, which is replaced by a copy of its contents.
//
// SQLite overwrites what it frees. But when it moves rows between pages to balance them, it leaves
// the old copies between the rows, so a row that is deleted later is overwritten in one place only.
// A copy has no such remains, and neither has its log.
func (s *Store) purge(ctx context.Context) (err error) {
	select {
	case s.cleaner.purging <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.write.quit:
		return ErrClosed
	}
	defer func() { <-s.cleaner.purging }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.cleaner.onGiveUp(func() { cancel(errNoTime) })()
	for range attempts {
		var c *fileCopy
		if c, err = s.beginCopy(ctx); err != nil || c == nil {
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

// beginCopy returns the copy to make; nil if there is nothing to clean.
func (s *Store) beginCopy(ctx context.Context) (c *fileCopy, err error) {
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		was, err := journal.TraceMark(ctx, tx)
		if was > 0 {
			c = &fileCopy{path: filepath.Join(filepath.Dir(s.archive.path), journal.RewriteName), mark: was, mended: s.mended}
		}
		return false, err
	})
	return c, err
}

// closingTime is how long traces are removed while the store closes, since whoever waits for the
// next daemon also waits for this one. The next start continues.
const closingTime = 500 * time.Millisecond

// errNoTime says that the time was used up.
var errNoTime = errors.New("no time was left; the next start continues")

// sweepIndex removes the terms of deleted texts from the index.
func (s *Store) sweepIndex(ctx context.Context) (err error) {
	for more := true; more && err == nil; {
		err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
			more, err = s.views.Index.Sweep(ctx, tx)
			return false, err
		})
	}
	if err != nil {
		return err
	}
	left, err := s.views.Index.StaleSeparators(ctx, s.archive.db())
	for some := range slices.Chunk(left, maxSeparators) {
		if err == nil {
			err = s.write.do(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
				return false, index.ReplaceSeparators(ctx, tx, some)
			})
		}
	}
	return err
}

// resumeCleaning starts to remove the traces that an earlier daemon had no time to remove. Nobody
// waits for that, and a failure does not stop this daemon.
func (s *Store) resumeCleaning(ctx context.Context) {
	mark, err := journal.TraceMark(ctx, s.archive.db())
	if mark > 0 {
		s.cleaner.wake()
	}
	if err != nil {
		s.archive.log.Warn("traces of deleted events may be left in the journal", "err", err)
	}
}
