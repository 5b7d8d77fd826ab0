package room_test

import (
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// TestTypedBackchannel: somebody who types no more than "ok" while the agent replies, or calls a
// name that nobody has, does not cut it off and is not answered. Somebody who answers a question,
// objects or asks does, and is.
func TestTypedBackchannel(t *testing.T) {
	const tale = "The tides follow the moon, and rise and fall twice a day along the coast."
	for _, tt := range []struct {
		text, reply string
		typed       bool // key by key, so that the reply pauses
		cut         bool
	}{
		{"ok", tale, false, false},
		{"ok", tale, true, false},
		{"mm-hm", tale, true, false},
		{"haha", tale, true, false},
		{"Hahahaha!", tale, false, false},
		{"Yes, right.", tale, false, false},
		{"👍", tale, false, false},
		{"👩‍💻 👍🏽", tale, false, false},
		{":)", tale, false, false},
		{"xD", tale, false, false},
		{"go on", tale, false, false},
		{"I see", tale, false, false},
		{"mhmm", tale, false, false},
		{"haha :D", tale, false, false},
		{"lmao 😂", tale, false, false},
		{"ok thanks 👍", tale, false, false},
		{"got it, thanks", tale, false, false},
		{"thanks, stop", tale, false, true},
		{"@Zed hello", tale, false, false}, // nobody here has that name
		{"@Zed hello", tale, true, false},
		{"no", tale, false, true},
		{"really?", tale, false, true},
		{"?", tale, false, true},
		{"!!", tale, false, true},
		{"ok, and the moon?", tale, false, true},
		{"ok stop", tale, false, true},
		{"ok\nok", tale, false, true},
		{"Earshot, ok", tale, false, true},
		{"yes", "Do you want all? It is long.", false, true},
	} {
		name := tt.text
		if tt.typed {
			name += ", typed"
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Every, h.model.Reply = 200*time.Millisecond, tt.reply
				h.open(t.Context())
				h.presence(t, ann, "console", true)
				h.say(t, "tell me")
				time.Sleep(1300 * time.Millisecond)
				if tt.typed {
					typing(t, h, true)
					time.Sleep(time.Second)
				}
				h.say(t, tt.text)
				time.Sleep(time.Minute)
				h.stop()
				all := h.replies()
				first := all[0]
				if cut := first.Outcome != earshot.Completed || len(all) > 1; cut != tt.cut {
					t.Errorf("the reply was %s, with %d after it", first.Outcome, len(all)-1)
				}
			})
		})
	}
}

// TestTypedBackchannelAfterwards: once the agent has finished, "ok" is a message to it, and is
// answered.
func TestTypedBackchannelAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "tell me")
		time.Sleep(time.Minute)
		h.say(t, "ok")
		time.Sleep(time.Minute)
		h.stop()
		if all := h.replies(); len(all) != 2 {
			t.Errorf("%d replies, want 2", len(all))
		}
	})
}
