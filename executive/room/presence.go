package room

import (
	"context"
	"time"

	"earshot"
	"earshot/participants"
)

// arrive notes who comes or goes, which takes effect at once, and announces it. It returns when the
// announcement is kept, or at once if there is none: somebody has come by a second terminal, or
// flaps. Somebody unknown cannot be here, nor can scripts.
func (r *Room) arrive(ctx context.Context, e earshot.Event, who participants.Participant, p earshot.Presence) error {
	en, err := r.arrival(e, who, p)
	if en == nil || err != nil {
		return err
	}
	return en.wait(ctx)
}

// arrival is arrive without the wait. The journal has the announcements in the order in which
// people came and went.
func (r *Room) arrival(e earshot.Event, who participants.Participant, p earshot.Presence) (*entry, error) {
	if who.ID == "" || who.ID == participants.Generic {
		return nil, nil
	}
	r.presenceMu.Lock()
	defer r.presenceMu.Unlock()
	if !r.count(who.Reader(), e, p) {
		return nil, nil
	}
	r.comings.Same(who.ID, r.cfg.People.Identities(who.ID))
	r.userIs(e, who, map[bool]string{true: "here", false: "away"}[p.Here])
	r.presence.SetTerminal(e, who, p.Here)
	news, now := r.comings.Change(r.cfg.Now(), who.ID, p)
	if !now {
		r.nudge() // to look at the clock
		return nil, nil
	}
	e.Author, e.To, e.Body = who.ID, nil, news.Presence
	e.Visibility = earshot.Visibility{Scope: earshot.System}
	return r.enqueue(e, nil)
}

// count counts a session of somebody, by their own ID, whether or not they are one person with
// somebody else when it ends.
func (r *Room) count(who earshot.ParticipantID, e earshot.Event, p earshot.Presence) bool {
	if participants.VouchedFor(e.From) { // one connection carries everybody who comes by it
		p.Session += "/" + e.From.ID
	}
	if p.Here {
		return r.cfg.People.Come(r.cfg.ID, who, p.Session)
	}
	return r.cfg.People.Go(r.cfg.ID, who, p.Session)
}

// nextAnnouncement returns when somebody who came and went in quick succession may be announced.
func (r *Room) nextAnnouncement() time.Time {
	r.presenceMu.Lock()
	defer r.presenceMu.Unlock()
	return r.comings.Next()
}

// announce announces those who have settled.
func (r *Room) announce(context.Context) {
	r.presenceMu.Lock()
	defer r.presenceMu.Unlock()
	for _, n := range r.comings.Steady(r.cfg.Now()) {
		e := r.event(earshot.Visibility{Scope: earshot.System}, n.Presence)
		e.Author = n.Who
		if _, err := r.enqueue(e, nil); err != nil {
			return // the room is closed
		}
	}
}
