package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/internal/testkit"
)

// TestWakeNames: each agent is called by its own name, and somebody who was answered by an agent
// goes on with that one. A line is what is said, by which voice, and what each agent decides about
// it: the main one always, and the others if they are called.
func TestWakeNames(t *testing.T) {
	other := earshot.Handle{Provider: "microphone", ID: "other"}
	type said struct {
		text string
		from earshot.Handle
		want string
	}
	for _, tt := range []struct {
		name string
		said []said
	}{
		{"by name", []said{{"scout count", mic, "Scout: " + addressing.Named + ", Earshot: " + reason.Overheard}}},
		{"the main one", []said{{"hey ear shot count", mic, "Earshot: " + addressing.Named}}},
		{"as only that one is heard", []said{{"hair shirt count", mic, "Earshot: " + addressing.Named}}},
		{"as it sounds", []said{{"skout what is new", mic, "Scout: " + addressing.Named + ", Earshot: " + reason.Overheard}}},
		{"both", []said{{"scout ask earshot", mic, "Earshot: " + addressing.Named + ", Scout: " + addressing.Named}}},
		{"nobody", []said{{"i told scout about lunch", mic, "Earshot: " + reason.Overheard}}},
		{"going on", []said{
			{"scout count", mic, "Scout: " + addressing.Named + ", Earshot: " + reason.Overheard},
			{"and backwards please", mic, "Scout: " + reason.Follows + ", Earshot: " + reason.Overheard},
			{"earshot and you", mic, "Earshot: " + addressing.Named},
			{"do not count so fast", mic, "Earshot: " + reason.Follows},
		}},
		{"another voice", []said{
			{"scout count", mic, "Scout: " + addressing.Named + ", Earshot: " + reason.Overheard},
			{"and backwards please", other, "Earshot: " + reason.Overheard},
		}},
		{"quiet", []said{
			{"scout be quiet", mic, "Scout: " + reason.Commanded + ", Earshot: " + reason.Commanded},
			{"earshot count", mic, "Earshot: " + addressing.Named},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.Speech.HeardAs = []string{"hair shirt"}
				c := man(t, h)
				c.Enter(&testkit.Voice{Called: "loudspeaker", Every: 10 * time.Millisecond, Aloud: true}, earshot.Audience{Unknown: true})
				for _, s := range tt.said {
					before := len(c.journal.Events())
					e := aloud(s.text, 0)
					e.From = s.from
					if err := c.Admit(t.Context(), e); err != nil {
						t.Fatal(err)
					}
					time.Sleep(5 * time.Second)
					if got := c.decisions(before); got != s.want {
						t.Errorf("%q: %s, want %s", s.text, got, s.want)
					}
				}
				c.stop()
			})
		})
	}
}

// decisions returns what was decided after the first events of the journal.
func (c *crew) decisions(since int) string {
	var all []string
	for _, e := range c.journal.Events()[since:] {
		if d, ok := e.Body.(earshot.Decision); ok {
			all = append(all, c.people.Name(d.Agent)+": "+strings.Join(d.Reasons, "+"))
		}
	}
	return strings.Join(all, ", ")
}

// TestStopTalkingWhoeverTalks: a command word that is said aloud cuts whichever agent talks, and so
// does the name of an agent.
func TestStopTalkingWhoeverTalks(t *testing.T) {
	for _, tt := range []struct {
		name, said string
		speech     earshot.Speech
		cut        bool
	}{
		{"a command word", "stop talking", earshot.Speech{}, true},
		{"with another's name", "earshot stop talking", earshot.Speech{}, true},
		{"a phrase that is listened for", "", earshot.Speech{Stage: earshot.VoiceCalls, Words: "stop talking", Confidence: 1}, true},
		{"the name of another, as it goes", "", earshot.Speech{Stage: earshot.VoiceWords, Words: "earshot what is", Confidence: 1}, true},
		{"talk to others", "shall we have lunch", earshot.Speech{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Reply = "one two three four five six seven eight nine ten"
				c := man(t, h)
				c.Enter(&testkit.Voice{Called: "loudspeaker", Every: 100 * time.Millisecond, Aloud: true}, earshot.Audience{Unknown: true})
				c.hears(t, "scout count", 0, time.Second)
				e := aloud(tt.said, 0)
				e.From.ID = "other"
				if tt.said == "" {
					e.Body = tt.speech
				}
				if err := c.Admit(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				c.stop()
				if got := c.replies()[0]; (got.Outcome == earshot.Interrupted) != tt.cut {
					t.Errorf("the reply was %s", got.Outcome)
				}
			})
		})
	}
}

// TestNobodyGoesOnForOneThatIsGone: what is said after the reply of an agent that has lost its seat
// since is for nobody.
func TestNobodyGoesOnForOneThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, newHouse())
		c.Enter(&testkit.Voice{Called: "loudspeaker", Every: 10 * time.Millisecond, Aloud: true}, earshot.Audience{Unknown: true})
		c.hears(t, "scout count", 0, 2*time.Second)
		c.seats(record("agent", "Earshot"))
		before := len(c.journal.Events())
		c.hears(t, "and backwards please", 0, time.Second)
		if got := c.decisions(before); got != "Earshot: "+reason.Overheard {
			t.Errorf("decided %s", got)
		}
		c.stop()
	})
}
