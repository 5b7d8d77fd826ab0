package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/generation"
	"earshot/executive/prompt"
	"earshot/executive/record"
	"earshot/executive/seat"
	"earshot/executive/tool"
	"earshot/executive/turn"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
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
	Spawn(ctx context.Context, by earshot.ParticipantID, parent earshot.Path, kind earshot.PathKind, p earshot.Profile) (agents.Record, error)

	// Finish ends an agent that was made by Spawn.
	Finish(ctx context.Context, by, id earshot.ParticipantID) error
}

// A SeatOf finds, among the seats of a room, that of the agent that is asked; nil if it has none.
type SeatOf func([]*seat.Seat) *seat.Seat

// A Host is the room in which agents ask one another. Its functions are safe for concurrent use.
type Host struct {
	Tracker    *Tracker
	Addressing *addressing.Resolver
	Spawner    Spawner // nil if nobody can delegate
	Log        *slog.Logger

	Agents func() []agents.Record // the main one first
	Limit  func() int             // how many messages of agents may follow one another

	Keep   func(context.Context, earshot.Event) error // on record, or why not
	Record func(context.Context, earshot.Event)       // whatever becomes of the turn

	Nudge func() // has the room look at its seats again
}

// An Asker is an agent that can ask others while it answers a question: in its own turn, or within
// that of an agent which asked it. It belongs to the goroutine of the text.
type Asker struct {
	Host
	Agent   agents.Record
	Seat    *seat.Seat
	Message earshot.Event // what it answers
	Turn    earshot.TurnID
	Depth   int // how deeply agents have asked one another

	// Rests is what its answer rests on, to which RestOn adds what others answer.
	Rests  func() prompt.Provenance
	RestOn func(earshot.Visibility, []earshot.EventID)

	// Event returns an event by the agent, for those who may see what the answer rests on.
	Event func(earshot.Body) earshot.Event

	// Prepare returns the agent that is asked by a message, and the request to its model.
	Prepare func(ctx context.Context, asks earshot.Event, seatOf SeatOf) (*Asker, *generation.Request, error)
}

// MessageTool is the tool by which an agent asks another. Its description and its answers are
// what a model reads.
func (a *Asker) MessageTool() tool.Tool {
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
			other, err := a.findAgent(given.Name)
			if err != nil {
				return tool.Answer{}, err
			}
			return a.ask(ctx, other, text, func(seats []*seat.Seat) *seat.Seat { return seat.Find(seats, other.ID) })
		},
	}
}

// findAgent returns the agent that another means by a name, if it may message it. The texts of its
// errors let the model do the right thing.
func (a *Asker) findAgent(name string) (agents.Record, error) {
	who, known := a.Addressing.Find(strings.TrimPrefix(strings.TrimSpace(name), "@"))
	i := slices.IndexFunc(a.Agents(), func(other agents.Record) bool { return known && other.ID == who.ID })
	switch {
	case !known:
		return agents.Record{}, tool.Refuse("there is no agent of that name%s; if it is a person, respond directly to them in your reply instead", a.others())
	case who.ID == a.Agent.ID:
		return agents.Record{}, tool.Refuse("that is you; do it yourself, or answer")
	case who.Type != participants.Internal:
		return agents.Record{}, tool.Refuse("'%s' is an external actor, not an internal agent. External actors cannot receive message_agent() calls. "+
			"Please respond directly to them in your reply instead", who.Name)
	case i < 0:
		return agents.Record{}, tool.Refuse("%s is not in this room%s", who.Name, a.others())
	}
	other := a.Agents()[i]
	if err := agents.Reaches(a.Agent, other); err != nil {
		return other, tool.Refuse("%v", err)
	}
	if v := a.Rests().Visibility; v.Scope == earshot.Private && !slices.Contains(v.Members, other.ID) {
		return other, tool.Refuse("this conversation is private, and %s is no part of it; answer without it", other.Name)
	}
	return other, a.mayAsk()
}

// others says which agents can be asked.
func (a *Asker) others() string {
	var names []string
	for _, other := range a.Agents() {
		if other.ID != a.Agent.ID {
			names = append(names, other.Name)
		}
	}
	if len(names) == 0 {
		return ", and you are the only agent here"
	}
	return "; the other agents here are " + addressing.List(names)
}

// mayAsk says why no agent may be asked now; nil if one may.
func (a *Asker) mayAsk() error {
	if a.Depth >= mostDepth {
		return tool.Refuse("you were asked by an agent that was asked by an agent, %d deep, and that is as deep as it goes; answer with what you know", mostDepth)
	}
	return a.Tracker.Spend(a.Message.Visibility, a.Limit())
}

// DelegateTool is the tool by which an agent gives a task to an agent that is made for it.
func (a *Asker) DelegateTool() tool.Tool {
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
			return a.delegate(ctx, task)
		},
	}
}

// delegate makes an agent for one task, and ends it afterwards.
func (a *Asker) delegate(ctx context.Context, task earshot.Text) (tool.Answer, error) {
	if a.Rests().Visibility.Scope == earshot.Private {
		return tool.Answer{}, tool.Refuse("this conversation is private, and nobody else may know of it; do it yourself")
	}
	if err := a.mayAsk(); err != nil {
		return tool.Answer{}, err
	}
	helper, err := a.Spawner.Spawn(ctx, a.Agent.ID, a.Agent.Path, earshot.PathSub, earshot.Profile{Prompt: a.Agent.Prompt, Version: a.Agent.Version})
	if err != nil {
		a.Log.Warn("no agent could be created for a task", "agent", a.Agent.ID, "err", err)
		return tool.Answer{}, errors.New("nobody could be made for the task; do it yourself")
	}
	defer func() {
		ctx, cancel := record.Outlive(ctx)
		defer cancel()
		if err := a.Spawner.Finish(ctx, a.Agent.ID, helper.ID); err != nil {
			a.Log.Warn("an agent whose task is over could not be ended", "agent", helper.ID, "err", err)
		}
	}()
	helper.Name = a.Tracker.People.Name(helper.ID)
	return a.ask(ctx, helper, task, func([]*seat.Seat) *seat.Seat { return &seat.Seat{Record: helper, Awake: true} })
}

// ask makes another agent answer a message, within the turn. seatOf finds its seat when it is
// asked. Both messages are kept; of an answer that is cut off, what was said until then.
func (a *Asker) ask(ctx context.Context, other agents.Record, text earshot.Text, seatOf SeatOf) (tool.Answer, error) {
	asks := a.between(other.ID, earshot.Message{Text: text, Turn: a.Turn})
	within, awaited, leave := a.Tracker.Waits.Add(ctx, other) // before anybody reads the message: a person who does precedes it
	defer leave()
	if err := a.Keep(ctx, asks); err != nil {
		return tool.Answer{}, errors.New("the message could not be sent; try again, or do without")
	}
	if err := a.Tracker.Spend(a.Message.Visibility, a.Limit()); err != nil { // an answer would be one too many, so nobody asks for it
		return tool.Answer{}, err
	}
	to, asked, err := a.Prepare(ctx, asks, seatOf)
	if err != nil {
		return tool.Answer{}, err
	}
	a.Tracker.Waits.Seat(awaited, to.Seat)
	a.Nudge() // its seat may have gone meanwhile
	said, err := to.answer(within, asked)
	a.RestOn(everybody(to.Rests().Visibility), to.Rests().Sources)
	if said == "" {
		return tool.Answer{}, err
	}
	answer := to.between(a.Agent.ID, earshot.Message{Text: said, Turn: a.Turn, About: asks.ID})
	a.Record(ctx, answer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("%w; until then it said: %s", err, string(said))
	}
	return tool.Answer{
		Text: earshot.Text(other.Name+": ") + said, Visibility: everybody(to.Rests().Visibility),
		Sources: []earshot.EventID{asks.ID, answer.ID},
	}, nil
}

// between returns a message from this agent to another. It is for the same people as the turn, and
// of the agents only for these two.
func (a *Asker) between(other earshot.ParticipantID, m earshot.Message) earshot.Event {
	e := a.Event(m)
	e.To = []earshot.ParticipantID{other}
	e.Visibility.Agents = []earshot.ParticipantID{a.Agent.ID, other}
	return e
}

// everybody returns v for any agents, because they pass on their own words.
func everybody(v earshot.Visibility) earshot.Visibility {
	v.Agents = nil
	return v
}

// ErrGone says, to the model, that an agent which was asked has left the room.
var ErrGone = tool.Refuse("it is not here any more; do without it")

// answer returns what the agent says. An error tells the model of the asking agent why the answer
// is incomplete.
func (a *Asker) answer(ctx context.Context, asked *generation.Request) (earshot.Text, error) {
	var said strings.Builder
	var failed error
	for text, err := range asked.Words(ctx) {
		if failed = err; failed != nil {
			break
		}
		if said.WriteString(text); said.Len() > turn.MaxReply {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return earshot.Text(said.String()), context.Cause(ctx)
	case failed == nil:
		return earshot.Text(strings.TrimSpace(said.String())), nil
	}
	a.Log.Warn("an agent could not answer another agent", "agent", a.Agent.ID, "turn", a.Turn, "why", generation.FaultKind(failed))
	return earshot.Text(said.String()), errors.New("it could not answer, since its model failed; do without it, or say so")
}
