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

// A wish is what a person wants of a task, by themselves or by an agent.
type wish struct {
	arguments
	Order    // by whom, and what they start
	audience earshot.Audience
}

// The arguments of [Runner.Tool].
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
			w := wish{audience: c.Audience, Order: Order{By: c.By, Room: room, Visibility: earshot.Visibility{Scope: earshot.Public}}}
			first, rest, _ := strings.Cut(strings.TrimSpace(string(c.Args)), " ")
			second, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
			w.Action, w.arguments.Text = cmp.Or(first, "list"), rest
			if n, err := strconv.Atoi(first); err == nil { // N VERB is VERB N
				w.arguments = arguments{cmp.Or(second, "show"), n, text}
			} else if n, err := strconv.Atoi(second); err == nil && first != "start" {
				w.arguments = arguments{first, n, text}
			}
			said, _, err := r.grant(ctx, w)
			return said, err
		},
	}
}

// ToolName is the name of [Runner.Tool].
const ToolName = "task"

// Tool returns the tool by which an agent in talk does the same for the one person whom it answers.
func (r *Runner) Tool() tool.Tool {
	return tool.New(ToolName, "Work that takes minutes to days and goes on beside the talk, for the person you are answering. What comes of it is told by itself; do not wait for it.",
		`{"type":"object","properties":{"action":{"type":"string","enum":["start","list","show","steer","answer","pause","resume","cancel"]},`+
			`"number":{"type":"integer","description":"of the task, as list shows it; not for start"},`+
			`"text":{"type":"string","description":"start: what is to be done, all that one must know; steer, answer: what they say"}},`+
			`"required":["action"],"additionalProperties":false}`,
		participants.SendMessages, func(ctx context.Context, s tool.Scope, given arguments) (a tool.Answer, err error) {
			if len(s.Askers) != 1 {
				return a, tool.Refuse("a task is for one person, and several ask here; one of them can write /task")
			}
			w := wish{given, Order{By: s.Askers[0], Room: s.Room, Visibility: s.Visibility}, s.Audience}
			if s.Rests != nil {
				w.Sources = slices.Clone(s.Rests())
			}
			said, shown, err := r.grant(ctx, w)
			a.Text, a.Visibility = earshot.Text(said), s.Visibility
			for _, t := range shown {
				a.Visibility, a.Sources = a.Visibility.And(t.Visibility), append(a.Sources, t.Sources...)
			}
			return a, err
		})
}

// grant does what somebody wants, and returns what to tell them, and the tasks of which that tells.
func (r *Runner) grant(ctx context.Context, w wish) (string, []State, error) {
	id := earshot.EventID("")
	if w.Task.Text = earshot.Text(w.arguments.Text); w.Action == "start" {
		e, err := r.New(w.Order)
		if err == nil {
			_, err = r.Journal.Do(ctx, func(earshot.View) ([]earshot.Event, error) { return []earshot.Event{e}, nil })
		}
		if err != nil {
			return "", nil, err
		}
		r.mu.Lock()
		r.open++ // until it is looked again
		r.mu.Unlock()
		r.Wake()
		id = e.ID
	}
	all, err := r.read(ctx, inRoom, w.Room, w.Room)
	if err != nil {
		return "", nil, err
	}
	all = slices.DeleteFunc(all, func(s State) bool { return !s.Visibility.Allows(w.audience) && s.Event.ID != id })
	i := slices.IndexFunc(all, func(s State) bool { return s.N == w.Number || s.Event.ID == id })
	to := acts[w.Action]
	switch {
	case w.Action == "list" && len(all) == 0:
		return "There are no tasks; /task start GOAL sets one.", nil, nil
	case w.Action == "list":
		var lines []string
		for _, s := range all {
			lines = append(lines, s.progress())
		}
		return strings.Join(lines, "\n"), all, nil
	case to == "" && w.Action != "show" && w.Action != "start":
		return "", nil, errors.New("write /task, /task start GOAL, /task N, or /task N answer TEXT, steer TEXT, pause, resume or cancel")
	case i < 0:
		return "", nil, fmt.Errorf("there is no task %d, or none that everybody may know who reads the answer; /task lists them", w.Number)
	case w.Action == "start":
		return fmt.Sprintf("It is task %d. What comes of it is told when it is done.", all[i].N), nil, nil
	case to == "":
		return all[i].show(), all[i : i+1], nil
	}
	return "It is noted.", nil, r.change(ctx, w, all[i].Event.ID, to)
}

// change puts on record what a person does to a task.
func (r *Runner) change(ctx context.Context, w wish, id earshot.EventID, to earshot.Act) error {
	by, text := w.By, earshot.Text(strings.TrimSpace(w.arguments.Text))
	err := r.record(ctx, id, func(s State) (earshot.Event, error) {
		b, speaks := earshot.Task{Act: to, Of: id, Text: text}, to == earshot.TaskSteered || to == earshot.TaskAnswered
		switch {
		case by.ID == "" || by.ID != s.Whose() && !by.Can(participants.Operate) || by.ByVoice || by.Voice():
			return earshot.Event{}, errors.New("only whom it is for and operators can change a task, in writing; ask them")
		case text != "" && r.Mode(s.Event.Room) == earshot.OffRecord:
			return earshot.Event{}, errOff
		case s.Over:
			return earshot.Event{}, errors.New("the task is over; /task start GOAL sets another")
		case len(text) > mostGoal || speaks && text == "":
			return earshot.Event{}, fmt.Errorf("the text has %d bytes; it must have from 1 to %d", len(text), mostGoal)
		case to == earshot.TaskAnswered && s.Question.ID == "":
			return earshot.Event{}, errors.New("the task asks nothing now; /task N steer TEXT tells it something")
		case to == earshot.TaskAnswered:
			b.Question = s.Question.ID
		case to == earshot.TaskCancelled:
			b.Took = &s.Took
		}
		return earshot.Event{Author: by.ID, Visibility: w.Visibility, Sources: append(w.Sources, s.Event.ID), Body: b}, nil
	})
	r.mu.Lock()
	if stop := r.working[id]; stop != nil {
		stop() // it is to look again at what is on record
	}
	r.mu.Unlock()
	r.Wake()
	return err
}
