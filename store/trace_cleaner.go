package store

import (
	"context"
	"time"

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
			if since.IsZero() {
				since = time.Now()
			}
		case <-due:
		case <-s.cleaner.closing:
			select {
			case <-s.cleaner.dirty:
				since = time.Now()
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
