package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/stt"
	hearing "earshot/models/wire"
	"earshot/satellite"
	"earshot/satellite/client"
)

// numbering is a helper that understands, of each utterance, the first samples of its frames that are
// not silent: their numbers, by a [card].
func numbering(_ context.Context, s *helper.Server) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() {
		heard := make(map[uint32][]int16)
		s.Sounds(func(m helper.Sound) error {
			if m.Stream&hearing.Spot != 0 {
				return nil
			}
			pcm := make([]int16, len(m.Data)/2)
			audio.DecodePCM(pcm, m.Data)
			all := append(heard[m.Stream], pcm...)
			heard[m.Stream] = all
			h := hearing.Hypothesis{Stream: m.Stream, Heard: len(all), Confidence: 0.5}
			for f := range slices.Chunk(all, audio.Samples) {
				if f[0] != 0 {
					h.Text += earshot.Text(fmt.Sprintf("%d ", f[0]))
				}
			}
			if len(m.Data) == 0 {
				return s.Send(hearing.FinalName, h)
			}
			if len(all)%audio.Rate >= audio.Samples { // otherwise it says more than a helper can know
				return nil
			}
			return s.Send(hearing.PartialName, h)
		})
	})
	return s.Controls(func(c helper.Control) error {
		if c.Name == hearing.OpenName {
			return s.Send(hearing.ReadyName, nil)
		}
		return nil
	})
}

// recognising returns what makes the client recognise by a helper.
func recognising(work func(context.Context, *helper.Server) error, wake bool) func(*client.Config) {
	return func(c *client.Config) {
		c.Wake, c.Recogniser = wake, func(names []string, called func()) client.Recogniser {
			return stt.New(stt.Config{Dial: helpertest.Dialer("hear", work), Log: quietLog, On: func(stt.Phrase) { called() }})
		}
	}
}

// utters has the hub say something of an utterance, and returns the words that came by the end of a second.
func (h *house) utters(m satellite.Utterance) (all []satellite.Words) {
	h.hub.look(func() {
		h.hub.words = nil
		h.hub.now.Send(satellite.SayHear, m)
	})
	time.Sleep(time.Second)
	h.hub.look(func() { all = h.hub.words })
	return all
}

// sent returns the numbers of the frames that were sent and captured from one time to another.
func (h *fakeHub) sent(from, until time.Time) string {
	var all strings.Builder
	h.look(func() {
		for _, p := range h.packets {
			if at := p.At.Add(12 * time.Millisecond).Round(audio.Time); !at.Before(from.Round(audio.Time)) && at.Before(until.Round(audio.Time)) {
				fmt.Fprintf(&all, "%d ", int(p.Opus[1])|int(p.Opus[2])<<8)
			}
		}
	})
	return all.String()
}

// TestRecognition: what the hub asks for is recognised from its beginning to its end, while it goes on,
// afterwards, and again if its end was earlier than what is known; nothing but what was sent, and nothing
// that is not kept.
func TestRecognition(t *testing.T) {
	for _, wake := range []bool{false, true} {
		t.Run(fmt.Sprintf("wake %t", wake), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, stop := start(t, recognising(numbering, wake))
				defer stop()
				defer h.listen(t)()
				time.Sleep(5 * time.Second)
				h.hub.look(func() {
					if !slices.Contains(h.hub.states, satellite.State{Recognises: true}) {
						t.Errorf("the hub was told %+v", h.hub.states)
					}
					h.hub.now.Send(satellite.SayGate, satellite.Gate{For: 5 * time.Second})
				})
				began := time.Now()
				h.card.set(func() { h.card.voiced = true })
				time.Sleep(time.Second)
				live := satellite.Utterance{Number: 1, From: began}
				words := h.utters(live)
				if n := len(words); n == 0 || words[n-1].Final || words[n-1].Heard < time.Second || words[n-1].Heard > 2*time.Second || words[n-1].Text == "" {
					t.Errorf("while it goes on, there came %+v", words)
				}
				h.card.set(func() { h.card.voiced = false })
				time.Sleep(time.Second)
				is := func(words []satellite.Words, what string, from, until time.Time) {
					t.Helper()
					n := len(words)
					if n == 0 || !words[n-1].Final || words[n-1].Failed || words[n-1].Confidence != 0.5 {
						t.Fatalf("%s: %+v", what, words)
					}
					if want := h.hub.sent(from, until); string(words[n-1].Text) != want || want == "" {
						t.Errorf("%s: recognised %s, want %s", what, string(words[n-1].Text), want)
					}
				}
				until := began.Add(2700 * time.Millisecond)
				live.Until = until
				is(h.utters(live), "what went on", began, until)
				is(h.utters(satellite.Utterance{Number: 2, From: began, Until: until}), "what was said", began, until)
				half := began.Add(time.Second)
				h.utters(satellite.Utterance{Number: 3, From: began})
				is(h.utters(satellite.Utterance{Number: 3, From: began, Until: half}), "half of it", began, half)

				h.utters(satellite.Utterance{Number: 4, From: began})
				if words := h.utters(satellite.Utterance{Number: 4, Cancel: true}); len(words) != 0 {
					t.Errorf("after it was cancelled: %+v", words)
				}
				for what, at := range map[string]time.Duration{"what is not kept": -time.Minute, "the future": time.Minute} {
					words := h.utters(satellite.Utterance{Number: 5, From: time.Now().Add(at)})
					if len(words) != 1 || !words[0].Final || !words[0].Failed || words[0].Text != "" {
						t.Errorf("%s: %+v", what, words)
					}
				}
				if !wake {
					return
				}
				time.Sleep(10 * time.Second)
				h.speak(2 * time.Second) // and nobody has said a name
				words = h.utters(satellite.Utterance{Number: 6, From: time.Now().Add(-2 * time.Second), Until: time.Now()})
				if n := len(words); n == 0 || !words[n-1].Final || words[n-1].Text != "" {
					t.Errorf("of what was not sent: %+v", words)
				}
			})
		})
	}
}

// TestRecognitionFails: an utterance that cannot be recognised is given back, people are told why, and the
// hub is told that the satellite does not recognise, and again when it does.
func TestRecognitionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dies, fine := errors.New("dies"), make(chan struct{})
		h, stop := start(t, recognising(func(ctx context.Context, s *helper.Server) error {
			select {
			case <-fine:
				return numbering(ctx, s)
			default:
				return dies
			}
		}, false))
		defer stop()
		defer h.listen(t)()
		time.Sleep(10 * time.Second)
		now := time.Now()
		if words := h.utters(satellite.Utterance{Number: 1, From: now}); len(words) != 1 || !words[0].Failed {
			t.Errorf("%+v", words)
		}
		h.mu.Lock()
		if len(h.notices) != 1 {
			t.Errorf("people were told %+v", h.notices)
		}
		h.mu.Unlock()
		h.hub.look(func() {
			if len(h.hub.states) > 0 {
				t.Errorf("the hub was told %+v", h.hub.states)
			}
		})
		close(fine)
		time.Sleep(time.Minute)
		h.hub.look(func() {
			if !slices.Equal(h.hub.states, []satellite.State{{Recognises: true}}) {
				t.Errorf("the hub was told %+v", h.hub.states)
			}
		})
	})
}
