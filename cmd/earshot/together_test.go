package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm/ollama/ollamatest"
)

// neighbours are the people who are known from the start; Carol is new.
const neighbours = `external_actors:
  actors:
  - {actor_id: bob, type: human, display_name: Bob, description: "bites"}
  - {actor_id: eve, type: ai_assistant, display_name: Eve, description: "an AI assistant", requires_auth: true}
rooms:
- {id: den, actors: [eve]}
`

// gossip is what the agent answers.
const gossip = `every_seconds: 0.02
reply: Well, well, well.
rules:
  - {when: pepper, reply: "It is with the cardamom."}
  - {when: cumin, reply: "Then you need turmeric."}
  - {when: vinegar, reply: "Try the radish."}
  - {when: your name, reply: My name is Earshot.}
`

// A rumour is a word that was said or answered, and the people who know it: their windows have
// shown it, and they read it in the history, if it was kept.
type rumour struct {
	word, knows string
	unkept      bool
}

// A gathering is people at their windows, by name. Root is the owner of the account.
type gathering struct {
	*home
	at map[string]*window
}

// gather lets Root run earshot and the others join.
func gather(t *testing.T, h *home) *gathering {
	h.write("config/earshot/config.yaml", neighbours)
	g := &gathering{h, map[string]*window{"Root": h.open("run")}}
	g.at["Root"].await(">", 1)
	for _, name := range []string{"Bob", "Carol"} {
		w := h.begin("chat", "--identity", name)
		w.await(">", 1)
		g.at[name] = w
		g.hear(name+" has joined", 1)
	}
	return g
}

// says lets somebody write a line, and waits until each person in by has read what is awaited.
func (g *gathering) says(who, line, awaited, by string) {
	g.t.Helper()
	g.at[who].says(line)
	for _, name := range strings.Fields(by) {
		g.at[name].await(awaited, 1)
	}
}

// hear waits until everybody whom text is not about has read it so many times.
func (g *gathering) hear(text string, times int) {
	g.t.Helper()
	for name, w := range g.at {
		if !strings.HasPrefix(text, name) {
			w.await(text, times)
		}
	}
}

// all returns the names of everybody at a window.
func (g *gathering) all() string { return strings.Join(slices.Sorted(maps.Keys(g.at)), " ") }

// shown checks that each window has shown exactly what its owner may know.
func (g *gathering) shown(rumours []rumour) {
	g.t.Helper()
	for name, w := range g.at {
		text := w.text()
		for _, r := range rumours {
			if got, want := strings.Contains(text, r.word), strings.Contains(r.knows, name); got != want {
				g.t.Errorf("the window of %s shows %q: %v", name, r.word, got)
			}
		}
	}
}

// kept checks what each person reads in the history, finds by searching, and gets from the daemon.
func (g *gathering) kept(rumours []rumour) {
	g.t.Helper()
	for _, name := range []string{"Root", "Bob", "Carol"} {
		args := []string{"--identity", name}
		if name == "Root" {
			args = nil
		}
		read := g.earshot(nil, append([]string{"history", "-n", "1000"}, args...)...)
		raw := g.earshot(nil, append([]string{"history", "--json", "-n", "1000"}, args...)...)
		if read.code != success || raw.code != success {
			g.t.Fatalf("the history of %s: %s%s", name, read.err, raw.err)
		}
		stream, state := g.streamed(args[min(len(args), 1):], raw.out), g.earshot(nil, append([]string{"who", "--json"}, args...)...).out
		for _, r := range rumours {
			if strings.Contains(state, r.word) {
				g.t.Errorf("%s is told %q when asking who is here", name, r.word)
			}
			want := strings.Contains(r.knows, name) && !r.unkept
			found := g.earshot(nil, append([]string{"search", r.word}, args...)...)
			for how, text := range map[string]string{"reads": read.out, "is given": raw.out, "finds": found.out, "is sent": stream} {
				if got := strings.Contains(text, r.word); got != want {
					g.t.Errorf("%s %s %q: %v\n%s", name, how, r.word, got, text)
				}
			}
		}
	}
}

// streamed returns the events that a program gets which follows on behalf of somebody, up to the
// last event of their history. No name stands for Root.
func (g *gathering) streamed(name []string, history string) string {
	g.t.Helper()
	c := g.client()
	c.Identity = strings.Join(name, "")
	var last int64
	for line := range strings.Lines(history) {
		var e earshot.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			g.t.Fatal(err)
		}
		last = max(last, e.Sequence)
	}
	var all strings.Builder
	for e, err := range c.Events(g.t.Context(), 0) {
		if err != nil {
			g.t.Fatalf("following for %q: %v", name, err)
		}
		line, err := json.Marshal(e)
		if err != nil {
			g.t.Fatal(err)
		}
		all.Write(line)
		if e.Sequence >= last {
			break
		}
	}
	return all.String()
}

// unwritten checks that nothing said is in the log, and nothing said off the record is in any file.
func (g *gathering) unwritten(rumours []rumour) {
	g.t.Helper()
	log, all := g.read("state/earshot/earshot.log"), g.everything("state")
	for _, r := range rumours {
		if strings.Contains(log, r.word) {
			g.t.Errorf("%q is in the log", r.word)
		}
		if r.unkept && strings.Contains(all, r.word) {
			g.t.Errorf("%q was off the record, and is in a file", r.word)
		}
	}
}

// TestTogether: three people and an agent join, talk, whisper and leave, on three terminals. Each
// knows what they may know, and nothing else: on the screen, in the history, in search results, in
// answers to /who, /why and /context, and after a restart.
func TestTogether(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(gossip)
	g := gather(t, h)
	all := g.all()
	rumours := []rumour{
		{word: "parsley", knows: all}, {word: "My name is Earshot.", knows: all}, {word: "nutmeg", knows: all},
		{word: "saffron", knows: "Bob Carol"},
		{word: "pepper", knows: "Bob"}, {word: "cardamom", knows: "Bob"},
		{word: "cumin", knows: "Bob Carol"}, {word: "turmeric", knows: "Bob Carol"},
		{word: "clove", knows: all, unkept: true}, {word: "fennel", knows: "Bob Carol", unkept: true},
		{word: "ginger", knows: all}, {word: "vinegar", knows: all}, {word: "radish", knows: all},
		{word: "mace"},
	}

	// Talking.
	g.says("Bob", "Earshot, what is your name?", "My name is Earshot.", all)
	g.hear("Bob: Earshot, what is your name?", 1)
	g.says("Carol", "Bob, there is parsley", "Carol: Bob, there is parsley", "Root Bob")

	// Whispering. A private question gets a private answer.
	g.says("Bob", "/msg Carol I took the saffron", "saffron", "Carol")
	g.says("Bob", "/msg Earshot where is the pepper?", "It is with the cardamom.", "Bob")
	g.says("Carol", "/msg Bob, Earshot: I have cumin", "Then you need turmeric.", "Bob Carol")
	g.says("Bob", "/note we need nutmeg", "nutmeg", all)

	// The modes of the room, one after the other.
	g.says("Carol", "/offrecord", "The room is off the record", all)
	g.says("Root", "nobody knows of the clove", "nobody knows of the clove", all)
	g.says("Carol", "/msg Bob nor of the fennel", "fennel", "Bob")
	g.says("Bob", "/pause", "The room is paused", all)
	g.says("Root", "Earshot, what about ginger?", "Earshot, what about ginger?", all)
	g.says("Root", "/mute", "The room is muted", all)
	g.says("Root", "Earshot, what about vinegar?", "Try the radish.", all)

	// A room that belongs to somebody else.
	token := strings.TrimSpace(h.earshot(nil, "token", "create", "Eve").out)
	if r := h.earshot(nil, "chat", "--identity", "Eve", "--room", "den"); r.code != failed || !strings.Contains(r.err, "token") {
		t.Errorf("without a token Eve is told %q", r.err)
	}
	den := h.with("EARSHOT_TOKEN="+token).begin("chat", "--identity", "Eve", "--room", "den")
	den.says("the mace is in here")
	den.await("Well, well, well.", 1)
	if r := h.earshot(nil, "history", "--room", "den", "--identity", "Bob"); r.code != failed || !strings.Contains(r.err, `there is no room called "den"`) {
		t.Errorf("Bob reads %q and %q of the den", r.out, r.err)
	}
	if r := h.with("EARSHOT_TOKEN="+token).earshot(nil, "history", "--room", "den", "--identity", "Eve"); !strings.Contains(r.out, "mace") {
		t.Errorf("Eve reads %q and %q of the den", r.out, r.err)
	}
	if r := h.earshot(nil, "token", "revoke", strings.Fields(h.earshot(nil, "token", "list").out)[0]); r.code != success {
		t.Error(r.err)
	}
	if code := den.ended(); code != failed || strings.Count(den.text(), "ask the owner for one") != 1 {
		t.Errorf("whose token was revoked leaves with %d, having read\n%s", code, den.text())
	}

	// The commands that each may use.
	for name, w := range g.at {
		w.says("/who")
		w.says("/why")
		w.says("/context")
		w.says("/help")
		w.await("/exit leave", 1)
		for _, want := range []string{"Bob (human user, bites), here since", "Carol (human user), here since", "Earshot (agent)"} {
			w.await(want, 1)
		}
		if got, want := strings.Contains(w.text(), "it was written to me in private"), name != "Root"; got != want {
			t.Errorf("%s reads why a private message was answered: %v", name, got)
		}
	}
	g.shown(rumours)
	g.kept(rumours)
	g.unwritten(rumours)

	// Leaving by /exit, by closing the window, and by a kill. Somebody at two terminals joins once
	// and leaves once.
	second := h.begin("chat", "--identity", "bob")
	second.await("The room is muted", 1)
	g.at["Carol"].user.Close()
	g.at["Root"].says("goodbye") // the output ends the read that holds this end open
	g.at["Root"].await("Carol has left", 1)
	g.at["Bob"].says("/exit")
	g.at["Bob"].ended()
	if r := h.earshot(nil, "who"); !strings.Contains(r.out, "Bob") || strings.Contains(r.out, "Carol") {
		t.Errorf("here are %s", r.out)
	}
	second.cmd.Process.Signal(syscall.SIGKILL)
	root := g.at["Root"]
	root.await("Bob has left", 1)
	for _, once := range []string{"Bob has joined", "Carol has joined", "Carol has left", "Bob has left"} {
		if n := strings.Count(root.text(), once); n != 1 {
			t.Errorf("%q is announced %d times", once, n)
		}
	}
	root.says("/exit")
	root.ended()

	// After a restart, names, the mode and private messages are as they were.
	h.daemon()
	g.kept(rumours)
	again := h.begin("chat", "--identity", "carol")
	again.await("The room is muted", 1)
	again.says("/resume")
	again.await("The room is live", 1)
	again.says("/who")
	again.await("Carol (human user), here since", 1)
	if text := again.text(); strings.Contains(text, "Bob") {
		t.Errorf("before a new beginning somebody is here:\n%s", text)
	}
	g.kept(rumours)
	g.unwritten(rumours)
}

// TestTogetherOllama does the same with a real server, as far as that is possible.
func TestTogetherOllama(t *testing.T) {
	t.Parallel()
	s := ollamatest.Start(t, ollamatest.Options{})
	model := ollamatest.Model{Tools: true, Layers: 8, Says: greeting, Routes: []ollamatest.Route{{Word: "name", Says: name}, {Word: "pepper", Says: "It is with the cardamom."}}}
	if err := s.Make(t.Context(), "speaker", model); err != nil {
		t.Fatal(err)
	}
	g := gather(t, newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=speaker",
		"EARSHOT_EXECUTIVE_CONVERSATIONAL_SYSTEM_PROMPT=Talk."))
	all := g.all()
	rumours := []rumour{
		{word: name, knows: all}, {word: "parsley", knows: all},
		{word: "saffron", knows: "Bob Carol"}, {word: "pepper", knows: "Bob"}, {word: "cardamom", knows: "Bob"},
	}
	g.says("Bob", "Earshot, what is your name?", name, all)
	g.says("Bob", "/msg Carol I took the saffron", "saffron", "Carol")
	g.says("Bob", "/msg Earshot where is the pepper?", "It is with the cardamom.", "Bob")
	g.says("Carol", "Bob, there is parsley", "Carol: Bob, there is parsley", "Root Bob")
	for _, w := range g.at {
		w.says("/who")
		w.says("/why")
		w.says("/context")
		w.says("/help")
		w.await("/exit leave", 1)
		w.await("Carol (human user), here since", 1)
	}
	g.shown(rumours)
	testkit.Await(t, soon, "two replies in the history of Bob", func() bool {
		return strings.Contains(g.earshot(nil, "history", "--identity", "Bob").out, "cardamom")
	})
	g.kept(rumours)
	g.unwritten(rumours)
	g.at["Carol"].says("/exit")
	g.at["Carol"].ended()
	g.at["Bob"].cmd.Process.Signal(syscall.SIGKILL)
	for _, gone := range []string{"Carol has left", "Bob has left"} {
		g.at["Root"].await(gone, 1)
	}
}
