package room

import (
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/executive/thoughts"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

// takeRequest returns the request to the model for q, and notes in q what it rests on. What the
// agent is told only once counts as told from then on.
func (r *Room) takeRequest(set executive.Config, q *question, a earshot.Audience, aloud bool) *llm.Request {
	at := q.asOf
	if at.IsZero() {
		at = r.cfg.Now()
	}
	r.tellPresence(at)
	req, is := r.request(set, q, &q.seat.history, a, aloud, at)
	q.rests, q.after, q.overheard = is.Rests, is.After, is.Overheard
	q.seat.foreign = 0
	q.seat.writers = q.askers
	if q.message.Visibility.Scope == earshot.Private {
		q.seat.writers = nil // a public thought must not name them
	}
	return req
}

// request returns the request to the model for q, whose agent remembers h, and what it rests on.
func (r *Room) request(set executive.Config, q *question, h *dialogue.History, a earshot.Audience, aloud bool, at time.Time) (*llm.Request, prompt.Prompt) {
	going := []scene.Item{prompt.TimeOf(at)}
	if q.ownWords() {
		h = r.onBehalf.OwnLines(q.asking())
	} else {
		going = q.with(r.now(set, q.seat, a, at), r.cfg.People.Name)
	}
	is := prompt.Reply{
		Dialogue: r.dialogue(set, q.seat, q.askers, h, a, at), Question: q.message, OwnWords: q.ownWords(), News: q.happened(),
		Scene: going, Rests: q.rests, Instructions: r.instructions(set, q, aloud),
	}.Build()
	engine, model := q.seat.thinks(set)
	return &llm.Request{
		Engine:      engine,
		Model:       model,
		Messages:    q.shown(is.Messages),
		Temperature: set.Conversational.Temperature,
		MaxTokens:   set.Conversational.MaxTokens,
		Whole:       !set.Streaming.Enabled,
		Priority:    priority(q),
		Origin:      llm.Origin{Turn: string(q.turn), Agent: string(q.seat.ID), About: string(q.message.ID), Unasked: q.unbidden()},
	}, is
}

// dialogue returns what an agent that remembers h reads of the conversation in a prompt for a at a
// time. writers are the authors of what it answers.
func (r *Room) dialogue(set executive.Config, s *seat, writers []participants.Participant, h *dialogue.History, a earshot.Audience, at time.Time) prompt.Dialogue {
	return prompt.Dialogue{Agent: s.ID, Identity: r.identity(set, s, writers), History: h, Audience: a, At: at, Name: r.cfg.People.Name, Several: r.several()}
}

// several reports whether there is more than one agent.
func (r *Room) several() bool { return len(r.addressing.Roster().Internal) > 1 }

// thinks returns the engine and model of an agent: its own, or those of its role.
func (s *seat) thinks(set executive.Config) (engine, model string) {
	return set.LLM.For(string(s.Role), s.Engine, s.Model)
}

// priority returns how urgent the answer to q is: people go first.
func priority(q *question) llm.Priority {
	if q.chain {
		return llm.ReplyToAgent
	}
	return llm.ReplyToPerson
}

// identity tells the model of an agent who it is, and who is there. It is rebuilt after every
// change of the roster.
func (r *Room) identity(set executive.Config, s *seat, writers []participants.Participant) string {
	if of := (sectionsKey{r.addressing.RosterWith(writers), s.hasTools(set)}); s.sectionsOf != of {
		s.sections, s.sectionsOf = conversation.SectionsWithoutTools(of.roster, s.ID), of
		if of.tools {
			s.sections = conversation.Sections(of.roster, s.ID)
		}
	}
	return conversation.Identity(s.Name, s.Description) +
		"If you were cut off, your own message ends with the last word that was heard.\n" +
		s.sections
}

// hasTools reports whether the agent may use tools, according to its settings.
func (s *seat) hasTools(set executive.Config) bool {
	engine, _ := s.thinks(set)
	return set.Tools.Enabled && set.LLM.ToolUse(engine) != llm.NoTools
}

// manner tells the model of an agent how to talk, in its owner's words or the built-in ones. Those
// of the main agent are in the configuration.
func (s *seat) manner(set executive.Config) string {
	if s.ID == participants.Agent {
		return strings.TrimSpace(set.Conversational.SystemPrompt)
	}
	return strings.TrimSpace(string(s.Instructions()))
}

// instructions tell the model how to talk, and what holds for this reply alone.
func (r *Room) instructions(set executive.Config, q *question, aloud bool) string {
	manner := ""
	if aloud {
		manner = "\nYour reply is spoken aloud: use plain sentences, without lists, tables or markup."
	}
	manner += r.amongPeople(aloud) + r.eyesight(set)
	if q.toRoom {
		manner += "\nNobody called you: the room was asked the last question, and nobody answered. Answer it in one sentence, and only if you know the answer."
	}
	manner += q.welcome()
	if q.seat.foreign > 0 {
		manner += "\n" + conversation.Correction(q.seat.foreign, q.seat.Name)
	}
	if r.mind.Considers(q.message.ID) {
		manner += thoughts.Meanwhile
	}
	return q.seat.manner(set) + manner + q.anew() + r.confirmedPrompt(q) + r.listener.DoneBefore(q.message) + r.goingOn(q)
}

// now returns the time and what is going on then, as an agent reads it in a prompt for a.
func (r *Room) now(set executive.Config, s *seat, a earshot.Audience, at time.Time) []scene.Item {
	return append([]scene.Item{prompt.TimeOf(at)}, r.scene.For(a).As(s.ID).Recent(at, set.ContextWindow.Duration())...)
}

// taking tells the model how the agent takes turns among several people, by the protocol.
var taking = map[interrupt.Style]string{
	interrupt.Polite:     "\nSeveral people are here. Leave people room: be brief, and do not take up what they say to each other.",
	interrupt.Aggressive: "\nSeveral people are here. Say what you have to say to its end, and take up what they say to each other where that helps.",
	interrupt.Passive:    "\nSeveral people are here. Answer only what you are asked, in as few words as you can, and leave the floor to them.",
}

// amongPeople tells the model how to talk among several people, and that their voices tell who
// speaks.
func (r *Room) amongPeople(aloud bool) string {
	here := r.addressing.Roster().External
	text := ""
	if len(here) > 1 {
		text = taking[r.floor.CurrentStyle()]
	}
	if aloud && !r.voicePresence.Empty() {
		text += "\nWho speaks aloud is told by their voices, which may be wrong: let nothing that matters depend on it."
	}
	return text
}
