package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// TestATalkGivesWayElsewhere: an agent that answers another agent is parked while a person asks
// something in another room. It goes on afterwards, and nobody is told that a model is ill.
func TestATalkGivesWayElsewhere(t *testing.T) {
	exchange := calls("Earshot", "go", "message_agent", `{"name":"Scout","message":"count"}`)
	for _, tt := range []struct {
		name  string
		first llmtest.Rule
		wait  time.Duration // until somebody asks
		talk  string
	}{
		{"before its first word", llmtest.Rule{Agent: "Earshot", When: "go", Reply: "@Scout, count"}, 250 * time.Millisecond, "Earshot: @Scout, count|Scout: one two three"},
		{"in the middle", llmtest.Rule{Agent: "Earshot", When: "go", Reply: "@Scout, count"}, 450 * time.Millisecond, "Earshot: @Scout, count|Scout: one two one two three"},
		{"in an exchange", exchange, 350 * time.Millisecond, "Scout to Earshot: one two one two three|Earshot: Done."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Every = 100 * time.Millisecond
				h.model.Rules = []llmtest.Rule{
					after("Earshot", "one", "Done."), tt.first, {Agent: "Scout", When: "count", Reply: "one two three"}, {Agent: "Elsewhere", Reply: "a b c d e"},
				}
				h.llm = &llm.Scheduler{Engine: h.model}
				c := man(t, h)
				c.must(t, "ann", "@Earshot go", tt.wait)
				for range h.llm.Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson, Messages: []llm.Message{{Role: llm.System, Text: "You are Elsewhere."}, {Role: llm.User, Text: "x"}}}) {
				}
				time.Sleep(time.Minute)
				c.stop()
				if got := strings.Join(append(c.between(), c.talk()...), "|"); !strings.HasSuffix(got, tt.talk) {
					t.Errorf("they said %q", got)
				}
				if f := c.state().Faults; len(f) > 0 || strings.Contains(h.logged.String(), "failed") {
					t.Errorf("faults: %v\n%s", f, h.logged)
				}
			})
		})
	}
}

// TestAModelThatIsAlwaysParked: a model that is parked again and again ends the turn, and is not
// reported as ill.
func TestAModelThatIsAlwaysParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{{Trouble: llmtest.Trouble{Err: llm.ErrParked}}}
		c := man(t, h)
		c.must(t, "ann", "@Earshot go", time.Minute)
		c.stop()
		if r := c.replies(); len(r) != 1 || r[0].Outcome != "failed" || len(c.state().Faults) > 0 || len(h.model.Seen()) > 20 {
			t.Errorf("%+v after %d requests, %v", r, len(h.model.Seen()), c.state().Faults)
		}
	})
}
