package room_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// after returns a house that goes on from what another has on record.
func (h *house) after() *house {
	again := newHouse()
	again.journal, again.ids, again.past, again.people, again.config = h.journal, h.ids, h.journal.Events(), h.people, h.config
	return again
}

// answers returns what came of each message, in order.
func (h *house) answers() string {
	var all []string
	for _, e := range h.journal.Events() {
		if r, ok := e.Body.(earshot.Reply); ok {
			all = append(all, fmt.Sprintf("%s:%s", r.Outcome, string(r.Delivered())))
		}
	}
	return strings.Join(all, " | ")
}

// TestUnanswered: what somebody asked before the program ended, and of whose answer
// nothing was heard, is answered when it runs again, once.
func TestUnanswered(t *testing.T) {
	for _, tt := range []struct {
		name  string
		does  func(*testing.T, *house)
		away  time.Duration // how long the program does not run
		alone bool          // nobody comes back
		want  string
	}{
		{"asked while it ends", func(t *testing.T, h *house) {
			h.Leave()
			h.say(t, "count")
		}, time.Second, false, "interrupted: | completed:one two three four"},
		{"before the first word", func(t *testing.T, h *house) {
			h.say(t, "count")
			time.Sleep(5 * time.Millisecond)
			h.Leave()
		}, time.Second, false, "interrupted: | completed:one two three four"},
		{"in the middle", func(t *testing.T, h *house) {
			h.say(t, "count")
			time.Sleep(25 * time.Millisecond)
			h.Leave()
		}, time.Second, false, "interrupted:one two"},
		{"afterwards", func(t *testing.T, h *house) {
			h.say(t, "count")
			time.Sleep(time.Second)
			h.Leave()
		}, time.Second, false, "completed:one two three four"},
		{"long ago", func(t *testing.T, h *house) {
			h.Leave()
			h.say(t, "count")
		}, time.Hour, false, "interrupted:"},
		{"who asked does not come back", func(t *testing.T, h *house) {
			h.Leave()
			h.say(t, "count")
		}, time.Second, true, "interrupted: | completed:"},
		{"two of them", func(t *testing.T, h *house) {
			h.Leave()
			h.say(t, "count")
			h.say(t, "count again")
		}, time.Second, false, "suppressed: | interrupted: | completed:one two three four"},
		{"a command word", func(t *testing.T, h *house) {
			h.Leave()
			h.say(t, "stop")
		}, time.Second, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				tt.does(t, h)
				time.Sleep(10 * time.Millisecond)
				h.stop()
				time.Sleep(tt.away)
				again := h.after()
				again.away = tt.alone
				again.open(t.Context())
				time.Sleep(time.Minute)
				again.stop()
				if got := again.answers(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				last := again.after().open(t.Context()) // nothing is asked a third time
				time.Sleep(time.Minute)
				last.stop()
				if got := last.answers(); got != tt.want {
					t.Errorf("after another start: %q, want %q", got, tt.want)
				}
				said := 0
				for _, e := range last.journal.Events() {
					if m, ok := e.Body.(earshot.Message); ok && m.Text == "count" {
						said++
					}
				}
				if strings.Contains(tt.want, "four") && said != 1 {
					t.Errorf("the message is there %d times", said)
				}
			})
		})
	}
}

// TestUnansweredNoMore: what was taken back, or changed, while who wrote it is waited for is
// not answered as it was.
func TestUnansweredNoMore(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(*testing.T, *house, earshot.Event)
		asks int // how often the model is asked
	}{
		{"forgotten", func(t *testing.T, h *house, e earshot.Event) {
			if err := h.Forget(t.Context(), []earshot.EventID{e.ID}, nil); err != nil {
				t.Error(err)
			}
		}, 0},
		{"changed", func(t *testing.T, h *house, e earshot.Event) {
			h.admits(t, with(e, earshot.Revision{Of: e.ID, Text: "what is a harp"}))
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				e := named("m", "what is a xylophone")
				h.Leave()
				h.admits(t, e)
				time.Sleep(10 * time.Millisecond)
				h.stop()
				again := h.after()
				again.away = true
				again.open(t.Context())
				time.Sleep(time.Second)
				tt.does(t, again, e)
				time.Sleep(time.Minute)
				again.stop()
				seen := again.model.Seen()
				if len(seen) != tt.asks || strings.Contains(fmt.Sprint(seen), "xylophone") {
					t.Errorf("the model was asked %d times, want %d: %v", len(seen), tt.asks, seen)
				}
			})
		})
	}
}
