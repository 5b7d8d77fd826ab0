package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/store"
)

var (
	people = rapid.SliceOfDistinct(rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", "cy", "dee", "a\xff", ""}), rapid.ID)
	agents = rapid.SliceOfNDistinct(rapid.SampledFrom([]earshot.ParticipantID{"earshot", "coder", "c\xff", ""}), 0, 3, rapid.ID)
	either = rapid.OneOf(people, agents)
)

// TestReaderShowsWhatAllowsAllows: for any history and any audience, each query returns exactly the
// events that every member may see.
func TestReaderShowsWhatAllowsAllows(t *testing.T) {
	s := open(t, store.Config{})
	var history []earshot.Event
	rooms := rapid.SampledFrom([]earshot.RoomID{"desk", "attic", ""})
	event := rapid.Custom(func(t *rapid.T) earshot.Event {
		e := said("")
		e.Room = rapid.SampledFrom([]earshot.RoomID{"desk", "attic"}).Draw(t, "room")
		e.Visibility = earshot.Visibility{
			Scope:   rapid.SampledFrom([]earshot.Scope{"", earshot.Public, earshot.Private, earshot.System, "secret"}).Draw(t, "scope"),
			Members: either.Draw(t, "members"),
		}
		if rapid.Bool().Draw(t, "hidden") {
			e.Visibility.Agents = agents.Draw(t, "agents")
		}
		e.Body = anyBody(t)
		return e
	})
	rapid.Check(t, func(rt *rapid.T) {
		history = append(history, add(t, s, rapid.SliceOfN(event, 1, 8).Draw(rt, "events")...)...)
		who := earshot.Audience{
			Room: rooms.Draw(rt, "where"), Members: people.Draw(rt, "people"), Agents: agents.Draw(rt, "audience"),
			Unknown: rapid.Bool().Draw(rt, "unknown"),
		}
		compare(rt, s.For(who), history, func(e earshot.Event) bool {
			return e.Room == who.Room && e.Visibility.Allows(who)
		})
	})
}

// compare makes r answer every kind of query, and compares the answers with a model in memory.
func compare(t *rapid.T, r *store.Reader, history []earshot.Event, visible func(earshot.Event) bool) {
	model := func(also func(earshot.Event) bool) (all []int64) {
		for _, e := range history {
			if visible(e) && also(e) {
				all = append(all, e.Sequence)
			}
		}
		return all
	}
	check := func(what string, want []int64, got []earshot.Event, err error) {
		var sequences []int64
		for _, e := range got {
			sequences = append(sequences, e.Sequence)
		}
		if err != nil || !slices.Equal(sequences, want) {
			t.Fatalf("%s: %v, %v; want %v", what, sequences, err, want)
		}
	}
	const all = 1 << 30
	after := rapid.Int64Range(0, int64(len(history))).Draw(t, "after")
	got, err := r.Events(t.Context(), after, all)
	check("events", model(func(e earshot.Event) bool { return e.Sequence > after }), got, err)

	kinds := rapid.SliceOf(rapid.SampledFrom([]earshot.Kind{earshot.KindMessage, earshot.KindReply, earshot.KindDecision, "unknown"})).Draw(t, "kinds")
	limit := rapid.IntRange(0, 20).Draw(t, "limit")
	want := model(func(e earshot.Event) bool { return len(kinds) == 0 || slices.Contains(kinds, e.Body.Kind()) })
	got, err = r.Last(t.Context(), kinds, limit)
	check("last", want[max(0, len(want)-limit):], got, err)

	got, err = r.Search(t.Context(), "TIDE", all)
	want = model(func(e earshot.Event) bool {
		heard := ""
		switch b := e.Body.(type) {
		case earshot.Message:
			heard = string(b.Text)
		case earshot.Memo:
			heard = string(b.Text)
		case earshot.Reply:
			heard = string(b.Delivered())
		}
		words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(heard), "ï", "i"), func(c rune) bool { return c < 'a' || c > 'z' })
		return slices.Contains(words, "tide")
	})
	slices.Reverse(want)
	check("search", want, got, err)

	bound := rapid.Int64Range(1, int64(len(history)+1)).Draw(t, "bound")
	got, err = searchBefore(t.Context(), r, "TIDE", bound, all)
	check("search before", slices.DeleteFunc(want, func(n int64) bool { return n >= bound }), got, err)
	want = model(func(e earshot.Event) bool {
		return e.Sequence < bound && (len(kinds) == 0 || slices.Contains(kinds, e.Body.Kind()))
	})
	got, err = r.Page(t.Context(), kinds, bound, limit)
	check("page", want[max(0, len(want)-limit):], got, err)

	got, err = r.About(t.Context(), "one", all)
	check("about", model(func(e earshot.Event) bool {
		d, _ := e.Body.(earshot.Decision)
		p, _ := e.Body.(earshot.Reply)
		return d.About == "one" || p.About == "one"
	}), got, err)

	got, err = r.Turn(t.Context(), "t1")
	want = model(func(e earshot.Event) bool {
		d, _ := e.Body.(earshot.Decision)
		p, _ := e.Body.(earshot.Reply)
		return d.Turn == "t1" || p.Turn == "t1"
	})
	check("turn", want[:min(16, len(want))], got, err)

	turns := []earshot.TurnID{"t1", "t2", "none"}
	got, err = r.Ends(t.Context(), turns)
	want = model(func(e earshot.Event) bool {
		p, is := e.Body.(earshot.Reply)
		return is && slices.Contains(turns, p.Turn)
	})
	check("ends", want[:min(len(turns), len(want))], got, err)

	before := rapid.Int64Range(0, int64(len(history))).Draw(t, "before")
	decisions := func(ctx context.Context, limit int) ([]earshot.Event, error) {
		return r.Decisions(ctx, "", before, limit)
	}
	for kind, ask := range map[earshot.Kind]func(context.Context, int) ([]earshot.Event, error){earshot.KindDecision: decisions, earshot.KindReply: r.Turns} {
		got, err = ask(t.Context(), limit)
		want = model(func(e earshot.Event) bool {
			return e.Body.Kind() == kind && (kind == earshot.KindReply || before == 0 || e.Sequence < before)
		})
		check(string(kind), want[max(0, len(want)-limit):], got, err)
	}
}

// TestLately: a caller for several audiences gets, among the newest events, those that any of the
// audiences may see, and no other.
func TestLately(t *testing.T) {
	s := open(t, store.Config{})
	see := func(text earshot.Text, room earshot.RoomID, v earshot.Visibility) {
		e := said(text)
		e.Room, e.Visibility = room, v
		add(t, s, e)
	}
	private := func(members ...earshot.ParticipantID) earshot.Visibility {
		return earshot.Visibility{Scope: earshot.Private, Members: members}
	}
	public := earshot.Visibility{Scope: earshot.Public}
	see("long ago", "desk", public)
	see("all", "desk", public)
	see("elsewhere", "attic", public)
	see("for one", "desk", private("ann", "alice"))
	see("for the other", "desk", private("ann", "bob"))
	see("for people", "desk", private("ann", "eve"))
	see("for neither", "desk", earshot.Visibility{Scope: earshot.Public, Agents: []earshot.ParticipantID{"cy"}})
	add(t, s, earshot.Event{Room: "desk", Visibility: public, Body: earshot.Memo{Text: "tea"}})
	at := earshot.Audience{Room: "desk"}
	for _, tt := range []struct {
		kind earshot.Kind
		many int
		who  []earshot.Audience
		want string
	}{
		{"", 6, []earshot.Audience{at.With("alice"), at.With("bob")}, "all|for one|for the other|memo"},
		{"", 6, []earshot.Audience{at.With("alice")}, "all|for one|memo"},
		{earshot.KindMessage, 5, []earshot.Audience{at.With("bob")}, "all|for the other"},
		{earshot.KindMemo, 1, []earshot.Audience{at.With("bob")}, "memo"},
		{"", 100, []earshot.Audience{{Room: "attic"}}, ""},
		{"", 100, nil, ""},
		{"", 0, []earshot.Audience{at}, ""},
		{"", -1, []earshot.Audience{at}, ""},
	} {
		events, err := s.Lately(t.Context(), "desk", tt.kind, tt.many, tt.who...)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(events); got != tt.want {
			t.Errorf("%d of %q for %+v: %s, want %s", tt.many, tt.kind, tt.who, got, tt.want)
		}
	}
}

// TestAgentReads: an agent may read as a person may, by what is visible to it.
func TestAgentReads(t *testing.T) {
	s := open(t, store.Config{})
	see := func(text earshot.Text, v earshot.Visibility) {
		e := said(text)
		e.Visibility = v
		add(t, s, e)
	}
	see("all", earshot.Visibility{Scope: earshot.Public})
	see("coder only", earshot.Visibility{Scope: earshot.Public, Agents: []earshot.ParticipantID{"coder"}})
	see("no agent", earshot.Visibility{Scope: earshot.System, Agents: []earshot.ParticipantID{}})
	see("ann to coder", earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "coder"}})
	see("ann to bob", earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "bob"}})
	desk := earshot.Audience{Room: earshot.Desk}
	ann := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}
	for _, tt := range []struct {
		name string
		who  earshot.Audience
		want string
	}{
		{"nobody", desk, "all|coder only|no agent"},
		{"coder", desk.With("coder"), "all|coder only|ann to coder"},
		{"earshot", desk.With("earshot"), "all"},
		{"ann", ann, "all|coder only|no agent|ann to coder|ann to bob"},
		{"ann and coder", ann.With("coder"), "all|coder only|ann to coder"},
		{"two agents", desk.With("coder").With("earshot"), "all"},
	} {
		if got, err := s.For(tt.who).Last(t.Context(), nil, 10); err != nil || texts(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, texts(got), err, tt.want)
		}
	}
}

func TestStreamResumes(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, numbered(25)...)
	var all []earshot.Event
	for after := int64(0); ; {
		some, err := s.For(everybody).Events(t.Context(), after, 4)
		must(t, err)
		if len(some) == 0 {
			break
		}
		all = append(all, some...)
		after = some[len(some)-1].Sequence
	}
	if got, want := texts(all), texts(numbered(25)); got != want {
		t.Errorf("streamed %s", got)
	}
}

func TestSearch(t *testing.T) {
	s := open(t, store.Config{})
	reply := said("")
	reply.Body = earshot.Reply{Turn: "t", Outcome: earshot.Interrupted, Offered: "heard unheard", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 5}, {Outlet: "page", Bytes: 2}}}
	add(t, s, said("The tide is high"), said("low TIDE, café"), said("NEAR AND OR NOT"), reply, said("tide* \"quoted\" col:umn 42 日本語"), said("naïve (tide) -high"))
	for _, tt := range []struct{ query, want string }{
		{"tide", `naïve (tide) -high|tide* "quoted" col:umn 42 日本語|low TIDE, café|The tide is high`},
		{"tide high", "naïve (tide) -high|The tide is high"},
		{"CAFE", "low TIDE, café"},
		{"cafe\u0301", "low TIDE, café"},
		{"naive", "naïve (tide) -high"},
		{"NOT", "NEAR AND OR NOT"},
		{"AND OR", "NEAR AND OR NOT"},
		{"heard", "reply heard"},
		{"unheard", ""},
		{"tid*", `naïve (tide) -high|tide* "quoted" col:umn 42 日本語|low TIDE, café|The tide is high`},
		{"tides", `naïve (tide) -high|tide* "quoted" col:umn 42 日本語|low TIDE, café|The tide is high`},
		{`"tides"`, ""},
		{`"tide is high"`, "The tide is high"},
		{`"high tide"`, ""},
		{"from:ann high", "naïve (tide) -high|The tide is high"},
		{"from:bob high", ""},
		{"on:2026-02-03 cafe", "low TIDE, café"},
		{"since:2026-02-04 tide", ""},
		{`"quoted" umn`, `tide* "quoted" col:umn 42 日本語`},
		{"col:umn", `tide* "quoted" col:umn 42 日本語`},
		{"text:tide tide", `naïve (tide) -high|tide* "quoted" col:umn 42 日本語|low TIDE, café|The tide is high`},
		{"日本語", `tide* "quoted" col:umn 42 日本語`},
		{"42", `tide* "quoted" col:umn 42 日本語`},
		{"^tide", `naïve (tide) -high|tide* "quoted" col:umn 42 日本語|low TIDE, café|The tide is high`},
		{"NEAR(tide high)", ""},
		{"'; DROP TABLE words; --", ""},
		{"tide\x00high \xff", "naïve (tide) -high|The tide is high"},
		{"absent", ""},
	} {
		if tt.query == "text:tide tide" {
			tt.want = "" // no text has the word text
		}
		t.Run(tt.query, func(t *testing.T) {
			got, err := s.For(everybody).Search(t.Context(), tt.query, 10)
			if err != nil || texts(got) != tt.want {
				t.Errorf("found %q, %v; want %q", texts(got), err, tt.want)
			}
		})
	}
	note, seen := said(""), said("")
	note.Body = earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n", Was: "marmalade", Text: "gooseberry jam"}
	seen.Body = earshot.Edit{Act: earshot.Created, Field: "recent_visual", Item: "webcam:0", Text: "gooseberry bush"}
	add(t, s, note, seen)
	for query, want := range map[string]string{"gooseberry": "edit", "marmalade": ""} { // an edited item is found by its current text only
		if got, err := s.For(everybody).Search(t.Context(), query, 10); err != nil || texts(got) != want {
			t.Errorf("%s: found %q, %v", query, texts(got), err)
		}
	}
	for _, query := range []string{"", " ", "***", `""`, "\x00", strings.Repeat("word ", 33)} {
		if _, err := s.For(everybody).Search(t.Context(), query, 10); err == nil || !strings.Contains(err.Error(), "to search for: give") {
			t.Errorf("searching for %q: %v", query, err)
		}
	}
}

// FuzzSearch: any string is a query for words, and does no harm.
func FuzzSearch(f *testing.F) {
	s := open(f, store.Config{})
	add(f, s, said("The tide is high"))
	for _, seed := range []string{"tide", "", `"`, "a\x00b", "NEAR/3", "{text} : tide", "😀", "\U0001E030", "ᲀ", strings.Repeat("(", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got, err := s.For(everybody).Search(t.Context(), query, 10)
		if err != nil && !strings.Contains(err.Error(), "to search for: give") {
			t.Fatal(err)
		}
		if got, err := s.For(everybody).Search(t.Context(), "tide", 10); err != nil || len(got) != 1 {
			t.Fatalf("afterwards %d are found, %v", len(got), err)
		}
		_ = got
	})
}

func TestWhy(t *testing.T) {
	s := open(t, store.Config{})
	m := add(t, s, said("how high is the tide?"))[0]
	decided := said("")
	decided.Author, decided.Body = "earshot", earshot.Decision{About: m.ID, Agent: "earshot", Verdict: earshot.Speak, Reasons: []string{"addressed"}, Turn: "t1"}
	replied := said("")
	replied.Body = earshot.Reply{Turn: "t1", About: m.ID, Outcome: earshot.Completed, Offered: "high", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 4}}}
	add(t, s, decided, replied, said("thanks"))
	r := s.For(everybody)
	for name, ask := range map[string]func() ([]earshot.Event, error){
		"about":     func() ([]earshot.Event, error) { return r.About(t.Context(), m.ID, 10) },
		"turn":      func() ([]earshot.Event, error) { return r.Turn(t.Context(), "t1") },
		"decisions": func() ([]earshot.Event, error) { return r.Decisions(t.Context(), "", 0, 10) },
		"of one":    func() ([]earshot.Event, error) { return r.Decisions(t.Context(), "earshot", 0, 10) },
		"of nobody": func() ([]earshot.Event, error) { return r.Decisions(t.Context(), "scout", 0, 10) },
		"before":    func() ([]earshot.Event, error) { return r.Decisions(t.Context(), "", m.Sequence, 10) },
		"found": func() ([]earshot.Event, error) {
			return r.Find(t.Context(), []earshot.EventID{m.ID, "unknown", "\xff"})
		},
		"turns": func() ([]earshot.Event, error) { return r.Turns(t.Context(), 10) },
	} {
		want := map[string]string{"about": "decision|reply high", "turn": "decision|reply high", "decisions": "decision", "of one": "decision", "found": texts([]earshot.Event{m}), "turns": "reply high"}[name]
		if got, err := ask(); err != nil || texts(got) != want {
			t.Errorf("%s: %s, %v; want %s", name, texts(got), err, want)
		}
	}
}

// TestTextIsNotPrinted: no error repeats what somebody said or searched for.
func TestTextIsNotPrinted(t *testing.T) {
	s := open(t, store.Config{})
	e := said(earshot.Text(strings.Repeat("canary ", 10_000)))
	_, err := s.Append(t.Context(), e)
	_, gone := s.For(everybody).Search(t.Context(), strings.Repeat("canary ", 100), 10)
	if text := fmt.Sprint(err, gone); strings.Contains(text, "canary") {
		t.Errorf("an error says %s", text)
	}
}

// TestRooms: Rooms returns those with a prefix, newest first.
func TestRooms(t *testing.T) {
	s := open(t, store.Config{})
	if got, err := s.Rooms(t.Context(), "", 9); err != nil || len(got) != 0 {
		t.Errorf("in an empty journal there are %v, %v", got, err)
	}
	for _, room := range []earshot.RoomID{"chat-1", "desk", "chat-2", "chat", "chat-10", "chess", "chat-1"} {
		e := said("hello")
		e.Room = room
		add(t, s, e)
	}
	for _, tt := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"chat-", 9, "[chat-1 chat-10 chat-2]"}, {"chat-", 2, "[chat-1 chat-10]"}, {"chat-", 0, "[]"}, {"z", 9, "[]"}, {"", 9, "[chat-1 chess chat-10 chat chat-2 desk]"},
	} {
		if got, err := s.Rooms(t.Context(), tt.prefix, tt.limit); err != nil || fmt.Sprint(got) != tt.want {
			t.Errorf("%d of %q are %v, %v, want %s", tt.limit, tt.prefix, got, err, tt.want)
		}
	}
}
