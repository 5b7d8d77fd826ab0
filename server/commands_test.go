package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/server"
)

// Do tells who gave which command.
func (h *house) Do(_ context.Context, e earshot.Event) (string, error) {
	c := e.Body.(earshot.Command)
	if c.Name == "dance" {
		return "", errors.New("there is no /dance")
	}
	return strings.Join([]string{string(e.From.ID), string(e.Room), c.Name, string(c.Args)}, " "), nil
}

func (h *house) Context(_ context.Context, p server.Principal) (any, error) {
	return []string{"for " + p.Name}, nil
}

// TestCommands: a command is given as by whoever asks, and its answer is theirs; what
// there is not is refused in words.
func TestCommands(t *testing.T) {
	h := newHouse()
	h.who = operating
	at, _ := serve(t, h)
	c := &server.Client{Socket: at, Identity: "ann", Room: "kitchen"}
	got, err := c.Do(t.Context(), "think", "stop now")
	if want := " think stop now"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("answered %q, %v; want it to end with %q", got, err, want)
	}
	for name, want := range map[string]string{"dance": "there is no /dance", "": "without its slash", "a/b": "without its slash", strings.Repeat("a", 65): "without its slash"} {
		_, err := c.Do(t.Context(), name, "")
		if r, ok := errors.AsType[*api.Refusal](err); !ok || !strings.Contains(r.Problem, want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if _, err := c.Do(t.Context(), "note", earshot.Text(strings.Repeat("x", earshot.MaxText+1))); err == nil {
		t.Error("a text without end was taken")
	}
}

func TestContext(t *testing.T) {
	h := newHouse()
	h.who = operating
	at, _ := serve(t, h)
	c := &server.Client{Socket: at, Identity: "ann"}
	raw, err := c.Context(t.Context())
	var got []string
	if err != nil || json.Unmarshal(raw, &got) != nil || len(got) != 1 || got[0] != "for ann" {
		t.Errorf("it is %s, %v", raw, err)
	}
	h.who = func(earshot.Handle, server.Claim) (server.Principal, error) {
		return server.Principal{}, errors.New("nobody of that name may come in")
	}
	if _, err := c.Context(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody of that name") {
		t.Errorf("a stranger is told %v, of %d", err, http.StatusForbidden)
	}
}
