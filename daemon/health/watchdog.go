package health

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/sdnotify"
)

// statusEvery is how often a service manager without a watchdog is sent the status: as often as
// somebody looks again.
const statusEvery = 10 * time.Second

// A Watchdog tells a service manager the state of the daemon. It beats as long as every room
// responds: a daemon with a stuck room is not well, although it runs, and the manager restarts it.
// The status has counts and the mode, and nothing that anybody said.
type Watchdog struct {
	Notifier sdnotify.Notifier
	Rooms    func() []func(context.Context) error // of each room: returns when its loop has come round
	Status   func() string
	Log      *slog.Logger
}

// Run beats until ctx ends. It beats four times in the manager's interval, so that one beat may be
// late.
func (h Watchdog) Run(ctx context.Context) {
	if !h.Notifier.Asked() {
		return
	}
	every := statusEvery
	if w := h.Notifier.Watchdog(); w > 0 {
		every = w / 4
	}
	h.say(h.Notifier.Ready())
	defer func() { h.say(h.Notifier.Stopping()) }()
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	last := ""
	for {
		if now := h.Status(); now != last {
			last = now
			h.say(h.Notifier.Status(now))
		}
		if h.Notifier.Watchdog() > 0 && h.well(ctx, every) {
			h.say(h.Notifier.Beat())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// well reports whether every room responds within d.
func (h Watchdog) well(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var g errgroup.Group
	for _, turns := range h.Rooms() {
		g.Go(func() error { return turns(ctx) })
	}
	if err := g.Wait(); err != nil {
		h.Log.Warn("a room is stuck", "err", err, "after", d)
		return false
	}
	return true
}

// Reload tells the manager that the configuration is being reloaded, and when that ends: the
// manager may have asked for it, and waits.
func (h Watchdog) Reload(read func()) {
	if !h.Notifier.Asked() {
		read()
		return
	}
	h.say(h.Notifier.Reloading())
	read()
	h.say(h.Notifier.Ready())
}

// say logs that the manager could not be reached.
func (h Watchdog) say(err error) {
	if err != nil {
		h.Log.Warn("the service manager cannot be told", "err", err)
	}
}
