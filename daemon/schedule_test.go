package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/config"
	"earshot/llm"
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
			return h.desk.Do(t.Context(), earshot.Event{ID: h.id(), Room: earshot.Desk, From: h.options.Account, Body: earshot.Command{Name: "every", Args: earshot.Text(args)}})
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
		for a, want := range map[*earshot.Audience]string{&alone: "07:00", {Room: earshot.Desk, Unknown: true}: "07:30", {Room: "kitchen"}: ""} {
			if is := h.work(t.Context(), *a); (is == nil) != (want == "") || is != nil && is.Next.UTC().Format("15:04") != want {
				t.Errorf("to %+v is said %+v, want %s", *a, is, want)
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
		if got := on(); len(got) != len(want)+1 || !strings.Contains(got[len(want)], "what you wanted day at 7:30 cannot be done: tasks are off") {
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
