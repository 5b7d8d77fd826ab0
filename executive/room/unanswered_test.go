package room_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
)

// after returns a house that goes on from what h has on record.
func (h *house) after() *house {
	again := newHouse()
	again.journal, again.ids, again.past, again.people, again.config = h.journal, h.ids, h.journal.Events(), h.people, h.config
	return again
}

// answers returns the outcome of each reply, with what was heard of it, in order.
func (h *house) answers() string {
	var all []string
	for _, e := range h.journal.Events() {
		if r, ok := e.Body.(earshot.Reply); ok {
			all = append(all, fmt.Sprintf("%s:%s", r.Outcome, string(r.Delivered())))
		}
	}
	return strings.Join(all, " | ")
}

// TestUnanswered: a question that somebody asked before earshot stopped is answered, once, when it
// runs again, if nothing of the answer was heard before.
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

// TestUnansweredWithoutATerminal: somebody who comes back is answered when there is a terminal
// again where they read the answer, which may be a moment after they are here; and after a while in
// any case.
func TestUnansweredWithoutATerminal(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // from when they are here until their terminal is; 0 means never
		want  string
	}{
		{"a moment later", 300 * time.Millisecond, "interrupted: | completed:one two three four"},
		{"never", 0, "interrupted: | completed:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				h.Leave()
				h.say(t, "count")
				time.Sleep(10 * time.Millisecond)
				h.stop()
				again := h.after()
				again.away = true
				again.open(t.Context())
				if err := again.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Presence{Session: "console", Here: true}}); err != nil {
					t.Fatal(err)
				}
				if tt.after > 0 {
					time.Sleep(tt.after)
					again.Enter(again.console, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
				}
				time.Sleep(time.Minute)
				again.stop()
				if got := again.answers(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestUnansweredNoMore: after a restart a question waits for whoever wrote it. If it is taken back
// or changed meanwhile, it is not answered as it was.
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

// restarts closes the room, and opens it again with the same agents.
func (c *crew) restarts(t *testing.T) {
	t.Helper()
	c.Leave()
	time.Sleep(10 * time.Millisecond)
	c.stop()
	next := c.after()
	next.agents, next.recall = c.agents, c.recall
	c.house = next.open(t.Context())
}

// TestUnansweredByOne: a message called several agents before a restart. Afterwards only the agents
// that had said nothing answer it. The same holds for an agent to whose reply the message replies.
func TestUnansweredByOne(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		runs time.Duration // from the message to the end
		want []string
	}{
		{"neither", "@Scout @Earshot count", 0, []string{"Scout interrupted: ", "Earshot interrupted: ", "Scout completed: one two three four", "Earshot completed: one two three four"}},
		{"the first in the middle", "@Scout @Earshot count", 25 * time.Millisecond, []string{"Scout interrupted: one two", "Earshot interrupted: ", "Earshot completed: one two three four"}},
		{"the first has", "@Scout @Earshot count", 50 * time.Millisecond, []string{"Scout completed: one two three four", "Earshot interrupted: ", "Earshot completed: one two three four"}},
		{"the main one has", "@all count", 50 * time.Millisecond, []string{"Earshot completed: one two three four", "Scout interrupted: ", "Scout completed: one two three four"}},
		{"the first has, in private", "/msg Scout, Earshot: count", 50 * time.Millisecond, []string{"Scout completed: one two three four", "Earshot interrupted: ", "Earshot completed: one two three four"}},
		{"both have", "@Scout @Earshot count", time.Second, []string{"Scout completed: one two three four", "Earshot completed: one two three four"}},
		{"who wrote what it answers", "answers Scout", 0, []string{"Scout interrupted: ", "Scout completed: one two three four"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := man(t, newHouse())
				first := 0
				if tt.text == "answers Scout" {
					c.must(t, "ann", "@Scout hello", time.Second)
					events := c.journal.Events()
					first = len(c.ends())
					e := message("why?")
					e.Body = earshot.Message{Text: "why?", ReplyTo: events[len(events)-1].ID}
					c.admits(t, e)
				} else {
					c.must(t, "ann", tt.text, 0)
				}
				time.Sleep(tt.runs)
				c.restarts(t)
				time.Sleep(time.Minute)
				c.restarts(t) // nothing is asked a third time
				time.Sleep(time.Minute)
				c.stop()
				if got := c.ends()[first:]; !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// ends returns the turns in the order in which they ended: the agent, the outcome, and what was
// heard.
func (c *crew) ends() (all []string) {
	for _, e := range c.journal.Events() {
		if r, ok := e.Body.(earshot.Reply); ok {
			all = append(all, fmt.Sprintf("%s %s: %s", c.people.Name(e.Author), r.Outcome, string(r.Delivered())))
		}
	}
	return all
}

// TestEachAgentAnswersOnce: whenever the program ends, and however often, each agent answers the
// last message once if that called it, an earlier message that called it at most once, and a
// message that did not call it not at all.
func TestEachAgentAnswersOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pause := rapid.Custom(func(rt *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 250_000).Draw(rt, "µs")) * time.Microsecond
		})
		call := rapid.SampledFrom([]string{"", "@Scout", "@Earshot", "@Coder @Scout", "@Earshot @Coder", "@all", "/msg Scout, Coder:"})
		type step struct {
			call string // whom the message calls; empty if the program ends instead
			then time.Duration
		}
		steps := []step{{"@all", pause.Draw(rt, "then")}}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			steps = append(steps, step{call.Draw(rt, "call"), pause.Draw(rt, "then")})
		}
		var c *crew
		last := 0
		synctest.Test(t, func(t *testing.T) {
			c = man(t, newHouse())
			c.seats(record("agent", "Earshot"), record("scout", "Scout"), record("coder", "Coder"))
			for i, s := range steps {
				if s.call == "" {
					c.restarts(t)
				} else {
					c.must(t, "ann", fmt.Sprintf("%s count %d", s.call, i), 0)
					last = i
				}
				time.Sleep(s.then)
			}
			c.restarts(t)
			time.Sleep(time.Minute)
			c.stop()
		})
		type answer struct {
			by   string
			step int
		}
		asked, got := make(map[earshot.EventID]int), make(map[answer]int)
		for _, e := range c.journal.Events() {
			switch body := e.Body.(type) {
			case earshot.Message:
				words := strings.Fields(string(body.Text))
				asked[e.ID], _ = strconv.Atoi(words[len(words)-1])
			case earshot.Reply:
				if body.Delivered() != "" || body.Outcome == earshot.Completed {
					got[answer{c.people.Name(e.Author), asked[body.About]}]++
				}
			}
		}
		for i, s := range steps {
			for _, name := range []string{"Earshot", "Scout", "Coder"} {
				called := strings.Contains(s.call, name) || s.call == "@all"
				switch n := got[answer{name, i}]; {
				case n > 1, n == 1 && !called, n == 0 && called && i == last:
					rt.Errorf("%s answered message %d %d times: %q", name, i, n, c.ends())
				}
			}
		}
	})
}
