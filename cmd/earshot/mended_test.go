package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/internal/testkit"
)

// TestStartMendsWhatItFinds: a daemon with a damaged journal answers after the start, wherever the
// start meets the damage. It has set the file aside and says so in the room.
func TestStartMendsWhatItFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, statement string
		killed          bool
	}{
		{"what the start reads", "UPDATE journal SET payload = replace(payload, 'lighthouse', 'lightmouse') WHERE payload LIKE '%lighthouse%'", false},
		{"what happened first", "UPDATE journal SET payload = payload || ' ' WHERE sequence = 1", false},
		{"what happened first, after a kill", "UPDATE journal SET payload = payload || ' ' WHERE sequence = 1", true},
		{"what was said", "UPDATE journal SET payload = replace(payload, 'lighthouse', 'lightmouse') WHERE payload LIKE '%lighthouse%'", true},
		{"index of words", "DROP TABLE terms", false},
		{"what commands alone read", "UPDATE sqlite_dbpage SET data = zeroblob(length(data)) WHERE pgno = (SELECT rootpage FROM sqlite_schema WHERE name = 'members')", false},
		{"index of words torn", "UPDATE terms_data SET block = zeroblob(length(block)) WHERE id > 10", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.scripted("reply: I am well.\n")
			d := h.daemon()
			for _, text := range []string{"we met at the lighthouse", "the harbour is closed"} {
				if r := h.earshot(nil, "say", text); r.code != success {
					t.Fatalf("say ended with %d: %s", r.code, r.err)
				}
			}
			signal := syscall.SIGTERM
			if tt.killed {
				signal = syscall.SIGKILL
			}
			d.end(signal)
			directory := filepath.Join(h.dir, "state/earshot/journal")
			db, err := sql.Open("sqlite", filepath.Join(directory, "earshot.db"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.ExecContext(t.Context(), tt.statement)
			if err := fmt.Sprint(err, db.Close()); err != "<nil> <nil>" {
				t.Fatal(err)
			}
			d = h.daemon()
			if r := h.earshot(nil, "say", "the ferry is late"); r.code != success {
				t.Fatalf("say ended with %d: %s", r.code, r.err)
			}
			testkit.Await(t, soon, "the file to be set aside and that to be said", func() bool {
				aside, _ := filepath.Glob(filepath.Join(directory, "earshot.db.damaged-*Z"))
				_, _, _ = h.earshot(nil, "search", "ferry"), h.earshot(nil, "history"), h.earshot(nil, "say", "on") // commands that meet the damage, too
				return len(aside) == 1 && strings.Contains(h.earshot(nil, "status").out, "was damaged")
			})
			for _, word := range []string{"harbour", "ferry"} {
				if r := h.earshot(nil, "search", word); r.code != success || !strings.Contains(r.out, word) {
					t.Errorf("a search for %s ended with %d: %s%s", word, r.code, r.out, r.err)
				}
			}
			d.end(syscall.SIGTERM)
			if n := strings.Count(h.read("state/earshot/earshot.log"), "fault=store.salvaged"); n != 1 {
				t.Errorf("it was said %d times", n)
			}
		})
	}
}

// TestReadyWhileChecked: after a kill, a large journal is checked in the background. Meanwhile the
// daemon is ready, takes messages, and says at /readyz what it is still doing.
func TestReadyWhileChecked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: I am well.\n")
	d := h.daemon()
	d.end(syscall.SIGTERM)
	directory := filepath.Join(h.dir, "state/earshot/journal")
	db, err := sql.Open("sqlite", filepath.Join(directory, "earshot.db"))
	if err != nil {
		t.Fatal(err)
	}
	// Free pages make the check take a while, since it reads all of them.
	_, err = db.ExecContext(t.Context(), "CREATE TABLE filler (x); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) INSERT INTO filler SELECT zeroblob(100) FROM n")
	if err := fmt.Sprint(err, db.Close()); err != "<nil> <nil>" {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "lock"), []byte("1\n "), 0o600); err != nil {
		t.Fatal(err)
	}
	d = h.daemon()
	is, err := h.client().Ready(t.Context())
	if err != nil || !is.Ready {
		t.Errorf("it is %+v (%v), want ready", is, err)
	}
	if len(is.Underway) > 0 && (is.Underway[0].Part != "journal" || is.Underway[0].Text == "" || is.Underway[0].Since.IsZero()) {
		t.Errorf("underway is %+v", is.Underway)
	}
	if r := h.earshot(nil, "say", "the ferry is late"); r.code != success {
		t.Errorf("say ended with %d: %s", r.code, r.err)
	}
	testkit.Await(t, time.Minute, "the look to be over", func() bool {
		is, err = h.client().Ready(t.Context())
		return err == nil && len(is.Underway) == 0
	})
	d.end(syscall.SIGTERM)
	if data, err := os.ReadFile(filepath.Join(directory, "lock")); err != nil || !bytes.Equal(data, []byte("closed\n")) {
		t.Errorf("the lock says %q (%v)", data, err)
	}
}
