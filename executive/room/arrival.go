package room

import (
	"context"
	"fmt"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/attention"
	"earshot/executive/presence"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/interrupt"
	"earshot/llm"
)

// An arrival is somebody who has come into view, as long as they may be greeted.
type arrival struct {
	event   earshot.Event
	absence time.Duration // for how long nobody had been noticed before
	gone    bool          // nobody is in view any more
	met     bool          // the agent has said something since
	waits   bool          // it is on record that it waits
}

// noteArrival takes in a report on record that a camera has just noticed somebody come or go.
// Somebody who comes while others are being greeted is one of them.
func (r *Room) noteArrival(e earshot.Event) {
	s, is := e.Body.(earshot.Sight)
	if !is || s.What != earshot.PeopleChanged {
		return
	}
	if a := r.attentionState.arrival; a != nil && s.People == 0 && a.event.From == e.From {
		a.gone = true
	}
	if s.People <= s.Were || r.attentionState.arrival != nil && !r.attentionState.arrival.gone {
		return
	}
	r.attentionState.arrival = &arrival{event: e, absence: r.absence(e.At)}
}

// absence returns for how long nobody had been noticed before an arrival at a time.
func (r *Room) absence(at time.Time) (d time.Duration) {
	r.presence.update(func(c *presence.Tracker) { d = c.Absence(at) })
	return d
}

// spokenTo notes that the agent said something that was heard: a newcomer has then been spoken to.
func (g *attentionState) spokenTo() {
	if g.arrival != nil {
		g.arrival.met = true
	}
}

// chooseGreeting returns the greeting to say now, as a question without an asker. The decision is
// recorded; that it waits is recorded once.
func (r *Room) chooseGreeting(ctx context.Context, since interrupt.Ticket) (question, bool) {
	a := r.attentionState.arrival
	if a == nil || !r.answers() {
		r.attentionState.arrival = nil
		return question{}, false
	}
	set, s := r.set, a.event.Body.(earshot.Sight)
	q := question{
		seat: r.seats[0], message: a.event, ticket: since, turn: earshot.TurnID(r.cfg.NewID()),
		aloud: true, arrival: a, rests: prompt.Provenance{Visibility: a.event.Visibility},
	}
	facts := r.attentionFacts(a.event.Visibility, "")
	facts.Arrival = &attention.Arrival{
		At: a.event.At, Greet: set.Sight.Greet, After: set.Sight.GreetAfterAbsence.Duration(),
		Absence: a.absence, Were: s.Were, Sure: s.Sure, Gone: a.gone, Met: a.met,
	}
	verdict, why := attention.Decide(facts)
	if verdict == earshot.Speak && len(r.outlets(q, set)) == 0 {
		verdict, why = earshot.Silent, []string{attention.NobodyHere}
	}
	if verdict == earshot.Wait && a.waits {
		r.sooner(attention.Again(facts))
		return question{}, false
	}
	if !r.settle(ctx, r.decided(q, verdict, why)) {
		return question{}, false // the disk is full
	}
	switch verdict {
	case earshot.Wait:
		a.waits = true
		r.sooner(attention.Again(facts))
	case earshot.Speak:
		r.attentionState.arrival = nil
		r.spokeUp(facts.Now, a.event.Visibility)
		if !r.modelWorks(q.seat) {
			q.words = reflex.Greeting(facts.Now)
		}
		return q, true
	default:
		r.attentionState.arrival = nil
	}
	return question{}, false
}

// happened tells the model, as the last message of the dialogue, about something that it was not
// asked about but must speak about; nil if there is nothing.
func (q *question) happened() *llm.Message {
	if q.arrival == nil {
		return nil
	}
	s := q.arrival.event.Body.(earshot.Sight)
	return &llm.Message{Role: llm.User, Text: conversation.Envelope{From: "System", Text: "The " + earshot.Text(calls(q.arrival.event.From)) + " noticed: " + s.Words() + "."}.String()}
}

// welcome tells the model how to greet.
func (q *question) welcome() string {
	if q.arrival == nil {
		return ""
	}
	return fmt.Sprintf("\nNobody has said anything to you: somebody has just come into view, after %d minutes in which nobody was noticed. Greet them in one short sentence. "+
		"You cannot tell by the camera who it is: say no name.", int(q.arrival.absence.Minutes()))
}
