package room

import (
	"context"
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/midturn"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/sight"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// A toolRun is what a turn does besides talking, with all the agents that have a part in it. It
// belongs to the goroutine of the text.
type toolRun struct {
	room     *Room
	turn     earshot.TurnID
	progress *midturn.Progress
	budget   tool.Budget
	taken    time.Time // the time of the picture on which the next words rest; zero if none, or if its age was told
}

// A toolContext is what one agent does in a turn: in its own, or in that of an agent which asked
// it.
type toolContext struct {
	*toolRun
	question *question.Question // what it answers; uses of tools add to what that rests on
	askers   []participants.Participant
	asked    []participants.Participant // those askers who called for the answer; empty for a question of another agent
	who      agents.Record
	home     earshot.Path // the agent whose files it works with
	audience earshot.Audience
	depth    int // how deeply agents have asked one another
}

// toolContext returns that of the agent whose turn it is, and records the askers in q.
func (r *Room) toolContext(q *question.Question, a earshot.Audience) *toolContext {
	asked := r.onBehalf.Callers(q.Asking())
	q.Askers = r.onBehalf.All(q.Asking())
	r.onBehalf.Note(q.Turn, q.Askers)
	return &toolContext{
		toolRun:  &toolRun{room: r, turn: q.Turn, progress: q.Progress},
		question: q, askers: q.Askers, asked: asked, who: q.Seat.Record, home: q.Seat.Path, audience: a,
	}
}

// loop returns the model of the agent, with the tools that it may use.
func (p *toolContext) loop() *tool.Loop {
	return &tool.Loop{Model: p.room.model(), Tools: p.tools(), Scope: p.scope(), Confirmed: p.question.Confirmed, Used: p.used}
}

// model returns the model for replies, in front of which answers can be prepared ahead of time, if
// there is a model.
func (r *Room) model() llm.Service {
	if r.head == nil {
		return nil
	}
	if c, ok := r.cfg.Model.(llm.ReplaceableService); ok {
		return r.head.On(c.Current())
	}
	return r.head
}

// scope says for whom tools are used.
func (p *toolContext) scope() tool.Scope {
	return tool.Scope{
		Agent: p.who.ID, Name: p.who.Name, Path: p.who.Path, Home: p.home, Room: p.room.cfg.ID, Turn: p.turn, About: p.question.Message.ID,
		Askers: p.askers, Asked: p.asked, Audience: p.audience, Visibility: p.question.Rests.Visibility, Depth: p.depth, Budget: &p.budget,
		Rests: func() []earshot.EventID { return p.question.Rests.With(p.question.Message.ID).Sources },
	}
}

// tools are all tools, those of the room first. Rights are checked on each use.
func (p *toolContext) tools() tool.Table {
	r := p.room
	if !r.set.Tools.Enabled {
		return nil
	}
	asker := p.asker()
	t := tool.Table{asker.MessageTool()}
	if r.cfg.Spawner != nil {
		t = append(t, asker.DelegateTool())
	}
	if p.depth == 0 && len(r.agents()) > 0 && p.who.ID == r.agents()[0].ID {
		t = append(t, r.mind.Tool(func() (earshot.Event, prompt.Provenance) { return p.question.Message, p.question.Rests }))
	}
	t = append(t, tool.Note(p.note), tool.Remind(p, r.cfg.Now), tool.Edit(p.edit))
	if sight.Works(r.cameras(r.set)) {
		t = append(t, tool.Look(p.lookTool))
	}
	return p.progress.Watch(p.onlyLookTool(append(t, r.cfg.Tools...)))
}

// note records a memo.
func (p *toolContext) note(ctx context.Context, _ tool.Scope, text earshot.Text) error {
	return p.room.queued(ctx, p.event(earshot.Memo{Text: text}))
}

// event is an event by the agent, for those who may see what it rests on.
func (p *toolContext) event(body earshot.Body) earshot.Event {
	e := p.room.event(p.question.Rests.Visibility, body)
	e.Author, e.Sources = p.who.ID, slices.Clone(p.question.Rests.Sources)
	if id := p.question.Message.ID; !slices.Contains(e.Sources, id) {
		e.Sources = append(e.Sources, id)
	}
	return e
}

// queued queues an event of the room itself, and waits until it is kept.
func (r *Room) queued(ctx context.Context, e earshot.Event) error {
	en, err := r.enqueue(e, nil)
	if err != nil {
		return err
	}
	return en.wait(ctx)
}

// record makes sure that an event is kept, whatever becomes of the turn, and waits until it is or
// ctx ends.
func (r *Room) record(ctx context.Context, e earshot.Event) {
	later := func(err error) {
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.rejectedEvents = append(r.rejectedEvents, e)
		}
	}
	en, err := r.enqueue(e, later)
	if err != nil {
		later(err)
		return
	}
	_ = en.wait(ctx)
}

// used records that a tool was used, and makes the answer rest on its result.
func (p *toolContext) used(ctx context.Context, o tool.Outcome) {
	p.question.RestOn(o.Visibility, o.Sources)
	p.room.restsOn(p.turn, o.Sources)
	p.room.record(ctx, p.event(o.Use))
	if o.Held != nil {
		p.holdCall(ctx, o.Held)
	}
	if o.Fault != "" {
		p.room.cfg.Log.Error("a tool failed", "tool", o.Use.Tool, "agent", p.who.ID, "turn", p.turn, "err", o.Fault)
	}
}

// ownerCall is something that the owner of the room does for another goroutine.
type ownerCall func(context.Context)

// runOnOwner lets the owner do something, and waits for it. The owner itself must not call it: it
// would wait for ever.
func (r *Room) runOnOwner(ctx context.Context, do ownerCall) error {
	done := make(chan struct{})
	select {
	case r.ownerCalls <- func(ctx context.Context) { defer close(done); do(ctx) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.shut:
		return ErrClosed
	}
	<-done
	return nil
}

// asker returns the agent as one that can ask others.
func (p *toolContext) asker() *exchange.Asker {
	r := p.room
	return &exchange.Asker{
		Host: exchange.Host{
			Tracker: &r.exchange, Awaited: &r.awaitedSeats, Addressing: &r.addressing, Spawner: r.cfg.Spawner, Log: r.cfg.Log, Agents: r.agents,
			Limit: func() int { return r.cfg.Settings().MultiParty.TurnLimit }, Keep: r.queued, Record: r.record, Nudge: r.nudge, Outlive: lasting,
		},
		Agent: p.who, Question: p.question, Depth: p.depth, Event: p.event, Prepare: p.prepare,
	}
}

// prepare gives the asked agent its part in the turn of p, and makes its prompt.
func (p *toolContext) prepare(ctx context.Context, asks earshot.Event, seatOf exchange.SeatOf) (_ *exchange.Asker, asked *generation.Request, err error) {
	r, to := p.room, (*toolContext)(nil)
	bad := r.runOnOwner(ctx, func(ctx context.Context) {
		s := seatOf(r.seats)
		if s == nil {
			err = exchange.ErrGone
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
	if err = errors.Join(err, bad); err != nil {
		return nil, nil, err
	}
	return to.asker(), asked, nil
}
