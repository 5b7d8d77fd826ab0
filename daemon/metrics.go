package daemon

import (
	"earshot/api"
	"earshot/config"
	"earshot/daemon/diagnosis"
	"earshot/daemon/health"
	"earshot/executive/decision"
	"earshot/executive/latency"
	"earshot/internal/metrics"
	"earshot/interrupt"
)

// queues are the queues that drop something when they are full, by name; see docs/service.md.
var queues = []string{"terminal", "discord", "webcam", "microphone", "unsaved", "questions"}

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
