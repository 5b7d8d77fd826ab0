package recall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/llm"
	"earshot/participants"
)

// silent is a model that fails, so that what was found is the answer.
var silent = model(func(*llm.Request) (string, error) { return "", errors.New("it is gone") })

// TestMeaning: what only means the same is found, of what is remembered only what holds, and nothing that
// the audience may not know; without the vectors, words are enough.
func TestMeaning(t *testing.T) {
	fact := func(id, replaces string, text earshot.Text, until time.Time) earshot.Event {
		e := message(id, public, "")
		e.Body = earshot.Fact{Text: text, Confidence: 1, Since: noon, Replaces: earshot.EventID(replaces), Until: until}
		return e
	}
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"bob", "main"}}
	all := []earshot.Event{
		message("far", public, "the locomotive leaves at five"), message("secret", private, "the locomotive of bob"),
		fact("old", "", "Ann lives in Quelau.", time.Time{}), fact("now", "old", "Ann lives in Torvau.", time.Time{}), fact("past", "", "Ann is in Branau.", noon.Add(-time.Hour)),
		message("q", public, "when is my train?"),
	}
	index := memory.NewIndex()
	for _, e := range all {
		index.Take(e, noon)
	}
	r, _ := searcher(journal{message("near", public, "no train today")}, silent)
	r.Facts = index
	r.Nearest = func(_ context.Context, _ earshot.Audience, question string, _ int) ([]earshot.Event, error) {
		if question != "When is my train?" {
			t.Errorf("asked %q", question)
		}
		return all, nil
	}
	s := tool.Scope{About: "q", Visibility: public, Audience: earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}.With("main")}
	a, err := ask(t, r, s, "When is my train?")
	slices.Sort(a.Sources)
	if err != nil || fmt.Sprint(a.Sources) != "[far near now]" || !strings.Contains(string(a.Text), "remembered: Ann lives in Torvau") {
		t.Errorf("%q from %v, %v", string(a.Text), a.Sources, err)
	}
	synctest.Test(t, func(t *testing.T) {
		r.Nearest = func(ctx context.Context, _ earshot.Audience, _ string, _ int) ([]earshot.Event, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		began := time.Now()
		if a, err := ask(t, r, s, "When is my train?"); err != nil || fmt.Sprint(a.Sources) != "[near]" || time.Since(began) != patience {
			t.Errorf("without vectors: %v, %v, after %v", a.Sources, err, time.Since(began))
		}
	})
}

// TestFiles: files are searched only if everybody who asks may use tools, and the answer rests on what they
// were made from.
func TestFiles(t *testing.T) {
	r, _ := searcher(journal{}, silent)
	r.Files = &workspace.Store{Dir: t.TempDir()}
	dir := filepath.Join(r.Files.Dir, "owner", "agent", "main")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	may := participants.Participant{ID: "ann", Capabilities: []participants.Capability{participants.SendMessages, participants.UseTools}}
	s := tool.Scope{Home: "/owner/agent/main", Room: earshot.Desk, Visibility: public, Budget: new(tool.Budget), Askers: []participants.Participant{may}, Rests: func() []earshot.EventID { return []earshot.EventID{"source"} }}
	if o := r.Files.Tools().Do(t.Context(), s, llm.Call{Tool: "write_file", Arguments: []byte(`{"path":"trains","content":"Ann's train is at five.\n\nBob is late."}`)}); o.Use.Failed {
		t.Fatal(string(o.Use.Result))
	}
	for _, is := range []struct {
		askers []participants.Participant
		want   string
	}{
		{s.Askers, "the file trains: Ann's train is at five.\n"},
		{nil, "Nothing was found. Say that you do not know."},
		{[]participants.Participant{may, {ID: "bob", Capabilities: may.Capabilities[:1]}}, "Nothing was found. Say that you do not know."},
		{[]participants.Participant{may, {Capabilities: may.Capabilities}}, "Nothing was found. Say that you do not know."},
	} {
		s.Askers = is.askers
		a, err := ask(t, r, s, "When is the train?")
		if err != nil || !strings.Contains(string(a.Text), is.want) || (len(a.Sources) > 0) != strings.HasPrefix(is.want, "the file") || len(a.Sources) > 0 && a.Sources[0] != "source" {
			t.Errorf("%d askers: %q from %v, %v", len(is.askers), string(a.Text), a.Sources, err)
		}
	}
}

// TestFiller: vectors are made when nothing was said for a while and nobody talks, a few at a time and a
// tenth of the time at most; after a failure it waits; without a model, or on battery, it does nothing.
func TestFiller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set executive.Config
		set.Enabled, set.Recall.Enabled, set.Recall.Embedding.Model = true, true, "mini"
		grown := make(chan struct{})
		pending, rests, still := 20, false, true
		var fault error // of every request
		var asked []time.Duration
		began := time.Now()
		f := &Filler{
			Settings: func() executive.Config { return set }, Rests: func() bool { return rests }, Still: func() bool { return still },
			Grown: func() <-chan struct{} { return grown }, Log: slog.New(slog.DiscardHandler),
			Pending: func(_ context.Context, model string, n int) (of []earshot.Event, texts []earshot.Text, _ error) {
				if model != " mini" {
					t.Errorf("of the model %q", model)
				}
				for range min(n, pending) {
					of, texts = append(of, earshot.Event{}), append(texts, earshot.Text(strings.Repeat("ä", 500)))
				}
				return of, texts, nil
			},
			Embed: func(_ context.Context, _, model string, p llm.Priority, texts []string) ([][]float32, error) {
				asked = append(asked, time.Since(began))
				if model != "mini" || p != llm.Memory || len(texts) > llm.MaxTexts || texts[0] != strings.Repeat("ä", 240) {
					t.Errorf("%s, %v, %d texts %q", model, p, len(texts), texts[0])
				}
				if time.Sleep(time.Second); fault != nil {
					return nil, fault
				}
				return make([][]float32, len(texts)), nil
			},
			Keep: func(_ context.Context, _ string, of []earshot.Event, all [][]float32) error {
				if pending -= len(all); len(of) != len(all) {
					t.Errorf("%d vectors of %d events", len(all), len(of))
				}
				return nil
			},
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Run(ctx)
		}()
		want := func(what, times string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for _, d := range asked {
				got = append(got, fmt.Sprint(d.Seconds()))
			}
			if asked = nil; strings.Join(got, " ") != times {
				t.Errorf("%s: asked at %v; want %s", what, got, times)
			}
		}
		say := func() { // from here on, time counts anew
			began = time.Now()
			close(grown)
			grown = make(chan struct{})
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		want("at first", "10 20 30")
		pending = 1
		say()
		time.Sleep(5 * time.Second)
		say()
		time.Sleep(5 * time.Second)
		want("while people talk", "")
		time.Sleep(time.Hour)
		want("afterwards", "10")
		pending, still = 1, false
		say()
		time.Sleep(25 * time.Second)
		still = true
		time.Sleep(time.Minute)
		want("when nobody waits any more", "30")
		pending, fault = 1, llm.ErrParked
		say()
		time.Sleep(2 * time.Minute)
		fault = nil
		time.Sleep(time.Hour)
		want("after failures", "10 71 132")
		pending, fault = 2, &llm.Error{Fault: llm.Broken}
		say()
		time.Sleep(time.Hour)
		want("what nothing can be made of is not asked for again", "10 71 81 142")
		fault = nil
		for _, set := range []func(bool){func(is bool) { rests = is }, func(is bool) { set.Recall.Embedding.Model = map[bool]string{false: "mini"}[is] }, func(is bool) { set.Recall.Enabled = !is }} {
			pending = 1
			set(true)
			say()
			time.Sleep(time.Hour)
			want("when it is not to", "")
			set(false)
			time.Sleep(time.Hour)
			synctest.Wait()
			asked = nil
		}
		end()
		<-ended
	})
}
