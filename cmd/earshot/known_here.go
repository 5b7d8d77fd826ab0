package main

import (
	"context"

	"earshot"
	"earshot/api"
	"earshot/daemon"
	"earshot/participants"
	"earshot/server"
)

// knownHere is what whoever is at the terminal of the daemon may know; who tells who that is.
func knownHere(d *daemon.Daemon, who func() participants.Participant) known {
	h := d.Backend()
	alone := func(p participants.Participant) earshot.Audience {
		return earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{p.Reader()}}
	}
	return known{
		state: func(ctx context.Context) (api.Status, error) {
			p := who()
			return h.State(ctx, server.Principal{Participant: p, Audience: alone(p)})
		},
		past: func(ctx context.Context, before int64) ([]earshot.Event, int64, error) {
			events, err := h.Past(ctx, alone(who()), []earshot.Kind{earshot.KindMessage}, before, searchedPage)
			if len(events) < searchedPage {
				return events, 0, err
			}
			return events, events[0].Sequence, err
		},
	}
}
