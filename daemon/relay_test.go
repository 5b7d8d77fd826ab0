package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/reconnect"
)

// A typist is the input of a terminal at which somebody says something again and again.
type typist struct {
	ids   []earshot.EventID
	after func(i int)
}

func (*typist) Name() string { return "typist" }

func (p *typist) Run(ctx context.Context, emit providers.Emit) error {
	for i, id := range p.ids {
		if err := emit(ctx, earshot.Event{ID: id, At: time.Now(), Body: earshot.Message{Text: earshot.Text(fmt.Sprint("thing number ", i))}}); err != nil {
			return err
		}
		p.after(i)
	}
	return nil
}

// TestClusterRelay: whichever daemon a client connects with, it is in its room, also when that moves.
func TestClusterRelay(t *testing.T) {
	server := pgtest.Start(t)
	h := &sharedHouse{t: t, server: server, url: server.Database(t)}
	a := h.join("a")
	a.owns()
	b := h.join("b")
	testkit.Await(t, testkit.Patience, "the other knows who has the room", func() bool {
		id, here := b.cluster.Owner("kitchen")
		return id != "" && !here
	})
	c := &client.Client{Socket: b.socket, Room: "kitchen"}
	testkit.Await(t, testkit.Patience, "clients are answered", func() bool { _, err := c.State(t.Context()); return err == nil })
	is, err := c.State(t.Context())
	if err != nil || is.You.ID != a.owner.ID || is.Room != "kitchen" {
		t.Fatalf("the state is %+v, %v", is.You, err)
	}
	_, leave := a.enters(0)
	if _, err := c.Post(t.Context(), "", "how is it?"); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, testkit.Patience, "an answer is on record", func() bool {
		return slices.Contains(a.replies(), "completed:All is well.")
	})
	leave()
	if _, err := c.Do(t.Context(), "who", ""); err != nil {
		t.Error(err)
	}
	desk := &client.Client{Socket: b.socket}
	if _, err := desk.Voices(t.Context()); err != nil {
		t.Error(err)
	}

	p := &typist{}
	for range 20 {
		p.ids = append(p.ids, b.id())
	}
	p.after = func(i int) {
		if i == 5 {
			b.drain("a")
		}
		if i > 5 && i < 15 { // until the room has moved
			testkit.Poll(200*time.Millisecond, func() bool { return len(b.rooms.Now()) == 3 })
		}
	}
	v := &testkit.Voice{Called: "terminal"}
	if err := reconnect.Attach(t.Context(), c, p, v, new(attach.Names), func(error) {}); err != nil {
		t.Fatal(err)
	}
	b.owns()
	testkit.Await(t, testkit.Patience, "everything is on record once", func() bool {
		count := make(map[earshot.EventID]int)
		for _, e := range b.kept(earshot.KindMessage) {
			count[e.ID]++
		}
		return !slices.ContainsFunc(p.ids, func(id earshot.EventID) bool { return count[id] != 1 })
	})
	if _, err := (&client.Client{Socket: a.socket, Room: "kitchen"}).Post(t.Context(), "", "and now?"); err != nil {
		t.Errorf("through the daemon that had the room: %v", err)
	}
	for _, s := range []*sharer{a, b} {
		began, n := time.Now(), 50
		for range n {
			if _, err := (&client.Client{Socket: s.socket, Room: "kitchen"}).State(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("a request takes %v; the room is here: %v", time.Since(began)/time.Duration(n), s == b)
	}
	b.kill()
	var failure *client.Failure
	if _, err := (&client.Client{Socket: a.socket, Room: "kitchen"}).Post(t.Context(), "", "is anybody there?"); err != nil && (!errors.As(err, &failure) || !strings.Contains(err.Error(), "no daemon has the room")) {
		t.Errorf("after the owner is gone: %v", err)
	}
	b.relay.resume(t)
}
