package room_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
)

const tides = "The tides follow the moon. Twice a day the water rises along the coast, and falls again."

// interruptible returns a house whose agent talks at length about the tides and the wind, at 200 ms
// a word, and answers any other question in one word.
func interruptible() *house {
	h := newHouse()
	h.model.Every = 200 * time.Millisecond
	h.model.Reply = "Sixteen."
	h.model.Rules = []llmtest.Rule{
		{When: "about the tides", Reply: tides},
		{When: "about the wind", Reply: "Wind is air that moves. It blows from the land to the sea at night."},
		{When: "what were you saying", Reply: "falls again."},
	}
	return h
}

// TestResume: the last reply that was cut off in a conversation can be resumed, whatever
// was answered in between.
func TestResume(t *testing.T) {
	const cut, whole = 2100 * time.Millisecond, 20 * time.Second
	type step struct {
		who, text string
		then      time.Duration
	}
	ask := step{"ann", "Earshot, tell me about the tides", cut}
	high := step{"ann", "Earshot, how high?", whole}
	resume := step{"ann", "Earshot, what were you saying?", whole}
	restart := step{text: "(restart)"}
	const rest = "Twice a day"
	for _, tt := range []struct {
		name  string
		steps []step
		want  string // how the last reply begins; empty if it is what the model says by itself
	}{
		{"at once", []step{ask, high, resume}, rest},
		{"after several answers", []step{ask, high, high, high, resume}, rest},
		{"after what took no thought", []step{ask, high, {"ann", "Earshot, what time is it?", whole}, resume}, rest},
		{"in other words", []step{ask, high, {"ann", "Earshot, sorry, go on", whole}}, rest},
		{"by somebody else", []step{ask, high, {"bob", "Earshot, what were you saying?", whole}}, rest},
		{"after a restart", []step{ask, high, restart, resume}, rest},
		{"cut by the restart", []step{ask, restart, high, resume}, rest},
		{"ten minutes later", []step{ask, {"ann", "Earshot, how high?", 595 * time.Second}, resume}, rest},
		{"it grew old", []step{ask, {"ann", "Earshot, how high?", 605 * time.Second}, resume}, ""},
		{"it grew old over a restart", []step{ask, {"ann", "Earshot, how high?", 605 * time.Second}, restart, resume}, ""},
		{"once", []step{ask, high, resume, resume}, ""},
		{"once, over a restart", []step{ask, high, resume, restart, resume}, ""},
		{"the resumption is cut off", []step{ask, high, {"ann", "Earshot, what were you saying?", 100 * time.Millisecond}, high, resume}, rest},
		{"a newer one was cut off", []step{ask, {"ann", "Earshot, tell me about the wind", cut}, high, resume}, "It blows"},
		{"what did not begin is no newer one", []step{ask, {"ann", "Earshot, tell me about the wind", 0}, high, resume}, rest},
		{"another was cut off in private", []step{ask, high, {"ann", "/msg Earshot tell me about the wind", cut}, {"ann", "/msg Earshot how high?", whole}, resume}, rest},
		{"in private", []step{{"ann", "/msg Earshot tell me about the wind", cut}, {"ann", "/msg Earshot how high?", whole}, {"ann", "/msg Earshot what were you saying?", whole}}, "It blows"},
		{"in private, by somebody else", []step{{"ann", "/msg Earshot tell me about the wind", cut}, {"ann", "/msg Earshot how high?", whole}, {"bob", "/msg Earshot what were you saying?", whole}}, ""},
		{"in private, and asked openly", []step{{"ann", "/msg Earshot tell me about the wind", cut}, {"ann", "/msg Earshot how high?", whole}, resume}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := man(t, interruptible(), "bob")
				for _, s := range tt.steps {
					if s.text == "(restart)" {
						c.again(t)
						continue
					}
					c.must(t, s.who, s.text, s.then)
				}
				c.stop()
				all := c.replies()
				last := all[len(all)-1]
				if got := string(last.Offered); !strings.HasPrefix(got, tt.want) || (got == "falls again.") != (tt.want == "") || last.Outcome != earshot.Completed {
					t.Errorf("it said %q, %s; want %q", got, last.Outcome, tt.want)
				}
			})
		})
	}
}

// TestResumeOfAnother: somebody who is alone with several agents and calls none of them hears the
// rest of the reply that was cut off last. If they call an agent, they hear the rest of that
// agent's reply.
func TestResumeOfAnother(t *testing.T) {
	for _, tt := range []struct{ name, asked, ask, want string }{
		{"nobody is called", "@Scout tell me about the tides", "go on", "Twice a day"},
		{"nobody is called, after a restart", "@Scout tell me about the tides", "(restart) go on", "Twice a day"},
		{"the other is, after a restart", "@Scout tell me about the tides", "(restart) @Scout go on", "Twice a day"},
		{"the other is", "@Scout tell me about the tides", "@Scout go on", "Twice a day"},
		{"the main one was cut off", "tell me about the tides", "go on", "Twice a day"},
		{"what it was about", "tell me about the tides", "what were you saying about the tides?", "Twice a day"},
		{"what it was about, in its question", "tell me about the tides at Dover", "what were you saying about Dover?", "Twice a day"},
		{"what it was about, after a restart", "tell me about the tides at Dover", "(restart) what were you saying about Dover, please?", "Twice a day"},
		{"what it was about, in a short word", "tell me about the tides of the sea", "what were you saying about the sea?", "Twice a day"},
		{"what it was about is not named", "tell me about the tides", "what were you saying about it before I interrupted you?", "Twice a day"},
		{"it was not about that", "tell me about the tides", "what were you saying about tea?", "falls again."},
		{"what it was not about", "tell me about the tides", "what were you saying about dinner?", "falls again."},
		{"the main one is called", "@Scout tell me about the tides", "@Earshot go on", "Sixteen."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := man(t, interruptible())
				c.must(t, "ann", tt.asked, 2100*time.Millisecond)
				c.must(t, "ann", "@Earshot how high?", 20*time.Second)
				ask, restarts := strings.CutPrefix(tt.ask, "(restart) ")
				if restarts {
					c.again(t)
				}
				c.must(t, "ann", ask, 20*time.Second)
				c.stop()
				all := c.replies()
				if last := all[len(all)-1]; !strings.HasPrefix(string(last.Offered), tt.want) {
					t.Errorf("it said %q, want %q", string(last.Offered), tt.want)
				}
			})
		})
	}
}

// TestResumeOfTheLatest: of several agents that were cut off, the one that was cut off last goes
// on, whether the program has been restarted since or not.
func TestResumeOfTheLatest(t *testing.T) {
	const tides, wind, restart = "@Scout tell me about the tides", "@Earshot tell me about the wind", "(restart)"
	for _, tt := range []struct {
		name string
		says []string
		want string
	}{
		{"the other one", []string{wind, tides}, "Twice a day"},
		{"the main one", []string{tides, wind}, "It blows"},
		{"the other one, after a restart", []string{wind, tides, restart}, "Twice a day"},
		{"the main one, after a restart", []string{tides, wind, restart}, "It blows"},
		{"the other one, cut off since a restart", []string{wind, restart, tides}, "Twice a day"},
		{"the main one, cut off since a restart", []string{tides, restart, wind}, "It blows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := man(t, interruptible())
				for _, text := range tt.says {
					if text == restart {
						c.again(t)
						continue
					}
					c.must(t, "ann", text, 2100*time.Millisecond)
				}
				c.must(t, "ann", "@Earshot how high?", 20*time.Second)
				c.must(t, "ann", "go on", 20*time.Second)
				c.stop()
				all := c.replies()
				if last := all[len(all)-1]; !strings.HasPrefix(string(last.Offered), tt.want) {
					t.Errorf("it said %q, want %q", string(last.Offered), tt.want)
				}
			})
		})
	}
}

// TestResumeIsForgotten: a reply cannot be resumed once its question is taken back, and does not
// stay in a prompt.
func TestResumeIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := interruptible().open(t.Context())
		e := named("m", "tell me about the tides")
		h.admits(t, e)
		time.Sleep(2100 * time.Millisecond)
		h.say(t, "how high?")
		time.Sleep(20 * time.Second)
		h.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
		h.say(t, "what were you saying?")
		time.Sleep(20 * time.Second)
		h.stop()
		if got := h.replies(); got[len(got)-1].Offered != "falls again." {
			t.Errorf("it said %q", string(got[len(got)-1].Offered))
		}
		if found := h.remains("Twice"); len(found) > 0 {
			t.Errorf("the old words are in %v", found)
		}
	})
}

// TestResumptionIsForgotten: when the question to a reply that was cut off is taken back, the
// resumption of that reply goes with it, however far apart the two are.
func TestResumptionIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := interruptible().open(t.Context())
		e := named("m", "tell me about the tides")
		h.admits(t, e)
		time.Sleep(2100 * time.Millisecond)
		for range 60 { // more than a dialogue holds
			h.say(t, "how high?")
			time.Sleep(time.Second)
		}
		h.say(t, "what were you saying?")
		time.Sleep(20 * time.Second)
		if got := h.replies(); !strings.HasPrefix(string(got[len(got)-1].Offered), "Twice a day") {
			t.Fatalf("it said %q", string(got[len(got)-1].Offered))
		}
		h.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
		h.say(t, "how high?")
		time.Sleep(20 * time.Second)
		h.stop()
		if found := h.remains("Twice"); len(found) > 0 {
			t.Errorf("the old words are in %v", found)
		}
	})
}

// TestResumePrompt: what an agent was saying stays before its model while it answers others. When
// it is to go on, the model is told what of that was heard, who cut it off, and with which words it
// has begun again.
func TestResumePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := interruptible().open(t.Context())
		instructions := func() string {
			seen := h.model.Seen()
			return seen[len(seen)-1].Messages[len(seen[len(seen)-1].Messages)-1].Text
		}
		h.say(t, "tell me about the tides")
		time.Sleep(2100 * time.Millisecond)
		h.say(t, "how high?")
		time.Sleep(20 * time.Second)
		h.say(t, "how high?")
		time.Sleep(20 * time.Second)
		if got := instructions(); !strings.Contains(got, "ann cut you off there. The last that was heard") || strings.Contains(got, "said what you wanted") {
			t.Errorf("after another answer the model is told %s", got)
		}
		h.say(t, "what were you saying?")
		time.Sleep(20 * time.Second)
		for _, want := range []string{
			"when ann cut you off", `ends with "The tides follow the moon. Twice a day the water`, `by saying "Twice a day the`,
		} {
			if got := instructions(); !strings.Contains(got, want) {
				t.Errorf("the model is not told %q: %s", want, got)
			}
		}
		h.say(t, "how high?")
		time.Sleep(20 * time.Second)
		if got := instructions(); strings.Contains(got, "cut you off") {
			t.Errorf("once it was resumed the model is told %s", got)
		}
		h.stop()
	})
}

// TestResumePromptAfterARestart: a model that was cut off by the end of the program is told that,
// and not that somebody cut it off.
func TestResumePromptAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, interruptible())
		c.must(t, "ann", "tell me about the tides", 2100*time.Millisecond)
		c.again(t)
		c.must(t, "ann", "what were you saying?", 20*time.Second)
		c.stop()
		seen := c.model.Seen()
		last := seen[len(seen)-1].Messages
		if got := last[len(last)-1].Text; !strings.Contains(got, "what you were saying when you were switched off.") || strings.Contains(got, "cut you off") {
			t.Errorf("the model is told %s", got)
		}
	})
}

// TestResumeWithoutAModel: if no model works, the words that are kept are said to the last. A model
// that has nothing to add, or breaks, takes nothing away from them.
func TestResumeWithoutAModel(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rule    llmtest.Rule
		want    string
		outcome earshot.Outcome
	}{
		{"nothing to add", llmtest.Rule{When: "were you saying", Reply: " "}, "Twice a day the water", earshot.Completed},
		{"it breaks", llmtest.Rule{When: "were you saying", Trouble: llmtest.Trouble{Err: &llm.Error{Fault: llm.Unreachable, Engine: "script", Err: errors.New("gone")}}}, "Twice a day the water", earshot.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := interruptible()
				h.model.Rules = append([]llmtest.Rule{tt.rule}, h.model.Rules...)
				h.open(t.Context())
				h.say(t, "tell me about the tides")
				time.Sleep(2100 * time.Millisecond)
				h.say(t, "how high?")
				time.Sleep(20 * time.Second)
				h.say(t, "what were you saying?")
				time.Sleep(time.Minute)
				h.stop()
				all := h.replies()
				if last := all[len(all)-1]; strings.TrimSpace(string(last.Delivered())) != tt.want || last.Outcome != tt.outcome {
					t.Errorf("it said %q, %s", string(last.Delivered()), last.Outcome)
				}
			})
		})
	}
}

// TestResumeAloud: a voice resumes at the beginning of the sentence in which it was cut, and not in
// the middle of a word.
func TestResumeAloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.model.Every = time.Millisecond
		h.model.Rules = []llmtest.Rule{{When: "tides", Reply: tides}}
		h.model.Reply = "Sixteen."
		v := &testkit.Voice{Called: "loudspeaker", Aloud: true, Every: 60 * time.Millisecond}
		h.open(t.Context())
		h.Enter(v, earshot.Audience{Unknown: true})
		h.hears(t, "Earshot tell me about the tides", 1, time.Second)
		time.Sleep(3 * time.Second)
		h.hears(t, "Earshot how high", 1, time.Second)
		time.Sleep(time.Minute)
		before := len(v.Played())
		h.hears(t, "Earshot what were you saying", 1, time.Second)
		time.Sleep(time.Minute)
		h.stop()
		if got := v.Played()[before:]; got != "Twice a day the water rises along the coast, and falls again." {
			t.Errorf("it said %q", got)
		}
	})
}

// resumedAfter asks for the rest of a reply some minutes after the cut, and returns whether it was
// said.
func resumedAfter(minutes int) func(t *testing.T, h *house) string {
	return func(t *testing.T, h *house) string {
		h.model = interruptible().model
		h.open(t.Context())
		h.say(t, "tell me about the tides")
		time.Sleep(2100 * time.Millisecond)
		h.say(t, "how high?")
		time.Sleep(time.Duration(minutes) * time.Minute)
		h.say(t, "what were you saying?")
		time.Sleep(time.Minute)
		return fmt.Sprint(strings.Count(h.console.Played(), "Twice") == 2)
	}
}
