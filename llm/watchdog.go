package llm

import (
	"context"
	"errors"
	"time"
)

// errOverdue is the cause of a stream that its watchdog ended.
var errOverdue = errors.New("overdue")

// A watchdog ends a stream that keeps its reader waiting for too long. It runs only while the
// engine is waited for.
type watchdog struct {
	left time.Duration // of the time for all engines together

	timer *time.Timer
	since time.Time // when it began to run; zero while it is paused
}

// begin starts to watch the stream that cancel ends. The watchdog runs, with all the time that is
// left.
func (w *watchdog) begin(cancel context.CancelCauseFunc) {
	w.since = time.Now()
	w.timer = time.AfterFunc(max(w.left, 0), func() { cancel(errOverdue) })
}

// run lets the watchdog run for limit, or for the time that is left.
func (w *watchdog) run(limit time.Duration) {
	w.pause()
	w.since = time.Now()
	w.timer.Reset(max(min(limit, w.left), 0))
}

// pause stops its clock.
func (w *watchdog) pause() {
	if w.since.IsZero() {
		return
	}
	w.timer.Stop()
	w.left -= time.Since(w.since)
	w.since = time.Time{}
}

// end stops watching this stream.
func (w *watchdog) end() { w.pause() }
