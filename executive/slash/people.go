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

// merge makes two participants one person.
func (h *Commands) merge(ctx context.Context, c command.Call) (string, error) {
	named, err := h.named(namesIn(string(c.Args)), 2, "/merge KEEP OTHER")
	if err != nil {
		return "", err
	}
	keep, other := named[0], named[1]
	if err := h.People.Merge(ctx, c.By, keep.ID, other.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is now %s; /split %q undoes that.", other.Name, keep.Name, other.Name), nil
}

func (h *Commands) split(ctx context.Context, c command.Call) (string, error) {
	named, err := h.named([]string{strings.Join(namesIn(string(c.Args)), " ")}, 1, "/split NAME")
	if err != nil {
		return "", err
	}
	other := named[0]
	if other.Through != "" {
		other.ID = other.Through
	}
	if err := h.People.Split(ctx, c.By, other.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is a separate person again.", h.People.Name(other.ID)), nil
}

// rename gives somebody another name, and tells the room.
func (h *Commands) rename(ctx context.Context, c command.Call) (string, error) {
	const form = "/rename NAME TO NAME"
	words := namesIn(string(c.Args))
	at := -1
	for i, w := range words {
		if strings.EqualFold(w, "to") && i > 0 && i < len(words)-1 {
			at = i
			break
		}
	}
	if at < 0 {
		return "", errors.New("write " + form)
	}
	named, err := h.named([]string{strings.Join(words[:at], " ")}, 1, form)
	if err != nil {
		return "", err
	}
	was := named[0]
	if err := h.People.Rename(ctx, c.By, was.ID, strings.Join(words[at+1:], " ")); err != nil {
		return "", err
	}
	h.Mention(fmt.Sprintf("%s is now called %s.", was.Name, h.People.Name(was.ID)))
	return "", nil
}

// named returns the participants with these names, as many as wanted.
func (h *Commands) named(list []string, want int, form string) (all []participants.Participant, err error) {
	if len(list) != want {
		return nil, fmt.Errorf("write %s; put names of several words in quotes", form)
	}
	for _, name := range list {
		p, ok := h.People.Find(name)
		if !ok {
			return nil, fmt.Errorf("nobody is called %s%s", participants.OneLine(name), h.Addressing.Meant(name))
		}
		all = append(all, p)
	}
	return all, nil
}

// namesIn returns the names in text: separated by commas if there are any, otherwise words, where
// quoted words are one name.
func namesIn(text string) (list []string) {
	if strings.Contains(text, ",") {
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, strings.Trim(strings.TrimSpace(part), `"`))
		}
		return list
	}
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}
