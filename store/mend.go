package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/store/journal"
	"earshot/store/salvage"
)

// mend replaces a damaged file by a new one with what can be read of it, as a start does, while the
// store is open. It runs on the writer's goroutine: writers wait, and readers continue with the old
// file. A disk that keeps damaging files would fill up with copies, so a file is mended only once
// in a run. The next time, mend only checks whether the new file is damaged too or the error still
// came from the old one, and reports that.
func (s *Store) mend(ctx context.Context, why error) {
	s.check.end() // its result is out of date
	if s.mended {
		s.checkInBackground(ctx, func(err error) {
			s.reports.fault(earshot.Notice{Key: faultDamaged, Text: err.Error(), Cure: "check the disk, and start earshot again"})
		})
		return
	}
	s.mended = true
	notice, err := s.replaceDamaged(ctx, why)
	if err != nil {
		s.archive.log.Error("the damaged journal cannot be mended", "err", err)
		s.reports.fault(earshot.Notice{Key: faultDamaged, Text: why.Error() + ". It could not be repaired: " + err.Error(), Cure: "stop earshot and start it again"})
		return
	}
	s.check.over()
	s.suspect.Store(false)
	s.doubt(false)
	s.archive.log.Warn("mended the journal", "err", why)
	s.reports.fault(notice)
	s.grow()
}

// replaceDamaged replaces the file, and returns what to report.
func (s *Store) replaceDamaged(ctx context.Context, why error) (notice earshot.Notice, err error) {
	path, now := s.archive.path, s.now()
	s.editor.Forget()
	s.editor.Above = max(s.editor.Above, salvage.Highest(ctx, s.archive.db()))
	_ = s.write.db.Close() // closing may fail because of the damage
	if notice, err = salvage.Repair(ctx, path, now, why); err == nil {
		s.write.db, err = s.openFile(ctx, none)
	}
	if err == nil {
		readers, wrong := journal.OpenReaders(path)
		if err = wrong; err == nil {
			s.archive.replacePool(readers)
			return notice, nil
		}
	}
	as, wrong := journal.OpenWriter(path) // in its present state, until the next start
	if wrong == nil {
		s.write.db = as
	}
	return notice, errors.Join(err, salvage.Resume(path, now), wrong)
}

// A check searches a file for damage in the background. The zero value has nothing to do.
type check struct {
	all  sync.WaitGroup
	stop context.CancelFunc
	stopwatch
}

// A stopwatch says since when something has been running in the background. Its zero value says
// that it is not running.
type stopwatch struct{ since atomic.Pointer[time.Time] }

// checkInBackground begins to search the file for damage in the background, and calls found if
// there is any.
func (s *Store) checkInBackground(ctx context.Context, found func(error)) {
	ctx, s.check.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.check.begin()
	s.check.all.Go(func() {
		err := journal.CheckContents(ctx, s.archive.db())
		if err == nil {
			err = s.views.CheckDefinitions(ctx, s.archive.db())
		}
		if ctx.Err() != nil {
			return // the next start searches again
		}
		if s.suspect.Store(err != nil); err != nil {
			found(journal.Damaged(s.archive.path, err))
		}
		s.check.over()
	})
}

// begin notes that the work has begun.
func (w *stopwatch) begin() { w.since.Store(new(time.Now())) }

// over notes that the work has ended.
func (w *stopwatch) over() { w.since.Store(nil) }

// runs returns since when the work has been running, and whether it is.
func (w *stopwatch) runs() (since time.Time, is bool) {
	if at := w.since.Load(); at != nil {
		return *at, true
	}
	return time.Time{}, false
}

// end cuts the search short, and reports whether it had already ended.
func (c *check) end() bool {
	if c.stop != nil {
		c.stop()
	}
	c.all.Wait()
	_, is := c.runs()
	return !is
}

// Checking returns since when the journal has been searched for damage in the background, and
// whether it is being searched, which happens if the last daemon died. The journal can be used
// normally meanwhile.
func (s *Store) Checking() (since time.Time, is bool) { return s.check.runs() }
