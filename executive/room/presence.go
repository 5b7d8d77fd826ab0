package room

import (
	"context"

	"earshot"
	"earshot/executive/admission"
	"earshot/participants"
)

// arrive notes who comes or goes, which takes effect at once, and announces it. It returns when the
// announcement is kept, or at once if there is none: somebody has come by a second terminal, or
// flaps.
func (r *Room) arrive(ctx context.Context, e earshot.Event, who participants.Participant, p earshot.Presence) error {
	en, err := r.arrival(e, who, p)
	if en == nil || err != nil {
		return err
	}
	return en.Wait(ctx)
}

// arrival is arrive without the wait.
func (r *Room) arrival(e earshot.Event, who participants.Participant, p earshot.Presence) (en *admission.Entry, err error) {
	later := r.arrivals.Note(e.From, who, p, func() {
		r.setUserState(e, who, map[bool]string{true: "here", false: "away"}[p.Here])
		r.presence.SetTerminal(e, who, p.Here)
	}, func(news earshot.Presence) {
		e.Author, e.To, e.Body = who.ID, nil, news
		e.Visibility = earshot.Visibility{Scope: earshot.System}
		en, err = r.entries.Enqueue(e, nil)
	})
	if later {
		r.owner.Wake() // to look at the clock
	}
	return en, err
}

// announce announces those who have settled.
func (r *Room) announce(context.Context) {
	r.arrivals.Settle(func(n participants.Announcement) error {
		e := r.event(earshot.Visibility{Scope: earshot.System}, n.Presence)
		e.Author = n.Who
		_, err := r.entries.Enqueue(e, nil)
		return err // the room is closed
	})
}
