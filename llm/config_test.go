package llm_test

import (
	"fmt"
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
	want := []llm.EngineConfig{{Name: "ollama", Provider: "ollama", Model: "deepseek-r1:8b", Host: "http://localhost:11434", Slots: 1, Tools: "auto"}}
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
  - {provider: openai, model: large, host: https://models.example.org/v1, api_key: sesame, slots: 4, name: big, tools: schema}
  - {provider: script, script: lines.yaml}
roles:
  user: {engine: big, model: larger}
  memory_search: {model: smaller}
`), &c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	want := []llm.EngineConfig{
		{Name: "ollama", Provider: "ollama", Model: "small", Host: "http://localhost:11434", Slots: 1, Tools: "auto"},
		{Name: "big", Provider: "openai", Model: "large", Host: "https://models.example.org/v1", APIKey: "sesame", Slots: 4, Tools: "schema"},
		{Name: "script", Provider: "script", Script: "lines.yaml", Slots: 1, Tools: "auto"},
	}
	if got := c.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("asks %+v, want %+v", got, want)
	}
	if c.FirstToken != 2.5 || c.Engines[0].Slots != 0 {
		t.Errorf("read as %+v", c)
	}
}

func TestConfigFaults(t *testing.T) {
	twice := func(i, first int) string {
		return fmt.Sprintf(`engines[%d].name: is "a", which is the name of engines[%d] already; choose another, or make this entry another host of the same model: with the provider, model, tools and vision of engines[%d] and a host of its own`, i, first, first)
	}
	for _, tt := range []struct {
		name   string
		change func(*llm.Config)
		want   string // the faults, joined by bars
	}{
		{"provider", func(c *llm.Config) { c.Provider = "parrot" }, `provider: is "parrot"; must be one of ollama, openai, script`},
		{"model", func(c *llm.Config) { c.Model = " " }, "model: is empty; must be a model that the server has"},
		{"no host is this machine", func(c *llm.Config) { c.Host = "" }, ""},
		{"no host for openai", func(c *llm.Config) { c.Provider, c.Host = "openai", "" }, "host: is empty; must be the address of the server, such as http://localhost:8080"},
		{"host without scheme", func(c *llm.Config) { c.Host = "localhost:1" }, ""},
		{"host of another kind", func(c *llm.Config) { c.Host = "ftp://a" }, "host: must begin with http:// or https://"},
		{"host that names nothing", func(c *llm.Config) { c.Host = "http://:80" }, "host: has no host name; must be an address such as http://localhost:11434"},
		{"host that is a port", func(c *llm.Config) { c.Host = "11434" }, "host: is only a port; must be an address, such as http://localhost:11434"},
		{"host that is a port, of a scheme", func(c *llm.Config) { c.Host = "http://8080/v1" }, "host: is only a port; must be an address, such as http://localhost:8080"},
		{"host of a port that cannot be", func(c *llm.Config) { c.Host = "localhost:99999" }, "host: has the port 99999; must be from 1 to 65535"},
		{"host that is numbered", func(c *llm.Config) { c.Host = "10.0.0.7" }, ""},
		{"host that is numbered, of the new kind", func(c *llm.Config) { c.Host = "http://[::1]:1" }, ""},
		{"host with a password", func(c *llm.Config) { c.Host = "http://ann:sesame@a" }, "host: has a user name or a password in it; put a key under api_key"},
		{"host with a query", func(c *llm.Config) { c.Host = "http://a/?b" }, "host: must end with the path; leave out what begins with ? or #"},
		{"host that is noise", func(c *llm.Config) { c.Host = "http://sesame:\x01" }, "host: is not an address; must be one such as http://localhost:11434"},
		{"key for ollama", func(c *llm.Config) { c.APIKey = "sesame" }, "api_key: is not used by ollama; leave it out"},
		{"slots", func(c *llm.Config) { c.Slots = 0 }, "slots: is 0; must be from 1 to 64"},
		{"too many slots", func(c *llm.Config) { c.Slots = 65 }, "slots: is 65; must be from 1 to 64"},
		{"script", func(c *llm.Config) { c.Provider = "script" }, "script: is empty; must be the file with what the model says"},
		{"tools", func(c *llm.Config) { c.Tools = "perhaps" }, `tools: is "perhaps"; must be one of auto, native, schema, none`},
		{"tools of a script", func(c *llm.Config) { c.Provider, c.Script, c.Tools = "script", "a.yaml", "none" },
			"tools: applies to servers only; the file of a script says whether it has tools"},
		{"sight of ollama", func(c *llm.Config) { c.Vision = true }, "vision: applies to openai servers only; ollama reports which models can look at pictures"},
		{"sight of openai", func(c *llm.Config) { c.Provider, c.Vision = "openai", true }, ""},
		{"an engine that there is not", func(c *llm.Config) { c.Roles.Task.Engine, c.Roles.User.Engine = "big", "ollama" },
			`roles.task.engine: is "big", but no engine has that name; must be one of ollama`},
		{"a name twice", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Name: "a", Provider: "ollama", Model: "m"}, {Name: "b", Provider: "ollama", Model: "m"}, {Name: "a", Provider: "ollama", Model: "m"}}
			c.Roles.Memory.Engine = "c"
		}, twice(2, 0) + `|roles.memory.engine: is "c", but no engine has that name; must be one of a, b`},
		{"hosts", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Name: "a", Provider: "openai", Model: "m", Host: "x", APIKey: "k", Vision: true}, {Name: "a", Provider: "openai", Model: "m", Host: "y", Slots: 4, Tools: "auto", Vision: true}, {Provider: "ollama", Model: "m"}}
		}, ""},
		{"hosts of another model", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Provider: "ollama", Model: "m"}, {Name: "a", Provider: "ollama", Model: "m"}, {Name: "a", Provider: "ollama", Model: "n", Host: "y"}}
		}, twice(2, 1)},
		{"hosts of another provider", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Name: "a", Provider: "ollama", Model: "m"}, {Name: "a", Provider: "openai", Model: "m", Host: "y"}}
		}, twice(1, 0)},
		{"hosts with other tools", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Name: "a", Provider: "ollama", Model: "m"}, {Name: "a", Provider: "ollama", Model: "m", Host: "y", Tools: "none"}}
		}, twice(1, 0)},
		{"a host twice", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Name: "a", Provider: "ollama", Model: "m"}, {Name: "a", Provider: "ollama", Model: "m", Host: "y"}, {Name: "a", Provider: "ollama", Model: "m", Host: "y"}}
		}, twice(2, 0)},
		{"a script on two hosts", func(c *llm.Config) {
			c.Engines = []llm.EngineConfig{{Name: "a", Provider: "script", Script: "s"}, {Name: "a", Provider: "script", Script: "s"}}
		}, twice(1, 0)},
		{"every fault", func(c *llm.Config) { c.Model, c.FirstToken, c.Idle, c.Total = "", 0.5, -1, 0 },
			"model: is empty; must be a model that the server has|" +
				"first_token_seconds: is 0.5; must be at least 1, because no model is always faster|" +
				"idle_seconds: is -1; must be at least 1, because no model is always faster|" +
				"total_seconds: is 0; must be at least 1, because no model is always faster|" +
				"total_seconds: is 0; must be at least first_token_seconds, which is 0.5"},
		{"engines", func(c *llm.Config) { c.Engines = []llm.EngineConfig{{Provider: "openai", Slots: -1}, {}} },
			"engines[0].model: is empty; must be a model that the server has|" +
				"engines[0].host: is empty; must be the address of the server, such as http://localhost:8080|" +
				"engines[0].slots: is -1; must be from 1 to 64|" +
				`engines[1].provider: is ""; must be one of ollama, openai, script`},
		{"engines and one beside them", func(c *llm.Config) {
			c.Model = "other"
			c.Engines = []llm.EngineConfig{{Provider: "ollama", Model: "a"}}
		}, "engines: are set together with a single engine, which is then not used; write that one as the first of engines"},
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

// TestEngineNames: an engine without a name is named after its provider, and no two names are the
// same.
func TestEngineNames(t *testing.T) {
	c := llm.DefaultConfig()
	c.Engines = []llm.EngineConfig{{Provider: "ollama"}, {Provider: "ollama"}, {Provider: "openai"}, {Name: "ollama-2", Provider: "openai"}, {Provider: "ollama"}, {Name: "openai", Provider: "script"}}
	got := c.Names()
	if want := "ollama ollama-3 openai-2 ollama-2 ollama-4 openai"; strings.Join(got, " ") != want {
		t.Errorf("called %q, want %s", got, want)
	}
	if c.Engines[0].Name != "" {
		t.Error("the configuration was changed")
	}
}

// TestHostName: hosts of one engine have numbers, other engines only their names.
func TestHostName(t *testing.T) {
	c := llm.DefaultConfig()
	c.Engines = []llm.EngineConfig{{Name: "big"}, {Name: "small"}, {Name: "big", Host: "b"}, {Name: "big", Host: "c"}}
	var got []string
	for i := range c.List() {
		got = append(got, llm.HostName(c.List(), i))
	}
	if joined := strings.Join(got, "; "); joined != "big, host 1; small; big, host 2; big, host 3" {
		t.Errorf("called %s", joined)
	}
	if names := strings.Join(c.Names(), "; "); names != "big; small" {
		t.Errorf("the engines are %s", names)
	}
}

// TestFor: an agent's own choice takes precedence over that of its role.
func TestFor(t *testing.T) {
	c := llm.DefaultConfig()
	c.Roles = llm.Roles{
		User:         llm.RoleConfig{Engine: "big", Model: "large"},
		Subagent:     llm.RoleConfig{Engine: "big"},
		Memory:       llm.RoleConfig{Model: "small"},
		MemorySearch: llm.RoleConfig{Engine: "quick", Model: "tiny"},
		Task:         llm.RoleConfig{Engine: "slow", Model: "deep"},
	}
	for _, tt := range []struct{ role, engine, model, want string }{
		{"", "", "", "/"},
		{"cook", "", "", "/"},
		{"user", "", "", "big/large"},
		{"subagent", "", "", "big/"},
		{"memory", "", "", "/small"},
		{"memory_search", "", "", "quick/tiny"},
		{"task", "", "", "slow/deep"},
		{"user", "", "mine", "big/mine"},
		{"user", "other", "", "other/"}, // the role's model does not belong to that engine
		{"user", "other", "mine", "other/mine"},
		{"user", "big", "", "big/large"},
		{"", "other", "mine", "other/mine"},
	} {
		engine, model := c.For(tt.role, tt.engine, tt.model)
		if got := engine + "/" + model; got != tt.want {
			t.Errorf("%s with %s/%s is %s, want %s", tt.role, tt.engine, tt.model, got, tt.want)
		}
	}
}
