package store

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"earshot"
	"earshot/internal/mailbox"
)

// A faultReporter reports each fault once, and its end once. It does so from its own goroutine,
// because the listener may want to write the fault to the journal, and the writer cannot wait for
// itself.
//
// A slow listener makes nobody wait. A fault that ends before it was reported is not reported, nor
// is an end if its fault has returned, so at most one notice of each fault is waiting.
type faultReporter struct {
	waiting *mailbox.Queue[earshot.Notice]
	running sync.WaitGroup

	mu   sync.Mutex
	open map[string]bool // the faults that have not ended
}

// newReporter starts a reporter. Its goroutine ends with close, and not with ctx.
func newReporter(ctx context.Context, report func(earshot.Notice), log *slog.Logger) *faultReporter {
	if report == nil {
		report = func(n earshot.Notice) { log.Error(n.Text, "fault", n.Key, "cure", n.Cure, "over", n.Over) }
	}
	r := &faultReporter{waiting: mailbox.New(cancelOut), open: map[string]bool{}}
	ctx = context.WithoutCancel(ctx)
	r.running.Go(func() {
		for n, ok := r.waiting.Take(ctx); ok; n, ok = r.waiting.Take(ctx) {
			report(n)
		}
	})
	return r
}

// cancelOut removes the last notice and the opposite one, if that is still waiting.
func cancelOut(all []earshot.Notice) (kept []earshot.Notice, dropped int) {
	last := len(all) - 1
	i := slices.IndexFunc(all, func(n earshot.Notice) bool { return n.Key == all[last].Key })
	if i < last {
		all = slices.Delete(all[:last], i, i+1)
	}
	return all, 0
}

// fault reports n unless that fault is already open.
func (r *faultReporter) fault(n earshot.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open[n.Key] {
		r.open[n.Key] = true
		r.waiting.Put(n)
	}
}

// over reports that the fault called key has ended, if there was one.
func (r *faultReporter) over(key, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[key] {
		delete(r.open, key)
		r.waiting.Put(earshot.Notice{Key: key, Text: text, Over: true})
	}
}

// close waits until everything that is waiting now has been reported.
func (r *faultReporter) close() {
	r.waiting.Close()
	r.running.Wait()
}
