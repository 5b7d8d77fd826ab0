// Package reply makes the answer to a question: by a reflex where one knows it, and otherwise by what
// a model is asked. It writes down in the question what the answer rests on. A request for words that
// are still being spoken is made in the same way, and thrown away if they go on differently.
//
// A [ToolTurn] is what an agent can do in a turn besides talking: the tools that a room itself gives
// it, in whose name it uses them, and the record of their use.
package reply

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/askers"
	"earshot/executive/dialogue"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/hearing"
	"earshot/executive/memory"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/executive/seat"
	"earshot/executive/sight"
	"earshot/executive/thoughts"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

// A Builder makes the answers of the agents in a room. It belongs to the owner of the room, as do the
// questions and seats that it is given.
type Builder struct {
	Room       earshot.RoomID
	People     *participants.Registry
	Scene      *scene.Scene
	Floor      *interrupt.Floor
	Addressing *addressing.Resolver
	Askers     *askers.Tracker
	Exchange   *exchange.Tracker
	Listener   *hearing.Listener
	Voices     *hearing.Presence
	Thoughts   *thoughts.Thinker
	Viewer     *sight.Viewer
	Tools      ToolHost
	Memory     *memory.Index // may be nil

	Lasts bool               // messages last here, and something else shows that somebody writes
	Model func() llm.Service // nil if there is none
	Now   func() time.Time
	Log   *slog.Logger

	Cameras         func(executive.Config) []sight.Camera
	DescribeCompany func(at time.Time)                   // writes to the scene who is probably here
	State           func(earshot.Audience) api.RoomState // what everybody in an audience may know
	ModelWorks      func(*seat.Seat) bool                // there is a model, and it did not fail last time
	Event           func(earshot.Visibility, earshot.Body) earshot.Event
	Record          func(earshot.Event) // with the answer
	Tell            func(outlet string, n earshot.Notice)
}

// noWord is what a waiting person is told while a model says nothing.
const noWord = "the model has not answered yet; it may be loading. /stop gives up, earshot doctor says more"

// Words returns the words of the answer to q: those of a reflex if one knows it, otherwise the
// model's, whose request is nil if none is asked. aloud says that a voice will say them.
func (b *Builder) Words(set executive.Config, q *question.Question, aloud bool) (func(context.Context) iter.Seq2[string, error], *generation.Request) {
	if q.Words != "" {
		return generation.Fixed(q.Words), nil
	}
	a := q.Audience(b.Room, b.People)
	if (q.Want == reflex.Resume || q.Want == reflex.Follow) && q.OwnWords() {
		q.Want = reflex.None // what was being said rests on others' words
	}
	if q.Want == reflex.Resume || q.Want == reflex.Follow {
		if cut, ok := q.Seat.History.Resumable(q.Message.Visibility, a, b.Now()); ok && q.Seat.History.Concerns(cut, reflex.Mentioned(record.Words(q.Message.Body))) {
			return b.resume(set, q, a, aloud, cut)
		}
		if q.Want == reflex.Resume && b.ModelWorks(q.Seat) {
			q.Want = reflex.None // there is nothing left unsaid, but perhaps more to say
		}
	}
	answer := ""
	if seen := b.look(set, q); q.Want != reflex.None {
		facts := b.facts(q.Seat, a)
		facts.Sight = seen
		answer = reflex.Answer(q.Want, facts)
	}
	if answer != "" {
		if q.Want == reflex.Lately || q.Want == reflex.Repeat {
			_, used := q.Seat.History.Prompt(a, q.Seat.ID, b.People.Name, false, b.Now())
			q.Rests = q.Rests.AndLines(used, q.Seat.ID) // it repeats what was said
			if said := q.Seat.History.Latest(a); said.Body != nil {
				q.Rests = q.Rests.And(said.Visibility)
			}
		}
		return generation.Fixed(answer), nil
	}
	if b.Model() == nil {
		return generation.Unable, new(generation.Request)
	}
	g, turn := b.generate(set, q, a, aloud)
	return func(ctx context.Context) iter.Seq2[string, error] {
		return q.Progress.Listen(turn.Dated(g.Words(ctx)))
	}, g
}

// resume returns the words that continue a reply that was cut off: first those that are kept, and
// then, if the model had not finished, what it adds.
func (b *Builder) resume(set executive.Config, q *question.Question, a earshot.Audience, aloud bool, cut earshot.Event) (func(context.Context) iter.Seq2[string, error], *generation.Request) {
	reply := cut.Body.(earshot.Reply)
	q.Resumes = cut
	q.RestOn(cut.Visibility, append(slices.Clone(cut.Sources), cut.ID))
	if !reply.Unfinished || !b.ModelWorks(q.Seat) {
		reply.Unfinished = false // so that no word of it is left out
		return generation.Fixed(reflex.Answer(reflex.Resume, reflex.Facts{Cut: &reply})), nil
	}
	rest, last := reflex.Rest(reply)
	g, turn := b.generate(set, q, a, aloud)
	g.Continues = true
	g.Filter.Continue()
	return func(ctx context.Context) iter.Seq2[string, error] {
		return q.Progress.Listen(generation.Resume(ctx, rest, last, turn.Dated(g.Words(ctx))))
	}, g
}

// generate returns the request to the model for q, and what the turn does besides talking. The
// askers are recorded in q.
func (b *Builder) generate(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) (*generation.Request, *ToolTurn) {
	to := b.Exchange.WorksFor(q.Message.Visibility)
	g := &generation.Request{
		Prompt: b.take(set, q, a, aloud),
		Filter: conversation.ReplyFilter{Envelopes: conversation.EnvelopeFilter{Own: q.Seat.Name}, Call: b.callback(q)},
		Trace:  q.Trace, Now: b.Now, Log: b.Log,
		To: to, Parting: b.Exchange.Parting(&earshot.Handover{Why: earshot.Passed, To: to}, q.Seat.Name, 0, 0),
	}
	called := b.Askers.Callers(q.Asking())
	q.Askers = b.Askers.All(q.Asking())
	b.Askers.Note(q.Turn, q.Askers)
	c := (&ToolTurn{ToolHost: b.Tools, ID: q.Turn, Progress: q.Progress}).For(q, nil, a)
	c.Called = called
	g.Model, q.Seat.Askers = c.Loop(set, b.Model()), q.Askers
	if q.HasPicture() {
		c.Picture = q.Look.Picture().At
	}
	if q.FromPerson() && !b.Lasts {
		via := q.Message.Via
		g.SlowAfter, g.Slow = set.LLM.SlowNotice.Duration(), func() { b.Tell(via, earshot.Notice{Text: noWord}) }
	}
	return g, c.ToolTurn
}

// callback returns the call to put in front of the answer to q: to the agent that asks, unless the
// answering one does not want that.
func (b *Builder) callback(q *question.Question) conversation.CallPrefixer {
	c := conversation.CallPrefixer{From: q.Seat.ID, Directory: b.Addressing.Directory()}
	if p, _ := b.People.Get(q.Message.Author); p.Type == participants.Internal && q.Seat.AutoReply && !q.Everybody {
		c.Name = p.Name
	}
	return c
}

// Asked returns the context of the agent at a seat that is asked by another, by, within a turn, and
// the request to its model. asks is the question, on record.
func (b *Builder) Asked(set executive.Config, by *ToolContext, s *seat.Seat, asks earshot.Event) (*ToolContext, *generation.Request) {
	q := &question.Question{Seat: s, Message: asks, Chain: true, Turn: by.ID, Rests: prompt.Provenance{Visibility: asks.Visibility}, Askers: by.Askers}
	q.Askers = b.Askers.All(q.Asking()) // others may have called it as well
	b.Askers.Note(by.ID, q.Askers)
	to := by.For(q, by, q.Audience(b.Room, b.People))
	return to, &generation.Request{
		Prompt: b.take(set, q, to.Audience, false), Model: to.Loop(set, b.Model()), Now: b.Now, Log: b.Log,
		Filter: conversation.ReplyFilter{Envelopes: conversation.EnvelopeFilter{Own: s.Name}}, Parting: "I have nothing to say to that.",
	}
}

// Early returns the request to the model for q, whose message is still being spoken, as if it were on
// record.
func (b *Builder) Early(set executive.Config, q *question.Question, aloud bool) *llm.Request {
	h := q.Seat.History.With(q.Message, b.People)
	a := q.Audience(b.Room, b.People)
	b.DescribeCompany(q.AsOf)
	req, is := b.request(set, q, &h, a, aloud, q.AsOf)
	q.Rests, q.After, q.Overheard = is.Rests, is.After, is.Overheard
	c := (&ToolTurn{ToolHost: b.Tools}).For(q, nil, a)
	c.Askers = b.Askers.All(q.Asking())
	return c.Loop(set, b.Model()).Request(req)
}

// take returns the request to the model for q, and notes in q what it rests on. What the agent is
// told only once counts as told from then on.
func (b *Builder) take(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) *llm.Request {
	at := q.AsOf
	if at.IsZero() {
		at = b.Now()
	}
	b.DescribeCompany(at)
	req, is := b.request(set, q, &q.Seat.History, a, aloud, at)
	q.Rests, q.After, q.Overheard = is.Rests, is.After, is.Overheard
	q.Seat.ForeignNames = 0
	q.Seat.Writers = q.Askers
	if q.Message.Visibility.Scope == earshot.Private {
		q.Seat.Writers = nil // a public thought must not name them
	}
	return req
}

// request returns the request to the model for q, whose agent remembers h, and what it rests on.
func (b *Builder) request(set executive.Config, q *question.Question, h *dialogue.History, a earshot.Audience, aloud bool, at time.Time) (*llm.Request, prompt.Prompt) {
	going := []scene.Item{prompt.TimeOf(at)}
	if q.OwnWords() {
		h = b.Askers.OwnLines(q.Asking())
	} else {
		going = q.AddMessage(b.Going(set, q.Seat, a, at), b.People.Name)
	}
	known, rests := b.remembered(set, q, h, a, at)
	is := prompt.Reply{
		Dialogue: b.Dialogue(set, q.Seat, q.Askers, h, a, at), Question: q.Message, OwnWords: q.OwnWords(), News: q.UnaskedNews(),
		Memory: known, Scene: going, Rests: rests, Instructions: q.Instructions(set, b.context(set, q, aloud)),
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

// tokenBytes is how many bytes of text make a token, cautiously: mostly there are four.
const tokenBytes = 3

// remembered returns what the agent knows of earlier for q, and what the answer rests on with that.
func (b *Builder) remembered(set executive.Config, q *question.Question, h *dialogue.History, a earshot.Audience, at time.Time) (string, prompt.Provenance) {
	if b.Memory == nil || set.Memory.MostTokens == 0 || q.OwnWords() {
		return "", q.Rests
	}
	before := int64(math.MaxInt64)
	if len(h.Lines) > 0 && h.Lines[0].Sequence > 0 {
		before = h.Lines[0].Sequence
	}
	text, used := b.Memory.Prompt(memory.Query{
		Audience: a, Here: append([]earshot.ParticipantID{q.Message.Author}, a.Members...), Words: memory.Words(q.Message),
		At: at, Bytes: tokenBytes * set.Memory.MostTokens, Before: before,
	})
	rests := q.Rests
	for _, e := range used {
		rests = rests.And(e.Visibility, e.ID)
	}
	return text, rests
}

// Dialogue returns what an agent that remembers h reads of the conversation in a prompt for a at a
// time. writers are the authors of what it answers.
func (b *Builder) Dialogue(set executive.Config, s *seat.Seat, writers []participants.Participant, h *dialogue.History, a earshot.Audience, at time.Time) prompt.Dialogue {
	return prompt.Dialogue{
		Agent: s.ID, Identity: s.Identity(set, b.Addressing.RosterWith(writers)), History: h, Audience: a, At: at,
		Name: b.People.Name, Several: len(b.Addressing.Roster().Internal) > 1,
	}
}

// Going returns the time and what is going on then, as an agent reads it in a prompt for a.
func (b *Builder) Going(set executive.Config, s *seat.Seat, a earshot.Audience, at time.Time) []scene.Item {
	return append([]scene.Item{prompt.TimeOf(at)}, b.Scene.For(a).As(s.ID).Recent(at, set.ContextWindow.Duration())...)
}

// context returns what the model is told of the room for a reply.
func (b *Builder) context(set executive.Config, q *question.Question, aloud bool) question.PromptContext {
	return question.PromptContext{
		Aloud: aloud, Style: b.Floor.CurrentStyle(), Several: len(b.Addressing.Roster().External) > 1, ByVoice: !b.Voices.Empty(),
		Camera: sight.Works(b.Cameras(set)), Considered: b.Thoughts.Considers(q.Message.ID), DoneBefore: b.Listener.DoneBefore(q.Message), Name: b.People.Name,
	}
}

// facts are what the reflexes of an agent answer from, as far as a may know it.
func (b *Builder) facts(by *seat.Seat, a earshot.Audience) reflex.Facts {
	s := b.State(a)
	f := reflex.Facts{Agent: by.Name, Now: b.Now(), Works: s.Works, Faults: s.Faults}
	for _, l := range by.History.Lately(a) {
		f.Lately = append(f.Lately, reflex.Line{Name: b.People.Name(l.Speaker()), Text: l.Text, At: l.At})
	}
	if said, is := by.History.Latest(a).Body.(earshot.Reply); is {
		f.Said = &said
	}
	return f
}

// look returns the reflex answer to somebody who wants the agent to look; "" if a model is asked
// instead, with the picture if it accepts pictures.
func (b *Builder) look(set executive.Config, q *question.Question) string {
	if m, written := q.Message.Body.(earshot.Message); q.Want == reflex.See && written && len(m.Attachments) > 0 {
		q.Want = reflex.None // the attachment is what it should look at
	}
	if q.Want != reflex.See {
		return ""
	}
	if q.Look == nil { // it has become a question about sight since
		c, _ := sight.Find(b.Cameras(set), "")
		q.Look = sight.NoLook(c)
	}
	if answer := b.Viewer.Unable(q.Look); answer != "" {
		return answer
	}
	b.recordLook(q)
	if b.ModelWorks(q.Seat) {
		return ""
	}
	return q.Look.Describe(b.Now())
}

// recordLook records that the room has looked for q, as if its agent had: it keeps the words of the
// detectors, and the answer rests on them.
func (b *Builder) recordLook(q *question.Question) {
	arguments, _ := json.Marshal(map[string]string{"camera": q.Look.Camera.Name}) // of strings
	use := b.Event(q.Rests.Visibility, earshot.Use{
		Turn: q.Turn, Tool: "look", Arguments: earshot.Text(arguments), Result: sight.Found(q.Look.Picture()), Took: q.Look.Took().Round(time.Millisecond),
	})
	use.Author, use.Sources = q.Seat.ID, []earshot.EventID{q.Message.ID}
	q.Rests = q.Rests.With(use.ID)
	b.Record(use)
}
