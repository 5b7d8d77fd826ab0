package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/remind"
	"earshot/executive/revision"
	"earshot/participants"
)

// note records a memo for everybody here to see.
func (h *Commands) note(ctx context.Context, c command.Call) (string, error) {
	text, err := dialogue.Wording(c.Args, revision.MaxMemo)
	switch {
	case len(c.Args) > revision.MaxMemo:
		return "", fmt.Errorf("the note has %d bytes, and at most %d are possible; use fewer words", len(c.Args), revision.MaxMemo)
	case err != nil:
		return "", errors.New("what shall I keep in mind? Write: /note TEXT")
	case participants.Unnamed(c.By.ID):
		return "", errors.New("a note needs an author; say who you are with --identity NAME")
	}
	e := c.Event
	e.Body, e.Author, e.To = earshot.Memo{Text: text}, c.By.ID, nil
	e.Visibility = earshot.Visibility{Scope: earshot.Public}
	return "", h.Keep(ctx, e)
}

var errNobodyReminds = errors.New("a reminder needs somebody to remind; say who you are with --identity NAME")

func (h *Commands) remind(ctx context.Context, c command.Call) (string, error) {
	if participants.Unnamed(c.By.ID) {
		return "", errNobodyReminds
	}
	args := strings.TrimSpace(string(c.Args))
	first, rest, _ := strings.Cut(args, " ")
	switch {
	case first == "":
		return h.listReminders(c), nil
	case strings.EqualFold(first, "cancel"):
		return h.cancelReminder(ctx, c, rest)
	}
	due, of, err := remind.Parse(h.Now(), args)
	if err != nil {
		return "", err
	}
	e := c.Event
	e.Author, e.Via, e.Visibility = h.Agents()[0].ID, "", earshot.Visibility{Scope: earshot.Public} // the agent that will say it
	e.Body = earshot.Reminder{Act: earshot.Created, Due: due, Text: dialogue.OneLine(earshot.Text(of))}
	_, err = h.SetReminder(ctx, c.By.ID, e)
	return "", err // everybody is shown it
}

// listReminders lists somebody's open reminders, as far as the readers of the answer may know them.
func (h *Commands) listReminders(c command.Call) string {
	var b strings.Builder
	for _, has := range h.Reminders.Of(c.By.ID, c.Audience) {
		fmt.Fprintf(&b, "%3d  %s  %s\n", has.N, has.Due.Local().Format("Mon 2006-01-02 15:04:05"), string(has.Text))
	}
	if b.Len() == 0 {
		return "You have no reminders; /remind 10m TEXT sets one."
	}
	return strings.TrimRight(b.String(), "\n")
}

func (h *Commands) cancelReminder(ctx context.Context, c command.Call, number string) (string, error) {
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return "", errors.New("which reminder? Write /remind cancel N, with the number that /remind shows")
	}
	return "", h.CancelReminder(ctx, c.By.ID, n, c.Audience, func(body earshot.Body) earshot.Event {
		e := c.Event
		e.Author, e.Via, e.Body = h.Agents()[0].ID, "", body
		return e
	})
}

const (
	// snoozes is how long /snooze lasts without an argument.
	snoozes = time.Hour

	// farSnooze is the longest snooze.
	farSnooze = 7 * 24 * time.Hour
)

// snooze answers /snooze: the agent does not speak unasked for a while.
func (h *Commands) snooze(ctx context.Context, c command.Call) (string, error) {
	if !h.concerns(c.By) {
		return "", errors.New("only somebody in the room can tell me not to speak up there")
	}
	until, err := until(c.Event.At, strings.TrimSpace(string(c.Args)))
	if err != nil {
		return "", err
	}
	e := c.Event
	e.Author, e.Via, e.To, e.Visibility, e.Body = c.By.ID, "", nil, earshot.Visibility{Scope: earshot.Public}, earshot.Snooze{Until: until}
	if participants.Unnamed(c.By.ID) {
		e.Author = ""
	}
	return "", h.Keep(ctx, e) // everybody is shown it
}

// until returns when a snooze ends that begins at now; the zero Time if it ends at once.
func until(now time.Time, args string) (time.Time, error) {
	switch {
	case args == "":
		return now.Add(snoozes), nil
	case strings.EqualFold(args, "off"):
		return time.Time{}, nil
	}
	at, err := remind.When(now, args)
	switch {
	case err != nil:
		return at, errors.New("for how long? write /snooze 30m, /snooze 15:04, or /snooze off")
	case at.Sub(now) > farSnooze:
		return at, errors.New("that is too long: at most a week; to turn it off for good, set executive.attention.speak_unasked to false")
	case !at.After(now):
		return at, errors.New("that time has passed; write /snooze 30m, /snooze 15:04, or /snooze off")
	}
	return at, nil
}
