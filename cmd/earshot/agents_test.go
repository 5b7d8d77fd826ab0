package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama/ollamatest"
)

// A cast is a set of agents, by name. Each has routes: what it says and which tools it calls in
// reply to certain words of others and to results of its calls.
type cast map[string][]ollamatest.Route

// calls returns the call of one tool. The arguments are in the order of the tool's schema, because
// a server holds a model that chooses by the schema to that order.
func calls(tool string, arguments ...string) []llm.Call {
	var members []string
	for i := 0; i < len(arguments); i += 2 {
		members = append(members, fmt.Sprintf("%q: %q", arguments[i], arguments[i+1]))
	}
	return []llm.Call{{Tool: tool, Arguments: json.RawMessage("{" + strings.Join(members, ", ") + "}")}}
}

// workers ask each other for help, work together on one thing, and could talk for ever.
var workers = cast{
	"Alice": {
		{Word: "ask Bob", Calls: calls("message_agent", "name", "Bob", "message", "Please make the file.")},
		{Word: "I have made", Says: "Bob has made test.txt."},
		{Word: "everyone", Calls: calls("message_agent", "name", "Coder", "message", "We need a script.")},
		{Word: "script.py", Says: "Coder has written the script."},
		{Word: "for ever", Says: "@Bob, the tide is low."},
		{Word: "is rising", Says: "The water is high."},
		{Word: "tell Bob", Calls: calls("message_agent", "name", "Bob", "message", "Tell me a tale.")},
		{Word: "hand over", Says: "@Bob, tell us a tale."},
		{Word: "where", Says: "We are in the middle of it."},
	},
	"Bob": {
		{Word: "make the file", Calls: calls("write_file", "path", "test.txt", "content", "hello")},
		{Word: "is written", Says: "I have made test.txt."},
		{Word: "everyone", Says: "I shall read what Coder writes."},
		{Word: "has written", Says: "I shall read what Coder writes."},
		{Word: "is low", Says: "Now it is rising."},
		{Word: "is high", Says: "See it falling away."},
		{Word: "tale", Says: tale},
	},
	"Coder": {
		{Word: "need a script", Calls: calls("write_file", "path", "script.py", "content", "print('hello')")},
		{Word: "is written", Says: "It is in script.py."},
		{Word: "everyone", Says: "The script is ready."},
		{Word: "has written", Says: "The script is ready."},
	},
}

// script returns the script that lets the scripted model play the whole cast.
func (c cast) script(t *testing.T) string {
	t.Helper()
	var rules []map[string]any
	for _, agent := range slices.Sorted(maps.Keys(c)) {
		for _, r := range c[agent] {
			rule := map[string]any{"agent": agent, "reply": r.Says}
			for _, c := range r.Calls {
				var given map[string]any
				if err := json.Unmarshal(c.Arguments, &given); err != nil {
					t.Fatal(err)
				}
				rule["calls"] = []any{map[string]any{"tool": c.Tool, "arguments": given}}
			}
			for _, key := range []string{"when", "result"} {
				rule := maps.Clone(rule)
				rule[key] = r.Word
				rules = append(rules, rule)
			}
		}
	}
	data, err := yaml.Marshal(map[string]any{"every_seconds": 0.01, "reply": greeting, "rules": rules})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// hire writes the agents of c into the configuration of h.
func (c cast) hire(h *home, models bool) {
	var text strings.Builder
	text.WriteString("agents:\n")
	for _, agent := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "- name: %s\n  prompt: Talk.\n", agent)
		if models {
			fmt.Fprintf(&text, "  model: %s\n", strings.ToLower(agent))
		}
	}
	h.write("config/earshot/config.yaml", text.String())
}

// exchanged returns the messages that agents sent each other during their turns.
func (h *home) exchanged() (all []string) {
	h.t.Helper()
	for _, e := range h.history() {
		if m, ok := e.Body.(earshot.Message); ok && m.Turn != "" {
			all = append(all, string(m.Text))
		}
	}
	return all
}

// file returns the content of a file in the workspace of one of the owner's agents.
func (h *home) file(agent, name string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, "state/earshot/workspaces/owner/agent", agent, name))
	if err != nil {
		h.t.Error(err)
	}
	return string(data)
}

// settle returns a home in which the workers think with models on a real server.
func (c cast) settle(t *testing.T, s *ollamatest.Server, like ollamatest.Model) *home {
	t.Helper()
	for agent, routes := range c {
		like.Says, like.Routes, like.Layers = greeting, routes, 1
		if agent == "Bob" { // he is cut off, so he must not be that fast
			like.Layers = 0
		}
		if err := s.Make(t.Context(), strings.ToLower(agent), like); err != nil {
			t.Fatal(err)
		}
	}
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=alice",
		"EARSHOT_EXECUTIVE_CONVERSATIONAL_SYSTEM_PROMPT=Talk.", "EARSHOT_EXECUTIVE_CONVERSATIONAL_MAX_TOKENS=2000",
		"EARSHOT_EXECUTIVE_LLM_FIRST_TOKEN_SECONDS=170", "EARSHOT_EXECUTIVE_LLM_TOTAL_SECONDS=175", fewTurns)
	c.hire(h, true)
	return h
}

// fewTurns sets how many messages agents may exchange in a row in these tests.
const fewTurns = "EARSHOT_EXECUTIVE_MULTI_PARTY_TURN_LIMIT=6"

// TestAgentsOllama does what [TestAgents] does, with models on a real server.
func TestAgentsOllama(t *testing.T) {
	t.Parallel()
	for name, like := range map[string]ollamatest.Model{"calls": {Tools: true}, "chooses": {Chooses: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workTogether(t, workers.settle(t, ollamatest.Start(t, ollamatest.Options{}), like))
		})
	}
}

// TestAgents has several agents work together, once with a model that calls tools and once with a
// model that cannot.
func TestAgents(t *testing.T) {
	t.Parallel()
	for _, can := range []bool{true, false} {
		t.Run(fmt.Sprintf("tools %v", can), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, fewTurns)
			h.scripted(fmt.Sprintf("tools: %v\n%s", can, workers.script(t)))
			workers.hire(h, false)
			workTogether(t, h)
		})
	}
}

// workTogether runs the whole session: agents ask each other and work together, hold a talk that
// would never end, and are stopped by a person in two ways.
func workTogether(t *testing.T, h *home) {
	w := h.open("run")
	asksAnother(t, h, w)
	everyoneWorks(t, h, w)
	talkForEver(t, h, w)
	interrupted(t, h, w, "@Alice hand over", "This is sentence number 3 of")
	interrupted(t, h, w, "@Alice tell Bob what to do", "Alice → Bob: Tell me a tale.")
	w.says("/exit")
	w.ended()
	if log := h.read("state/earshot/earshot.log"); strings.Contains(log, "sentence number") || strings.Contains(log, "make the file") {
		t.Error("what was said is in the log")
	}
}

// replied waits until n replies are in the journal, and returns them.
func (h *home) replied(n int) (replies []earshot.Reply) {
	h.t.Helper()
	testkit.Await(h.t, soon, fmt.Sprint(n, " replies"), func() bool { replies = h.replies(); return len(replies) >= n })
	if len(replies) > n {
		h.t.Errorf("%d replies, want %d", len(replies), n)
	}
	return replies
}

// asksAnother: an agent that is asked to ask another one does so with a tool, then answers the
// person, who sees all of it.
func asksAnother(t *testing.T, h *home, w *window) {
	t.Helper()
	w.says("@Alice ask Bob to create test.txt")
	w.await("Alice → Bob: Please make the file. Bob writes test.txt Bob → Alice: I have made test.txt. Alice: Bob has made test.txt.", 1)
	h.replied(1)
	if got := h.exchanged(); !slices.Equal(got, []string{"Please make the file.", "I have made test.txt."}) {
		t.Errorf("they wrote %q to each other", got)
	}
	if got := h.file("bob", "test.txt"); got != "hello" {
		t.Errorf("the file says %q", got)
	}
}

// everyoneWorks: each agent that was called answers, and one asks another.
func everyoneWorks(t *testing.T, h *home, w *window) {
	t.Helper()
	w.says("@Alice @Bob @Coder everyone work together on a Python script")
	w.await("Alice → Coder: We need a script. Coder writes script.py Coder → Alice: It is in script.py. Alice: Coder has written the script.", 1)
	w.await("Bob: I shall read what Coder writes.", 1)
	w.await("Coder: The script is ready.", 1)
	h.replied(4)
	if got := h.exchanged(); len(got) != 4 || h.file("coder", "script.py") != "print('hello')" {
		t.Errorf("they wrote %q to each other", got)
	}
}

// talkForEver lets two agents talk until the turn limit ends the talk.
func talkForEver(t *testing.T, h *home, w *window) {
	t.Helper()
	w.says("@Alice talk for ever")
	w.await("Bob: @root, we have said 6 messages in a row; it is yours again.", 1)
	all := h.replied(11)[4:]
	for i, r := range all {
		if (r.Handover != nil) != (i == 6) || r.Reflex != (i == 6) {
			t.Errorf("message %d is %+v", i+1, r)
		}
	}
	w.still()
	if after := h.replies(); len(after) != 11 {
		t.Errorf("%d replies more", len(after)-11)
	}
}

// interrupted gives two agents a task and asks a question in the middle of it: the question is
// answered next, and nothing more comes of the task.
func interrupted(t *testing.T, h *home, w *window, task, middle string) {
	t.Helper()
	had, asked := len(h.replies()), strings.Count(w.text(), "We are in the middle of it.")
	w.says(task)
	w.await(middle, 1)
	w.says("@Alice where are we?")
	w.await("Alice: We are in the middle of it.", asked+1)
	w.still()
	shown := w.text()
	if n := strings.Count(shown, "[cut off]"); n == 0 || strings.Contains(shown, "number 36 ") {
		t.Errorf("nothing was cut off")
	}
	if strings.Contains(shown, "failed at") {
		t.Errorf("what was cut off is shown as a failure")
	}
	if !strings.HasSuffix(shown, "Alice: We are in the middle of it. >") {
		t.Errorf("something came afterwards")
	}
	testkit.Await(t, soon, "the answer in the journal", func() bool {
		return slices.ContainsFunc(h.replies()[had:], func(r earshot.Reply) bool { return string(r.Delivered()) == "We are in the middle of it." })
	})
}
