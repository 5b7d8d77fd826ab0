package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
)

// A channel is a room on Discord: a text channel with a call, and people in it.
type channel struct {
	*house
	text, call *testkit.Voice
	people     map[string]earshot.Handle
}

// channelOf opens h as a channel with Ada, Ben and Cleo in it.
func channelOf(t *testing.T, h *house) *channel {
	t.Helper()
	c := &channel{house: h, people: make(map[string]earshot.Handle), text: &testkit.Voice{Called: "discord"}, call: &testkit.Voice{Called: "discord voice", Aloud: true, Every: 50 * time.Millisecond}}
	for i, name := range []string{"Ada", "Ben", "Cleo"} {
		c.people[name] = earshot.Handle{Provider: "discord", ID: fmt.Sprint(42 + i)}
	}
	h.away, h.people = true, guild(t, c.people["Ada"], c.people["Ben"], c.people["Cleo"])
	h.open(t.Context())
	h.Enter(c.text, earshot.Audience{Unknown: true})
	h.Enter(c.call, earshot.Audience{Unknown: true})
	for _, who := range c.people {
		c.does(t, who, "discord", earshot.Presence{Session: "discord", Here: true}, 0)
	}
	return c
}

func (c *channel) does(t *testing.T, who earshot.Handle, via string, body earshot.Body, then time.Duration) {
	t.Helper()
	if err := c.Admit(t.Context(), earshot.Event{From: who, Via: via, Body: body}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(then)
}

// writes lets somebody write something in the channel, and waits.
func (c *channel) writes(t *testing.T, who, text string, then time.Duration) {
	t.Helper()
	c.does(t, c.people[who], "discord", earshot.Message{Text: earshot.Text(text)}, then)
}

func (c *channel) says(t *testing.T, who, text string, then time.Duration) {
	t.Helper()
	c.does(t, c.people[who], "discord voice", earshot.Utterance{Text: earshot.Text(text), Confidence: 0.9, Lasted: time.Second}, then)
}

// TestDiscordIntegration: each person who writes or speaks in a channel is known as themselves in
// the roster, the prompt and the journal. What is said aloud is answered aloud, and what is written
// in writing. A voice cuts the agent off, and the agent knows whose.
func TestDiscordIntegration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{
			{When: "tell us", Reply: "It was a dark and stormy night, and the rain fell in torrents."},
			{When: "who is late", Reply: "Dan is."}, {When: "read that", Reply: "I did."},
		}
		c := channelOf(t, h)
		if here := c.house.people.Here(earshot.Desk); len(here) != 3 {
			t.Fatalf("here are %v", here)
		}
		c.says(t, "Ben", "Earshot tell us a story", time.Second)
		c.says(t, "Cleo", "Earshot who is late", 10*time.Second)
		c.writes(t, "Ada", "@Earshot read that", 10*time.Second)
		c.stop()
		replies := c.replies()
		if len(replies) != 3 {
			t.Fatalf("%d replies", len(replies))
		}
		if cut := replies[0].Cut; cut == nil || cut.By != "discord-44" {
			t.Errorf("the story was cut by %+v", cut)
		}
		if got := c.text.Played(); !strings.HasSuffix(got, "I did.") {
			t.Errorf("written was %q", got)
		}
		if got := c.call.Played(); !strings.HasPrefix(got, "It was a dark") || !strings.HasSuffix(got, "Dan is.") || strings.Contains(got, "torrents") || strings.Contains(got, "I did") {
			t.Errorf("said was %q", got)
		}
		seen := h.model.Seen()
		prompt := fmt.Sprint(seen[len(seen)-1].Messages)
		for _, part := range []string{"[FROM: Ben] Earshot tell us a story", "[FROM: Cleo] Earshot who is late", "[FROM: Ada] @Earshot read that", "Cleo cut you off", "Ada", "Ben", "Cleo"} {
			if !strings.Contains(prompt, part) {
				t.Errorf("the prompt has no %q:\n%s", part, prompt)
			}
		}
	})
}

// TestConversationalFlowQuality: among several people the agent answers somebody who calls it and
// goes on with them, keeps out of what people say to each other, answers a burst once, is not
// thrown by a murmur, and lets people finish.
func TestConversationalFlowQuality(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Attention.SpeakUnasked = false
		h.model.Reply = "Well then."
		c := channelOf(t, h)
		for _, line := range []struct {
			who, text string
			aloud     bool
			then      time.Duration
			replies   int // so far
		}{
			{"Ada", "Ben, shall we begin", true, 5 * time.Second, 0},
			{"Ben", "in a minute", true, 5 * time.Second, 0},
			{"Cleo", "Earshot, who is late", true, 5 * time.Second, 1},
			{"Cleo", "and who else", true, 5 * time.Second, 2}, // she is in talk with it
			{"Ben", "I am here now", true, 20 * time.Second, 2},
			{"Ada", "fine", false, 5 * time.Second, 2},
			{"Ada", "@Earshot what", false, 0, 2},
			{"Ben", "@Earshot yes, what", false, 10 * time.Second, 3}, // a burst has one answer
			{"Cleo", "mm-hm", true, 20 * time.Second, 3},
			{"Ben", "@Ada did you see that", false, 10 * time.Second, 3},
		} {
			if line.aloud {
				c.says(t, line.who, line.text, line.then)
			} else {
				c.writes(t, line.who, line.text, line.then)
			}
			said := slices.DeleteFunc(c.replies(), func(r earshot.Reply) bool { return r.Delivered() == "" })
			if line.then > 0 && len(said) != line.replies {
				t.Errorf("after %q of %s it has spoken %d times, want %d; %q", line.text, line.who, len(said), line.replies, c.reasons())
			}
		}
		c.stop()
		if got := c.reasons(); !slices.Contains(got, reason.Follows) || !slices.Contains(got, reason.Overheard) {
			t.Errorf("decided was %q", got)
		}
	})
}

// TestInTalkIsOnePerson: for eight seconds after the agent has answered somebody, that person can
// go on without calling it. The right is theirs alone: others in the call do not get it, and
// answers to others do not prolong it.
func TestInTalkIsOnePerson(t *testing.T) {
	type line struct {
		after     time.Duration
		who, text string
	}
	call := func(who string, after time.Duration) line { return line{after, who, "Earshot, who is late"} }
	goesOn := func(who string, after time.Duration) line { return line{after, who, "what about tomorrow"} }
	for _, tt := range []struct {
		name  string
		lines []line
		want  string // who was answered, in order
	}{
		{"they go on", []line{call("Cleo", 0), goesOn("Cleo", 6*time.Second)}, "Cleo Cleo"},
		{"they come back", []line{call("Cleo", 0), goesOn("Cleo", 10*time.Second)}, "Cleo"},
		{"another speaks", []line{call("Cleo", 0), goesOn("Ben", 3*time.Second)}, "Cleo"},
		{"another speaks, and they go on", []line{call("Cleo", 0), goesOn("Ben", 3*time.Second), goesOn("Cleo", 3*time.Second)}, "Cleo Cleo"},
		{"two are in talk", []line{call("Cleo", 0), call("Ben", 2*time.Second), goesOn("Cleo", 3*time.Second), goesOn("Ben", 3*time.Second), goesOn("Ada", 2*time.Second)}, "Cleo Ben Cleo Ben"},
		{"another's is not theirs", []line{call("Cleo", 0), call("Ben", 5*time.Second), goesOn("Cleo", 5*time.Second)}, "Cleo Ben"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.Attention.SpeakUnasked = false
				h.model.Reply = "Well then."
				c := channelOf(t, h)
				for _, l := range tt.lines {
					time.Sleep(l.after)
					c.says(t, l.who, l.text, 0)
				}
				time.Sleep(time.Minute)
				c.stop()
				var answered []string
				for _, e := range c.journal.Events() {
					if r, ok := e.Body.(earshot.Reply); ok && r.Delivered() != "" {
						answered = append(answered, c.house.people.Name(e.To[0]))
					}
				}
				if got := strings.Join(answered, " "); got != tt.want {
					t.Errorf("answered were %q, want %q; %q", got, tt.want, c.reasons())
				}
			})
		})
	}
}
