package room

import (
	"slices"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/executive/dialogue"
	"earshot/executive/latency"
	"earshot/executive/scene"
	"earshot/executive/sight"
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
		r.perceived++
		r.perceive(r.scene, e)
	}
	if e.Body.Kind() == earshot.KindReminder {
		r.unasked.Reminders.Apply(e)
	}
}

// perceive takes an event into a scene. Its effect follows from the event alone, so that the scene
// can be rebuilt from the journal.
func (r *Room) perceive(into *scene.Scene, e earshot.Event) {
	into.Took(e.Sequence)
	switch body := e.Body.(type) {
	case earshot.Message:
		heard(into, e, body.Whole())
	case earshot.Revision:
		into.Reword(body.Of, r.rewritten(body).Whole())
	case earshot.Utterance:
		heard(into, e, body.Text)
	case earshot.Memo:
		noted(into, e, body)
	case earshot.Sight:
		into.Put(sight.Item(e, body))
	case earshot.Edit:
		into.Edit(e)
	case earshot.Attribution:
		into.Attribute(body.Of, body.Author)
	case earshot.Finding:
		into.Forget(body.Merges...)
		into.Put(scene.Item{
			Field: scene.Reasoning, Source: "think", Event: e.ID, At: e.At, Text: body.Text, Visibility: e.Visibility,
			Confidence: body.Confidence, Until: body.Until,
		})
	case earshot.Reply:
		into.Use(body.Delivered(), e.Visibility, e.Sources...)
		replied(into, e, body)
	}
}

// heard adds words to the recent messages.
func heard(into *scene.Scene, e earshot.Event, text earshot.Text) {
	into.Put(scene.Item{
		Field: scene.Messages, Aloud: e.Body.Kind() == earshot.KindUtterance, Source: e.From.Provider, Event: e.ID, At: e.At, Text: text, By: e.Author, Visibility: e.Visibility,
	})
}

// replied records in the state of its agent how a reply ended. A reply that was cut off and can be
// resumed stays there while others are answered, until it is resumed or grows old.
func replied(into *scene.Scene, e earshot.Event, reply earshot.Reply) {
	by, note := dialogue.Outcome(reply)
	if reply.Offered == "" && note == "" {
		return
	}
	was, ok := into.Made(scene.Agent, string(e.Author))
	if ok && e.At.Before(was.Until) && reply.Resumable.IsZero() && (reply.Resumes != was.Event || reply.Outcome != earshot.Completed) {
		return
	}
	state := earshot.Text(note)
	switch {
	case !reply.Resumable.IsZero():
		state += leftSaying(reply)
	case note == "":
		state = "you have said what you wanted to say"
	}
	into.Put(scene.Item{
		Field: scene.Agent, Of: e.Author, Source: "turn", Event: e.ID, At: e.At, Text: state, By: by, Visibility: e.Visibility, Until: reply.Resumable,
	})
}

// leftSaying tells the model which part of a reply that was cut off was heard, and which was not.
func leftSaying(reply earshot.Reply) earshot.Text {
	heard, rest := strings.TrimSpace(string(reply.Delivered())), strings.TrimSpace(string(reply.Remainder()))
	text := ""
	if heard != "" {
		text = " The last that was heard: " + dialogue.QuoteEnd(heard, mostStateHeard) + "."
	}
	if rest != "" {
		text += " Not said yet: " + rest
	} else {
		text += " You had more to say."
	}
	return earshot.Text(text)
}

// mostStateHeard is how many bytes of what was heard stand in the state of an agent: enough to tell
// which reply it was.
const mostStateHeard = 160

// restorePast continues from the past: the dialogue of the main agent, and what was under way when
// earshot stopped without a word.
func (r *Room) restorePast() {
	r.seats[0].Awake = true
	open := make(map[earshot.TurnID]earshot.Event)
	done := make(chan struct{})
	close(done)
	for _, e := range r.cfg.Past {
		r.remember(e)
		r.known.add(&entry{resolvedEvent: resolvedEvent{event: e}, done: done})
		r.newest = max(r.newest, e.Sequence)
		switch body := e.Body.(type) {
		case earshot.ModeChange:
			r.mode.Restore(body.Lasts())
		case earshot.Decision:
			if body.Turn != "" {
				open[body.Turn] = e
			}
		case earshot.Reply:
			delete(open, body.Turn)
			if len(e.To) > 0 {
				r.latencies.Add(latency.Record{Latency: api.Latency{Turn: body.Turn, Agent: e.Author, About: body.About}, Whom: e.To[0], Visibility: e.Visibility, Unmeasured: true})
			}
			if s := r.seatOf(e.Author); s != nil {
				s.History.Relearn(e) // also for sleeping agents: a "go on" that calls nobody may mean them
			}
		}
	}
	r.mind.Resume(r.cfg.Past)
	r.onBehalf.Restore(r.cfg.Past)
	r.unreturned = r.overdue(r.cfg.Past)
	r.unanswered = r.cutShort(r.cfg.Past)
	r.began = r.newest
	for _, s := range r.seats {
		s.History.EndPresence()
	}
	for _, e := range r.cfg.Past {
		if d, ok := e.Body.(earshot.Decision); ok && open[d.Turn].ID == e.ID && d.Turn != "" {
			lost := r.event(e.Visibility, earshot.Reply{Turn: d.Turn, About: d.About, Outcome: earshot.Failed, Fault: "earshot stopped in the middle of it; ask again"})
			lost.Author, lost.Sources = d.Agent, []earshot.EventID{d.About}
			r.unsaved = append(r.unsaved, lost)
		}
	}
}

// noted takes a memo into the scene.
func noted(into *scene.Scene, e earshot.Event, m earshot.Memo) {
	into.Put(scene.Item{
		Field: scene.Notes, Source: e.From.Provider, Event: e.ID, At: e.At, Text: m.Text, By: e.Author, Visibility: e.Visibility,
	})
}
