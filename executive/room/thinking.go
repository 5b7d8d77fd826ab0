package room

import (
	"cmp"
	"context"
	"time"

	"earshot"
	"earshot/executive/activity"
	"earshot/executive/admission"
	"earshot/executive/generation"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/seat"
	"earshot/executive/think"
	"earshot/executive/thoughts"
	"earshot/executive/toolset"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// newMind returns the mind of the room, which is that of its main agent.
func (r *Room) newMind() *thoughts.Thinker {
	return thoughts.New(thoughts.Host{
		People: r.cfg.People, Scene: r.scene,
		Agent: func() agents.Record { return r.agents()[0] },
		Open: func() bool {
			r.live.mu.Lock()
			defer r.live.mu.Unlock()
			return r.mode.Current().Answers() && !r.live.leaving && !r.entries.Closed()
		},
		Floor: r.floorTaken, Nudge: r.owner.Wake,
		OnOwner: r.owner.Do,
		Context: r.thoughtContext, Event: r.event, Record: r.record, Tell: r.notices.Tell,
		ModelFails: func() bool { return r.notices.Faults.Has(generation.FaultKey) },
	}, &think.Mind{Model: r.cfg.Model, Settings: r.cfg.Settings, Now: r.cfg.Now, NewID: r.cfg.NewID, Log: r.cfg.Log, Moved: r.changes.Notify})
}

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
	return (&toolset.Turn{Host: r.reply.Tools}).For(of, nil, earshot.Audience{}).Table(r.set).For(askers)
}

// yield parks the mind when somebody begins to write or speak, or says something to an agent: a
// reply must not wait for a thought. It acts on the goroutine of the sense, as soon as the state
// that floorTaken reads shows it and before anything waits in a queue. The owner releases the mind
// when that is over.
func (r *Room) yield(in admission.Input) {
	if !in.Begins() || r.mind.HasSpareSlot() {
		return
	}
	by := earshot.Interruption{Signal: interrupt.Addressed.String(), At: in.Event.At}
	if in.Event.Visibility.Scope != earshot.Private { // nobody else is told of a private one
		by.By = in.Who.ID
	}
	if in.Signal != nil && in.Signal.Kind != interrupt.Over { // this is its signal for the floor
		by.Signal = in.Signal.Kind.String()
	}
	r.mind.Park(by)
	r.owner.Wake()
}

// floorTaken reports whether somebody has the floor or is about to want it, and who.
func (r *Room) floorTaken() (by earshot.Interruption, is bool) {
	now := r.cfg.Now()
	types, voice := r.activity.About(now)
	by = earshot.Interruption{Signal: interrupt.Ambient.String(), At: now}
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	switch {
	case r.live.turn != nil:
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
			r.mind.Consider(r.set.Reasoning.Triggers, e.Event(), admission.Words(e.Event().Body))
		}
	}
}
