package main

import (
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
)

// twoAgents is a configuration with two agents besides the main one.
const twoAgents = `agents:
- {name: Alice, description: writes poems}
- {name: Bob, description: counts things}
`

// pair is a model for a task that needs both agents, and for a talk in which one of them says LONG.
const pair = `every_seconds: 0.01
reply: Well.
rules:
- agent: Earshot
  when: poem about the tides
  reply: "Alice writes it. "
  calls: [{tool: message_agent, arguments: {name: Alice, message: "two lines about the tides, and keep them"}}]
- agent: Earshot
  result: sea
  calls: [{tool: message_agent, arguments: {name: Bob, message: "how many lines?"}}]
- {agent: Earshot, result: two, reply: "The sea breathes in, the moon looks on: two lines."}
- {agent: Earshot, when: three words, reply: "Here they are."}
- agent: Alice
  when: two lines
  calls: [{tool: write_file, arguments: {path: tides.txt, content: "The sea breathes in"}}]
- {agent: Alice, result: "", reply: "The sea breathes in, the moon looks on."}
- {agent: Bob, when: how many, reply: "They are two."}
- {agent: Alice, when: debate, reply: "@Bob, odd numbers are nicer."}
- {agent: Bob, when: odd, reply: "Two makes a pair, and LONG"}
`

// TestTwoAgents: a person gives a task that needs two agents, sees who does what, cuts into their
// talk, and has the floor at once.
func TestTwoAgents(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("config/earshot/config.yaml", twoAgents)
	h.scripted(strings.ReplaceAll(pair, "LONG", strings.Repeat("so does the next ", 2000))) // takes minutes to say
	w := h.open("run")
	w.await("agents Earshot, Alice, Bob", 1)
	w.await(">", 1)
	w.says("write me a poem about the tides")
	for _, line := range []string{
		"Earshot: Alice writes it.",
		"Earshot → Alice: two lines about the tides, and keep them",
		"Alice writes tides.txt",
		"Alice → Earshot: The sea breathes in, the moon looks on.",
		"Earshot → Bob: how many lines?",
		"Bob → Earshot: They are two.",
		"Earshot: The sea breathes in, the moon looks on: two lines.",
	} {
		w.await(line, 1)
	}
	if got := h.read("state/earshot/workspaces/owner/agent/alice/tides.txt"); got != "The sea breathes in" {
		t.Errorf("the file holds %q", got)
	}
	text := w.text()
	order := []string{"Earshot: Alice writes it.", "Earshot → Alice:", "Alice writes tides.txt", "Alice → Earshot:", "Earshot → Bob:", "Bob → Earshot:", "Earshot: The sea"}
	for i, at := 0, 0; i < len(order); i++ {
		next := strings.Index(text[at:], order[i])
		if next < 0 {
			t.Fatalf("%q does not come after %q in\n%s", order[i], order[i-1], text)
		}
		at += next
	}
	other := h.begin("chat", "--identity", "last")
	other.await(">", 1)
	w.says("@Alice debate with Bob")
	w.await("Alice: @Bob, odd numbers are nicer.", 1)
	other.await("Bob → Alice: Two makes a pair, and so does the next", 1)
	w.says("tell me in three words")
	w.await("[cut off]", 1)
	w.await("Earshot: Here they are.", 1)
	other.await("Earshot: Here they are.", 1)
	w.says("/exit")
	w.ended()
	h.floor(t)
}

// floor checks that the person cut somebody off, and that from then on agents spoke only to them.
func (h *home) floor(t *testing.T) {
	t.Helper()
	cuts, asked, after := 0, false, 0
	for _, e := range h.history() {
		switch body := e.Body.(type) {
		case earshot.Message:
			asked = asked || body.Text == "tell me in three words"
		case earshot.Reply:
			if body.Cut != nil {
				cuts++
			} else if asked && body.Offered != "" {
				after++
			}
		}
	}
	if cuts != 1 || after != 1 {
		t.Errorf("%d replies were cut, and %d came afterwards", cuts, after)
	}
}

// TestAgentsSurvive: after the daemon was killed, agents that were made at run time are there,
// asleep, and know what was said to them. An agent that has ended is known to have ended.
func TestAgentsSurvive(t *testing.T) {
	t.Parallel()
	h := newHome(t, asleep...)
	h.scripted("rules:\n- {agent: Coder, when: what did I say, reply: You said go.}\nreply: Yes.\n")
	d := h.daemon()
	if r := h.earshot(nil, "agents", "add", "Coder", "--description", "writes programs"); r.code != success {
		t.Fatalf("add ended with %d: %s", r.code, r.err)
	}
	h.earshot(nil, "say", "@Coder go")
	d.end(syscall.SIGKILL)
	d = h.daemon()
	r := h.earshot(nil, "agents")
	if !strings.Contains(r.out, "Coder    sleeping") || !strings.Contains(r.out, "Earshot  active") {
		t.Errorf("the agents are\n%s", r.out)
	}
	if r := h.earshot(nil, "say", "@Coder what did I say?"); r.out != "You said go.\n" {
		t.Errorf("it says %q, %s", r.out, r.err)
	}
	testkit.Await(t, soon, "Coder to be awake", func() bool {
		return strings.Contains(h.earshot(nil, "agents").out, "Coder    active")
	})
	if r := h.earshot(nil, "agents", "end", "Coder", "--yes"); r.code != success {
		t.Fatalf("end ended with %d: %s", r.code, r.err)
	}
	d.end(syscall.SIGKILL)
	h.daemon()
	w := h.open("chat")
	w.says("@Coder are you there?")
	w.await("Coder has ended; to add a new one, write /agent add Coder and what it is for", 1)
	w.await("Earshot: Yes.", 1)
}

// TestReach: an agent that calls the person for whom it works reaches them in the room where they
// are, and nobody else there sees it.
func TestReach(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("config/earshot/config.yaml", `external_actors:
  actors:
  - {actor_id: owner, type: human, display_name: Ann}
  - {actor_id: bob, type: human, display_name: Bob}
rooms:
- {id: kitchen, name: the kitchen}
`)
	h.scripted("reply: Well.\nrules:\n- {when: the oven, reply: \"@human, come and see.\"}\n")
	ann := h.open("run")
	ann.await(">", 1)
	bob := h.begin("chat", "--identity", "Bob")
	ann.await("Bob has joined", 1)
	if r := h.earshot(nil, "say", "--room", "kitchen", "--identity", "Ann", "look after the oven"); r.out != "@human, come and see.\n" {
		t.Errorf("it says %q, %s", r.out, r.err)
	}
	ann.await("Earshot calls you in the room the kitchen: @human, come and see.", 1)
	ann.await("→ earshot chat --room kitchen", 1)
	bob.says("Earshot, hello")
	bob.await("Earshot: Well.", 1)
	if strings.Contains(bob.text(), "come and see") {
		t.Error("Bob sees it")
	}
}
