package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/server"
	"earshot/server/client"
)

func (h *house) Hold(_ context.Context, by server.Principal) (release func(), err error) {
	return h.hold(by)
}

// TestHold: a key is held as long as the connection lasts, however that ends.
func TestHold(t *testing.T) {
	h := newHouse()
	h.who = func(_ earshot.Handle, c server.Claim) (server.Principal, error) {
		p := server.Principal{Participant: participants.Participant{ID: "ann", Name: "ann"}}
		if c.Name == "ann" {
			p.Capabilities = []participants.Capability{participants.Operate}
		}
		return p, nil
	}
	held, released := make(chan string, 1), make(chan struct{}, 1)
	h.hold = func(p server.Principal) (func(), error) {
		held <- p.Name
		return func() { released <- struct{}{} }, nil
	}
	wait := func(what string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatalf("waited a minute for %s", what)
		}
	}
	at, stop := serve(t, h)
	c := &client.Client{Socket: at, Identity: "ann"}
	hold := func(ctx context.Context) (begun chan struct{}, ended chan error) {
		begun, ended = make(chan struct{}), make(chan error, 1)
		go func() { ended <- c.Hold(ctx, func() { close(begun) }) }()
		wait("the key", begun)
		testkit.Receive(t, testkit.Patience, "that the key is held", held)
		return begun, ended
	}

	ctx, letGo := context.WithCancel(t.Context())
	_, ended := hold(ctx)
	select {
	case <-released:
		t.Error("it is let go by itself")
	default:
	}
	letGo()
	if err := testkit.Receive(t, testkit.Patience, "the end of the hold", ended); err != nil {
		t.Errorf("let go: %v", err)
	}
	wait("the end of the hold", released)

	_, ended = hold(t.Context())
	stop()
	if err := testkit.Receive(t, testkit.Patience, "the end of the hold", ended); err == nil {
		t.Error("nothing is said where the house has ended")
	}
	wait("the end of the hold", released)

	h.hold = func(server.Principal) (func(), error) { return nil, errors.New("the room is paused") }
	c.Socket, _ = serve(t, h)
	if err := c.Hold(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the room is paused") {
		t.Errorf("refused with %v", err)
	}
	c.Identity = "eve"
	if err := c.Hold(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "at its desk") {
		t.Errorf("eve is told %v", err)
	}
}
