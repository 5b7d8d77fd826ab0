package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/english"
	"earshot/internal/sdnotify"
)

// statusEvery is how often a service manager that has no watchdog is told how it
// stands: as often as somebody looks again.
const statusEvery = 10 * time.Second

// A watchdog tells a service manager how the daemon is. It beats as long as every room
// turns: a daemon of which one room is stuck is not well, although it runs, and the
// manager starts another. What it says is how many and which mode, nothing of what
// anybody said.
type watchdog struct {
	tell   sdnotify.Notifier
	turns  func() []func(context.Context) error // of each room, returns when it has come round
	status func() string
	log    *slog.Logger
}

// beat beats until ctx ends. The manager hears it four times in the time that it gives,
// so that one beat may be late.
func (h watchdog) beat(ctx context.Context) {
	if !h.tell.Asked() {
		return
	}
	every := statusEvery
	if w := h.tell.Watchdog(); w > 0 {
		every = w / 4
	}
	h.say(h.tell.Ready())
	defer func() { h.say(h.tell.Stopping()) }()
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	last := ""
	for {
		if now := h.status(); now != last {
			last = now
			h.say(h.tell.Status(now))
		}
		if h.tell.Watchdog() > 0 && h.well(ctx, every) {
			h.say(h.tell.Beat())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// well reports whether every room comes round within d.
func (h watchdog) well(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var g errgroup.Group
	for _, turns := range h.turns() {
		g.Go(func() error { return turns(ctx) })
	}
	if err := g.Wait(); err != nil {
		h.log.Warn("a room is stuck", "err", err, "after", d)
		return false
	}
	return true
}

// reloads tells the manager that the configuration is read again, while that lasts: it may
// have asked for it, and waits.
func (h watchdog) reloads(read func()) {
	if !h.tell.Asked() {
		read()
		return
	}
	h.say(h.tell.Reloading())
	read()
	h.say(h.tell.Ready())
}

// say notes that the manager could not be told.
func (h watchdog) say(err error) {
	if err != nil {
		h.log.Warn("the service manager does not listen", "err", err)
	}
}

// watchdog is the daemon's.
func (d *daemon) watchdog(tell sdnotify.Notifier) watchdog {
	return watchdog{tell: tell, log: d.log, status: d.line, turns: func() (all []func(context.Context) error) {
		for _, r := range d.rooms.now() {
			all = append(all, r.turning)
		}
		return all
	}}
}

// turning returns when the room has come round.
func (c roomEntry) turning(ctx context.Context) error {
	if err := c.Turns(ctx); err != nil {
		return fmt.Errorf("the room %s does not turn: %w", c.is.ID, err)
	}
	return nil
}

// line says in one line how the daemon is.
func (d *daemon) line() string {
	mode, _ := d.desk.Mode()
	text := "within earshot, " + string(mode)
	if n := len(d.rooms.now()); n > 1 {
		text += ", " + english.Count(n, "room")
	}
	absent := func(n earshot.Notice) bool { return n.Absent }
	if n := len(slices.DeleteFunc(d.desk.State(d.audience()).Faults, absent)); n > 0 {
		text += ", " + english.Count(n, "fault") + " (see earshot status)"
	}
	return text
}
