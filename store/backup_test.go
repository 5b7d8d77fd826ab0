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

	"pgregory.net/rapid"

	"earshot/store"
)

// TestBackup makes one while others write, and restores it: it is what there was at one
// moment, and answers the same; of what was deleted before there is no trace in it.
func TestBackup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := fresh(t, filepath.Join(t.TempDir(), "a"))
		lived(t, rt, s, "E")
		_, err := s.Append(t.Context(), said("xylophone"), said("harpsichord"))
		must(t, err)
		gone := everything(t, s)
		_, err = s.Delete(t.Context(), gone[len(gone)-2].ID)
		must(t, err)
		archive, err := store.OpenReader(t.Context(), filepath.Dir(s.Path()))
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
		<-first
		before := len(everything(t, s))
		file := store.Companion{Name: "speakers.json", Data: []byte("voices")}
		must(t, archive.Backup(t.Context(), path, file))
		done()
		writing.Wait()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			rt.Fatalf("%v, %v", info.Mode(), err)
		}
		if found := traces(t, filepath.Dir(path), []string{"xylophone"}); len(found) > 0 {
			rt.Fatalf("there are traces: %s", found)
		}
		directory := filepath.Join(t.TempDir(), "state")
		got, err := store.Restore(t.Context(), directory, path, false, began)
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

// TestBackupRefuses: nothing is written over, nothing that failed is left, and a journal
// that is there is set aside, never deleted.
func TestBackupRefuses(t *testing.T) {
	s := fresh(t, filepath.Join(t.TempDir(), "a"))
	add(t, s, numbered(3)...)
	archive, err := store.OpenReader(t.Context(), filepath.Dir(s.Path()))
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
	if _, err := store.Restore(t.Context(), to, path, true, began); !errors.As(err, &locked) {
		t.Errorf("where somebody writes: %v", err)
	}
	must(t, mine.Close())
	if _, err := store.Restore(t.Context(), to, path, false, began); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another journal: %v", err)
	}
	whole, err := os.ReadFile(path)
	must(t, err)
	altered := slices.Clone(whole)
	altered[strings.Index(string(altered), "word2 is the word")] ^= 1
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte(strings.Repeat("no backup\n", 1000)), "half": whole[:len(whole)/2], "altered": altered} {
		wrong := filepath.Join(t.TempDir(), "wrong")
		must(t, os.WriteFile(wrong, data, 0o600))
		if _, err := store.Restore(t.Context(), to, wrong, true, began); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := filepath.Join(load(t, fixture(t, first), "UPDATE versions SET version = 99 WHERE name = 'journal'; PRAGMA user_version = 99"), "earshot.db")
	if _, err := store.Restore(t.Context(), to, newer, true, began); !errors.Is(err, store.ErrOther) {
		t.Errorf("newer: %v", err)
	}
	if got := texts(everything(t, fresh(t, to))); got != "mine" {
		t.Errorf("after all that there is %s", got)
	}
}

// TestRestoreInstead: the journal that was there stands beside the restored one, and a
// backup of an earlier version is brought up to date when it is opened.
func TestRestoreInstead(t *testing.T) {
	to := filepath.Join(t.TempDir(), "b")
	mine, err := store.Open(t.Context(), store.Config{Directory: to})
	must(t, err)
	add(t, mine, said("mine"))
	must(t, mine.Close())
	old := filepath.Join(load(t, fixture(t, first)), "earshot.db")
	got, err := store.Restore(t.Context(), to, old, true, began)
	if err != nil || filepath.Base(got.Aside) != "earshot.db.replaced-20260203T040506Z" || got.Events != 7 || got.Erased != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got := texts(everything(t, fresh(t, to))); !strings.HasPrefix(got, "The tide is high|decision") {
		t.Errorf("there is %s", got)
	}
	back := filepath.Join(t.TempDir(), "c")
	if _, err := store.Restore(t.Context(), back, got.Aside, false, began); err != nil {
		t.Fatal(err)
	}
	if got := texts(everything(t, fresh(t, back))); got != "mine" {
		t.Errorf("what was set aside is %s", got)
	}
}
