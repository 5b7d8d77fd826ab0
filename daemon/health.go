package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/diagnosis"
	"earshot/daemon/health"
	"earshot/executive/decision"
	"earshot/executive/latency"
	"earshot/internal/english"
	"earshot/internal/metrics"
	"earshot/internal/probe"
	"earshot/internal/sdnotify"
	"earshot/interrupt"
)

// Ready implements [server.Admin].
func (h backend) Ready(ctx context.Context) api.Readiness {
	if h.daemon.health.WantsProbe(time.Now()) {
		for _, l := range probe.Engines(ctx, h.daemon.Config().Executive.LLM) {
			h.daemon.health.NoteEngine(l)
		}
	}
	is := api.Readiness{Obstacles: health.Obstacles(h.daemon.health.List()), Underway: h.underway()}
	is.Ready = len(is.Obstacles) == 0
	return is
}

// underway lists background tasks that do not keep the daemon from its work.
func (h backend) underway() (all []api.Activity) {
	if since, is := h.daemon.store.Checking(); is {
		all = append(all, api.Activity{Part: "journal", Text: "it is being checked for damage, because earshot was not shut down properly; messages are kept in the meantime", Since: since})
	}
	if since, percent, is := h.daemon.store.Cleaning(); is {
		all = append(all, api.Activity{Part: "journal", Text: fmt.Sprintf("cleaning up after forgetting: %d%%", percent), Since: since})
	}
	return all
}

// watchdog returns the watchdog of the daemon.
func (d *Daemon) watchdog(tell sdnotify.Notifier) health.Watchdog {
	return health.Watchdog{Notifier: tell, Log: d.log, Status: d.statusLine, Rooms: func() (all []func(context.Context) error) {
		for _, r := range d.rooms.Now() {
			all = append(all, r.Respond)
		}
		return all
	}}
}

// statusLine describes the daemon in one line.
func (d *Daemon) statusLine() string {
	mode, _ := d.deskRoom().Mode()
	text := "running, " + string(mode)
	if n := len(d.rooms.Now()); n > 1 {
		text += ", " + english.Count(n, "room")
	}
	absent := func(n earshot.Notice) bool { return n.Absent }
	if n := len(slices.DeleteFunc(d.deskRoom().State(d.Audience()).Faults, absent)); n > 0 {
		text += ", " + english.Count(n, "fault") + " (see earshot status)"
	}
	return text
}

// queues are the queues that drop something when they are full, by name; see docs/service.md.
var queues = []string{"terminal", "discord", "webcam", "microphone", "unsaved", "questions", "findings", "satellites", "receipts"}

// measure starts the metrics of the daemon.
func (d *Daemon) measure(cfg *config.Config) {
	dir := cfg.Store.Directory
	d.counts = metrics.New(d.options.Version, metrics.Lists{
		Reasons: decision.Reasons(), Signals: interrupt.Kinds(), Parts: health.Counted(), Queues: queues,
	}, func() float64 { return diagnosis.SizeOf(dir) })
	d.health.Counts = d.counts
}

// countLatency measures the stages of a turn that has ended. A stage that the turn did not reach
// is not counted.
func (d *Daemon) countLatency(l api.Latency) {
	d.costs.CountReply(l)
	for _, stage := range latency.Stages(l) {
		d.counts.Took(stage.Name, stage.Took)
	}
}

// countDrops returns a function that counts the drops of a queue.
func (d *Daemon) countDrops(queue string) func(int) {
	return func(n int) { d.counts.Dropped(queue, n) }
}
