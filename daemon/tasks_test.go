package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants/agents"
)

// fence is a script for a model that asks for the colour of a fence, notes it in a file, and is done.
const fence = `reply: "All is well."
rules:
- {when: "the answer is walrus-blue", reply: "The fence is walrus-blue."}
- {when: paint the fence, reply: "I look at the fence.", calls: [{tool: ask_person, arguments: {text: "red or walrus-blue?"}}]}
- {when: start it, calls: [{tool: task, arguments: {action: start, text: paint the fence}}]}
- {result: "It is task", reply: "I am on it."}
`

// TestTasks: an agent is asked to do something, works on it beside the talk, asks at a gap, is answered
// after a restart, and tells its result once. Then all of it can be forgotten, and no byte is left.
func TestTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := config.Default()
		cfg.Store.Directory = filepath.Join(dir, "journal")
		cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
		if err := os.WriteFile(cfg.Executive.LLM.Script, []byte(fence), 0o600); err != nil {
			t.Fatal(err)
		}
		h := running(t, cfg)
		do := func(args string) string {
			t.Helper()
			said, err := h.deskRoom().Do(t.Context(), earshot.Event{ID: h.id(), Room: earshot.Desk, From: h.options.Account, Body: earshot.Command{Name: "task", Args: earshot.Text(args)}})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			return said
		}
		replies := func() (all []string) {
			t.Helper()
			found, err := h.store.Lately(t.Context(), earshot.Desk, earshot.KindReply, 100, h.Audience())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range found {
				all = append(all, string(e.Body.(earshot.Reply).Offered))
			}
			return all
		}
		leave := h.AddOutlet(&testkit.Voice{Called: "console", Every: time.Millisecond})
		h.says(earshot.Presence{Session: "s", Here: true})
		h.says(earshot.Message{Text: "start it"})
		time.Sleep(time.Minute)
		synctest.Wait()
		if said := do(""); !strings.Contains(said, "1  waits for an answer: paint the fence (0 calls") {
			t.Errorf("the list is %q", said)
		}
		if is := h.work(t.Context(), h.Audience()); is != "1 task, 1 waiting for an answer" {
			t.Errorf("of its work is said %q", is)
		}
		if is := h.work(t.Context(), earshot.Audience{Room: "kitchen"}); is != "" {
			t.Errorf("in another room is said %q", is)
		}
		works := func(a agents.Record) bool {
			return strings.HasPrefix(string(a.Path), "/owner/task/") && a.Role == earshot.RoleTask
		}
		if all := h.agents.List(); !slices.ContainsFunc(all, works) {
			t.Errorf("the agents are %+v", all)
		}
		leave()
		h.end()
		h = running(t, cfg)
		h.AddOutlet(&testkit.Voice{Called: "console", Every: time.Millisecond})
		h.says(earshot.Presence{Session: "t", Here: true})
		do("1 answer the answer is walrus-blue")
		if said := do("show 1"); !strings.Contains(said, "over done") || !strings.Contains(said, "The fence is walrus-blue.") {
			t.Errorf("it shows %q", said)
		}
		if said := replies(); len(said) != 3 || said[1] != `The task "paint the fence" needs an answer: red or walrus-blue?` || said[2] != `The task "paint the fence" is done: The fence is walrus-blue.` {
			t.Errorf("it said %q", said)
		}
		found, err := h.store.Lately(t.Context(), earshot.Desk, earshot.KindFinding, 100, h.Audience())
		if err != nil || len(found) != 2 {
			t.Errorf("it told %v, %v", found, err)
		}
		if is := h.work(t.Context(), h.Audience()); is != "" {
			t.Errorf("when all is done is said %q", is)
		}
		for _, a := range h.agents.List() {
			if a.Kind == earshot.PathTask {
				t.Errorf("%s is left", a.Path)
			}
		}
		p, err := h.eraser.Preview(t.Context(), h.owner, api.EraseRequest{Who: "me"})
		if err == nil {
			_, err = h.eraser.Erase(t.Context(), h.owner, api.EraseRequest{Who: "me", Digest: p.Digest})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := h.eraser.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.end()
		testkit.Files(t, cfg.Store.Directory, func(path string, data []byte) {
			if bytes.Contains(data, []byte("walrus-blue")) {
				t.Errorf("%s still has what is forgotten", path)
			}
		})
	})
}

// TestToldOnce: whenever the program ends between the request for a task and the word that it is done, the
// next one says so once, and does not begin the task again.
func TestToldOnce(t *testing.T) {
	const result = `The task "look" is done: The gate is shut.`
	for tenth, told := 0, false; !told; tenth++ {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			cfg := config.Default()
			cfg.Store.Directory = filepath.Join(dir, "journal")
			cfg.Executive.Task.Enabled = true
			cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
			if err := os.WriteFile(cfg.Executive.LLM.Script, []byte("reply: The gate is shut.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			h := running(t, cfg)
			come := func() {
				h.AddOutlet(&testkit.Voice{Called: "console", Every: 10 * time.Millisecond})
				h.says(earshot.Presence{Session: "s", Here: true})
			}
			said := func() (all []string) {
				found, err := h.store.Lately(t.Context(), earshot.Desk, earshot.KindReply, 100, h.Audience())
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range found {
					all = append(all, string(e.Body.(earshot.Reply).Delivered()))
				}
				return all
			}
			come()
			if _, err := h.deskRoom().Do(t.Context(), earshot.Event{ID: h.id(), Room: earshot.Desk, From: h.options.Account, Body: earshot.Command{Name: "task", Args: "start look"}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(tenth) * 100 * time.Millisecond)
			synctest.Wait()
			told = slices.Contains(said(), result)
			left := filepath.Join(dir, "left")
			if err := os.CopyFS(left, os.DirFS(cfg.Store.Directory)); err != nil {
				t.Fatal(err)
			}
			h.end()
			cfg.Store.Directory = left
			h = running(t, cfg)
			come()
			time.Sleep(time.Minute)
			synctest.Wait()
			all := said() // of what it was about to say at the end, it is not known how much was heard
			if n := len(all); n == 0 || n > 2 || all[n-1] != result || n == 2 && all[0] == result {
				t.Errorf("ended after %d ms, it said %q", 100*tenth, all)
			}
			h.end()
		})
	}
}
