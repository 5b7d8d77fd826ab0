package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/askers"
	"earshot/executive/delivery"
	"earshot/executive/prompt"
	"earshot/executive/question"
)

// A preparedReply says for which words an answer was prepared.
type preparedReply struct {
	from  earshot.Handle
	began time.Time // the start of the voice
	at    time.Time // when it was prepared, which is the now of its prompt
}

// prepareReply has an answer prepared for words that sound complete, and drops one that was
// prepared for other words, or for a voice that did not continue. Of several the newest counts.
func (r *Room) prepareReply(in resolvedEvent) {
	s, is := in.event.Body.(earshot.Speech)
	if !is || r.head == nil || s.Stage != earshot.VoiceWords && s.Stage != earshot.VoiceOver {
		return
	}
	in.prepared = r.preparations.Add(1)
	r.toPrepare.Store(nil)
	if s.Stage == earshot.VoiceOver || !s.Stable || in.held || !in.heeded || !in.to.ForAgent() || len(in.aim.Agents) != 1 {
		r.head.Drop()
		return
	}
	r.toPrepare.Store(&in)
	r.nudge()
}

// prepare begins the request to the model that the words of a voice will make if nothing is added
// to them, so that its answer comes sooner. Nobody sees any of it, nothing of it is kept, and its
// tool calls are not carried out. The turn takes it over when the words are on record, if its
// request is the same.
func (r *Room) prepare(ctx context.Context, in resolvedEvent) {
	set, s := r.set, r.seatOf(in.aim.Agents[0])
	if !set.Speech.PrepareReply || s == nil || !s.Awake || r.speaking() || len(r.pending) > 0 {
		return
	}
	e := in.event
	said := e.Body.(earshot.Speech)
	text := r.listener.Correct(said.Words)
	e.ID, e.Body = "", earshot.Utterance{Text: text, LikeAgent: said.LikeAgent}
	in.event = e
	if would := r.scenario(&entry{resolvedEvent: in}, s, text); !would.AsksModel() {
		return
	}
	now := r.cfg.Now()
	q := question.Question{
		Seat: s, Message: e, Aloud: true, Askers: askers.Add(nil, in.asker()), Rests: prompt.Provenance{Visibility: e.Visibility},
		Chain: in.machine(), AsOf: now, StillSpoken: true,
	}
	r.preparedReply = preparedReply{e.From, e.At, now}
	r.head.Begin(ctx, r.reply.Early(set, &q, slices.ContainsFunc(r.outlets(q, set), (*delivery.Outlet).Audible)))
	if r.preparations.Load() != in.prepared { // the change gave it up before it had begun
		r.head.Drop()
	}
}

// asOf returns the now of the request of q: when it was prepared, if it was.
func (r *Room) asOf(q question.Question) time.Time {
	if f := r.preparedReply; q.Aloud && f.from == q.Message.From && f.began.Equal(q.Message.At) {
		return f.at
	}
	return r.cfg.Now()
}

// dropPreparedReply drops the prepared answer, and waits until its request has ended.
func (r *Room) dropPreparedReply() {
	if r.head != nil {
		r.head.Drop()
		r.head.Wait()
	}
}
