package room_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// TestAgentsThatRemindForEver: agents that set a reminder each time before they answer each other
// do not keep going by that. They stop at the limit.
func TestAgentsThatRemindForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.llm = &reminders{}
		c := pair(t, h)
		c.must(t, "ann", "talk to each other", time.Hour)
		c.stop()
		if got := c.handovers(); len(got) != 1 || got[0].Why != earshot.TurnLimit {
			t.Errorf("handed over %+v", got)
		}
		if n := len(c.talk()); n > 3*h.config.MultiParty.TurnLimit {
			t.Errorf("they said %d messages", n)
		}
	})
}

// reminders is a model that sets a reminder, waits until it is due, and calls the other agent.
type reminders struct{ n int }

func (r *reminders) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		r.n++
		d := llm.Delta{Call: &llm.Call{ID: "x", Tool: "remind", Arguments: json.RawMessage(fmt.Sprintf(`{"action":"set","in_seconds":1,"text":"%d"}`, r.n))}}
		if req.Messages[len(req.Messages)-1].Role == llm.Result {
			time.Sleep(2 * time.Second)
			d = llm.Delta{Text: fmt.Sprintf("@Scout, @Earshot, %s, %d", topics[r.n%len(topics)], r.n)}
		}
		if yield(d, nil) {
			yield(llm.Delta{Done: &llm.Done{}}, nil)
		}
	}
}

// stuck are workers whose agents do not end.
type stuck struct{ workers }

func (*stuck) Finish(ctx context.Context, _, _ earshot.ParticipantID) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestAHelperThatDoesNotEnd: an agent for a task that does not end keeps neither a person from the
// floor nor the program from ending.
func TestAHelperThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.staff = new(stuck)
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "look it up", "delegate", `{"task":"find the answer"}`), {Agent: "Earshot", When: "what is new", Reply: "Yes."}, {Reply: "forty-two"},
		}
		c := man(t, h)
		c.must(t, "ann", "@Earshot look it up", time.Second)
		c.must(t, "ann", "@Earshot what is new?", 20*time.Second)
		if got := c.console.Played(); got != "Yes." {
			t.Errorf("said %q", got)
		}
		c.must(t, "ann", "@Earshot look it up", time.Second)
		began := time.Now()
		c.stop()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}
