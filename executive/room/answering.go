package room

import (
	"cmp"
	"context"
	"slices"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/decision"
	"earshot/executive/dialogue"
	"earshot/executive/record"
	"earshot/participants"
)

// recent returns an event that the room remembers; the zero Event if it does not.
func (r *Room) recent(id earshot.EventID) (e earshot.Event) {
	if en, ok := r.entries.Find(id); ok {
		e = en.Event()
	}
	return e
}

// recallable returns a message that the room remembers, as others can quote it.
func (r *Room) recallable(id earshot.EventID) (dialogue.Citation, bool) {
	e := r.recent(id)
	c := dialogue.Citation{Event: e.ID, By: e.Author, Visibility: e.Visibility, Text: record.TextOf(e)}
	return c, c.Text != ""
}

// rememberReply remembers a reply, which somebody may answer.
func (r *Room) rememberReply(e earshot.Event) {
	if e.Body.Kind() != earshot.KindReply {
		return
	}
	done := make(chan struct{})
	close(done)
	r.entries.Remember(&Entry{Input: Input{Event: e}, done: done})
}

// answering determines the addressees of a message that answers another. An answer to an agent of
// the room is for that agent, unless its words call somebody; an answer to somebody else is for
// them. An outlet may name a reply by its turn, which is all it knows; the message then gets the ID
// of the reply.
func (r *Room) answering(ctx context.Context, e *earshot.Event, m earshot.Message, who participants.Participant, a addressing.Addressees) addressing.Addressees {
	if m.ReplyTo == "" {
		return a
	}
	id, by := r.wroteThat(ctx, m.ReplyTo)
	m.ReplyTo = cmp.Or(id, m.ReplyTo)
	e.Body = m
	p, known := r.cfg.People.Get(by)
	if !known || by == who.ID || a.Named || a.Why == addressing.ToOthers {
		return a
	}
	agents := r.addressing.Seated([]earshot.ParticipantID{by}, r.agents())
	if len(agents) == 0 {
		if p.Type.Machine() {
			return a
		}
		e.To = []earshot.ParticipantID{by}
		return addressing.Addressees{Why: addressing.ToOthers, Hint: a.Hint}
	}
	e.To, e.Visibility.Agents = slices.Clone(agents), slices.Clone(agents)
	return addressing.Addressees{Agents: agents, Mine: true, Named: true, Why: decision.Replied, Hint: a.Hint}
}

// wroteThat returns the event called id, and its author: a message, a reply, or what is being said
// now, for which there is no event yet. Events that the room does not remember are looked up.
func (r *Room) wroteThat(ctx context.Context, id earshot.EventID) (event earshot.EventID, by earshot.ParticipantID) {
	if event, by = r.remembersThat(id); by != "" || r.cfg.Event == nil {
		return event, by
	}
	old, found, err := r.cfg.Event(ctx, id)
	if err != nil {
		r.cfg.Log.Warn("the message that another one replies to cannot be looked up", "err", err)
	}
	if !found || err != nil {
		return "", ""
	}
	return id, old.Author
}

// remembersThat is wroteThat for what the room remembers.
func (r *Room) remembersThat(id earshot.EventID) (event earshot.EventID, by earshot.ParticipantID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if en, ok := r.entries.Find(id); ok {
		return id, en.Event().Author
	}
	turn := earshot.TurnID(id)
	if r.activeTurn != nil && r.activeTurn.Turn == turn {
		return "", r.activeTurn.Seat.ID
	}
	reply := r.entries.Reply(turn)
	return reply.ID, reply.Author
}
