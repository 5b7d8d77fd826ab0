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
	"sync"
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

// A shelf is what an indexer works on, and how it is for it.
type shelf struct {
	mu      sync.Mutex
	set     executive.Config
	pending int
	rests   bool
	talks   bool
	fault   error // of every request
	grown   chan struct{}
	began   time.Time // since when times are counted
	asked   []string  // when, in seconds
}

// change changes something.
func (s *shelf) change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
}

// now returns something.
func now[T any](s *shelf, is func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return is()
}

// indexer returns an indexer that works on the shelf.
func (s *shelf) indexer(t *testing.T) *Indexer {
	return &Indexer{
		Settings: func() executive.Config { return now(s, func() executive.Config { return s.set }) },
		Rests:    func() bool { return now(s, func() bool { return s.rests }) },
		Still:    func() bool { return now(s, func() bool { return !s.talks }) },
		Grown:    func() <-chan struct{} { return now(s, func() chan struct{} { return s.grown }) },
		Log:      slog.New(slog.DiscardHandler),
		Pending: func(_ context.Context, model string, n int) (of []earshot.Event, texts []earshot.Text, _ error) {
			if model != " mini" {
				t.Errorf("of the model %q", model)
			}
			for range min(n, now(s, func() int { return s.pending })) {
				of, texts = append(of, earshot.Event{}), append(texts, earshot.Text(strings.Repeat("ä", 500)))
			}
			return of, texts, nil
		},
		Embed: func(_ context.Context, _, model string, p llm.Priority, texts []string) ([][]float32, error) {
			if model != "mini" || p != llm.Memory || len(texts) > llm.MaxTexts || texts[0] != strings.Repeat("ä", 240) {
				t.Errorf("%s, %v, %d texts %q", model, p, len(texts), texts[0])
			}
			s.change(func() { s.asked = append(s.asked, fmt.Sprint(time.Since(s.began).Seconds())) })
			time.Sleep(time.Second)
			if fault := now(s, func() error { return s.fault }); fault != nil {
				return nil, fault
			}
			return make([][]float32, len(texts)), nil
		},
		Keep: func(_ context.Context, _ string, of []earshot.Event, all [][]float32) error {
			if len(of) != len(all) {
				t.Errorf("%d vectors of %d events", len(all), len(of))
			}
			s.change(func() { s.pending -= len(all) })
			return nil
		},
	}
}

// TestIndexer: vectors are made when nothing was said for a while and nobody talks, a few at a time and a
// tenth of the time at most; after a failure it waits; without a model, or on battery, it does nothing.
func TestIndexer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{grown: make(chan struct{}), pending: 20, began: time.Now()}
		s.set.Enabled, s.set.Recall.Enabled, s.set.Recall.Embedding.Model = true, true, "mini"
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.indexer(t).Run(ctx)
		}()
		// say has something put on record, from when on times are counted.
		say := func(how func()) {
			s.change(func() {
				how()
				s.began = time.Now()
				close(s.grown)
				s.grown = make(chan struct{})
			})
			synctest.Wait()
		}
		// want lets time pass, and checks when vectors were asked for.
		want := func(what string, pass time.Duration, times string) {
			t.Helper()
			time.Sleep(pass)
			synctest.Wait()
			s.change(func() {
				if got := strings.Join(s.asked, " "); got != times {
					t.Errorf("%s: asked at %s; want %s", what, got, times)
				}
				s.asked = nil
			})
		}
		want("at first", time.Minute, "10 20 30")
		say(func() { s.pending = 1 })
		want("while people talk", 5*time.Second, "")
		say(func() {})
		want("while they go on", 5*time.Second, "")
		want("afterwards", time.Hour, "10")
		say(func() { s.pending, s.talks = 1, true })
		want("while somebody waits", 25*time.Second, "")
		s.change(func() { s.talks = false })
		want("when nobody waits any more", time.Minute, "30")
		say(func() { s.pending, s.fault = 1, llm.ErrParked })
		want("while it fails", 2*time.Minute, "10 71")
		s.change(func() { s.fault = nil })
		want("when it fails no more", time.Hour, "132")
		say(func() { s.pending, s.fault = 2, &llm.Error{Fault: llm.Broken} })
		want("of what nothing can be made", time.Hour, "10 71 81 142")
		s.change(func() { s.fault = nil })
		for _, off := range []func(is bool){
			func(is bool) { s.rests = is }, func(is bool) { s.set.Recall.Enabled = !is },
			func(is bool) { s.set.Recall.Embedding.Model = map[bool]string{false: "mini"}[is] },
		} {
			say(func() {
				s.pending = 1
				off(true)
			})
			want("when it is not to", 605*time.Second, "")
			s.change(func() { off(false) })
			want("when it is to again", 10*time.Minute, "610")
			say(func() {})
		}
		end()
		<-ended
	})
}
