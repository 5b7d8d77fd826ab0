package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"earshot/executive/command"
	"earshot/participants"
)

var errNoSession = errors.New("you can become somebody else only at your own terminal; start one: earshot chat --identity NAME")

// identity says who somebody is, or makes their terminal somebody else's.
func (h *Commands) identity(ctx context.Context, c command.Call) (string, error) {
	name := strings.TrimSpace(string(c.Args))
	if name == "" {
		return h.whoami(c), nil
	}
	session, ok := h.People.At(c.Event.Via)
	if !ok || c.Event.Via == "" || session.Participant != c.By.ID {
		return "", errNoSession
	}
	who, err := h.claim(ctx, session, name)
	switch {
	case err != nil:
		return "", err
	case who.ID == session.Participant:
		return fmt.Sprintf("You are already %s.", who.Name), nil
	}
	if err := h.Become(ctx, c, session, who); err != nil {
		return "", err
	}
	return fmt.Sprintf("You are now %s. What %s wrote stays theirs.", who.Name, c.By.Name), nil
}

// claim returns who somebody at a session is when they give a name. A command proves nothing.
func (h *Commands) claim(ctx context.Context, session participants.Session, name string) (participants.Participant, error) {
	if _, known := h.People.Find(name); !known && h.Enters != nil { // a closed door makes nobody known
		if err := h.Enters(participants.Participant{}); err != nil {
			return participants.Participant{}, err
		}
	}
	who, err := h.People.Claim(ctx, session.Account, name, nil)
	if errors.Is(err, participants.ErrToken) {
		return who, fmt.Errorf("%w; start a terminal with the token: EARSHOT_TOKEN=… earshot chat --identity NAME", err)
	}
	if err == nil && h.Enters != nil {
		err = h.Enters(who)
	}
	return who, err
}

// whoami tells somebody who they are.
func (h *Commands) whoami(c command.Call) string {
	if c.By.ID == "" {
		return fmt.Sprintf("I do not know who %s is.", c.Event.From)
	}
	by := "known by " + c.Event.From.String()
	if s, ok := h.People.At(c.Event.Via); ok && s.Account != c.Event.From {
		by = "by name, at a terminal of " + s.Account.String()
	}
	text := fmt.Sprintf("You are %s, %s.", c.By.Name, by)
	if c.By.Can(participants.Operate) {
		text += " You are an operator of this earshot."
	}
	return text
}
