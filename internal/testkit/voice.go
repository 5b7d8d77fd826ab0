// Package testkit holds helpers for the tests of several packages. Only tests import it.
package testkit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"earshot"
)

// A Voice is a correct outlet without a device. It plays one rune after another at a steady pace,
// reports each as heard once it has been played, and keeps what came out. It may be opened again
// after a speech has ended.
type Voice struct {
	Called string
	Every  time.Duration // from one rune to the next; 0 means at once
	Flow   bool          // it takes pieces as they come
	Aloud  bool          // it can be heard in the room

	mu     sync.Mutex
	played strings.Builder
	signs  strings.Builder // the signs of a late reply, from clauses without text
	told   []earshot.Control
	shown  []earshot.Event
	ends   int
}

// Name implements [earshot.Outlet].
func (v *Voice) Name() string { return v.Called }

// Flows implements [earshot.Flowing].
func (v *Voice) Flows() bool { return v.Flow }

// Audible implements [earshot.Audible].
func (v *Voice) Audible() bool { return v.Aloud }

// Show implements [earshot.Board].
func (v *Voice) Show(e earshot.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown = append(v.shown, e)
}

// Played returns everything that came out so far.
func (v *Voice) Played() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.played.String()
}

// Signs returns the signs that have come out so far, which say that a reply is late. They are not
// part of any reply.
func (v *Voice) Signs() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.signs.String()
}

// Told returns the controls that it received, in order.
func (v *Voice) Told() []earshot.Control {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]earshot.Control(nil), v.told...)
}

// Shown returns the events that the board was shown.
func (v *Voice) Shown() []earshot.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]earshot.Event(nil), v.shown...)
}

// Ends returns how many speeches have ended.
func (v *Voice) Ends() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ends
}

// Open implements [earshot.Outlet].
func (v *Voice) Open(ctx context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	s := &speech{voice: v, heard: heard, changed: make(chan struct{}, 1)}
	s.done = make(chan struct{})
	go s.play(ctx)
	return s, nil
}

type speech struct {
	voice *Voice
	heard func(earshot.Heard)

	mu       sync.Mutex
	clauses  []earshot.Clause
	signed   int // how much of the sign at the position has come out
	finished bool
	state    earshot.Control
	changed  chan struct{}
	done     chan struct{}
}

var errEnded = errors.New("the speech has ended")

func (s *speech) Say(c earshot.Clause) error {
	select {
	case <-s.done:
		return errEnded
	default:
	}
	s.change(func() { s.clauses = append(s.clauses, c) })
	return nil
}

func (s *speech) Do(c earshot.Control) {
	s.change(func() {
		if s.state != earshot.Cut {
			s.state = c
		}
	})
	s.voice.mu.Lock()
	s.voice.told = append(s.voice.told, c)
	s.voice.mu.Unlock()
}

func (s *speech) Finish() { s.change(func() { s.finished = true }) }

func (s *speech) change(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// play does what a device would.
func (s *speech) play(ctx context.Context) {
	defer close(s.done)
	var at earshot.Heard
	defer func() {
		s.voice.mu.Lock()
		s.voice.ends++
		s.voice.mu.Unlock()
		at.End = true
		s.heard(at)
	}()
	for {
		r, sign, state, over := s.next(&at)
		switch {
		case state == earshot.Cut, over:
			return
		case r == "" || state == earshot.Pause:
			select {
			case <-s.changed:
			case <-ctx.Done():
				return
			}
			continue
		}
		if !s.wait(ctx) {
			return
		}
		if sign {
			s.mu.Lock()
			s.signed += len(r)
			s.mu.Unlock()
			s.voice.mu.Lock()
			s.voice.signs.WriteString(r)
			s.voice.mu.Unlock()
			continue
		}
		s.voice.mu.Lock()
		s.voice.played.WriteString(r)
		s.voice.mu.Unlock()
		at.Byte += len(r)
		s.heard(at)
	}
}

// next returns the rune at the position, after moving to the next clause if the current one is at
// its end. sign says that the rune belongs to a sign. over says that no rune is left and none will
// follow.
func (s *speech) next(at *earshot.Heard) (r string, sign bool, state earshot.Control, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at.Clause < len(s.clauses) {
		c := s.clauses[at.Clause]
		rest, sign := string(c.Text), s.voice.Aloud && c.Text == ""
		if sign {
			rest = string(c.Spoken[s.signed:])
		} else {
			rest = rest[at.Byte:]
		}
		if rest != "" {
			_, n := utf8.DecodeRuneInString(rest)
			return rest[:n], sign, s.state, false
		}
		if at.Clause+1 == len(s.clauses) {
			break
		}
		at.Clause, at.Byte, s.signed = at.Clause+1, 0, 0
	}
	return "", false, s.state, s.finished
}

// wait waits for the duration of one rune. It returns false if the speech is cut or paused
// meanwhile, so that the rune is not heard.
func (s *speech) wait(ctx context.Context) bool {
	if s.voice.Every == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(s.voice.Every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		case <-s.changed:
			s.mu.Lock()
			cut := s.state == earshot.Cut
			s.mu.Unlock()
			if cut {
				return false
			}
		}
	}
}
