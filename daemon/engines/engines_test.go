package engines

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
)

// TestAModelThatFlapsInTheLog: if a model is lost again and again, the log has one line with the
// cure, and one that it answers again, with how often it was lost.
func TestAModelThatFlapsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log, h := slog.New(slog.NewTextHandler(&text, nil)), new(outages)
		gone := &llm.Error{Fault: llm.Unreachable, Engine: "ollama"}
		for range 50 {
			h.log(log, llm.Step{Engine: "ollama", Kind: llm.GaveUp, Err: gone})
			time.Sleep(3 * time.Second)
			h.log(log, llm.Step{Engine: "ollama", Kind: llm.Answered})
			h.log(log, llm.Step{Engine: "vllm", Kind: llm.Answered})
			time.Sleep(4 * time.Second)
		}
		time.Sleep(time.Minute)
		h.log(log, llm.Step{Engine: "ollama", Kind: llm.Answered})
		if got := text.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "was helped") || !strings.Contains(got, "lost 50 times") {
			t.Errorf("logged:\n%s", got)
		}
	})
}

// TestLadder: an engine whose description has not changed stays the same, with those who wait for
// it.
func TestLadder(t *testing.T) {
	c := llm.DefaultConfig()
	c.Engines = []llm.EngineConfig{{Name: "a", Provider: "ollama", Model: "m"}, {Name: "b", Provider: "ollama", Model: "m"}}
	was, err := Build(c, slog.New(slog.DiscardHandler), nil, func(llm.Step) {}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Engines = []llm.EngineConfig{{Name: "b", Provider: "ollama", Model: "m"}, {Name: "a", Provider: "ollama", Model: "n"}}
	is, err := Build(c, slog.New(slog.DiscardHandler), was, func(llm.Step) {}, nil)
	if err != nil || is.Engines[0] != was.Engines[1] || is.Engines[1] == was.Engines[0] {
		t.Errorf("%+v, %v", is, err)
	}
}

// TestLadderOfHosts: entries with one name are hosts of one engine. When a host is added, the others stay,
// and so does an engine whose hosts have not changed.
func TestLadderOfHosts(t *testing.T) {
	host := func(name, host string) llm.EngineConfig {
		return llm.EngineConfig{Name: name, Provider: "ollama", Model: "m", Host: host, Slots: 2}
	}
	build := func(was *Ladder, list ...llm.EngineConfig) *Ladder {
		t.Helper()
		c := llm.DefaultConfig()
		c.Engines = list
		is, err := Build(c, slog.New(slog.DiscardHandler), was, func(llm.Step) {}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	was := build(nil, host("big", "a"), host("one", "c"), host("big", "b"))
	if len(was.Engines) != 2 || len(was.Engines[0].Hosts) != 2 || was.Engines[1].Hosts != nil || was.Engines[1].Slots != 2 {
		t.Fatalf("%+v, %+v", was.Engines[0], was.Engines[1])
	}
	if h := was.Engines[0].Hosts[1]; h.Engine.Name() != "ollama at b:11434" || h.Called != "big, host 2" || h.Slots != 2 {
		t.Errorf("the second host is %+v", h)
	}
	if is := build(was, host("one", "c"), host("big", "a"), host("big", "b")); is.Engines[1] != was.Engines[0] || is.Engines[0] != was.Engines[1] {
		t.Error("the same hosts are another engine")
	}
	is := build(was, host("big", "a"), host("one", "c"), host("big", "b"), host("big", "d"))
	if is.Engines[1] != was.Engines[1] || len(is.Engines[0].Hosts) != 3 || is.Engines[0].Hosts[1].Engine != was.Engines[0].Hosts[1].Engine {
		t.Errorf("with a third host: %+v", is.Engines[0])
	}
	if is := build(is, host("big", "b"), host("one", "c")); is.Engines[0].Hosts != nil || is.Engines[0].Name() != "ollama at b:11434" {
		t.Errorf("with one host: %+v", is.Engines[0])
	}
}
