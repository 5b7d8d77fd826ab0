package daemon

import (
	"context"
	"fmt"
	"slices"

	"earshot"
	"earshot/daemon/health"
	"earshot/internal/english"
	"earshot/internal/sdnotify"
)

// watchdog returns the watchdog of the daemon.
func (d *Daemon) watchdog(tell sdnotify.Notifier) health.Watchdog {
	return health.Watchdog{Notifier: tell, Log: d.log, Status: d.statusLine, Rooms: func() (all []func(context.Context) error) {
		for _, r := range d.rooms.now() {
			all = append(all, r.ping)
		}
		return all
	}}
}

// ping returns when the loop of the room has come round.
func (c roomEntry) ping(ctx context.Context) error {
	if err := c.Ping(ctx); err != nil {
		return fmt.Errorf("the room %s is stuck: %w", c.is.ID, err)
	}
	return nil
}

// statusLine describes the daemon in one line.
func (d *Daemon) statusLine() string {
	mode, _ := d.desk.Mode()
	text := "running, " + string(mode)
	if n := len(d.rooms.now()); n > 1 {
		text += ", " + english.Count(n, "room")
	}
	absent := func(n earshot.Notice) bool { return n.Absent }
	if n := len(slices.DeleteFunc(d.desk.State(d.Audience()).Faults, absent)); n > 0 {
		text += ", " + english.Count(n, "fault") + " (see earshot status)"
	}
	return text
}
