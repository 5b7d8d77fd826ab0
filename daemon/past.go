package daemon

import (
	"context"
	"errors"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/executive/explain"
	"earshot/internal/search"
	"earshot/participants"
)

// Past implements [server.Journal].
func (h backend) Past(ctx context.Context, a earshot.Audience, kinds []earshot.Kind, before int64, limit int) ([]earshot.Event, error) {
	return h.daemon.store.For(a).Page(ctx, kinds, before, limit)
}

// Search implements [server.Journal].
func (h backend) Search(ctx context.Context, a earshot.Audience, query string, before int64, limit int) ([]earshot.Event, error) {
	q, err := search.Parse(query, time.Now())
	if err != nil {
		return nil, err
	}
	var me earshot.ParticipantID
	if len(a.Members) > 0 {
		me = a.Members[0]
	}
	from, err := access.Identities(h.daemon.people, me, q.From)
	if err != nil {
		return nil, err
	}
	return h.daemon.store.For(a).Match(ctx, q, from, before, limit)
}

// Decisions implements [server.Journal].
func (h backend) Decisions(ctx context.Context, a earshot.Audience, agent string, before int64, limit int) ([]api.ExplainedDecision, error) {
	q := explain.Query{Before: before, Last: limit}
	if agent != "" {
		p, ok := h.daemon.people.Find(agent)
		if !ok || p.Type != participants.Internal {
			return nil, errors.New("there is no agent of that name; see: earshot agents")
		}
		q.Agent = p.ID
	}
	return explain.Tell(ctx, h.daemon.store.For(a), q, h.daemon.people.Name)
}
