package health

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/sdnotify"
)

// statusEvery is how often a service manager that has no watchdog is told how it
// stands: as often as somebody looks again.
const statusEvery = 10 * time.Second

// A Watchdog tells a service manager how the daemon is. It beats as long as every room
// turns: a daemon of which one room is stuck is not well, although it runs, and the
// manager starts another. What it says is how many and which mode, nothing of what
// anybody said.
type Watchdog struct {
	Notifier sdnotify.Notifier
	Rooms    func() []func(context.Context) error // of each room, returns when it has come round
	Status   func() string
	Log      *slog.Logger
}

// Run beats until ctx ends. The manager hears it four times in the time that it gives,
// so that one beat may be late.
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

// well reports whether every room comes round within d.
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

// Reload tells the manager that the configuration is read again, while that lasts: it may
// have asked for it, and waits.
func (h Watchdog) Reload(read func()) {
	if !h.Notifier.Asked() {
		read()
		return
	}
	h.say(h.Notifier.Reloading())
	read()
	h.say(h.Notifier.Ready())
}

// say notes that the manager could not be told.
func (h Watchdog) say(err error) {
	if err != nil {
		h.Log.Warn("the service manager cannot be told", "err", err)
	}
}
