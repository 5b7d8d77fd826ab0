package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/midturn"
	"earshot/executive/question"
	"earshot/executive/think"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/participants/agents"
)

// resolveSideTalk determines what a text means that was said to some agents, by somebody whom they
// answer. A turn that talks is cut by anybody who talks to its agent, whatever they say. A turn
// that works silently is only cut if the text is about the work, or the agent waits for another
// one. Its progress can be asked for until the first word has come.
func (r *Room) resolveSideTalk(set *executive.Config, e earshot.Event, who participants.Participant, to []earshot.ParticipantID, text earshot.Text) midturn.SideTalk {
	if who.Type.Machine() {
		return midturn.SideTalk{}
	}
	live, agent, busy := r.busyTurn(e, to)
	switch {
	case !busy:
		main := r.agents()[0]
		if !slices.Contains(to, main.ID) {
			return midturn.SideTalk{}
		}
		return midturn.AboutThought(r.mind.View(), main, e, text, r.cfg.People.Current)
	case live == nil:
		return midturn.SideTalk{}
	}
	a := midturn.SideTalk{Works: true, Progress: live.Progress, Agent: agent}
	a.Kind = midturn.Classify(text, agent.Name, live.Progress.On())
	works, spoken := live.Progress.Quiet()
	if (a.Kind == midturn.Side || a.Kind == midturn.Task) && r.awaitedSeats.Any() {
		return midturn.SideTalk{} // a person precedes what agents have to say to each other
	}
	if (a.Kind == midturn.Steer || a.Kind == midturn.Instead) && !interrupts(set, e.From) {
		return midturn.SideTalk{} // nothing is broken off
	}
	if works || !spoken && (a.Kind == midturn.Status || a.Kind == midturn.Stop) {
		return a
	}
	return midturn.SideTalk{}
}

// busyTurn returns the live turn, if it belongs to the conversation of e and to one of the agents
// that e calls, and that agent; busy says whether there is one.
func (r *Room) busyTurn(e earshot.Event, to []earshot.ParticipantID) (_ *activeTurn, agent agents.Record, busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.activeTurn
	if l == nil || l.Progress == nil || !conversation.SameCircle(l.Message.Visibility, e.Visibility) || !slices.Contains(to, l.Seat.ID) {
		return nil, agent, l != nil
	}
	return l, l.Seat.Record, true
}

// redirectThought applies to a thought what was said about it, once that is kept.
func (r *Room) redirectThought(e *Entry) {
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.activeTurn == nil {
		return -1
	}
	return slices.IndexFunc(r.pending, func(q question.Question) bool {
		return q.SideTalk.GoesOn() && q.SideTalk.Progress == r.activeTurn.Progress
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
func (r *Room) reportProgress(e *Entry) {
	if e.SideTalk.Kind != midturn.Status || e.SideTalk.Progress == nil {
		return
	}
	who := ""
	if len(r.agents()) > 1 {
		who = e.SideTalk.Agent.Name
	}
	n := earshot.Notice{Text: e.SideTalk.Progress.Work(r.cfg.Now()).Report(who)}
	if e.Event().Via != "" {
		r.tell(e.Event().Via, n)
		return
	}
	told := r.event(e.Event().Visibility, n)
	for _, p := range r.places.Around(told.Visibility) {
		p.Show(told)
	}
}
