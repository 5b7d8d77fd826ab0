package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// TestDeletedMeanwhile: events that are deleted while the traces of others are removed leave no
// traces either, even if whoever deletes them has no time to remove them.
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
	if found := traces(t, filepath.Dir(s.Path()), []string{"xylophone", "glockenspiel"}); len(found) > 0 {
		t.Errorf("there are traces: %s", found)
	}
	if marked, err := s.Marked(t.Context()); marked || err != nil {
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
	must(t, s.Run(t.Context(), "PRAGMA busy_timeout = 10")) // a short wait for the reader
	if n, err := s.Delete(t.Context(), kept[0].ID); n != 1 || err == nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestEndIsNotDelayedByTraces: Close does not wait for traces that cannot be removed at once, here
// because another program reads the file, so that the next daemon can start.
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
	copied := sample{files: map[string][]byte{}} // copied before the end, as after a kill, since closing would tidy the log
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

// TestWrittenWhileCleaned: others write, read and search while the file is replaced, again and
// again. Nothing that was acknowledged is lost or doubled, no query fails, and the views are as if
// rebuilt.
func TestWrittenWhileCleaned(t *testing.T) {
	s := open(t, store.Config{Projections: []earshot.Projection{counter{version: 1}}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	var kept []earshot.EventID
	all.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			e := said(earshot.Text(fmt.Sprintf("meanwhile%d", n)))
			switch n % 4 {
			case 1:
				e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "zoe"}}
			case 2:
				e.Body = earshot.Utterance{Text: "aloud"}
			case 3:
				of := kept[len(kept)-1]
				e.Sources, e.Body = []earshot.EventID{of}, earshot.Attribution{Of: of, Author: "bob", By: "ann"}
			}
			added, err := s.Append(detached(t), e)
			if err != nil {
				t.Error(err)
				return
			}
			kept = append(kept, added[0].ID)
		}
	})
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.For(everybody).Search(detached(t), "meanwhile*", 5); err != nil {
					t.Error(err)
					return
				}
				if _, err := s.For(everybody).Last(detached(t), nil, 50); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	was, err := os.Open(s.Path()) // held open, so that no later file gets its inode number
	must(t, err)
	defer was.Close()
	for n := range 20 {
		add(t, s, by(earshot.EventID(fmt.Sprint("gone", n)), "ann", earshot.Message{Text: "xylophone"}))
		if _, err := s.Delete(t.Context(), earshot.EventID(fmt.Sprint("gone", n))); err != nil {
			t.Error(err)
		}
		if found := traces(t, filepath.Dir(s.Path()), []string{"xylophone"}); len(found) > 0 {
			t.Errorf("there are traces: %s", found)
		}
	}
	cancel()
	testkit.Finish(t, testkit.Patience, "those who write and read", all.Wait)
	before, err := was.Stat()
	must(t, err)
	if os.SameFile(before, stat(t, s.Path())) {
		t.Error("the file was not replaced: the test proves nothing")
	}
	var have []earshot.EventID
	for i, e := range everything(t, s) {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the sequence %d", i+1, e.Sequence)
		}
		if e.Body.Kind() != earshot.KindErased {
			have = append(have, e.ID)
		}
	}
	if !slices.Equal(have, kept) {
		t.Errorf("%d events are there, %d were acknowledged", len(have), len(kept))
	}
	index, view := indexed(t, s.Path()), counted(t, s)
	must(t, s.Rebuild(t.Context()))
	if got := indexed(t, s.Path()); fmt.Sprint(got) != fmt.Sprint(index) || counted(t, s) != view {
		t.Errorf("the index has %d terms, and made again %d; a view has\n%s\nand made again\n%s", len(index), len(got), view, counted(t, s))
	}
	must(t, s.Run(t.Context(), "INSERT INTO terms (terms) VALUES ('integrity-check')"))
}

// stat returns the FileInfo of a path.
func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info
}

// TestCopyLeftByAKill: the next start removes an unfinished copy.
func TestCopyLeftByAKill(t *testing.T) {
	directory := t.TempDir()
	for _, ending := range []string{"", "-wal", "-shm"} {
		must(t, os.WriteFile(filepath.Join(directory, "earshot.db.rewrite"+ending), []byte("xylophone"), 0o600))
	}
	open(t, store.Config{Directory: directory})
	if left, _ := filepath.Glob(filepath.Join(directory, "earshot.db.rewrite*")); len(left) > 0 {
		t.Errorf("there are %s", left)
	}
}

// TestCleaning: Cleaning reports that traces are being removed, here for as long as another program
// reads the file.
func TestCleaning(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("xylophone"))
	db, err := sql.Open("sqlite", s.Path())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT payload FROM journal")
	must(t, err)
	defer rows.Close()
	done := make(chan error, 1)
	go func() {
		_, err := s.Delete(detached(t), kept[0].ID)
		done <- err
	}()
	testkit.Await(t, testkit.Patience, "the traces to be removed", func() bool {
		_, percent, is := s.Cleaning()
		return is && percent == 99
	})
	must(t, rows.Close())
	must(t, testkit.Receive(t, testkit.Patience, "the end of the deletion", done))
	if _, _, is := s.Cleaning(); is {
		t.Error("it goes on when it is over")
	}
}

// TestEditLeavesNoTrace: the old text of an edited message disappears from the files without being
// asked to, soon after the journal has become quiet.
func TestEditLeavesNoTrace(t *testing.T) {
	s := open(t, store.Config{})
	e := said("")
	e.Body = earshot.Revision{Of: add(t, s, said("xylophone"))[0].ID, Text: "harpsichord"}
	add(t, s, e)
	testkit.Await(t, testkit.Patience, "the traces to be gone", func() bool {
		marked, err := s.Marked(t.Context())
		return err == nil && !marked
	})
	if found := traces(t, filepath.Dir(s.Path()), []string{"xylophone"}); len(found) > 0 {
		t.Errorf("there are traces: %s", found)
	}
}

// TestClosedWhileCleaned: closing the store does not wait long for a caller who removes traces.
// After it nobody removes any, since another daemon may be doing so.
func TestClosedWhileCleaned(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(t.TempDir(), "state")})
	must(t, err)
	kept := add(t, s, said("xylophone"))
	db, err := sql.Open("sqlite", s.Path())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT payload FROM journal") // the file is not replaced until these rows are closed
	must(t, err)
	defer rows.Close()
	done := make(chan error, 1)
	go func() {
		_, err := s.Delete(detached(t), kept[0].ID)
		done <- err
	}()
	testkit.Await(t, testkit.Patience, "the traces to be removed", func() bool {
		_, percent, is := s.Cleaning()
		return is && percent == 99
	})
	testkit.Finish(t, testkit.Patience, "the end of the store", func() { must(t, s.Close()) })
	if left, _ := filepath.Glob(s.Path() + ".rewrite*"); len(left) > 0 {
		t.Errorf("there are %s", left)
	}
	if err := testkit.Receive(t, testkit.Patience, "the end of the deletion", done); err == nil {
		t.Error("the deletion says that no traces are left")
	}
	if err := s.Clean(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
