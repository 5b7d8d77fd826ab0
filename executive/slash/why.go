package slash

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/executive/command"
	"earshot/executive/explain"
	"earshot/participants"
)

const (
	// usualWhy is how many decisions are shown by default: as many as one reads at a glance.
	usualWhy = 5

	// mostWhy is the most that are shown at once: some screens.
	mostWhy = 50
)

// why says why the agents spoke or stayed silent.
func (h *Commands) why(ctx context.Context, c command.Call) (string, error) {
	q, err := h.asks(c.Args)
	if err != nil {
		return "", err
	}
	several := len(h.Agents()) > 1
	var all []api.ExplainedDecision
	if h.Decided != nil {
		if all, err = explain.Tell(ctx, h.Decided(c.Audience), q, h.People.Name); err != nil {
			return "", err
		}
	}
	if len(all) == 0 {
		return "No decision has been made yet.", nil
	}
	return explain.Text(all, h.Now().Location(), several), nil
}

// asks returns which decisions somebody asks for: a number, the name of an agent, or both.
func (h *Commands) asks(args earshot.Text) (explain.Query, error) {
	q := explain.Query{Last: usualWhy}
	for word := range strings.FieldsSeq(string(args)) {
		if n, err := strconv.Atoi(word); err == nil && n > 0 {
			q.Last = min(n, mostWhy)
			continue
		}
		who, known := h.Addressing.Find(strings.TrimPrefix(word, "@"))
		if !known || who.Type != participants.Internal {
			return q, fmt.Errorf("there is no agent of that name; write /why, /why 10 or /why %s", h.Agents()[0].Name)
		}
		q.Agent = who.ID
	}
	return q, nil
}
