package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
)

const (
	// burst is how many times in a row the model is asked for one task while others may wait.
	burst = 4

	// mostAnswer is where an answer of the model is broken off: in tokens, some pages.
	mostAnswer = 4096

	// atOnce is how many calls of one answer are made.
	atOnce = 8

	// resultFile is where a result is written that is too long to be told.
	resultFile = "result.md"

	// fresh is how long a question or a result is worth telling.
	fresh = 7 * 24 * time.Hour
)

// A work is what is under way on one task. It belongs to one goroutine, except stop.
type work struct {
	*Runner
	id    earshot.EventID
	agent earshot.ParticipantID
	by    participants.Participant // whom it is for, as they are known now

	tokens int           // taken since the last step on record
	took   time.Duration // likewise

	stopping sync.Mutex
	stop     context.CancelCauseFunc // ends the request that is under way
}

// run makes the next steps of the task: a few, or as long as there is nothing to wait for.
func (w *work) run(ctx context.Context) error {
	for asked := 0; ctx.Err() == nil; {
		all, err := w.read(ctx, one, w.id)
		if err != nil || len(all) == 0 {
			return err
		}
		s := &all[0]
		next := s.Next()
		if next != Rest && next != Tell {
			if err := w.arrive(ctx, s); err == errChanged {
				continue
			} else if err != nil {
				return err
			}
		}
		switch next {
		case Rest:
			return nil
		case Tell:
			err = w.tell(ctx, s)
		case Think:
			if asked++; asked > burst {
				return nil
			}
			err = w.think(ctx, s)
		case Repeat:
			b := s.Call.Body.(earshot.Step)
			err = w.call(ctx, s, llm.Call{ID: string(s.Call.ID), Tool: b.Tool, Arguments: parameters(b)}, "", s.Call.ID)
		case Inquire:
			b := s.Call.Body.(earshot.Step)
			err = w.inquire(ctx, s.Call.ID, earshot.Text(fmt.Sprintf("earshot ended while I used %s with %s, and I do not know whether it was done. Was it? And shall I do it again?", b.Tool, string(cut(b.Arguments, 300)))))
		case Conclude:
			err = w.end(ctx, earshot.TaskDone, s.written, resultFile)
		case GiveUp:
			text := earshot.Text("what it may take is used up.")
			if s.Where != "" {
				text += " This is where it is: " + s.Where
			}
			err = w.end(ctx, earshot.TaskFailed, text, "")
		}
		if err != nil && !errors.Is(err, errChanged) {
			return err
		}
	}
	return nil
}

// arrive has whom the task is for, and the agent that works on it, as they are now. Without the person
// the task is over.
func (w *work) arrive(ctx context.Context, s *State) (err error) {
	by, known := w.Person(s.Whose())
	if w.by = by; !known || !by.Can(participants.SendMessages) {
		return cmp.Or(w.end(ctx, earshot.TaskFailed, "whom it is for may not have it done any more.", ""), errChanged)
	}
	if w.agent == "" {
		w.agent, err = w.Agent(ctx, by.ID, s.Path)
	}
	return err
}

// interrupt ends the request that is under way, so that it is looked again at what is on record.
func (w *work) interrupt() {
	w.stopping.Lock()
	defer w.stopping.Unlock()
	if w.stop != nil {
		w.stop(errChanged)
	}
}

func (w *work) stops(stop context.CancelCauseFunc) {
	w.stopping.Lock()
	defer w.stopping.Unlock()
	w.stop = stop
}

// think asks the model for the next step, and takes it.
func (w *work) think(ctx context.Context, s *State) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.stops(stop)
	began := w.Now()
	text, calls, err := w.ask(within, s)
	w.stops(nil)
	w.took += w.Now().Sub(began)
	if cause := context.Cause(within); err != nil && cause != nil {
		return cause
	}
	switch {
	case err != nil:
		return err
	case len(calls) == 0 && text == "":
		return errors.New("the model said nothing")
	case len(calls) == 0:
		return w.finish(ctx, s, text)
	case text != "":
		if err := w.step(ctx, earshot.Step{Act: earshot.StepCheckpoint, Text: cut(text, mostGoal)}, "", nil, still); err != nil {
			return err
		}
	}
	for _, c := range calls {
		if ctx.Err() != nil {
			return nil
		}
		if c.Tool == askName {
			q, err := tool.Arguments[struct{ Question string }](c.Arguments)
			if question := strings.TrimSpace(q.Question); err == nil && question != "" {
				return w.inquire(ctx, "", cut(earshot.Text(question), mostGoal))
			}
		}
		if err := w.call(ctx, s, c, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// ask asks the model. A request that is parked for a more urgent one is sent again.
func (w *work) ask(ctx context.Context, s *State) (earshot.Text, []llm.Call, error) {
	set := w.Settings()
	engine, model := set.LLM.For(string(earshot.RoleTask), s.Engine, s.Model)
	req := &llm.Request{
		Engine: engine, Model: model, Messages: s.messages(w.Name(w.Speaker(s.Event.Room)), w.by.Name, w.Now()),
		Tools: append(w.Tools().For([]participants.Participant{w.by}), askTool), Temperature: set.Conversational.Temperature,
		MaxTokens: max(1, min(mostAnswer, s.Budget.Tokens-s.Took.Tokens)), Priority: llm.Memory,
		Origin: llm.Origin{Agent: string(w.agent), About: string(s.Event.ID)},
	}
	for {
		text, calls, tokens, err := listen(ctx, w.Model, req)
		w.tokens += tokens
		failed, _ := errors.AsType[*llm.Error](err)
		if !errors.Is(err, llm.ErrParked) && (failed == nil || failed.Fault != llm.Busy) || ctx.Err() != nil {
			return text, calls, err
		}
		if failed != nil { // many wait
			return "", nil, llm.ErrParked
		}
	}
}

// listen returns what a model says, its calls, and how many tokens that took.
func listen(ctx context.Context, model llm.Service, req *llm.Request) (_ earshot.Text, calls []llm.Call, tokens int, err error) {
	var text strings.Builder
	for d, err := range model.Stream(ctx, req) {
		switch {
		case err != nil:
			return "", nil, 0, err
		case d.Done != nil:
			tokens = d.Done.PromptTokens + d.Done.ReplyTokens
		case d.Call != nil && len(calls) < atOnce:
			c := *d.Call
			c.Arguments = conversation.UnescapeJSON(c.Arguments)
			calls = append(calls, c)
		default:
			text.WriteString(d.Text)
		}
	}
	return earshot.Text(strings.TrimSpace(conversation.Unescape(text.String()))), calls, tokens, nil
}

// farewell is how long what has begun may still take when the program ends.
const farewell = 5 * time.Second

// outlive returns a context that outlives ctx by that.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(farewell, cancel) })
	return longer, func() { stop(); cancel() }
}

// still returns an error if a task does not go on.
func still(s State) error {
	if s.Over || s.Paused || s.Question.ID != "" {
		return errChanged
	}
	return nil
}

// step puts a step on record if may allows it, with what it took.
func (w *work) step(ctx context.Context, b earshot.Step, id earshot.EventID, more []earshot.EventID, may func(State) error) error {
	return w.stepFor(ctx, b, id, earshot.Visibility{}, more, may)
}

func (w *work) stepFor(ctx context.Context, b earshot.Step, id earshot.EventID, v earshot.Visibility, more []earshot.EventID, may func(State) error) error {
	ctx, done := outlive(ctx)
	defer done()
	b.Task, b.Tokens, b.Took = w.id, w.tokens, w.took.Round(time.Millisecond)
	err := w.record(ctx, w.id, func(s State) (earshot.Event, error) {
		s.rest(more)
		return earshot.Event{ID: id, Author: w.agent, Visibility: v, Sources: s.Sources, Body: b}, may(s)
	})
	if err == nil {
		w.tokens, w.took = 0, 0
	}
	return err
}

// inquire asks the person something, about a call if of is one.
func (w *work) inquire(ctx context.Context, of earshot.EventID, question earshot.Text) error {
	return w.step(ctx, earshot.Step{Act: earshot.StepQuestion, Of: of, Text: question, Told: w.NewID()}, "", nil, still)
}

// call has a call made, if the person may have it made and the task goes on. It is on record before, as
// intent if that is given, and its outcome afterwards. result is set if it writes that.
func (w *work) call(ctx context.Context, s *State, c llm.Call, result earshot.Text, intent earshot.EventID) error {
	var refused error
	table := slices.Clone(w.Tools())
	for i, row := range table {
		table[i].Do = func(ctx context.Context, scope tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			if intent == "" {
				id := w.NewID()
				refused = w.step(ctx, earshot.Step{Act: earshot.StepCall, Tool: row.Name, Arguments: earshot.Text(arguments), Text: result}, id, nil, still)
				if refused != nil {
					return tool.Answer{}, errors.New("it cannot be put on record, so it is not done")
				}
				intent = id
			}
			return row.Do(ctx, scope, arguments)
		}
	}
	speaker := w.Speaker(s.Event.Room)
	audience := earshot.Audience{Room: s.Event.Room, Unknown: true, Agents: []earshot.ParticipantID{speaker}}
	if s.Visibility.Scope == earshot.Private {
		audience.Unknown, audience.Members = false, slices.DeleteFunc(slices.Clone(s.Visibility.Members), func(id earshot.ParticipantID) bool { return id == speaker })
	}
	within, done := outlive(ctx) // what has begun ends, or nobody knows what became of it
	defer done()
	began := w.Now()
	o := table.Do(within, tool.Scope{
		Agent: w.agent, Home: s.Path, Room: s.Event.Room, About: s.Event.ID, Askers: []participants.Participant{w.by},
		Audience: audience, Visibility: s.Visibility, Rests: func() []earshot.EventID { return s.Sources }, Budget: new(tool.Budget),
	}, c)
	w.took += w.Now().Sub(began)
	switch {
	case refused != nil:
		return refused
	case within.Err() != nil && intent != "":
		return context.Cause(within) // what became of it is not known
	case o.Fault != "":
		w.Log.Error("a tool broke", "tool", o.Use.Tool, "fault", o.Fault)
	}
	err := w.stepFor(ctx, earshot.Step{
		Act: earshot.StepOutcome, Of: intent, Tool: o.Use.Tool, Text: o.Use.Result, Failed: o.Use.Failed || o.Use.Refused,
		Arguments: earshot.Text(map[bool]string{true: string(o.Use.Arguments)}[intent == ""]),
	}, "", o.Visibility, o.Sources, func(State) error { return nil })
	if err == nil {
		s.rest(o.Sources)
		s.Visibility = s.Visibility.And(o.Visibility)
	}
	return err
}

// finish ends the task with its result. One that is too long to be told is written to a file first.
func (w *work) finish(ctx context.Context, s *State, text earshot.Text) error {
	if len(text) <= mostTold {
		return w.end(ctx, earshot.TaskDone, text, "")
	}
	given, err := json.Marshal(map[string]string{"path": resultFile, "content": string(text)})
	if err != nil {
		return err
	}
	if err := w.call(ctx, s, llm.Call{Tool: "write_file", Arguments: given}, cut(text, earshot.MaxText-8), ""); err != nil {
		return err
	}
	all, err := w.read(ctx, one, w.id)
	if err != nil || len(all) == 0 || all[0].Next() == Conclude {
		return err
	}
	return w.end(ctx, earshot.TaskDone, text, "") // they may have no files; the beginning is told, and all is on record
}

// end ends the task, unless it is over.
func (w *work) end(ctx context.Context, act earshot.Act, text earshot.Text, file string) error {
	ctx, done := outlive(ctx)
	defer done()
	return w.record(ctx, w.id, func(s State) (earshot.Event, error) {
		if s.Over || s.Paused {
			return earshot.Event{}, errChanged
		}
		s.Took.Tokens, s.Took.Time = s.Took.Tokens+w.tokens, s.Took.Time+w.took
		return earshot.Event{Author: cmp.Or(w.agent, w.Speaker(s.Event.Room)), Sources: s.Sources, Body: s.end(act, text, file, w.NewID())}, nil
	})
}

// tell has the room tell the person what is untold, at the next gap. The ID of what is told is on record,
// so that it is told once.
func (w *work) tell(ctx context.Context, s *State) error {
	text, about, answers := s.told()
	sources := s.Sources
	if about != s.Event.ID {
		sources = append(slices.Clip(sources), about)
	}
	return w.Keep(ctx, earshot.Event{
		ID: s.Untold, At: w.Now(), Room: s.Event.Room, From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindFinding)},
		Author: w.Speaker(s.Event.Room), To: s.Event.To, Visibility: s.Visibility, Sources: sources,
		Body: earshot.Finding{Text: text, Confidence: 1, Worth: true, Until: w.Now().Add(fresh), Answers: answers},
	})
}
