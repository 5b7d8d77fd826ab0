package server_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/wire"
)

func (h *house) Reload(context.Context) (api.ReloadResult, error) {
	if h.reload == nil {
		return api.ReloadResult{}, nil
	}
	return h.reload()
}

func (h *house) Recheck(p server.Principal) error {
	if h.stays == nil {
		return nil
	}
	return h.stays(p)
}

// TestReload: operators can have the configuration read again, and are told every fault. Others may
// not.
func TestReload(t *testing.T) {
	h := newHouse()
	h.reload = func() (api.ReloadResult, error) {
		return api.ReloadResult{Waiting: []string{"store.directory"}}, nil
	}
	at, _ := serve(t, h)
	c := &client.Client{Socket: at}
	var refused *wire.Refusal
	if _, err := c.Reload(t.Context()); !errors.As(err, &refused) {
		t.Errorf("a guest has it read: %v", err)
	}
	h.who = operating
	c.Identity = "ann"
	is, err := c.Reload(t.Context())
	if err != nil || len(is.Waiting) != 1 {
		t.Errorf("it is %+v, %v", is, err)
	}
	h.reload = func() (api.ReloadResult, error) {
		return api.ReloadResult{}, errors.New("line 3: is wrong\nline 5: is wrong, too")
	}
	if _, err := c.Reload(t.Context()); !errors.As(err, &refused) || refused.Problem != "line 3: is wrong\nline 5: is wrong, too" {
		t.Errorf("the faults are %v", err)
	}
}

// TestStays: a stream ends when its client may not stay, even if no token was revoked.
func TestStays(t *testing.T) {
	h := newHouse()
	var out atomic.Bool
	h.stays = func(server.Principal) error {
		if out.Load() {
			return errors.New("this room is for others now")
		}
		return nil
	}
	at, _ := serve(t, h)
	if err := h.Admit(t.Context(), earshot.Event{ID: "e1", Body: earshot.Message{Text: "hello"}}); err != nil {
		t.Fatal(err)
	}
	c := &client.Client{Socket: at}
	var events int
	for _, err := range c.Events(t.Context(), 0) {
		if err != nil {
			break // the stream has ended
		}
		events++
		out.Store(true)
		if err := h.Admit(t.Context(), earshot.Event{ID: "e2", Body: earshot.Message{Text: "and now?"}}); err != nil {
			t.Fatal(err)
		}
	}
	if events != 1 {
		t.Errorf("%d events were shown", events)
	}
	for _, err := range c.Events(t.Context(), 1) {
		if refused, ok := errors.AsType[*wire.Refusal](err); !ok || refused.Problem != "this room is for others now" {
			t.Errorf("asked again, it is %v", err)
		}
	}
}
