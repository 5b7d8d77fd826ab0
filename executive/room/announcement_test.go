package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
)

// strangers lets an unknown voice talk to somebody else, and returns what the agent said aloud.
func strangers(t *testing.T, h *house) string {
	h.voices = new(ears)
	_, v := voiced(t, h)
	h.hearsOf(t, 3, "shall we have lunch", time.Minute)
	h.hearsOf(t, 3, "at one then", time.Minute)
	return v.Played()
}

// TestANoticeIsHeardWhole: a voice that is heard for the first time is told that what is said is
// written down, and nothing holds that notice back. A command word cuts only what was to follow it,
// and the notice opens no talk with the agent.
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
		want := []string{reason.Overheard, reason.NewVoice, addressing.Named, reason.Overheard, reason.Overheard, reason.NewVoice}
		if got := h.reasons(); !slices.Equal(got, want) {
			t.Errorf("decided %q, want %q", got, want)
		}
	})
}

// TestATelevision: a television has voices without end. Only a few of them are announced, what is
// said is still written down under each voice, and a guest who comes later is announced all the
// same.
func TestATelevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.config.Speech.AnnounceVoices = true
		_, v := voiced(t, h)
		const voices, guest = 60, 70 // the voices of twenty minutes, and one after them
		for n := range voices {
			h.hearsOf(t, n+1, "and now the news", 20*time.Second)
		}
		notices := func() int { return strings.Count(v.Played(), "I hear somebody new.") }
		if came := h.came(); came > 12 || notices() > 5 {
			t.Errorf("of a television with %d voices %d came, with %d notices", voices, came, notices())
		}
		time.Sleep(20 * time.Minute)
		before := notices()
		h.hearsOf(t, guest, "hello there", time.Minute)
		if here := names(h.people.Here(earshot.Desk)); here != "voice 70" || notices() != before+1 {
			t.Errorf("a guest came, and here is %q, with %d notices", here, notices()-before)
		}
		h.stop()
		authors := make(map[earshot.ParticipantID]bool)
		for _, e := range h.journal.Events() {
			if e.Body.Kind() == earshot.KindUtterance {
				authors[e.Author] = true
			}
		}
		if len(authors) != voices+1 || authors[""] {
			t.Errorf("what was said is of %d voices", len(authors))
		}
	})
}

// TestGuests: a table of people who are heard for the first time all come at once, and with them
// somebody whose name is known, however many came before. The one who was too many comes five
// minutes later.
func TestGuests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.people = registry(t, "bob")
		voiced(t, h)
		h.hearsOf(t, 30, "hello", 6*time.Minute)
		h.name(t, ann, 30, "bob")
		for n := range 9 {
			h.hearsOf(t, n+1, "good evening", time.Second)
		}
		h.hearsOf(t, 30, "good evening", time.Second)
		want := "voice 1, voice 2, voice 3, voice 4, voice 5, voice 6, voice 7, voice 8"
		if here := names(h.people.Here(earshot.Desk)); !strings.HasSuffix(here, want) || !strings.Contains(here, "bob") {
			t.Errorf("here are %s", here)
		}
		time.Sleep(5 * time.Minute)
		h.hearsOf(t, 9, "how nice", time.Second)
		if here := names(h.people.Here(earshot.Desk)); !strings.Contains(here, "voice 9") {
			t.Errorf("five minutes later here are %s", here)
		}
		h.stop()
	})
}

// came returns how many arrivals are on record.
func (h *house) came() (n int) {
	for _, e := range h.journal.Events() {
		if p, is := e.Body.(earshot.Presence); is && p.Here {
			n++
		}
	}
	return n
}
