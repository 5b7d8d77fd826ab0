package room

import (
	"context"
	"errors"

	"earshot"
	"earshot/executive/activity"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/command"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/speakers"
)

// arrive notes who comes or goes, which takes effect at once, and announces it. It returns the
// announcement, or nil if there is none: somebody has come by a second terminal, or flaps.
func (r *Room) arrive(e earshot.Event, who participants.Participant, p earshot.Presence) (en *admission.Entry, err error) {
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

// become makes a session somebody else's: the old one leaves, the terminal from then on shows what
// the new one may see, and the new one joins. It returns when both are recorded.
func (r *Room) become(ctx context.Context, c command.Call, session participants.Session, who participants.Participant) error {
	var waits []*admission.Entry
	moves := func(e earshot.Event, p participants.Participant, here bool) error {
		e.ID, e.At = r.cfg.NewID(), r.cfg.Now()
		en, err := r.arrive(e, p, earshot.Presence{Session: session.ID, Here: here})
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

// typing is the state of somebody who is writing a line.
const typing = "typing"

// noteSent records in the scene that somebody who is here has sent their line.
func (r *Room) noteSent(in admission.Input) {
	if in.Event.Body.Kind() == earshot.KindMessage && addressing.IsAmong(r.cfg.People.Here(r.cfg.ID), in.Who.ID) {
		r.setUserState(in.Event, in.Who, "here")
	}
}

// setUserState records in the scene what somebody is doing.
func (r *Room) setUserState(e earshot.Event, who participants.Participant, what string) {
	if who.ID == "" || participants.Unnamed(who.ID) {
		return
	}
	r.observeItem(scene.Item{
		Field: scene.User, Of: who.ID, Source: e.From.Provider, At: e.At,
		Text: earshot.Text(who.Name + " is " + what), Passing: what == typing, Visibility: earshot.Visibility{Scope: earshot.Public},
	})
}

// abandonStaleLines releases what waits for a line that somebody has left half typed: it counts as
// empty until the next key.
func (r *Room) abandonStaleLines(context.Context) {
	now := r.cfg.Now()
	r.activity.ExpireTyping(now, func(at activity.Terminal) {
		r.heed(&r.set, &interrupt.Signal{Kind: interrupt.Over, From: at.Who, Via: at.Via, Confidence: 1, At: now})
		r.setUserState(earshot.Event{From: at.Who, At: now}, r.cfg.People.Resolve(at.Who), "here")
	})
}

// ApplyVoiceChange applies a change of the owners of voices; see [admission.SpeechHandler.ApplyVoiceChange].
// It returns at once, and is safe for concurrent use.
func (r *Room) ApplyVoiceChange(c speakers.Change) { r.speech.ApplyVoiceChange(c) }
