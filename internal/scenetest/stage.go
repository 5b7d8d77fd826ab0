package scenetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/participants"
)

// A stage is a room with its terminals.
type stage struct {
	room   *room.Room
	people *participants.Registry
	leaves map[string]func() // by session, for the open terminals

	mu   sync.Mutex
	seen []display // in order for each outlet; read only after the performance
}

// A seat is a terminal.
type seat struct {
	session string // its name in the scene, such as ann or bob#2
	account earshot.Handle
	outlet  string
}

// seatOf returns the terminal with the name h in the scene.
func seatOf(h earshot.Handle) seat {
	name, _, _ := strings.Cut(h.ID, "#")
	t := seat{session: h.ID, account: earshot.Handle{Provider: h.Provider, ID: name}, outlet: h.Provider + "/" + h.ID}
	if h == Ann {
		t.outlet = h.Provider
	}
	return t
}

// A display is something that could be seen at an outlet.
type display struct {
	at     time.Time
	outlet string
	event  earshot.Event
	fault  string // why what was typed there was refused; otherwise empty
}

func (s *stage) see(at display) {
	at.at = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, at)
}

// open opens a terminal in the room, for the person with that account.
func (s *stage) open(t seat) {
	who := s.people.Resolve(t.account)
	if who.ID == "" || s.leaves[t.session] != nil {
		return
	}
	s.people.Attach(participants.Session{
		ID: t.session, Room: earshot.Desk, Participant: who.ID, Account: t.account, Outlet: t.outlet, Connection: "terminal", Since: time.Now(),
	})
	o := &screen{Voice: testkit.Voice{Called: t.outlet, Every: pace, Flow: true}, see: s.see}
	s.leaves[t.session] = s.room.Enter(o, earshot.Audience{Members: []earshot.ParticipantID{who.Reader()}})
}

// admit brings e into the room, by the person who is at the terminal now. If the room refuses e,
// the terminal shows that, and the scene continues.
func (s *stage) admit(ctx context.Context, e earshot.Event) error {
	t := seatOf(e.From)
	presence, _ := e.Body.(earshot.Presence)
	if presence.Here {
		s.open(t)
	}
	leave, open := s.leaves[t.session]
	if open {
		e.From, e.Via = s.people.Handle(t.session), t.outlet
	} else if t.account.Provider == Ann.Provider {
		e.Via = t.outlet // where nothing is shown
	}
	err := s.room.Admit(ctx, e)
	if open && e.Body.Kind() == earshot.KindPresence && !presence.Here {
		leave()
		delete(s.leaves, t.session)
		s.people.Detach(t.session)
	}
	if err != nil && ctx.Err() == nil {
		s.see(display{outlet: t.outlet, fault: refusal(err)})
		return nil
	}
	return err
}

// refusal returns what a terminal shows for err.
func refusal(err error) string {
	var mended interface{ Cure() string }
	if errors.As(err, &mended) && mended.Cure() != "" {
		return err.Error() + " → " + mended.Cure()
	}
	return err.Error()
}

// A screen is the outlet of a terminal, and a board.
type screen struct {
	testkit.Voice
	see func(display)
}

// Show implements [earshot.Board].
func (s *screen) Show(e earshot.Event) { s.see(display{outlet: s.Name(), event: e}) }
