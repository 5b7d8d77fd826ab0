package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// again returns how often the daemon is restarted in the middle of a conversation: more often in a
// proof run.
func again() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 200
	}
	return 20
}

// TestRestartedInConversation: the daemon is ended and started again and again, every other time in
// a different version, while somebody types and a program posts. Each message is kept once and
// answered once, in order, and the terminal never has to be restarted.
func TestRestartedInConversation(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("every_seconds: 0.005\nreply: This is an answer of some words.\n")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	var posting sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "all who post", posting.Wait)
	defer func() {
		if t.Failed() {
			for _, e := range h.events(t)[max(0, len(h.events(t))-14):] {
				switch b := e.Body.(type) {
				case earshot.Message:
					t.Logf("%d %s message %q via %s", e.Sequence, e.ID, string(b.Text), e.Via)
				case earshot.Decision:
					t.Logf("%d decision about %s: %s %v turn %s", e.Sequence, b.About, b.Verdict, b.Reasons, b.Turn)
				case earshot.Reply:
					t.Logf("%d reply %s about %s: %s offered %d heard %v cut %+v", e.Sequence, b.Turn, b.About, b.Outcome, len(b.Offered), b.Heard, b.Cut)
				default:
					t.Logf("%d %s", e.Sequence, e.Body.Kind())
				}
			}
		}
	}()
	d := h.daemon()
	w := h.open("chat")
	w.await(">", 1)
	for n := range again() {
		said := fmt.Sprintf("message %d", n)
		posted := make(chan error, 1)
		if n%3 == 2 {
			id := earshot.EventID(ulid.Make().String())
			posting.Go(func() { posted <- h.posts(t, id, earshot.Text(said)) })
		} else {
			w.says(said)
			posted <- nil
		}
		delay := time.Duration(chance.IntN(80)) * time.Millisecond // the answer takes 35 ms
		select {
		case <-d.done:
			t.Fatalf("round %d: the daemon ended by itself:\n%s", n, d.out.String())
		case <-time.After(delay):
		}
		d.end(syscall.SIGTERM)
		if code := d.ProcessState.ExitCode(); code != success {
			log := h.read("state/earshot/earshot.log")
			t.Fatalf("round %d: it ended with %d:\n%s%s", n, code, d.out.String(), log[max(0, len(log)-64<<10):])
		}
		h.name = "earshot"
		if n%2 == 1 {
			h.name = newer
		}
		d = h.daemon()
		if err := testkit.Receive(t, testkit.Patience, "the message at the daemon that is back", posted); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
		testkit.Await(t, soon, "an answer to "+said, func() bool { return h.heard(t)[said] > 0 })
	}
	lost := func() int { return strings.Count(w.text(), "the connection to earshot was lost") }
	testkit.Await(t, soon, "earshot to be back", func() bool { return strings.Count(w.text(), "earshot is back") == lost() })
	w.says("/exit")
	if code := w.ended(); code != success {
		t.Errorf("chat ended with %d", code)
	}
	if text := w.text(); lost() == 0 || lost() > again() || strings.Contains(text, "not sent") {
		t.Errorf("it shows\n%s", text)
	}
	d.end(syscall.SIGTERM)
	var kept []string
	for _, e := range h.events(t) {
		if m, ok := e.Body.(earshot.Message); ok {
			kept = append(kept, string(m.Text))
		}
	}
	for n := range again() {
		if want := fmt.Sprintf("message %d", n); n >= len(kept) || kept[n] != want {
			t.Fatalf("on record are %q", kept)
		}
	}
	if len(kept) != again() {
		t.Errorf("%d messages were kept: %q", len(kept), kept)
	}
	for text, n := range h.heard(t) {
		if n != 1 {
			t.Errorf("%q was answered %d times", text, n)
		}
	}
}

// TestRestartedBetweenTwoAgents: two agents are asked, and the daemon ends when only one has
// answered. When the daemon runs again the other one answers, and the first does not repeat itself.
func TestRestartedBetweenTwoAgents(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cast{"Scout": nil}.hire(h, false)
	h.scripted("every_seconds: 0.01\nreply: All is well.\nrules:\n  - {when: well, agent: Scout, every_seconds: 600, reply: Not yet.}\n")
	d := h.daemon()
	w := h.open("chat")
	w.await(">", 1)
	w.says("@Earshot @Scout how is it?")
	testkit.Await(t, soon, "the answer of the first", func() bool { return len(h.answered(t)) == 1 })
	d.end(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Fatalf("it ended with %d:\n%s", code, d.out.String())
	}
	h.scripted("every_seconds: 0.01\nreply: Nothing stirs.\n")
	d = h.daemon()
	w.await("Nothing stirs.", 1)
	w.says("/exit")
	if code := w.ended(); code != success {
		t.Errorf("chat ended with %d", code)
	}
	d.end(syscall.SIGTERM)
	if got := h.answered(t); !slices.Equal(got, []string{"All is well.", "", "Nothing stirs."}) {
		t.Errorf("of the turns was heard %q", got)
	}
}

// answered returns what was heard of each turn, in the order in which they ended.
func (h *home) answered(t *testing.T) (all []string) {
	t.Helper()
	for _, r := range testkit.Bodies[earshot.Reply](h.events(t)) {
		all = append(all, string(r.Delivered()))
	}
	return all
}

// posts posts a message until it is kept, under the same ID, as a well-written program does.
func (h *home) posts(t *testing.T, id earshot.EventID, text earshot.Text) (err error) {
	deadline := time.Now().Add(soon)
	for time.Now().Before(deadline) {
		if _, err = h.client().Post(t.Context(), id, text); err == nil {
			return nil
		}
		select {
		case <-t.Context().Done():
			return t.Context().Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return err
}

// events returns all events on record, while a daemon may write.
func (h *home) events(t *testing.T) (all []earshot.Event) {
	t.Helper()
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: h.dir + "/state/earshot/journal"})
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for e, err := range archive.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// heard returns how many replies to each message were heard, or completed without a listener.
func (h *home) heard(t *testing.T) map[string]int {
	t.Helper()
	asked, heard := make(map[earshot.EventID]string), make(map[string]int)
	for _, e := range h.events(t) {
		switch body := e.Body.(type) {
		case earshot.Message:
			asked[e.ID] = string(body.Text)
		case earshot.Reply:
			if body.Delivered() != "" || body.Outcome == earshot.Completed {
				heard[asked[body.About]]++
			}
		}
	}
	return heard
}
