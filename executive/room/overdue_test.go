package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/llm/llmtest"
)

// again opens h as a room of Earshot and Scout, with what was said there before. If reply is set,
// each calls the one it answers.
func again(t *testing.T, h *house, past []earshot.Event, reply bool) *crew {
	if h.past = past; past != nil {
		h.ids = 1000
	}
	h.journal.From(int64(len(past)))
	c := man(t, h)
	if reply {
		c.seats(replying("agent", "Earshot"), replying("scout", "Scout"))
	}
	return c
}

// limited returns a room in which agents may say only so much in a row.
func limited(limit int, rules ...llmtest.Rule) *house {
	h := newHouse()
	h.config.MultiParty.TurnLimit = limit
	h.model = &llmtest.Script{Rules: rules}
	return h
}

// talked returns the journal of a talk of Earshot and Scout.
func talked(t *testing.T, h *house, wrote string, reply bool) (events []earshot.Event) {
	synctest.Test(t, func(t *testing.T) {
		c := again(t, h, nil, reply)
		c.must(t, "ann", wrote, time.Hour)
		c.stop()
		events = c.journal.Events()
	})
	return events
}

// words returns how many of some events are words of agents, and how many are handovers.
func words(events []earshot.Event) (all, over int) {
	for _, e := range events {
		r, ok := e.Body.(earshot.Reply)
		switch {
		case ok && r.Handover != nil:
			over++
		case ok && r.Offered != "":
			all++
		}
	}
	return all, over
}

// upTo returns the events up to the point at which agents have said that many words.
func upTo(said int, events []earshot.Event) []earshot.Event {
	for n := range events {
		if all, _ := words(events[:n]); all == said {
			return events[:n:n]
		}
	}
	return events
}

// TestAKillBeforeTheHandover: wherever the program is killed, once agents have said as much as they
// may, they hand over to a person, exactly once. No model is asked for that.
func TestAKillBeforeTheHandover(t *testing.T) {
	const limit = 4
	rules := endless("Earshot", "Scout").Rules
	rules[0].Replies[0].Text = "@Scout, go on"
	whole := talked(t, limited(limit, rules...), "talk to each other", true)
	between := 0 // how many kills fall between the last word and the handover
	for n := range len(whole) + 1 {
		synctest.Test(t, func(t *testing.T) {
			c := again(t, limited(limit), whole[:n:n], true)
			time.Sleep(time.Hour)
			c.stop()
			said, before := words(whole[:n])
			_, after := words(c.journal.Events())
			want := 0
			if said == limit {
				want = 1
			}
			if between += want - before; before+after != want {
				t.Errorf("after %d of %d events they hand over %d times, want %d", n, len(whole), before+after, want)
			}
			if n := len(c.model.Seen()); n > 0 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
	if between < 2 {
		t.Errorf("%d events stand between the last word and that they hand over", between)
	}
}

// TestWhatIsDueAfterAKill: agents hand over as soon as there is somebody to tell, and only if one
// of them was called and nobody has had the floor since.
func TestWhatIsDueAfterAKill(t *testing.T) {
	rules := []llmtest.Rule{
		{When: "stop that", Reply: "Yes."}, {When: "Yes.", Reply: "So it is."}, {When: "by tag", Reply: "<world>TO: Scout</world>look"},
		{Agent: "Earshot", Reply: "@Scout, go on"}, {Agent: "Scout", Reply: "I have."},
	}
	for _, tt := range []struct {
		name, wrote string
		reply       bool
		said, limit int
		then        string // written before there is anybody to tell
		over        int
	}{
		{"another is called", "go on", true, 2, 2, "", 1},
		{"by a tag", "by tag", false, 1, 1, "", 1},
		{"in private", "/msg Earshot, Scout: go on", true, 1, 1, "", 1},
		{"nobody is called", "go on", false, 2, 2, "", 0},
		{"nobody is called in private", "/msg Scout, Earshot: stop that", false, 2, 2, "", 0},
		{"everybody was asked", "@all go on", true, 2, 2, "", 0},
		{"there is more to say", "go on", true, 2, 3, "", 0},
		{"a person speaks first", "go on", true, 2, 2, "@Earshot stop that", 0},
		{"the room is paused", "go on", true, 2, 2, "/pause", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			past := upTo(tt.said, talked(t, limited(9, rules...), tt.wrote, tt.reply))
			synctest.Test(t, func(t *testing.T) {
				h := limited(tt.limit, rules...)
				h.away = true
				c := again(t, h, past, tt.reply)
				if tt.then != "" {
					c.must(t, "ann", tt.then, time.Hour)
				}
				time.Sleep(time.Hour)
				if _, over := words(c.journal.Events()); over > 0 {
					t.Error("they hand over to nobody")
				}
				c.comesBack(t)
				time.Sleep(time.Hour)
				c.stop()
				if _, over := words(c.journal.Events()); over != tt.over || strings.Count(c.console.Played(), "it is yours") != tt.over {
					t.Errorf("they hand over %d times, want %d: %q", over, tt.over, c.console.Played())
				}
			})
		})
	}
}
