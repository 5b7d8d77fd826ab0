package llm_test

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"earshot/internal/field"
	"earshot/llm"
)

func TestDefaultConfig(t *testing.T) {
	c := llm.DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	want := []llm.EngineConfig{{Provider: "ollama", Model: "deepseek-r1:8b", Host: "http://localhost:11434", Slots: 1}}
	if got := c.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("asks %+v, want %+v", got, want)
	}
	if c.FirstToken.Duration() != llm.DefaultFirstToken || c.Idle.Duration() != llm.DefaultIdle || c.Total.Duration() != llm.DefaultTotal {
		t.Errorf("bounds %v, %v, %v are not those of a ladder", c.FirstToken, c.Idle, c.Total)
	}
}

func TestConfigIsRead(t *testing.T) {
	c := llm.DefaultConfig()
	err := yaml.Unmarshal([]byte(`
first_token_seconds: 2.5
engines:
  - {provider: ollama, model: small}
  - {provider: openai, model: large, host: https://models.example.org/v1, api_key: sesame, slots: 4}
  - {provider: script, script: lines.yaml}
`), &c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	want := []llm.EngineConfig{
		{Provider: "ollama", Model: "small", Host: "http://localhost:11434", Slots: 1},
		{Provider: "openai", Model: "large", Host: "https://models.example.org/v1", APIKey: "sesame", Slots: 4},
		{Provider: "script", Script: "lines.yaml", Slots: 1},
	}
	if got := c.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("asks %+v, want %+v", got, want)
	}
	if c.FirstToken != 2.5 || c.Engines[0].Slots != 0 {
		t.Errorf("read as %+v", c)
	}
}

func TestConfigFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*llm.Config)
		want   string // the faults, a bar between them
	}{
		{"provider", func(c *llm.Config) { c.Provider = "parrot" }, `provider: is "parrot"; must be one of ollama, openai, script`},
		{"model", func(c *llm.Config) { c.Model = " " }, "model: is empty; must be a model that the server has"},
		{"no host is this machine", func(c *llm.Config) { c.Host = "" }, ""},
		{"no host for openai", func(c *llm.Config) { c.Provider, c.Host = "openai", "" }, "host: is empty; must be the address of the server, such as http://localhost:8080"},
		{"host without scheme", func(c *llm.Config) { c.Host = "localhost:1" }, ""},
		{"host of another kind", func(c *llm.Config) { c.Host = "ftp://a" }, "host: must begin with http:// or https://"},
		{"host that names nothing", func(c *llm.Config) { c.Host = "http://:80" }, "host: names no machine; must be an address such as http://localhost:11434"},
		{"host with a password", func(c *llm.Config) { c.Host = "http://ann:sesame@a" }, "host: holds a name or a password; a key belongs under api_key"},
		{"host with a query", func(c *llm.Config) { c.Host = "http://a/?b" }, "host: must end with the path; leave out what begins with ? or #"},
		{"host that is noise", func(c *llm.Config) { c.Host = "http://sesame:\x01" }, "host: is no address; must be one such as http://localhost:11434"},
		{"key for ollama", func(c *llm.Config) { c.APIKey = "sesame" }, "api_key: is not sent to ollama, which wants none; leave it out"},
		{"slots", func(c *llm.Config) { c.Slots = 0 }, "slots: is 0; must be from 1 to 64"},
		{"too many slots", func(c *llm.Config) { c.Slots = 65 }, "slots: is 65; must be from 1 to 64"},
		{"script", func(c *llm.Config) { c.Provider = "script" }, "script: is empty; must be the file with what the model says"},
		{"every fault", func(c *llm.Config) { c.Model, c.FirstToken, c.Idle, c.Total = "", 0.5, -1, 0 },
			"model: is empty; must be a model that the server has|" +
				"first_token_seconds: is 0.5; must be at least 1: no model is that quick every time|" +
				"idle_seconds: is -1; must be at least 1: no model is that quick every time|" +
				"total_seconds: is 0; must be at least 1: no model is that quick every time|" +
				"total_seconds: is 0; must be at least first_token_seconds, which is 0.5"},
		{"engines", func(c *llm.Config) { c.Engines = []llm.EngineConfig{{Provider: "openai", Slots: -1}, {}} },
			"engines[0].model: is empty; must be a model that the server has|" +
				"engines[0].host: is empty; must be the address of the server, such as http://localhost:8080|" +
				"engines[0].slots: is -1; must be from 1 to 64|" +
				`engines[1].provider: is ""; must be one of ollama, openai, script`},
		{"engines and one beside them", func(c *llm.Config) {
			c.Model = "other"
			c.Engines = []llm.EngineConfig{{Provider: "ollama", Model: "a"}}
		}, "engines: are asked instead of the engine beside them; write that one as the first of the list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := llm.DefaultConfig()
			tt.change(&c)
			var got []string
			for _, f := range field.Faults(c.Validate()) {
				got = append(got, f.Error())
			}
			if joined := strings.Join(got, "|"); joined != tt.want {
				t.Errorf("faults\n%s\nwant\n%s", joined, tt.want)
			}
		})
	}
}
