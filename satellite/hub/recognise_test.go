package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/models/stt"
	"earshot/models/wire"
	"earshot/satellite"
	"earshot/satellite/hub"
)

// counting is a helper that understands how many frames an utterance has.
func counting(_ context.Context, s *helper.Server) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() {
		heard := make(map[uint32]int)
		s.Sounds(func(m helper.Sound) error {
			if heard[m.Stream] += len(m.Data) / 2; len(m.Data) > 0 {
				return nil
			}
			text := earshot.Text(fmt.Sprintf("here: %d", heard[m.Stream]/audio.Samples))
			return s.Send(wire.FinalName, wire.Hypothesis{Stream: m.Stream, Text: text, Confidence: 0.5})
		})
	})
	return s.Controls(func(c helper.Control) error {
		if c.Name == wire.OpenName {
			return s.Send(wire.ReadyName, nil)
		}
		return nil
	})
}

// A listening is an utterance and what became of it.
type listening struct {
	*hub.Utterance
	mu   sync.Mutex
	said []string
}

func (l *listening) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.said, ", ")
}

// feed feeds n frames, the last of which has just ended.
func (l *listening) feed(n int) {
	for i := range n {
		l.Feed(&audio.Frame{At: time.Now().Add(-time.Duration(n-i) * audio.Time)})
	}
}

// TestRecognise: a satellite that recognises speech is asked for what the hub hears, by its own clock, and
// its words are those of the utterance. What it does not recognise, or says too late, is recognised here
// without a loss; what cannot be is counted; people are told once that it fails.
func TestRecognise(t *testing.T) {
	words := func(f *far, w satellite.Words) { f.Send(satellite.SayWords, w) }
	for _, tt := range []struct {
		name   string
		does   func(h *house, f *far, u *listening, asked func() satellite.Utterance)
		want   string // what was recognised
		told   string // what people were told
		forged int64
	}{
		{"well", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			began := f.now()
			u.feed(10)
			if a := asked(); a.Number != 1 || !a.Until.IsZero() || !a.From.Equal(began.Add(-10*audio.Time)) {
				h.t.Errorf("it was asked for %+v", a)
			}
			words(f, satellite.Words{Number: 1, Text: "what", Heard: time.Second})
			words(f, satellite.Words{Number: 1, Text: "what time", Lag: time.Second})
			u.End()
			if a := asked(); a.Number != 1 || !a.Until.Equal(began) {
				h.t.Errorf("at the end it was asked for %+v", a)
			}
			words(f, satellite.Words{Number: 1, Text: "what time is it", Confidence: 0.75, Final: true})
			words(f, satellite.Words{Number: 1, Text: "twice", Final: true})
			time.Sleep(10 * time.Second)
		}, "what 0 1s 0s, what time 0 0s 1s, what time is it 0.75 0s 0s final", "", 0},
		{"cancelled", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			u.Cancel()
			if a := asked(); !a.Cancel || a.Number != 1 {
				h.t.Errorf("it was told %+v", a)
			}
			words(f, satellite.Words{Number: 1, Text: "what"})
			u.feed(10)
			u.End()
		}, "", "", 0},
		{"failed", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			words(f, satellite.Words{Number: 1, Final: true, Failed: true})
			asked()
			u.feed(5)
			u.End()
		}, "here: 15 0.5 0s 0s final", "", 0},
		{"failed at its end", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			u.End()
			words(f, satellite.Words{Number: 1, Final: true, Failed: true})
		}, "here: 10 0.5 0s 0s final", "", 0},
		{"nothing", func(h *house, f *far, u *listening, asked func() satellite.Utterance) { u.End() }, "here: 0 0.5 0s 0s final", "", 0},
		{"no answer", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			u.End()
			time.Sleep(5*time.Second + time.Millisecond)
			if u := h.sat.Recognise(nil, nil); u != nil {
				h.t.Error("it is asked for the next one")
			}
		}, "here: 10 0.5 0s 0s final", "cannot recognise", 0},
		{"says that it cannot", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			for i := range 10 {
				f.Send(satellite.SayState, satellite.State{Recognises: i%2 != 0})
			}
			u.feed(10)
			words(f, satellite.Words{Number: 1, Final: true, Failed: true})
			asked()
			u.End()
		}, "here: 10 0.5 0s 0s final", "cannot recognise", 0},
		{"gone", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			f.Send(sound.SayDown, sound.Fault{Text: "its card is lost"})
			time.Sleep(time.Second)
			if u := h.sat.Recognise(nil, nil); u != nil {
				h.t.Error("it is asked for the next one")
			}
			u.feed(5)
			u.End()
		}, "here: 15 0.5 0s 0s final", "", 0},
		{"lies", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			words(f, satellite.Words{Number: 1, Text: "too early", Final: true})
			words(f, satellite.Words{Number: 1, Text: earshot.Text(strings.Repeat("a", 10_000))})
			words(f, satellite.Words{Number: 1, Text: "unsure", Confidence: 2})
			words(f, satellite.Words{Number: 2, Text: "of nothing"})
			f.Send(satellite.SayWords, "what")
			asked()
			u.End()
			words(f, satellite.Words{Number: 1, Text: "true", Confidence: 1, Final: true})
		}, "true 1 0s 0s final", "", 5},
		{"a flood", func(h *house, f *far, u *listening, asked func() satellite.Utterance) {
			u.feed(10)
			for range 1000 {
				words(f, satellite.Words{Number: 1})
			}
			asked()
			u.End()
			words(f, satellite.Words{Number: 1, Text: "true", Confidence: 1, Final: true})
		}, strings.Repeat(" 0 0s 0s, ", 310) + "true 1 0s 0s final", "", 690},
	} {
		t.Run(tt.name, func(t *testing.T) {
			live(t, func(t *testing.T, h *house) {
				var last satellite.Utterance
				f, leave := h.join(&far{hushes: true, ahead: -time.Hour, take: func(c helper.Control) bool {
					return c.Name == satellite.SayHear && c.Decode(&last) == nil
				}})
				defer leave()
				pool := stt.New(stt.Config{Dial: helpertest.Dialer("hear", counting), Log: slog.New(slog.DiscardHandler)})
				ctx, stop := context.WithCancel(t.Context())
				h.beside.Go(func() { _ = pool.Run(ctx) })
				defer stop()
				if u := h.sat.Recognise(nil, pool.Begin); u != nil || h.sat.State().Recognises {
					t.Error("it recognises although it has not said so")
				}
				f.Send(satellite.SayState, satellite.State{Recognises: true})
				time.Sleep(time.Second)
				u := new(listening)
				u.Utterance = h.sat.Recognise(func(r stt.Result) {
					u.mu.Lock()
					defer u.mu.Unlock()
					said := fmt.Sprintf("%s %v %v %v", string(r.Text), r.Confidence, r.Heard, r.Lag)
					if r.Final {
						said += " final"
					}
					u.said = append(u.said, said)
				}, pool.Begin)
				if u.Utterance == nil || !h.sat.State().Recognises {
					t.Fatal("it does not recognise")
				}
				tt.does(h, f, u, func() satellite.Utterance {
					synctest.Wait()
					f.mu.Lock()
					defer f.mu.Unlock()
					return last
				})
				time.Sleep(10 * time.Second)
				if got := u.heard(); got != tt.want {
					t.Errorf("recognised %q, want %q", got, tt.want)
				}
				if told := h.tells(); (tt.told == "") != (len(told) == 0) || len(told) > 1 || len(told) == 1 && !strings.Contains(told[0], tt.told) {
					t.Errorf("people were told %q, want %q", told, tt.told)
				}
				if n := h.sat.State().Forged; n != tt.forged {
					t.Errorf("%d count as forged, want %d", n, tt.forged)
				}
			})
		})
	}
}
