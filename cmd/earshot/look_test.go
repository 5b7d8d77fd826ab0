package main

import (
	"image"
	"image/color"
	"image/draw"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm/ollama/ollamatest"
	"earshot/models/see/seetest"
)

// TestLookOllama asks models on a real server what a real helper's camera sees: a model that can
// look at pictures says what is in them, and a model that cannot is shown none.
func TestLookOllama(t *testing.T) {
	t.Parallel()
	server := ollamatest.Start(t, ollamatest.Options{})
	model := ollamatest.Model{Says: "I was shown nothing.", Layers: 8, Sees: &ollamatest.Sight{Light: "It is light.", Dark: "It is dark."}}
	for name, sees := range map[string]*ollamatest.Sight{"watcher": model.Sees, "blind": nil} {
		model.Sees = sees
		if err := server.Make(t.Context(), name, model); err != nil {
			t.Fatal(err)
		}
	}
	s := newStudio(t)
	s.env = append(s.env, "EARSHOT_EXECUTIVE_LLM_PROVIDER=ollama", "EARSHOT_EXECUTIVE_LLM_HOST="+server.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=watcher",
		"EARSHOT_EXECUTIVE_SIGHT_GREET=false", "EARSHOT_EXECUTIVE_SIGHT_CAPTIONS_PER_HOUR=0",
		"EARSHOT_EXECUTIVE_LLM_FIRST_TOKEN_SECONDS=170", "EARSHOT_EXECUTIVE_LLM_TOTAL_SECONDS=175")
	s.film("bright", paper(seetest.Room(), 0.9))
	s.film("dim", seetest.Lit(seetest.Room(), 0.5))
	s.plays("bright")
	d := s.daemon()
	s.looks("a picture", func(r result) bool { return r.code == success })
	says := func(want string) {
		t.Helper()
		var r result
		testkit.Await(t, soon, "to hear: "+want, func() bool {
			r = s.earshot(nil, "say", "what do you see?")
			return strings.HasSuffix(r.out, want+"\n")
		})
	}
	says("It is light.")
	s.plays("dim")
	says("It is dark.")
	looks := 0
	for _, e := range s.history() {
		if use, ok := e.Body.(earshot.Use); ok && use.Tool == "look" && use.Result == "nobody" {
			looks++
		}
	}
	if looks < 2 {
		t.Errorf("%d looks are on record", looks)
	}
	d.end(2)

	s.env = append(s.env, "EARSHOT_EXECUTIVE_LLM_MODEL=blind")
	s.daemon()
	s.looks("a picture", func(r result) bool { return r.code == success })
	says("I was shown nothing.")
}

// film adds a scene that stays the same but for its noise.
func (s *studio) film(scene string, m *image.RGBA) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range 8 {
		s.films[scene] = append(s.films[scene], seetest.JPEG(seetest.Noisy(m, 3, uint64(n+1))))
	}
}

// paper covers the given share of a picture with white, from the top.
func paper(m *image.RGBA, share float64) *image.RGBA {
	b := m.Bounds()
	b.Max.Y = b.Min.Y + int(float64(b.Dy())*share)
	draw.Draw(m, b, image.NewUniform(color.White), image.Point{}, draw.Src)
	return m
}

// TestLookWithoutCamera: without a camera, or before it works, the answer is just that, whatever
// the model would say.
func TestLookWithoutCamera(t *testing.T) {
	g := newGallery(t, "")
	g.watches("no camera of this name")
	g.daemon()
	if r := g.earshot(nil, "say", "what do you see?"); r.out != "I have no camera that works.\n" {
		t.Errorf("it says %q, %s", r.out, r.err)
	}
}
