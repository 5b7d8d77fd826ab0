package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// TestBackup makes a backup while others write, and restores it. The restored journal is that of
// one moment, reads the same, and has no trace of what was deleted before.
func TestBackup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := fresh(t, filepath.Join(t.TempDir(), "a"))
		lived(t, rt, s, "E")
		_, err := s.Append(t.Context(), said("xylophone"), said("harpsichord"))
		must(t, err)
		gone := everything(t, s)
		_, err = s.Delete(t.Context(), gone[len(gone)-2].ID)
		must(t, err)
		archive, err := store.OpenReader(t.Context(), store.Config{Directory: filepath.Dir(s.Path())})
		must(t, err)
		defer archive.Close()
		path := filepath.Join(t.TempDir(), "backup")
		var writing sync.WaitGroup
		ctx, done := context.WithCancel(t.Context())
		first := make(chan struct{})
		writing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				add(t, s, said("meanwhile"))
				if n == 0 {
					close(first)
				}
			}
		})
		testkit.Receive(t, testkit.Patience, "the first event", first)
		before := len(everything(t, s))
		file := store.Companion{Name: "speakers.json", Data: []byte("voices")}
		must(t, archive.Backup(t.Context(), path, file))
		done()
		testkit.Finish(t, 5*testkit.Patience, "the end of what is written", writing.Wait)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			rt.Fatalf("%v, %v", info.Mode(), err)
		}
		if found := traces(t, filepath.Dir(path), []string{"xylophone"}); len(found) > 0 {
			rt.Fatalf("there are traces: %s", found)
		}
		directory := filepath.Join(t.TempDir(), "state")
		got, err := store.Restore(t.Context(), where(directory), path, false)
		if err != nil || got.Aside != "" || !reflect.DeepEqual(got.Companions, []store.Companion{file}) {
			rt.Fatalf("restored %+v, %v", got, err)
		}
		again := fresh(t, directory)
		all, was := everything(t, again), everything(t, s)
		if len(all) != got.Events || len(all) < before || len(all) > len(was) {
			rt.Fatalf("%d events are back, of %d when it was made and %d later", len(all), before, len(was))
		}
		if is, had := texts(all), texts(was[:len(all)]); is != had {
			rt.Fatalf("there is\n%s\nand was\n%s", is, had)
		}
		if left := traces(t, directory, []string{"voices"}); len(left) > 0 {
			rt.Fatalf("the journal has what is not its own: %s", left)
		}
	})
}

// TestBackupRefuses: nothing is overwritten, nothing is left of a failed backup, and an existing
// journal is set aside, never deleted.
func TestBackupRefuses(t *testing.T) {
	s := fresh(t, filepath.Join(t.TempDir(), "a"))
	add(t, s, numbered(3)...)
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: filepath.Dir(s.Path())})
	must(t, err)
	defer archive.Close()
	path := filepath.Join(t.TempDir(), "backup")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := archive.Backup(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what failed was left: %v", err)
	}
	must(t, archive.Backup(t.Context(), path))
	if err := archive.Backup(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if err := archive.Backup(t.Context(), filepath.Join(t.TempDir(), "no", "such")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is no directory: %v", err)
	}

	to := filepath.Join(t.TempDir(), "b")
	mine, err := store.Open(t.Context(), store.Config{Directory: to})
	must(t, err)
	add(t, mine, said("mine"))
	var locked *store.ErrLocked
	if _, err := store.Restore(t.Context(), where(to), path, true); !errors.As(err, &locked) {
		t.Errorf("where somebody writes: %v", err)
	}
	must(t, mine.Close())
	if _, err := store.Restore(t.Context(), where(to), path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another journal: %v", err)
	}
	whole, err := os.ReadFile(path)
	must(t, err)
	altered := slices.Clone(whole)
	altered[strings.Index(string(altered), "word2 is the word")] ^= 1
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte(strings.Repeat("no backup\n", 1000)), "half": whole[:len(whole)/2], "altered": altered} {
		wrong := filepath.Join(t.TempDir(), "wrong")
		must(t, os.WriteFile(wrong, data, 0o600))
		if _, err := store.Restore(t.Context(), where(to), wrong, true); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := another(t)
	spoil("UPDATE versions SET version = 99 WHERE name = 'journal'", "PRAGMA user_version = 99")(t, filepath.Dir(newer))
	if _, err := store.Restore(t.Context(), where(to), newer, true); !errors.Is(err, store.ErrOther) {
		t.Errorf("newer: %v", err)
	}
	if got := texts(everything(t, fresh(t, to))); got != "mine" {
		t.Errorf("after all that there is %s", got)
	}
}

// another returns the path of a closed journal of seven events, one of them erased.
func another(t *testing.T) string {
	t.Helper()
	c := where(filepath.Join(t.TempDir(), "another"))
	s, err := store.Open(t.Context(), c)
	must(t, err)
	first := add(t, s, said("The tide is high"))[0]
	add(t, s, by("decides", "agent", earshot.Decision{About: first.ID, Agent: "agent", Verdict: earshot.Speak, Turn: "t1"}, first.ID),
		by("answers", "agent", earshot.Reply{Turn: "t1", About: first.ID, Offered: "It is"}, first.ID), said("forget this"))
	add(t, s, numbered(3)...)
	_, err = s.Delete(t.Context(), everything(t, s)[3].ID)
	must(t, err)
	must(t, s.Close())
	return filepath.Join(c.Directory, "earshot.db")
}

// TestRestoreInstead: the previous journal stands beside the restored one.
func TestRestoreInstead(t *testing.T) {
	to := filepath.Join(t.TempDir(), "b")
	mine, err := store.Open(t.Context(), store.Config{Directory: to})
	must(t, err)
	add(t, mine, said("mine"))
	must(t, mine.Close())
	old := another(t)
	got, err := store.Restore(t.Context(), where(to), old, true)
	if err != nil || filepath.Base(got.Aside) != "earshot.db.replaced-20260203T040506Z" || got.Events != 7 || got.Erased != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got := texts(everything(t, fresh(t, to))); !strings.HasPrefix(got, "The tide is high|decision") {
		t.Errorf("there is %s", got)
	}
	back := filepath.Join(t.TempDir(), "c")
	if _, err := store.Restore(t.Context(), where(back), got.Aside, false); err != nil {
		t.Fatal(err)
	}
	if got := texts(everything(t, fresh(t, back))); got != "mine" {
		t.Errorf("what was set aside is %s", got)
	}
}

// TestRestoreWithLog: a journal that was not closed, such as one set aside after a crash, is
// restored with the contents of its log.
func TestRestoreWithLog(t *testing.T) {
	s := fresh(t, filepath.Join(t.TempDir(), "a"))
	add(t, s, numbered(3)...)
	want := texts(everything(t, s))
	crashed := filepath.Join(t.TempDir(), "earshot.db.replaced")
	for _, ending := range []string{"", "-wal"} {
		data, err := os.ReadFile(s.Path() + ending)
		must(t, err)
		must(t, os.WriteFile(crashed+ending, data, 0o600))
	}
	to := filepath.Join(t.TempDir(), "b")
	if _, err := store.Restore(t.Context(), where(to), crashed, false); err != nil {
		t.Fatal(err)
	}
	if got := texts(everything(t, fresh(t, to))); got != want {
		t.Errorf("there is %q", got)
	}
}

// TestRestoreForgetsAgain: what was erased after a backup was made does not come back with it,
// whatever the age of the backup, if the journal still knows of the erasure. Everything else comes
// back.
func TestRestoreForgetsAgain(t *testing.T) {
	c := where(filepath.Join(t.TempDir(), "a"))
	c.Projections = []earshot.Projection{counter{version: 1}}
	closed, err := store.Open(t.Context(), store.Indexed(c, 16))
	must(t, err)
	add(t, closed, numbered(20)...)
	add(t, closed, by("ann", "ann", earshot.Message{Text: "xylophone"}), by("bob", "bob", earshot.Message{Text: "harpsichord"}),
		by("ever", "ann", earshot.Message{Text: "glockenspiel"}), by("answers", "agent", earshot.Memo{Text: "vibraphone"}, "ann"))
	_, err = closed.Delete(t.Context(), "ever")
	must(t, err)
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: c.Directory})
	must(t, err)
	path := filepath.Join(t.TempDir(), "backup")
	must(t, archive.Backup(t.Context(), path))
	must(t, archive.Close())
	add(t, closed, said("since"))
	n, err := closed.Forget(t.Context(), store.Selection{Events: []earshot.EventID{"ann"}}, nil)
	if err != nil || n != 2 {
		t.Fatalf("%d are forgotten, %v", n, err)
	}
	must(t, closed.Close())

	got, err := store.Restore(t.Context(), c, path, true)
	must(t, err)
	if len(got.Forgotten) != 2 || got.Untold != nil || got.Events != 24 || got.Erased != 3 || got.Forgotten[0].ID != "ann" || got.Forgotten[1].Kind != earshot.KindMemo {
		t.Errorf("restored: %+v", got)
	}
	s := open(t, c)
	if all := texts(everything(t, s)); strings.Contains(all, "xylophone") || !strings.Contains(all, "harpsichord") || strings.Contains(all, "since") {
		t.Errorf("there is %s", all)
	}
	if all := counted(t, s); strings.Contains(all, "xylophone") || !strings.Contains(all, "harpsichord") {
		t.Errorf("in a view of others there is %s", all)
	}
	for word, want := range map[string]int{"xylophone": 0, "vibraphone": 0, "harpsichord": 1} {
		if found, err := s.For(everybody).Search(t.Context(), word, 9); err != nil || len(found) != want {
			t.Errorf("of %s there are %d, %v", word, len(found), err)
		}
	}
	must(t, s.Clean(t.Context()))
	if left := traces(t, c.Directory, []string{"xylophone", "vibraphone", "glockenspiel"}); len(left) > 0 {
		t.Errorf("there are traces: %s", left)
	}

	empty := where(filepath.Join(t.TempDir(), "b"))
	if got, err := store.Restore(t.Context(), empty, path, false); err != nil || len(got.Forgotten) > 0 || got.Untold != nil {
		t.Errorf("where nothing was: %+v, %v", got, err)
	}
}

// TestRestoreOverDamage: if the erased events cannot be read any more, the backup is restored, and
// that is reported.
func TestRestoreOverDamage(t *testing.T) {
	old := another(t)
	c := where(filepath.Join(t.TempDir(), "a"))
	if _, err := store.Restore(t.Context(), c, old, false); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), c)
	must(t, err)
	all := everything(t, s)
	was := len(slices.DeleteFunc(slices.Clone(all), func(e earshot.Event) bool { return e.Body.Kind() == earshot.KindErased }))
	n, err := s.Delete(t.Context(), all[0].ID)
	must(t, err)
	must(t, s.Close())
	got, err := store.Restore(t.Context(), c, old, true)
	if err != nil || len(got.Forgotten) != n || n == 0 || got.Untold != nil || got.Erased != len(all)-was+n {
		t.Fatalf("over %d erased events: %+v, %v", n, got, err)
	}
	must(t, os.WriteFile(filepath.Join(c.Directory, "earshot.db"), []byte(strings.Repeat("damage ", 1000)), 0o600))
	got, err = store.Restore(t.Context(), c, old, true)
	if err != nil || len(got.Forgotten) > 0 || got.Untold == nil || got.Aside == "" {
		t.Errorf("over a damaged one: %+v, %v", got, err)
	}
}

// where returns the configuration of a store in a directory, with a clock that stands at began.
func where(directory string) store.Config {
	return store.Config{Directory: directory, Now: func() time.Time { return began }}
}
