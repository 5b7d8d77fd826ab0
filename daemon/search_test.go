package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/config"
	"earshot/executive/recall"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
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

// TestSearchMeaning: what was said is found by what it means, with the vectors of a server that the indexer
// asks while nobody talks; what is private stays so, and no vector outlives its event.
func TestSearchMeaning(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		type vector struct {
			Index     int   `json:"index"`
			Embedding []int `json:"embedding"`
		}
		var answer struct {
			Data []vector `json:"data"`
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil {
			t.Error("it is no request")
		}
		for i, text := range asked.Input { // for this one, all that is about travel means the same
			v := []int{0, 1}
			if strings.Contains(text, "locomotive") || strings.Contains(text, "train") {
				v = []int{1, 0}
			}
			answer.Data = append(answer.Data, vector{i, v})
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(dir, "journal")
	script := filepath.Join(dir, "model.yaml")
	cfg.Executive.LLM.Engines = []llm.EngineConfig{{Provider: llm.Script, Script: script}, {Name: "vectors", Provider: llm.OpenAI, Host: server.URL, Model: "other"}}
	cfg.Executive.Recall.Enabled = true
	cfg.Executive.Recall.Embedding.Engine, cfg.Executive.Recall.Embedding.Model = "vectors", "mini"
	if err := os.WriteFile(script, []byte("reply: \"no object\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	main := d.agents.Main(earshot.Desk)
	public := earshot.Visibility{Scope: earshot.Public}
	said := func(v earshot.Visibility, text earshot.Text) earshot.Event {
		return earshot.Event{ID: d.id(), Room: earshot.Desk, Author: participants.Owner, From: earshot.Handle{Provider: "console", ID: "1"}, Visibility: v, Body: earshot.Message{Text: text}}
	}
	there := said(public, "Ann's train comes on Friday at five")
	secret := said(earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"bob", main.ID}}, "Bob's train is a secret")
	if _, err := d.store.Append(t.Context(), there, said(public, "there is bread"), secret); err != nil {
		t.Fatal(err)
	}
	f, key := d.indexer(), cfg.Executive.Recall.Embedding.Key()
	events, texts, err := f.Pending(t.Context(), key, llm.MaxTexts)
	if err != nil || len(events) != 3 || texts[0] != "Bob's train is a secret" || !f.Still() || f.Rests() {
		t.Fatalf("%d events are pending: %q, %v", len(events), texts, err)
	}
	all, err := f.Embed(t.Context(), "vectors", "mini", llm.Memory, []string{string(texts[0]), string(texts[1]), string(texts[2])})
	if err == nil {
		err = f.Keep(t.Context(), key, events, all)
	}
	if err != nil {
		t.Fatal(err)
	}
	audience := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}.With(main.ID)
	found, err := d.nearest(t.Context(), audience, "which locomotive?", 9)
	if err != nil || len(found) != 2 || found[0].ID != there.ID {
		t.Errorf("found %d, %v", len(found), err)
	}
	tools := d.tools()
	i := slices.IndexFunc(tools, func(row tool.Tool) bool { return row.Name == recall.ToolName })
	a, err := tools[i].Do(t.Context(), tool.Scope{Agent: main.ID, Room: earshot.Desk, Audience: audience, Visibility: public}, []byte(`{"question":"which locomotive?"}`))
	if err != nil || !strings.Contains(string(a.Text), "comes on Friday") || strings.Contains(string(a.Text), "secret") {
		t.Errorf("%q, %v", string(a.Text), err)
	}
	if _, err := d.store.Forget(t.Context(), store.Selection{Events: []earshot.EventID{there.ID}}, nil); err != nil {
		t.Fatal(err)
	}
	if found, err := d.nearest(t.Context(), audience, "which locomotive?", 9); err != nil || len(found) != 1 {
		t.Errorf("afterwards found %d, %v", len(found), err)
	}
}
