package room

import (
	"slices"
	"strings"

	"earshot"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/participants"
)

// remember takes what is on record into the scene and the dialogue, if it is
// for the agent to know.
func (r *Room) remember(e earshot.Event) {
	if !sees(e.Visibility) {
		return
	}
	switch body := e.Body.(type) {
	case earshot.Message:
		r.history.add(line{event: e.ID, at: e.At, author: e.Author, to: e.To, text: body.Text, visibility: e.Visibility})
		r.scene.Put(scene.Item{
			Field: scene.Audio, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
			Text: earshot.Text(r.cfg.People.Name(e.Author)+": ") + body.Text,
		})
	case earshot.Utterance:
		r.heard(e, body)
	case earshot.Memo:
		r.noted(e, body)
	case earshot.Presence:
		r.came(e, body)
	case earshot.Reply:
		r.replied(e, body)
	case earshot.Decision:
		r.mu.Lock()
		r.decisions = append(r.decisions, e)
		r.decisions = slices.Delete(r.decisions, 0, max(0, len(r.decisions)-keepDecisions))
		r.mu.Unlock()
	}
}

// heard takes an utterance into what was heard of late, and into the dialogue if
// it was said to the agent: others talk all day, and would drive it out.
func (r *Room) heard(e earshot.Event, u earshot.Utterance) {
	if len(e.To) > 0 {
		r.history.add(line{event: e.ID, at: e.At, author: e.Author, to: e.To, text: u.Text, visibility: e.Visibility})
	}
	r.scene.Put(scene.Item{
		Field: scene.Audio, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
		Text: earshot.Text(r.cfg.People.Name(e.Author)+": ") + u.Text,
	})
}

// replied takes a reply into the dialogue, as far as it was heard. What a reflex
// reported of the house's faults is not the agent's own word.
func (r *Room) replied(e earshot.Event, reply earshot.Reply) {
	note := ended(reply, r.cfg.People.Name)
	if reply.Offered == "" && note == "" {
		return
	}
	text := reply.Delivered()
	if reply.Reflex && strings.HasPrefix(string(text), reflex.Reporting) {
		text = ""
	}
	r.history.add(line{event: e.ID, about: reply.About, at: e.At, author: participants.Agent, text: text, note: note, visibility: e.Visibility})
	state := earshot.Text(note)
	switch {
	case reply.Remainder() != "" && note != "":
		state += " Not said yet: " + reply.Remainder()
	case note == "":
		state = "you have said what you wanted to say"
	}
	r.scene.Put(scene.Item{Field: scene.Agent, Source: "turn", Event: e.ID, At: r.cfg.Now(), Text: state, Visibility: e.Visibility})
}

// recall goes on from the past: the dialogue, and the turns that had begun
// when the program ended without a word.
func (r *Room) recall() {
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
			if body.Offered != "" {
				r.spoke(e, !body.Reflex)
			}
		}
	}
	r.history.nobody()
	for _, e := range r.cfg.Past {
		if d, ok := e.Body.(earshot.Decision); ok && open[d.Turn].ID == e.ID && d.Turn != "" {
			lost := r.event(e.Visibility, earshot.Reply{Turn: d.Turn, About: d.About, Outcome: earshot.Failed})
			lost.Sources = []earshot.EventID{d.About}
			r.unsaved = append(r.unsaved, lost)
		}
	}
}
