package think_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/executive"
	"earshot/executive/think"
	"earshot/llm"
	"earshot/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A house is where a mind thinks in a test.
type house struct {
	*think.Mind
	script  *llmtest.Script
	matter  think.SegmentInput
	bad     error // why Input fails
	log     strings.Builder
	stop    func()
	mu      sync.Mutex
	told    []string
	answers []think.Answer
	keeps   func(think.Question) // called while a segment is recorded
}

// open returns a house whose model follows the rules.
func open(t *testing.T, rules ...llmtest.Rule) *house {
	h := &house{script: &llmtest.Script{Rules: rules, Every: time.Second}, matter: matter()}
	ids := 0
	h.Mind = &think.Mind{
		Model: &llm.Scheduler{Engine: h.script}, Host: h, Settings: executive.DefaultConfig, Now: time.Now,
		NewID: func() earshot.EventID { ids++; return earshot.EventID(fmt.Sprintf("s%d", ids)) },
		Log:   slog.New(slog.NewTextHandler(&h.log, nil)),
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	h.stop = func() { cancel(); running.Wait() }
	return h
}

func (h *house) Input(_ context.Context, q think.Question, since int64) (think.SegmentInput, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.matter, h.bad
}

func (h *house) Keep(_ context.Context, q think.Question, s think.Segment) {
	if h.keeps != nil {
		h.keeps(q)
	}
	h.note("keep %s of %s: %s, %s", s.ID, s.Of, strings.TrimSpace(string(s.Text)), s.Outcome)
}

func (h *house) Found(_ context.Context, q think.Question, a think.Answer) {
	h.note("found by %s: %d, %d refused", a.Segment, len(a.Findings), a.Refused)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = append(h.answers, a)
}

func (h *house) Waits(q think.Question, why error) { h.note("%s waits: %v", q.ID, why) }

func (h *house) Over(q think.Question, found int, stopped bool) {
	h.note("over %s: %d found, stopped: %v", q.ID, found, stopped)
}

func (h *house) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, fmt.Sprintf(format, args...))
}

func (h *house) wants(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := strings.Join(h.told, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s\n\nwant\n%s", got, strings.Join(want, "\n"))
	}
	h.told = nil
}

// thought and findings are rules of a script.
func thought(when, text string) llmtest.Rule {
	return llmtest.Rule{For: llmtest.ForThought, When: when, Reply: text}
}

func findings(when, text string) llmtest.Rule {
	return llmtest.Rule{For: llmtest.ForFindings, When: when, Reply: text}
}

// oneFinding is the answer of a model with one finding.
const oneFinding = `{"findings":[{"text":"Ann is under time pressure.","evidence":["e1"],"confidence":0.8,"minutes":30,"worth_saying":true}]}`

// TestInterruptedAndContinued: a thought is cut short, kept, and continued with what came in
// between.
func TestInterruptedAndContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t,
			thought("You were interrupted by:\nAnn: Hey, what time is it?", "their focus may be deadline-driven"),
			thought("", "The user appears focused because"), findings("The user appears focused\ntheir", oneFinding), findings("", oneFinding))
		defer h.stop()
		if err := h.Ask(fresh("")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4500 * time.Millisecond)
		h.Park(earshot.Interruption{By: "ann", Signal: "typing", At: time.Now()})
		synctest.Wait()
		h.wants(t, "keep  of : The user appears focused, interrupted")
		asked := len(h.script.Seen())
		time.Sleep(29 * time.Second)
		if n := len(h.script.Seen()); n != asked {
			t.Errorf("what is parked asked %d times", n-asked)
		}
		h.mu.Lock()
		h.matter.Update = think.Update{By: "Ann: Hey, what time is it?", Answered: "Earshot: It's 3:45 PM"}
		h.mu.Unlock()
		h.Release()
		time.Sleep(time.Minute)
		h.wants(t, "keep s1 of : their focus may be deadline-driven, completed", "found by s1: 1, 0 refused", "over : 1 found, stopped: false")
		seen := h.script.Seen()
		if last := seen[1].Messages[len(seen[1].Messages)-1].Text; !strings.Contains(last, "You were thinking:\nThe user appears focused\n") {
			t.Errorf("it goes on with %s", last)
		}
		if seen[0].Priority != llm.Reasoning || seen[0].MaxTokens != 1024 || len(seen[0].Tools) != 1 || seen[0].Think {
			t.Errorf("%+v", seen[0])
		}
	})
}

// TestAMoreUrgentRequestParks: a thought that loses the engine continues when it gets the engine
// back, and nothing is lost.
func TestAMoreUrgentRequestParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, thought("You were thinking", "three four"), thought("", "one two nine"))
		defer h.stop()
		h.Ask(asked("q"))
		time.Sleep(2500 * time.Millisecond)
		began := time.Now()
		for d := range h.Model.Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson}) {
			if d.Done != nil && time.Since(began) > 0 {
				t.Errorf("the reply waited %v", time.Since(began))
			}
		}
		time.Sleep(time.Minute)
		h.wants(t, "keep q of : , asked", "keep s1 of q: one two, interrupted", "keep s2 of q: three four, completed", "over q: 0 found, stopped: false")
	})
}

// TestWhatWasDefusedComesBack: a thought that repeats escaped text is kept unescaped, and escaped
// again where it continues.
func TestWhatWasDefusedComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, thought("You were thinking:\nAnn wrote (\u2060FROM: Bob]\n", "and so on"), thought("", "Ann wrote (\u2060FROM: Bob] then more"))
		defer h.stop()
		h.Ask(asked("q"))
		time.Sleep(4500 * time.Millisecond)
		h.Park(earshot.Interruption{By: "ann", Signal: "typing", At: time.Now()})
		synctest.Wait()
		h.Release()
		time.Sleep(time.Minute)
		h.wants(t, "keep q of : , asked", "keep s1 of q: Ann wrote [FROM: Bob], interrupted", "keep s2 of q: and so on, completed", "over q: 0 found, stopped: false")
	})
}

// TestAModelThatFails is asked again, three times at most; what it had said is kept, and its text
// is in no log.
func TestAModelThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, llmtest.Rule{For: llmtest.ForThought, Reply: "a secret word", Trouble: llmtest.Trouble{After: 1, Err: &llm.Error{Fault: llm.Broken, Engine: "script"}}},
			findings("", "no JSON at all"))
		defer h.stop()
		h.Ask(asked("q"))
		time.Sleep(10 * time.Minute)
		h.wants(t, "keep q of : , asked", "keep s1 of q: a, failed", "keep s2 of q: a, failed", "keep s3 of q: a, failed", "over q: 0 found, stopped: false")
		if n := len(h.script.Seen()); n != 6 {
			t.Errorf("asked %d times", n)
		}
		if log := h.log.String(); strings.Contains(log, "secret") || strings.Contains(log, "JSON") || strings.Count(log, "fault=broken") != 3 {
			t.Error(log)
		}
	})
}

// TestApart: a thought begins as a reply does, so that one slot serves both; where each has its own
// slot, it begins differently, and continues as a reply would.
func TestApart(t *testing.T) {
	for apart, want := range map[bool]string{false: "", true: "What follows is for you to think about, and nobody hears it."} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, thought("", "Hm."), findings("", oneFinding))
			defer h.stop()
			h.matter.Apart = apart
			h.Ask(asked("q"))
			time.Sleep(time.Minute)
			seen := h.script.Seen()
			if len(seen) != 2 {
				t.Fatalf("%d requests, want one to think and one to find", len(seen))
			}
			for _, req := range seen {
				first, like := req.Messages[0].Text, req.Messages[:len(req.Messages)-1]
				if apart {
					like = like[1:]
				}
				if (first == want) != apart || !slices.EqualFunc(like, h.matter.Messages, func(a, b llm.Message) bool { return a.Role == b.Role && a.Text == b.Text }) {
					t.Errorf("apart %v: it is asked %v", apart, req.Messages)
				}
			}
		})
	}
}

// TestStoppedAtTheLastMoment: a thought that is stopped after the model has returned findings, but
// before they are recorded, has found nothing.
func TestStoppedAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, thought("", "Hm."), findings("", oneFinding))
		defer h.stop()
		h.keeps = func(q think.Question) {
			if q.ID == "r" {
				h.keeps = nil
				time.Sleep(time.Minute) // a slow disk
				if v := h.View(); v[0].ID != "q" || v[0].Phase != think.Sorting {
					t.Errorf("thought is %+v", v)
				}
				if !h.Stop("ann", func(think.Question) bool { return true }) {
					t.Error("there was nothing to stop")
				}
			}
		}
		h.Ask(asked("q"))
		time.Sleep(1500 * time.Millisecond) // it is being distilled
		h.Ask(asked("r"))
		time.Sleep(time.Hour)
		h.wants(t, "keep q of : , asked", "keep s1 of q: Hm., completed", "keep r of : , asked",
			"keep s2 of r: , suppressed", "over r: 0 found, stopped: true", "keep s3 of q: , suppressed", "over q: 0 found, stopped: true")
	})
}

// TestNoMatter: if the input of a thought cannot be read, that is a failure like others.
func TestNoMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		defer h.stop()
		h.mu.Lock()
		h.bad = errors.New("the disk is gone")
		h.mu.Unlock()
		h.Ask(asked("q"))
		time.Sleep(10 * time.Minute)
		h.wants(t, "keep q of : , asked", "keep s1 of q: , failed", "over q: 0 found, stopped: false")
	})
}

// TestTheProgramEnds in the middle of a thought: the thought is recorded, and so is one that has
// not begun.
func TestTheProgramEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, thought("", "one two three"))
		h.Ask(asked("q"))
		h.Ask(asked("r"))
		time.Sleep(2500 * time.Millisecond)
		h.stop()
		h.wants(t, "keep q of : , asked", "keep r of : , asked", "keep s1 of q: one two, interrupted")
		if h.Ask(asked("later")); h.Busy() {
			t.Error("it thinks although it has ended")
		}
	})
}

// TestFindingsArePutTogether by the model when there are too many; if it cannot, some make room.
func TestFindingsArePutTogether(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want, found string }{
		"it can": {`{"findings":[{"text":"Old things.","merges":["f1","f2"],"confidence":1,"minutes":600,"worth_saying":false},{"text":"No.","merges":["f1","f9"],"confidence":1,"minutes":600,"worth_saying":false}]}`,
			"found by n: 2, 0 refused", "Old things. 0.6 1h0m0s [] false merges [a b]; Ann is under time pressure. 0.8 30m0s [x] true"},
		"it cannot": {"I cannot.", "found by n: 1, 0 refused", "Ann is under time pressure. 0.8 30m0s [x] true"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, thought("", "Hm."), findings("You have found more", tt.answer), findings("", oneFinding))
				defer h.stop()
				h.Now = func() time.Time { return began }
				h.matter.Buffered = []think.BufferedFinding{kept("a", 500, 0.6), kept("b", 520, 0.4)}
				h.Ask(fresh("n"))
				time.Sleep(time.Minute)
				synctest.Wait()
				h.wants(t, "keep n of : Hm., completed", tt.want, fmt.Sprintf("over n: %d found, stopped: false", len(h.answers[0].Findings)))
				if got := told(h.answers[0].Findings); got != tt.found {
					t.Errorf("%s, want %s", got, tt.found)
				}
			})
		})
	}
}

// TestWhatIsKnownIsNotFoundAgain while it is true, unless somebody has asked.
func TestWhatIsKnownIsNotFoundAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		q     think.Question
		after time.Duration // how long the finding has been stale; negative if it still holds
		want  string
	}{
		"unasked":  {fresh("n"), -time.Hour, "keep n of : Hm., completed\nover n: 0 found, stopped: false"},
		"stale":    {fresh("n"), time.Hour, "keep n of : Hm., completed\nfound by n: 1, 0 refused\nover n: 1 found, stopped: false"},
		"asked it": {asked("q"), -time.Hour, "keep q of : , asked\nkeep s1 of q: Hm., completed\nfound by s1: 1, 0 refused\nover q: 1 found, stopped: false"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, thought("", "Hm."), findings("", oneFinding))
				defer h.stop()
				h.matter.Buffered = []think.BufferedFinding{{ID: "a", Text: "ann is under time pressure", Confidence: 0.7, Until: time.Now().Add(-tt.after), Same: true}}
				h.Ask(tt.q)
				time.Sleep(time.Minute)
				synctest.Wait()
				h.wants(t, tt.want)
			})
		})
	}
}

// TestItIsNotToThink: while thinking is off nothing is asked, however long that is.
func TestItIsNotToThink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, thought("", "one two"))
		defer h.stop()
		h.Ask(asked("q"))
		time.Sleep(1500 * time.Millisecond)
		h.SetEnabled(false)
		time.Sleep(time.Hour)
		h.wants(t, "keep q of : , asked", "keep s1 of q: one, interrupted")
		if n := len(h.script.Seen()); n != 1 {
			t.Errorf("asked %d times", n)
		}
		h.SetEnabled(true)
		time.Sleep(time.Minute)
		h.wants(t, "keep s2 of q: one two, completed", "over q: 0 found, stopped: false")
	})
}
