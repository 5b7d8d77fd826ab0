package room_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// reads returns the notices with a certain text that the console was shown.
func (h *house) reads(containing string) (all []string) {
	for _, e := range h.console.Shown() {
		if n, is := e.Body.(earshot.Notice); is && strings.Contains(n.Text+n.Cure, containing) {
			all = append(all, n.Text+" → "+n.Cure)
		}
	}
	return all
}

// TestASilentModel: somebody who waits is told after five seconds that nothing has come, and after
// thirty what is wrong and what mends it. If the model is late by less, they are told nothing.
func TestASilentModel(t *testing.T) {
	for _, tt := range []struct {
		name    string
		every   time.Duration // of the model's words
		after   float64       // slow_notice_seconds
		trouble llmtest.Trouble
		signs   map[time.Duration]int // how many have come by then
		ends    time.Duration         // when the turn is over
		said    string
	}{
		{"nothing", time.Second, 5, llmtest.Trouble{Hang: true}, map[time.Duration]int{4900 * time.Millisecond: 0, 5100 * time.Millisecond: 1, time.Minute: 1}, 30 * time.Second, ""},
		{"nothing, and no sign is wanted", time.Second, 0, llmtest.Trouble{Hang: true}, map[time.Duration]int{time.Minute: 0}, 30 * time.Second, ""},
		{"nothing, and a quick sign is", time.Second, 1.5, llmtest.Trouble{Hang: true}, map[time.Duration]int{1400 * time.Millisecond: 0, 1600 * time.Millisecond: 1}, 30 * time.Second, ""},
		{"a first word, and nothing more", 4 * time.Second, 5, llmtest.Trouble{Hang: true, After: 1}, map[time.Duration]int{time.Minute: 0}, 34 * time.Second, "one"},
		{"a late word", 6 * time.Second, 5, llmtest.Trouble{}, map[time.Duration]int{time.Minute: 1}, 0, "one two three four"},
		{"an error at once", time.Second, 5, llmtest.Trouble{Err: &llm.Error{Fault: llm.Unreachable, Engine: "a", Cure: "start it"}}, map[time.Duration]int{time.Minute: 0}, 100 * time.Millisecond, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.LLM.SlowNotice = field.Seconds(tt.after)
				h.model.Every, h.model.Troubles = tt.every, []llmtest.Trouble{tt.trouble}
				l := &llm.Ladder{Engines: []*llm.Scheduler{{Engine: deaf{h.model}}}}
				h.llm = l
				h.open(t.Context())
				defer h.stop()
				began := time.Now()
				h.say(t, "hello")
				if tt.ends > 0 {
					time.Sleep(tt.ends - time.Since(began) - 50*time.Millisecond)
					if len(h.replies()) > 0 && tt.ends > time.Second {
						t.Errorf("it is over already: %+v", h.replies())
					}
				}
				for _, by := range []time.Duration{1400 * time.Millisecond, 1600 * time.Millisecond, 4900 * time.Millisecond, 5100 * time.Millisecond, time.Minute} {
					if want, is := tt.signs[by]; is && time.Since(began) < by {
						time.Sleep(by - time.Since(began))
						if got := h.reads("has not answered yet"); len(got) != want {
							t.Errorf("by %v the signs are %q, want %d", by, got, want)
						}
					}
				}
				time.Sleep(time.Minute)
				r := h.replies()
				if len(r) != 1 || strings.TrimSpace(string(r[0].Delivered())) != tt.said || (r[0].Outcome == earshot.Failed) != (tt.ends > 0) {
					t.Errorf("replied was %+v, want %q", r, tt.said)
				}
				if tt.ends > time.Second && (len(r) == 0 || !strings.Contains(r[0].Fault, "stalled") || len(h.reads("executive.llm.first_token_seconds"))+len(h.reads("earshot doctor")) == 0) {
					t.Errorf("it is told nothing of it: %q", h.reads(""))
				}
			})
		})
	}
}

// deaf is an engine that cannot unload.
type deaf struct{ llm.Engine }

// TestThinkWithoutAModel: a question to think about is kept if no model can be asked. Whoever asked
// is told so once, and it is thought about when the model is back, even after a restart.
func TestThinkWithoutAModel(t *testing.T) {
	absent := llmtest.Trouble{Err: &llm.Error{Fault: llm.Unreachable, Engine: "a", Cure: "start it"}}
	for _, tt := range []struct {
		name    string
		trouble llmtest.Trouble
		away    time.Duration
		start   bool // the program ends and begins again meanwhile
		ill     bool // the fault is known already
		kept    bool
	}{
		{"for some seconds", absent, 4 * time.Second, false, false, true},
		{"for an hour", absent, time.Hour, false, false, true},
		{"for a day, with a start", absent, 20 * time.Hour, true, false, true},
		{"as everybody knows", absent, time.Hour, false, true, true},
		{"a server that says nothing", llmtest.Trouble{Hang: true}, time.Hour, false, false, true},
		{"a server without the model", llmtest.Trouble{Err: &llm.Error{Fault: llm.NoModel, Engine: "a", Cure: "pull it"}}, time.Hour, false, false, true},
		{"a model that answers nonsense", llmtest.Trouble{Err: &llm.Error{Fault: llm.BadAnswer, Engine: "a"}}, time.Hour, false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := thinking(thinks("", "it is blue"), one("It is blue."))
				back := time.Now().Add(tt.away)
				h.llm = &llm.Ladder{Engines: []*llm.Scheduler{{Engine: outage{deaf{h.model}, &llmtest.Script{Rules: []llmtest.Rule{{For: llmtest.ForThought, Trouble: tt.trouble}, {Trouble: tt.trouble}}}, back}}}}
				h.open(t.Context())
				if tt.ill {
					h.say(t, "hello")
					time.Sleep(time.Second)
				}
				answer := h.command(t, "think", "which colour is it?")
				if strings.Contains(answer, "is kept") != tt.ill {
					t.Errorf("the answer is %q", answer)
				}
				time.Sleep(time.Until(back) / 2)
				if view := h.command(t, "think", ""); tt.kept && tt.away > time.Minute && !strings.Contains(view, "which colour is it?") {
					t.Errorf("halfway it shows %q", view)
				}
				told := h.reads("is kept, and I will think about it when the model is back")
				if want := map[bool]int{true: 1}[tt.kept] + map[bool]int{true: 1}[tt.ill]; len(told) != want {
					t.Errorf("it is told %q, want %d", told, want)
				} else if want > 0 && !strings.Contains(told[want-1], " → "+map[bool]string{true: "start it", false: "choose a smaller model, or raise executive.llm.first_token_seconds"}[tt.trouble.Err == absent.Err]) && !strings.Contains(told[0], "pull it") {
					t.Errorf("it is told without a cure: %q", told)
				}
				if tt.start {
					h.stop()
					h.past = h.journal.Events()
					h.open(t.Context())
				}
				time.Sleep(time.Until(back) + 3*time.Minute)
				if got := strings.Contains(h.thoughts(), "it is blue"); got != tt.kept {
					t.Errorf("thought was %q", h.thoughts())
				}
				h.stop()
				n, want := strings.Count(h.logged.String(), "a stretch of thought failed"), 1
				if tt.start {
					want++
				}
				if tt.kept && n != want {
					t.Errorf("the log has it %d times, want %d", n, want)
				}
			})
		})
	}
}

// outage is an engine that is replaced by an ill one until it is back.
type outage struct {
	llm.Engine
	ill  llm.Engine
	back time.Time
}

func (o outage) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	if time.Now().Before(o.back) {
		time.Sleep(100 * time.Millisecond) // so that a command is answered before its thought fails
		return o.ill.Stream(ctx, req)
	}
	return o.Engine.Stream(ctx, req)
}
