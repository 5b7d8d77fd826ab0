package store

import (
	"context"
	"sync"
	"time"
)

// rest is how many times the length of a search through all pages the cleaner rests after it, so
// that others can write most of the time.
const rest = 9

// A traceCleaner removes, in a goroutine of its own, the traces of what messages said before they
// were edited or withdrawn. A mark in the journal says that there are any, so that the next start
// removes them if this one has no time to.
type traceCleaner struct {
	dirty   chan struct{} // has a value when there are traces
	leaving chan struct{} // closed when the store closes
	done    chan struct{} // closed when the goroutine has ended

	purging *sync.Mutex             // held while traces are removed
	giveUp  context.CancelCauseFunc // leaves the rest to the next start
}

func newTraceCleaner() traceCleaner {
	return traceCleaner{dirty: make(chan struct{}, 1), leaving: make(chan struct{}), done: make(chan struct{}), purging: new(sync.Mutex)}
}

// leave removes the traces that it can within farewell, and returns when the cleaner has stopped.
func (t traceCleaner) leave() {
	close(t.leaving)
	late := time.AfterFunc(farewell, func() { t.giveUp(errLeft) })
	<-t.done
	late.Stop()
	t.giveUp(nil)
}

// wake says that there are traces.
func (t traceCleaner) wake() {
	select {
	case t.dirty <- struct{}{}:
	default: // it will look anyway
	}
}

// tidy removes traces as they appear until the store closes, and then once more, or until ctx ends.
func (s *Store) tidy(ctx context.Context) {
	defer close(s.tidier.done)
	dirty := s.tidier.dirty
	var again <-chan time.Time
	left := false // there are traces
	clean := func() {
		if err := s.purge(ctx); err != nil {
			s.archive.log.Warn("traces of what was taken back are left in the journal for now", "err", err)
			return
		}
		left = false
	}
	for {
		select {
		case <-dirty:
			left = true
		case <-again:
			dirty, again = s.tidier.dirty, nil
		case <-s.tidier.leaving:
			select {
			case <-s.tidier.dirty:
				left = true
			default:
			}
			if left {
				clean()
			}
			return
		}
		if left && again == nil {
			began := time.Now()
			clean()
			wait := rest * time.Since(began)
			if left { // another program reads the file
				wait = max(wait, time.Second)
			}
			dirty, again = nil, time.After(wait)
		}
	}
}
