package room_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/llm/llmtest"
)

// signs are what the agent may say while a reply is late.
var signs = []string{"Let me see.", "One moment.", "Let me think."}

// TestFiller: somebody who has said something aloud and waits for the answer hears a short sign,
// once, which is not on record. Somebody who has typed hears none, and neither does anybody whose
// answer comes at once.
func TestFiller(t *testing.T) {
	for _, tt := range []struct {
		name    string
		every   time.Duration // from one word of the model to the next
		said    string
		typed   bool
		outcome earshot.Outcome
		sign    bool
	}{
		{"at once", 100 * time.Millisecond, "earshot count", false, earshot.Completed, false},
		{"late", 2 * time.Second, "earshot count", false, earshot.Completed, true},
		{"no words for long", time.Minute, "earshot count", false, earshot.Completed, true},
		{"without a model", 2 * time.Second, "earshot what time is it", false, earshot.Completed, false},
		{"typed", 2 * time.Second, "earshot count", true, earshot.Completed, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := listening()
				h.model.Reply, h.model.Every = "One, and two, and three.", tt.every
				h, v := voiced(t, h)
				if tt.typed {
					h.say(t, tt.said)
				} else {
					h.hearsOf(t, 3, tt.said, 0)
				}
				time.Sleep(1300 * time.Millisecond)
				if got := v.Signs(); got != "" {
					t.Errorf("it says %q already", got)
				}
				time.Sleep(10 * time.Minute)
				h.stop()
				if got := v.Signs(); slices.Contains(signs, got) != tt.sign || got != "" != tt.sign {
					t.Errorf("it says %q", got)
				}
				reply := h.replies()[0]
				if reply.Outcome != tt.outcome || !tt.typed && string(reply.Delivered()) != v.Played() {
					t.Errorf("%s, delivered %q of %q", reply.Outcome, string(reply.Delivered()), v.Played())
				}
				on, _ := json.Marshal(h.journal.Events())
				for _, sign := range signs {
					if strings.Contains(string(on), sign) || strings.Contains(h.console.Played(), sign) {
						t.Errorf("%q is on record, or shown", sign)
					}
				}
			})
		})
	}
}

// TestFillerIsCut: a sign falls silent as soon as somebody cuts in, and the reply that it was said
// for is interrupted, with nothing said of it.
func TestFillerIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.model.Every = time.Minute
		h, v := voiced(t, h)
		v.Every = time.Second // a rune takes that long
		h.hearsOf(t, 3, "earshot count", 3300*time.Millisecond)
		if got := v.Signs(); len(got) != 1 {
			t.Fatalf("a moment later it has said %q", got)
		}
		h.hearsOf(t, 3, "stop", time.Minute)
		if got := v.Signs(); len(got) != 1 {
			t.Errorf("after the cut it has said %q", got)
		}
		h.stop()
		if r := h.replies()[0]; r.Outcome != earshot.Interrupted || r.Offered != "" {
			t.Errorf("%s, offered %q", r.Outcome, string(r.Offered))
		}
	})
}

// TestFillerAtWork: somebody who waits for a tool hears that the agent is looking.
func TestFillerAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := newHouse(), &shelf{takes: 5 * time.Second}
		h.config.Speech.TypedAloud, h.tools = true, s.table() // a voice alone may use no tools
		h.model.Rules = []llmtest.Rule{calls("", "count", "read_file", "{}")}
		h, v := voiced(t, h)
		h.say(t, "count")
		time.Sleep(time.Minute)
		h.stop()
		if got := v.Signs(); !slices.Contains([]string{"Let me look.", "I am looking.", "One moment."}, got) {
			t.Errorf("it says %q", got)
		}
	})
}

// signed lets somebody wait for an answer, and returns whether they heard a sign.
func signed(t *testing.T, h *house) string {
	h.model.Every = 2 * time.Second
	_, v := voiced(t, h)
	h.hears(t, "earshot count", 0, time.Minute)
	return fmt.Sprint(v.Signs() != "")
}
