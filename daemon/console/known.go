package console

import (
	"context"
	"slices"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/server"
	"earshot/server/client"
)

// A Known looks up what helps somebody at a terminal to write: commands, names, and what they sent
// before. It is a [sense.Known].
type Known struct {
	state func(context.Context) (api.Status, error)

	// past returns a page of the messages of the room before a sequence, in their order, and
	// before which to go on; 0 if there are no more.
	past func(ctx context.Context, before int64) ([]earshot.Event, int64, error)
}

// Words implements [sense.Known].
func (k Known) Words(ctx context.Context) (commands, names []string, err error) {
	s, err := k.state(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range s.Agents {
		names = append(names, a.Name)
	}
	for _, p := range s.Here {
		if p.ID != s.You.ID {
			names = append(names, p.Name)
		}
	}
	return append(s.Commands, "exit"), names, nil
}

const (
	// searched is how many of the newest messages of a room are looked through for those of
	// one person: some days.
	searched = 1000

	// searchedPage is how many are asked for at a time.
	searchedPage = 200
)

// Sent implements [sense.Known].
func (k Known) Sent(ctx context.Context) (sent []string, err error) {
	s, err := k.state(ctx)
	if err != nil {
		return nil, err
	}
	var pages [][]string
	for n, before := 0, int64(0); n < searched; n += searchedPage {
		events, next, err := k.past(ctx, before)
		if err != nil {
			return nil, err
		}
		pages = append(pages, written(events, s.You.ID))
		if before = next; before == 0 {
			break
		}
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

// written returns what somebody has written in public.
func written(events []earshot.Event, who earshot.ParticipantID) (texts []string) {
	for _, e := range events {
		if m, ok := e.Body.(earshot.Message); ok && who != "" && e.Author == who && e.Visibility.Scope == earshot.Public && m.Turn == "" {
			texts = append(texts, string(m.Text))
		}
	}
	return texts
}

// KnownThere returns the Known of an attached terminal, which asks the daemon of c. The function name
// returns what the person there is called now, which may have changed since they came.
func KnownThere(c *client.Client, name func() string) Known {
	as := func() *client.Client {
		now := *c
		now.Identity = name()
		return &now
	}
	return Known{
		state: func(ctx context.Context) (api.Status, error) { return as().StateWithin(ctx, client.StateTimeout) },
		past: func(ctx context.Context, before int64) ([]earshot.Event, int64, error) {
			p, err := as().History(ctx, []earshot.Kind{earshot.KindMessage}, before, searchedPage)
			return p.Events, p.Before, err
		},
	}
}

// knownHere returns the Known of the daemon's own terminal. The function who returns the person there.
func knownHere(d Daemon, who func() participants.Participant) Known {
	h := d.Backend()
	alone := func(p participants.Participant) earshot.Audience {
		return earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{p.Reader()}}
	}
	return Known{
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
