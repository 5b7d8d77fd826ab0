package room

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
func (r *Room) why(ctx context.Context, c command.Call) (string, error) {
	q, err := r.asks(c.Args)
	if err != nil {
		return "", err
	}
	several := len(r.agents()) > 1
	var all []api.ExplainedDecision
	if r.cfg.Decided != nil {
		if all, err = explain.Tell(ctx, r.cfg.Decided(c.Audience), q, r.cfg.People.Name); err != nil {
			return "", err
		}
	}
	if len(all) == 0 {
		return "No decision has been made yet.", nil
	}
	return explain.Text(all, r.cfg.Now().Location(), several), nil
}

// asks returns which decisions somebody asks for: a number, the name of an agent, or both.
func (r *Room) asks(args earshot.Text) (explain.Query, error) {
	q := explain.Query{Last: usualWhy}
	for word := range strings.FieldsSeq(string(args)) {
		if n, err := strconv.Atoi(word); err == nil && n > 0 {
			q.Last = min(n, mostWhy)
			continue
		}
		who, known := r.addressing.Find(strings.TrimPrefix(word, "@"))
		if !known || who.Type != participants.Internal {
			return q, fmt.Errorf("there is no agent of that name; write /why, /why 10 or /why %s", r.agents()[0].Name)
		}
		q.Agent = who.ID
	}
	return q, nil
}
