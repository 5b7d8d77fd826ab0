package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/reflex"
	"earshot/participants/agents"
)

// moment is for how long somebody who has asked for a moment need not call the agent again, in
// addition to the usual time.
const moment = 20 * time.Second

// asksForTime reports whether text asks an agent to wait.
func (r *Room) asksForTime(text earshot.Text) bool {
	return slices.ContainsFunc(r.agents(), func(a agents.Record) bool { return reflex.Recognise(text, a.Name) == reflex.Moment })
}

// noteWaitRequest notes that somebody who is talking with an agent has asked it for a moment: it
// waits in silence, and they are still talking with it when they continue.
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

// A lastSpokenReply is how the last heard reply ended.
type lastSpokenReply struct {
	text earshot.Text
	at   time.Time
}

// saidAloud notes how a heard reply ended.
func (r *Room) saidAloud(e turnResult) {
	if !e.question.aloud || e.reply.Outcome != earshot.Completed {
		return
	}
	said := e.reply.Delivered()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastSpokenReply = lastSpokenReply{said[max(0, len(said)-maxAsked):], r.cfg.Now()}
}

// maxAsked is how many bytes of what an agent said are kept: a question and the end of what stands
// before it.
const maxAsked = 300

// Asked returns the end of what an agent has just said aloud and nobody has answered yet, or
// nothing. A recogniser can tell from it what people may say. It returns at once, and is safe for
// concurrent use.
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

// longestAnswer is how long an answer may take to be said during which Asked is called.
const longestAnswer = 30 * time.Second
