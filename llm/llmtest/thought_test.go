package llmtest_test

import (
	"encoding/json"
	"testing"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// TestScriptThinks: lines for thoughts are never said, and lines for replies are never thought.
func TestScriptThinks(t *testing.T) {
	rules := []llmtest.Rule{
		{When: "tea", Reply: "Tea, please."},
		{For: llmtest.ForThought, When: "INTERRUPTED by tea", Reply: "They are thirsty."},
		{For: llmtest.ForThought, When: "tea", Reply: "Is it four already?"},
		{For: llmtest.ForFindings, When: "tea", Reply: `{"findings":[1]}`},
	}
	full, none := &llmtest.Script{Reply: "What?", Rules: rules}, &llmtest.Script{Reply: "What?"}
	for _, tt := range []struct {
		name     string
		s        *llmtest.Script
		priority llm.Priority
		schema   string
		last     string // the last message, from the system
		want     string
	}{
		{"a reply", full, llm.ReplyToPerson, "", "interrupted by tea", "Tea,| please."},
		{"a reply by a schema", full, llm.ReplyToPerson, "{}", "", "Tea,| please."},
		{"a thought", full, llm.Reasoning, "", "think of tea", "Is| it| four| already?"},
		{"one that goes on", full, llm.Reasoning, "", "interrupted by tea", "They| are| thirsty."},
		{"one of nothing", full, llm.Reasoning, "", "think", ""},
		{"what was found", full, llm.Reasoning, "{}", "tea?", `{"findings":[1]}`},
		{"nothing was found", full, llm.Reasoning, "{}", "coffee?", `{"findings":[]}`},
		{"no rules", none, llm.Reasoning, "", "tea", ""},
	} {
		req := &llm.Request{Priority: tt.priority, Messages: []llm.Message{{Role: llm.User, Text: "Tea?"}, {Role: llm.System, Text: tt.last}}}
		if tt.schema != "" {
			req.Schema = json.RawMessage(tt.schema)
		}
		if got, done, err := ask(t.Context(), tt.s, req); got != tt.want || done == nil || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q", tt.name, got, done, err, tt.want)
		}
	}
}
