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
	"earshot/participants"
	"earshot/participants/agents"
)

// TestEvery: what somebody wants by the clock is done in time, also after a restart, and once; when it
// cannot be done any more, they are told once.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := config.Default()
		cfg.Store.Directory = filepath.Join(dir, "journal")
		cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
		if err := os.WriteFile(cfg.Executive.LLM.Script, []byte("reply: Fine.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg.Executive.Task.Enabled = false
		h := running(t, cfg)
		every := func(args string) (string, error) {
			return h.deskRoom().Do(t.Context(), earshot.Event{ID: h.id(), Room: earshot.Desk, From: h.options.Account, Body: earshot.Command{Name: "every", Args: earshot.Text(args)}})
		}
		if _, err := every("day at 7:30 look"); err == nil || !strings.Contains(err.Error(), "tasks are off") {
			t.Errorf("without tasks: %v", err)
		}
		h.end()
		cfg.Executive.Task.Enabled = true
		h = running(t, cfg)
		if said, err := every("day at 7:30 zone=UTC tell me what is due"); err != nil || !strings.HasPrefix(said, "Set as number 1  day at 7:30: tell me what is due (next Sat 2000-01-01 07:30 UTC)") {
			t.Fatalf("%q, %v", said, err)
		}
		if said, err := every("day at 7:00 zone=UTC private look"); err != nil {
			t.Fatal(said, err)
		}
		alone := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{h.owner.ID}}
		for a, want := range map[*earshot.Audience]string{&alone: "next by the clock Sat 07:00 UTC", {Room: earshot.Desk, Unknown: true}: "next by the clock Sat 07:30 UTC", {Room: "kitchen"}: ""} {
			if is := h.work(t.Context(), *a); is != want {
				t.Errorf("to %+v is said %q, want %q", *a, is, want)
			}
		}
		if _, err := every("cancel 2"); err != nil {
			t.Fatal(err)
		}
		on := func() (all []string) {
			for e, err := range h.store.Export(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				switch b := e.Body.(type) {
				case earshot.Task:
					if b.Act == earshot.TaskDone {
						all = append(all, string(b.Text))
						continue
					}
					all = append(all, b.Due.UTC().Format("2 15:04")+" "+string(b.Text)+" for "+h.people.Name(e.To[0]))
				case earshot.Reminder:
					all = append(all, string(b.Text)+" says "+h.people.Name(e.Author))
				}
			}
			return all
		}
		pass := func(long time.Duration) { time.Sleep(long); synctest.Wait() }
		pass(8 * time.Hour)
		h.end()
		h = running(t, cfg)
		pass(24 * time.Hour)
		h.end()
		time.Sleep(72 * time.Hour) // missed
		h = running(t, cfg)
		pass(time.Minute)
		want := []string{"1 07:30 tell me what is due for ann", "Fine.", "2 07:30 tell me what is due for ann", "Fine.", "5 07:30 tell me what is due for ann", "Fine."}
		if got := on(); !slices.Equal(got, want) {
			t.Errorf("on record is %q", got)
		}
		works := func() bool {
			return slices.ContainsFunc(h.agents.List(), func(a agents.Record) bool { return a.Kind == earshot.PathCron })
		}
		if !works() {
			t.Error("no agent works by the clock")
		}
		h.end()
		cfg.Executive.Task.Enabled = false
		h = running(t, cfg)
		pass(48 * time.Hour)
		if got := on(); len(got) != len(want)+1 || !strings.Contains(got[len(want)], "what you wanted every day at 7:30 cannot be done: tasks are off") {
			t.Errorf("on record is %q", got)
		}
		if list, err := every(""); err != nil || !strings.Contains(list, "last skipped: tasks are off") {
			t.Errorf("listed is %q, %v", list, err)
		}
		if _, err := every("cancel 1"); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		if works() {
			t.Error("the agent of a schedule that is cancelled goes on")
		}
		h.end()
	})
}

// TestMergedWork: what somebody set who turned out to be the owner is the owner's to follow and to cancel,
// but is done with the rights that they had, before the merger and by their own account afterwards.
func TestMergedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := config.Default()
		cfg.Store.Directory = filepath.Join(dir, "journal")
		cfg.Executive.Task.Enabled = true
		cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
		cfg.ExternalActors.Actors = []participants.Actor{{ID: "bob", Type: participants.Human, Handles: []string{"console:2"}}}
		if err := os.WriteFile(cfg.Executive.LLM.Script, []byte("reply: Fine.\nrules:\n- {when: look, reply: I looked., calls: [{tool: list_files}]}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		h := running(t, cfg)
		do := func(account, name, args string) string {
			t.Helper()
			said, err := h.deskRoom().Do(t.Context(), earshot.Event{ID: h.id(), Room: earshot.Desk, From: earshot.Handle{Provider: "console", ID: account}, Body: earshot.Command{Name: name, Args: earshot.Text(args)}})
			if err != nil {
				return "error: " + err.Error()
			}
			return said
		}
		do("1", "every", "day at 7:30 zone=UTC rest")
		do("2", "every", "day at 8:00 zone=UTC look")
		if err := h.people.Merge(t.Context(), h.owner, h.owner.ID, "bob"); err != nil {
			t.Fatal(err)
		}
		do("2", "every", "day at 8:30 zone=UTC look again")
		do("2", "task", "start look around")
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		calls, done := 0, 0
		for e, err := range h.store.Export(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			switch b := e.Body.(type) {
			case earshot.Step:
				calls++
			case earshot.Task:
				if b.Act == earshot.TaskDone {
					done++
				}
			}
		}
		if calls > 0 || done != 4 {
			t.Errorf("%d tasks were done, in %d steps", done, calls)
		}
		for _, account := range []string{"1", "2"} {
			if list := do(account, "every", ""); !strings.HasPrefix(list, "1  day at 7:30: rest") || !strings.Contains(list, "\n2  day at 8:00: look (") || !strings.Contains(list, "\n3  day at 8:30: look again (") {
				t.Errorf("%s sees %q", account, list)
			}
		}
		if said := do("1", "every", "cancel 2"); said != "It is cancelled." {
			t.Error(said)
		}
		h.end()
	})
}

// morning is a script for a model that is asked to look through its notes every morning, and does.
const morning = `reply: "All is well."
rules:
- {when: look through my notes, replies: [{reply: I look., calls: [{tool: list_files}]}, {reply: The walrus-train comes at five.}]}
- {when: every morning, calls: [{tool: schedule, arguments: {every: "morning at 7:30 look through my notes and tell me what is due"}}]}
- {result: Set as number 1, reply: I will.}
`

// TestEveryMorning: asked to look through its notes every morning, the agent does so once each morning,
// also after a restart and when somebody is there again, and says what it cost. Forgotten, it is done no more, and no byte of it is left.
func TestEveryMorning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := config.Default()
		cfg.Store.Directory = filepath.Join(dir, "journal")
		cfg.Executive.Task.Enabled, cfg.Executive.Schedule.Zone = true, "UTC"
		cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
		if err := os.WriteFile(cfg.Executive.LLM.Script, []byte(morning), 0o600); err != nil {
			t.Fatal(err)
		}
		h := running(t, cfg)
		come := func(session string) (leave func()) {
			leave = h.AddOutlet(&testkit.Voice{Called: "console", Every: time.Millisecond})
			h.says(earshot.Presence{Session: session, Here: true})
			return leave
		}
		said := func() (all []string) {
			t.Helper()
			found, err := h.store.Lately(t.Context(), earshot.Desk, earshot.KindReply, 100, h.Audience())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range found {
				all = append(all, string(e.Body.(earshot.Reply).Delivered()))
			}
			return all
		}
		pass := func(long time.Duration) { time.Sleep(long); synctest.Wait() }
		leave := come("s")
		h.says(earshot.Message{Text: "look through your notes every morning and tell me what is due"})
		pass(8 * time.Hour)
		leave()
		h.end()
		h = running(t, cfg)
		pass(24 * time.Hour) // nobody is there
		h.end()
		h = running(t, cfg)
		pass(time.Hour)
		leave = come("t")
		pass(2 * time.Hour)
		all := said()
		if len(all) != 3 || all[0] != "I will." {
			t.Fatalf("it said %q", all)
		}
		for i, day := range []string{"Sat", "Sun"} {
			if got := all[i+1]; !strings.HasPrefix(got, `The task "look through my notes and tell me what is due" (`+day+" 07:30, ") || !strings.HasSuffix(got, " tokens) is done: The walrus-train comes at five.") {
				t.Errorf("on %s it said %q", day, got)
			}
		}
		p, err := h.eraser.Preview(t.Context(), h.owner, api.EraseRequest{Who: "me"})
		if err == nil {
			_, err = h.eraser.Erase(t.Context(), h.owner, api.EraseRequest{Who: "me", Digest: p.Digest})
		}
		if err == nil {
			err = h.eraser.Clean(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		pass(24 * time.Hour)
		if all := said(); len(all) > 0 {
			t.Errorf("afterwards it said %q", all)
		}
		leave()
		h.end()
		testkit.Files(t, cfg.Store.Directory, func(path string, data []byte) {
			for _, word := range []string{"walrus-train", "my notes", "your notes"} {
				if bytes.Contains(data, []byte(word)) {
					t.Errorf("%s still has %q", path, word)
				}
			}
		})
	})
}
