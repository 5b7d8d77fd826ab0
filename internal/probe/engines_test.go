package probe

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/config"
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

// TestModelsOfHosts: the models of each host are listed, and a model that is chosen for an engine is
// chosen for all its hosts.
func TestModelsOfHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "earshot.yaml")
	text := "executive:\n  llm:\n    engines:\n      - {name: big, provider: ollama, model: m, host: \"a:1\"}\n      - {name: other, provider: ollama, model: m}\n      - {name: big, provider: ollama, model: m, host: \"b:1\"}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse(file, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var looks []Engine
	for i, c := range cfg.Executive.LLM.List() {
		looks = append(looks, Engine{Config: c, Name: llm.HostName(cfg.Executive.LLM.List(), i), Answered: true, Models: []llm.Model{{Name: "m"}, {Name: "owl"}}})
	}
	var names []string
	for _, m := range ListModels(cfg.Executive, looks) {
		if len(m.InUse) > 0 {
			names = append(names, m.Engine+": "+m.Model)
		}
	}
	if got := strings.Join(names, "; "); got != "big, host 1: m; big, host 2: m" {
		t.Errorf("in use is %s", got)
	}
	choice, err := ChooseModel(cfg, looks, EngineModel{Model: "owl"}, TalkRole)
	if err == nil {
		err = choice.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := strings.ReplaceAll(text, "big, provider: ollama, model: m", "big, provider: ollama, model: \"owl\""); string(got) != want || err != nil {
		t.Errorf("the file is\n%s\nwant\n%s, %v", got, want, err)
	}
}
