package reply

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/memory"
	"earshot/executive/midturn"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/recall"
	"earshot/executive/remind"
	"earshot/executive/scene"
	"earshot/executive/schedule"
	"earshot/executive/sight"
	"earshot/executive/task"
	"earshot/executive/thoughts"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// A ToolHost is the room whose agents use tools. Its functions are safe for concurrent use, unless they
// say otherwise.
type ToolHost struct {
	Room      earshot.RoomID
	Scene     *scene.Scene
	Viewer    *sight.Viewer
	Thoughts  *thoughts.Thinker // of the main agent
	Reminders remind.Recorder
	Exchange  exchange.Host
	Tools     tool.Table // besides those of the room

	Cameras  func(executive.Config) []sight.Camera // through which agents of the room can look
	Settings func() executive.Config
	Now      func() time.Time
	Log      *slog.Logger

	Event func(earshot.Visibility, earshot.Body) earshot.Event
	Amend func(context.Context, earshot.Event, earshot.Audience) error // an edit, if it still fits
	Rests func(earshot.TurnID, []earshot.EventID)                      // notes on what the turn rests too
	Hold  func(context.Context, *ToolContext, *tool.HeldCall)          // makes a call wait for confirmation

	// Prepare gives the agent that another asks its part in a turn, and returns the request to its
	// model.
	Prepare func(ctx context.Context, by *ToolContext, asks earshot.Event, seatOf exchange.SeatOf) (*ToolContext, *generation.Request, error)
}

// A ToolTurn is what a turn does besides talking, with all the agents that have a part in it. It belongs
// to the goroutine of the text.
type ToolTurn struct {
	ToolHost
	ID       earshot.TurnID
	Progress *midturn.Progress
	Picture  time.Time // the time of the picture on which the next words rest; zero if none, or if its age was told

	budget tool.Budget
}

// A ToolContext is what one agent does in a turn: in its own, or in that of an agent which asked it.
type ToolContext struct {
	*ToolTurn
	Question *question.Question // what it answers; uses of tools add to what that rests on
	Agent    agents.Record
	Home     earshot.Path // the agent whose files it works with
	Askers   []participants.Participant
	Called   []participants.Participant // those askers who called for the answer; empty for a question of another agent
	Audience earshot.Audience
	Depth    int // how deeply agents have asked one another
}

// For returns the context of the agent at a seat that answers q: in its own turn, or if by is not
// nil in that of by, which asks it.
func (t *ToolTurn) For(q *question.Question, by *ToolContext, a earshot.Audience) *ToolContext {
	c := &ToolContext{ToolTurn: t, Question: q, Agent: q.Seat.Record, Home: q.Seat.Home(), Askers: q.Askers, Audience: a}
	if by != nil {
		c.Depth = by.Depth + 1
		if q.Seat.Kind.Below() {
			c.Home = by.Home
		}
	}
	return c
}

// Loop returns the model m as the agent uses it, with its tools.
func (c *ToolContext) Loop(set executive.Config, m llm.Service) *tool.Loop {
	return &tool.Loop{Model: m, Tools: c.Table(set), Scope: c.scope, Confirmed: c.Question.Confirmed, Used: c.used}
}

// scope says for whom the next tool is used.
func (c *ToolContext) scope() tool.Scope {
	return tool.Scope{
		Agent: c.Agent.ID, Home: c.Home, Room: c.Room, Turn: c.ID, About: c.Question.Message.ID,
		Askers: c.Askers, Asked: c.Called, Audience: c.Audience, Visibility: c.Question.Rests.Visibility, Budget: &c.budget,
		Rests: func() []earshot.EventID { return c.Question.Rests.With(c.Question.Message.ID).Sources },
	}
}

// Table returns all tools, those of the room first. Rights are checked on each use.
func (c *ToolContext) Table(set executive.Config) tool.Table {
	if !set.Tools.Enabled {
		return nil
	}
	asker := c.asker()
	t := tool.Table{asker.MessageTool()}
	if c.Exchange.Spawner != nil {
		t = append(t, asker.DelegateTool())
	}
	if all := c.Exchange.Agents(); c.Depth == 0 && len(all) > 0 && c.Agent.ID == all[0].ID {
		t = append(t, c.Thoughts.Tool(func() (earshot.Event, prompt.Provenance) { return c.Question.Message, c.Question.Rests }))
	}
	t = append(t, tool.Note(c.note), tool.Remind(c, c.Now), tool.Edit(c.edit))
	if sight.Works(c.Cameras(set)) {
		t = append(t, tool.Look(c.look))
	}
	optional := map[string]bool{
		memory.ToolName: set.Memory.Enabled, recall.ToolName: set.Recall.Enabled, task.ToolName: set.Task.Enabled,
		schedule.ToolName: set.Task.Enabled && set.Schedule.Enabled,
	}
	for _, row := range c.Tools {
		if on, depends := optional[row.Name]; on || !depends {
			t = append(t, row)
		}
	}
	return c.Progress.Watch(c.onlyLook(t))
}

func (c *ToolContext) note(ctx context.Context, _ tool.Scope, text earshot.Text) error {
	return c.Exchange.Keep(ctx, c.event(earshot.Memo{Text: text}))
}

// event is an event by the agent, for those who may see what its answer rests on.
func (c *ToolContext) event(body earshot.Body) earshot.Event {
	e := c.Event(c.Question.Rests.Visibility, body)
	e.Author, e.Sources = c.Agent.ID, slices.Clone(c.Question.Rests.Sources)
	if id := c.Question.Message.ID; !slices.Contains(e.Sources, id) {
		e.Sources = append(e.Sources, id)
	}
	return e
}

// used records that a tool was used, and makes the answer rest on its result.
func (c *ToolContext) used(ctx context.Context, o tool.Outcome) {
	c.Question.RestOn(o.Visibility, o.Sources)
	c.Rests(c.ID, o.Sources)
	c.Exchange.Record(ctx, c.event(o.Use))
	if o.Held != nil {
		c.Hold(ctx, c, o.Held)
	}
	if o.Fault != "" {
		c.Log.Error("a tool failed", "tool", o.Use.Tool, "agent", c.Agent.ID, "turn", c.ID, "err", o.Fault)
	}
}

// asker returns the agent as one that can ask others.
func (c *ToolContext) asker() *exchange.Asker {
	return &exchange.Asker{
		Host: c.Exchange, Agent: c.Agent, Seat: c.Question.Seat, Message: c.Question.Message, Turn: c.Question.Turn, Depth: c.Depth,
		Rests: func() prompt.Provenance { return c.Question.Rests }, RestOn: c.Question.RestOn, Event: c.event,
		Prepare: func(ctx context.Context, asks earshot.Event, seatOf exchange.SeatOf) (*exchange.Asker, *generation.Request, error) {
			to, asked, err := c.ToolHost.Prepare(ctx, c, asks, seatOf)
			if err != nil {
				return nil, nil, err
			}
			return to.asker(), asked, nil
		},
	}
}
