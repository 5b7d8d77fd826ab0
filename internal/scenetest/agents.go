package scenetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/participants/agents"
)

// recalled is from how many events a dialogue is rebuilt, as in the daemon.
const recalled = 256

// staff reads the part agents, which lists the agents of a scene.
func staff(part []byte) ([]agents.Record, error) {
	var all []agents.Record
	for l := range strings.Lines(string(part)) {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		a, err := agent(l)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return nil, errors.New("nobody is in it")
	}
	return all, nil
}

// agent reads a line of it: a name, and the settings of the agent.
func agent(l string) (agents.Record, error) {
	name, rest, _ := strings.Cut(l, " ")
	id := strings.ToLower(name)
	path, err := agents.PathOf(string(participants.Owner), earshot.PathAgent, id)
	if err != nil {
		return agents.Record{}, err
	}
	a := agents.Record{
		ID: earshot.ParticipantID(id), Path: path, Kind: earshot.PathAgent, Role: earshot.RoleUser,
		Profile: earshot.Profile{Name: name, AutoReply: true},
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		var key, value string
		if key, value, rest, err = setting(rest); err != nil {
			return a, fmt.Errorf("%s: %w", name, err)
		}
		if err := set(&a.Profile, key, value); err != nil {
			return a, fmt.Errorf("%s: %w", name, err)
		}
	}
	return a, nil
}

// setting returns the key with which text begins, its value, and the text that follows. A value
// that contains spaces is in quotes. A key alone has the value true.
func setting(text string) (key, value, rest string, err error) {
	end := strings.IndexAny(text, " =")
	if end < 0 || text[end] == ' ' {
		key, rest, _ = strings.Cut(text, " ")
		return key, "true", rest, nil
	}
	key, rest = text[:end], text[end+1:]
	if !strings.HasPrefix(rest, `"`) {
		value, rest, _ = strings.Cut(rest, " ")
		return key, value, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return key, "", "", fmt.Errorf("%s has a quote without an end", key)
	}
	value, err = strconv.Unquote(quoted)
	return key, value, rest[len(quoted):], err
}

// set sets one key of an agent's profile.
func set(p *earshot.Profile, key, value string) (err error) {
	switch key {
	case "main":
		p.Main, err = strconv.ParseBool(value)
	case "auto_reply":
		p.AutoReply, err = strconv.ParseBool(value)
	case "prompt":
		p.Prompt = earshot.Text(value)
	case "description":
		p.Description = value
	case "engine":
		p.Engine = value
	case "model":
		p.Model = value
	case "rooms":
		for r := range strings.SplitSeq(value, ",") {
			p.Rooms = append(p.Rooms, earshot.RoomID(r))
		}
	default:
		err = fmt.Errorf("there is no %q", key)
	}
	return err
}

// seats returns the agents that have a seat, the main one first.
func (s *Scene) seats() []agents.Record {
	all := []agents.Record{{ID: participants.Agent, Profile: earshot.Profile{Name: s.Config.Name, AutoReply: true}}}
	for _, a := range s.Agents {
		switch {
		case !a.SitsIn(earshot.Desk):
		case a.Main:
			all = slices.Insert(all, 0, a)
		default:
			all = append(all, a)
		}
	}
	return all
}

// recall returns a function that returns what an agent may know of a journal.
func recall(journal *testkit.Journal) func(context.Context, earshot.ParticipantID) ([]earshot.Event, error) {
	return func(_ context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
		hidden := func(e earshot.Event) bool { return !e.Visibility.Allows(earshot.Audience{}.With(agent)) }
		events := slices.DeleteFunc(journal.Events(), hidden)
		return events[max(0, len(events)-recalled):], nil
	}
}
