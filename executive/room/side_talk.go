package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/admission"
	"earshot/executive/midturn"
	"earshot/executive/question"
	"earshot/executive/think"
	"earshot/interrupt"
)

// redirectThought applies to a thought what was said about it, once that is kept.
func (r *Room) redirectThought(e *admission.Entry) {
	v := e.SideTalk.Thought
	if v == nil {
		return
	}
	is := func(q think.Question) bool { return q.ID == v.ID }
	switch e.SideTalk.Kind {
	case midturn.Stop, midturn.Instead:
		r.mind.Stop(e.Event().Author, is)
	case midturn.Steer:
		r.mind.Steer(e.Event().Author, is)
	}
}

// patience is how long a question waits for silent work: longer than most tools take, and as long
// as one waits for a slow model.
const patience = 10 * time.Second

// nextGrant returns when a question has waited that long; the zero time if none waits.
func (r *Room) nextGrant() time.Time {
	if i := r.waitsMeanwhile(); i >= 0 {
		return r.pending[i].Message.At.Add(patience)
	}
	return time.Time{}
}

// waitsMeanwhile returns the index of the question that waits for work that continues, -1 for none.
func (r *Room) waitsMeanwhile() int {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	if r.live.turn == nil {
		return -1
	}
	return slices.IndexFunc(r.pending, func(q question.Question) bool {
		return q.SideTalk.GoesOn() && q.SideTalk.Progress == r.live.turn.Progress
	})
}

// grantWaiting gives the floor to the question that has waited long enough.
func (r *Room) grantWaiting(context.Context) {
	i := r.waitsMeanwhile()
	if i < 0 || r.cfg.Now().Before(r.pending[i].Message.At.Add(patience)) {
		return
	}
	q := r.pending[i]
	r.heed(&r.set, &interrupt.Signal{
		Kind: interrupt.Addressed, From: q.Message.From, Via: q.Message.Via, By: q.Message.Author, Confidence: 1, At: r.cfg.Now(),
	})
	for i, waits := range r.pending {
		r.pending[i].Ticket = r.floor.Renew(waits.Ticket, r.floor.Ticket())
		if waits.SideTalk.GoesOn() {
			r.pending[i].SideTalk = midturn.SideTalk{} // the work does not continue
		}
	}
}

// reportProgress tells the asker the progress of an agent, where they asked; if they asked aloud,
// where everybody reads. The work continues.
func (r *Room) reportProgress(e *admission.Entry) {
	if e.SideTalk.Kind != midturn.Status || e.SideTalk.Progress == nil {
		return
	}
	who := ""
	if len(r.agents()) > 1 {
		who = e.SideTalk.Agent.Name
	}
	n := earshot.Notice{Text: e.SideTalk.Progress.Work(r.cfg.Now()).Report(who)}
	if e.Event().Via != "" {
		r.notices.Tell(e.Event().Via, n)
		return
	}
	r.show(r.event(e.Event().Visibility, n))
}
