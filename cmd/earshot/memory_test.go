package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/testkit"
)

// TestAKillForgetsNoMemory: a daemon that is killed while a model writes down what to remember has it
// written down after the next start, once, and shows it to people and programs.
func TestAKillForgetsNoMemory(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EARSHOT_EXECUTIVE_MEMORY_QUIET_SECONDS=1")
	for i, entry := range h.env {
		if strings.HasPrefix(entry, "EARSHOT_EXECUTIVE_MEMORY_ENABLED=") {
			h.env[i] = "EARSHOT_EXECUTIVE_MEMORY_ENABLED=true"
		}
	}
	script := "reply: Hello there.\nrules:\n  - for: memory\n    when: \"\"\n    every_seconds: %v\n    reply: '" +
		`{"summary": "of a ferry", "facts": [{"text": "She takes the ferry", "about": ["p1"], "subject": "ferry", "evidence": ["e1"], "confidence": 1, "days": 0, "due": ""}]}` + "'\n"
	h.scripted(fmt.Sprintf(script, 2))
	d := h.daemon()
	h.earshot(nil, "say", "I take the ferry")
	testkit.Await(t, soon, "the memory agent to be asked", func() bool { return strings.Contains(h.earshot(nil, "agents").out, "memory") })
	d.end(syscall.SIGKILL)
	h.write("model.yaml", fmt.Sprintf(script, 0.001))
	h.daemon()
	testkit.Await(t, soon, "what is remembered", func() bool { return strings.Contains(h.earshot(nil, "memory").out, "She takes the ferry") })
	if r := h.earshot(nil, "memory", "--json", "all"); strings.Count(r.out, `"kind":"fact"`) != 1 || strings.Count(r.out, "\n") != 1 {
		t.Errorf("for programs it prints %q, complaints %q", r.out, r.err)
	}
	if r := h.earshot(nil, "export", "-"); strings.Count(r.out, `"kind":"fact"`) != 1 || strings.Count(r.out, `"kind":"summary"`) != 1 {
		t.Errorf("on record is %q, complaints %q", r.out, r.err)
	}
	if r := h.earshot(nil, "memory", "show", "9999"); r.code == success || !strings.Contains(r.err, "there is no fact 9999") {
		t.Errorf("a fact that is not there gives %d, %q", r.code, r.err)
	}
}
