package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/remind"
	"earshot/participants"
)

var errNobodyReminds = errors.New("a reminder needs somebody to remind; say who you are with --identity NAME")

// remind answers /remind.
func (h *Commands) remind(ctx context.Context, c command.Call) (string, error) {
	if c.By.ID == participants.Generic {
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

// cancelReminder gives up one of them.
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
