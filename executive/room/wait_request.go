package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/reflex"
	"earshot/participants/agents"
)

// moment is how long somebody who has asked for one need not call the agent again,
// beyond the time in which they can go on anyway.
const moment = 20 * time.Second

// asksForTime reports whether text asks an agent to wait.
func (r *Room) asksForTime(text earshot.Text) bool {
	return slices.ContainsFunc(r.agents(), func(a agents.Record) bool { return reflex.Recognise(text, a.Name) == reflex.Moment })
}

// noteWaitRequest notes that somebody who is in talk with an agent has asked it for a moment:
// it waits in silence, and they are in talk with it still when they go on.
func (r *Room) noteWaitRequest(in resolvedEvent) {
	u, aloud := in.event.Body.(earshot.Utterance)
	if !aloud || !in.heeded || !in.to.ForAgent() || !r.asksForTime(u.Text) {
		return
	}
	p, until := r.counterpart(in.event), r.cfg.Now().Add(moment)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, by := range []counterpart{p, {by: in.event.From}} {
		if t, ok := r.answered[by]; ok {
			t.ended = until
			r.answered[by] = t
		}
	}
}

// A lastSpokenReply is how the last reply ended that was heard.
type lastSpokenReply struct {
	text earshot.Text
	at   time.Time
}

// saidAloud notes how a reply ended that was heard.
func (r *Room) saidAloud(e turnResult) {
	if !e.question.aloud || e.reply.Outcome != earshot.Completed {
		return
	}
	said := e.reply.Delivered()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastSpokenReply = lastSpokenReply{said[max(0, len(said)-maxAsked):], r.cfg.Now()}
}

// maxAsked is how much is kept of what an agent said, in bytes: a question and the
// end of what stands before it.
const maxAsked = 300

// Asked returns the end of what an agent has just said aloud and nobody has answered
// yet, or nothing. Who listens to people can tell by it what they may say. It returns
// at once, and may be called from many goroutines.
func (r *Room) Asked() earshot.Text {
	followUp := r.cfg.Settings().Speech.FollowUp.Duration()
	now := r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.lastSpokenReply.at) > followUp+longestAnswer {
		return ""
	}
	return r.lastSpokenReply.text
}

// longestAnswer is how long an answer may take to be said of which one asks meanwhile.
const longestAnswer = 30 * time.Second
