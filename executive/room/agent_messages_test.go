package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/tool/workspace"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
)

// between returns what agents wrote to each other, in order.
func (c *crew) between() (all []string) {
	for _, e := range c.messages() {
		if m := e.Body.(earshot.Message); m.Turn != "" {
			all = append(all, fmt.Sprintf("%s to %s: %s", c.people.Name(e.Author), c.people.Name(e.To[0]), string(m.Text)))
		}
	}
	return all
}

// prompt returns the dialogue of a request as text, with the tool calls and their results.
func prompt(req llm.Request) string {
	var all []string
	for _, m := range req.Messages {
		if m.Role == llm.System {
			continue
		}
		text := m.Text
		for _, c := range m.Calls {
			text += fmt.Sprintf("(%s %s)", c.Tool, c.Arguments)
		}
		all = append(all, string(m.Role)+": "+text)
	}
	return strings.Join(all, "\n")
}

// TestOneAgentAsksAnother: ann asks Earshot to have Scout
// make a file; Earshot messages Scout, Scout writes the file, and Earshot answers
// ann directly.
func TestOneAgentAsksAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		files := &workspace.Store{Dir: t.TempDir()}
		h.tools = files.Tools()
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "ask Scout", "message_agent", `{"name":"scout","message":"Please create test.txt with hello in it."}`),
			calls("Scout", "create test.txt", "write_file", `{"path":"test.txt","content":"hello"}`),
			after("Scout", "is written", "I have created test.txt."),
			after("Earshot", "I have created", "Scout has created it."),
			{When: "what did you do", Reply: "See above."},
			calls("Scout", "read it", "read_file", `{"path":"test.txt"}`), after("Scout", "hello", "It says hello."),
		}
		c := man(t, h, "bob")
		c.must(t, "ann", "@Earshot ask Scout to create test.txt", time.Second)
		if got := strings.Join(c.between(), "|"); got != "Earshot to Scout: Please create test.txt with hello in it.|Scout to Earshot: I have created test.txt." {
			t.Errorf("between them: %s", got)
		}
		if got := c.turns(); len(got) != 1 || h.console.Played() != "Scout has created it." {
			t.Errorf("turns %q, said %q", got, h.console.Played())
		}
		if got := c.uses(); len(got) != 2 || got[0] != "scout write_file false: test.txt is written, 5 bytes." || !strings.HasPrefix(got[1], "agent message_agent false: Scout: I have") {
			t.Errorf("used %q", got)
		}
		c.must(t, "ann", "@Scout read it", time.Second)
		if !strings.Contains(h.console.Played(), "It says hello.") {
			t.Errorf("said %q", h.console.Played())
		}
		messages := c.messages()
		asks, answers := messages[1], messages[2]
		m := answers.Body.(earshot.Message)
		if m.About != asks.ID || m.Turn == "" || m.Turn != asks.Body.(earshot.Message).Turn {
			t.Errorf("the answer is %+v", m)
		}
		for of, e := range map[earshot.EventID]earshot.Event{messages[0].ID: asks, asks.ID: answers} {
			if e.Visibility.Scope != earshot.Public || !slices.Equal(slices.Sorted(slices.Values(e.Visibility.Agents)), []earshot.ParticipantID{"agent", "scout"}) || !slices.Contains(e.Sources, of) {
				t.Errorf("it is for %+v, made of %v", e.Visibility, e.Sources)
			}
			if !slices.ContainsFunc(c.screens["bob"].Shown(), func(x earshot.Event) bool { return x.ID == e.ID }) {
				t.Error("bob was not shown it")
			}
		}
		// Both remember it: what each was asked, and what it said to whom.
		c.must(t, "ann", "@Earshot what did you do?", time.Second)
		seen := h.model.Seen()
		want := "user: [FROM: ann TO: Earshot] @Earshot ask Scout to create test.txt\n" +
			"user: [FROM: System] You wrote to Scout: \"Please create test.txt with hello in it.\"\n" +
			"user: [FROM: Scout TO: Earshot] I have created test.txt.\n" +
			"assistant: Scout has created it.\n"
		if got := prompt(seen[len(seen)-1]); !strings.Contains(got, want) {
			t.Errorf("Earshot remembers\n%s", got)
		}
		c.must(t, "ann", "@Scout what did you do?", time.Second)
		seen = h.model.Seen()
		if got := prompt(seen[len(seen)-1]); !strings.Contains(got, "user: [FROM: Earshot TO: Scout] Please create test.txt with hello in it.\nassistant: I have created test.txt.\n") {
			t.Errorf("Scout remembers\n%s", got)
		}
		for _, req := range seen {
			want := llm.ReplyToPerson
			if strings.Contains(req.Messages[0].Text, "You are Scout.") && strings.Contains(prompt(req), "create test.txt with") && !strings.Contains(prompt(req), "@Scout") {
				want = llm.ReplyToAgent
			}
			if req.Priority != want {
				t.Errorf("asked with priority %v, want %v:\n%s", req.Priority, want, prompt(req))
			}
		}
		c.stop()
	})
}

// TestEverybodyAnswersInOrder: when several agents answer one question, an agent's dialogue has its
// own answer first, with the messages that led to it, and then the others' answers.
func TestEverybodyAnswersInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = "All is well."
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "is all well?", "message_agent", `{"name":"scout","message":"How is the tide?"}`),
			{When: "the tide?", Reply: "It is low."}, after("Earshot", "is low", "The tide is low."),
			{When: "what now?", Reply: "Nothing."},
		}
		c := man(t, h)
		c.must(t, "ann", "@all is all well?", time.Minute)
		c.must(t, "ann", "@Earshot what now?", time.Minute)
		c.stop()
		want := "user: [FROM: ann TO: Earshot, Scout] @all is all well?\n" +
			"user: [FROM: System] You wrote to Scout: \"How is the tide?\"\n" +
			"user: [FROM: Scout TO: Earshot] It is low.\n" +
			"assistant: The tide is low.\n" +
			"user: [FROM: Scout TO: ann] All is well.\n" +
			"user: [FROM: ann TO: Earshot] @Earshot what now?"
		seen := h.model.Seen()
		if got := prompt(seen[len(seen)-1]); !strings.Contains(got, want) {
			t.Errorf("Earshot remembers\n%s", got)
		}
	})
}

// TestWhoCannotBeAsked: a model that messages somebody who cannot be asked is told so, and what to
// do instead.
func TestWhoCannotBeAsked(t *testing.T) {
	for _, tt := range []struct{ name, arguments, told string }{
		{"a person", `{"name":"bob","message":"x"}`, "'bob' is an external actor, not an internal agent. External actors cannot receive message_agent() calls. Please respond directly to them"},
		{"nobody", `{"name":"Ranger","message":"x"}`, "is not in this room; the other agents here are Scout and Coder"},
		{"nobody known", `{"name":"nemo","message":"x"}`, "there is no agent of that name; the other agents here are Scout and Coder; if it is a person, respond directly"},
		{"itself", `{"name":"@Earshot","message":"x"}`, "that is you"},
		{"everybody", `{"name":"all","message":"x"}`, "there is no agent of that name"},
		{"nothing", `{"name":"Scout","message":" "}`, "message is empty"},
		{"too much", `{"name":"Scout","message":"` + strings.Repeat("x", 4097) + `"}`, "message has 4097 bytes; at most 4096"},
		{"another's", `{"name":"Coder","message":"x"}`, "Coder belongs to another user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Rules = []llmtest.Rule{calls("Earshot", "tell", "message_agent", tt.arguments), after("Earshot", "", "Sorry.")}
				c := man(t, h, "bob")
				coder := record("coder", "Coder")
				coder.User = "kids"
				me := record("agent", "Earshot")
				me.User = "owner"
				c.seats(me, record("scout", "Scout"), coder)
				introduce(t, c, "ranger", "Ranger")
				c.must(t, "ann", "@Earshot tell them", time.Second)
				c.stop()
				if got := strings.Join(c.uses(), "|"); !strings.Contains(got, tt.told) {
					t.Errorf("%q", got)
				}
				if len(c.between()) > 0 || h.console.Played() != "Sorry." {
					t.Errorf("between them %q, said %q", c.between(), h.console.Played())
				}
			})
		})
	}
}

func introduce(t *testing.T, c *crew, id, name string) {
	t.Helper()
	if err := c.people.Introduce(t.Context(), participants.Participant{ID: earshot.ParticipantID(id), Name: name}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestRoundAndRound: agents that ask each other for ever are refused four deep, and the turn ends.
func TestRoundAndRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		model := asker{new(int)}
		h.llm = model
		c := man(t, h)
		c.must(t, "ann", "@Earshot go", time.Minute)
		c.stop()
		var who []string
		for _, line := range c.between() {
			name, _, _ := strings.Cut(line, " to")
			who = append(who, name)
		}
		if got := strings.Join(who, " "); got != "Earshot Scout Earshot Scout Earshot Scout Earshot Scout" {
			t.Errorf("messages by %s", got)
		}
		if got := strings.Join(c.uses(), "|"); !strings.Contains(got, "agent message_agent true: you were asked by an agent that was asked by an agent, 4 deep") {
			t.Errorf("used %q", got)
		}
		if got := c.turns(); len(got) != 1 || !strings.Contains(got[0], "completed") {
			t.Errorf("turns %q", got)
		}
	})
}

// topics are texts so different from each other that agents who say them do not repeat themselves.
var topics = []string{
	"the tide comes in twice a day", "bread needs salt and time", "a violin has four strings", "glaciers move slowly downhill", "owls hear better than they see",
	"the kettle boils at sea level", "paper was made from rags", "lighthouses blink in patterns", "copper roofs turn green",
}

// asker is a model that asks the other agent, and talks once it has an answer or a refusal.
type asker struct{ n *int }

func (m asker) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		other := "Earshot"
		if strings.Contains(req.Messages[0].Text, "You are Earshot.") {
			other = "Scout"
		}
		if req.Messages[len(req.Messages)-1].Role == llm.Result {
			*m.n++
			_ = yield(llm.Delta{Text: topics[*m.n%len(topics)]}, nil) && yield(llm.Delta{Done: new(llm.Done)}, nil)
			return
		}
		*m.n++
		arguments := json.RawMessage(fmt.Sprintf(`{"name":%q,"message":%q}`, other, topics[*m.n%len(topics)]))
		_ = yield(llm.Delta{Call: &llm.Call{ID: "1", Tool: "message_agent", Arguments: arguments}}, nil) && yield(llm.Delta{Done: new(llm.Done)}, nil)
	}
}

// TestACutEndsAnExchange: a cut ends an exchange at once. What was said so far is kept, and the
// person has the floor.
func TestACutEndsAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Every = 100 * time.Millisecond
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "ask Scout", "message_agent", `{"name":"Scout","message":"count"}`),
			{Agent: "Scout", When: "count", Reply: "one two three four five six"},
			{When: "in German", Reply: "Yes."},
		}
		c := man(t, h)
		c.must(t, "ann", "@Earshot ask Scout", 350*time.Millisecond)
		cut := time.Now()
		if err := c.writes(t, "ann", "@Earshot no, in German"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := strings.Join(c.between(), "|"); got != "Earshot to Scout: count|Scout to Earshot: one two" {
			t.Errorf("between them: %s", got)
		}
		replies := h.replies()
		if len(replies) != 2 || replies[0].Outcome != earshot.Interrupted || replies[1].Outcome != earshot.Completed || string(replies[1].Offered) != "Yes." {
			t.Errorf("replies %+v", replies)
		}
		if n := len(h.model.Seen()); n != 3 {
			t.Errorf("the model was asked %d times", n)
		}
		h.stopped(t)
		for _, e := range h.journal.Events() {
			if r, ok := e.Body.(earshot.Reply); ok && r.Outcome == earshot.Interrupted && e.At.After(cut) {
				t.Error("the turn ended late")
			}
		}
		c.stop()
	})
}

// A prompter is a screen that writes as ann the moment it shows what one agent asks another.
type prompter struct {
	testkit.Voice
	write func()
}

// Show implements [earshot.Board].
func (p *prompter) Show(e earshot.Event) {
	if m, ok := e.Body.(earshot.Message); ok && m.Turn != "" && m.About == "" {
		go p.write()
		time.Sleep(time.Millisecond) // until that message waits for the room
	}
}

// TestACutBeforeAnExchange: a person who reads that one agent asks another, and then asks something
// of their own, goes first even if the other agent has not been asked yet.
func TestACutBeforeAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Every = 100 * time.Millisecond
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "tell Scout", "message_agent", `{"name":"Scout","message":"count"}`),
			{Agent: "Scout", When: "count", Reply: "one two three four five six"},
			{When: "where are we", Reply: "Here."},
		}
		c := man(t, h, "bob")
		eager := &prompter{Voice: testkit.Voice{Called: "eager", Flow: true}}
		eager.write = func() {
			if err := c.writes(t, "ann", "@Earshot where are we?"); err != nil {
				t.Error(err)
			}
		}
		c.Enter(eager, earshot.Audience{Members: []earshot.ParticipantID{"bob"}})
		c.must(t, "ann", "@Earshot tell Scout", 3*time.Second)
		if got := strings.Join(c.between(), "|"); got != "Earshot to Scout: count" {
			t.Errorf("between them: %s", got)
		}
		replies := h.replies()
		if len(replies) != 2 || replies[0].Outcome != earshot.Interrupted || string(replies[1].Offered) != "Here." {
			t.Errorf("replies %+v", replies)
		}
		c.stop()
	})
}

// TestAskedInPrivate: a private conversation reaches only the agents in it, and nobody else sees
// what they write to each other.
func TestAskedInPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "secret", "message_agent", `{"name":"Scout","message":"the secret is tea"}`), after("", "", "Done."),
			{Agent: "Scout", When: "tea", Reply: "I see, tea."},
		}
		c := man(t, h, "bob")
		c.must(t, "ann", "/msg Earshot a secret", time.Second)
		if len(c.between()) > 0 || !strings.Contains(strings.Join(c.uses(), ""), "this conversation is private, and Scout is no part of it") {
			t.Errorf("between them %q, used %q", c.between(), c.uses())
		}
		c.must(t, "ann", "/msg Earshot, Scout a secret for two", time.Second)
		if got := strings.Join(c.between(), "|"); got != "Earshot to Scout: the secret is tea|Scout to Earshot: I see, tea." {
			t.Errorf("between them %q", got)
		}
		for _, e := range c.screens["bob"].Shown() {
			if m, ok := e.Body.(earshot.Message); ok && strings.Contains(string(m.Text), "tea") {
				t.Error("bob was shown it")
			}
			if u, ok := e.Body.(earshot.Use); ok && e.Visibility.Scope == earshot.Private {
				t.Errorf("bob was shown %s", u.Tool)
			}
		}
		for _, e := range c.journal.Events() {
			if m, ok := e.Body.(earshot.Message); ok && m.Turn != "" && e.Visibility.Scope != earshot.Private {
				t.Errorf("it is for %+v", e.Visibility)
			}
		}
		c.stop()
	})
}

// TestLeastPrivilegeInAnExchange: an agent that is asked by another agent acts for the same people,
// so bob cannot have Scout read a file for him.
func TestLeastPrivilegeInAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := newHouse(), new(shelf)
		h.tools = s.table()
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "ask Scout", "message_agent", `{"name":"Scout","message":"read the file"}`), after("Earshot", "", "Sorry."),
			after("Scout", "", "I may not."), calls("Scout", "read", "read_file", "{}"), {Reply: "I have no tools."},
		}
		c := man(t, h, "bob")
		c.must(t, "bob", "@Earshot ask Scout", time.Second)
		c.stop()
		if len(s.read) > 0 || !strings.Contains(strings.Join(c.between(), ""), "I have no tool read_file") {
			t.Errorf("read %v: %q", s.read, c.between())
		}
	})
}

// TestAnAgentThatSleeps: a sleeping agent that is asked by another agent wakes, reads its dialogue
// again, and has forgotten nothing.
func TestAnAgentThatSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.AgentsSleepAfter = 60
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "ask Scout", "message_agent", `{"name":"Scout","message":"what was it?"}`), after("Earshot", "", "There."),
			{Agent: "Scout", When: "remember", Reply: "I do."}, {Agent: "Scout", When: "what was it", Reply: "Tea."},
		}
		c := man(t, h)
		c.must(t, "ann", "@Scout remember tea", 10*time.Minute)
		reads := c.read()
		c.must(t, "ann", "@Earshot ask Scout", time.Second)
		if c.read() == reads {
			t.Error("its dialogue was not read again")
		}
		for _, req := range h.model.Seen() {
			if got := prompt(req); strings.Contains(got, "what was it?") && strings.Contains(req.Messages[0].Text, "You are Scout.") && !strings.Contains(got, "remember tea") {
				t.Errorf("it has forgotten: %s", got)
			}
		}
		c.stop()
	})
}

// TestABrokenModelInAnExchange: when the model of the agent that was asked fails, the asking agent
// is told so, and answers. The text of the fault stays out of the log.
func TestABrokenModelInAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "ask Scout", "message_agent", `{"name":"Scout","message":"count"}`), after("Earshot", "its model failed", "Scout is ill."),
			{Agent: "Scout", When: "count", Reply: "one two three", Trouble: llmtest.Trouble{After: 2, Err: errors.New("broken: canary")}},
		}
		c := man(t, h)
		c.must(t, "ann", "@Earshot ask Scout", time.Second)
		c.stop()
		if got := strings.Join(c.between(), "|"); h.console.Played() != "Scout is ill." || got != "Earshot to Scout: count|Scout to Earshot: one two" {
			t.Errorf("said %q, between them %q", h.console.Played(), got)
		}
		if strings.Contains(h.logged.String(), "canary") {
			t.Error("what the model said of its fault is in the log")
		}
	})
}

// workers makes agents for tasks, and notes which it has made and ended.
type workers struct {
	mu    sync.Mutex
	made  []agents.Record
	ended []earshot.ParticipantID
	fails error
}

func (w *workers) Spawn(_ context.Context, _ earshot.ParticipantID, parent earshot.Path, kind earshot.PathKind, p earshot.Profile) (agents.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails != nil {
		return agents.Record{}, w.fails
	}
	n := len(w.made)
	r := agents.Record{ID: earshot.ParticipantID(fmt.Sprint("sub", n)), Path: earshot.Path(fmt.Sprintf("%s/sub/%d", parent, n)), Kind: kind, Role: kind.Role(), Profile: p}
	w.made = append(w.made, r)
	return r, nil
}

func (w *workers) Finish(_ context.Context, _, id earshot.ParticipantID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, id)
	return nil
}

// TestWorkspace: an agent with a workspace works there, and so does an agent that it makes.
func TestWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := newHouse(), new(shelf)
		h.tools, h.staff = s.table(), new(workers)
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "look it up", "delegate", `{"task":"find the answer"}`), after("Earshot", "forty-two", "It is forty-two."),
			calls("Earshot", "do it alone", "read_file", `{}`), after("Earshot", "", "It is done."),
			calls("", "find the answer", "read_file", `{}`), after("", "", "forty-two"),
		}
		c, works := man(t, h), record("agent", "Earshot")
		works.User, works.Workspace = "owner", "notes"
		c.seats(works, record("scout", "Scout"))
		c.must(t, "ann", "@Earshot do it alone", time.Second)
		c.must(t, "ann", "@Earshot look it up", time.Second)
		synctest.Wait()
		if want := []string{"/agent/owner/notes {}", "/agent/owner/notes {}"}; !slices.Equal(s.read, want) {
			t.Errorf("they worked with %q, want %q", s.read, want)
		}
	})
}

// TestDelegating: an agent gives a task to an agent made for it. The new agent knows nothing else,
// works with the first agent's files, and ends when the task is done, and also when it is cut off.
func TestDelegating(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, w := newHouse(), new(shelf), new(workers)
		h.tools, h.staff = s.table(), w
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "look it up", "delegate", `{"task":"find the answer"}`), after("Earshot", "forty-two", "It is forty-two."), after("Earshot", "nobody could be made", "I cannot."),
			calls("", "find the answer", "read_file", `{}`), after("", "", "forty-two"),
		}
		c := man(t, h)
		c.must(t, "ann", "@Scout my other business", time.Second)
		c.must(t, "ann", "@Earshot look it up", time.Second)
		if !strings.HasSuffix(h.console.Played(), "It is forty-two.") || len(w.made) != 1 || len(w.ended) != 1 || w.ended[0] != w.made[0].ID {
			t.Errorf("said %q, made %v, ended %v", h.console.Played(), w.made, w.ended)
		}
		if len(s.read) != 1 || !strings.HasPrefix(s.read[0], "/owner/agent/earshot ") {
			t.Errorf("it worked with %v", s.read)
		}
		for _, req := range h.model.Seen() {
			if got := prompt(req); strings.HasPrefix(got, "user: [FROM: Earshot") && strings.Contains(got, "business") {
				t.Errorf("it knows of %s", got)
			}
		}
		h.model.Every = time.Second
		c.must(t, "ann", "@Earshot look it up", 100*time.Millisecond)
		c.must(t, "ann", "stop", 10*time.Second)
		if len(w.made) != len(w.ended) {
			t.Errorf("%d were made, and %d ended", len(w.made), len(w.ended))
		}
		w.fails = errors.New("full")
		c.must(t, "ann", "@Earshot look it up", time.Minute)
		if !strings.HasSuffix(h.console.Played(), "I cannot.") {
			t.Errorf("said %q", h.console.Played())
		}
		c.stop()
	})
}

// TestAskedWhileItWaits: an agent that is asked by another while its own turn waits is told again
// in that turn what it answers, if its own words are the last in its dialogue.
func TestAskedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{
			calls("Earshot", "both", "message_agent", `{"name":"Scout","message":"Your part, please."}`), after("Earshot", "is done", "Scout is ready."),
			{When: "Your part", Agent: "Scout", Reply: "My part is done."}, {When: "both", Agent: "Scout", Reply: "So am I."},
		}
		c := man(t, h, "bob")
		c.must(t, "ann", "@Earshot hello", time.Second) // Scout does not know of this, so it is not shown an answer that rests on it
		c.must(t, "ann", "@Earshot @Scout both of you", time.Second)
		c.stop()
		seen := h.model.Seen()
		if got := h.console.Played(); !strings.Contains(got, "So am I.") {
			t.Errorf("said %q, asked with\n%s", got, prompt(seen[len(seen)-1]))
		}
	})
}
