package admission

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/decision"
	"earshot/executive/dialogue"
	"earshot/participants"
)

// answered determines the addressees of a message that answers another. An answer to an agent of
// the room is for that agent, unless its words call somebody; an answer to somebody else is for
// them. An outlet may name a reply by its turn, which is all it knows; the message then gets the ID
// of the reply.
func (r *Resolver) answered(ctx context.Context, e *earshot.Event, m earshot.Message, who participants.Participant, a addressing.Addressees) addressing.Addressees {
	if m.ReplyTo == "" {
		return a
	}
	id, by := r.findAuthor(ctx, m.ReplyTo)
	m.ReplyTo = cmp.Or(id, m.ReplyTo)
	e.Body = m
	p, known := r.People.Get(by)
	if !known || by == who.ID || a.Named || a.Why == addressing.ToOthers {
		return a
	}
	agents := r.Addressing.Seated([]earshot.ParticipantID{by}, r.Agents())
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

// findAuthor returns the event called id, and its author: a message, a reply, or what is being said
// now, for which there is no event yet. Events that the room does not remember are looked up.
func (r *Resolver) findAuthor(ctx context.Context, id earshot.EventID) (event earshot.EventID, by earshot.ParticipantID) {
	if e := r.Queue.Recent(id); e.Author != "" {
		return id, e.Author
	}
	turn := earshot.TurnID(id)
	if live, agent := r.Turn(); live != nil && live.Turn == turn {
		return "", agent.ID
	}
	if reply := r.Queue.Reply(turn); reply.Author != "" {
		return reply.ID, reply.Author
	}
	if r.Queue.Lookup == nil {
		return "", ""
	}
	old, found, err := r.Queue.Lookup(ctx, id)
	if err != nil {
		r.Log.Warn("the message that another one replies to cannot be looked up", "err", err)
	}
	if !found || err != nil {
		return "", ""
	}
	return id, old.Author
}

var (
	errNobodysWords = errors.New("whose words? say who you are first: earshot chat --identity NAME")
	errNoQuestion   = errors.New("what do you want to ask? Write /" + earshot.OwnWords + " QUESTION; everybody here sees it")
)

// ownWords makes the message of the command "/mywords QUESTION" given by who. It keeps the event's
// ID, so that a command that is sent twice counts once. Everybody sees it, as if it had no command.
func ownWords(e *earshot.Event, who participants.Participant, args earshot.Text) error {
	if who.ID == "" || who.ID == participants.Generic {
		return errNobodysWords
	}
	if dialogue.Valid(args) == "" {
		return errNoQuestion
	}
	text, err := dialogue.Wording(args, earshot.MaxText)
	if err != nil {
		return err
	}
	e.Body = earshot.Message{Text: text, OwnWords: true}
	return nil
}

// withOwnWords returns the addressees of a question with its author's own words alone: the agents
// that it calls, or the main one if it calls none.
func (r *Resolver) withOwnWords(e *earshot.Event, a addressing.Addressees) addressing.Addressees {
	if !a.Mine || a.Why == addressing.Alone {
		a = addressing.Addressees{Agents: addressing.IDs(r.Agents()[:1]), Mine: true, Named: true, Why: decision.OwnWords}
		e.To, e.Visibility.Agents = slices.Clone(a.Agents), nil
	}
	return a
}
