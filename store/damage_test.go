package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/store"
)

// page is the size of a page of the file.
const page = 4096

// A sample is the files of a journal and its events, by sequence.
type sample struct {
	files  map[string][]byte
	events map[int64]string
	last   int64
}

// take makes a sample of some hundred events of all kinds and sizes. If closed, it has no log. If
// not, it has one, as after a kill.
func take(t *testing.T, closed bool) sample {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	for i := range 160 {
		e := said(earshot.Text(fmt.Sprintf("word%d %s", i+1, strings.Repeat("filler ", i%30))))
		switch {
		case i%25 == 0:
			e = said(earshot.Text(fmt.Sprintf("word%d %s", i+1, strings.Repeat("filler ", 2000))))
		case i%10 == 1:
			e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "bob"}}
		case i%10 == 2:
			e.Body = earshot.Reply{Turn: "t", About: "a", Outcome: earshot.Completed, Offered: "yes", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 3}}}
		}
		e = add(t, s, e)[0]
		if i%40 == 20 {
			_, err := s.Delete(t.Context(), e.ID)
			must(t, err)
		}
	}
	out := sample{files: map[string][]byte{}, events: map[int64]string{}}
	for _, e := range everything(t, s) {
		out.events[e.Sequence], out.last = wire(t, e), e.Sequence
	}
	if closed {
		must(t, s.Close())
	}
	for _, name := range []string{"earshot.db", "earshot.db-wal", "lock"} {
		if data, err := os.ReadFile(filepath.Join(directory, name)); err == nil {
			out.files[name] = data
		}
	}
	if !closed {
		must(t, s.Close())
	}
	return out
}

// wire returns an event as text, for comparison.
func wire(t testing.TB, e earshot.Event) string {
	t.Helper()
	data, err := json.Marshal(e)
	must(t, err)
	return string(data)
}

// lay writes the files of the sample into a directory, with changed as the content of one of them.
func (s sample) lay(t testing.TB, name string, changed []byte) (directory string) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "state")
	must(t, os.Mkdir(directory, 0o700))
	files := maps.Clone(s.files)
	files[name] = changed
	for name, data := range files {
		must(t, os.WriteFile(filepath.Join(directory, name), data, 0o600))
	}
	return directory
}

// harm lists what can happen to the bytes of a file.
var harm = []struct {
	name string
	do   func(r *rand.Rand, data []byte) []byte
}{
	{"flip a bit", func(r *rand.Rand, data []byte) []byte {
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		return data
	}},
	{"flip a byte of a page's head", func(r *rand.Rand, data []byte) []byte {
		data[r.IntN(len(data)/page)*page+r.IntN(64)] ^= byte(1 + r.IntN(255))
		return data
	}},
	{"flip a byte of the file's head", func(r *rand.Rand, data []byte) []byte {
		data[r.IntN(120)] ^= byte(1 + r.IntN(255))
		return data
	}},
	{"zero a sector", func(r *rand.Rand, data []byte) []byte {
		at := r.IntN(len(data)/512) * 512
		clear(data[at : at+512])
		return data
	}},
	{"zero pages", func(r *rand.Rand, data []byte) []byte {
		at := r.IntN(len(data)/page) * page
		clear(data[at:min(len(data), at+page*(1+r.IntN(3)))])
		return data
	}},
	{"garbage in a page", func(r *rand.Rand, data []byte) []byte {
		at := r.IntN(len(data)/page) * page
		for i := range page {
			data[at+i] = byte(r.Uint32())
		}
		return data
	}},
	{"a page in the place of another", func(r *rand.Rand, data []byte) []byte {
		from, to := r.IntN(len(data)/page)*page, r.IntN(len(data)/page)*page
		copy(data[to:to+page], data[from:from+page])
		return data
	}},
	{"cut off", func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data))] }},
	{"cut off at a page", func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data)/page)*page] }},
}

// rounds returns how often each harm is done.
func rounds() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 100
	}
	return 8
}

// TestDamagedFile does every harm to a file whose daemon died within a commit. The file opens,
// serves only what was written, and loses no more than what was in the harmed pages. The harmed
// file is kept as it was.
func TestDamagedFile(t *testing.T) {
	s := take(t, true)
	s.files["lock"] = []byte("1\n!")
	for _, h := range harm {
		t.Run(h.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			worst := 0
			for range rounds() {
				changed := h.do(r, bytes.Clone(s.files["earshot.db"]))
				directory := s.lay(t, "earshot.db", changed)
				saved, err := s.serve(t, directory)
				if err != nil {
					t.Errorf("found by reading, and not when it was opened: %v", err)
				}
				hurt := touched(s.files["earshot.db"], changed)
				// A leaf has at most some 15 of the sample's events. An event that spans several
				// pages is lost with any of them.
				if lost := len(s.events) - saved; lost > 15*hurt {
					t.Errorf("%d events were lost with %d pages", lost, hurt)
				} else {
					worst = max(worst, lost)
				}
				s.untouched(t, directory, changed)
				os.RemoveAll(directory)
			}
			t.Logf("at worst %d of %d events were lost", worst, len(s.events))
		})
	}
}

// TestAlteredDefinition: a flipped bit in the definition of a table harms no page, but it is found
// before a statement fails because of it.
func TestAlteredDefinition(t *testing.T) {
	s := take(t, true)
	s.files["lock"] = []byte("1\n!")
	for _, was := range []string{"CREATE TABLE stale (sequence", "CREATE INDEX journal_room ON journal (room, sequence", "PRIMARY KEY (sequence, member"} {
		t.Run(was, func(t *testing.T) {
			at := bytes.Index(s.files["earshot.db"], []byte(was))
			if at < 0 {
				t.Fatal("it is not in the file")
			}
			changed := bytes.Clone(s.files["earshot.db"])
			changed[at+bytes.Index([]byte(was), []byte("seq"))] ^= 1
			directory := s.lay(t, "earshot.db", changed)
			saved, err := s.serve(t, directory)
			if err != nil || saved != len(s.events) {
				t.Errorf("%d of %d events were saved, %v", saved, len(s.events), err)
			}
			s.untouched(t, directory, changed)
		})
	}
}

// touched counts the pages that differ between a and b.
func touched(a, b []byte) (n int) {
	for at := 0; at < len(a); at += page {
		end := min(at+page, len(a))
		if at >= len(b) || !bytes.Equal(a[at:end], b[at:min(end, len(b))]) {
			n++
		}
	}
	return n
}

// serve opens the directory and compares what it serves with what was written. It returns the
// number of events, and damage that was found only by reading, which can happen in a file that was
// closed.
func (s sample) serve(t *testing.T, directory string) (n int, hurt error) {
	t.Helper()
	heard := new(listener)
	st, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	for e, err := range st.Export(t.Context()) {
		if err != nil {
			hurt = err
			break
		}
		n++
		s.compare(t, e)
	}
	found, err := st.For(everybody).Search(t.Context(), "word7", 10)
	for _, e := range found {
		s.compare(t, e)
	}
	kept, odd := st.Append(t.Context(), said("and on"))
	if odd == nil && kept[0].Sequence <= 0 {
		t.Errorf("the next event has the sequence %d", kept[0].Sequence)
	}
	must(t, st.Close())
	hurt = errors.Join(hurt, err, odd)
	if hurt != nil && !errors.Is(hurt, store.ErrDamaged) {
		t.Fatalf("using it: %v", hurt)
	}
	aside, err := filepath.Glob(filepath.Join(directory, "*.damaged-*"))
	must(t, err)
	if said := heard.heard(); (len(aside) > 0) != strings.Contains(said, "store.salvaged") || strings.Contains(said, "store.damaged") {
		t.Errorf("set aside %v, found %v and said %q", aside, hurt, said)
	}
	return n, hurt
}

// compare fails the test unless e is what was written.
func (s sample) compare(t *testing.T, e earshot.Event) {
	t.Helper()
	if wire(t, e) != s.events[e.Sequence] {
		t.Fatalf("event %d was changed after it was written", e.Sequence)
	}
}

// untouched fails the test if a file that was set aside was changed.
func (s sample) untouched(t *testing.T, directory string, changed []byte) {
	t.Helper()
	aside, err := filepath.Glob(filepath.Join(directory, "*.damaged-*"))
	must(t, err)
	for _, name := range aside {
		data, err := os.ReadFile(name)
		must(t, err)
		if !bytes.Equal(data, changed) && !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			t.Errorf("%s was changed after it was set aside", filepath.Base(name))
		}
	}
}

// TestDamageFoundByReading does every harm to a closed file, which is not checked when it is
// opened. Every read is right, or an error; and after an error the file is mended before the store
// is closed.
func TestDamageFoundByReading(t *testing.T) {
	s := take(t, true)
	for _, h := range harm {
		t.Run(h.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			for range rounds() {
				directory := s.lay(t, "earshot.db", h.do(r, bytes.Clone(s.files["earshot.db"])))
				_, found := s.serve(t, directory)
				if found == nil {
					continue
				}
				if len(asides(t, directory)) != 1 {
					t.Errorf("after %v nothing was set aside", found)
				}
				if st, err := store.Open(t.Context(), store.Config{Directory: directory}); err != nil {
					t.Errorf("the next start: %v", err)
				} else {
					everything(t, st)
					must(t, st.Close())
				}
				if n := len(asides(t, directory)); n != 1 {
					t.Errorf("the next start made it %d files that were set aside", n)
				}
			}
		})
	}
}

// TestDamagedLog does every harm to the log of a file whose daemon was killed, and to the file.
func TestDamagedLog(t *testing.T) {
	s := take(t, false)
	s.files["lock"] = []byte("1\n!")
	if len(s.files["earshot.db-wal"]) < 10*page {
		t.Fatal("the sample has no log")
	}
	for _, h := range harm {
		for _, name := range []string{"earshot.db-wal", "earshot.db"} {
			t.Run(h.name+" in "+name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, 8))
				for range rounds() {
					directory := s.lay(t, name, h.do(r, bytes.Clone(s.files[name])))
					if _, err := s.serve(t, directory); err != nil {
						t.Errorf("found by reading, and not when it was opened: %v", err)
					}
				}
			})
		}
	}
}

// TestStrangeFile: a file that is not a journal is set aside as well.
func TestStrangeFile(t *testing.T) {
	noise := make([]byte, 100_000)
	r := rand.New(rand.NewPCG(9, 10))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"noise", noise},
		{"a letter", []byte("x")},
		{"words", []byte(strings.Repeat("This is no journal.\n", 1000))},
		{"only a head", append([]byte("SQLite format 3\x00"), noise[:200]...)},
		{"emptied", nil},
		{"zeros", make([]byte, 10*page)},
	} {
		for _, lock := range []string{"closed\n", "1\n"} {
			t.Run(tt.name+" "+lock, func(t *testing.T) {
				s := sample{files: map[string][]byte{"lock": []byte(lock)}}
				directory := s.lay(t, "earshot.db", tt.data)
				if n, err := s.serve(t, directory); n != 0 || err != nil {
					t.Errorf("%d events, %v", n, err)
				}
				s.untouched(t, directory, tt.data)
				if aside, _ := filepath.Glob(filepath.Join(directory, "*.damaged-*")); len(aside) == 0 {
					t.Error("nothing was set aside")
				}
			})
		}
	}
}

// TestSalvageSaysWhatIsMissing: the notice names the file that was set aside, how much was saved
// and what was lost. No file that was set aside earlier is overwritten.
func TestSalvageSaysWhatIsMissing(t *testing.T) {
	s := take(t, true)
	s.files["lock"] = []byte("1\n!")
	data := bytes.Clone(s.files["earshot.db"])
	for _, word := range []string{"\"word45 ", "\"word110 "} {
		at := bytes.Index(data, []byte(word)) / page * page
		clear(data[at : at+page])
	}
	directory := s.lay(t, "earshot.db", data)
	name := filepath.Join(directory, "earshot.db.damaged-20260203T040506Z")
	must(t, os.WriteFile(name, []byte("an older one"), 0o600))
	var told []earshot.Notice
	st, err := store.Open(t.Context(), store.Config{Directory: directory, Report: func(n earshot.Notice) { told = append(told, n) }, Now: func() time.Time { return began }})
	must(t, err)
	left := map[int64]bool{}
	for _, e := range everything(t, st) {
		s.compare(t, e)
		left[e.Sequence] = true
	}
	must(t, st.Close())
	var spans []string
	for from := int64(1); from <= s.last; from++ {
		to := from
		for ; to <= s.last && !left[to]; to++ {
		}
		if to > from+1 {
			spans = append(spans, fmt.Sprintf("%d to %d", from, to-1))
		} else if to > from {
			spans = append(spans, fmt.Sprint(from))
		}
		from = max(from, to)
	}
	want := fmt.Sprintf("It was set aside as earshot.db.damaged-20260203T040506Z-2, and %d events could be saved. These are missing: the events %s.", len(left), strings.Join(spans, ", "))
	if len(told) != 1 || len(spans) != 2 || !strings.Contains(string(told[0].Text), want) {
		t.Errorf("told %+v, want %q in it", told, want)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "an older one" {
		t.Errorf("the older file is now %q, %v", data, err)
	}
}

// TestSalvageCutShort: a daemon that dies after setting the old file aside and before naming the
// new one loses nothing. If it dies earlier, the next one begins again.
func TestSalvageCutShort(t *testing.T) {
	s := take(t, true)
	whole := s.files["earshot.db"]
	t.Run("late", func(t *testing.T) {
		directory := s.lay(t, "earshot.db.salvage", whole)
		must(t, os.Rename(filepath.Join(directory, "earshot.db"), filepath.Join(directory, "earshot.db.damaged-1")))
		must(t, os.WriteFile(filepath.Join(directory, "earshot.db-wal"), []byte("of the old one"), 0o600))
		st := open(t, store.Config{Directory: directory})
		if n := len(everything(t, st)); n != len(s.events) {
			t.Errorf("%d events, want %d", n, len(s.events))
		}
	})
	t.Run("early", func(t *testing.T) {
		directory := s.lay(t, "earshot.db.salvage", whole[:page])
		st := open(t, store.Config{Directory: directory})
		if n := len(everything(t, st)); n != len(s.events) {
			t.Errorf("%d events, want %d", n, len(s.events))
		}
		if _, err := os.Stat(filepath.Join(directory, "earshot.db.salvage")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what was begun is still there: %v", err)
		}
	})
}

// FuzzOpen opens a journal with arbitrary bytes in it.
func FuzzOpen(f *testing.F) {
	directory := filepath.Join(f.TempDir(), "state")
	s, err := store.Open(f.Context(), store.Config{Directory: directory})
	must(f, err)
	add(f, s, numbered(3)...)
	must(f, s.Close())
	data, err := os.ReadFile(filepath.Join(directory, "earshot.db"))
	must(f, err)
	for i := range data[:8*page] {
		if i%700 == 0 {
			f.Add(i, []byte{0xff, 0})
		}
	}
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		if at < 0 || at >= len(data) {
			t.Skip()
		}
		changed := bytes.Clone(data)
		copy(changed[at:], change)
		sample := sample{files: map[string][]byte{"lock": []byte("1\n!")}}
		st, err := store.Open(t.Context(), store.Config{Directory: sample.lay(t, "earshot.db", changed)})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range st.Export(t.Context()) {
			if want := fmt.Sprintf("word%d is the word of message %d", e.Sequence, e.Sequence); err != nil || texts([]earshot.Event{e}) != want {
				t.Fatalf("read %s, %v; want %s", texts([]earshot.Event{e}), err, want)
			}
		}
		must(t, st.Close())
	})
}
