package server_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
)

// attaching is the environment variable that makes the tests below run a terminal as a process of
// its own, which can die as processes do.
const attaching = "EARSHOT_TEST_ATTACH"

// begun is a sense that begins to type and then does nothing.
func begun(ctx context.Context, emit providers.Emit) error {
	err := emit(ctx, earshot.Event{Body: earshot.Typing{Began: true}})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// presences returns how often each session came and went.
func presences(h *house) map[string][2]int {
	all := make(map[string][2]int)
	for _, e := range h.all() {
		if p, ok := e.Body.(earshot.Presence); ok {
			n := all[p.Session]
			if p.Here {
				n[0]++
			} else {
				n[1]++
			}
			all[p.Session] = n
		}
	}
	return all
}

// TestKilledTerminal: a terminal that is killed leaves at once, once, and stops typing. A frozen
// one holds nobody up.
func TestKilledTerminal(t *testing.T) {
	if at := os.Getenv(attaching); at != "" {
		_ = (&client.Client{Socket: at, Identity: "ann"}).Attach(t.Context(), sense(begun), &testkit.Voice{}, new(attach.Names))
		return
	}
	for _, frozen := range []bool{false, true} {
		t.Run(fmt.Sprint("frozen=", frozen), func(t *testing.T) {
			h := newHouse()
			h.who = byName
			outlets := make(chan earshot.Outlet, 1)
			h.enter = func(o earshot.Outlet) { outlets <- o }
			at, stop := serve(t, h)
			cmd := testkit.Command(t, os.Args[0], "-test.run=^TestKilledTerminal$")
			cmd.Env = append(os.Environ(), attaching+"="+at)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			testkit.Await(t, patience, "the terminal to type", func() bool { return len(h.all()) == 2 })
			o := testkit.Receive(t, testkit.Patience, "an outlet", outlets)
			if frozen {
				if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			for range 10_000 { // more than the socket buffers
				o.(earshot.Board).Show(earshot.Event{Author: "bob", Body: earshot.Message{Text: "hello"}})
			}
			if _, err := (&client.Client{Socket: at, Identity: "bob"}).Post(t.Context(), "", "hello"); err != nil {
				t.Error(err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			testkit.Finish(t, testkit.Patience, "the end of the terminal that was killed", func() { _ = cmd.Wait() })
			testkit.Await(t, patience, "the terminal to go", func() bool { return len(h.all()) == 5 })
			stop()
			kept := h.all()
			typing, gone := kept[3].Body, kept[4].Body
			if typing != (earshot.Typing{}) || gone != (earshot.Presence{Session: kept[0].Body.(earshot.Presence).Session}) || len(kept) != 5 {
				t.Errorf("the house was told %v, %v", typing, gone)
			}
			for _, i := range []int{0, 1, 3, 4} {
				if kept[i].From != handleOf(self(), "ann") {
					t.Errorf("event %d is from %v", i, kept[i].From)
				}
			}
		})
	}
}

// TestSixtyTerminals: with sixty terminals at once, more than a family would ever have, each comes
// once, shows what it is sent, and goes once.
func TestSixtyTerminals(t *testing.T) {
	const n = 60
	h := newHouse()
	h.who = byName
	outlets := make(chan earshot.Outlet, n)
	h.enter = func(o earshot.Outlet) { outlets <- o }
	at, stop := serve(t, h)
	people := []string{"ann", "bob", "cid"}
	h.name = func(id earshot.ParticipantID) string { return "Mx " + string(id) }
	voices, names := make([]*testkit.Voice, n), make([]*attach.Names, n)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var all sync.WaitGroup
	for i := range n {
		voices[i], names[i] = &testkit.Voice{Called: "console"}, new(attach.Names)
		c := &client.Client{Socket: at, Identity: people[i%len(people)], Room: "parlour"}
		all.Go(func() {
			if err := c.Attach(ctx, sense(nil), voices[i], names[i]); err != nil {
				t.Errorf("terminal %d ended with %v", i, err)
			}
		})
	}
	testkit.Await(t, patience, "all to come", func() bool { return len(presences(h)) == n && len(outlets) == n })
	called := make(map[string]bool)
	for range n {
		o := testkit.Receive(t, testkit.Patience, "an outlet", outlets)
		called[o.Name()] = true
		o.(earshot.Board).Show(earshot.Event{Author: "dot", Body: earshot.Message{Text: "hello"}})
	}
	for i := range n {
		testkit.Await(t, patience, "it to be shown", func() bool { return len(voices[i].Shown()) == 1 })
		if got := names[i].Name("dot"); got != "Mx dot" {
			t.Errorf("terminal %d calls her %q", i, got)
		}
	}
	leave()
	testkit.Finish(t, 5*testkit.Patience, "the end of the terminals", all.Wait)
	stop()
	for session, n := range presences(h) {
		if n != [2]int{1, 1} {
			t.Errorf("session %s came and went %v times", session, n)
		}
	}
	of := make(map[earshot.ParticipantID]int)
	for _, s := range h.sessions {
		if s.Room != "parlour" || s.Connection != "terminal" || s.Account != self() || !called[s.Outlet] {
			t.Errorf("there was the session %+v", s)
		}
		of[s.Participant]++
	}
	if len(called) != n || len(h.sessions) != n || of["ann"] != 20 || of["bob"] != 20 || of["cid"] != 20 {
		t.Errorf("%d outlets, %d sessions, %v", len(called), len(h.sessions), of)
	}
}
