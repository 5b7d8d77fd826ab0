package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/executive/command"
	"earshot/participants"
	"earshot/participants/agents"
)

// acts are what the command can do besides listing the agents, by its first word.
var acts = map[string]earshot.Act{"add": earshot.Created, "change": earshot.Changed, "end": earshot.Ended}

// forms are its forms.
var forms = []string{
	"/agent", "lists the agents and what they do",
	"/agent add NAME TEXT", "adds an agent; the text says what it is for",
	"/agent change NAME KEY TEXT", "changes an agent; the key is " + strings.Join(agents.Keys, ", "),
	"/agent end NAME", "ends an agent for good",
}

func agentHelp() string {
	var b strings.Builder
	for form := range slices.Chunk(forms, 2) {
		fmt.Fprintf(&b, "  %-29s %s\n", form[0], form[1])
	}
	return b.String() + "Put names of several words in quotes. Only operators of this earshot can add, change and end agents."
}

// agent lists the agents of the room, or does what the first word of its arguments says.
func (h *Commands) agent(ctx context.Context, c command.Call) (string, error) {
	what, rest := firstWord(string(c.Args))
	act, is := acts[strings.ToLower(what)]
	switch {
	case what == "":
		return h.listAgents(c.Audience), nil
	case strings.EqualFold(what, "help"):
		return agentHelp(), nil
	case !is:
		return "", fmt.Errorf("there is no /agent %s; you can write:\n%s", participants.OneLine(what), agentHelp())
	case h.Order == nil || !c.By.Can(participants.Operate):
		return "", errors.New("only operators of this earshot can add, change and end agents; ask one, or if you are one: /identity NAME")
	}
	o, sure, err := order(act, rest)
	if err != nil {
		return "", err
	}
	if !sure {
		return fmt.Sprintf("This ends %s for good, with everything it remembers; what was said stays. To confirm, write /agent end %q yes", participants.OneLine(o.Agent), participants.OneLine(o.Agent)), nil
	}
	a, err := h.Order(ctx, c.By, o)
	if err != nil {
		return "", err
	}
	return h.effect(o.Act, a), nil
}

// order returns the order in the arguments of the command, and whether it is confirmed.
func order(act earshot.Act, rest string) (o agents.Order, sure bool, err error) {
	name, rest := firstWord(rest)
	if name == "" {
		return o, false, errors.New("the name of the agent is missing; see /agent help")
	}
	o.Act, o.Agent, sure = act, name, true
	switch act {
	case earshot.Created:
		o.Agent, o.Edit.Name = "", &name
		if rest != "" {
			o.Edit.Description = &rest
		}
	case earshot.Changed:
		key, value := firstWord(rest)
		err = o.Edit.Set(key, strings.Trim(value, `"`))
	case earshot.Ended:
		sure = rest == "yes"
	}
	return o, sure, err
}

// effect describes those effects of an order that the room is not shown.
func (h *Commands) effect(act earshot.Act, a agents.Record) string {
	switch {
	case act != earshot.Ended && !a.SitsIn(h.Room):
		return fmt.Sprintf("Done. %s has no seat in this room.", a.Name)
	case act == earshot.Ended && !a.SitsIn(h.Room):
		return fmt.Sprintf("%s is no longer an agent.", a.Name)
	case act == earshot.Created:
		return fmt.Sprintf("Write @%s to call it. To set what it is told about itself: /agent change %q prompt …", a.Name, a.Name)
	}
	return ""
}

// listAgents says of each agent in the room what it is for, and what it is doing.
func (h *Commands) listAgents(a earshot.Audience) string {
	var b strings.Builder
	state := h.State(a).Agents
	for i, agent := range h.Agents() {
		var is []string
		if about := participants.OneLine(agent.Description); about != "" {
			is = append(is, about)
		}
		if i == 0 {
			is = append(is, "answers what is addressed to nobody in particular")
		}
		if at := slices.IndexFunc(state, func(s api.Seat) bool { return s.ID == agent.ID }); at >= 0 {
			is = append(is, state[at].State)
		}
		fmt.Fprintf(&b, "%s (%s)", agent.Name, strings.Join(is, "; "))
		if agent.Path != "" {
			fmt.Fprintf(&b, "  %s", agent.Path)
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// firstWord returns the first word of text, or its quoted beginning, and the rest.
func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		word, rest, _ = strings.Cut(quoted, `"`)
		return strings.TrimSpace(word), strings.TrimSpace(rest)
	}
	end := strings.IndexAny(text, " \t\n")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimSpace(text[end:])
}
