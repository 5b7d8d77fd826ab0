package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/wire"
)

func (h *house) Context(_ context.Context, p server.Principal) ([]api.SceneEntry, error) {
	return []api.SceneEntry{{Of: "for " + p.Name}}, nil
}

// TestCommands: a command is carried out in the name of the client, who gets the answer. An unknown
// or malformed command is refused with a reason.
func TestCommands(t *testing.T) {
	h := newHouse()
	h.who = operating
	at, _ := serve(t, h)
	c := &client.Client{Socket: at, Identity: "ann", Room: "kitchen"}
	got, err := c.Do(t.Context(), "think", "stop now")
	if want := " think stop now"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("answered %q, %v; want it to end with %q", got, err, want)
	}
	for name, want := range map[string]string{"dance": "there is no /dance", "": "without its slash", "a/b": "without its slash", strings.Repeat("a", 65): "without its slash"} {
		_, err := c.Do(t.Context(), name, "")
		if r, ok := errors.AsType[*wire.Refusal](err); !ok || !strings.Contains(r.Problem, want) {
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
	c := &client.Client{Socket: at, Identity: "ann"}
	got, err := c.Context(t.Context())
	if err != nil || len(got) != 1 || got[0].Of != "for ann" {
		t.Errorf("it is %+v, %v", got, err)
	}
	h.who = func(earshot.Handle, server.Claim) (server.Principal, error) {
		return server.Principal{}, errors.New("nobody of that name may come in")
	}
	if _, err := c.Context(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody of that name") {
		t.Errorf("a stranger is told %v, of %d", err, http.StatusForbidden)
	}
}
