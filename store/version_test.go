package store_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/store"
)

// The journal and the export by the last program that wrote version 8. They contain events of every
// kind, one of them private, one revised and one withdrawn, and are never changed.
const (
	oldJournal = "testdata/version8.db"
	oldExport  = "testdata/version8.export"
)

// TestOlderVersion: a journal of an older version is refused, with what to do, and stays as it is.
func TestOlderVersion(t *testing.T) {
	old, err := os.ReadFile(oldJournal)
	must(t, err)
	for _, lock := range []string{"", "closed\n", "1\n ", "1\n!"} { // however its daemon ended
		directory := t.TempDir()
		path := filepath.Join(directory, "earshot.db")
		must(t, os.WriteFile(path, old, 0o600))
		if lock != "" {
			must(t, os.WriteFile(filepath.Join(directory, "lock"), []byte(lock), 0o600))
		}
		refused(t, directory, path+": it was made by an older earshot (version 8; this one reads version 9): export it with the earshot that made it (earshot export FILE), move it away, and import the export with this one (earshot import FILE)")
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
			t.Errorf("with the lock %q the file has changed, %v", lock, err)
		}
	}
}

// TestOlderVersionWithLog: if a killed program left a log beside such a journal, neither of them
// changes.
func TestOlderVersionWithLog(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "earshot.db")
	old, err := os.ReadFile(oldJournal)
	must(t, err)
	must(t, os.WriteFile(path, old, 0o600))
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	must(t, err)
	_, err = db.ExecContext(t.Context(), "DELETE FROM journal WHERE sequence = 1")
	must(t, err)
	killed := sample{files: map[string][]byte{}}
	for _, name := range []string{"earshot.db", "earshot.db-wal"} {
		killed.files[name], err = os.ReadFile(filepath.Join(directory, name))
		must(t, err)
	}
	must(t, db.Close())
	directory = killed.lay(t, "lock", []byte("1\n!"))
	refused(t, directory, "(earshot import FILE)")
	for name, was := range killed.files {
		if now, err := os.ReadFile(filepath.Join(directory, name)); err != nil || !bytes.Equal(now, was) {
			t.Errorf("%s has changed, %v", name, err)
		}
	}
}

// TestRestoreOlderVersion: a backup of an older version is refused as well, and the current journal
// stays.
func TestRestoreOlderVersion(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	add(t, s, said("mine"))
	must(t, s.Close())
	_, err = store.Restore(t.Context(), store.Config{Directory: directory}, oldJournal, true)
	if !errors.Is(err, store.ErrOther) || !strings.Contains(err.Error(), oldJournal+": it was made by an older earshot (version 8") {
		t.Errorf("restore = %v", err)
	}
	if got := texts(everything(t, open(t, store.Config{Directory: directory}))); got != "mine" {
		t.Errorf("there is %s", got)
	}
}

// TestImportOfOlderVersion: the export of an older version can be imported, and has the same events
// afterwards.
func TestImportOfOlderVersion(t *testing.T) {
	export, err := os.ReadFile(oldExport)
	must(t, err)
	for version := 1; version < 8; version++ { // their events are written in the same way
		body, _, _ := strings.Cut(strings.Replace(string(export), `"version":8`, fmt.Sprintf(`"version":%d`, version), 1), `{"end":`)
		if _, err := open(t, store.Config{}).Import(t.Context(), strings.NewReader(body+store.End(body)), false); err != nil {
			t.Errorf("of version %d: %v", version, err)
		}
	}
	s := open(t, store.Config{})
	done, err := s.Import(t.Context(), bytes.NewReader(export), false)
	must(t, err)
	var want []string
	for lines := bufio.NewScanner(bytes.NewReader(export)); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, `{"id":`) {
			want = append(want, line)
		}
	}
	if done.Label.Version != 8 || done.Added != len(want) || len(want) < 25 {
		t.Errorf("import = %+v, and the file has %d events", done, len(want))
	}
	for i, e := range everything(t, s) {
		line, err := json.Marshal(e)
		must(t, err)
		if string(line) != want[i] {
			t.Errorf("event %d is\n%s\nand was\n%s", i+1, line, want[i])
		}
	}
	if found, err := s.For(everybody).Search(t.Context(), "tide", 9); err != nil || len(found) == 0 {
		t.Errorf("the search finds %d, %v", len(found), err)
	}
}

// TestNewerVersion: a journal of a later version is refused, and left alone.
func TestNewerVersion(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	add(t, s, said("mine"))
	must(t, s.Close())
	spoil("UPDATE versions SET version = 99 WHERE name = 'journal'", "PRAGMA user_version = 99")(t, directory)
	refused(t, directory, filepath.Join(directory, "earshot.db")+": it was made by a newer earshot (version 99; this one reads version 9): start that one, restore a backup that was made before the upgrade (earshot restore --force FILE), or choose another store.directory")
}

// refused checks that nobody can open the journal in a directory, and that everybody is told why.
func refused(t *testing.T, directory, want string) {
	t.Helper()
	heard := new(listener)
	_, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
	if !errors.Is(err, store.ErrOther) || errors.Is(err, store.ErrDamaged) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("open = %v, want %s", err, want)
	}
	_, err = store.OpenReader(t.Context(), store.Config{Directory: directory})
	if !errors.Is(err, store.ErrOther) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("open for reading = %v, want %s", err, want)
	}
	if aside, _ := filepath.Glob(filepath.Join(directory, "earshot.db.*")); len(aside) > 0 || heard.heard() != "" {
		t.Errorf("it was set aside as %v, and reported %s", aside, heard.heard())
	}
}

// TestReaderOfOlderViews: a reader changes nothing, so it cannot read views that must be rebuilt
// first.
func TestReaderOfOlderViews(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	add(t, s, said("The tide is high"))
	must(t, s.Run(t.Context(), "UPDATE versions SET version = 1 WHERE name = 'messages'"))
	must(t, s.Close())
	if _, err := store.OpenReader(t.Context(), store.Config{Directory: directory}); !errors.Is(err, store.ErrOther) || !strings.Contains(err.Error(), "start this version once") {
		t.Errorf("open for reading = %v", err)
	}
	s, err = store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	must(t, s.Close())
	r, err := store.OpenReader(t.Context(), store.Config{Directory: directory})
	must(t, err)
	defer r.Close()
	got, err := r.For(everybody).Search(t.Context(), "tide", 10)
	if err != nil || texts(got) != "The tide is high" {
		t.Errorf("found %s, %v", texts(got), err)
	}
}
