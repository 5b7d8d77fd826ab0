package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/testkit"
)

// TestSayTo: what is said to an address is answered by the agent there, and by all that match a
// pattern; whoever cannot be reached is not stood in for, and the error says what to do.
func TestSayTo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("every_seconds: 0.01\nreply: I am the main one.\nrules:\n- {agent: Coder, when: '', reply: I am Coder.}\n- {agent: Bob, when: '', reply: I am Bob.}\n")
	h.write("config/earshot/config.yaml", "agents:\n- name: Coder\n- name: Bob\n- {name: Cook, rooms: [kitchen]}\nrooms:\n- id: kitchen\nexecutive: {multi_party: {turn_limit: 3}}\n")
	h.daemon()
	if r := h.earshot(nil, "agents", "add", "Old"); r.code != 0 {
		t.Fatal(r.err)
	}
	if r := h.earshot(nil, "agents", "end", "Old", "--yes"); r.code != 0 {
		t.Fatal(r.err)
	}
	for _, tt := range []struct{ to, want, no string }{
		{"/owner/agent/coder", "I am Coder.", ""},
		{"/owner/agent/*", "I am Bob. I am Coder. I am the main one.", "Cook has no seat in this room"}, // each once
		{"/owner/agent/cook", "", "it sits in kitchen → write to it there: earshot say --room kitchen"},
		{"/owner/agent/old", "", "has ended"},
		{"/owner/agent/codr", "", "perhaps you mean /owner/agent/coder"},
		{"/owner/agent/coder/memory", "", "remembers for another agent"},
		{"two words", "", "no agent has the ID \"two\""},
	} {
		r := h.earshot(nil, "say", "--to", tt.to, "@Bob who are you?")
		if got := strings.Join(strings.Fields(r.out), " "); got != tt.want || (r.code == 0) != (tt.want != "") || !strings.Contains(strings.Join(strings.Fields(r.err), " "), tt.no) {
			t.Errorf("to %s: %d %q %q", tt.to, r.code, r.out, r.err)
		}
	}
	if r := h.earshot(nil, "agents", "add", "Dan"); r.code != 0 {
		t.Fatal(r.err)
	}
	if r := h.earshot(nil, "say", "--to", "/owner/agent/*", "who are you?"); r.code == 0 || !strings.Contains(r.err, "4 agents match") {
		t.Errorf("to too many: %+v", r)
	}
	if r := h.earshot(nil, "say", "--room", "kitchen", "--to", "/owner/agent/cook", "who are you?"); r.code != 0 {
		t.Errorf("in the kitchen: %+v", r)
	}

	coder := ""
	for _, e := range h.events(t) {
		if m, is := e.Body.(earshot.Message); is && e.Room == earshot.Desk {
			if coder == "" {
				coder = string(e.To[0])
			}
			if !m.Posted || e.Visibility.Scope != earshot.Public || !slices.Equal(e.Visibility.Agents, e.To) {
				t.Errorf("it was posted as %+v", e)
			}
		}
	}
	for _, tt := range []struct {
		id, to, text string
		code         int
	}{
		{"01JDQ0000000000000000000AA", coder, "by its ID", 200},
		{"01JDQ0000000000000000000AA", coder, "by its ID", 200},
		{"01JDQ0000000000000000000AA", coder, "by another", 409},
		{"", "/owner/agent/codr", "hello", 422},
		{"", "/owner/agent/cook", "hello", 422},
		{"", "two words", "hello", 400},
		{"", "/owner/agent/coder", "/who", 422},
	} {
		if code, said := h.postsTo(tt.id, tt.to, tt.text); code != tt.code {
			t.Errorf("to %s %q: %d %s", tt.to, tt.text, code, said)
		}
	}
	testkit.Await(t, soon, "an answer to the ID", func() bool {
		return len(slices.DeleteFunc(testkit.Bodies[earshot.Reply](h.events(t)), func(r earshot.Reply) bool { return r.Offered != "I am Coder." })) == 3
	})
	if log := h.read("state/earshot/earshot.log"); strings.Contains(log, "who are you") || strings.Contains(log, "by its ID") {
		t.Error("what was said is in the log")
	}
}

// TestConnector: who is met at the console answers there what calls nobody, also where others are; the
// main agent is still called by its name.
func TestConnector(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("every_seconds: 0.01\nreply: I am the main one.\nrules:\n- {agent: Concierge, when: '', reply: I am at the door.}\n")
	h.write("config/earshot/config.yaml", "agents:\n- {name: Concierge, connector: console}\n")
	h.daemon()
	says := func(want string, args ...string) {
		t.Helper()
		if r := h.earshot(nil, append([]string{"say"}, args...)...); r.out != want+"\n" {
			t.Errorf("%q is answered by %q, %s", args, r.out, r.err)
		}
	}
	says("I am at the door.", "hello")
	says("I am the main one.", "@Earshot hello")
	says("I am at the door.", "--to", "/owner/console", "hello")
	w := h.open("chat", "--identity", "ann")
	defer w.says("/exit")
	w.await(">", 1)
	v := h.open("chat", "--identity", "bob")
	defer v.says("/exit")
	w.await("bob has joined", 1) // only who writes among others is taken to call somebody
	says("I am at the door.", "hello")
	if r := h.earshot(nil, "agents"); !strings.Contains(r.out, "/owner/console         connector  all") {
		t.Errorf("the agents are\n%s", r.out)
	}
}

// postsTo posts a message to an address over the socket, and returns the status and the body of the
// response.
func (h *home) postsTo(id, to, text string) (int, string) {
	h.t.Helper()
	body, err := json.Marshal(map[string]string{"id": id, "to": to, "text": text})
	if err != nil {
		h.t.Fatal(err)
	}
	c := http.Client{Timeout: testkit.Patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", h.socket)
	}}}
	resp, err := c.Post("http://localhost/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}
