package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/store"
)

// heeded is a reason for a decision that counts as something done for the speaker.
const heeded = "it tells me to stop"

// newVoice is a reason for a decision by which an agent spoke without answering anybody.
const newVoice = "somebody new must know that what is said is written down"

// aloud returns an utterance to some, made a number of hours before began.
func aloud(id earshot.EventID, hours int, text earshot.Text, to ...earshot.ParticipantID) earshot.Event {
	e := by(id, "", earshot.Utterance{Text: text})
	e.At, e.To, e.From = began.Add(-time.Duration(hours)*time.Hour), to, earshot.Handle{Provider: "microphone"}
	return e
}

// decided returns an agent's decision about an event.
func decided(about earshot.EventID, verdict earshot.Verdict, reasons ...string) earshot.Event {
	return by("decided "+about, "agent", earshot.Decision{About: about, Agent: "agent", Verdict: verdict, Reasons: reasons}, about)
}

// left returns the IDs of the events that are not erased.
func left(t testing.TB, s *store.Store) (ids []earshot.EventID) {
	t.Helper()
	for _, e := range everything(t, s) {
		if e.Body.Kind() != earshot.KindErased {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// TestLapse: after its time, what was said aloud and meant for no agent is erased, with everything
// made from it unasked. What was said to an agent, answered or done for somebody stays, but loses
// the erased events as sources.
func TestLapse(t *testing.T) {
	heard := aloud("overheard", 25, "the surgery is on friday")
	for _, tt := range []struct {
		name   string
		events []earshot.Event
		gone   string // the IDs
	}{
		{"nobody was spoken to", []earshot.Event{heard, decided("overheard", earshot.Silent, "it was said aloud, and not to me")}, "overheard,decided overheard"},
		{"no decision is known", []earshot.Event{heard}, "overheard"},
		{"it is younger", []earshot.Event{aloud("young", 23, "words")}, ""},
		{"it is for an agent", []earshot.Event{aloud("asked", 25, "what time is it", "agent"), decided("asked", earshot.Silent, "I was asked to be quiet")}, ""},
		{"it was answered unasked", []earshot.Event{heard, decided("overheard", earshot.Speak, "the room was asked"), by("reply", "agent", earshot.Reply{About: "overheard"}, "overheard")}, ""},
		{"a voice that is new was told what is written down", []earshot.Event{heard, decided("overheard", earshot.Speak, newVoice), by("notice", "agent", earshot.Reply{About: "overheard"}, "overheard")}, "overheard,decided overheard,notice"},
		{"it stopped the agent", []earshot.Event{heard, decided("overheard", earshot.Silent, heeded)}, ""},
		{"it silenced the agent for a while", []earshot.Event{heard, by("snooze", "ann", earshot.Snooze{Until: began}, "overheard")}, ""},
		{"it was written", []earshot.Event{by("written", "ann", earshot.Message{Text: "hello all"})}, ""},
		{"whose it was", []earshot.Event{heard, by("whose", "", earshot.Attribution{Of: "overheard"}, "overheard")}, "overheard,whose"},
		{"a correction of it", []earshot.Event{heard, by("edit", "ann", earshot.Edit{Act: earshot.Changed, Item: "overheard", Text: "surgery"}, "overheard")}, "overheard,edit"},
		{"what was thought of it unasked, and found, and said", []earshot.Event{heard,
			by("question", "ann", earshot.Message{Text: "tides"}),
			by("thought", "agent", earshot.Thought{Cause: earshot.ByNovelty, Text: "surgery"}, "question", "overheard"),
			by("finding", "agent", earshot.Finding{Thought: "thought", Text: "surgery"}, "question", "thought"),
			by("said", "agent", earshot.Reply{Offered: "surgery"}, "finding", "question"),
		}, "overheard,thought,finding,said"},
		{"what was thought for somebody meanwhile", []earshot.Event{heard,
			by("thought", "agent", earshot.Thought{Cause: earshot.ByCommand, Text: "tides"}, "overheard"),
			by("finding", "agent", earshot.Finding{Thought: "thought", Text: "tides"}, "overheard", "thought"),
		}, "overheard"},
		{"what it itself made somebody think of", []earshot.Event{heard,
			by("thought", "agent", earshot.Thought{Cause: earshot.ByTrigger, About: "overheard", Text: "surgery"}, "overheard"),
			by("finding", "agent", earshot.Finding{Thought: "thought", Text: "surgery"}, "overheard", "thought"),
		}, "overheard,thought,finding"},
		{"an answer in whose prompt it stood, and what was done for that", []earshot.Event{heard,
			aloud("asked", 25, "remind me of the tides", "agent"), decided("asked", earshot.Speak),
			by("use", "agent", earshot.Use{Tool: "remind"}, "overheard", "asked"),
			by("reminder", "agent", earshot.Reminder{Act: earshot.Created, Text: "tides"}, "overheard", "asked"),
			by("reply", "agent", earshot.Reply{About: "asked", Offered: "I will"}, "overheard", "asked"),
		}, "overheard"},
		{"what was done among what was overheard alone", []earshot.Event{heard, aloud("more", 25, "and more"),
			by("use", "agent", earshot.Use{Tool: "write", Arguments: "surgery"}, "overheard", "more"),
		}, "overheard,more,use"},
		{"an answer that rests on what was thought of it", []earshot.Event{heard,
			by("question", "ann", earshot.Message{Text: "tides"}),
			by("thought", "agent", earshot.Thought{Cause: earshot.ByNovelty, Text: "surgery"}, "overheard"),
			by("reply", "agent", earshot.Reply{About: "question", Offered: "at noon"}, "thought", "question"),
		}, "overheard,thought"},
		{"in another room", []earshot.Event{func() earshot.Event { e := heard; e.Room = "kitchen"; return e }()}, "overheard"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, store.Config{Heeded: []string{heeded}, Unheeded: []string{newVoice}})
			add(t, s, tt.events...)
			var first []earshot.EventID
			told := 0
			n, err := s.Lapse(t.Context(), began.Add(-24*time.Hour), func(ids []earshot.EventID) error { first = append(first, ids...); return nil },
				func(some []store.SelectedEvent) { told += len(some) })
			if err != nil {
				t.Fatal(err)
			}
			var gone []string
			is := left(t, s)
			for _, e := range tt.events {
				if !slices.Contains(is, e.ID) {
					gone = append(gone, string(e.ID))
				}
			}
			if got := strings.Join(gone, ","); got != tt.gone || n != len(gone) || told != n {
				t.Errorf("%s went, %d as it says, %d told; want %s", got, n, told, tt.gone)
			}
			slices.Sort(gone)
			slices.Sort(first)
			if fmt.Sprint(first) != fmt.Sprint(gone) {
				t.Errorf("before it was told of %v; %v went", first, gone)
			}
			for _, e := range everything(t, s) {
				for _, source := range e.Sources {
					if slices.Contains(gone, string(source)) {
						t.Errorf("%s still rests on %s", e.ID, source)
					}
				}
			}
			if tt.gone == "" {
				return
			}
			// Forgetting for good reason still takes along what rests on the forgotten event.
			if slices.Contains(is, "reply") && slices.Contains(is, "asked") {
				if _, err := s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{"asked"}}, nil); err != nil || slices.Contains(left(t, s), "reply") {
					t.Errorf("the reply does not go with the question: %v", err)
				}
			}
			if again, err := s.Lapse(t.Context(), began.Add(-24*time.Hour), nil, nil); again != 0 || err != nil {
				t.Errorf("a second time %d went, %v", again, err)
			}
		})
	}
}

// TestLapseProperty: things are said, answered and thought in any order, and the lapse is cut short
// and the store reopened any number of times. Nothing said to an agent is erased, and no byte of
// what was overheard too long ago is left.
func TestLapseProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 7))
		c := store.Config{Directory: filepath.Join(t.TempDir(), "state"), Now: func() time.Time { return began }, Heeded: []string{heeded}}
		s, err := store.Open(context.Background(), store.Indexed(c, 16))
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { s.Close() }()
		var stay, lost []earshot.EventID
		var words []string
		var past []earshot.EventID // events that a prompt may contain
		some := func() (ids []earshot.EventID) {
			for range min(len(past), r.IntN(6)) {
				ids = append(ids, past[r.IntN(len(past))])
			}
			return ids
		}
		for i := range rapid.IntRange(1, 40).Draw(rt, "events") {
			id := earshot.EventID(fmt.Sprintf("e%d", i))
			w := secret(r)
			switch r.IntN(6) {
			case 0, 1: // overheard, perhaps recently
				hours := 20 + r.IntN(10)
				e := aloud(id, hours, earshot.Text("and "+w+" too"))
				add(t, s, e, decided(id, earshot.Silent, "it was said aloud, and not to me"))
				if hours > 24 {
					lost, words = append(lost, id), append(words, w[4:])
				} else {
					stay = append(stay, id)
				}
				past = append(past, id)
			case 2: // said to an agent, and answered with other events in the prompt
				sources := append(some(), id)
				answer := id + " answer"
				add(t, s, aloud(id, 20+r.IntN(10), earshot.Text("please "+w), "agent"), decided(id, earshot.Speak),
					by(answer, "agent", earshot.Reply{About: id, Offered: earshot.Text(w)}, sources...))
				past, stay = append(past, id), append(stay, id, answer)
			case 3: // thought unasked; may rest on something that goes
				add(t, s, by(id, "agent", earshot.Thought{Cause: earshot.ByNovelty, Text: "hm"}, some()...))
				past = append(past, id)
			case 4:
				add(t, s, by(id, "ann", earshot.Message{Text: earshot.Text(w)}))
				past, stay = append(past, id), append(stay, id)
			case 5: // thought about something that goes, with words of its own
				if len(lost) > 0 {
					of := lost[r.IntN(len(lost))]
					add(t, s, by(id, "agent", earshot.Thought{Cause: earshot.ByNovelty, Text: earshot.Text("about " + w)}, append(some(), of)...))
					words = append(words, w[4:])
					past = append(past, id)
				}
			}
		}
		for range r.IntN(4) { // cut short somewhere each time
			ctx, stop := context.WithCancel(context.Background())
			n := r.IntN(4)
			_, err := s.Lapse(ctx, began.Add(-24*time.Hour), nil, func([]store.SelectedEvent) {
				if n--; n <= 0 {
					stop()
				}
			})
			if stop(); err != nil && !errors.Is(err, context.Canceled) {
				rt.Fatal(err)
			}
			if err := s.Close(); err != nil {
				rt.Fatal(err)
			}
			if s, err = store.Open(context.Background(), store.Indexed(c, 16)); err != nil {
				rt.Fatal(err)
			}
		}
		if _, err := s.Lapse(context.Background(), began.Add(-24*time.Hour), nil, nil); err != nil {
			rt.Fatal(err)
		}
		if err := s.Clean(context.Background()); err != nil {
			rt.Fatal(err)
		}
		is := left(t, s)
		for _, id := range stay {
			if !slices.Contains(is, id) {
				rt.Errorf("%s is gone", id)
			}
		}
		for _, id := range lost {
			if slices.Contains(is, id) {
				rt.Errorf("%s is left", id)
			}
		}
		if found := traces(t, filepath.Dir(s.Path()), words); len(found) > 0 {
			rt.Errorf("%d traces of %d words, such as %s", len(found), len(words), found[0])
		}
	})
}

// TestLapseBackup: a restored backup from before the lapse loses what was overheard, and none of
// the answers that had it in their prompts.
func TestLapseBackup(t *testing.T) {
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state"), Now: func() time.Time { return began }}
	s, err := store.Open(t.Context(), c)
	must(t, err)
	add(t, s, aloud("overheard", 25, "the surgery"), by("question", "ann", earshot.Message{Text: "tides"}),
		by("reply", "agent", earshot.Reply{About: "question", Offered: "at noon"}, "overheard", "question"))
	file := filepath.Join(t.TempDir(), "backup")
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: c.Directory})
	must(t, err)
	must(t, archive.Backup(t.Context(), file))
	must(t, archive.Close())
	_, err = s.Lapse(t.Context(), began.Add(-24*time.Hour), nil, nil)
	must(t, err)
	must(t, s.Close())
	_, err = store.Restore(t.Context(), c, file, true)
	must(t, err)
	s = open(t, c)
	if got := fmt.Sprint(left(t, s)); got != "[question reply]" {
		t.Errorf("%s are left", got)
	}
}

// A clocked meter records the longest commit.
type clocked struct {
	sync.Mutex
	longest time.Duration
	commits int
}

func (c *clocked) Kept(earshot.Event) {}
func (c *clocked) Committed(took time.Duration, _ error) {
	c.Lock()
	defer c.Unlock()
	c.longest, c.commits = max(c.longest, took), c.commits+1
}

// TestLapseInSteps: many overheard events, which were in the prompts of many answers, are erased in
// many short steps, so that writers get in between.
func TestLapseInSteps(t *testing.T) {
	m := new(clocked)
	s := open(t, store.Config{Meter: m})
	var events []earshot.Event
	var around []earshot.EventID
	for i := range 200 {
		id := earshot.EventID(fmt.Sprint("o", i))
		events = append(events, aloud(id, 48, earshot.Text(strings.Repeat("television ", 20))))
		around = append(around, id)
		if i%10 == 9 {
			q := earshot.EventID(fmt.Sprint("q", i))
			events = append(events, by(q, "ann", earshot.Message{Text: "tides"}),
				by("r"+q, "agent", earshot.Reply{About: q, Offered: earshot.Text(strings.Repeat("noon ", 500))}, append(slices.Clone(around[max(0, len(around)-50):]), q)...))
		}
	}
	add(t, s, events...)
	m.Lock()
	m.longest, m.commits = 0, 0
	m.Unlock()
	steps := 0
	n, err := s.Lapse(t.Context(), began.Add(-24*time.Hour), nil, func([]store.SelectedEvent) { steps++ })
	if err != nil || n != 200 {
		t.Fatalf("%d went, %v", n, err)
	}
	m.Lock()
	defer m.Unlock()
	t.Logf("%d steps, %d commits, the longest took %v", steps, m.commits, m.longest)
	if steps < 3 {
		t.Errorf("all of it went in %d steps", steps)
	}
}
