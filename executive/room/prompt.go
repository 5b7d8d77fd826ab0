package room

import (
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/scene"
	"earshot/executive/seat"
	"earshot/executive/sight"
	"earshot/llm"
	"earshot/participants"
)

// takeRequest returns the request to the model for q, and notes in q what it rests on. What the
// agent is told only once counts as told from then on.
func (r *Room) takeRequest(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) *llm.Request {
	at := q.AsOf
	if at.IsZero() {
		at = r.cfg.Now()
	}
	r.tellPresence(at)
	req, is := r.request(set, q, &q.Seat.History, a, aloud, at)
	q.Rests, q.After, q.Overheard = is.Rests, is.After, is.Overheard
	q.Seat.ForeignNames = 0
	q.Seat.Writers = q.Askers
	if q.Message.Visibility.Scope == earshot.Private {
		q.Seat.Writers = nil // a public thought must not name them
	}
	return req
}

// request returns the request to the model for q, whose agent remembers h, and what it rests on.
func (r *Room) request(set executive.Config, q *question.Question, h *dialogue.History, a earshot.Audience, aloud bool, at time.Time) (*llm.Request, prompt.Prompt) {
	going := []scene.Item{prompt.TimeOf(at)}
	if q.OwnWords() {
		h = r.onBehalf.OwnLines(q.Asking())
	} else {
		going = q.AddMessage(r.now(set, q.Seat, a, at), r.cfg.People.Name)
	}
	is := prompt.Reply{
		Dialogue: r.dialogue(set, q.Seat, q.Askers, h, a, at), Question: q.Message, OwnWords: q.OwnWords(), News: q.UnaskedNews(),
		Scene: going, Rests: q.Rests, Instructions: q.Instructions(set, r.promptContext(set, q, aloud)),
	}.Build()
	engine, model := q.Seat.EngineAndModel(set)
	return &llm.Request{
		Engine:      engine,
		Model:       model,
		Messages:    q.AddPicture(is.Messages),
		Temperature: set.Conversational.Temperature,
		MaxTokens:   set.Conversational.MaxTokens,
		Whole:       !set.Streaming.Enabled,
		Priority:    q.Priority(),
		Origin:      llm.Origin{Turn: string(q.Turn), Agent: string(q.Seat.ID), About: string(q.Message.ID), Unasked: q.Unasked()},
	}, is
}

// dialogue returns what an agent that remembers h reads of the conversation in a prompt for a at a
// time. writers are the authors of what it answers.
func (r *Room) dialogue(set executive.Config, s *seat.Seat, writers []participants.Participant, h *dialogue.History, a earshot.Audience, at time.Time) prompt.Dialogue {
	return prompt.Dialogue{Agent: s.ID, Identity: s.Identity(set, r.addressing.RosterWith(writers)), History: h, Audience: a, At: at, Name: r.cfg.People.Name, Several: r.several()}
}

// several reports whether there is more than one agent.
func (r *Room) several() bool { return len(r.addressing.Roster().Internal) > 1 }

// promptContext returns what the model is told of the room for a reply.
func (r *Room) promptContext(set executive.Config, q *question.Question, aloud bool) question.PromptContext {
	return question.PromptContext{
		Aloud: aloud, Style: r.floor.CurrentStyle(), Several: len(r.addressing.Roster().External) > 1, ByVoice: !r.voicePresence.Empty(),
		Camera: sight.Works(r.cameras(set)), Considered: r.mind.Considers(q.Message.ID), DoneBefore: r.listener.DoneBefore(q.Message), Name: r.cfg.People.Name,
	}
}

// now returns the time and what is going on then, as an agent reads it in a prompt for a.
func (r *Room) now(set executive.Config, s *seat.Seat, a earshot.Audience, at time.Time) []scene.Item {
	return append([]scene.Item{prompt.TimeOf(at)}, r.scene.For(a).As(s.ID).Recent(at, set.ContextWindow.Duration())...)
}
