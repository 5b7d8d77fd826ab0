package mode_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/mode"
)

var errClosed = errors.New("closed")

// A house is a room whose journal keeps events when the test says so.
type house struct {
	*mode.Control
	queued []func(error) // what is told the result of each change
	events []earshot.ModeChange
	cuts   int
	shown  int
	voice  chan struct{} // nil if nobody speaks; closed when they end
}

func newHouse() *house {
	h := new(house)
	h.Control = mode.New(mode.Host{
		Event: func(v earshot.Visibility, b earshot.Body) earshot.Event { return earshot.Event{Visibility: v, Body: b} },
		Queue: func(e earshot.Event, then func(error)) (func(context.Context) error, error) {
			kept := make(chan error, 1)
			h.events = append(h.events, e.Body.(earshot.ModeChange))
			h.queued = append(h.queued, func(err error) { then(err); kept <- err })
			return func(ctx context.Context) error {
				select {
				case err := <-kept:
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			}, nil
		},
		Closed: errClosed, Cut: func(earshot.Event) { h.cuts++ }, Show: func(earshot.Event) { h.shown++ }, Changed: func(earshot.Mode) {},
		Speaks: func() (<-chan struct{}, bool) { return h.voice, h.voice != nil },
		Shut:   make(chan struct{}), Log: slog.New(slog.DiscardHandler),
	})
	return h
}

// keep lets the journal answer the oldest change.
func (h *house) keep(err error) {
	next := h.queued[0]
	h.queued = h.queued[1:]
	next(err)
}

// TestSet: a stricter mode applies before it is on record, one that lets in more only afterwards;
// of two changes the last one applies, and whoever waits for a change sees it.
func TestSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		result := make(chan error, 2)
		set := func(m earshot.Mode) {
			go func() { result <- h.Set(t.Context(), "ann", m) }()
			synctest.Wait()
		}
		_, changed := h.Mode()
		set(earshot.OffRecord)
		select {
		case <-changed:
		default:
			t.Error("nobody was told of a stricter mode")
		}
		if h.Current() != earshot.OffRecord || h.cuts != 1 {
			t.Errorf("before it is on record the room is %s, and %d replies were cut", h.Current(), h.cuts)
		}
		set(earshot.Live)
		h.keep(nil)
		if h.Current() != earshot.OffRecord {
			t.Errorf("before it is on record the room is %s", h.Current())
		}
		h.keep(nil)
		if synctest.Wait(); h.Current() != earshot.Live {
			t.Errorf("the room is %s", h.Current())
		}
		for range 2 {
			if err := <-result; err != nil {
				t.Error(err)
			}
		}
		if err := h.Set(t.Context(), "ann", earshot.Live); err != nil || len(h.queued) > 0 {
			t.Errorf("the mode that applies was set: %v, %d events", err, len(h.queued))
		}
	})
}

// TestUnrecorded: a change that cannot be recorded applies all the same; people see it, and who
// asked is told.
func TestUnrecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		result := make(chan error, 1)
		go func() { result <- h.Set(t.Context(), "ann", earshot.Muted) }()
		synctest.Wait()
		h.keep(errors.New("the disk is full"))
		if err := <-result; err == nil || !strings.Contains(err.Error(), "only until earshot stops") {
			t.Errorf("told %v", err)
		}
		if h.Current() != earshot.Muted || h.shown != 1 {
			t.Errorf("the room is %s, and the change was shown %d times", h.Current(), h.shown)
		}
	})
}

// TestHold: a talk key makes a muted room live until it is released and the sentence has ended, but
// not if somebody has set the mode meanwhile; a stricter mode is not opened.
func TestHold(t *testing.T) {
	for _, tt := range []struct {
		name  string
		from  earshot.Mode
		set   earshot.Mode // while the key is held
		voice time.Duration
		left  earshot.Mode
		took  time.Duration // of the release
	}{
		{"a muted room", earshot.Muted, "", 0, earshot.Muted, 500 * time.Millisecond},
		{"a live room", earshot.Live, "", 0, earshot.Live, 500 * time.Millisecond},
		{"the end of a sentence", earshot.Muted, "", 2 * time.Second, earshot.Muted, 2 * time.Second},
		{"a voice that does not end", earshot.Muted, "", time.Hour, earshot.Muted, 4 * time.Second},
		{"somebody unmutes it", earshot.Muted, earshot.Live, 0, earshot.Live, 500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.Restore(tt.from)
				do := func(f func()) {
					go f()
					synctest.Wait()
					for len(h.queued) > 0 {
						h.keep(nil)
					}
					synctest.Wait()
				}
				var release func()
				do(func() { release, _ = h.Hold(t.Context(), "ann") })
				if release == nil || h.Current() != earshot.Live || !h.Held() {
					t.Fatalf("while the key is held the room is %s", h.Current())
				}
				if tt.set != "" {
					do(func() { _ = h.Set(t.Context(), "bob", tt.set) })
				}
				if tt.voice > 0 {
					h.voice = make(chan struct{})
					time.AfterFunc(tt.voice, func() { close(h.voice) })
				}
				began := time.Now()
				release()
				took := time.Since(began)
				for len(h.queued) > 0 {
					h.keep(nil)
				}
				if h.Current() != tt.left || h.Held() || took != tt.took {
					t.Errorf("afterwards the room is %s, and the release took %v; want %s, %v", h.Current(), took, tt.left, tt.took)
				}
				time.Sleep(2 * time.Hour) // until the voice has ended
			})
		})
	}
	h := newHouse()
	h.Restore(earshot.OffRecord)
	if _, err := h.Hold(t.Context(), "ann"); err == nil || h.Held() {
		t.Error("a key was held in a room that is off the record")
	}
}

// TestTakesIn: a muted room takes in no sound, but the end of a voice, and counts what comes.
func TestTakesIn(t *testing.T) {
	h := newHouse()
	h.Restore(earshot.Muted)
	for _, tt := range []struct {
		body earshot.Body
		want bool
	}{
		{earshot.Utterance{Text: "hello"}, false},
		{earshot.Speech{Stage: earshot.VoiceWords}, false},
		{earshot.Speech{Stage: earshot.VoiceOver}, true},
		{earshot.Message{Text: "hello"}, true},
	} {
		if got := h.TakesIn(earshot.Event{Body: tt.body}); got != tt.want {
			t.Errorf("%T is taken in: %v", tt.body, got)
		}
	}
	if n := h.Dropped(); n != 2 {
		t.Errorf("%d were counted", n)
	}
}
