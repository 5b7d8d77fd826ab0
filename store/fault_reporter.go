package store

import (
	"log/slog"
	"slices"
	"sync"

	"earshot"
)

// A faultReporter reports each fault once, and its end once. It does so from its own goroutine,
// because the listener may want to write the fault to the journal, and the writer cannot wait for
// itself.
//
// A slow listener makes nobody wait. A fault that ends before it was reported is not reported, nor
// is an end if its fault has returned, so at most one notice of each fault is waiting.
type faultReporter struct {
	report  func(earshot.Notice)
	wake    chan struct{} // has one value when something is waiting
	quit    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	open    map[string]bool // the faults that have not ended
	waiting []earshot.Notice
}

// newReporter starts a reporter. Its goroutine ends with close.
func newReporter(report func(earshot.Notice), log *slog.Logger) *faultReporter {
	if report == nil {
		report = func(n earshot.Notice) { log.Error(n.Text, "fault", n.Key, "cure", n.Cure, "over", n.Over) }
	}
	r := &faultReporter{report: report, wake: make(chan struct{}, 1), quit: make(chan struct{}), open: map[string]bool{}}
	r.running.Go(r.run)
	return r
}

func (r *faultReporter) run() {
	for open := true; open; {
		select {
		case <-r.wake:
		case <-r.quit:
			open = false
		}
		for n, ok := r.next(); ok; n, ok = r.next() {
			r.report(n)
		}
	}
}

// next takes the notice that has waited longest.
func (r *faultReporter) next() (n earshot.Notice, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return n, false
	}
	n, r.waiting = r.waiting[0], r.waiting[1:]
	return n, true
}

// fault reports n unless that fault is already open.
func (r *faultReporter) fault(n earshot.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open[n.Key] {
		r.open[n.Key] = true
		r.enqueue(n)
	}
}

// over reports that the fault called key has ended, if there was one.
func (r *faultReporter) over(key, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[key] {
		delete(r.open, key)
		r.enqueue(earshot.Notice{Key: key, Text: text, Over: true})
	}
}

// enqueue adds n, or removes the opposite notice that is still waiting.
func (r *faultReporter) enqueue(n earshot.Notice) {
	same := func(w earshot.Notice) bool { return w.Key == n.Key }
	if i := slices.IndexFunc(r.waiting, same); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
		return
	}
	r.waiting = append(r.waiting, n)
	select {
	case r.wake <- struct{}{}:
	default: // the reporter will look anyway
	}
}

// close waits until everything that is waiting now has been reported.
func (r *faultReporter) close() {
	close(r.quit)
	r.running.Wait()
}
