package speakers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/models/voiceprint"
	"earshot/speakers"
)

// people are the speakers in the property; the last two never agree to anything.
var people = []string{"ann", "bob", "cleo", "dan"}

// A life is anything that can happen to a registry.
type life struct {
	*world
	dir   string
	truth map[earshot.Handle]string // the owner of each voice when it began
	said  []time.Time
	kept  map[string][]string // what the file has for each handle
}

// entry is a voice in the file.
type entry struct {
	ID     string `json:"id"`
	Prints []struct {
		Numbers string `json:"numbers"`
	} `json:"prints"`
}

// file returns the contents of the file.
func (l *life) file(t *rapid.T) (all []entry) {
	data, err := os.ReadFile(speakers.Path(l.dir))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Voices []entry }
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.Voices
}

// alike returns how alike a print in the file is to somebody's.
func alike(t *rapid.T, numbers, name string) float64 {
	data, err := base64.StdEncoding.DecodeString(numbers)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float32, voiceprint.Size)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, p); err != nil {
		t.Fatal(err)
	}
	var ab, aa, bb float64
	for i, x := range print(name) {
		ab, aa, bb = ab+float64(x*p[i]), aa+float64(x*x), bb+float64(p[i]*p[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// check checks what must always be true.
func (l *life) check(t *rapid.T) {
	t.Helper()
	names, kept := map[earshot.Handle]bool{}, map[string]bool{}
	for _, s := range l.book.Known() {
		for _, h := range append([]earshot.Handle{s.Handle}, s.Also...) {
			if names[h] {
				t.Fatalf("%v is two voices", h)
			}
			names[h] = true
			if is, ok := l.book.Speaker(h); !ok || is.Handle != s.Handle {
				t.Fatalf("%v is found as %v", h, is.Handle)
			}
		}
		if s.Kept {
			kept[s.Handle.ID] = true
			if s.Who == "" || s.Said.By == "" || s.Said.At.IsZero() {
				t.Fatalf("kept without consent: %+v", s)
			}
		}
	}
	entries := l.file(t)
	for _, e := range entries {
		for _, p := range e.Prints {
			if !slices.Contains(l.kept[e.ID], p.Numbers) {
				l.kept[e.ID] = append(l.kept[e.ID], p.Numbers)
			}
			for _, name := range people[2:] {
				if a := alike(t, p.Numbers, name); a > 0.6 {
					t.Fatalf("a print of %s is in the file: %v", name, a)
				}
			}
		}
		if !kept[e.ID] {
			t.Fatalf("%s is in the file and not kept", e.ID)
		}
	}
	if len(entries) != len(kept) {
		t.Fatalf("%d voices are in the file, and %d kept", len(entries), len(kept))
	}
}

// anyone draws one of the voices.
func (l *life) anyone(t *rapid.T) (speakers.Speaker, bool) {
	all := l.book.Known()
	if len(all) == 0 {
		return speakers.Speaker{}, false
	}
	return rapid.SampledFrom(all).Draw(t, "voice"), true
}

// refuses reports whether somebody never agrees to anything.
func refuses(name string) bool { return slices.Contains(people[2:], name) }

func (l *life) speak(t *rapid.T) {
	name := rapid.SampledFrom(people).Draw(t, "who speaks")
	j := l.says(name, time.Duration(rapid.IntRange(500, 5000).Draw(t, "ms"))*time.Millisecond)
	l.said = append(l.said, l.now)
	if j.New {
		l.truth[j.Speaker] = name
	}
}

func (l *life) name(t *rapid.T) {
	if s, ok := l.anyone(t); ok {
		_, _ = l.book.Name(s.Handle, earshot.ParticipantID(rapid.SampledFrom(append(people, "")).Draw(t, "as")), l.world.said())
	}
}

func (l *life) enrol(t *rapid.T) {
	if s, ok := l.anyone(t); ok && !refuses(l.truth[s.Handle]) {
		_, _ = l.book.Enrol(earshot.ParticipantID(rapid.SampledFrom(people[:2]).Draw(t, "as")), l.world.said(), s.Handle)
	}
}

func (l *life) merge(t *rapid.T) {
	a, ok := l.anyone(t)
	b, _ := l.anyone(t)
	if ok && refuses(l.truth[a.Handle]) == refuses(l.truth[b.Handle]) { // nobody merges voices that they know to be two
		_, _ = l.book.Merge(a.Handle, b.Handle, l.world.said())
	}
}

func (l *life) split(t *rapid.T) {
	if s, ok := l.anyone(t); ok {
		if c, err := l.book.Split(s.Handle, l.world.said()); err == nil {
			l.truth[c.Other] = l.truth[s.Handle]
		}
	}
}

func (l *life) teach(t *rapid.T) {
	if len(l.said) > 0 {
		// Words of somebody who refuses are not taken for another's.
		c, err := l.book.Teach(rapid.SampledFrom(l.said).Draw(t, "when"), "eve", l.world.said())
		if err == nil {
			l.truth[c.Voice] = people[3]
		}
	}
}

// forget forgets a voice, and looks for it in every file.
func (l *life) forget(t *rapid.T) {
	s, ok := l.anyone(t)
	if !ok {
		return
	}
	if _, err := l.book.Forget(s.Handle, l.world.said()); err != nil {
		t.Fatal(err)
	}
	if _, ok := l.book.Speaker(s.Handle); ok {
		t.Fatal("it is still known")
	}
	for _, path := range files(t, l.dir) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, numbers := range append(l.kept[s.Handle.ID], `"`+s.Handle.ID+`"`) {
			if bytes.Contains(data, []byte(numbers)) {
				t.Fatalf("%s still holds the voice", filepath.Base(path))
			}
		}
	}
	if _, err := l.book.Undo(l.world.said()); err == nil {
		t.Fatal("there is something to undo after a voice was forgotten")
	}
}

func files(t interface{ Fatal(...any) }, dir string) []string {
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// undo undoes a change at once: everything is as before.
func (l *life) undo(t *rapid.T) {
	s, ok := l.anyone(t)
	if !ok {
		return
	}
	before := l.book.Known()
	if _, err := rapid.SampledFrom([]func() (speakers.Change, error){
		func() (speakers.Change, error) { return l.book.Name(s.Handle, "ann", l.world.said()) },
		func() (speakers.Change, error) { return l.book.Merge(s.Handle, before[0].Handle, l.world.said()) },
	}).Draw(t, "change")(); err != nil {
		return
	}
	if _, err := l.book.Undo(l.world.said()); err != nil {
		t.Fatal(err)
	}
	if after := l.book.Known(); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Fatalf("before\n%+v\nafter\n%+v", before, after)
	}
}

// takeBack undoes whatever was last.
func (l *life) takeBack(t *rapid.T) { _, _ = l.book.Undo(l.world.said()) }

// again restarts the program: only what is kept is known.
func (l *life) again(t *rapid.T) {
	var kept []string
	for _, s := range l.book.Known() {
		if s.Kept {
			kept = append(kept, fmt.Sprint(s.Handle, s.Also, s.Who, s.Said.By, s.Said.At.UTC()))
		}
	}
	b, err := speakers.Open(l.dir, l.cfg)
	if err != nil {
		t.Fatal(err)
	}
	l.book = b
	var known []string
	for _, s := range b.Known() {
		known = append(known, fmt.Sprint(s.Handle, s.Also, s.Who, s.Said.By, s.Said.At.UTC()))
	}
	slices.Sort(kept)
	slices.Sort(known)
	if !slices.Equal(kept, known) {
		t.Fatalf("kept\n%v\nknown after\n%v", kept, known)
	}
}

// TestBook does anything in any order.
func TestBook(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		l := &life{dir: dir, truth: map[earshot.Handle]string{}, kept: map[string][]string{}}
		c := config()
		c.Enrol, c.MostUnknown = 3, 6
		l.world = open(t, dir, c)
		rt.Repeat(map[string]func(*rapid.T){
			"": l.check, "speak": l.speak, "name": l.name, "enrol": l.enrol, "merge": l.merge, "split": l.split,
			"teach": l.teach, "forget": l.forget, "undo": l.undo, "take back": l.takeBack, "again": l.again,
		})
	})
}
