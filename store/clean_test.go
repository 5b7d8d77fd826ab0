package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// TestDeletedMeanwhile: events deleted while the traces of others are removed have their own
// removed by the next daemon, if this one has no time to.
func TestDeletedMeanwhile(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("xylophone"), said("glockenspiel"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var second sync.WaitGroup
	s.AfterSweep(func() {
		second.Go(func() { s.Delete(ctx, kept[1].ID) })
		store.AwaitCallers(t, 1)
		s.AfterCommit(1, cancel)
	})
	if n, err := s.Delete(t.Context(), kept[0].ID); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	testkit.Finish(t, 5*testkit.Patience, "the second deletion", second.Wait)
	if got := texts(everything(t, s)); got != "erased|erased" {
		t.Fatalf("there is %s", got)
	}
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestDeletedWhileSomebodyReads: traces that could not be removed are removed by the next daemon.
func TestDeletedWhileSomebodyReads(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("xylophone"))
	db, err := sql.Open("sqlite", s.Path())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT payload FROM journal")
	must(t, err)
	defer rows.Close()
	must(t, s.Run(t.Context(), "PRAGMA busy_timeout = 10")) // it waits no longer for who reads
	if n, err := s.Delete(t.Context(), kept[0].ID); n != 1 || err == nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestEndIsNotDelayedByTraces: whoever waits for the next daemon does not wait for traces that
// this one cannot remove at once, here because another program reads the file.
func TestEndIsNotDelayedByTraces(t *testing.T) {
	var log bytes.Buffer
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state"), Log: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := store.Open(t.Context(), c)
	must(t, err)
	kept := add(t, s, said("xylophone"))
	resume := s.HoldTidier()
	_, err = s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{kept[0].ID}}, nil)
	must(t, err)
	db, err := sql.Open("sqlite", s.Path())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT payload FROM journal")
	must(t, err)
	defer rows.Close()
	resume()
	began := time.Now()
	testkit.Finish(t, testkit.Patience, "the end of the store", func() { must(t, s.Close()) })
	t.Logf("it ended after %v", time.Since(began).Round(time.Millisecond))
	if !strings.Contains(log.String(), "no time was left") {
		t.Errorf("the log says %s", log.String())
	}
	s = open(t, store.Config{Directory: c.Directory})
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestUnfinishedDeletion: a daemon that died after a deletion, and before the
// traces were gone, leaves them to the next.
func TestUnfinishedDeletion(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	for range 30 {
		add(t, s, said("xylophone"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.AfterSweep(cancel)
	var all []earshot.EventID
	for _, e := range everything(t, s) {
		all = append(all, e.ID)
	}
	n, err := s.Delete(ctx, all...)
	if n != 30 || !errors.Is(err, context.Canceled) {
		t.Errorf("deleted %d, %v; want 30, and that it was cut short", n, err)
	}
	if len(traces(t, directory, []string{"xylophone"})) == 0 {
		t.Fatal("no traces are left: the test cut it short too late to prove anything")
	}
	copied := sample{files: map[string][]byte{}} // as after a kill, since closing would tidy the log
	for _, name := range []string{"earshot.db", "earshot.db-wal", "lock"} {
		copied.files[name], err = os.ReadFile(filepath.Join(directory, name))
		must(t, err)
	}
	must(t, s.Close())
	directory = copied.lay(t, "lock", []byte("1\n"))
	must(t, open(t, store.Config{Directory: directory}).Clean(t.Context()))
	if found := traces(t, directory, []string{"xylophone"}); len(found) > 0 {
		t.Errorf("after the next start there are traces: %s", found)
	}
}
