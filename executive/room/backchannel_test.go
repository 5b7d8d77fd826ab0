package room_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
)

// tells lets a voice speak to the agent for some time, with a pause at each of the times given.
func (h *house) tells(t *testing.T, lasts time.Duration, pauses ...time.Duration) {
	t.Helper()
	began := time.Now()
	speech := func(stage earshot.Stage, pause bool) {
		s := earshot.Speech{Stage: stage, Confidence: 0.8, Pause: pause}
		if stage == earshot.VoiceWords {
			s.Words = "earshot I went down to the harbour and"
		}
		if err := h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", At: began, Body: s}); err != nil {
			t.Fatal(err)
		}
	}
	speech(earshot.VoiceBegan, false)
	speech(earshot.VoiceLasts, false)
	for _, at := range pauses {
		time.Sleep(time.Until(began.Add(at)))
		speech(earshot.VoiceWords, false)
		speech(earshot.VoiceWords, true)
	}
	time.Sleep(time.Until(began.Add(lasts)))
}

// listener returns a house in which the agent gives backchannels, and its voice.
func listener(t *testing.T) (*house, *testkit.Voice) {
	h := listening()
	h.config.Speech.Backchannels = true
	return voiced(t, h)
}

// TestOwnBackchannel: somebody who tells the agent something long hears now and then that it
// listens: quietly, and in a pause. Nothing of that is on record.
func TestOwnBackchannel(t *testing.T) {
	second := func(all ...float64) (at []time.Duration) {
		for _, s := range all {
			at = append(at, time.Duration(s*float64(time.Second)))
		}
		return at
	}
	for _, tt := range []struct {
		name   string
		pauses []time.Duration
		want   string
	}{
		{"soon", second(2, 5, 7.9), ""},
		{"after a while", second(2, 5, 9), "Uh-huh."},
		{"at once again", second(9, 11, 15, 20), "Uh-huh."},
		{"a while later", second(9, 15, 22), "Uh-huh.Uh-huh."},
		{"no pause", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, v := listener(t)
				h.tells(t, 29*time.Second, tt.pauses...)
				h.stop()
				if got := v.Signs(); got != tt.want {
					t.Errorf("it says %q, want %q", got, tt.want)
				}
				if n := len(h.journal.Events()); n > 0 || v.Played() != "" {
					t.Errorf("%d events are on record, and %q was said", n, v.Played())
				}
				if told := v.Told(); tt.want != "" && (len(told) == 0 || told[0] != earshot.Duck) {
					t.Errorf("it is told %v, so it is not quiet", told)
				}
			})
		})
	}
}

// TestOwnBackchannelGivesWay: a reply that begins during a backchannel is said whole, and an agent
// that was told to be quiet gives no backchannel.
func TestOwnBackchannelGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, v := listener(t)
		h.model.Every = 0
		v.Every = 300 * time.Millisecond // a rune takes that long
		h.tells(t, 9500*time.Millisecond, 9*time.Second)
		h.hearsOf(t, 3, "earshot count", time.Minute)
		if v.Signs() == "Uh-huh." || v.Played() != "one two three four" {
			t.Errorf("it says %q, and then %q", v.Signs(), v.Played())
		}
		before := v.Signs()
		h.hearsOf(t, 3, "earshot be quiet", time.Minute)
		h.tells(t, 20*time.Second, 9*time.Second)
		h.stop()
		if v.Signs() != before {
			t.Errorf("it says %q although it was told to be quiet", v.Signs())
		}
	})
}

// listens lets somebody tell something long, and returns whether the agent gave a backchannel.
func listens(t *testing.T, h *house) string {
	_, v := voiced(t, h)
	h.tells(t, 20*time.Second, 9*time.Second)
	return fmt.Sprint(v.Signs() != "")
}
