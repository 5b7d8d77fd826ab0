package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/probe"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
)

// A mirror serves files of models, and does with some of them what servers should not.
type mirror struct {
	*httptest.Server
	h *home

	mu     sync.Mutex
	ranges []string // that were asked for
	holds  int      // bytes after which it sends nothing more; 0 is never
}

// weights are the bytes of every model that a mirror has.
var weights = bytes.Repeat([]byte("weights "), 40_000)

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// newMirror starts a mirror, and gives h a catalogue with what it has: tiny and other, which are in
// the bundle both, strict, whose licence restricts people, and page, which is none.
func newMirror(t *testing.T, h *home) *mirror {
	m := &mirror{h: h}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the mirror", m.Close) })
	free := catalog.Licence{ID: "MIT", URL: "https://example.org/mit", Attribution: "somebody"}
	strict := catalog.Licence{ID: "Strict", URL: "https://example.org/strict", Attribution: "somebody else", Forbids: "forbids commercial use", NonCommercial: true}
	set := func(name string, role catalog.Role, l catalog.Licence, sum string) catalog.Set {
		f := catalog.File{Path: name + ".onnx", Bytes: int64(len(weights)), SHA256: sum, URLs: []string{m.URL + "/" + name}}
		return catalog.Set{Name: name, Title: "A", Role: role, Kind: "lstm", Languages: []string{"en"}, Licence: l, Files: map[string]catalog.File{"model": f}}
	}
	text, err := json.Marshal(catalog.Catalogue{
		Bundles: map[string][]string{"both": {"tiny", "other"}},
		Sets:    []catalog.Set{set("tiny", catalog.Hear, free, sumOf(weights)), set("other", catalog.Say, free, ""), set("strict", catalog.Hear, strict, ""), set("page", catalog.Hear, free, "")},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.write("data/earshot/models/catalogue.json", string(text))
	return m
}

// ServeHTTP answers as its path says.
func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.ranges = append(m.ranges, r.Header.Get("Range"))
	holds := m.holds
	m.mu.Unlock()
	switch {
	case r.URL.Path == "/page":
		fmt.Fprint(w, "<!DOCTYPE html><html>log in</html>")
	case holds > 0:
		w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
		w.Write(weights[:holds])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(weights))
	}
}

// hold makes the mirror send so many bytes of each file and then nothing; 0 is all.
func (m *mirror) hold(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds, m.ranges = n, nil
}

// asked returns the ranges that were asked for since it was told to hold.
func (m *mirror) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ranges
}

// has reports whether a set is installed, and whole.
func (h *home) has(name string) bool {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, "data/earshot/models/sets", name, name+".onnx"))
	if err == nil && !bytes.Equal(b, weights) {
		h.t.Errorf("%s has %d bytes", name, len(b))
	}
	is, bad := catalog.Open(filepath.Join(h.dir, "data/earshot/models/sets", name))
	if (err == nil) != (bad == nil) || bad == nil && is.Files["model"].SHA256 != sumOf(weights) {
		h.t.Errorf("%s is half there: %v, %v, %+v", name, err, bad, is)
	}
	return err == nil
}

// TestSpeechModels: models are shown with size and licence before anything is asked of a server, are
// installed, listed, used and removed; and each fault says what to do.
func TestSpeechModels(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST=127.0.0.1:1")
	m := newMirror(t, h)
	archive := h.write("usb/renamed", string(weights))
	h.write("wrong/tiny.onnx", "x"+string(weights[1:]))
	for _, tt := range []struct {
		args     string
		code     int
		out, err string // a part of each
		net      bool
		has      string // afterwards
	}{
		{"get tiny", misused, "", "320 kB MIT 127.0.0.1:PORT tiny: somebody; MIT https://example.org/mit Together about 320 kB", false, ""},
		{"get tiny", misused, "", "nobody can say here whether that is to be installed → add --yes", false, ""},
		{"get strict --yes", misused, "", "not everybody may use strict: its licence Strict forbids commercial use; see https://example.org/strict → if you agree to it: earshot models get strict --agree Strict", false, ""},
		{"get both strict --yes", misused, "", "--agree Strict", false, ""},
		{"get", misused, "", "name what to get → earshot models get english", false, ""},
		{"get nothing --from usb", notFound, "", "there is no speech model \"nothing\" → earshot models list --all", false, ""},
		{"get --from wrong", notFound, "", "no speech model was found there", false, ""},
		{"get tiny --from wrong --yes", failed, "", "wrong has no file tiny.onnx with the published checksum → try again: earshot models get tiny --from ", false, ""},
		{"get --from nowhere", failed, "", "no such file", false, ""},
		{"get page --yes", failed, "", "page was not installed: page.onnx: 127.0.0.1:PORT: it sent a web page instead of the file", true, ""},
		{"get --from usb --yes", success, "", "! tiny is installed, but not in use: the program earshot-neural is not installed → make run", false, "tiny"},
		{"get tiny", success, "tiny is here already, and whole.", "", false, "tiny"},
		{"remove tiny", success, "tiny is removed.", "", false, ""},
		{"remove tiny", notFound, "", "no speech model \"tiny\" is installed → earshot models list or, for a language model: ollama rm tiny", false, ""},
		{"remove ../sets", notFound, "", "no speech model", false, ""},
		{"get both --yes", success, "100% of 320 kB other: downloading,", "nobody has published its checksums; they are noted when it comes", true, "tiny other"},
		{"get strict --agree strict --json", success, `{"model":"strict","status":"downloading","completed":320000,"total":320000}`, "its licence forbids commercial use", true, "tiny other strict"},
		{"list", failed, "hear strict en 320 kB Strict (!) - here hear tiny en 320 kB MIT - here say other en 320 kB MIT - here", "unreachable", false, "tiny other strict"},
		{"list --all", failed, "hear fastconformer en about 132 MB CC-BY-4.0 - - ", "", false, "tiny other strict"},
		{"use hear other", notFound, "", "other is not made to hear, but to say", false, "tiny other strict"},
		{"use hear kokoro", notFound, "", "no speech model \"kokoro\" is installed → earshot models get kokoro", false, "tiny other strict"},
		{"use dance tiny", notFound, "", "nothing has the role \"dance\" → the roles are talk, think, hear", false, "tiny other strict"},
		{"use hear a b", notFound, "", "too many names", false, "tiny other strict"},
		{"use hear tiny", success, "Chosen to hear: tiny. Saved in ~/config/earshot/config.yaml. earshot is not running; this applies from its next start.", "", false, "tiny other strict"},
	} {
		m.hold(0)
		r := h.earshot(nil, append([]string{"models"}, strings.Fields(tt.args)...)...)
		out, errs := strings.Join(strings.Fields(r.out), " "), strings.ReplaceAll(strings.Join(strings.Fields(r.err), " "), strings.TrimPrefix(m.URL, "http://"), "127.0.0.1:PORT")
		if r.code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.err) {
			t.Errorf("%s ended with %d and printed\n%s\n%s", tt.args, r.code, out, errs)
		}
		if (len(m.asked()) > 0) != tt.net {
			t.Errorf("%s asked the net for %q", tt.args, m.asked())
		}
		for _, name := range []string{"tiny", "other", "strict", "page"} {
			if want := strings.Contains(tt.has, name); h.has(name) != want {
				t.Errorf("after %s there is %s: %v", tt.args, name, !want)
			}
		}
	}
	catalogue := h.read("data/earshot/models/catalogue.json")
	h.write("data/earshot/models/catalogue.json", strings.ReplaceAll(catalogue, `"title":"A"`, `"title":"B"`))
	m.hold(0)
	for _, want := range []string{"tiny is installed", "nothing newer"} { // the catalogue says something else of all of them
		if r := h.earshot(nil, "models", "update", "--yes", "--agree", "strict"); r.code != success || !strings.Contains(r.out+r.err, want) || len(m.asked()) > 0 {
			t.Errorf("update ended with %d, asked for %q and printed\n%s\n%s", r.code, m.asked(), r.out, r.err)
		}
	}
	if r := h.earshot(nil, "models", "update", "page"); r.code != notFound || !strings.Contains(r.err, `no speech model "page" is installed`) {
		t.Errorf("an update of what is not there ended with %d: %s", r.code, r.err)
	}
	var list []probe.ModelInfo
	r := h.earshot(nil, "models", "list", "--json")
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list) != 3 || list[1].Model != "tiny" || list[1].Roles[0] != "hear" || !list[1].Speech.Installed || list[1].Speech.Licence != "MIT" {
		t.Errorf("%v: %s", err, r.out)
	}
	if got, want := h.read("config/earshot/config.yaml"), "speech:\n  hear:\n    engine: neural\n    neural:\n      model: tiny\n"; got != want {
		t.Errorf("the configuration is\n%s\nwant\n%s", got, want)
	}
	h.earshot(nil, "models", "use", "hear", "auto")
	if got, want := h.read("config/earshot/config.yaml"), "speech:\n  hear:\n    engine: auto\n    neural:\n      model: \"\"\n"; got != want {
		t.Errorf("the configuration is\n%s\nwant\n%s", got, want)
	}
	if os.Remove(archive) != nil || h.earshot(nil, "models", "get", "tiny").code != success {
		t.Error("the set needs what it was installed from")
	}
}

// TestSpeechGetAsks: at a terminal a person is asked, and nothing is downloaded unless they say yes.
func TestSpeechGetAsks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := newMirror(t, h)
	for _, tt := range []struct {
		types, shows string
		code         int
	}{{"\r", "nothing was installed", failed}, {"y\r", "tiny is installed, but not in use", success}} {
		w := h.begin("models", "get", "tiny")
		w.await("Install it? [y/N]", 1)
		if len(m.asked()) > 0 {
			t.Error("it asked the net first")
		}
		w.types(tt.types)
		w.await(tt.shows, 1)
		if code := w.ended(); code != tt.code {
			t.Errorf("it ended with %d", code)
		}
	}
	if !h.has("tiny") {
		t.Error("it is not installed")
	}
}

// TestSpeechGetEndsEarly: a download that is stopped or killed keeps what it had, leaves nothing that
// could be taken for a model, and goes on there.
func TestSpeechGetEndsEarly(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := newMirror(t, h)
	part := filepath.Join(h.dir, "data/earshot/models/.part", sumOf(weights))
	holds := func(n int64) {
		t.Helper()
		testkit.Await(t, soon, fmt.Sprintf("%d bytes of the model", n), func() bool {
			about, err := os.Stat(part)
			return err == nil && about.Size() == n
		})
	}
	m.hold(100_000)
	w := h.begin("models", "get", "tiny", "--yes")
	holds(100_000)
	w.types("\x03")
	w.await("stopped; what was downloaded is kept → to continue: earshot models get tiny", 1)
	w.ended()
	m.hold(0)
	if h.has("tiny") {
		t.Error("half of a model is installed")
	}
	if err := os.Truncate(part, 50_000); err != nil { // as if it had been stopped earlier
		t.Fatal(err)
	}
	m.hold(90_000)
	c := h.command("models", "get", "tiny", "--yes")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	holds(90_000) // the mirror began it anew
	c.Process.Kill()
	testkit.Finish(t, testkit.Patience, "the end of earshot", func() { c.Wait() })
	if h.has("tiny") {
		t.Error("half of a model is installed")
	}
	m.hold(0)
	r := h.earshot(nil, "models", "get", "tiny", "--yes")
	if r.code != success || !h.has("tiny") || len(m.asked()) != 1 || m.asked()[0] != "bytes=90000-" {
		t.Errorf("it ended with %d, asked for %q and printed %s%s", r.code, m.asked(), r.out, r.err)
	}
}

// TestSpeechModelRuns: a model that is installed is tried, listed with how fast it is, used at once, and
// can be tried on recordings; its report has nobody's words. One that is damaged says so.
func TestSpeechModelRuns(t *testing.T) {
	t.Parallel()
	helpers := helpertest.Build(t, helper.NeuralProgram, helper.SpeechProgram)
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST=127.0.0.1:1")
	h.env = append(h.env, "PATH="+helpers+string(os.PathListSeparator)+os.Getenv("PATH"))
	folder := filepath.Join(h.dir, "usb")
	if err := errors.Join(os.Mkdir(folder, 0o700), modeltest.WriteCTC(folder)); err != nil {
		t.Fatal(err)
	}
	set := func(name string, from string) catalog.Set {
		return catalog.Set{Name: name, Role: catalog.Hear, Kind: catalog.NemoCTC, Languages: []string{"en"}, Licence: catalog.Licence{ID: "MIT"},
			Files: map[string]catalog.File{"model": {Path: from, URLs: []string{"https://example.org/model"}}, "tokens": {Path: "tokens.txt", URLs: []string{"https://example.org/tokens"}}}}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	model := files[slices.IndexFunc(files, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".onnx") })].Name()
	h.write("usb/bad.onnx", "no model")
	c := catalog.Catalogue{Bundles: map[string][]string{"rest": {"voice", "vad", "turn", "kws"}}, Sets: []catalog.Set{set("tones", model), set("bad", "bad.onnx")}}
	for _, f := range []struct {
		name  string
		role  catalog.Role
		kind  catalog.Kind
		write func(folder string) error
	}{
		{"voice", catalog.Say, catalog.VITS, func(folder string) error { return modeltest.WriteVITS(folder) }},
		{"vad", catalog.VAD, catalog.Silero, func(folder string) error { return modeltest.WriteSilero(folder, true) }},
		{"turn", catalog.Turn, catalog.SmartTurn, modeltest.WriteSmartTurn},
		{"kws", catalog.Wake, catalog.LSTM, func(folder string) error { return modeltest.WriteSpotter(folder, "▁ear", "shot", "▁stop", "▁it") }},
	} {
		at := filepath.Join(h.dir, "fixtures", f.name)
		is, err := catalog.Installed{}, errors.Join(os.MkdirAll(at, 0o700), f.write(at), modeltest.Describe(at, f.role, f.kind))
		if err == nil {
			is, err = catalog.Open(at)
		}
		if err != nil {
			t.Fatal(err)
		}
		for part, file := range is.Files {
			file.URLs = []string{"https://example.org/" + part}
			is.Files[part] = file
		}
		is.Rate = 22050
		c.Sets = append(c.Sets, is.Set)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	h.write("data/earshot/models/catalogue.json", string(text))
	const sentence = "one three two four"
	h.write("recordings/Ann.wav", string(wav(slices.Concat(modeltest.Tones(sentence)))))
	h.write("recordings/Ann.txt", "One, three two. Five!\n")
	h.write("other/Bob.wav", "RIFF")
	for _, tt := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"get tones --from usb --yes", success, "tones is ready. A second of sound takes it 0.", "! nobody has published a checksum of"},
		{"get bad --from usb --yes", failed, "", "bad is installed, but cannot be used here: the model bad cannot be used: it is damaged"},
		{"list", failed, "hear bad en 1 kB", "unreachable"},
		{"list", failed, "MIT 0.", ""},
		{"list", failed, "in use: the best that is installed for en", ""},
		{"get rest --from fixtures --yes", success, "turn is ready. A second of sound takes it 0.", ""},
		{"list", failed, "say voice en 5 kB Apache-2.0 0.", ""},
		{"list", failed, "in use: the best that is installed", ""},
		{"list", failed, "wake kws en 4 kB Apache-2.0 0.00 in use: the best that is installed for en", ""},
		{"test kws", success, "kws: a second of sound takes it 0.", ""},
		{"use wake tones", notFound, "", "tones is not made to wake, but to hear"},
		{"use wake kws", success, "", ""},
		{"list", failed, "in use: as the configuration says", ""},
		{"use wake embedded", success, "", ""},
		{"test voice", success, "a short sentence is heard after 0.", ""},
		{"test voice recordings", misused, "", "voice does not recognise speech, so recordings say nothing about it"},
		{"test tones", success, "tones: a second of sound takes it 0.", ""},
		{"test bad", failed, "", "it is damaged"},
		{"test nothing", notFound, "", "it is not installed → fetch it again: earshot models get nothing"},
		{"test tones other", failed, "", "there is no "},
		{"test tones recordings", success, "Ann.wav: 1 of 4 words wrong: one three two four Of 4 words in 1 recording, 1 wrong (25.0 %); 0 false ends; the text came ", ""},
		{"test tones recordings --report", success, "Of 4 words in 1 recording, 1 wrong (25.0 %); 0 false ends; the text came ", "1 of 1 recording"},
	} {
		r := h.earshot(nil, append([]string{"models"}, strings.Fields(tt.args)...)...)
		out, errs := strings.Join(strings.Fields(r.out), " "), strings.Join(strings.Fields(r.err), " ")
		if r.code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.err) {
			t.Errorf("%s ended with %d and printed\n%s\n%s", tt.args, r.code, out, errs)
		}
		if strings.Contains(tt.args, "--report") && (strings.Contains(r.out+r.err, "three") || strings.Contains(r.out+r.err, "Ann")) {
			t.Errorf("the report has words or names:\n%s%s", r.out, r.err)
		}
	}
}

// wav returns a file of sound.
func wav(pcm []int16) []byte {
	var b bytes.Buffer
	size := uint32(2 * len(pcm))
	for _, v := range []any{[]byte("RIFF"), 36 + size, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(audio.Rate), uint32(2 * audio.Rate), uint16(2), uint16(16), []byte("data"), size, pcm} {
		binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
	}
	return b.Bytes()
}

// TestSpeechModelReachesDaemon: the earshot that runs looks for models anew when one was installed or
// removed, and only then.
func TestSpeechModelReachesDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Well.\n")
	newMirror(t, h)
	h.daemon()
	for _, tt := range []struct{ args, says string }{
		{"reload", "nothing has changed"},
		{"models get tiny --yes", "The running earshot knows of it now."},
		{"reload", "nothing has changed"},
		{"models remove tiny", "The running earshot knows of it now."},
		{"reload", "nothing has changed"},
	} {
		if r := h.earshot(nil, strings.Fields(tt.args)...); r.code != success || !strings.Contains(r.out+r.err, tt.says) {
			t.Errorf("%s ended with %d and printed %s%s", tt.args, r.code, r.out, r.err)
		}
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "data/earshot/models/sets/a"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("data/earshot/models/sets/a/set.json", "{}")
	if r := h.earshot(nil, "reload"); !strings.Contains(r.out, "the microphone, the loudspeaker, Discord, the satellites follow it now") {
		t.Errorf("reload printed %s%s", r.out, r.err)
	}
}
