package room_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/room"
)

// strangers hears two voices talk to each other, and returns what was said to them.
func strangers(t *testing.T, h *house) string {
	h.voices = new(ears)
	_, v := voiced(t, h)
	h.hearsOf(t, 3, "shall we have lunch", time.Minute)
	h.hearsOf(t, 3, "at one then", time.Minute)
	return v.Played()
}

// TestANoticeIsHeardWhole: whoever is heard for the first time is told that it is
// written down, and nothing holds that back; a command word cuts what was to follow,
// and it opens no talk.
func TestANoticeIsHeardWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.config.Speech.AnnounceVoices = true
		_, v := voiced(t, h)
		h.hearsOf(t, 3, "shall we have lunch", 100*time.Millisecond)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceBegan})
		h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts})
		h.hearsOf(t, 3, "earshot count", 20*time.Millisecond)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceCalls, Words: "stop talking"})
		if told := v.Told(); len(told) > 0 {
			t.Errorf("the notice was told %v", told)
		}
		time.Sleep(time.Minute)
		if got, want := v.Played(), "I hear somebody new. What is said here is written down."; got != want {
			t.Errorf("said %q, want %q", got, want)
		}
		h.hearsOf(t, 3, "and now", time.Minute)
		h.hearsOf(t, 5, "hello there", time.Minute)
		h.stop()
		want := []string{room.Overheard, room.NewVoice, room.Named, room.Overheard, room.Overheard, room.NewVoice}
		if got := h.reasons(); !slices.Equal(got, want) {
			t.Errorf("decided %q, want %q", got, want)
		}
	})
}
