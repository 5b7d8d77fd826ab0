package main

import (
	"fmt"
	"strings"
	"testing"

	"earshot/internal/field"
	"earshot/internal/testkit/pgtest"
	"earshot/store"
)

// TestLockedElsewhere: a command that needs the journal for itself, while a daemon on another machine has it,
// says where it can be run.
func TestLockedElsewhere(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir(), URL: field.Secret(url)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := newHome(t)
	h.write("config/earshot/config.yaml", fmt.Sprintf("store: {url: %q}\n", url))
	for _, args := range [][]string{{"forget", "--everything", "--yes"}, {"store", "rebuild"}} {
		if r := h.earshot(nil, args...); r.code != failed || !strings.Contains(r.err, "on another machine\n  → run this on that machine") || strings.Contains(r.err, url) {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
