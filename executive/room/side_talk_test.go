package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/llm/llmtest"
)

// laborious returns a room whose agent looks at a list, which takes some time, before it says what
// is on it.
func laborious(takes time.Duration) *house {
	h, s := newHouse(), &shelf{takes: takes}
	h.tools = s.table()
	h.model.Rules = []llmtest.Rule{
		after("", "", "It is milk."), calls("", "my list", "read_file", `{}`),
		{When: "in German", Reply: "Es ist Milch."}, {When: "hungry", Reply: "So am I."}, {When: "poem", Reply: "Roses are red."},
	}
	return h
}

// because returns the last decision, as words.
func (h *house) because() (last string) {
	for _, e := range h.journal.Events() {
		if d, ok := e.Body.(earshot.Decision); ok {
			last = string(d.Verdict) + ": " + strings.Join(d.Reasons, "; ")
		}
	}
	return last
}

// TestWhatIsSaidWhileItWorks: what is said to an agent that uses a tool ends the work, begins it
// anew, or is answered meanwhile or afterwards, and the decision on record says why.
func TestWhatIsSaidWhileItWorks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		within     string // what can be read within a second
		played     string // what is said in all
		first      earshot.Outcome
		why        string
	}{
		{"stop", "forget it", "", "", earshot.Interrupted, "silent: " + reason.Commanded},
		{"steer", "no, in German", "Es ist Milch.", "Es ist Milch.", earshot.Interrupted, "speak: " + addressing.Alone + "; " + reason.Steers},
		{"status", "how far are you?", "I am at “what is on my list?”, for 3 s: read_file is under way.", "It is milk.", earshot.Completed, "note: " + addressing.Alone + "; " + reason.HowFar},
		{"side talk", "I'm hungry", "", "It is milk.So am I.", earshot.Completed, "speak: " + addressing.Alone + "; " + reason.Meanwhile},
		{"another task", "write me a poem", "", "It is milk.Roses are red.", earshot.Completed, "speak: " + addressing.Alone + "; " + reason.Afterwards},
		{"another task instead", "forget that, write me a poem instead", "Roses are red.", "Roses are red.", earshot.Interrupted, "speak: " + addressing.Alone + "; " + reason.Replaces},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := laborious(8 * time.Second).open(t.Context())
				h.say(t, "what is on my list?")
				time.Sleep(3 * time.Second)
				h.say(t, tt.text)
				time.Sleep(time.Second)
				if got := h.console.Played() + strings.Join(texts(h.console), "\n"); !strings.Contains(got, tt.within) || tt.within == "" && h.console.Played() != "" {
					t.Errorf("after a second one reads %q, want %q", got, tt.within)
				}
				if got := h.because(); got != tt.why {
					t.Errorf("decided %q, want %q", got, tt.why)
				}
				time.Sleep(time.Minute)
				h.stop()
				if got := strings.ReplaceAll(h.console.Played(), "\n", ""); got != tt.played {
					t.Errorf("said %q, want %q", got, tt.played)
				}
				if r := h.replies(); len(r) == 0 || r[0].Outcome != tt.first {
					t.Errorf("replies %+v", r)
				}
			})
		})
	}
}

// TestSteeringIsToldToTheModel: a model that is steered begins its work anew, and is told what was
// done.
func TestSteeringIsToldToTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := laborious(8 * time.Second).open(t.Context())
		h.say(t, "what is on my list?")
		time.Sleep(3 * time.Second)
		h.say(t, "no, in German")
		time.Sleep(time.Minute)
		h.stop()
		seen := h.model.Seen()
		messages := seen[len(seen)-1].Messages
		last := prompt(seen[len(seen)-1]) + messages[len(messages)-1].Text
		for _, want := range []string{"how you are to go on with what you were asked before", "You had used read_file", "what is on my list?", "no, in German"} {
			if !strings.Contains(last, want) {
				t.Errorf("%q is not in the prompt\n%s", want, last)
			}
		}
	})
}

// TestNobodyWaitsForeverForAWork: somebody who has asked something else has the floor after about
// ten seconds, whatever the work does.
func TestNobodyWaitsForeverForAWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := laborious(time.Hour).open(t.Context())
		h.say(t, "what is on my list?")
		time.Sleep(3 * time.Second)
		h.say(t, "I'm hungry")
		time.Sleep(9 * time.Second)
		if got := h.console.Played(); got != "" {
			t.Errorf("after 9 s it has said %q", got)
		}
		time.Sleep(2 * time.Second)
		if got := h.console.Played(); got != "So am I." {
			t.Errorf("after 11 s it has said %q", got)
		}
		h.stop()
	})
}

// TestNothingIsBrokenOff: where nobody may interrupt, what is said to an agent while it works is
// answered afterwards, however long that takes, and does not make it begin anew.
func TestNothingIsBrokenOff(t *testing.T) {
	for text, answer := range map[string]string{"I'm hungry": "So am I.", "no, in German": "Es ist Milch."} {
		synctest.Test(t, func(t *testing.T) {
			h := laborious(time.Minute)
			h.config.Interruption.Enabled = false
			h.open(t.Context())
			h.say(t, "what is on my list?")
			time.Sleep(3 * time.Second)
			h.say(t, text)
			if got := h.because(); strings.Contains(got, reason.Steers) {
				t.Errorf("%s: decided %q", text, got)
			}
			time.Sleep(10 * time.Minute)
			h.stop()
			if got := strings.ReplaceAll(h.console.Played(), "\n", ""); got != "It is milk."+answer {
				t.Errorf("%s: it said %q", text, got)
			}
			for _, req := range h.model.Seen() {
				if last := req.Messages[len(req.Messages)-1].Text; strings.Contains(last, "broke off") {
					t.Errorf("%s: the model is told %q", text, last)
				}
			}
		})
	}
}

// TestWhoeverTalksIsCutStill: a turn that talks is still cut by whatever is said to its agent.
func TestWhoeverTalksIsCutStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := laborious(time.Second)
		h.model.Every = 100 * time.Millisecond
		h.open(t.Context())
		h.say(t, "count")
		time.Sleep(250 * time.Millisecond)
		h.say(t, "I'm hungry")
		time.Sleep(time.Minute)
		h.stop()
		if r := h.replies(); len(r) != 2 || r[0].Outcome != earshot.Interrupted {
			t.Errorf("replies %+v", r)
		}
	})
}

// TestWhatIsSaidWhileItThinks: an agent that thinks can be asked how far it is, takes in what it is
// told, and stops when it is told to. Anything else is answered, and it goes on thinking.
func TestWhatIsSaidWhileItThinks(t *testing.T) {
	for _, tt := range []struct {
		name, text, played, why string
		thought                 []string
	}{
		{"status", "how far are you?", "I am thinking about “whether to plant roses”, for 2 s: 2 words so far.", "speak: " + addressing.Alone + "; " + reason.HowFar,
			[]string{"command interrupted Roses need | addressed", "command completed sun and more", "found Plant them."}},
		{"steer", "but consider the rain", "I take that into account, and come back to it.", "speak: " + addressing.Alone + "; " + reason.Considers,
			[]string{"command interrupted Roses need | addressed", "command completed sun and more", "found Plant them."}},
		{"stop", "never mind", "", "silent: " + reason.Commanded + "; " + reason.Thinks,
			[]string{"command interrupted Roses need | command"}},
		{"side talk", "I'm hungry", "So am I.", "speak: " + addressing.Alone,
			[]string{"command interrupted Roses need | addressed", "command completed sun and more", "found Plant them."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := thinking(
					thinks(tt.text, "sun and more"), thinks("", "Roses need sun and water"),
					one("Plant them."), llmtest.Rule{When: "hungry", Reply: "So am I."},
				).open(t.Context())
				defer h.stop()
				h.give(t, "think", "whether to plant roses")
				time.Sleep(2500 * time.Millisecond)
				h.say(t, tt.text)
				time.Sleep(time.Second)
				if got := h.because(); got != tt.why {
					t.Errorf("decided %q, want %q", got, tt.why)
				}
				if got := h.console.Played(); got != tt.played {
					t.Errorf("said %q, want %q", got, tt.played)
				}
				time.Sleep(time.Minute)
				h.wants(t, tt.thought...)
			})
		})
	}
}

// TestHowFarAfterAnInterruption: an agent that is asked how far it is counts the words of all
// stretches of its thought, each whole.
func TestHowFarAfterAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("exactly where it stops", "sun and water"), thinks("", "Roses need")).open(t.Context())
		defer h.stop()
		h.give(t, "think", "whether to plant roses")
		time.Sleep(1500 * time.Millisecond)
		typing(t, h, true)
		typing(t, h, false)
		time.Sleep(2500 * time.Millisecond)
		h.say(t, "how far are you?")
		time.Sleep(time.Second)
		thought := 0
		for _, e := range h.journal.Events() {
			if b, ok := e.Body.(earshot.Thought); ok {
				thought += len(strings.Fields(string(b.Text)))
			}
		}
		if got := h.console.Played(); thought != 3 || !strings.Contains(got, ": 3 words so far") {
			t.Errorf("after %d words it says %q", thought, got)
		}
	})
}
