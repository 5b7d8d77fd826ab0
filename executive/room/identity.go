package room

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/delivery"
	"earshot/interrupt"
	"earshot/participants"
)

var errNoSession = errors.New("you can become somebody else only at your own terminal; start one: earshot chat --identity NAME")

// identityCommand says who somebody is, or makes their terminal somebody else's.
func (r *Room) identityCommand(ctx context.Context, c command.Call) (string, error) {
	name := strings.TrimSpace(string(c.Args))
	if name == "" {
		return r.whoami(c), nil
	}
	session, ok := r.cfg.People.At(c.Event.Via)
	if !ok || c.Event.Via == "" || session.Participant != c.By.ID {
		return "", errNoSession
	}
	who, err := r.claim(ctx, session, name)
	switch {
	case err != nil:
		return "", err
	case who.ID == session.Participant:
		return fmt.Sprintf("You are already %s.", who.Name), nil
	}
	if err := r.become(ctx, c, session, who); err != nil {
		return "", err
	}
	return fmt.Sprintf("You are now %s. What %s wrote stays theirs.", who.Name, c.By.Name), nil
}

// claim returns who somebody at a session is when they give a name. A command proves nothing.
func (r *Room) claim(ctx context.Context, session participants.Session, name string) (participants.Participant, error) {
	if _, known := r.cfg.People.Find(name); !known && r.cfg.Enters != nil { // a closed door makes nobody known
		if err := r.cfg.Enters(participants.Participant{}); err != nil {
			return participants.Participant{}, err
		}
	}
	who, err := r.cfg.People.Claim(ctx, session.Account, name, nil)
	if errors.Is(err, participants.ErrToken) {
		return who, fmt.Errorf("%w; start a terminal with the token: EARSHOT_TOKEN=… earshot chat --identity NAME", err)
	}
	if err == nil && r.cfg.Enters != nil {
		err = r.cfg.Enters(who)
	}
	return who, err
}

// become makes a session somebody else's: the old one leaves, the terminal from then on shows what
// the new one may see, and the new one joins. It returns when both are recorded.
func (r *Room) become(ctx context.Context, c command.Call, session participants.Session, who participants.Participant) error {
	var waits []*entry
	moves := func(e earshot.Event, p participants.Participant, here bool) error {
		e.ID, e.At = r.cfg.NewID(), r.cfg.Now()
		en, err := r.arrival(e, p, earshot.Presence{Session: session.ID, Here: here})
		if en != nil {
			waits = append(waits, en)
		}
		return err
	}
	r.identityMu.Lock()
	left := moves(c.Event, c.By, false)
	if len(waits) > 0 && c.By.Guest() { // a guest's name is forgotten with their last terminal
		_ = waits[0].wait(ctx) // it is asked again below
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
	r.identityMu.Unlock()
	for _, en := range waits {
		if err := en.wait(ctx); err != nil {
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
	r.places.ShowAt(session.Outlet, e)
}

// seat updates the people around an outlet. A speech that is coming out of it, and which they may
// not see, ends there; it continues elsewhere, and if it comes out nowhere else it is cut.
func (r *Room) seat(outlet string, old, now participants.Participant) {
	r.mu.Lock()
	var showings []*delivery.TurnOutlet
	if r.activeTurn != nil {
		showings = r.turnOutlets
	}
	for _, p := range r.places.All() {
		if p.Name() == outlet {
			p.Replace(old.Reader(), now.Reader())
		}
	}
	r.mu.Unlock()
	var shut []*delivery.TurnOutlet
	elsewhere := false
	for _, s := range showings {
		switch {
		case s.Fits():
			elsewhere = true
		case s.Name() == outlet:
			shut = append(shut, s)
		}
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

// whoami tells somebody who they are.
func (r *Room) whoami(c command.Call) string {
	if c.By.ID == "" {
		return fmt.Sprintf("I do not know who %s is.", c.Event.From)
	}
	by := "known by " + c.Event.From.String()
	if s, ok := r.cfg.People.At(c.Event.Via); ok && s.Account != c.Event.From {
		by = "by name, at a terminal of " + s.Account.String()
	}
	text := fmt.Sprintf("You are %s, %s.", c.By.Name, by)
	if c.By.Can(participants.Operate) {
		text += " You are an operator of this earshot."
	}
	return text
}
