package main

import (
	"context"
	"errors"
	"slices"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/internal/search"
	"earshot/internal/transcript"
	"earshot/participants"
	"earshot/server/attach"
	"earshot/server/client"
)

// A searcher is a [transcript.Source] that can be searched, the newest first; see [journalPast] and [remote].
type searcher interface {
	transcript.Source
	Search(ctx context.Context, q search.Query, n int) ([]earshot.Event, error)
}

// onePage is how much an earshot is asked for at once, which is the most that it
// tells.
const onePage = 200

// A remote is the past of an earshot that is asked. It is for one goroutine.
type remote struct {
	client *client.Client
	names  *attach.Names
	seen   map[earshot.EventID]earshot.Event
}

// asks reports whether an earshot that runs is asked for the past: one elsewhere, or the one
// here where the configuration cannot say where the journal is and who may read what.
func (a *app) asks() bool {
	_, err := config.Load(a.file)
	return a.API != "" || err != nil
}

// away comes to the earshot that is to be asked.
func (a *app) away(as reading) (*remote, api.Status, error) {
	c, s, err := a.reach(as.identityFlags, as.Room)
	if errors.Is(err, client.ErrNotRunning) && a.warned {
		_, err = a.config()
	}
	return &remote{client: c, names: names(s), seen: make(map[earshot.EventID]earshot.Event)}, s, err
}

// Last implements [chronicle].
func (w *remote) Last(ctx context.Context, kinds []earshot.Kind, n int) ([]earshot.Event, error) {
	all, err := w.pages(n, func(before int64, limit int) (api.HistoryPage, error) {
		p, err := w.client.History(ctx, kinds, before, limit)
		slices.Reverse(p.Events)
		return p, err
	})
	slices.Reverse(all)
	return all, err
}

// Search implements [searcher].
func (w *remote) Search(ctx context.Context, q search.Query, n int) ([]earshot.Event, error) {
	return w.pages(n, func(before int64, limit int) (api.HistoryPage, error) {
		return w.client.Search(ctx, q.String(), before, limit)
	})
}

// Find implements [chronicle], of what it was told already: an earshot is not asked for single
// events.
func (w *remote) Find(_ context.Context, ids []earshot.EventID) (found []earshot.Event, _ error) {
	for _, id := range ids {
		if e, ok := w.seen[id]; ok {
			found = append(found, e)
		}
	}
	return found, nil
}

// pages asks for the newest n events, the newest first.
func (w *remote) pages(n int, ask func(before int64, limit int) (api.HistoryPage, error)) (all []earshot.Event, err error) {
	for before := int64(0); len(all) < n; {
		p, err := ask(before, min(n-len(all), onePage))
		if err != nil {
			return all, err
		}
		w.names.Learn(p.Names)
		for _, e := range p.Events {
			w.seen[e.ID] = e
		}
		all = append(all, p.Events...)
		if before = p.Before; before == 0 {
			break
		}
	}
	return all, nil
}

// decisions returns what was decided, as [explain.Tell] does.
func (w *remote) decisions(ctx context.Context, agent string, before int64, n int) (all []api.ExplainedDecision, err error) {
	for len(all) < n {
		d, err := w.client.Decisions(ctx, agent, before, min(n-len(all), onePage))
		if err != nil {
			return all, err
		}
		all = append(d.Decisions, all...)
		if before = d.Before; before == 0 {
			break
		}
	}
	return all, nil
}

// tellAway is [whyCommand.tell] of an earshot that is asked.
func (w whyCommand) tellAway(a *app) ([]api.ExplainedDecision, string, error) {
	there, s, err := a.away(w.reading)
	if err != nil {
		return nil, "", err
	}
	all, err := there.decisions(a.ctx, w.Agent, max(0, w.Before), max(1, w.Last))
	for _, agent := range s.Agents {
		there.names.Learn(map[earshot.ParticipantID]string{agent.ID: agent.Name})
	}
	return all, there.names.Name(participants.Agent), err
}
