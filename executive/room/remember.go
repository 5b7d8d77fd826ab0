package room

import (
	"slices"

	"earshot"
	"earshot/executive/scene"
)

// remember takes what is on record into the dialogue of each agent that may see
// it, and into the scene if any may.
func (r *Room) remember(e earshot.Event) {
	r.reckon(e)
	seen := false
	for _, s := range r.seats {
		if !sees(e.Visibility, s.ID) {
			continue
		}
		seen = true
		if slices.Contains(e.To, s.ID) || e.Author == s.ID && e.Body.Kind() != earshot.KindDecision {
			s.touched = r.cfg.Now()
		}
		if s.awake {
			s.learn(e, r.cfg.People)
		}
	}
	if seen {
		r.perceive(e)
	}
	if e.Body.Kind() == earshot.KindReminder {
		r.mu.Lock()
		r.agenda.Apply(e)
		r.mu.Unlock()
	}
	if e.Body.Kind() == earshot.KindDecision {
		r.mu.Lock()
		r.decisions = append(r.decisions, e)
		r.decisions = slices.Delete(r.decisions, 0, max(0, len(r.decisions)-keepDecisions))
		r.mu.Unlock()
	}
}

// perceive takes what happened into the scene.
func (r *Room) perceive(e earshot.Event) {
	switch body := e.Body.(type) {
	case earshot.Message:
		r.heard(e, body.Text)
	case earshot.Utterance:
		r.heard(e, body.Text)
	case earshot.Memo:
		r.noted(e, body)
	case earshot.Reply:
		r.replied(e, body)
	}
}

// heard takes words into what was heard of late.
func (r *Room) heard(e earshot.Event, text earshot.Text) {
	r.scene.Put(scene.Item{
		Field: scene.Audio, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
		Text: earshot.Text(r.cfg.People.Name(e.Author)+": ") + text,
	})
}

// replied takes how a reply ended into the state of its agent.
func (r *Room) replied(e earshot.Event, reply earshot.Reply) {
	note := ended(reply, r.cfg.People.Name)
	if reply.Offered == "" && note == "" || r.seatOf(e.Author) == nil {
		return
	}
	state := earshot.Text(note)
	switch {
	case reply.Remainder() != "" && note != "":
		state += " Not said yet: " + reply.Remainder()
	case note == "":
		state = "you have said what you wanted to say"
	}
	r.scene.Put(scene.Item{Field: scene.Agent, Of: e.Author, Source: "turn", Event: e.ID, At: r.cfg.Now(), Text: state, Visibility: e.Visibility})
}

// goOn goes on from the past: the dialogue of the main agent, and what was under way
// when the program ended without a word.
func (r *Room) goOn() {
	r.seats[0].awake = true
	open := make(map[earshot.TurnID]earshot.Event)
	done := make(chan struct{})
	close(done)
	for _, e := range r.cfg.Past {
		r.remember(e)
		r.know(&entry{incoming: incoming{event: e}, done: done})
		r.newest = max(r.newest, e.Sequence)
		switch body := e.Body.(type) {
		case earshot.ModeChange:
			r.mode, r.wished = body.Mode, body.Mode
		case earshot.Decision:
			if body.Turn != "" {
				open[body.Turn] = e
			}
		case earshot.Reply:
			delete(open, body.Turn)
			if s := r.seatOf(e.Author); s != nil && s.awake {
				s.relearn(e)
			}
		}
	}
	r.sponsored(r.cfg.Past)
	r.unreturned = r.overdue(r.cfg.Past)
	r.began = r.newest
	for _, s := range r.seats {
		s.history.nobody()
	}
	for _, e := range r.cfg.Past {
		if d, ok := e.Body.(earshot.Decision); ok && open[d.Turn].ID == e.ID && d.Turn != "" {
			lost := r.event(e.Visibility, earshot.Reply{Turn: d.Turn, About: d.About, Outcome: earshot.Failed})
			lost.Author, lost.Sources = d.Agent, []earshot.EventID{d.About}
			r.unsaved = append(r.unsaved, lost)
		}
	}
}
