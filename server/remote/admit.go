package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"earshot"
	"earshot/server/wire"
)

// admit announces the person, hands in what they do, in order, and cancels what they had begun
// when they go. Late is the context for handing in; it outlives the connection a little.
func (s *session) admit(late context.Context) {
	s.present(late, true)
	n, typing, moved := int64(0), false, false
	for e := range s.events {
		if moved { // the room may be here again, but what was sent before comes first
			continue
		}
		n++
		e, err := s.checked(e)
		if err == nil {
			err = s.stays(late)
		}
		if err == nil {
			typing = typingAfter(typing, e.Body, false)
			err = s.Backend.Admit(late, e)
		}
		if err == nil {
			typing = typingAfter(typing, e.Body, true)
		}
		if moved = errors.Is(err, wire.ErrMoved); moved { // the terminal sends it again, when it has found the room
			s.conn.Close()
			continue
		}
		s.answer(n, err)
	}
	bye, cancel := context.WithTimeout(context.WithoutCancel(late), linger)
	defer cancel()
	if typing {
		s.hand(bye, earshot.Typing{Began: false})
	}
	s.present(bye, false)
}

// present announces that somebody comes, or that the current person goes.
func (s *session) present(ctx context.Context, here bool) {
	if !s.passes {
		s.hand(ctx, earshot.Presence{Session: s.Session.ID, Here: here})
	}
}

// typingAfter returns whether a line is begun, first when b was sent and then when it was
// admitted. The room may half know an event that it refused: the first key counts as soon as it is
// sent, the end of the line once it is admitted.
func typingAfter(typing bool, b earshot.Body, admitted bool) bool {
	if t, ok := b.(earshot.Typing); ok {
		return t.Began || typing && !admitted
	}
	return typing && !admitted
}

// hand hands in an event that the terminal did not send itself.
func (s *session) hand(ctx context.Context, b earshot.Body) {
	err := s.Backend.Admit(ctx, s.event("", time.Now(), b))
	if err != nil && s.Log != nil {
		s.Log.Warn("not admitted", slog.String("outlet", s.Session.Outlet), slog.String("kind", string(b.Kind())), slog.Any("err", err))
	}
}

// answer tells the terminal the result of its nth event.
func (s *session) answer(n int64, err error) {
	s.open.Add(-1)
	if err == nil {
		_ = s.box.Urgent(wire.Ack{N: n})
		return
	}
	_ = s.box.Urgent(wire.Refused{N: n, Refusal: *wire.Explain(err)})
}

// checked returns e without the fields that a terminal must not set.
func (s *session) checked(e earshot.Event) (earshot.Event, error) {
	if err := wire.CheckID(e.ID); err != nil {
		return e, err
	}
	switch b := e.Body.(type) {
	case earshot.Message:
		if err := wire.CheckText(b.Text); err != nil {
			return e, err
		}
	case earshot.Command:
		if b.Name == "" || len(b.Name)+len(b.Args) > earshot.MaxText {
			return e, errors.New("a command without a name, or with too long a name")
		}
	case earshot.Typing:
	default:
		return e, fmt.Errorf("a terminal cannot send events of the kind %s", b.Kind())
	}
	at := e.At
	if now := time.Now(); at.After(now) || at.Before(s.attached) {
		at = now
	}
	return s.event(e.ID, at, e.Body), nil
}

// event returns an event that came in here, by the current person.
func (s *session) event(id earshot.EventID, at time.Time, b earshot.Body) earshot.Event {
	return earshot.Event{ID: id, At: at, Room: s.Session.Room, From: s.handle(), Via: s.Session.Outlet, Body: b}
}
