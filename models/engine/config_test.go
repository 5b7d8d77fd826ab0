package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/models/catalog"
	"earshot/models/engine"
	"earshot/models/neural"
)

// TestConfig: what is wrong is said with what to write instead, and the engines are in order.
func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		name   string
		set    func(*engine.Config)
		ears   string // by their names, or what is wrong
		voices string
	}{
		{"default", func(c *engine.Config) {}, "embedded", "embedded"},
		{"here", func(c *engine.Config) {
			c.Hear.Wyoming.Address, c.Say.Wyoming.Address = "127.0.0.1:10300", "localhost:10200"
		}, "127.0.0.1:10300 embedded", "localhost:10200 embedded"},
		{"explicit", func(c *engine.Config) { c.Hear.Engine, c.Hear.Wyoming.Address = "wyoming", "127.0.0.1:10300" }, "127.0.0.1:10300 embedded", "embedded"},
		{"not wanted", func(c *engine.Config) { c.Hear.Engine, c.Hear.Wyoming.Address = "embedded", "127.0.0.1:10300" }, "embedded", "embedded"},
		{"german", func(c *engine.Config) { c.Hear.Language, c.Hear.Wyoming.Address = "de", "127.0.0.1:10300" }, "127.0.0.1:10300", "embedded"},
		{"allowed", func(c *engine.Config) { c.Remote, c.Say.Wyoming.Address = true, "nas:10200" }, "embedded", "nas:10200 embedded"},
		{"remote", func(c *engine.Config) { c.Say.Wyoming.Address = "nas:10200" }, "say.wyoming.address: is on another machine", ""},
		{"no address", func(c *engine.Config) { c.Hear.Engine = "wyoming" }, "hear.wyoming.address: is empty", ""},
		{"bad address", func(c *engine.Config) { c.Hear.Wyoming.Address = "10300" }, "hear.wyoming.address: is not HOST:PORT", ""},
		{"openai", func(c *engine.Config) {
			c.Hear.OpenAI.URL, c.Say.OpenAI.URL = "http://127.0.0.1:8000", "http://localhost:8880/v1"
		}, "127.0.0.1:8000 embedded", "localhost:8880 embedded"},
		{"both", func(c *engine.Config) {
			c.Hear.Wyoming.Address, c.Hear.OpenAI.URL = "127.0.0.1:10300", "http://127.0.0.1:8000"
		}, "127.0.0.1:10300 127.0.0.1:8000 embedded", "embedded"},
		{"one of both", func(c *engine.Config) {
			c.Hear.Engine, c.Hear.Wyoming.Address, c.Hear.OpenAI.URL = "openai", "127.0.0.1:10300", "http://127.0.0.1:8000"
		}, "127.0.0.1:8000 embedded", "embedded"},
		{"no url", func(c *engine.Config) { c.Say.Engine = "openai" }, "say.openai.url: is empty", ""},
		{"bad url", func(c *engine.Config) { c.Say.OpenAI.URL = "127.0.0.1:8000" }, "say.openai.url: is not an address", ""},
		{"remote url", func(c *engine.Config) { c.Hear.OpenAI.URL = "https://api.openai.com/v1" }, "hear.openai.url: is on another machine", ""},
		{"no voice", func(c *engine.Config) { c.Say.OpenAI.Voice = "" }, "say.openai.voice: is empty", ""},
		{"mad speed", func(c *engine.Config) { c.Say.OpenAI.Speed = 9 }, "say.openai.speed: is 9; must be from 0.25 to 4", ""},
		{"other engine", func(c *engine.Config) { c.Say.Engine = "piper" }, "say.engine: is \"piper\"; must be auto, embedded, neural, wyoming or openai", ""},
		{"german here", func(c *engine.Config) { c.Hear.Engine, c.Hear.Language = "embedded", "de" }, "hear.language: is de, but", ""},
		{"half a path", func(c *engine.Config) { c.Hear.Neural.Model = "a/b" }, "hear.neural.model: is neither", ""},
		{"half a path of a voice", func(c *engine.Config) { c.Say.Neural.Model = "a/b" }, "say.neural.model: is neither", ""},
		{"a voice too fast", func(c *engine.Config) { c.Say.Neural.Speed = 5 }, "say.neural.speed: is 5; must be from 0.25 to 4", ""},
		{"no language", func(c *engine.Config) { c.Hear.Language = "english" }, "hear.language: is \"english\"; must be two letters", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := engine.DefaultConfig()
			tt.set(&c)
			if err := c.Validate(); err != nil {
				if !strings.Contains(err.Error(), tt.ears) {
					t.Errorf("%v; want %q", err, tt.ears)
				}
				return
			}
			names := func(all []engine.Engine) string {
				var is []string
				for _, e := range all {
					name := strings.TrimPrefix(strings.TrimPrefix(e.Name, "the Wyoming server at "), "the speech server at ")
					if e.IsEmbedded() {
						name = "embedded"
					}
					is = append(is, name)
				}
				return strings.Join(is, " ")
			}
			if ears, voices := names(c.Recognisers(nil, neural.Library{Dir: t.TempDir()})), names(c.Voices(nil, neural.Library{Dir: t.TempDir()})); ears != tt.ears || voices != tt.voices {
				t.Errorf("it hears by %q and speaks by %q", ears, voices)
			}
		})
	}
}

// TestModels: the largest set for the language is chosen that nobody forbids to use, or the one that
// is named; and where there is none, an engine says so.
func TestModels(t *testing.T) {
	library := neural.Library{Dir: t.TempDir()}
	for _, set := range []catalog.Set{
		{Name: "small", Role: catalog.Hear, Languages: []string{"en", "de"}},
		{Name: "larger", Role: catalog.Hear, Languages: []string{"en"}},
		{Name: "licensed too strictly", Role: catalog.Hear, Languages: []string{"en"}, Licence: catalog.Licence{NonCommercial: true}},
		{Name: "whole", Role: catalog.Correct, Languages: []string{"en", "fr"}},
		{Name: "voice for all the world", Role: catalog.Say, Languages: []string{"en", "fr"}},
	} {
		set.Kind, set.Files = catalog.NemoCTC, map[string]catalog.File{"model": {Path: "model.onnx", Bytes: int64(len(set.Name))}}
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(library.Dir, set.Name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(library.Dir, set.Name, catalog.Description), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	voices := engine.DefaultConfig()
	for model, want := range map[string]string{
		"":       "the model voice for all the world, the embedded voice",
		"medium": "the model medium, the embedded voice", // which says why not
	} {
		voices.Say.Neural.Model = model
		var names []string
		for _, e := range voices.Voices(nil, library) {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("with the model %q it speaks by %s", model, got)
		}
	}
	for _, tt := range []struct {
		name string
		set  func(*engine.Config)
		ears string // by their names
		why  string // why the first is chosen, or why it does not work
	}{
		{"default", func(c *engine.Config) {}, "the model larger, the embedded recogniser", "the best that is installed for en"},
		{"only models", func(c *engine.Config) { c.Hear.Engine = "neural" }, "the model larger, the embedded recogniser", "the best that is installed for en"},
		{"no models", func(c *engine.Config) { c.Hear.Engine = "embedded" }, "the embedded recogniser", ""},
		{"and a server", func(c *engine.Config) { c.Hear.Wyoming.Address = "127.0.0.1:10300" },
			"the model larger, the Wyoming server at 127.0.0.1:10300, the embedded recogniser", "the best that is installed for en"},
		{"only a server", func(c *engine.Config) { c.Hear.Engine, c.Hear.Wyoming.Address = "wyoming", "127.0.0.1:10300" },
			"the Wyoming server at 127.0.0.1:10300, the embedded recogniser", ""},
		{"by its name", func(c *engine.Config) { c.Hear.Neural.Model = "small" }, "the model small, the embedded recogniser", "as the configuration says"},
		{"by its folder", func(c *engine.Config) { c.Hear.Neural.Model = filepath.Join(library.Dir, "licensed too strictly") },
			"the model licensed too strictly, the embedded recogniser", "as the configuration says"},
		{"with a second", func(c *engine.Config) { c.Hear.Neural.Second = "whole" }, "the model larger, the embedded recogniser", "the best that is installed for en"},
		{"not installed", func(c *engine.Config) { c.Hear.Neural.Model = "medium" }, "the model medium, the embedded recogniser", "the model medium cannot be used: it is not installed"},
		{"no such second", func(c *engine.Config) { c.Hear.Neural.Second = "medium" }, "the model larger, the embedded recogniser", "the model medium cannot be used: it is not installed"},
		{"german", func(c *engine.Config) { c.Hear.Language = "de" }, "the model small", "the best that is installed for de"},
		{"french", func(c *engine.Config) { c.Hear.Language = "fr" }, "a neural model", "no model is installed that recognises fr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := engine.DefaultConfig()
			tt.set(&c)
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			all := c.Recognisers(nil, library)
			var names []string
			for _, e := range all {
				names = append(names, e.Name)
			}
			why := all[0].Why
			if why == "" && strings.Contains(all[0].Name, "model") {
				why = all[0].Check(t.Context()).Error()
			}
			if got := strings.Join(names, ", "); got != tt.ears || why != tt.why {
				t.Errorf("it hears by %s; %s", got, why)
			}
		})
	}
}
