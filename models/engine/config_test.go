package engine_test

import (
	"strings"
	"testing"

	"earshot/models/engine"
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
		{"other engine", func(c *engine.Config) { c.Say.Engine = "piper" }, "say.engine: is \"piper\"; must be auto, embedded, wyoming or openai", ""},
		{"german here", func(c *engine.Config) { c.Hear.Language = "de" }, "hear.language: is de, but", ""},
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
			if ears, voices := names(c.Recognisers(nil)), names(c.Voices(nil)); ears != tt.ears || voices != tt.voices {
				t.Errorf("it hears by %q and speaks by %q", ears, voices)
			}
		})
	}
}
