package daemon

import (
	"context"
	"maps"
	"slices"
	"time"

	"earshot/api"
	"earshot/daemon/diagnosis"
	"earshot/participants"
)

// scrub returns a redactor that knows all participants and rooms of the daemon.
func (d *Daemon) scrub() diagnosis.Redactor {
	names := diagnosis.MachineNames()
	for _, p := range d.people.Everybody() {
		names = append(names, p.Name, string(p.ID))
		if p.Type != participants.Internal {
			names = append(names, diagnosis.NameWords(p.Name)...)
		}
		for _, h := range d.people.Handles(p.ID) {
			names = append(names, h.ID)
		}
	}
	for _, r := range d.rooms.now() {
		names = append(names, string(r.is.ID), r.is.Name)
	}
	return diagnosis.NewRedactor(append(names, d.agents.Former()...)...)
}

// Diagnose implements [server.Admin].
func (h backend) Diagnose(ctx context.Context, e api.DiagnosisRequest) (api.Diagnosis, error) {
	s := h.daemon.scrub()
	d := diagnosis.New(h.daemon.Config(), h.daemon.options.Version, s)
	d.Runs, d.For = true, time.Since(diagnosis.Started).Round(time.Second)
	is := h.Ready(ctx)
	d.Ready = &is
	d.Parts = h.daemon.health.List()
	for _, r := range h.daemon.rooms.now() {
		is := r.State(h.daemon.Audience())
		d.Rooms = append(d.Rooms, api.RoomCounts{
			Mode: string(is.Mode), People: len(is.Here), Agents: len(is.Agents), Outlets: len(is.Outlets), Waiting: is.Waiting, Dropped: is.Dropped, Faults: diagnosis.FaultKeys(is),
		})
		for _, l := range r.Latencies() {
			l.Turn, l.Agent, l.About = "", "", ""
			d.Turns = append(d.Turns, l)
		}
	}
	slices.SortFunc(d.Turns, func(a, b api.Latency) int { return a.At.Compare(b.At) })
	d.Turns = d.Turns[max(0, len(d.Turns)-diagnosis.KeepTurns):]
	var err error
	if d.Counts, err = h.daemon.counts.Values(); err != nil {
		d.Missing = append(d.Missing, "the counters: "+s.File(err.Error()))
	}
	maps.Copy(d.Sizes, diagnosis.Memory())
	if e.Goroutines {
		d.Goroutines = diagnosis.Goroutines()
	}
	return diagnosis.Scrub(d, s)
}
