package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/testkit"
	"earshot/llm"
)

// TestOverheard: what is said aloud to nobody here is erased a day later, with every byte of it,
// whether earshot ran meanwhile or not. What was said to an agent, and the answer, stay. A house
// that is to keep everything for ever does.
func TestOverheard(t *testing.T) {
	for _, tt := range []struct {
		name     string
		hours    int // to keep it for; 0 is for ever
		restarts bool
		gone     bool
	}{{"by itself", 24, false, true}, {"after a restart", 24, true, true}, {"for longer", 48, false, false}, {"for ever", 0, true, false}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				script := filepath.Join(dir, "model.yaml")
				if err := os.WriteFile(script, []byte("reply: Saturday it is.\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				cfg := config.Default()
				cfg.Store.Directory = filepath.Join(dir, "journal")
				cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, script
				cfg.Store.Retention.Overheard = tt.hours
				var d *Daemon
				run := func() (end func()) {
					var err error
					if d, err = Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"}); err != nil {
						t.Fatal(err)
					}
					ctx, leave := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						if err := d.Run(ctx, nil); err != nil {
							t.Error(err)
						}
					}()
					return func() {
						leave()
						<-ended
						if err := d.store.Clean(context.WithoutCancel(ctx)); err != nil {
							t.Error(err)
						}
						if err := d.Close(); err != nil {
							t.Error(err)
						}
					}
				}
				says := func(text string) earshot.EventID {
					t.Helper()
					e := earshot.Event{
						ID: d.id(), At: time.Now(), From: earshot.Handle{Provider: "microphone", ID: "default"}, Via: "microphone", Room: earshot.Desk,
						Body: earshot.Utterance{Text: earshot.Text(text), Confidence: 0.9, Lasted: time.Second},
					}
					if err := d.Admit(t.Context(), e); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
					synctest.Wait()
					return e.ID
				}
				is := func(id earshot.EventID) earshot.Kind {
					e, _, err := d.store.Event(t.Context(), earshot.Desk, id)
					if err != nil {
						t.Fatal(err)
					}
					return e.Body.Kind()
				}
				end := run()
				aside := says("the surgery in Zanzibar is on friday")
				asked := says("Earshot, which day is good for the sea")
				more := says("Earshot, and for the mountains")
				time.Sleep(time.Hour)
				if tt.restarts {
					end()
					time.Sleep(24 * time.Hour)
					end = run()
					time.Sleep(time.Minute)
				} else {
					time.Sleep(24 * time.Hour)
				}
				synctest.Wait()
				if (is(aside) == earshot.KindErased) != tt.gone {
					t.Errorf("25 hours later what was overheard is %s", is(aside))
				}
				for _, id := range []earshot.EventID{asked, more} {
					if is(id) != earshot.KindUtterance {
						t.Errorf("what was said to it is %s", is(id))
					}
				}
				var answers []string
				for e, err := range d.store.Export(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					if r, ok := e.Body.(earshot.Reply); ok {
						answers = append(answers, string(r.Offered))
					}
					if tt.gone && slices.Contains(e.Sources, aside) {
						t.Errorf("a %s rests on what is gone", e.Body.Kind())
					}
				}
				if len(answers) != 2 || answers[0] != "Saturday it is." {
					t.Errorf("it answered %q", answers)
				}
				end()
				if is := fmt.Sprint(wordsIn(t, dir, "zanzibar", "surgery")); (is == "[]") != tt.gone {
					t.Errorf("there is left %s", is)
				}
			})
		})
	}
}

// wordsIn returns which words are left in which files below a folder, in any encoding.
func wordsIn(t *testing.T, dir string, words ...string) (found []string) {
	t.Helper()
	testkit.Files(t, dir, func(path string, data []byte) {
		for _, w := range words {
			if slices.ContainsFunc(testkit.Forms(w), func(form string) bool { return strings.Contains(strings.ToLower(string(data)), form) }) {
				found = append(found, w+" in "+filepath.Base(path))
			}
		}
	})
	return found
}
