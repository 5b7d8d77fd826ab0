package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/models/catalog"
)

// TestCatalogue: the catalogue of the program is valid, and nobody gets a set whose licence restricts
// them without having asked for it by its name.
func TestCatalogue(t *testing.T) {
	c, err := catalog.Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roles := make(map[catalog.Role]int)
	for _, s := range c.Sets {
		roles[s.Role]++
		if s.Licence.NonCommercial != (s.Licence.Forbids != "" && (strings.HasPrefix(s.Licence.Forbids, "is unclear") || strings.Contains(s.Licence.Forbids, "commercial"))) {
			t.Errorf("%s: what the licence %s forbids is %q", s.Name, s.Licence.ID, s.Licence.Forbids)
		}
		if f := s.Licence.Forbids; f != "" && !strings.HasPrefix(f, "is unclear: ") && !strings.HasPrefix(f, "forbids ") {
			t.Errorf("%s: its licence %s", s.Name, f)
		}
		if s.Title == "" || s.Licence.Attribution == "" || !strings.HasPrefix(s.Licence.URL, "https://") || strings.ContainsAny(s.Licence.ID, " ,") {
			t.Errorf("%s has no title, attribution or licence that can be shown and agreed to: %+v", s.Name, s.Licence)
		}
		var needs []string
		switch s.Kind {
		case catalog.NemoTransducer, catalog.Zipformer, catalog.Zipformer2:
			needs = []string{"encoder", "decoder", "joiner", "tokens"}
		case catalog.Moonshine:
			needs = []string{"encoder", "decoder", "tokens"}
		case catalog.NemoCTC, catalog.SenseVoice:
			needs = []string{"model", "tokens"}
		case catalog.Kokoro:
			needs = []string{"model", "voices", "tokens"}
		case catalog.Piper:
			needs = []string{"model", "config"}
		case catalog.Supertonic:
			needs = []string{"duration_predictor", "text_encoder", "vector_estimator", "vocoder", "config", "unicode_indexer", "voice"}
		case catalog.Pocket:
			needs = []string{"lm_flow", "lm_main", "encoder", "decoder", "text_conditioner", "vocab", "token_scores", "reference"}
		case catalog.Silero, catalog.SmartTurn:
			needs = []string{"model"}
		default:
			t.Errorf("%s: nothing loads a %s", s.Name, s.Kind)
		}
		for _, part := range needs {
			if s.Files[part].Path == "" {
				t.Errorf("%s has no %s", s.Name, part)
			}
		}
		if s.Role == catalog.Wake && !s.Licence.NonCommercial { // nobody has published what it is
			t.Errorf("%s is chosen for who has not named it", s.Name)
		}
		if s.Role == catalog.Say && s.Rate == 0 {
			t.Errorf("%s says no rate", s.Name)
		}
	}
	for _, r := range catalog.Roles {
		if roles[r] == 0 {
			t.Errorf("there is nothing to %s", r)
		}
	}
	for name, sets := range c.Bundles {
		got := c.Find(name)
		if len(got) != len(sets) || len(got) == 0 {
			t.Errorf("%s has %v, of which %d are there", name, sets, len(got))
		}
		for _, s := range got {
			if s.Licence.NonCommercial {
				t.Errorf("%s has %s, whose licence not everybody may accept", name, s.Name)
			}
		}
	}
	if got := c.Find("english"); len(got) != 4 || len(c.Find("kokoro")) != 1 || c.Find("nothing") != nil {
		t.Errorf("english has %d sets", len(got))
	}
}

// entry is a set that is valid.
const entry = `{"name":"a","title":"A","role":"hear","kind":"lstm","languages":["en"],"licence":{"id":"MIT"},"files":{"model":{"path":"m.onnx","urls":["https://example.org/m"]}}}`

// TestLoadOwn: the user's file adds sets and replaces some; what is wrong with it is said with its
// path.
func TestLoadOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, catalog.Own)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := strings.Replace(entry, `"a"`, `"kokoro"`, 1)
	write(`{"bundles":{"mine":["a","kokoro"]},"sets":[` + entry + "," + other + `]}`)
	c, err := catalog.Load(dir)
	if err != nil || len(c.Find("mine")) != 2 || c.Find("kokoro")[0].Kind != "lstm" || len(c.Find("silero")) != 1 {
		t.Errorf("%v, %+v", err, c.Find("mine"))
	}
	for _, tt := range []struct{ old, new, want string }{
		{"", "x", "invalid character"},
		{`"a"`, `"../a"`, "small letters"},
		{`"a"`, `"A"`, "small letters"},
		{`"hear"`, `"dance"`, "nothing has the role"},
		{`m.onnx`, `../m.onnx`, "leaves the folder"},
		{`m.onnx`, `/m.onnx`, "leaves the folder"},
		{`m.onnx`, `set.json`, "two files are called set.json"},
		{`https://example.org/m`, `http://example.org/m`, "no address with https"},
		{`https://example.org/m`, `file:///m`, "no address with https"},
		{`"urls":["https://example.org/m"]`, `"urls":[]`, "no address"},
		{`"urls"`, `"sha256":"563fde43","urls"`, "no valid checksum"},
		{`"urls"`, `"bytes":-1,"urls"`, "no valid checksum or size"},
		{`{"id":"MIT"}`, `{}`, "names no licence"},
		{`{"model":{"path":"m.onnx","urls":["https://example.org/m"]}}`, `{}`, "lists 0 files"},
		{`"files"`, `"archive":{"path":"m.zip"},"files"`, "must end in .tar.bz2"},
		{`"files"`, `"archive":{"path":"m.tar.bz2"},"files"`, "no address"},
		{`"files"`, `"fils"`, "unknown field"},
	} {
		write(`{"sets":[` + strings.Replace(entry, tt.old, tt.new, 1) + `]}`)
		if _, err := catalog.Load(dir); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
		}
	}
	write(`{"sets":[` + entry + "," + entry + `]}`)
	if _, err := catalog.Load(dir); err == nil || !strings.Contains(err.Error(), "two things are called") {
		t.Error(err)
	}
	write(strings.Repeat(" ", 1<<20+1))
	if _, err := catalog.Load(dir); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// TestPinned: checksums are taken over from a set that is the same, and from no other.
func TestPinned(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	set := func(path, sum string, bytes int64, url string) catalog.Set {
		return catalog.Set{Name: "a", Files: map[string]catalog.File{"model": {Path: path, SHA256: sum, Bytes: bytes, URLs: []string{url}}}}
	}
	known := set("m", sum, 7, "u")
	for _, tt := range []struct {
		is   catalog.Set
		want string
	}{
		{set("m", "", 0, "u"), sum + " 7"},
		{set("m", "", 7, "u"), sum + " 7"},
		{set("m", "", 8, "u"), " 8"},
		{set("n", "", 0, "u"), " 0"},
		{set("m", "", 0, "v"), " 0"},
		{set("m", strings.Repeat("cd", 32), 0, "u"), strings.Repeat("cd", 32) + " 0"},
	} {
		f := tt.is.Pinned(known).Files["model"]
		if got := fmt.Sprint(f.SHA256, " ", f.Bytes); got != tt.want {
			t.Errorf("%+v became %q, want %q", tt.is.Files, got, tt.want)
		}
	}
}

// FuzzParse: whatever a catalogue says, what is accepted stays within its folder.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"sets":[` + entry + `]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := catalog.Parse(text)
		if err != nil {
			return
		}
		for _, s := range c.Sets {
			paths := []string{s.Name}
			for _, f := range s.Files {
				paths = append(paths, f.Path)
			}
			if !slices.ContainsFunc(catalog.Roles, func(r catalog.Role) bool { return r == s.Role }) || slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsLocal(p) }) {
				t.Errorf("%+v", s)
			}
		}
	})
}

// TestOpen: an installed set is read again as it was written, and a folder without one says so.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if _, err := catalog.Open(dir); err == nil || !strings.Contains(err.Error(), "holds no model") {
		t.Error(err)
	}
	c, err := catalog.Parse([]byte(`{"sets":[` + entry + `]}`))
	text, bad := json.Marshal(c.Sets[0])
	if err := errors.Join(err, bad, os.WriteFile(filepath.Join(dir, catalog.Description), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	is, err := catalog.Open(dir)
	if err != nil || is.File("model") != filepath.Join(dir, "m.onnx") || is.File("other") != "" {
		t.Errorf("%+v, %v", is, err)
	}
}
