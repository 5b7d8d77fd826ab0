package speakers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/speakers"
)

// enrolled returns a directory in which the voice of Ann is kept.
func enrolled(t testing.TB) (dir string, w *world, ann earshot.Handle) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "voices")
	w = open(t, dir, config())
	for range 5 {
		ann = w.says("ann", 3*time.Second).Speaker
	}
	if _, err := w.book.Enrol("ann", w.said(), ann); err != nil {
		t.Fatal(err)
	}
	return dir, w, ann
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestKept ends the program: who was kept is known when it begins again, and
// nobody else.
func TestKept(t *testing.T) {
	dir, w, ann := enrolled(t)
	bob := w.says("bob", 3*time.Second)
	if about, err := os.Stat(speakers.Path(dir)); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", about.Mode(), err)
	}
	if about, err := os.Stat(dir); err != nil || about.Mode().Perm() != 0o700 {
		t.Errorf("its directory is %v, %v", about.Mode(), err)
	}
	w = open(t, dir, config())
	known := w.book.Known()
	if len(known) != 1 || known[0].Handle != ann || known[0].Who != "ann" || !known[0].Kept || known[0].Said.By != "ann" {
		t.Fatalf("known are %+v", known)
	}
	if j := w.says("ann", 2*time.Second); j.Speaker != ann || j.New {
		t.Errorf("Ann is %+v", j)
	}
	if _, ok := w.book.Speaker(bob.Speaker); ok {
		t.Error("Bob, of whom nothing was kept, is known")
	}
	if kept, err := speakers.Read(dir); err != nil || len(kept) != 1 || kept[0].Handle != ann {
		t.Errorf("read %+v, %v", kept, err)
	}
}

// TestForgetOverwrites looks at the very blocks in which the voice was.
func TestForgetOverwrites(t *testing.T) {
	dir, w, ann := enrolled(t)
	path := speakers.Path(dir)
	put(t, path+".damaged-20300102T030405Z", read(t, path)) // set aside once
	var seen []*os.File
	for _, name := range []string{path, path + ".damaged-20300102T030405Z"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		seen = append(seen, f)
	}
	if _, err := w.book.Forget(ann, w.said()); err != nil {
		t.Fatal(err)
	}
	for _, f := range seen {
		data := make([]byte, 1<<20)
		n, _ := f.ReadAt(data, 0)
		if n == 0 || bytes.ContainsFunc(data[:n], func(r rune) bool { return r != 0 }) {
			t.Errorf("of %s there are %d bytes, not all overwritten", filepath.Base(f.Name()), n)
		}
	}
	if all := files(t, dir); len(all) != 1 || len(w.book.Known()) != 0 {
		t.Errorf("there are %v, and known %v", all, w.book.Known())
	}
	if _, err := w.book.Forget(ann, w.said()); err != speakers.ErrUnknown {
		t.Errorf("forgotten twice: %v", err)
	}
}

// TestDamaged reads files that something has happened to.
func TestDamaged(t *testing.T) {
	dir, _, _ := enrolled(t)
	whole := string(read(t, speakers.Path(dir)))
	cut := func(old, now string) string { return strings.Replace(whole, old, now, 1) }
	for _, tt := range []struct{ name, data, problem string }{
		{"empty", "", "it is not the JSON that it should be"},
		{"half", whole[:len(whole)/2], "it is not the JSON that it should be"},
		{"twice", whole + whole, "it goes on after its end"},
		{"more", cut(`"version": 1`, `"version": 1, "more": 2`), "it is not the JSON that it should be"},
		{"another name", cut(`"who": "ann"`, `"who": "bob"`), "its checksum is not that of what it holds"},
		{"no version", cut(`"version": 1`, `"version": 0`), "its version is 0"},
		{"another kind", cut(`"kind": `, `"kind": 9`), "it was made by an earshot that measures voices in another way"},
		{"huge", strings.Repeat(" ", 4<<20+1), "there is far too much of it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, speakers.Path(dir), []byte(tt.data))
			_, err := speakers.Read(dir)
			if err == nil || !strings.HasSuffix(err.Error(), tt.problem) {
				t.Errorf("reading it says %v", err)
			}
			var told []earshot.Notice
			c := config()
			c.Report = func(n earshot.Notice) { told = append(told, n) }
			w := open(t, dir, c)
			if len(told) != 1 || !strings.Contains(told[0].Text, tt.problem) || told[0].Cure == "" {
				t.Errorf("told %+v", told)
			}
			all := files(t, dir)
			if len(all) != 1 || !strings.HasPrefix(filepath.Base(all[0]), "voices.json.damaged-") || string(read(t, all[0])) != tt.data {
				t.Errorf("there are %v", all)
			}
			if j := w.says("ann", 3*time.Second); !j.New {
				t.Errorf("Ann is %+v", j)
			}
		})
	}
}

// TestNewer leaves a file alone that is of a newer version.
func TestNewer(t *testing.T) {
	dir := t.TempDir()
	put(t, speakers.Path(dir), []byte(`{"version": 2, "what": "else"}`))
	_, err := speakers.Open(dir, config())
	bad, ok := err.(*speakers.ErrDamaged)
	if !ok || !strings.HasSuffix(err.Error(), "it was written by a newer earshot") || bad.Cure() == "" {
		t.Errorf("got %v", err)
	}
	if all := files(t, dir); len(all) != 1 || all[0] != speakers.Path(dir) {
		t.Errorf("there are %v", all)
	}
}

// TestCutShort begins where the machine failed in the middle of a change.
func TestCutShort(t *testing.T) {
	dir, _, _ := enrolled(t)
	whole := read(t, speakers.Path(dir))
	for _, tt := range []struct {
		name string
		left []string // besides the directory
		want bool     // Ann is known
	}{
		{"before", []string{"voices.json", "voices.json.new"}, true},
		{"between", []string{"voices.json.old", "voices.json.new"}, true},
		{"after", []string{"voices.json", "voices.json.old"}, true},
		{"the first", []string{"voices.json.new"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range tt.left {
				put(t, filepath.Join(dir, name), whole)
			}
			w := open(t, dir, config())
			if got := len(w.book.Known()) == 1; got != tt.want {
				t.Errorf("known are %v", w.book.Known())
			}
			for _, path := range files(t, dir) {
				if path != speakers.Path(dir) {
					t.Errorf("%s is left", path)
				}
			}
		})
	}
}

// TestCannotWrite changes nothing where nothing can be written down.
func TestCannotWrite(t *testing.T) {
	dir, w, ann := enrolled(t)
	if err := os.Mkdir(speakers.Path(dir)+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(speakers.Path(dir)+".new", "x"), nil) // so that it cannot be removed
	if _, err := w.book.Forget(ann, w.said()); err == nil {
		t.Error("it was forgotten, and is in the file")
	}
	if len(w.book.Known()) != 1 {
		t.Error("it is not known any more, and is in the file")
	}
	w = open(t, "", config())
	h := w.says("ann", 30*time.Second).Speaker
	if _, err := w.book.Enrol("ann", w.said(), h); err == nil || w.book.Known()[0].Kept {
		t.Errorf("kept where nothing can be: %v", err)
	}
}

// FuzzFile opens anything. What is taken for whole is written as it was read.
func FuzzFile(f *testing.F) {
	dir, _, _ := enrolled(f)
	f.Add(read(f, speakers.Path(dir)))
	f.Add([]byte(`{"version":1,"kind":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","voices":[]}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		put(t, speakers.Path(dir), data)
		before, err := speakers.Read(dir)
		if err != nil {
			return
		}
		w := open(t, dir, config())
		h := w.says("zoe", 30*time.Second).Speaker
		if len(before) < 64 {
			if _, err := w.book.Enrol("zoe", w.said(), h); err != nil {
				return // she sounds like one of them
			}
		}
		if after, err := speakers.Read(dir); err != nil || len(after) < len(before) {
			t.Errorf("%d voices, then %d: %v", len(before), len(after), err)
		}
	})
}
