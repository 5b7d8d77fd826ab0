package room

import (
	"context"
	"errors"

	"earshot"
	"earshot/executive/admission"
	"earshot/executive/command"
	"earshot/interrupt"
	"earshot/participants"
)

// become makes a session somebody else's: the old one leaves, the terminal from then on shows what
// the new one may see, and the new one joins. It returns when both are recorded.
func (r *Room) become(ctx context.Context, c command.Call, session participants.Session, who participants.Participant) error {
	var waits []*admission.Entry
	moves := func(e earshot.Event, p participants.Participant, here bool) error {
		e.ID, e.At = r.cfg.NewID(), r.cfg.Now()
		en, err := r.arrival(e, p, earshot.Presence{Session: session.ID, Here: here})
		if en != nil {
			waits = append(waits, en)
		}
		return err
	}
	r.arrivals.Identity.Lock()
	left := moves(c.Event, c.By, false)
	if len(waits) > 0 && c.By.Guest() { // a guest's name is forgotten with their last terminal
		_ = waits[0].Wait(ctx) // it is asked again below
	}
	r.floor.Signal(&interrupt.Signal{Kind: interrupt.Over, From: c.Event.From, Via: c.Event.Via, By: c.By.ID, Confidence: 1, At: c.Event.At})
	r.cfg.People.Become(session.ID, who.ID)
	r.seat(session.Outlet, c.By, who)
	came := c.Event
	came.From = r.cfg.People.Handle(session.ID)
	announced := len(waits)
	joined := moves(came, who, true)
	if len(waits) == announced {
		r.greet(session, who)
	}
	r.arrivals.Identity.Unlock()
	for _, en := range waits {
		if err := en.Wait(ctx); err != nil {
			return err
		}
	}
	return errors.Join(left, joined)
}

// greet tells the outlet of a session whose it is from now on, if that is not announced because
// they are here already, or flap.
func (r *Room) greet(session participants.Session, who participants.Participant) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, earshot.Presence{Session: session.ID, Here: true})
	e.Author, e.Via = who.ID, session.Outlet
	r.notices.Outlets.ShowAt(session.Outlet, e)
}

// seat updates the people around an outlet. A speech that is coming out of it, and which they may
// not see, ends there; it continues elsewhere, and if it comes out nowhere else it is cut.
func (r *Room) seat(outlet string, old, now participants.Participant) {
	shut, elsewhere := r.notices.Outlets.Replace(outlet, old.Reader(), now.Reader())
	if live, _ := r.live.question(); live == nil {
		return
	}
	if len(shut) > 0 && !elsewhere {
		r.floor.Signal(&interrupt.Signal{
			Kind: interrupt.Command, From: earshot.Handle{Provider: "earshot", ID: "identity"}, By: old.ID, Confidence: 1, At: r.cfg.Now(),
		})
	}
	for _, s := range shut {
		s.Shut()
	}
}
