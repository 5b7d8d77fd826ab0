package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"earshot"
)

// mend puts a new file with what can be read of the damaged one in its place, as a start does,
// while the store is open. It runs on the writer's goroutine: who writes waits, and who reads
// goes on in the old file. A disk that goes on damaging files would fill itself with copies, so
// it is done once in a run. The next time it is only looked whether the new file is damaged too,
// or the old one was still read, and said.
func (s *Store) mend(ctx context.Context, why error) {
	s.check.end() // it knows no more
	if s.mended {
		s.look(ctx, func(err error) {
			s.reports.fault(earshot.Notice{Key: faultDamaged, Text: err.Error(), Cure: "check the disk, and start earshot again"})
		})
		return
	}
	s.mended = true
	notice, err := s.renew(ctx, why)
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

// renew does it, and returns what there is to tell.
func (s *Store) renew(ctx context.Context, why error) (notice earshot.Notice, err error) {
	path, now := s.archive.path, s.now()
	s.above = max(s.above, highest(ctx, s.archive.db()))
	_ = s.write.db.Close() // which may stumble over the damage
	if notice, err = salvage(ctx, path, now, why); err == nil {
		s.write.db, err = s.attempt(ctx, none)
	}
	if err == nil {
		readers, wrong := openReaders(path)
		if err = wrong; err == nil {
			s.archive.anew(readers)
			return notice, nil
		}
	}
	as, wrong := openWriter(path) // as it is, until the next start
	if wrong == nil {
		s.write.db = as
	}
	return notice, errors.Join(err, settle(path, now), wrong)
}

// A check looks through a file in the background. The zero value has nothing to look through.
type check struct {
	all  sync.WaitGroup
	stop context.CancelFunc

	mu    sync.Mutex
	since time.Time // zero: it is over
}

// look begins to look through the file for damage, and has found called with any.
func (s *Store) look(ctx context.Context, found func(error)) {
	ctx, s.check.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.check.begin()
	s.check.all.Go(func() {
		err := sound(ctx, s.archive.db())
		if err == nil {
			err = s.asMade(ctx, s.archive.db())
		}
		if ctx.Err() != nil {
			return // the next start looks again
		}
		if s.suspect.Store(err != nil); err != nil {
			found(damaged(s.archive.path, err))
		}
		s.check.over()
	})
}

// begin says that the file is being looked through.
func (c *check) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
}

// over says that the file was looked through.
func (c *check) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Time{}
}

// end cuts the look short, and reports whether it was over.
func (c *check) end() bool {
	if c.stop != nil {
		c.stop()
	}
	c.all.Wait()
	return c.since.IsZero()
}

// Checking returns since when the journal is being looked through for damage in the background,
// if it is: the last daemon died. It can be used as ever meanwhile.
func (s *Store) Checking() (since time.Time, is bool) {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	return s.check.since, !s.check.since.IsZero()
}
