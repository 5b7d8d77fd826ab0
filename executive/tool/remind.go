package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/executive/remind"
	"earshot/participants"
)

// An Agenda is where reminders are kept. Its methods are safe for concurrent use, wait for a disk,
// and give up when ctx ends; their errors tell a model what to do instead. The scope says whose
// reminders they are: those of the person whose question is answered.
type Agenda interface {
	Set(ctx context.Context, s Scope, due time.Time, text earshot.Text) (remind.Reminder, error)
	Reminders(s Scope) []remind.Reminder
	Cancel(ctx context.Context, s Scope, n int) error
}

// Remind is the tool by which an agent sets reminders for somebody. now returns the time. One tool
// with an action takes less of a prompt than three, and small models confuse it less.
func Remind(a Agenda, now func() time.Time) Tool {
	return New("remind",
		"Reminders and timers for the person you are answering, said in this room when they are due. "+
			"To set one, give text and in_seconds or at.",
		`{"type":"object","properties":{`+
			`"action":{"type":"string","enum":["set","list","cancel"]},`+
			`"text":{"type":"string","description":"set: of what"},`+
			`"in_seconds":{"type":"integer","description":"set: from now"},`+
			`"at":{"type":"string","description":"set: or when: 15:04, or RFC 3339"},`+
			`"number":{"type":"integer","description":"cancel: as list shows it"}},`+
			`"required":["action"],"additionalProperties":false}`,
		participants.SendMessages, func(ctx context.Context, s Scope, given remindArguments) (Answer, error) {
			switch given.Action {
			case "set":
				return given.set(ctx, s, a, now())
			case "list":
				return listed(a.Reminders(s)), nil
			case "cancel":
				return Answer{Text: "It is cancelled."}, a.Cancel(ctx, s, given.Number)
			}
			return Answer{}, fmt.Errorf(`action is %q; it must be "set", "list" or "cancel"`, bounded(given.Action, mostName))
		})
}

// remindArguments are the arguments of remind.
type remindArguments struct {
	Action    string `json:"action"`
	Text      string `json:"text"`
	InSeconds int64  `json:"in_seconds"`
	At        string `json:"at"`
	Number    int    `json:"number"`
}

func (g remindArguments) set(ctx context.Context, s Scope, a Agenda, now time.Time) (Answer, error) {
	due, err := g.due(now)
	if err != nil {
		return Answer{}, err
	}
	r, err := a.Set(ctx, s, due, earshot.Text(strings.TrimSpace(g.Text)))
	if err != nil {
		return Answer{}, err
	}
	return Answer{Text: earshot.Text(fmt.Sprintf("Set as number %d, due %s. It will be said then by itself; do not wait for it.", r.N, shown(r.Due)))}, nil
}

// mostSeconds keeps a number within the range of time; the agenda refuses what is too far off.
const mostSeconds = 100 * 366 * 24 * 3600

func (g remindArguments) due(now time.Time) (time.Time, error) {
	switch {
	case (g.InSeconds != 0) == (g.At != ""):
		return time.Time{}, fmt.Errorf("give either in_seconds or at, and not both; now it is %s", now.Local().Format(time.RFC3339))
	case g.At != "":
		return remind.When(now, g.At)
	case g.InSeconds < 1 || g.InSeconds > mostSeconds:
		return time.Time{}, fmt.Errorf("in_seconds is %d; it must be from 1 to %d", g.InSeconds, 366*24*3600)
	}
	return now.Add(time.Duration(g.InSeconds) * time.Second), nil
}

// listed returns the open reminders as a model reads them, for those who may see all of them.
func listed(all []remind.Reminder) (a Answer) {
	if len(all) == 0 {
		return Answer{Text: "There are no reminders."}
	}
	var b strings.Builder
	for i, r := range all {
		fmt.Fprintf(&b, "%d. %s: %s\n", r.N, shown(r.Due), string(r.Text))
		a.Sources = append(a.Sources, r.Event.ID)
		if i == 0 {
			a.Visibility = r.Event.Visibility
		}
		a.Visibility = a.Visibility.And(r.Event.Visibility)
	}
	a.Text = earshot.Text(b.String())
	return a
}

// shown returns a time as models and people read it.
func shown(t time.Time) string { return t.Local().Format("Mon 2006-01-02 15:04:05") }
