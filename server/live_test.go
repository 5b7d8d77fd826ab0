package server_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"earshot/api"
	"earshot/internal/testkit"
	"earshot/server"
	"earshot/server/client"
)

// A picture is what a house shows in these tests, and how often it was looked at.
type picture struct {
	mu      sync.Mutex
	is      string
	looked  int
	changed chan struct{}
}

func newPicture(is string) *picture { return &picture{is: is, changed: make(chan struct{})} }

func (p *picture) live(server.Principal) (api.LiveView, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looked++
	return api.LiveView{Snapshot: api.Snapshot{RoomState: api.RoomState{Agent: p.is}}}, p.changed, nil
}

func (p *picture) becomes(is string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.is = is
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *picture) looks() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.looked
}

// TestLive: a client is shown the current state, and then each change. A notification without a
// change shows nothing.
func TestLive(t *testing.T) {
	h, p := newHouse(), newPicture("one")
	h.live = p.live
	at, stop := serve(t, h)
	defer stop()
	want := []string{"one", "two", "three"}
	for now, err := range (&client.Client{Socket: at}).Live(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if now.Agent != want[0] || now.At.IsZero() {
			t.Fatalf("shown %+v, want %q with its time", now, want[0])
		}
		want = want[1:]
		if len(want) == 0 {
			return
		}
		n := p.looks()
		p.becomes(now.Agent) // the same as before
		testkit.Await(t, patience, "looking again", func() bool { return p.looks() > n })
		p.becomes(want[0])
	}
}

// TestLiveIsRefused: if nothing can be shown, the reason is told at once, or else it ends the
// stream.
func TestLiveIsRefused(t *testing.T) {
	h := newHouse()
	changed := make(chan struct{})
	close(changed)
	times := 0
	h.live = func(server.Principal) (api.LiveView, <-chan struct{}, error) {
		if times++; times == 2 {
			return api.LiveView{}, nil, errors.New("the room is closed")
		}
		return api.LiveView{Snapshot: api.Snapshot{RoomState: api.RoomState{Dropped: times}}}, changed, nil
	}
	at, stop := serve(t, h)
	defer stop()
	lines := 0
	for now, err := range (&client.Client{Socket: at}).Live(t.Context()) {
		if err == nil && now.Dropped == 1 {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("shown %d lines, want one before the room was closed", lines)
	}
	times = 1
	for _, err := range (&client.Client{Socket: at}).Live(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "the room is closed") {
			t.Errorf("got %v, want why not", err)
		}
	}
}
