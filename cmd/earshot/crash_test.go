package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/client"
	"earshot/store"
)

// crashes returns how often the daemon is killed: more often in a proof run.
func crashes() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 200
	}
	return 10
}

// TestKilledUnderLoad kills the whole daemon again and again while several clients post. Afterwards
// every message that was acknowledged is there exactly once, and after the next start every turn
// that had begun has exactly one end.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("every_seconds: 0.002\nreply: One reply of some words that takes a while.\n")
	acknowledged := make(map[earshot.EventID]earshot.Text)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	for round := range crashes() {
		d := h.daemon()
		load := post(t, h.client(), round)
		delay := time.Duration(chance.IntN(150)) * time.Millisecond
		select {
		case <-d.done:
			t.Fatalf("round %d: the daemon ended by itself:\n%s", round, d.out.String())
		case <-time.After(delay):
		}
		d.end(syscall.SIGKILL)
		for id, text := range load() {
			acknowledged[id] = text
		}
	}
	if len(acknowledged) == 0 {
		t.Fatal("nothing was ever acknowledged")
	}
	t.Logf("%d messages were acknowledged", len(acknowledged))
	last := h.daemon() // ends what the killed daemon left open
	if r := h.earshot(nil, "say", "are you well?"); r.code != success {
		t.Fatalf("say ended with %d: %s", r.code, r.err)
	}
	last.end(syscall.SIGTERM)
	checkJournal(t, h, acknowledged)
	if r := h.earshot(nil, "search", "round", "0"); r.code != success {
		t.Errorf("search ended with %d: %s", r.code, r.err)
	}
	if n := len(h.history()); n == 0 {
		t.Error("history is empty")
	}
}

// post lets four clients post messages until the daemon is gone. The function that it returns waits
// for them and returns the messages that were acknowledged.
func post(t testing.TB, c *client.Client, round int) (wait func() map[earshot.EventID]earshot.Text) {
	var mu sync.Mutex
	acknowledged := make(map[earshot.EventID]earshot.Text)
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			for n := 0; ; n++ {
				id := earshot.EventID(ulid.Make().String())
				text := earshot.Text(fmt.Sprintf("round %d client %d message %d", round, client, n))
				if _, err := c.Post(context.Background(), id, text); err != nil {
					return
				}
				mu.Lock()
				acknowledged[id] = text
				mu.Unlock()
			}
		})
	}
	return func() map[earshot.EventID]earshot.Text {
		t.Helper()
		testkit.Finish(t, testkit.Patience, "all who post", clients.Wait)
		return acknowledged
	}
}

// checkJournal compares the whole journal with what was acknowledged.
func checkJournal(t *testing.T, h *home, acknowledged map[earshot.EventID]earshot.Text) {
	t.Helper()
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: h.dir + "/state/earshot/journal"})
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	kept, begun, ended := make(map[earshot.EventID]earshot.Text), make(map[earshot.TurnID]int), make(map[earshot.TurnID]int)
	for e, err := range archive.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch body := e.Body.(type) {
		case earshot.Message:
			if _, twice := kept[e.ID]; twice {
				t.Errorf("message %s was kept twice", e.ID)
			}
			kept[e.ID] = body.Text
		case earshot.Decision:
			if body.Turn != "" {
				begun[body.Turn]++
			}
		case earshot.Reply:
			ended[body.Turn]++
		}
	}
	for id, text := range acknowledged {
		if string(kept[id]) != string(text) {
			t.Errorf("message %s was acknowledged, and is lost or another", id)
		}
	}
	for turn, n := range begun {
		if n != 1 || ended[turn] != 1 {
			t.Errorf("turn %s began %d times and ended %d times", turn, n, ended[turn])
		}
	}
	if len(begun) == 0 || len(ended) != len(begun) {
		t.Errorf("%d turns began, %d ended", len(begun), len(ended))
	}
}
