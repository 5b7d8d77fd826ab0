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
	// quietTime is for how long nothing may have been added before the file is copied to remove
	// traces. maxDelay is how long after traces appeared it is copied anyway, for example while a
	// television talks. Others can write meanwhile, but copying uses the disk and a processor.
	quietTime = 3 * time.Second
	maxDelay  = 5 * time.Minute

	// maxCopyRate is how many bytes a second the copies take on average, unless somebody waits for
	// them: some ten gigabytes a day, which any disk endures for years. So a journal of one
	// gigabyte is copied every two or three hours at most, and one of a megabyte every few seconds.
	maxCopyRate = 128 << 10

	// retryDelay is how long to wait after a copy has failed, for example because the disk was
	// full.
	retryDelay = time.Minute
)

// A traceCleaner removes the traces of deleted content in its own goroutine when nobody waits for
// that: the former text of messages that were edited or withdrawn, and what became too old. A mark
// in the journal says that there are traces, so the next start removes them if this run has no time
// for it.
type traceCleaner struct {
	dirty   chan struct{} // has a value when there are traces
	closing chan struct{} // closed when the store closes
	done    chan struct{} // closed when the goroutine has ended

	purging  chan struct{}               // has a value while traces are removed, and for ever after the end
	giveUp   context.CancelCauseFunc     // leaves the rest to the next start
	onGiveUp func(do func()) func() bool // has do called when giveUp is, unless the returned function is called first
}

func newTraceCleaner() traceCleaner {
	return traceCleaner{dirty: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}), purging: make(chan struct{}, 1)}
}

// close removes what traces it can within closingTime, and returns when nobody removes any more.
func (t traceCleaner) close() {
	close(t.closing)
	late := time.AfterFunc(closingTime, func() { t.giveUp(errNoTime) })
	<-t.done
	t.purging <- struct{}{} // prevents anybody else from doing so
	late.Stop()
	t.giveUp(nil)
}

// wake says that there are traces.
func (t traceCleaner) wake() {
	select {
	case t.dirty <- struct{}{}:
	default: // the goroutine will look anyway
	}
}

// cleanTraces removes traces as they appear, until the store closes, and then once more. It also
// ends with ctx.
func (s *Store) cleanTraces(ctx context.Context) {
	defer close(s.cleaner.done)
	var since time.Time      // when the first of the traces appeared; zero if there are none
	var earliest time.Time   // when the file may be copied again
	var due <-chan time.Time // when to look
	clean := func() (ok bool) {
		err := s.purge(ctx)
		if err != nil {
			s.archive.log.Warn("traces of what was taken back are left in the journal for now", "err", err)
		}
		return err == nil
	}
	for {
		select {
		case <-s.cleaner.dirty:
			if since.IsZero() && s.archive.server == nil { // a server is cleaned only when somebody asks for it
				since = time.Now()
			}
			if since.IsZero() {
				continue
			}
		case <-due:
		case <-s.cleaner.closing:
			select {
			case <-s.cleaner.dirty:
				if s.archive.server == nil {
					since = time.Now()
				}
			default:
			}
			if !since.IsZero() {
				clean()
			}
			return
		}
		if wait := max(s.untilQuiet(since), time.Until(earliest)); wait > 0 {
			due = time.After(wait)
			continue
		}
		bytes, _, _ := journal.Size(s.archive.path)
		due, earliest = nil, time.Now().Add(time.Duration(bytes/maxCopyRate)*time.Second)
		if clean() {
			since = time.Time{}
			continue
		}
		earliest = time.Now().Add(retryDelay)
		due = time.After(retryDelay)
	}
}

// untilQuiet returns how long to wait until the journal is quiet, if the traces appeared at since.
func (s *Store) untilQuiet(since time.Time) time.Duration {
	changed := time.Unix(0, s.changed.Load())
	return min(time.Until(changed.Add(quietTime)), time.Until(since.Add(maxDelay)))
}

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
	if s.archive.server != nil {
		return s.vacuum(ctx)
	}
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
