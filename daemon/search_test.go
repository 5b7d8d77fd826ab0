package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/config"
	"earshot/executive/recall"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestSearchMemory: the tool finds what is in the journal, whatever its model answers; its agent is on
// record at a path of its own, and is gone afterwards.
func TestSearchMemory(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(dir, "journal")
	cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
	if err := os.WriteFile(cfg.Executive.LLM.Script, []byte("reply: \"no object\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	said := earshot.Event{
		ID: d.id(), Room: earshot.Desk, Author: participants.Owner, From: earshot.Handle{Provider: "console", ID: "1"},
		Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "Ann's train comes on Friday at five"},
	}
	if _, err := d.store.Append(t.Context(), said); err != nil {
		t.Fatal(err)
	}
	all := d.tools()
	i := slices.IndexFunc(all, func(row tool.Tool) bool { return row.Name == recall.ToolName })
	main := d.agents.Main(earshot.Desk)
	a, err := all[i].Do(t.Context(), tool.Scope{
		Agent: main.ID, Room: earshot.Desk, Audience: earshot.Audience{Room: earshot.Desk}.With(main.ID), Visibility: said.Visibility,
	}, []byte(`{"question":"When do the trains of Ann arrive?"}`))
	if err != nil || !strings.Contains(string(a.Text), "comes on Friday") || !slices.Equal(a.Sources, []earshot.EventID{said.ID}) {
		t.Errorf("%q from %v, %v", string(a.Text), a.Sources, err)
	}
	path, err := agents.ChildPath(main.Path, earshot.PathSearch, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.agents.Resolve(t.Context(), path); err == nil || !strings.Contains(err.Error(), string(path)) {
		t.Errorf("the agent at %s: %v", path, err)
	}
	for _, on := range []bool{false, true} {
		set := *d.Config()
		set.Executive.Recall.Enabled = on
		d.current.Store(&set)
		if has := slices.ContainsFunc(d.taskTools(), func(row tool.Tool) bool { return row.Name == recall.ToolName }); has != on {
			t.Errorf("tasks have the tool: %v; the configuration says %v", has, on)
		}
	}
	next, err := d.agents.Spawn(t.Context(), main.ID, main.Path, earshot.PathSearch, earshot.Profile{})
	if err != nil || !strings.HasSuffix(string(next.Path), "/search/1") {
		t.Errorf("the next agent is at %s, %v", next.Path, err)
	}
}
