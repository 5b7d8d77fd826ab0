package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/tool"
	"earshot/participants"
)

// Arguments are what a person wants of a task.
type arguments struct {
	Action string `json:"action"`
	Number int    `json:"number"`
	Text   string `json:"text"`
}

// acts are what people do to tasks.
var acts = map[string]earshot.Act{
	"pause": earshot.TaskPaused, "resume": earshot.TaskResumed, "cancel": earshot.TaskCancelled, "steer": earshot.TaskSteered, "answer": earshot.TaskAnswered,
}

// Command returns the command of a room by which people set and follow tasks.
func (r *Runner) Command(room earshot.RoomID) command.Command {
	return command.Command{
		Group: "What is kept", Name: "task", Args: "[start GOAL | N [answer TEXT | …]]", Needs: participants.SendMessages,
		Help: "work beside the talk; N: how far it is; N steer TEXT, N pause, N resume, N cancel",
		Do: func(ctx context.Context, c command.Call) (string, error) {
			c.Audience.Room = room
			first, rest, _ := strings.Cut(strings.TrimSpace(string(c.Args)), " ")
			second, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
			given := arguments{cmp.Or(first, "list"), 0, rest}
			if n, err := strconv.Atoi(first); err == nil { // N VERB is VERB N
				given = arguments{cmp.Or(second, "show"), n, text}
			} else if n, err := strconv.Atoi(second); err == nil && first != "start" {
				given = arguments{first, n, text}
			}
			said, _, err := r.grant(ctx, c.By, earshot.Event{Room: room, Visibility: earshot.Visibility{Scope: earshot.Public}}, c.Audience, given)
			return said, err
		},
	}
}

// ToolName is the name of [Runner.Tool].
const ToolName = "task"

// Tool returns the tool by which an agent in talk does the same for the one person whom it answers.
func (r *Runner) Tool() tool.Tool {
	return tool.New(ToolName, "Work of minutes to days beside the talk, for the person you are answering. Its result is told by itself; do not wait.",
		`{"type":"object","properties":{"action":{"type":"string","enum":["start","list","show","steer","answer","pause","resume","cancel"]},`+
			`"number":{"type":"integer","description":"as list shows it"},`+
			`"text":{"type":"string","description":"start: what to do, and all that must be known; steer, answer: what they say"}},`+
			`"required":["action"],"additionalProperties":false}`,
		participants.SendMessages, func(ctx context.Context, s tool.Scope, given arguments) (a tool.Answer, err error) {
			if len(s.Askers) != 1 {
				return a, tool.Refuse("a task is for one person, and several ask here; one of them can write /task")
			}
			said, shown, err := r.grant(ctx, s.Askers[0], earshot.Event{Room: s.Room, Visibility: s.Visibility, Sources: s.Rests()}, s.Audience, given)
			a.Text, a.Visibility = earshot.Text(said), s.Visibility
			for _, t := range shown {
				a.Visibility, a.Sources = a.Visibility.And(t.Visibility), append(a.Sources, t.Sources...)
			}
			return a, err
		})
}

// grant does what somebody wants, and returns what to tell an audience, and the tasks of which that tells.
// from has the room in which they want it, who may see that, and what it rests on.
func (r *Runner) grant(ctx context.Context, by participants.Participant, from earshot.Event, to earshot.Audience, given arguments) (said string, shown []State, err error) {
	var started earshot.EventID
	if given.Action == "start" {
		draft := from
		draft.Body = earshot.Task{Text: earshot.Text(given.Text)}
		var e earshot.Event
		if e, err = r.New(by, draft); err == nil {
			_, err = r.Journal.Do(ctx, func(earshot.View) ([]earshot.Event, error) { return []earshot.Event{e}, nil })
		}
		started = e.ID
		r.Wake()
	}
	all, bad := r.read(ctx, inRoom, from.Room, from.Room)
	if err = cmp.Or(err, bad); err != nil {
		return "", nil, err
	}
	all = slices.DeleteFunc(all, func(s State) bool { return !s.Visibility.Allows(to) && s.Event.ID != started })
	i := slices.IndexFunc(all, func(s State) bool { return s.N == given.Number || s.Event.ID == started })
	switch act := acts[given.Action]; {
	case given.Action == "list":
		said = "The tasks; /task start GOAL sets one:"
		for _, s := range all {
			said += "\n" + s.progress()
		}
		return said, all, nil
	case act == "" && given.Action != "show" && given.Action != "start":
		return "", nil, errors.New("write /task, /task start GOAL, /task N, or /task N answer TEXT, steer TEXT, pause, resume or cancel")
	case i < 0:
		return "", nil, fmt.Errorf("there is no task %d, or none that everybody may know who reads the answer; /task lists them", given.Number)
	case given.Action == "start":
		return fmt.Sprintf("It is task %d. What comes of it is told when it is done.", all[i].N), nil, nil
	case act == "":
		return all[i].show(), all[i : i+1], nil
	default:
		return "It is noted.", nil, r.change(ctx, by, from, all[i].Event.ID, act, earshot.Text(strings.TrimSpace(given.Text)))
	}
}

// change puts on record what a person does to a task.
func (r *Runner) change(ctx context.Context, by participants.Participant, from earshot.Event, id earshot.EventID, act earshot.Act, text earshot.Text) error {
	err := r.record(ctx, id, func(s State) ([]earshot.Event, error) {
		speaks, why := act == earshot.TaskSteered || act == earshot.TaskAnswered, ""
		is, _ := r.Person(s.Whose()) // since then, they may have turned out to be somebody else
		switch {
		case by.ID == "" || by.ID != s.Whose() && by.ID != is.ID && !by.Can(participants.Operate) || by.ByVoice || by.Voice():
			why = "only whom it is for and operators can change a task, in writing; ask them"
		case text != "" && r.Mode(s.Event.Room) == earshot.OffRecord:
			why = errOff.Error()
		case s.Over:
			why = "the task is over; /task start GOAL sets another"
		case len(text) > mostGoal || speaks && text == "":
			why = fmt.Sprintf("the text has %d bytes; it must have from 1 to %d", len(text), mostGoal)
		case act == earshot.TaskAnswered && s.Question.ID == "":
			why = "the task asks nothing now; /task N steer TEXT tells it something"
		}
		if why != "" {
			return nil, errors.New(why)
		}
		return []earshot.Event{{
			Author: by.ID, Visibility: from.Visibility, Sources: append(from.Sources, s.Event.ID),
			Body: earshot.Task{Act: act, Of: id, Text: text, Question: s.Question.ID},
		}}, nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop := r.working[id]; stop != nil {
		stop() // it is to look again at what is on record
	}
	r.Wake()
	return err
}
