package room

import (
	"context"
	"earshot/executive/generation"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/seat"
	"earshot/executive/tool"
	"earshot/executive/turn"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/participants/paths"
)

const (
	// mostDepth is how deeply agents may ask one another within a turn: the first one waits for all
	// of them.
	mostDepth = 4

	// mostMessage is the longest message from one agent to another, in bytes: some pages, and
	// within what a small model can take in.
	mostMessage = 4 << 10
)

// A Spawner makes agents for a task. Its methods are safe for concurrent use, may wait for a disk,
// and give up when ctx ends.
type Spawner interface {
	// Spawn makes an agent below another, on behalf of that one.
	Spawn(ctx context.Context, by earshot.ParticipantID, parent earshot.Path, kind paths.Kind, p earshot.Profile) (agents.Record, error)

	// Finish ends an agent that was made by Spawn.
	Finish(ctx context.Context, by, id earshot.ParticipantID) error
}

// messageAgentTool is the tool by which an agent asks another. Its description and its answers are
// what a model reads.
func (p *toolContext) messageAgentTool() tool.Tool {
	type message struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	}
	return tool.Tool{
		Tool: llm.Tool{
			Name:        "message_agent",
			Description: "Ask another internal agent, and get its answer. Never for external actors, such as people: answer those directly.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"of the agent"},` +
				`"message":{"type":"string","description":"with all that it needs to know"}},"required":["name","message"],"additionalProperties":false}`),
		},
		Needs: participants.SendMessages,
		Do: func(ctx context.Context, _ tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			given, err := tool.Arguments[message](arguments)
			if err != nil {
				return tool.Answer{}, err
			}
			text, err := tool.Wording("message", given.Message, mostMessage)
			if err != nil {
				return tool.Answer{}, err
			}
			other, err := p.findAgent(given.Name)
			if err != nil {
				return tool.Answer{}, err
			}
			return p.ask(ctx, other, text, func(r *Room) *seat.Seat { return r.seatOf(other.ID) })
		},
	}
}

// findAgent returns the agent that another means by a name, if it may message it. The texts of its
// errors let the model do the right thing.
func (p *toolContext) findAgent(name string) (agents.Record, error) {
	r := p.room
	who, known := r.addressing.Find(strings.TrimPrefix(strings.TrimSpace(name), "@"))
	i := slices.IndexFunc(r.agents(), func(a agents.Record) bool { return known && a.ID == who.ID })
	switch {
	case !known:
		return agents.Record{}, tool.Refuse("there is no agent of that name%s; if it is a person, respond directly to them in your reply instead", p.others())
	case who.ID == p.who.ID:
		return agents.Record{}, tool.Refuse("that is you; do it yourself, or answer")
	case who.Type != participants.Internal:
		return agents.Record{}, tool.Refuse("'%s' is an external actor, not an internal agent. External actors cannot receive message_agent() calls. "+
			"Please respond directly to them in your reply instead", who.Name)
	case i < 0:
		return agents.Record{}, tool.Refuse("%s is not in this room%s", who.Name, p.others())
	}
	other := r.agents()[i]
	if err := agents.Reaches(p.who, other); err != nil {
		return other, tool.Refuse("%v", err)
	}
	if v := p.question.Rests.Visibility; v.Scope == earshot.Private && !slices.Contains(v.Members, other.ID) {
		return other, tool.Refuse("this conversation is private, and %s is no part of it; answer without it", other.Name)
	}
	return other, p.mayAsk()
}

// others says which agents can be asked.
func (p *toolContext) others() string {
	var names []string
	for _, a := range p.room.agents() {
		if a.ID != p.who.ID {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return ", and you are the only agent here"
	}
	return "; the other agents here are " + addressing.List(names)
}

// mayAsk says why no agent may be asked now; nil if one may.
func (p *toolContext) mayAsk() error {
	if p.depth >= mostDepth {
		return tool.Refuse("you were asked by an agent that was asked by an agent, %d deep, and that is as deep as it goes; answer with what you know", mostDepth)
	}
	return p.spend()
}

// spend says why the agents of this conversation may say no more to each other; nil if they may.
func (p *toolContext) spend() error {
	if err := p.room.exchange.Spend(p.question.Message.Visibility, p.room.cfg.Settings().MultiParty.TurnLimit); err != nil {
		return tool.Refuse("%w", err)
	}
	return nil
}

// delegateTool is the tool by which an agent gives a task to an agent that is made for it.
func (p *toolContext) delegateTool() tool.Tool {
	type delegate struct {
		Task string `json:"task"`
	}
	return tool.Tool{
		Tool: llm.Tool{
			Name:        "delegate",
			Description: "Give one task to a helper, which knows only what you write, has your tools and files, and ends with its answer.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"task":{"type":"string","description":"with all that must be known for it"}},` +
				`"required":["task"],"additionalProperties":false}`),
		},
		Needs: participants.SendMessages,
		Do: func(ctx context.Context, _ tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			given, err := tool.Arguments[delegate](arguments)
			if err != nil {
				return tool.Answer{}, err
			}
			task, err := tool.Wording("task", given.Task, mostMessage)
			if err != nil {
				return tool.Answer{}, err
			}
			return p.delegate(ctx, task)
		},
	}
}

// delegate makes an agent for one task, and ends it afterwards.
func (p *toolContext) delegate(ctx context.Context, task earshot.Text) (tool.Answer, error) {
	r := p.room
	if p.question.Rests.Visibility.Scope == earshot.Private {
		return tool.Answer{}, tool.Refuse("this conversation is private, and nobody else may know of it; do it yourself")
	}
	if err := p.mayAsk(); err != nil {
		return tool.Answer{}, err
	}
	helper, err := r.cfg.Spawner.Spawn(ctx, p.who.ID, p.who.Path, paths.Sub, earshot.Profile{Prompt: p.who.Prompt, Version: p.who.Version})
	if err != nil {
		r.cfg.Log.Warn("no agent could be created for a task", "agent", p.who.ID, "err", err)
		return tool.Answer{}, errors.New("nobody could be made for the task; do it yourself")
	}
	defer func() {
		ctx, cancel := lasting(ctx)
		defer cancel()
		if err := r.cfg.Spawner.Finish(ctx, p.who.ID, helper.ID); err != nil {
			r.cfg.Log.Warn("an agent whose task is over could not be ended", "agent", helper.ID, "err", err)
		}
	}()
	helper.Name = r.cfg.People.Name(helper.ID)
	return p.ask(ctx, helper, task, func(*Room) *seat.Seat { return &seat.Seat{Record: helper, Awake: true} })
}

// ask makes another agent answer a message, within the turn. seatOf finds its seat when it is
// asked. Both messages are kept; of an answer that is cut off, what was said until then.
func (p *toolContext) ask(ctx context.Context, other agents.Record, text earshot.Text, seatOf func(*Room) *seat.Seat) (tool.Answer, error) {
	asks := p.between(other.ID, earshot.Message{Text: text, Turn: p.turn})
	within, is, leave := p.room.addAwaitedSeat(ctx, other) // before anybody reads the message: a person who does precedes it
	defer leave()
	if err := p.room.queued(ctx, asks); err != nil {
		return tool.Answer{}, errors.New("the message could not be sent; try again, or do without")
	}
	if err := p.spend(); err != nil { // an answer would be one too many, so nobody asks for it
		return tool.Answer{}, err
	}
	to, asked, err := p.prepare(ctx, asks, seatOf)
	if err != nil {
		return tool.Answer{}, err
	}
	p.room.setAwaitedSeat(is, to)
	said, err := to.answer(within, asked)
	p.question.RestOn(everybody(to.question.Rests.Visibility), to.question.Rests.Sources)
	if said == "" {
		return tool.Answer{}, err
	}
	answer := to.between(p.who.ID, earshot.Message{Text: said, Turn: p.turn, About: asks.ID})
	p.room.record(ctx, answer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("%w; until then it said: %s", err, string(said))
	}
	return tool.Answer{
		Text: earshot.Text(other.Name+": ") + said, Visibility: everybody(to.question.Rests.Visibility),
		Sources: []earshot.EventID{asks.ID, answer.ID},
	}, nil
}

// between returns a message from this agent to another. It is for the same people as the turn, and
// of the agents only for these two.
func (p *toolContext) between(other earshot.ParticipantID, m earshot.Message) earshot.Event {
	e := p.event(m)
	e.To = []earshot.ParticipantID{other}
	e.Visibility.Agents = []earshot.ParticipantID{p.who.ID, other}
	return e
}

// everybody returns v for any agents, because they pass on their own words.
func everybody(v earshot.Visibility) earshot.Visibility {
	v.Agents = nil
	return v
}

var errGone = tool.Refuse("it is not here any more; do without it")

// prepare gives the asked agent its part, and makes its prompt.
func (p *toolContext) prepare(ctx context.Context, asks earshot.Event, seatOf func(*Room) *seat.Seat) (to *toolContext, asked *generation.Request, err error) {
	r := p.room
	bad := r.runOnOwner(ctx, func(ctx context.Context) {
		s := seatOf(r)
		if s == nil {
			err = errGone
			return
		}
		if !r.ensureAwake(ctx, s) {
			err = errors.New("it cannot remember what was said, so it does not answer; do without it")
			return
		}
		if r.seatOf(s.ID) == nil {
			s.History.Learn(asks, r.cfg.People) // nobody else tells it
		}
		q := &question.Question{Seat: s, Message: asks, Chain: true, Turn: p.turn, Rests: prompt.Provenance{Visibility: asks.Visibility}, Askers: p.askers}
		q.Askers = r.onBehalf.All(q.Asking()) // others may have called it as well
		r.onBehalf.Note(p.turn, q.Askers)
		to = &toolContext{toolRun: p.toolRun, question: q, askers: q.Askers, who: s.Record, home: s.Path, depth: p.depth + 1, audience: r.listeners(*q)}
		if s.Kind.Below() {
			to.home = p.home
		}
		asked = &generation.Request{
			Prompt: r.takeRequest(r.set, q, to.audience, false), Model: to.loop(), Now: r.cfg.Now, Log: r.cfg.Log,
			Filter: conversation.ReplyFilter{Envelopes: conversation.EnvelopeFilter{Own: s.Name}}, Parting: "I have nothing to say to that.",
		}
	})
	return to, asked, errors.Join(err, bad)
}

// An awaitedSeat is a seat that another agent waits for: that of an agent that sits in the room,
// not of one that was made for the task.
type awaitedSeat struct {
	seat *seat.Seat // nil until it is known
	end  context.CancelCauseFunc
}

// addAwaitedSeat notes that an agent waits for another one, which may work until leave is called,
// or until its seat is taken away: see [Room.syncSeats].
func (r *Room) addAwaitedSeat(ctx context.Context, other agents.Record) (_ context.Context, is *awaitedSeat, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	is = &awaitedSeat{end: end}
	if other.Kind.Below() {
		return ctx, is, func() { end(nil) }
	}
	r.mu.Lock()
	r.awaitedSeats = append(r.awaitedSeats, is)
	r.mu.Unlock()
	return ctx, is, func() {
		end(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.awaitedSeats = slices.DeleteFunc(r.awaitedSeats, func(e *awaitedSeat) bool { return e == is })
	}
}

// setAwaitedSeat notes where the awaited agent sits.
func (r *Room) setAwaitedSeat(is *awaitedSeat, to *toolContext) {
	r.mu.Lock()
	is.seat = to.question.Seat
	r.mu.Unlock()
	r.nudge() // it may have gone meanwhile
}

// answer returns what the agent says. An error tells the model of the asking agent why the answer
// is incomplete.
func (p *toolContext) answer(ctx context.Context, asked *generation.Request) (earshot.Text, error) {
	var said strings.Builder
	err := listen(ctx, asked, &said)
	switch {
	case ctx.Err() != nil:
		return earshot.Text(said.String()), context.Cause(ctx)
	case err == nil:
		return earshot.Text(strings.TrimSpace(said.String())), nil
	}
	p.room.cfg.Log.Warn("an agent could not answer another agent", "agent", p.who.ID, "turn", p.turn, "why", generation.FaultKind(err))
	return earshot.Text(said.String()), errors.New("it could not answer, since its model failed; do without it, or say so")
}

// listen takes in what an agent says.
func listen(ctx context.Context, asked *generation.Request, said *strings.Builder) error {
	for text, err := range asked.Words(ctx) {
		if err != nil {
			return err
		}
		if said.WriteString(text); said.Len() > turn.MaxReply {
			break
		}
	}
	return ctx.Err()
}
