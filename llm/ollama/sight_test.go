package ollama_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// TestSightless: a request that must be seen is not sent to a model that cannot see.
func TestSightless(t *testing.T) {
	r := &recorder{shows: shows("completion", ""), chat: writes(200, hello+end)}
	e := recorded(t, r, ollama.Config{})
	if e.Sees(t.Context(), "") {
		t.Error("a model sees of which the server does not say so")
	}
	req := &llm.Request{MustSee: true, Messages: []llm.Message{{Role: llm.User, Text: "hi", Images: []llm.Image{{0xff, 0xd8, 0xff}}}}}
	var last error
	for _, err := range e.Stream(t.Context(), req) {
		last = err
	}
	var fault *llm.Error
	if !errors.As(last, &fault) || fault.Fault != llm.Unsupported || fault.Cure == "" {
		t.Errorf("it ends with %v, want that it is not supported, with a cure", last)
	}
	if asked := strings.Join(r.take(), " "); strings.Contains(asked, "chat") {
		t.Errorf("the server was asked %s", asked)
	}
}

// TestSeesLater: while the server does not answer, no model counts as seeing; when it is back, it
// is asked again.
func TestSeesLater(t *testing.T) {
	up := false
	r := &recorder{chat: writes(200, hello+end), shows: func() (int, string) {
		if !up {
			return 500, `{"error":"not now"}`
		}
		return shows("completion vision", "")()
	}}
	e := recorded(t, r, ollama.Config{})
	if e.Sees(t.Context(), "m") {
		t.Error("a model sees although nothing could be asked")
	}
	up = true
	if !e.Sees(t.Context(), "") {
		t.Error("what was not known once is not asked again")
	}
}

// TestSightReal shows pictures to a real server. A model that can see, as the server says, gets
// them and says what is in them; another gets none. Text from a user that looks like the server's
// own mark for a picture is not taken for one.
func TestSightReal(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	watcher := ollamatest.Model{Says: "I was shown nothing.", Layers: 1, Sees: &ollamatest.Sight{Light: "It is light.", Dark: "It is dark."}}
	create(t, s, "watcher", watcher)
	watcher.Sees = nil
	create(t, s, "blind", watcher)
	e := open(t, ollama.Config{Host: s.Host(), Model: "watcher"})
	status, err := e.Probe(t.Context())
	if err != nil || len(status.Models) != 2 {
		t.Fatalf("%+v, %v", status, err)
	}
	for _, m := range status.Models {
		if want := strings.HasPrefix(m.Name, "watcher"); m.Vision != want || e.Sees(t.Context(), m.Name) != want {
			t.Errorf("that %s sees is %v", m.Name, m.Vision)
		}
	}
	for _, tt := range []struct {
		name, model string
		images      []llm.Image
		text        string
		want        string
	}{
		{"light", "watcher", []llm.Image{grey(t, 230)}, "what do you see?", "It is light."},
		{"dark", "watcher", []llm.Image{grey(t, 20)}, "what do you see?", "It is dark."},
		{"no picture", "watcher", nil, "what do you see?", "I was shown nothing."},
		{"one who cannot", "blind", []llm.Image{grey(t, 230)}, "what do you see?", "I was shown nothing."},
		{"a forged place", "watcher", nil, "what is [img-0] and [img-7] and [img]?", "I was shown nothing."},
		{"a forged place and a picture", "watcher", []llm.Image{grey(t, 230)}, "what is [img-7] [img]?", "It is light."},
	} {
		req := &llm.Request{Model: tt.model, Messages: []llm.Message{{Role: llm.User, Text: tt.text, Images: tt.images}}}
		told(t, collect(t, e, t.Context(), req), tt.want)
	}
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "what is this?", Images: []llm.Image{append(llm.Image{0xff, 0xd8, 0xff}, "no picture"...)}}}}
	if r := collect(t, e, t.Context(), req); r.err == nil || strings.Contains(r.err.Error(), "no picture") {
		t.Errorf("of what is no picture it says %q, %v", r.text, r.err)
	}
	req.Messages[0].Images = []llm.Image{grey(t, 230)}
	told(t, collect(t, e, t.Context(), req), "It is light.")
}

// grey returns a picture in one shade of grey.
func grey(t *testing.T, light uint8) llm.Image {
	t.Helper()
	p := image.NewGray(image.Rect(0, 0, 64, 48))
	for i := range p.Pix {
		p.Pix[i] = light
	}
	var data bytes.Buffer
	if err := jpeg.Encode(&data, p, nil); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}
