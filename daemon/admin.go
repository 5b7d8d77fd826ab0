package daemon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
	"earshot/daemon/diagnosis"
	"earshot/internal/usage"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/speakers"
)

// Agents implements [server.Admin].
func (h backend) Agents(ctx context.Context, all bool) ([]api.AgentInfo, error) {
	list, err := admin.ListAgents(ctx, h.daemon.agents, all, h.daemon.states())
	today := h.daemon.costs.Today()
	for i, a := range list {
		sum := usage.Sum(today, func(u api.UsagePurpose) bool { return u.Agent == string(a.ID) })
		if sum.Requests > 0 {
			list[i].Today = &sum
		}
	}
	return list, err
}

// Order implements [server.Admin].
func (h backend) Order(ctx context.Context, by participants.Participant, o agents.Order) (api.AgentInfo, error) {
	r, err := h.daemon.order(ctx, by, o)
	if err != nil {
		return api.AgentInfo{}, err
	}
	state := admin.Ended
	if o.Act != earshot.Ended {
		state = h.daemon.states()(r.ID)
	}
	return admin.AgentInfo(r, h.daemon.agents.Label(r.ID), state), nil
}

// states returns a function that tells whether an agent is active in any room.
func (d *Daemon) states() func(earshot.ParticipantID) string {
	active := make(map[earshot.ParticipantID]bool)
	for _, r := range d.rooms.Now() {
		for _, s := range r.Room.State(earshot.Audience{}).Agents {
			active[s.ID] = active[s.ID] || s.State == api.Active
		}
	}
	return func(id earshot.ParticipantID) string {
		if active[id] {
			return api.Active
		}
		return api.Sleeping
	}
}

// order carries out an order, informs the rooms at once, and shows it in those that it concerns.
// It returns the agent as it is now or, if it has ended, as it was.
func (d *Daemon) order(ctx context.Context, by participants.Participant, o agents.Order) (agents.Record, error) {
	was, is, err := d.agents.Execute(ctx, by, o)
	if err != nil {
		return is, err
	}
	r := is
	if o.Act == earshot.Ended {
		r = was
	}
	d.announce(by.ID, o.Act, r, was, is)
	return r, nil
}

// announce shows what somebody did to the agent r in the rooms where one of some agents sits.
func (d *Daemon) announce(by earshot.ParticipantID, act earshot.Act, r agents.Record, in ...agents.Record) {
	e := earshot.Event{
		At: time.Now(), Author: by, Visibility: earshot.Visibility{Scope: earshot.System},
		Body: earshot.Agent{Act: act, ID: r.ID, Path: r.Path, User: r.User, PathKind: r.Kind},
	}
	for _, there := range d.rooms.Now() {
		if slices.ContainsFunc(in, func(a agents.Record) bool { return a.SitsIn(there.Is.ID) }) {
			there.Room.Announce(e)
		}
	}
}

// openVoices opens the registry of voices.
func (d *Daemon) openVoices(ctx context.Context) error {
	d.voices = &admin.Voices{People: d.people, Account: d.options.Account, Owner: d.owner, Log: d.log, Changed: func(c speakers.Change) {
		for _, r := range d.rooms.Now() {
			r.Room.ApplyVoiceChange(c)
		}
	}}
	c := d.Config().Speakers
	c.Report = d.report
	return d.voices.Open(ctx, d.Config().Store.Directory, c)
}

// Voices implements [server.Admin].
func (h backend) Voices(context.Context) ([]api.VoiceInfo, error) {
	return h.daemon.voices.List(), nil
}

// Tell implements [server.Admin].
func (h backend) Tell(ctx context.Context, by participants.Participant, t api.VoiceRequest) (api.VoiceChange, error) {
	c, err := h.daemon.voices.Tell(ctx, by, t)
	if c.Act != "" {
		h.daemon.deskRoom().Mention(fmt.Sprintf("%s (says %s).", c.Text, by.Name)) // where the microphone is
	}
	return c, err
}

// scrub returns a redactor that knows all participants, rooms and satellites of the daemon.
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
	for _, is := range d.listRooms() {
		names = append(names, string(is.ID), is.Name)
	}
	for _, far := range d.satellites.States(func(earshot.RoomID) bool { return true }) {
		names = append(names, far.ID)
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
	for _, r := range h.daemon.rooms.Now() {
		is := r.Room.State(h.daemon.Audience())
		d.Rooms = append(d.Rooms, api.RoomCounts{
			Mode: string(is.Mode), People: len(is.Here), Agents: len(is.Agents), Outlets: len(is.Outlets), Waiting: is.Waiting, Dropped: is.Dropped, Faults: diagnosis.FaultKeys(is),
		})
		for _, l := range r.Room.Latencies() {
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
