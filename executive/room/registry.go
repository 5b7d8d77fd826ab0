package room

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/participants"
)

// This file has the commands by which the operator says who is who.

// merge makes two participants one person.
func (r *Room) merge(ctx context.Context, c command.Call) (string, error) {
	named, err := r.named(namesIn(string(c.Args)), 2, "/merge KEEP OTHER")
	if err != nil {
		return "", err
	}
	keep, other := named[0], named[1]
	if err := r.cfg.People.Merge(ctx, c.By, keep.ID, other.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is now %s; /split %q undoes that.", other.Name, keep.Name, other.Name), nil
}

// split undoes a merger.
func (r *Room) split(ctx context.Context, c command.Call) (string, error) {
	named, err := r.named([]string{strings.Join(namesIn(string(c.Args)), " ")}, 1, "/split NAME")
	if err != nil {
		return "", err
	}
	other := named[0]
	if other.Through != "" {
		other.ID = other.Through
	}
	if err := r.cfg.People.Split(ctx, c.By, other.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is a separate person again.", r.cfg.People.Name(other.ID)), nil
}

// rename gives somebody another name, and tells the room.
func (r *Room) rename(ctx context.Context, c command.Call) (string, error) {
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
	named, err := r.named([]string{strings.Join(words[:at], " ")}, 1, form)
	if err != nil {
		return "", err
	}
	was := named[0]
	if err := r.cfg.People.Rename(ctx, c.By, was.ID, strings.Join(words[at+1:], " ")); err != nil {
		return "", err
	}
	r.show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{
		Text: fmt.Sprintf("%s is now called %s.", was.Name, r.cfg.People.Name(was.ID)),
	}))
	return "", nil
}

// named returns the participants with these names, as many as wanted.
func (r *Room) named(list []string, want int, form string) (all []participants.Participant, err error) {
	if len(list) != want {
		return nil, fmt.Errorf("write %s; put names of several words in quotes", form)
	}
	for _, name := range list {
		p, ok := r.cfg.People.Find(name)
		if !ok {
			return nil, fmt.Errorf("nobody is called %s%s", participants.OneLine(name), r.addressing.Meant(name))
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
