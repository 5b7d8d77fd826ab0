package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/language"
	"earshot/participants"
)

// Recipients returns the live agents to which somebody may post a message at an address, sorted by
// path: a path, the ID of an agent, or a pattern, which is a path with * for some whole words. A
// path or an ID is one agent, and nobody else stands in for it. Of those that match a pattern, the
// ones that may not be posted to are left out. There is at least one, or an error.
//
// Everybody may post to the agents of the owner, as they may call them by name. The agents of a
// subuser are for that user and for operators.
func (b *Directory) Recipients(ctx context.Context, by participants.Participant, to string) ([]Record, error) {
	if strings.Contains(to, "*") {
		return b.matching(by, to)
	}
	r, err := b.addressed(ctx, by, to)
	if err == nil {
		err = b.maySend(by, r)
	}
	return []Record{r}, err
}

// addressed returns the live agent with a path or an ID.
func (b *Directory) addressed(ctx context.Context, by participants.Participant, to string) (r Record, err error) {
	if strings.HasPrefix(to, "/") {
		at, err := ParsePath(earshot.Path(to))
		if err != nil {
			return r, err
		}
		if r, err = b.Resolve(ctx, earshot.Path(to)); err != nil { // of some kinds, none could be posted to either
			err = cmp.Or(answers(Record{Path: earshot.Path(to), Kind: at.Kind}), err)
		}
		if at.Kind == earshot.PathConnector && r.Name == "" && slices.Contains(Connectors, at.Name) && at.User == string(participants.Owner) {
			r, _ = b.ByID(participants.Agent) // who is met there
			return r, nil
		}
		return r, b.suggest(by, to, err)
	}
	if r, lives := b.ByID(earshot.ParticipantID(to)); lives {
		return r, nil
	}
	err = b.viewer.Look(ctx, func(v earshot.View) error {
		was, known, err := called(ctx, v, earshot.ParticipantID(to))
		if known {
			err = dead(was.Path)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	return r, b.suggest(by, to, participants.Refuse(ErrUnknown, fmt.Sprintf("no agent has the ID %q", shown(earshot.Path(to))), "write its path, such as /owner/agent/coder; to list them: earshot agents"))
}

// matching returns the agents that match a pattern and may be posted to.
func (b *Directory) matching(by participants.Participant, pattern string) (all []Record, err error) {
	words := strings.Split(pattern, "/")
	if words[0] != "" || slices.ContainsFunc(words, func(w string) bool { return w != "*" && strings.Contains(w, "*") }) || len(pattern) > longestPath {
		return nil, participants.Refuse(ErrPath, fmt.Sprintf("%q is not a pattern", shown(earshot.Path(pattern))), "write a path with * for whole words of it, such as /owner/agent/*")
	}
	err = participants.Refuse(ErrUnknown, fmt.Sprintf("there is no agent that matches %q", shown(earshot.Path(pattern))), "list the agents: earshot agents")
	for _, r := range b.List() {
		is := strings.Split(string(r.Path), "/")
		if !slices.EqualFunc(words, is, func(w, is string) bool { return w == "*" || w == is }) {
			continue
		}
		if may := b.maySend(by, r); may != nil {
			err = may
		} else {
			all = append(all, r)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

// maySend says why somebody may not post to an agent; nil if they may.
func (b *Directory) maySend(by participants.Participant, to Record) error {
	switch {
	case by.ID == "":
		return participants.Refuse(ErrNotYours, "a message to an address needs a sender", "say who you are first: earshot chat --identity NAME")
	case to.User != "" && to.User != participants.Owner && to.User != by.ID && !by.Can(participants.Operate):
		return participants.Refuse(ErrNotYours, fmt.Sprintf("the agent at %q belongs to another user, %s", to.Path, to.User), "call it by its name in a room where it sits, or ask an operator")
	}
	return answers(to)
}

// silent are the kinds of agents that answer nobody, with what they do instead.
var silent = map[earshot.PathKind]string{
	earshot.PathMemory: "remembers for another agent",
	earshot.PathSearch: "looks something up for another agent",
	earshot.PathSystem: "is a part of earshot itself",
}

// answers says why an agent of a kind answers nobody; nil if it may answer.
func answers(r Record) error {
	does, cure := silent[r.Kind], "list the agents: earshot agents"
	if up := ParentPath(r.Path); up != "" {
		cure = "write to the agent that it works for: " + string(up)
	}
	if does == "" {
		return nil
	}
	return participants.Refuse(ErrNotYours, fmt.Sprintf("nobody can write to %q: it %s, and answers nobody", shown(r.Path), does), cure)
}

// suggest adds the nearest address to an error that says that there is no agent at to: of those
// that somebody may post to, by path or by name.
func (b *Directory) suggest(by participants.Participant, to string, err error) error {
	if err == nil || !errors.Is(err, ErrUnknown) {
		return err
	}
	word := to[strings.LastIndex(to, "/")+1:]
	best, least := earshot.Path(""), max(1, len(word)/3)+1
	for _, r := range b.List() {
		far := min(language.EditsAndSwaps([]byte(to), []byte(r.Path)), language.EditsAndSwaps([]rune(participants.Key(to)), []rune(participants.Key(r.Name))))
		if len(to) <= longestPath && far < least && b.maySend(by, r) == nil {
			best, least = r.Path, far
		}
	}
	if best == "" {
		return err
	}
	return participants.Refuse(ErrUnknown, err.Error(), "perhaps you mean "+string(best)+"; to list the agents: earshot agents")
}
