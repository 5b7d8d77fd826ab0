package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

const (
	burst      = 4           // times in a row that the model is asked for one task, while others may wait
	mostAnswer = 4096        // tokens, some pages, where an answer of the model is broken off
	mostAtOnce = 8           // calls of one answer that are made
	resultFile = "result.md" // where a result is written that is too long to be told
)

// A worker works on one task. It belongs to one goroutine.
type worker struct {
	*Runner
	id    earshot.EventID
	agent earshot.ParticipantID
	by    participants.Participant // whom it is for, as they are known now

	tokens int           // taken since the last step on record
	took   time.Duration // likewise
}

// run makes the next steps of the task, a few, or as long as there is nothing to wait for. It asks the
// model until asking ends.
func (w *worker) run(ctx, asking context.Context) error {
	changed := 0 // in a row; if a decision never fits, for example since a source of it is erased, the task rests
	for asked := 0; asking.Err() == nil; {
		all, err := w.read(ctx, isOne, w.id)
		if err != nil || len(all) == 0 {
			return err
		}
		s := &all[0]
		next := s.Next()
		if next != Rest && next != Tell && next != Await {
			err = w.arrive(ctx, s)
		}
		switch {
		case err != nil:
		case s.Parent != "" && !s.Over && !w.Open(ctx, s.Parent):
			err = w.end(ctx, earshot.TaskCancelled, "", "")
		case next == Tell:
			err = w.tell(ctx, s)
		case next == Think && asked < burst:
			asked++
			err = w.think(ctx, asking, s)
		case next == Repeat:
			_, err = w.call(ctx, s, llm.Call{Tool: s.Call.Tool, Arguments: json.RawMessage(s.Call.Arguments)}, s.Call.ID)
		case next == Await:
			if helps, err := w.read(ctx, isHelper, s.Call.ID); err != nil || len(helps) > 0 {
				return err
			}
			err = w.inquire(ctx, s.Call.ID, "The helper that did a part of this is gone. How shall I go on?")
		case next == Inquire:
			err = w.inquire(ctx, s.Call.ID, fmt.Sprintf("earshot ended while I used %s with %s, and I do not know whether it was done. Was it? And shall I do it again?",
				s.Call.Tool, string(cut(s.Call.Arguments, 300))))
		case next == GiveUp:
			err = w.end(ctx, earshot.TaskFailed, "what it may take is used up. "+s.Where, "")
		default:
			return nil
		}
		if changed++; err == nil {
			changed = 0
		}
		if err != nil && (err != errChanged || changed > burst) {
			return err
		}
	}
	return nil
}

// arrive has whom the task is for, and the agent that works on it, as they are now. Without the person
// the task is over.
func (w *worker) arrive(ctx context.Context, s *State) error {
	by, known := w.Person(s.Whose())
	if w.by = by; !known || !by.Can(participants.SendMessages) {
		return w.end(ctx, earshot.TaskFailed, "the person it is for may not have it done any more.", "")
	}
	r, err := w.Agents.EnsureWorker(ctx, by.ID, s.Path)
	if errors.Is(err, agents.ErrDead) { // so has the schedule whose run it is
		return w.end(ctx, earshot.TaskCancelled, "", "")
	}
	w.agent = r.ID
	return err
}

// think asks the model for the next step, and takes it.
func (w *worker) think(ctx, asking context.Context, s *State) error {
	began := w.Now()
	text, calls, err := w.ask(asking, s)
	w.took += w.Now().Sub(began)
	switch {
	case asking.Err() != nil:
		return nil
	case err != nil:
		return err
	case len(calls) == 0 && text == "":
		return errors.New("the model said nothing")
	case len(calls) == 0 && (len(text) <= mostTold && !s.Quiet || s.Parent != ""):
		return w.end(ctx, earshot.TaskDone, text, "")
	case len(calls) == 0: // it is written to a file first, if the person may have files
		given, _ := json.Marshal(map[string]string{"path": resultFile, "content": string(text)}) // which is always JSON
		written, err := w.call(ctx, s, llm.Call{Tool: "write_file", Arguments: given}, "")
		if err != nil {
			return err
		}
		return w.end(ctx, earshot.TaskDone, text, map[bool]string{true: resultFile}[written])
	case text != "":
		err = w.step(ctx, earshot.Event{Body: earshot.Step{Act: earshot.StepCheckpoint, Text: cut(text, mostGoal)}})
	}
	for _, c := range calls {
		if err != nil || asking.Err() != nil {
			return err
		}
		given, _ := tool.Arguments[arguments](c.Arguments)
		switch {
		case c.Tool == askName:
			return w.inquire(ctx, "", cmp.Or(given.Text, string(text), "How shall I go on?"))
		case c.Tool == delegateName && s.Parent == "" && given.Text != "" && len(given.Text) <= mostGoal:
			return w.delegate(ctx, s, earshot.Text(given.Text))
		}
		_, err = w.call(ctx, s, c, "")
	}
	return err
}

// ask asks the model what it has to say, and what is to be called.
func (w *worker) ask(ctx context.Context, s *State) (_ earshot.Text, calls []llm.Call, err error) {
	set := w.Settings()
	role, tools := earshot.RoleTask, append(w.tools(s).For([]participants.Participant{w.by}), askTool)
	if s.Parent != "" {
		role = earshot.RoleSubagent
	} else {
		tools = append(tools, delegateTool)
	}
	engine, model := set.LLM.For(string(role), s.Engine, s.Model)
	var text strings.Builder
	for d, err := range w.Model.Stream(ctx, &llm.Request{
		Engine: engine, Model: model, Messages: s.messages(set.Name, w.by.Name, w.Now()),
		Tools: tools, Temperature: set.Conversational.Temperature,
		MaxTokens: min(mostAnswer, s.left().Tokens), Priority: llm.Memory, Origin: llm.Origin{Agent: string(w.agent), About: string(s.Event.ID)},
	}) {
		if err != nil {
			return "", nil, err
		}
		text.WriteString(d.Text)
		if d.Done != nil {
			w.tokens += d.Done.PromptTokens + d.Done.ReplyTokens
		} else if d.Call != nil && len(calls) < mostAtOnce {
			calls = append(calls, *d.Call)
			calls[len(calls)-1].Arguments = conversation.UnescapeJSON(d.Call.Arguments) // the model repeats what it has read
		}
	}
	return earshot.Text(strings.TrimSpace(conversation.Unescape(text.String()))), calls, nil
}

// tools returns the tools that the task may use.
func (w *worker) tools(s *State) tool.Table {
	return slices.DeleteFunc(slices.Clone(w.Tools()), func(row tool.Tool) bool { return len(s.Tools) > 0 && !slices.Contains(s.Tools, row.Name) })
}

// still returns an error if the task does not go on, except in any case.
func (s *State) still(inAnyCase bool) error {
	if !inAnyCase && (s.Over || s.Paused || s.Question.ID != "") {
		return errChanged
	}
	return nil
}

// step puts a step on record, with what it took, if the task goes on. The outcome of a call is put on
// record in any case.
func (w *worker) step(ctx context.Context, e earshot.Event) error {
	b := e.Body.(earshot.Step)
	b.Task, b.Tokens, b.Took = w.id, w.tokens, w.took.Round(time.Millisecond)
	err := w.record(ctx, w.id, func(s State) ([]earshot.Event, error) {
		s.rest(e.Sources...)
		e.Author, e.Sources, e.Body = w.agent, s.Sources, b
		return []earshot.Event{e}, s.still(b.Act == earshot.StepOutcome)
	})
	if err == nil {
		w.tokens, w.took = 0, 0
	}
	return err
}

// inquire asks the person something, about a call if of is one.
func (w *worker) inquire(ctx context.Context, of earshot.EventID, question string) error {
	return w.step(ctx, earshot.Event{Body: earshot.Step{Act: earshot.StepQuestion, Of: of, Text: cut(earshot.Text(question), mostGoal), Told: w.NewID()}})
}

// call has a call made, if the person may have it made and the task goes on. It is on record before, as
// intent if that is given, and its outcome afterwards. It reports whether it was done.
func (w *worker) call(ctx context.Context, s *State, c llm.Call, intent earshot.EventID) (bool, error) {
	var refused error
	table := w.tools(s)
	for i, row := range table {
		table[i].Do = func(ctx context.Context, scope tool.Scope, given json.RawMessage) (tool.Answer, error) {
			if intent == "" {
				id := w.NewID()
				b := earshot.Step{Act: earshot.StepCall, Tool: row.Name, Arguments: earshot.Text(given)}
				if refused = w.step(ctx, earshot.Event{ID: id, Body: b}); refused != nil {
					return tool.Answer{}, refused // what is not on record is not done
				}
				intent = id
			}
			return row.Do(ctx, scope, given)
		}
	}
	audience := earshot.Audience{ // who will know what comes of it
		Room: s.Event.Room, Members: s.Visibility.Members, Agents: []earshot.ParticipantID{w.Speaker(s.Event.Room)}, Unknown: s.Visibility.Scope != earshot.Private,
	}
	began := w.Now()
	o := table.Do(context.WithoutCancel(ctx), tool.Scope{
		Agent: w.agent, Home: s.home(), Room: s.Event.Room, About: s.Event.ID, Askers: []participants.Participant{w.by},
		Audience: audience, Visibility: s.Visibility, Rests: func() []earshot.EventID { return s.Sources }, Budget: new(tool.Budget),
	}, c)
	w.took += w.Now().Sub(began)
	switch {
	case refused != nil:
		return false, refused
	case o.Fault != "":
		w.Log.Error("a tool broke", "tool", o.Use.Tool, "fault", o.Fault)
	}
	b := earshot.Step{Act: earshot.StepOutcome, Of: intent, Tool: o.Use.Tool, Text: o.Use.Result, Failed: o.Use.Failed || o.Use.Refused}
	if intent == "" {
		b.Arguments = o.Use.Arguments
	}
	s.rest(o.Sources...)
	s.Visibility = s.Visibility.And(o.Visibility)
	return !b.Failed, w.step(ctx, earshot.Event{Visibility: o.Visibility, Sources: o.Sources, Body: b})
}

// delegate has a helper do a part of the task, within half of what it may still take. The call and the
// helper's task are put on record in one step; the outcome comes with the end of that task.
func (w *worker) delegate(ctx context.Context, s *State, goal earshot.Text) error {
	n, left := 0, s.left()
	for _, b := range s.Steps {
		if b.Act == earshot.StepCall && b.Tool == delegateName {
			n++
		}
	}
	path, err := agents.ChildPath(s.Path, earshot.PathSub, n)
	if err != nil {
		return w.end(ctx, earshot.TaskFailed, "it takes too many helpers. "+s.Where, "")
	}
	err = w.record(ctx, w.id, func(s State) ([]earshot.Event, error) {
		call := earshot.Event{ID: w.NewID(), Author: w.agent, Sources: s.Sources, Body: earshot.Step{
			Task: w.id, Act: earshot.StepCall, Tool: delegateName, Arguments: goal, Tokens: w.tokens, Took: w.took.Round(time.Millisecond),
		}}
		helps := earshot.Event{Author: w.agent, Sources: s.Sources, Body: earshot.Task{
			Act: earshot.Created, Text: goal, Path: path, Engine: s.Engine, Model: s.Model, Tools: s.Tools, Parent: w.id, Call: call.ID,
			Budget: &earshot.Budget{Tokens: max(1, left.Tokens/2), Calls: max(1, left.Calls/2), Time: max(1, left.Time/2)},
		}}
		return []earshot.Event{call, helps}, s.still(false)
	})
	if err == nil {
		w.tokens, w.took = 0, 0
	}
	return err
}

// end ends the task, if it goes on; one that is cancelled also if it rests. What a helper's comes to is told
// to no person: it is the outcome of the call.
func (w *worker) end(ctx context.Context, act earshot.Act, text earshot.Text, file string) error {
	err := w.record(ctx, w.id, func(s State) ([]earshot.Event, error) {
		s.Took.Tokens, s.Took.Time = s.Took.Tokens+w.tokens, s.Took.Time+w.took
		b := earshot.Task{Act: act, Of: s.Event.ID, Text: cut(text, earshot.MaxText-8), Took: &s.Took, File: file}
		if s.Parent == "" && !s.Quiet {
			b.Told = w.NewID()
		}
		return []earshot.Event{{Author: cmp.Or(w.agent, w.Speaker(s.Event.Room)), Sources: s.Sources, Body: b}}, s.still(act == earshot.TaskCancelled && !s.Over)
	})
	return cmp.Or(err, errChanged)
}

// outcome returns the outcome of the call by which the helper was made whose task s ends so.
func outcome(s State, end earshot.Event) earshot.Event {
	t := end.Body.(earshot.Task)
	took := *cmp.Or(t.Took, &s.Took)
	return earshot.Event{Author: end.Author, Sources: end.Sources, Body: earshot.Step{
		Task: s.Parent, Of: s.Task.Call, Act: earshot.StepOutcome, Tool: delegateName, Failed: t.Act != earshot.TaskDone,
		Text: cut(cmp.Or(t.Text, "It was cancelled."), mostGoal), Tokens: took.Tokens, Took: took.Time, Calls: took.Calls,
	}}
}

// tell has the room tell the person what is untold, at the next gap. The ID of what is told is on record,
// so that it is told once.
func (w *worker) tell(ctx context.Context, s *State) error {
	text, answers := s.tells()
	s.rest(answers)
	return w.Keep(ctx, earshot.Event{
		ID: s.Untold, At: w.Now(), Room: s.Event.Room, From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindFinding)},
		Author: w.Speaker(s.Event.Room), To: s.Event.To, Visibility: s.Visibility, Sources: s.Sources,
		Body: earshot.Finding{Text: text, Confidence: 1, Worth: true, Until: w.Now().Add(7 * 24 * time.Hour), Answers: answers},
	})
}
