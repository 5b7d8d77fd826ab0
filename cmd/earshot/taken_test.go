package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/internal/testkit"
)

// delivers posts a message over the socket, and returns the status and the body of the response.
func (h *home) delivers(id earshot.EventID, text string) (int, string) {
	h.t.Helper()
	return h.postsTo(string(id), "", text)
}

// TestPostings: a blank message gets 400, a repeated one is kept once, and a different message
// under a known ID gets 409, also after a restart.
func TestPostings(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Well.\n")
	d := h.daemon()
	for _, text := range []string{"", " ", "\n", "\n\n\n", "\r\n", "\t \n", "\u2003\u2003", "\u0085", "\v\f"} {
		if code, said := h.delivers("", text); code != http.StatusBadRequest {
			t.Errorf("%q is answered by %d: %s", text, code, said)
		}
	}
	id, other := earshot.EventID(ulid.Make().String()), earshot.EventID(ulid.Make().String())
	for range 2 {
		for _, tt := range []struct {
			id   earshot.EventID
			text string
			want int
		}{
			{id, "the harp is red", 200}, {id, "the harp is red", 200}, {id, "the harp is blue", 409}, {id, "the harp is red ", 409}, {id, "the harp is red", 200},
			{other, "the harp is blue", 200}, {other, "the harp is red", 409},
		} {
			if code, said := h.delivers(tt.id, tt.text); code != tt.want || code == 409 && !strings.Contains(said, "with a new ID") {
				t.Errorf("%q is answered by %d, want %d: %s", tt.text, code, tt.want, said)
			}
		}
		if is := h.journal()[id].Body.(earshot.Message).Text; is != "the harp is red" {
			t.Errorf("kept is %q", string(is))
		}
		d.Process.Kill()
		testkit.Receive(t, soon, "the end of the daemon", d.done)
		d = h.daemon()
	}
	if n := strings.Count(h.earshot(nil, "history").out, "the harp is"); n != 2 {
		t.Errorf("%d messages are kept", n)
	}
}

// TestSaySuperseded: say reports that no reply will come when something else is asked before its
// question is answered.
func TestSaySuperseded(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EARSHOT_EXECUTIVE_INTERRUPTION_ENABLED=false")
	h.scripted(teller)
	h.daemon()
	if code, said := h.delivers("", "tell me a story"); code != 200 {
		t.Fatal(said)
	}
	ended := make(chan result, 1)
	go func() { ended <- h.earshot(nil, "say", "what is your name?") }()
	testkit.Await(t, soon, "the question to be on record", func() bool {
		for _, e := range h.journal() {
			if m, is := e.Body.(earshot.Message); is && m.Text == "what is your name?" {
				return true
			}
		}
		return false
	})
	if code, said := h.delivers("", "and what is mine?"); code != 200 {
		t.Fatal(said)
	}
	if r := testkit.Receive(t, soon, "the end of say", ended); r.code != failed || !strings.Contains(r.err, "there is no reply") || r.out != "" {
		t.Errorf("it ended with %d and printed %q and %q", r.code, r.out, r.err)
	}
}

// TestSayCutOff: say reports the same if the reply is cut off before a word of it is heard.
func TestSayCutOff(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Well.\nrules:\n  - when: ponder\n    thinking: " + strings.Repeat("hm ", 1000) + "\n    every_seconds: 1\n    reply: Yes.\n")
	h.daemon()
	ended := make(chan result, 1)
	go func() { ended <- h.earshot(nil, "say", "ponder this") }()
	testkit.Await(t, soon, "the decision to answer", func() bool {
		for _, e := range h.journal() {
			if _, is := e.Body.(earshot.Decision); is {
				return true
			}
		}
		return false
	})
	if code, said := h.delivers("", "what is mine?"); code != 200 {
		t.Fatal(said)
	}
	if r := testkit.Receive(t, soon, "the end of say", ended); r.code != failed || !strings.Contains(r.err, "there is no reply") || r.out != "" {
		t.Errorf("it ended with %d and printed %q and %q", r.code, r.out, r.err)
	}
}
