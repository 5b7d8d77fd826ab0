package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
)

// company is a configuration with people in it.
const company = `external_actors:
  actors:
  - {actor_id: ann, type: human, display_name: Ann, description: "human user, primary"}
  - {actor_id: bob, type: human, display_name: Bob, description: "bites"}
  - {actor_id: eve, type: ai_assistant, display_name: Eve, description: "an AI assistant", requires_auth: true}
  allow_anonymous: true
rooms:
- id: kitchen
- {id: den, actors: [ann]}
`

// newCompany returns a home with people in it.
func newCompany(t *testing.T) *home {
	h := newHome(t)
	h.scripted(teller)
	h.write("config/earshot/config.yaml", company)
	return h
}

// TestWhoAreYou: on a terminal the user is asked who they are and shown the known people. A slip is
// forgiven, and makes nobody somebody else.
func TestWhoAreYou(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	h.daemon()
	for _, tt := range []struct {
		name, typed, shows, is string
	}{
		{"a number", "3\r", "[1]:", "You are Bob"},
		{"a name in any case", "aNN\r", "[1]:", "You are Ann"},
		{"a new name", "Jo Wren\r", "[1]:", "You are Jo Wren"},
		{"just Enter", "\r", "[1]:", "You are an operator of this earshot."},
		{"nobody's number", "9\rbob\r", "there is no number 9", "You are Bob"},
		{"the agent's name", "earshot\rbob\r", "→ ", "You are Bob"},
		{"a command", "/agent add Bob\rbob\r", "write that again once you are in", "You are Bob"},
		{"a call", "@Reviewer hello\rbob\r", "this asks only for your name", "You are Bob"},
		{"anonymous", "anonymous\r", "[1]:", "You are guest_"},
		{"a reserved word", "System\rbob\r", "→ ", "You are Bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			os.Remove(filepath.Join(h.dir, "state/earshot/identity")) // remembers who came in last
			w := h.begin("chat")
			w.await("Who are you? 1 ", 1)
			w.await("may change settings 2 Ann human user, primary 3 Bob bites 4 Eve an AI assistant", 1)
			w.await("a number, a new name, anonymous [1]:", 1)
			w.types(tt.typed)
			w.await(tt.shows, 1)
			w.says("/identity")
			w.await(tt.is, 1)
			w.types("\x04")
			if code := w.ended(); code != success {
				t.Errorf("it ends with %d", code)
			}
		})
	}
	for _, key := range []string{"\x03", "\x04", "/exit\r"} {
		for _, command := range []string{"chat", "run"} {
			w := h.begin(command)
			w.await("Who are you?", 1)
			w.types(key)
			if code := w.ended(); code != success || strings.Contains(w.text(), "earshot:") {
				t.Errorf("%q at %s ends it with %d", key, command, code)
			}
		}
	}
	w := h.begin("chat")
	w.await("Who are you?", 1)
	w.types("99\r98\r97\r")
	if code := w.ended(); code != failed {
		t.Errorf("three slips end it with %d", code)
	}
	w.await("no valid identity after 3 tries", 1)
}

// enters runs a command, waits for the question to show something, answers who it is, checks the
// answer to /identity, and leaves.
func (h *home) enters(command, shows, typed, is string) {
	h.t.Helper()
	w := h.begin(command)
	w.await(shows, 1)
	w.types(typed + "\r")
	w.await(">", 1)
	w.says("/identity")
	w.await(is, 1)
	w.types("\x04")
	if code := w.ended(); code != success {
		h.t.Errorf("%s, %s: it ends with %d", shows, typed, code)
	}
}

// TestFirstName: if nobody is known yet, the first person gives their name to the owner of the
// account, and has all the owner's rights. A name given later is somebody else's.
func TestFirstName(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Yes.\n")
	comes := func(offered, typed, is string) { t.Helper(); h.enters("run", offered, typed, is) }
	comes("may change settings", "Earshot\rEve", "You are Eve")
	comes("1 Eve may change settings", "", "You are an operator of this earshot.")
	comes("1 Eve may change settings", "Jo", "You are Jo")
	comes("2 Jo", "Eve", "You are an operator of this earshot.")
}

// TestYesterdaysName: somebody who comes back is offered the name they had last, as long as it is
// still known.
func TestYesterdaysName(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	h.daemon()
	comes := func(offered, typed, is string) {
		t.Helper()
		h.enters("chat", "a number, a new name, anonymous ["+offered+"]:", typed, is)
	}
	comes("1", "2", "You are Ann")
	comes("Ann", "", "You are Ann")
	comes("Ann", "Jo Wren", "You are Jo Wren")
	comes("Jo Wren", "", "You are Jo Wren")
	comes("Jo Wren", "anonymous", "You are guest_") // a guest cannot come back under the same name
	comes("Jo Wren", "1", "You are an operator of this earshot.")
	comes("1", "", "You are an operator of this earshot.")
	h.write("state/earshot/identity", "\n")
	comes("1", "", "You are an operator of this earshot.")
	h.write("state/earshot/identity", strings.Repeat("x", 5000))
	comes("1", "", "You are an operator of this earshot.")
}

// TestToken: somebody who needs a token is asked for it, and it is not shown. Once it is revoked,
// whoever came in by it is sent away.
func TestToken(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	h.daemon()
	made := h.earshot(nil, "token", "create", "Eve")
	secret := strings.TrimSpace(made.out)
	w := h.begin("chat")
	w.await("Who are you?", 1)
	w.types("eve\r")
	w.await("The token of eve:", 1)
	w.types("earshot_wrong\r")
	w.await("unknown here", 1)
	w.types("4\r")
	w.await("The token of Eve:", 1)
	w.types(secret + "\r")
	w.await(">", 1)
	w.says("/identity")
	w.await("You are Eve", 1)
	if strings.Contains(w.text(), secret) {
		t.Error("the token is to be seen")
	}
	list := h.earshot(nil, "token", "list").out
	id := strings.Fields(list)[0]
	if !strings.HasPrefix(list, id+"  Eve  created ") {
		t.Errorf("the list is %q", list)
	}
	if r := h.earshot(nil, "token", "revoke", id); r.code != success {
		t.Fatal(r.err)
	}
	if code := w.ended(); code == success {
		t.Error("whose token was revoked leaves as if nothing was")
	}
}

// TestThreePeople: people join, talk, whisper and leave. Each sees what is for them, with names,
// and nothing else. The death of a terminal is announced once.
func TestThreePeople(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	a := h.begin("run", "--identity", "Ann")
	a.await(">", 1)
	b := h.begin("chat", "--identity", "Bob")
	b.await(">", 1)
	a.await("Bob has joined", 1)
	j := h.begin("chat", "--identity", "Jo Wren")
	j.await(">", 1)
	a.await("Jo Wren has joined", 1)
	b.await("Jo Wren has joined", 1) // Jo came after Bob's terminal had started

	b.says("Earshot, what is your name?")
	for _, w := range []*window{a, j} {
		w.await("Bob: Earshot, what is your name?", 1)
	}
	for _, w := range []*window{a, b, j} {
		w.await("My name is Earshot.", 1)
	}
	b.says("/msg Jo Wren the ring is in the teapot")
	j.await("the ring is in the teapot", 1)
	j.says("Bob, fine")
	a.await("Jo Wren: Bob, fine", 1)
	if strings.Contains(a.text(), "teapot") {
		t.Error("Ann sees what was for Jo Wren")
	}
	testkit.Await(t, soon, "what was said in the history", func() bool { return strings.Contains(h.history0("Jo Wren"), "Bob, fine") })
	for who, want := range map[string]bool{"Ann": false, "": false, "Bob": true, "Jo Wren": true} {
		args := []string{"history", "--identity", who}
		if who == "" {
			args = args[:1]
		}
		r := h.earshot(nil, args...)
		if got := strings.Contains(r.out, "teapot"); got != want {
			t.Errorf("%q reads of the teapot: %v\n%s", who, got, r.out)
		}
		if want && !strings.Contains(r.out, "Bob        (private, to Jo Wren) the ring is in the teapot") {
			t.Errorf("it is not marked as private:\n%s", r.out)
		}
		if !strings.Contains(r.out, "[has joined]") || !strings.Contains(r.out, "Bob        Earshot, what is your name?") {
			t.Errorf("%q reads\n%s", who, r.out)
		}
		if r := h.earshot(nil, append([]string{"search", "teapot"}, args[1:]...)...); strings.Contains(r.out, "teapot") != want {
			t.Errorf("%q finds %q", who, r.out)
		}
	}
	if log := h.read("state/earshot/earshot.log"); strings.Contains(log, "teapot") {
		t.Error("it is in the log")
	}

	// A script need not know that several people are here.
	if said := h.earshot(nil, "say", "what is your name?"); said.out != "My name is Earshot.\n" {
		t.Errorf("say prints %q and %q", said.out, said.err)
	}
	a.await("user: @Earshot what is your name?", 1)

	j.cmd.Process.Signal(syscall.SIGKILL)
	a.await("Jo Wren has left", 1)
	b.await("Jo Wren has left", 1)
	b.says("/exit")
	b.ended()
	a.await("Bob has left", 1)
	if n := strings.Count(a.text(), "has left"); n != 2 {
		t.Errorf("%d have left", n)
	}
	r := h.earshot(nil, "who")
	if !strings.Contains(r.out, "Ann") || strings.Contains(r.out, "Bob") {
		t.Errorf("who is there: %q", r.out)
	}
}

// history0 returns the history as one person reads it.
func (h *home) history0(who string) string {
	h.t.Helper()
	return h.earshot(nil, "history", "--identity", who).out
}

// TestBecome: /identity works at the console that earshot runs in, and at one that is attached. Old
// lines keep their author.
func TestBecome(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	a := h.begin("run", "--identity", "Ann")
	a.await(">", 1)
	b := h.begin("chat", "--identity", "last")
	b.await(">", 1)
	a.says("Earshot, what is your name?")
	b.await("My name is Earshot.", 1)
	a.says("/identity Bob")
	a.await("You are now Bob. What Ann wrote stays theirs.", 1)
	b.await("Bob has joined", 1)
	a.says("Earshot, what is your name?")
	b.await("Bob: Earshot, what is your name?", 1)
	b.says("/identity Jo Wren")
	a.await("Ann has left", 1)
	a.await("Jo Wren has joined", 1)
	b.says("/identity earshot")
	b.await("not sent (still in your input line)", 1)
	b.types("\x15") // clears the line
	b.says("//identity is one word")
	a.await("Jo Wren: /identity is one word", 1)
	a.says("/exit")
	a.ended()
	h.earshot(nil, "history") // the history must be readable while others use it
	r := h.earshot(nil, "history", "-n", "100")
	for _, want := range []string{
		"Ann        Earshot, what is your name?", "Bob        Earshot, what is your name?",
		"Jo Wren    [has joined]", "Jo Wren    /identity is one word",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the history lacks %q:\n%s", want, r.out)
		}
	}
}

// TestRooms: what is said in one room is not shown in another. Somebody who may not enter a room is
// not told that it exists.
func TestRooms(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	d := h.daemon()
	k := h.begin("chat", "--identity", "Bob", "--room", "kitchen")
	k.await(">", 1)
	desk := h.begin("chat", "--identity", "Ann")
	desk.await(">", 1)
	k.says("what is your name?")
	k.await("My name is Earshot.", 1)
	desk.says("/who")
	desk.await("Ann (human user", 1)
	if text := desk.text(); strings.Contains(text, "Bob") || strings.Contains(text, "My name is") {
		t.Errorf("the desk shows\n%s", text)
	}
	if r := h.earshot(nil, "chat", "--identity", "Bob", "--room", "den"); r.code != failed || !strings.Contains(r.err, `there is no room called "den"; there are: desk, kitchen`) {
		t.Errorf("the den says %q to Bob", r.err)
	}
	d.end(syscall.SIGTERM)
	for _, w := range []*window{k, desk} {
		w.leaves()
	}

	// Each room goes on from its own past, in the mode that it was left in.
	d = h.daemon()
	k = h.begin("chat", "--identity", "Bob", "--room", "kitchen")
	k.await(">", 1)
	k.says("/note the stove is broken")
	k.await("the stove is broken", 2)
	k.says("/pause")
	k.await("paused", 1)
	k.says("what was said?")
	testkit.Await(t, soon, "what was typed in the journal", func() bool {
		return strings.Contains(h.earshot(nil, "history", "--room", "kitchen").out, "what was said?")
	})
	state := h.earshot(nil, "who", "--room", "kitchen").out
	if !strings.Contains(state, "The room is paused") || !strings.Contains(h.earshot(nil, "who").out, "The room is live") {
		t.Errorf("the modes are %q", state)
	}
	d.end(syscall.SIGTERM)
	k.leaves()
	h.daemon()
	k = h.begin("chat", "--identity", "Bob", "--room", "kitchen")
	k.await("paused", 1)
	k.says("/context")
	k.await("the stove is broken", 1)
}

// TestNobodyIsAsked: a service asks nobody who they are, and nobody is there.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	h.daemon()
	r := h.earshot(nil, "who", "--json")
	if !strings.Contains(r.out, `"here": null`) && !strings.Contains(r.out, `"here": []`) {
		t.Errorf("somebody is here: %s", r.out)
	}
	if said := h.earshot(nil, "say", "what is your name?"); said.out != "My name is Earshot.\n" {
		t.Errorf("say prints %q and %q", said.out, said.err)
	}
	events := h.history()
	if len(events) != 2 || events[0].Author != "user" || events[0].Body.Kind() != earshot.KindMessage {
		t.Errorf("the history is %+v", events)
	}
	if matches, _ := filepath.Glob(filepath.Join(h.dir, "state/earshot/identity")); len(matches) != 0 {
		t.Error("a script is remembered")
	}
}

// TestGuest: an anonymous guest comes in once, and cannot come back under the same name.
func TestGuest(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	h.daemon()
	w := h.begin("chat", "--identity", "Anonymous")
	w.says("/identity")
	w.await("You are guest_", 1)
	if strings.Contains(w.text(), " 2 (guest_") {
		t.Errorf("there are two of them:\n%s", w.text())
	}
	w.says("/exit")
	w.ended()
	if r := h.earshot(nil, "chat", "--identity", "last"); r.code != failed || !strings.Contains(r.err, "this account has not been used here yet") {
		t.Errorf("whoever was a guest comes back with %d: %s", r.code, r.err)
	}
}
