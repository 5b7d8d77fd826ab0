package health

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"earshot/api"
	"earshot/internal/usage"
	"earshot/llm"
)

// TestCostsDamaged: a file that cannot be read is set aside, and counting begins anew.
func TestCostsDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, CostsFile)
	if err := os.WriteFile(path, []byte("[1, 2"), 0o600); err != nil {
		t.Fatal(err)
	}
	var c Costs
	c.Open(dir, slog.New(slog.DiscardHandler))
	c.CountRequest(llm.Usage{Priority: llm.Reasoning, PromptTokens: 5, Origin: llm.Origin{Thought: "t"}})
	c.Write()
	if data, err := os.ReadFile(path + ".damaged"); err != nil || string(data) != "[1, 2" {
		t.Errorf("what could not be read is %q, %v", data, err)
	}
	again, err := ReadCosts(dir)
	if err != nil || usage.Sum(again.Days(time.Now(), 1)[0], nil).PromptTokens != 5 {
		t.Errorf("it was not counted anew: %v", err)
	}
}

// TestCostsOfRefusals: a refused thought counts as a request, and not as a thought.
func TestCostsOfRefusals(t *testing.T) {
	var c Costs
	c.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	thought := llm.Usage{Priority: llm.Reasoning, Origin: llm.Origin{Thought: "t"}, Took: time.Second}
	c.CountRequest(thought)
	if got := usage.Sum(c.Today(), nil); got.Made != 0 || got.Requests != 1 {
		t.Errorf("after a refusal %+v is spent", got)
	}
	thought.PromptTokens = 5
	c.CountRequest(thought)
	if got := usage.Sum(c.Today(), nil); got.Made != 1 || got.Requests != 2 {
		t.Errorf("after the thought %+v is spent", got)
	}
}

// TestSpentOn: the costs of a day are put into words.
func TestSpentOn(t *testing.T) {
	reply := api.UsagePurpose{Kind: usage.Reply, Asked: true}
	for _, tt := range []struct {
		lines []api.UsageLine
		want  string
	}{
		{nil, "no model was used"},
		{[]api.UsageLine{{UsagePurpose: reply, UsageAmount: api.UsageAmount{Requests: 1}}}, "a model was asked 1 time, and did not answer"},
		{[]api.UsageLine{{UsagePurpose: api.UsagePurpose{Kind: usage.Thought}, UsageAmount: api.UsageAmount{Requests: 2, Seconds: 3}}, {UsagePurpose: reply, UsageAmount: api.UsageAmount{Requests: 1}}}, "a model was asked 3 times, and did not answer"},
		{[]api.UsageLine{{UsagePurpose: reply, UsageAmount: api.UsageAmount{Made: 1, Requests: 2, PromptTokens: 1234, ReplyTokens: 20, Seconds: 3.2}}},
			"1 reply, 0 thoughts, 1,254 tokens, 3 s of model time; none of it unasked"},
		{[]api.UsageLine{
			{UsagePurpose: reply, UsageAmount: api.UsageAmount{Made: 12, Requests: 15, PromptTokens: 1_000_000, Seconds: 400, Estimated: 1}},
			{UsagePurpose: api.UsagePurpose{Kind: usage.Thought}, UsageAmount: api.UsageAmount{Made: 5, Requests: 9, ReplyTokens: 18_000, Seconds: 120}},
		}, "12 replies, 5 thoughts, about 1,018,000 tokens, 9 min of model time; of that unasked: 5 thoughts, 18,000 tokens, 2 min"},
		{[]api.UsageLine{
			{UsagePurpose: api.UsagePurpose{Kind: usage.Thought, Asked: true}, UsageAmount: api.UsageAmount{Made: 2, Requests: 2, ReplyTokens: 30, Seconds: 1}},
			{UsagePurpose: api.UsagePurpose{Kind: usage.Other}, UsageAmount: api.UsageAmount{Requests: 1, ReplyTokens: 5, Seconds: 1}},
		}, "0 replies, 2 thoughts, 35 tokens, 2 s of model time; of that unasked: 5 tokens, 1 s"},
	} {
		if got := CostsText(api.UsageDay{Lines: tt.lines}); got != tt.want {
			t.Errorf("%q\nwant %q", got, tt.want)
		}
	}
}
