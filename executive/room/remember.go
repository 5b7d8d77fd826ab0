package room

import (
	"slices"

	"earshot"
	"earshot/api"
	"earshot/executive/latency"
	"earshot/executive/record"
)

// remember takes an event on record into the dialogue of each agent that may see it, and into the
// scene if any agent may.
func (r *Room) remember(e earshot.Event) {
	r.exchange.Take(e)
	r.unasked.Observe(e, r.cfg.Now())
	seen := false
	for _, s := range r.seats {
		if !e.Visibility.AllowsAgent(s.ID) {
			continue
		}
		seen = true
		if slices.Contains(e.To, s.ID) || e.Author == s.ID && e.Body.Kind() != earshot.KindDecision {
			s.Touched = r.cfg.Now()
		}
		if s.Awake {
			s.History.Learn(e, r.cfg.People)
		}
	}
	if seen {
		r.perceiver.Perceive(e)
	}
	if e.Body.Kind() == earshot.KindReminder {
		r.unasked.Reminders.Apply(e)
	}
}

// restorePast continues from the past: the dialogue of the main agent, and what was under way when
// earshot stopped without a word.
func (r *Room) restorePast() {
	r.seats[0].Awake = true
	for _, e := range r.cfg.Past {
		r.remember(e)
		r.entries.RememberKept(e)
		r.records.newest = max(r.records.newest, e.Sequence)
		switch body := e.Body.(type) {
		case earshot.ModeChange:
			r.mode.Restore(body.Lasts())
		case earshot.Reply:
			if len(e.To) > 0 {
				r.live.latencies.Add(latency.Record{Latency: api.Latency{Turn: body.Turn, Agent: e.Author, About: body.About}, Whom: e.To[0], Visibility: e.Visibility, Unmeasured: true})
			}
			if s := r.seatOf(e.Author); s != nil {
				s.History.Relearn(e) // also for sleeping agents: a "go on" that calls nobody may mean them
			}
		}
	}
	r.mind.Resume(r.cfg.Past)
	r.exchange.Askers.Restore(r.cfg.Past)
	r.chain.Overdue = record.LastWords(r.cfg.Past, r.exchange.Kind)
	r.unanswered.messages, r.unanswered.had = record.CutShort(r.cfg.Past)
	r.records.began = r.records.newest
	for _, s := range r.seats {
		s.History.EndPresence()
	}
	for _, e := range record.Unended(r.cfg.Past) {
		d := e.Body.(earshot.Decision)
		lost := r.event(e.Visibility, earshot.Reply{Turn: d.Turn, About: d.About, Outcome: earshot.Failed, Fault: "earshot stopped in the middle of it; ask again"})
		lost.Author, lost.Sources = d.Agent, []earshot.EventID{d.About}
		r.records.unsaved.Add(lost)
	}
}
