package probe

import (
	"net"
	"strings"
	"testing"

	"earshot/llm"
)

func TestAbilities(t *testing.T) {
	models := []llm.Model{{Name: "a:latest", Tools: true, Vision: true}, {Name: "b", Vision: true}, {Name: "c", Tools: true}, {Name: "d"}}
	for name, want := range map[string]string{
		"a": ", which calls tools and can look at pictures", "b": ", which can look at pictures", "c": ", which calls tools", "d": "", "e": "",
	} {
		if got := abilities(models, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestMissingModel: if the engine has no model at all, a small one that calls tools is recommended,
// unless the configuration names another.
func TestMissingModel(t *testing.T) {
	for _, tt := range []struct {
		provider, model string
		has             []llm.Model
		want            string
	}{
		{llm.Ollama, llm.DefaultConfig().Model, nil, "earshot models get llama3.2, or: ollama pull deepseek-r1:8b"},
		{llm.Ollama, "owl", nil, "ollama pull owl"},
		{llm.Ollama, llm.DefaultConfig().Model, []llm.Model{{Name: "owl:latest"}}, "use owl, or: ollama pull deepseek-r1:8b"},
		{llm.OpenAI, "owl", nil, "set executive.llm.model to one that it has"},
	} {
		if got := MissingModel(llm.EngineConfig{Provider: tt.provider, Model: tt.model}, tt.has, "use %s"); got != tt.want {
			t.Errorf("%s without %s but with %v: %q, want %q", tt.provider, tt.model, tt.has, got, tt.want)
		}
	}
}

// TestEngineThatIsSilent: the finding about a server that accepts a connection and never answers
// says so, and says what to do.
func TestEngineThatIsSilent(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts connections to it
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	all := Engines(t.Context(), llm.Config{EngineConfig: llm.EngineConfig{Provider: llm.Ollama, Host: "http://" + silent.Addr().String(), Model: "m"}})
	if len(all) != 1 || all[0].Works || all[0].Answered || !strings.Contains(all[0].Text, "has not answered within 1.5s") || all[0].Cure != "wait; earshot doctor looks again" {
		t.Errorf("it says %+v", all)
	}
}
