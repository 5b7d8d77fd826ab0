package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/prompt"
)

// recorded is what the main agent says when a voice is heard for the first time, if that is set. It
// is said whole, whoever speaks, because it tells them that they are being heard.
const recorded = "I hear somebody new. What is said here is written down."

// notices is how often that is said: to guests who come one after the other, and then as often as
// people tolerate it beside a television.
var notices = rateLimit{most: 3, every: 10 * time.Minute}

// strange notes that a voice was heard for the first time, in something that is kept.
func (r *Room) strange(e earshot.Event) {
	if r.set.Speech.AnnounceVoices && len(r.strangers) < conversation.MaxCircles {
		r.strangers = append(r.strangers, e)
	}
}

// notify returns the notice that is due, if somebody can hear it: one for all new voices. If there
// were too many recently, it waits until something happens after it may be said again.
func (r *Room) notify(ctx context.Context) (q question, ok bool) {
	if len(r.strangers) == 0 {
		return q, false
	}
	e := r.strangers[len(r.strangers)-1]
	e.From, e.Author, e.To = earshot.Handle{}, "", nil // it answers nobody, and opens no conversation
	q = question{
		seat: r.seats[0], message: e, aloud: true, protected: true, words: recorded,
		ticket: r.floor.Ticket(), turn: earshot.TurnID(r.cfg.NewID()), rests: prompt.Provenance{Visibility: e.Visibility, Sources: []earshot.EventID{e.ID}},
	}
	can := r.is().Answers() && slices.ContainsFunc(r.outlets(q, r.set), (*roomOutlet).Audible)
	if can && !r.noticed.take(notices, r.cfg.Now()) {
		return q, false
	}
	r.strangers = nil
	return q, can && r.settle(ctx, r.decision(q, earshot.Speak, NewVoice))
}
