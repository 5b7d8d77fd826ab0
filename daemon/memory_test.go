package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants/agents"
)

// remembering is a script for a model that remembers what it is told of ferries and wolves.
const remembering = `reply: "You take the ferry on Monday."
rules:
- {for: memory, when: ferry, reply: '{"summary":"","facts":[{"text":"Ann takes the ferry on Monday","about":["p1"],"subject":"ferry","evidence":["e1"],"confidence":0.9,"days":0,"due":""}]}'}
- {for: memory, when: wolf, reply: '{"summary":"of a wolf","facts":[{"text":"Ann has seen a wolfhound","about":["p1"],"subject":"wolf","evidence":["e1"],"confidence":0.9,"days":0,"due":""}]}'}
`

// TestMemory: what is said is remembered by the memory agent of the main one, survives a restart, can be
// shown, explained and forgotten, and then no byte of it is left.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := config.Default()
		cfg.Store.Directory = filepath.Join(dir, "journal")
		cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
		cfg.Executive.Memory.Enabled = true
		if err := os.WriteFile(cfg.Executive.LLM.Script, []byte(remembering), 0o600); err != nil {
			t.Fatal(err)
		}
		h := running(t, cfg)
		h.says(earshot.Message{Text: "I take the ferry"})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		h.says(earshot.Message{Text: "I saw a wolf"})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		h.end()
		h = running(t, cfg)
		path, _ := agents.ChildPath(h.agents.Main(earshot.Desk).Path, earshot.PathMemory, 0)
		if r, err := h.agents.Resolve(t.Context(), path); err != nil || r.Role != earshot.RoleMemory {
			t.Errorf("the memory agent is %+v, %v", r, err)
		}
		command := func(name, args string) string {
			t.Helper()
			said, err := h.deskRoom().Do(t.Context(), earshot.Event{ID: h.id(), Room: earshot.Desk, From: h.options.Account, Body: earshot.Command{Name: name, Args: earshot.Text(args)}})
			if err != nil {
				t.Fatal(err)
			}
			return said
		}
		list := strings.Split(command("memory", ""), "\n")
		if len(list) != 3 || !strings.Contains(list[0], "Ann takes the ferry") || !strings.HasSuffix(list[2], ": of a wolf") {
			t.Fatalf("it remembers %q", list)
		}
		ferry, _, _ := strings.Cut(list[0], " ")
		if shown := command("memory", "show "+ferry); !strings.Contains(shown, "I take the ferry") {
			t.Errorf("the fact rests on %q", shown)
		}
		h.says(earshot.Message{Text: "when is my ferry?"})
		time.Sleep(time.Second)
		synctest.Wait()
		if why := command("why", ""); !strings.Contains(why, "It remembered") || !strings.Contains(why, ferry) {
			t.Errorf("it explains %q", why)
		}
		if all := h.memory.All(earshot.Audience{Room: earshot.Desk}, time.Now(), false); len(all) != 2 {
			t.Errorf("%d facts are known", len(all))
		}
		wolf, _, _ := strings.Cut(list[1], " ")
		command("memory", "forget "+wolf)
		if left := command("memory", "all"); strings.Contains(left, "wolfhound") {
			t.Errorf("it still remembers %q", left)
		}
		if err := h.eraser.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		testkit.Files(t, cfg.Store.Directory, func(path string, data []byte) {
			if bytes.Contains(data, []byte("wolfhound")) {
				t.Errorf("%s still has what is forgotten", path)
			}
		})
		h.end()
	})
}
