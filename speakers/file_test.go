package speakers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/models/voiceprint"
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

// TestKept restarts the program: a kept voice is known again, and no other.
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

// TestForgetOverwrites examines the very blocks in which the voice was.
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

// TestDamaged reads files that were damaged in some way.
func TestDamaged(t *testing.T) {
	dir, _, _ := enrolled(t)
	whole := string(read(t, speakers.Path(dir)))
	cut := func(old, now string) string { return strings.Replace(whole, old, now, 1) }
	for _, tt := range []struct{ name, data, problem string }{
		{"empty", "", "it is not the JSON that it should be"},
		{"half", whole[:len(whole)/2], "it is not the JSON that it should be"},
		{"twice", whole + whole, "something follows its end"},
		{"more", cut(`"version": 1`, `"version": 1, "more": 2`), "it is not the JSON that it should be"},
		{"another name", cut(`"who": "ann"`, `"who": "bob"`), "its checksum does not match its content"},
		{"no version", cut(`"version": 1`, `"version": 0`), "its version is 0"},
		{"another kind", cut(`"kind": `, `"kind": 9`), "it was made by an earshot that measures voices differently"},
		{"huge", strings.Repeat(" ", 4<<20+1), "it is far too large"},
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

// forged is a file with voices, as JSON, and a valid checksum.
func forged(voices string) []byte {
	var text bytes.Buffer
	if err := json.Compact(&text, []byte(voices)); err != nil {
		text.Reset()
		text.WriteString(voices)
	}
	return fmt.Appendf(nil, `{"version": 1, "kind": %d, "sha256": "%x", "voices": %s}`, voiceprint.Kind, sha256.Sum256(text.Bytes()), voices)
}

// numbers is a print in which all numbers are n, as it stands in the file.
func numbers(count int, n float32) string {
	data, _ := binary.Append(nil, binary.LittleEndian, slices.Repeat([]float32{n}, count))
	return base64.StdEncoding.EncodeToString(data)
}

// TestForged reads files forged by somebody who knows how. A file with an impossible voice is
// refused as a whole, and the error reveals nothing of it.
func TestForged(t *testing.T) {
	const voice = `{"id": "V1", "who": "ann", "consent": {"by": "ann", "at": "2030-01-02T03:04:05Z"}, "prints": [{"channel": "desk", "heard_ns": 12000000000, "numbers": "NUMBERS"}]}`
	whole := strings.Replace(voice, "NUMBERS", numbers(voiceprint.Size, 1), 1)
	with := func(old, now string) string { return "[" + strings.Replace(whole, old, now, 1) + "]" }
	holds := func(n float32, count int) string {
		return "[" + strings.Replace(voice, "NUMBERS", numbers(count, n), 1) + "]"
	}
	one := whole[strings.Index(whole, `[{`)+1 : len(whole)-2]
	var many, channels []string
	for i := range 65 {
		many = append(many, strings.Replace(whole, "V1", fmt.Sprint("V", i), 1))
	}
	for i := range 9 {
		channels = append(channels, strings.Replace(one, "desk", fmt.Sprint("desk", i), 1))
	}
	for _, tt := range []struct{ name, voices, problem string }{
		{"whole", "[" + whole + "]", ""},
		{"as many as there may be", "[" + strings.Join(many[:64], ",") + "]", ""},
		{"one more", "[" + strings.Join(many, ",") + "]", "it holds 65 voices; at most 64 are possible"},
		{"no voices", "null", ""},
		{"no list", "{}", "it is not the JSON that it should be"},
		{"a voice that is none", "[null]", "voice 1 has no name of its own"},
		{"no number", holds(float32(math.NaN()), voiceprint.Size), "a print of voice 1 is incomplete"},
		{"infinite", holds(float32(math.Inf(-1)), voiceprint.Size), "a print of voice 1 is incomplete"},
		{"louder than all voices", holds(math.MaxFloat32, voiceprint.Size), "a print of voice 1 is incomplete"},
		{"a number too few", holds(1, voiceprint.Size-1), "a print of voice 1 is incomplete"},
		{"no numbers", with(numbers(voiceprint.Size, 1), "%"), "a print of voice 1 is incomplete"},
		{"many numbers", holds(1, 1<<16), "a print of voice 1 is incomplete"},
		{"twice", "[" + whole + "," + whole + "]", "voice 2 has no name of its own"},
		{"another's name besides", "[" + whole + "," + strings.Replace(whole, `"id": "V1"`, `"id": "V2", "also": ["V1"]`, 1) + "]", "voice 2 has no name of its own"},
		{"its own name besides", with(`"id": "V1"`, `"id": "V1", "also": ["V1"]`), "voice 1 has no name of its own"},
		{"a name that is a path", with(`"V1"`, `"../V1"`), "voice 1 has no name of its own"},
		{"a long name", with(`"V1"`, `"`+strings.Repeat("V", 65)+`"`), "voice 1 has no name of its own"},
		{"nobody's", with(`"ann"`, `""`), "voice 1 is incomplete"},
		{"no consent", with(`"by": "ann"`, `"by": ""`), "voice 1 is incomplete"},
		{"no time of it", with("2030-01-02T03:04:05Z", "0001-01-01T00:00:00Z"), "voice 1 is incomplete"},
		{"a person with a long name", with(`"who": "ann"`, `"who": "`+strings.Repeat("a", 257)+`"`), "voice 1 is incomplete"},
		{"heard for less than nothing", with("12000000000", "-12000000000"), "a print of voice 1 is incomplete"},
		{"heard for ever", with("12000000000", "9000000000000000000"), "a print of voice 1 is incomplete"},
		{"heard for longer", with("12000000000", "1e30"), "it is not the JSON that it should be"},
		{"a channel twice", with(one, one+","+one), "a print of voice 1 is incomplete"},
		{"many channels", with(one, strings.Join(channels, ",")), "voice 1 is incomplete"},
		{"no print", with(one, ""), "voice 1 has no print"},
		{"a long channel", with("desk", strings.Repeat("d", 201)), "a print of voice 1 is incomplete"},
		{"deep", strings.Repeat("[", 1<<16) + strings.Repeat("]", 1<<16), "it is not the JSON that it should be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, speakers.Path(dir), forged(tt.voices))
			_, err := speakers.Read(dir)
			if tt.problem == "" != (err == nil) || err != nil && !strings.HasSuffix(err.Error(), ": "+tt.problem) {
				t.Errorf("reading it says %v, want %q", err, tt.problem)
			}
			w := open(t, dir, config())
			if n := len(w.book.Known()); tt.problem != "" && n > 0 {
				t.Errorf("%d voices are known", n)
			}
			if j := w.says("bob", 3*time.Second); math.IsNaN(j.Sure) {
				t.Errorf("Bob is %+v", j)
			}
		})
	}
}

// FuzzForged is FuzzFile for files that a checksum would stop.
func FuzzForged(f *testing.F) {
	f.Add("[]")
	f.Add(`[{"id": "V1", "who": "ann", "consent": {"by": "ann", "at": "2030-01-02T03:04:05Z"}, "prints": [{"channel": "desk", "heard_ns": 12000000000, "numbers": "` + numbers(voiceprint.Size, 1) + `"}]}]`)
	f.Fuzz(func(t *testing.T, voices string) {
		dir := t.TempDir()
		put(t, speakers.Path(dir), forged(voices))
		before, err := speakers.Read(dir)
		w := open(t, dir, config())
		if got := len(w.book.Known()); err == nil && got != len(before) || err != nil && got > 0 {
			t.Errorf("%d voices are read with %v, and %d known", len(before), err, got)
		}
		if j := w.says("zoe", 3*time.Second); math.IsNaN(j.Sure) || j.Sure < 0 || j.Sure > 1 {
			t.Errorf("Zoe is %+v", j)
		}
	})
}

// TestNewer leaves a file of a newer version alone.
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

// FuzzFile opens anything. An accepted file is written as it was read.
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

// TestStill: a copy brings back no voice that was forgotten since it was made, and every other; if
// there is no file, all of them.
func TestStill(t *testing.T) {
	dir, w, ann := enrolled(t)
	var bob earshot.Handle
	for range 5 {
		bob = w.says("bob", 3*time.Second).Speaker
	}
	if _, err := w.book.Enrol("bob", w.said(), bob); err != nil {
		t.Fatal(err)
	}
	copied := read(t, speakers.Path(dir))
	had := func(when string, names ...earshot.ParticipantID) {
		t.Helper()
		still, gone, err := speakers.Still(dir, copied)
		if err != nil || gone != 2-len(names) {
			t.Fatalf("%s %d voices are gone, %v", when, gone, err)
		}
		back := t.TempDir()
		put(t, speakers.Path(back), still)
		var got []earshot.ParticipantID
		kept, err := speakers.Read(back)
		for _, s := range kept {
			got = append(got, s.Who)
		}
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("%s there are %v, %v; want %v", when, got, err, names)
		}
	}
	had("as it was made", "ann", "bob")
	if _, err := w.book.Forget(ann, w.said()); err != nil {
		t.Fatal(err)
	}
	had("without Ann", "bob")
	if _, err := w.book.Forget(bob, w.said()); err != nil {
		t.Fatal(err)
	}
	had("without anybody")
	put(t, speakers.Path(dir), []byte("{}"))
	if _, _, err := speakers.Still(dir, copied); err == nil {
		t.Error("nobody can tell who was forgotten, and it is no error")
	}
	if err := os.Remove(speakers.Path(dir)); err != nil {
		t.Fatal(err)
	}
	had("without a file", "ann", "bob")
}
