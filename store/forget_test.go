package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// TestAside: files that were set aside are removed, and files that somebody put beside the journal
// are not, whatever the folder is called.
func TestAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of [ann]")
	s := open(t, store.Config{Directory: dir})
	want := []string{"earshot.db.damaged-20260102T030405Z", "earshot.db.replaced-20260102T030405Z-2"}
	for _, name := range append([]string{"earshot.db.bak", "earshot.db.salvage", "copy of earshot.db"}, want...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("words"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, path := range store.Aside(dir) {
		got = append(got, filepath.Base(path))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q go, want %q", got, want)
	}
	if err := s.ForgetAside(); err != nil || len(store.Aside(dir)) > 0 {
		t.Errorf("%q are left, %v", store.Aside(dir), err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "earshot.db.bak")); err != nil || string(data) != "words" {
		t.Errorf("what somebody keeps there has %q, %v", data, err)
	}
}

// by returns an event of somebody, with an ID that says what it is.
func by(id earshot.EventID, who earshot.ParticipantID, body earshot.Body, sources ...earshot.EventID) earshot.Event {
	e := said("")
	e.ID, e.Author, e.Body, e.Sources = id, who, body, sources
	return e
}

// only returns e, private to some members.
func only(e earshot.Event, members ...earshot.ParticipantID) earshot.Event {
	e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: members}
	return e
}

// household adds the events of two people, a voice and an agent, with IDs that say what they are.
func household(t testing.TB, s *store.Store) {
	t.Helper()
	later := func(e earshot.Event, hours int) earshot.Event {
		e.At = e.At.Add(time.Duration(hours) * time.Hour)
		return e
	}
	reminds := by("reminds", "agent", earshot.Reminder{Act: earshot.Created, Due: began, Text: "tea"})
	reminds.To = []earshot.ParticipantID{"ann"}
	elsewhere := by("elsewhere", "ann", earshot.Message{Text: "in the kitchen"})
	elsewhere.Room = "kitchen"
	add(t, s,
		by("ann", "ann", earshot.Message{Text: "I am here"}),
		by("bob", "bob", earshot.Message{Text: "so am I"}),
		by("decides", "agent", earshot.Decision{About: "ann", Agent: "agent", Verdict: earshot.Speak, Turn: "t1"}, "ann"),
		by("answers", "agent", earshot.Reply{Turn: "t1", About: "ann", Outcome: earshot.Completed, Offered: "hello ann"}, "ann"),
		by("answers bob", "agent", earshot.Reply{Turn: "t2", About: "bob", Outcome: earshot.Completed, Offered: "hello both"}, "ann", "bob"),
		by("answers bob alone", "agent", earshot.Reply{Turn: "t3", About: "bob", Outcome: earshot.Completed, Offered: "hello bob"}, "bob"),
		by("thinks", "agent", earshot.Thought{Text: "ann is here"}, "ann"),
		by("finds", "agent", earshot.Finding{Text: "ann is in"}, "thinks"),
		by("heard", "ann", earshot.Utterance{Text: "that was bob"}),
		by("heard too", "", earshot.Utterance{Text: "that was ann"}),
		by("whose", "ann", earshot.Attribution{Of: "heard", Author: "bob", By: "ann"}, "heard"),
		by("whose too", "bob", earshot.Attribution{Of: "heard too", Author: "voice_1", By: "bob"}, "heard too"),
		only(by("to ann alone", "bob", earshot.Message{Text: "a secret"}), "ann", "bob"),
		only(by("to ann and carl", "bob", earshot.Message{Text: "another"}), "ann", "bob", "carl"),
		only(by("to ann and the agent", "bob", earshot.Message{Text: "a third"}), "ann", "bob", "agent"),
		reminds,
		by("is", "", earshot.Actor{Act: earshot.Created, Participant: "ann", Name: "Ann"}),
		by("merges", "owner", earshot.Actor{Act: earshot.Merged, Participant: "voice_1", Into: "ann"}),
		by("is bob", "ann", earshot.Actor{Act: earshot.Renamed, Participant: "bob", Name: "Bob"}),
		by("mutes", "ann", earshot.ModeChange{Mode: earshot.Muted}),
		elsewhere,
		later(by("later", "ann", earshot.Memo{Text: "much later"}), 5),
	)
}

// TestSelect: a person's events go with everything made from them, and nothing else does.
func TestSelect(t *testing.T) {
	ann := []earshot.ParticipantID{"ann", "voice_1"}
	agent := []earshot.ParticipantID{"agent"}
	for _, tt := range []struct {
		name, meant, derived string
		sel                  store.Selection
	}{
		{"a person", "ann heard too to ann alone to ann and the agent reminds is merges elsewhere later",
			"decides answers answers bob thinks finds whose too", store.Selection{People: ann, Agents: agent}},
		{"in one room", "elsewhere", "", store.Selection{People: ann, Agents: agent, Room: "kitchen"}},
		{"from a time on", "later", "", store.Selection{People: ann, Agents: agent, From: began.Add(time.Hour)}},
		{"until a sequence", "ann", "decides answers answers bob thinks finds", store.Selection{People: ann, Agents: agent, Until: 2}},
		{"a span", "later", "", store.Selection{From: began.Add(time.Hour), To: began.Add(9 * time.Hour)}},
		{"messages of a room", "elsewhere", "", store.Selection{Room: "kitchen", Kinds: []earshot.Kind{earshot.KindMessage}}},
		{"what says how a room is, if it is asked for", "mutes", "", store.Selection{Kinds: []earshot.Kind{earshot.KindMode}}},
		{"one event", "bob", "answers bob answers bob alone", store.Selection{Events: []earshot.EventID{"bob", "nobody"}}},
		{"one event, if it is theirs", "", "", store.Selection{Events: []earshot.EventID{"bob"}, People: ann, Agents: agent}},
		{"one event that is", "heard too", "whose too", store.Selection{Events: []earshot.EventID{"heard too", "bob"}, People: ann, Agents: agent}},
		{"a handle of nobody", "heard too is", "whose too", store.Selection{Handle: earshot.Handle{Provider: "console", ID: "uid1000"}, Kinds: []earshot.Kind{earshot.KindUtterance, earshot.KindActor}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, store.Config{})
			household(t, s)
			all, err := s.Select(t.Context(), tt.sel)
			must(t, err)
			var meant, derived []string
			for _, d := range all {
				if d.Derived {
					derived = append(derived, string(d.ID))
				} else {
					meant = append(meant, string(d.ID))
				}
			}
			if got := strings.Join(meant, " "); got != tt.meant {
				t.Errorf("meant are %q, want %q", got, tt.meant)
			}
			if got := strings.Join(derived, " "); got != tt.derived {
				t.Errorf("derived are %q, want %q", got, tt.derived)
			}
			was := everything(t, s)
			var told []earshot.EventID
			n, err := s.Forget(t.Context(), tt.sel, func(some []store.SelectedEvent) {
				for _, d := range some {
					told = append(told, d.ID)
				}
			})
			if err != nil || n != len(all) || len(told) != n {
				t.Errorf("forgot %d, %v, and was told of %d; want %d", n, err, len(told), len(all))
			}
			for i, e := range everything(t, s) {
				gone := slices.ContainsFunc(all, func(d store.SelectedEvent) bool { return d.ID == e.ID })
				if gone != (e.Body.Kind() == earshot.KindErased) || !gone && fmt.Sprint(e) != fmt.Sprint(was[i]) {
					t.Errorf("%s is %+v, and was %+v", e.ID, e, was[i])
				}
			}
			if n, err := s.Forget(t.Context(), tt.sel, nil); n != 0 || err != nil {
				t.Errorf("forgot %d again, %v", n, err)
			}
		})
	}
}

// TestForgetLeavesNoTrace: no byte of what somebody said, or of what was made from it, is left in
// any file. Everything that others said is still found.
func TestForgetLeavesNoTrace(t *testing.T) {
	s := open(t, store.Config{})
	long := strings.Repeat("Quetzalcoatl rides the Wyvern. ", 400) // long enough for overflow pages
	for i := range 40 {
		id := func(what string) earshot.EventID { return earshot.EventID(fmt.Sprint(what, i)) }
		add(t, s,
			by(id("m"), "ann", earshot.Message{Text: earshot.Text(fmt.Sprintf("the quetzalcoatl number%d of the wyvern %s", i, long[:i*40]))}),
			by(id("r"), "agent", earshot.Reply{Turn: "t", About: id("m"), Offered: "a Quetzalcoatl, and a Wyvern?", Heard: []earshot.Delivery{{Bytes: 20}}}, id("m")),
			by(id("t"), "agent", earshot.Thought{Text: "quetzalcoatl, again"}, id("m")),
			by(id("f"), "agent", earshot.Finding{Text: "wyvern and quetzalcoatl are one"}, id("t")),
			by(id("n"), "agent", earshot.Edit{Act: earshot.Created, Field: "notes", Text: "a wyvern"}, id("m")),
			by(id("u"), "agent", earshot.Use{Tool: "recall", Arguments: `{"query":"wyvern"}`, Result: "Quetzalcoatl"}, id("m")),
			by(id("b"), "bob", earshot.Message{Text: earshot.Text(fmt.Sprintf("the marmalade number%d", i))}),
		)
	}
	directory := filepath.Dir(s.Path())
	words := []string{"quetzal", "wyvern", "uetzalc"}
	if len(traces(t, directory, words)) == 0 {
		t.Fatal("nothing is found before it is forgotten: the test looks in the wrong way")
	}
	n, err := s.Forget(t.Context(), store.Selection{People: []earshot.ParticipantID{"ann"}}, nil)
	if err != nil || n != 240 {
		t.Fatalf("forgot %d, %v", n, err)
	}
	must(t, s.Clean(t.Context()))
	if found := traces(t, directory, words); len(found) > 0 {
		t.Errorf("traces: %v", found)
	}
	if found, err := s.For(everybody).Search(t.Context(), "marmalade", 100); err != nil || len(found) != 40 {
		t.Errorf("of what somebody else said %d are left, %v", len(found), err)
	}
}

// TestForgetWhileOthersWrite: events of concurrent writers are neither lost nor erased, except what
// is made from an erased event.
func TestForgetWhileOthersWrite(t *testing.T) {
	s := open(t, store.Config{})
	const n = 60
	for i := range n {
		add(t, s, by(earshot.EventID(fmt.Sprint("ann", i)), "ann", earshot.Message{Text: "going"}))
	}
	forget := func() error {
		_, err := s.Forget(t.Context(), store.Selection{People: []earshot.ParticipantID{"ann"}, Until: n}, nil)
		return err
	}
	done := make(chan error, 1)
	go func() { done <- forget() }()
	for i := range n {
		add(t, s,
			by(earshot.EventID(fmt.Sprint("bob", i)), "bob", earshot.Message{Text: "staying"}),
			by(earshot.EventID(fmt.Sprint("of ann", i)), "agent", earshot.Message{Text: "made of it"}, earshot.EventID(fmt.Sprint("ann", i))),
			by(earshot.EventID(fmt.Sprint("later", i)), "ann", earshot.Message{Text: "came later"}))
	}
	must(t, testkit.Receive(t, testkit.Patience, "what is forgotten meanwhile", done))
	must(t, forget())
	for _, e := range everything(t, s) {
		gone := e.Body.Kind() == earshot.KindErased
		stays := strings.HasPrefix(string(e.ID), "bob") || strings.HasPrefix(string(e.ID), "later")
		if gone == stays {
			t.Errorf("%s is %s", e.ID, e.Body.Kind())
		}
	}
}

// A lookout is a view that sees each event in the step that keeps or erases it.
type lookout func(earshot.Event)

func (lookout) Name() string                          { return "lookout" }
func (lookout) Version() int                          { return 1 }
func (lookout) Create(context.Context, *sql.Tx) error { return nil }
func (lookout) Reset(context.Context, *sql.Tx) error  { return nil }

func (see lookout) Apply(_ context.Context, _ *sql.Tx, e earshot.Event) error {
	see(e)
	return nil
}

// TestForgetCutShort: whenever erasing is cut short, it has reported exactly the erased events.
// Otherwise what is kept about them beside the journal would stay for ever.
func TestForgetCutShort(t *testing.T) {
	var cut context.CancelFunc
	after := 0
	s := open(t, store.Config{Projections: []earshot.Projection{lookout(func(e earshot.Event) {
		if e.Body.Kind() != earshot.KindErased {
			return
		}
		if after--; after == 0 {
			cut()
		}
	})}})
	ways := map[string]func(ctx context.Context, each func([]store.SelectedEvent)) (int, error){
		"forget": func(ctx context.Context, each func([]store.SelectedEvent)) (int, error) {
			return s.Forget(ctx, store.Selection{People: []earshot.ParticipantID{"ann"}}, each)
		},
		"expire": func(ctx context.Context, each func([]store.SelectedEvent)) (int, error) {
			return s.Expire(ctx, store.Retention{Message: 1}, began.AddDate(0, 0, 2), each)
		},
	}
	for name, forget := range ways {
		for round := range 3 {
			ids := make(map[earshot.EventID]bool)
			var all []earshot.Event
			for n := range 12 {
				id := earshot.EventID(fmt.Sprint(name, round, "-", n))
				ids[id] = true
				all = append(all, by(id, "ann", earshot.Message{Text: "going"}))
			}
			add(t, s, all...)
			ctx, cancel := context.WithCancel(t.Context())
			cut, after = cancel, 1+5*round
			told := make(map[earshot.EventID]bool)
			n, err := forget(ctx, func(some []store.SelectedEvent) {
				for _, d := range some {
					told[d.ID] = true
				}
			})
			cancel()
			if n != len(told) || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s told of %d, and returned %d, %v", name, len(told), n, err)
			}
			add(t, s, by(earshot.EventID(fmt.Sprint(name, round, " after")), "bob", earshot.Message{Text: "staying"}))
			for _, e := range everything(t, s) {
				if gone := e.Body.Kind() == earshot.KindErased; ids[e.ID] && gone != told[e.ID] {
					t.Errorf("%s was cut short: %s is erased: %v, and that was told: %v", name, e.ID, gone, told[e.ID])
				}
			}
			if _, err := forget(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCleanCutShort: the caller that removes the last traces may give up at any time.
func TestCleanCutShort(t *testing.T) {
	s := open(t, store.Config{})
	for n := range 400 {
		ctx, cut := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			for range n % 100 { // cut after a varying delay
				runtime.Gosched()
			}
			cut()
		})
		if err := s.Clean(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		testkit.Finish(t, 5*testkit.Patience, "the end of what is written", all.Wait)
	}
}
