package main

import (
	"strings"
	"testing"

	"earshot"
	"earshot/llm/ollama/ollamatest"
	"earshot/llm/openai/llamatest"
)

// TestLlama talks to llama.cpp's own server, with a template that refuses prompts as Qwen's does,
// and checks what doctor says about it.
func TestLlama(t *testing.T) {
	t.Parallel()
	const tides = "The tides come twice a day."
	s := llamatest.Start(t, llamatest.Options{
		Model: ollamatest.Model{Says: "I have nothing to say to that.", Layers: 1, Routes: []ollamatest.Route{{Word: "tides", Says: tides}}},
		Template: `{%- for m in messages -%}
{%- if m.role == 'system' and not loop.first -%}{{- raise_exception('System message must be at the beginning.') -}}{%- endif -%}
{%- endfor -%}` + llamatest.Render,
	})
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_HOST="+s.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=parrot", "EARSHOT_EXECUTIVE_LLM_TOOLS=none")
	r := h.ask("good morning", "what of the tides?")
	if !strings.HasSuffix(r.out, tides+"\n") || r.code != success {
		t.Errorf("ended with %d and printed %q; complaints:\n%s", r.code, r.out, r.err)
	}
	for _, said := range h.replies() {
		if said.Outcome != earshot.Completed {
			t.Errorf("the transcript says %+v", said)
		}
	}
	r = h.earshot(nil, "doctor")
	if !strings.Contains(r.out, "✓ model          parrot on openai at "+s.Host()+"; its chat template accepts only one system message and then turns, so requests take that form") {
		t.Errorf("doctor ended with %d and printed\n%s", r.code, r.out)
	}
}
