package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/executive/room"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// TestForeseenInVain: of words that have come to nothing by the time at which the room
// can look at them no model is told.
func TestForeseenInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		voiced(t, h)
		talkedBefore(t, h)
		before := len(h.model.Seen())
		h.journal.Slow(500 * time.Millisecond)
		other := aloud("shall we have lunch", 0)
		other.From.ID = "kitchen"
		go h.Admit(t.Context(), other)
		synctest.Wait()
		h.stable(t, "and what else is new")
		h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		h.journal.Slow(0)
		time.Sleep(time.Minute)
		if n := len(h.model.Seen()) - before; n != 0 {
			t.Errorf("the model was asked %d times about nothing", n)
		}
		h.stop()
	})
}

// TestACommandGoesOnWithNothing: who tells the agent to be silent right after a question
// tells it just that.
func TestACommandGoesOnWithNothing(t *testing.T) {
	for _, tt := range []struct{ says, why, then string }{
		{"be quiet", room.Commanded, room.Hushed},
		{"wait", room.Commanded, room.Follows},
		{"not now", attention.ToldNo, room.Follows},
	} {
		t.Run(tt.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, newHouse())
				h.model.Every = time.Second
				h.says(t, "earshot what is the weather")
				h.begins(t, tt.says)
				time.Sleep(500 * time.Millisecond)
				h.says(t, tt.says)
				time.Sleep(5 * time.Second)
				h.hears(t, "and what is new", 0, time.Minute)
				h.stop()
				if got, want := h.reasons(), []string{room.Named, tt.why, tt.then}; !slices.Equal(got, want) {
					t.Errorf("decided %q, want %q", got, want)
				}
				if got := continued(h.journal.Events()); got != "---" {
					t.Errorf("utterances %q", got)
				}
			})
		})
	}
}

// TestDoneIsDone: what a tool has done for a part of a sentence is done; the answer that
// goes on is thrown away all the same, however far it is, and the one to the whole knows.
func TestDoneIsDone(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // from the first part to the second; the tool is used at 0.8 s
		told  bool          // the model is, that it was
	}{
		{"before the tool", 700 * time.Millisecond, false}, {"before the next word", time.Second, true}, {"after it", 1900 * time.Millisecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = &llmtest.Script{Reply: "It is done.", Rules: []llmtest.Rule{{
					When: "remind me", Calls: []llm.Call{{Tool: "remind", Arguments: []byte(`{"action":"set","text":"something","in_seconds":600}`)}},
				}}, Every: 800 * time.Millisecond}
				h.people = heardBob(t)
				voiced(t, h)
				h.says(t, "earshot remind me in ten minutes")
				h.begins(t, "to call ann")
				time.Sleep(tt.after)
				h.says(t, "to call ann")
				time.Sleep(time.Minute)
				h.stop()
				if got := outcomesOf(h); got != "suppressed completed" {
					t.Errorf("turns %q", got)
				}
				seen := h.model.Seen()
				last := seen[len(seen)-1]
				told := slices.ContainsFunc(last.Messages, func(m llm.Message) bool {
					return m.Role == llm.System && strings.Contains(m.Text, "had used remind for it")
				})
				if told != tt.told {
					t.Errorf("the model reads %s", dialogue(last))
				}
			})
		})
	}
}

// TestAPhraseIsNoVoice: a phrase that was listened for over the agent's own sound holds
// no later reply back: nothing comes of it that would say that it is over.
func TestAPhraseIsNoVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.TypedAloud = true
		_, v := voiced(t, h)
		h.say(t, "count")
		time.Sleep(60 * time.Millisecond)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceCalls, Words: "stop talking", Own: true})
		time.Sleep(time.Second)
		before := v.Played()
		h.say(t, "count again")
		time.Sleep(time.Second)
		if v.Played() == before {
			t.Error("a second later nothing is said")
		}
		time.Sleep(time.Minute)
		h.stop()
	})
}
