package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/activity"
	"earshot/executive/admission"
	"earshot/executive/midturn"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/reflex"
	"earshot/executive/reply"
	"earshot/executive/seat"
	"earshot/executive/think"
	"earshot/executive/thoughts"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

// thoughtContext is what a thought about q is made from. It belongs to Run.
func (r *Room) thoughtContext(ctx context.Context, q think.Question) (c thoughts.Context, ok bool) {
	s, now := r.seats[0], r.cfg.Now()
	if !r.ensureAwake(ctx, s) {
		return c, false
	}
	c = thoughts.Context{Now: now, Settings: r.set, Agent: s.Record, History: s.History.Lines, Newest: r.records.newest}
	c.Audience = r.listeners(question.Question{Seat: s, Message: earshot.Event{ID: q.About, Visibility: q.Visibility}})
	c.Messages, c.Used = r.reply.Dialogue(c.Settings, s, s.Writers, &s.History, c.Audience, now).Messages()
	r.tellPresence(now)
	c.Scene, c.Tools = r.reply.Going(c.Settings, s, c.Audience, now), r.shown(s, q)
	return c, true
}

// shown are the tools in the prompt of a reply to the asker; for a thought that nobody asked for,
// those of the last reply, or before the first reply those of the operator. A server has then read
// the prompt up to there. Thinking uses none of them.
func (r *Room) shown(s *seat.Seat, q think.Question) []llm.Tool {
	askers := s.Askers
	if q.By != "" || len(askers) == 0 {
		who, ok := r.cfg.People.Get(cmp.Or(q.By, participants.Owner))
		if !ok {
			return nil
		}
		askers = []participants.Participant{who}
	}
	of := &question.Question{Seat: s, Rests: prompt.Provenance{Visibility: q.Visibility}}
	return (&reply.ToolTurn{ToolHost: r.reply.Tools}).For(of, nil, earshot.Audience{}).Table(r.set).For(askers)
}

// floorTaken reports whether somebody has the floor or is about to want it, and who.
func (r *Room) floorTaken() (by earshot.Interruption, is bool) {
	now := r.cfg.Now()
	types, voice := r.activity.About(now)
	by = earshot.Interruption{Signal: interrupt.Ambient.String(), At: now}
	live, _ := r.live.question()
	switch {
	case live != nil:
		by.Signal = "turn"
	case len(r.pending)+r.entries.Len() > 0:
		by.Signal = interrupt.Addressed.String()
	case types:
		by.Signal = interrupt.Typing.String()
	case voice:
		by.Signal = interrupt.Voice.String()
	default:
		return by, false
	}
	return by, true
}

// nextQuiet returns when a silent voice may have ended, if the mind or a question waits for that;
// the zero time otherwise.
func (r *Room) nextQuiet() time.Time {
	if !r.mind.Held() && len(r.pending) == 0 || r.live.busy() {
		return time.Time{}
	}
	now := r.cfg.Now()
	if _, voice := r.activity.About(now); !voice {
		return time.Time{}
	}
	return now.Add(activity.VoiceExpiry)
}

// consider makes the mind think about a message that an agent will answer, if its words ask for
// that and a person wrote them.
func (r *Room) consider(e *admission.Entry) {
	for _, q := range e.Questions {
		if q.Seat == r.seats[0] && !q.Chain && q.Want == reflex.None && q.Words == "" {
			r.mind.Consider(r.set.Reasoning.Triggers, e.Event, record.Words(e.Event.Body))
		}
	}
}

// redirectThought applies to a thought what was said about it, once that is kept.
func (r *Room) redirectThought(e *admission.Entry) {
	if e.SideTalk.Thought == "" {
		return
	}
	is := func(q think.Question) bool { return q.ID == e.SideTalk.Thought }
	switch e.SideTalk.Kind {
	case midturn.Stop, midturn.Instead:
		r.mind.Stop(e.Event.Author, is)
	case midturn.Steer:
		r.mind.Steer(e.Event.Author, is)
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
	live, _ := r.live.question()
	if live == nil {
		return -1
	}
	return slices.IndexFunc(r.pending, func(q question.Question) bool {
		return q.SideTalk.GoesOn() && q.SideTalk.Progress == live.Progress
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
	if e.Event.Via != "" {
		r.notices.Tell(e.Event.Via, n)
		return
	}
	r.show(r.event(e.Event.Visibility, n))
}
