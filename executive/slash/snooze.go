package slash

import (
	"context"
	"errors"
	"strings"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/remind"
	"earshot/participants"
)

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
	if c.By.ID == participants.Generic {
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
