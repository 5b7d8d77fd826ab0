package room_test

import (
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/internal/testkit"
)

// begins returns how long it takes until something comes out of a voice.
func begins(v *testkit.Voice, within time.Duration) time.Duration {
	began := time.Now()
	for v.Played() == "" && time.Since(began) < within {
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// TestNoSpeechBeginsOverAPerson: when a reply is ready while somebody speaks, they may finish
// first, even if they speak to somebody else. A voice that never ends is waited for about four
// seconds, by a passive agent perhaps longer.
func TestNoSpeechBeginsOverAPerson(t *testing.T) {
	for _, style := range []string{"polite", "aggressive", "passive"} {
		for _, tt := range []struct {
			name        string
			ends        time.Duration // how long after the model's first word
			least, most time.Duration
		}{
			{"a sentence", 2 * time.Second, 2 * time.Second, 2200 * time.Millisecond},
			{"a television", time.Hour, 3900 * time.Millisecond, 4200 * time.Millisecond},
		} {
			t.Run(style+": "+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := listening()
					h.model.Reply, h.model.Every = "one", time.Second
					h.config.MultiParty.TurnTakingProtocol = style
					_, v := voiced(t, h)
					h.hearsOf(t, 3, "earshot count", 500*time.Millisecond)
					h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 1})
					h.notices(t, earshot.Speech{Stage: earshot.VoiceWords, Words: "shall we have", Confidence: 0.8, Voice: &earshot.Voice{Print: []float32{5}, Heard: time.Second}})
					time.Sleep(500 * time.Millisecond)
					go func() {
						time.Sleep(tt.ends)
						h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", At: time.Now(), Body: earshot.Speech{Stage: earshot.VoiceOver}})
					}()
					if took := begins(v, time.Minute); style != "passive" && (took < tt.least || took > tt.most) || took < tt.least {
						t.Errorf("it begins after %v, want %v to %v", took, tt.least, tt.most)
					}
					time.Sleep(2 * time.Hour)
					h.stop()
				})
			})
		}
	}
}

// TestUnaskedWaitsForAVoice: what nobody asked for does not begin over a person either.
func TestUnaskedWaitsForAVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := byDay()
		h.remembers(t, train)
		h.away = true // until somebody speaks
		_, v := voiced(t, h)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 1})
		c := &company{house: h, screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
		c.comesBack(t)
		began := time.Now()
		for range 12 { // somebody speaks for a minute
			h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 1})
			time.Sleep(5 * time.Second)
			if v.Played() != "" {
				t.Fatalf("it speaks up after %v, over a person", time.Since(began))
			}
		}
		h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		time.Sleep(time.Minute)
		h.stop()
		if got := v.Played(); got != string(train.Text) {
			t.Errorf("then it said %q (%s)", got, attention.WhatIFound)
		}
	})
}
