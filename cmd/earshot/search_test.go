package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/search"
	"earshot/participants"
	"earshot/store"
)

// remembered writes a journal in which something was said, in the name of earshot's owner.
func remembered(t *testing.T, directory string) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Directory: directory, Projections: config.Default().Journal().Projections})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	say := func(id earshot.EventID, author earshot.ParticipantID, b earshot.Body) {
		at = at.Add(24 * time.Hour)
		e := earshot.Event{ID: id, At: at, Room: earshot.Desk, Author: author, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: b}
		if _, err := s.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	say("agent", participants.Owner, earshot.Agent{Act: earshot.Created, ID: participants.Agent, Path: "/owner/agent/earshot", User: participants.Owner, PathKind: "agent", Role: "user",
		Profile: &earshot.Profile{Name: "Earshot"}}) // 2026-11-21
	filler := earshot.Text(strings.Repeat("lorem ipsum ", 200))
	say("short", participants.Owner, earshot.Message{Text: "When are the tides high?"})
	reply := filler + "the tide\nis high at noon " + filler
	heard := len(reply)
	reply += "and low at six " + filler
	say("long", participants.Agent, earshot.Reply{Turn: "t", About: "short", Outcome: earshot.Interrupted, Offered: reply, Heard: []earshot.Delivery{{Outlet: "console", Bytes: heard}},
		Cut: &earshot.Interruption{By: participants.Owner}})
	say("hostile", participants.Owner, earshot.Message{Text: "tide \x1b[2J\x1b]0;owned\x07 \ue0f0\ue0f1tide \u202eedit"})
	say("other", participants.Owner, earshot.Message{Text: "nothing of that"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSearchCommand: results are shown as in the history, newest first, but of a long text only the
// passage is shown; on a terminal that can, the words searched for are bold.
func TestSearchCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	remembered(t, filepath.Join(h.dir, "state", "earshot", "journal"))
	for _, tt := range []struct {
		args string
		want string // the start of each result's ID in order; after a colon, the error
		code int
	}{
		{"tide", "hostile long short", success},
		{"tides high", "long short", success},
		{"tid*", "hostile long short", success},
		{`"tide is"`, "long", success},
		{"tide --from Earshot", "long", success},
		{"tide from:earshot", "long", success},
		{"tide --from me", "hostile short", success},
		{"tide --on 2026-11-23", "long", success},
		{"tide on:2026-11-23", "long", success},
		{"tide --since 2026-11-23 --before 2026-11-24", "long", success},
		{"--since 2026-11-24", "other hostile", success},
		{"--before 2026-11-23", "short", success},
		{"tide -n 1", "hostile", success},
		{"elephant", ": Nothing was found", notFound},
		{"tide --since yesturday", ": since: names no time to search for: give", failed},
		{"tide on:sometime", ": on: names no day to search for: give", failed},
		{"tide --from Nobody", ": nobody is called", notFound},
		{"t*", ": at least 2 letters", failed},
		{"", ": give words, or --from", misused},
	} {
		args := append([]string{"search", "--json"}, strings.Fields(tt.args)...)
		if strings.HasPrefix(tt.args, `"`) {
			args = []string{"search", "--json", tt.args}
		}
		r := h.earshot(nil, args...)
		var ids []string
		for line := range strings.Lines(r.out) {
			var e earshot.Event
			var p struct{ Passage earshot.SearchPassage }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			ids = append(ids, string(e.ID))
			for _, hit := range p.Passage.Hits {
				if got := strings.ToLower(p.Passage.Text[hit.Start:hit.End]); !strings.HasPrefix(got, "ti") && !strings.HasPrefix(got, "hi") {
					t.Errorf("%s: a hit is %q", tt.args, got)
				}
			}
			if len(p.Passage.Text) > 400 || len(p.Passage.Hits) == 0 && strings.Contains(tt.args, "tid") {
				t.Errorf("%s: the passage is %+v", tt.args, p.Passage)
			}
		}
		want, complains := strings.CutPrefix(tt.want, ": ")
		if r.code != tt.code || !complains && strings.Join(ids, " ") != want || complains && !strings.Contains(r.err, want) {
			t.Errorf("search %s ended with %d: %s %s", tt.args, r.code, ids, r.err)
		}
	}
	r := h.earshot(nil, "search", "tide")
	if strings.ContainsAny(r.out, "\x1b\x07\u202e\ue0f0") || strings.Count(r.out, "\n") != 3 {
		t.Errorf("in a pipe stands %q", r.out)
	}
	for i, want := range []string{"tide [2J ]0;owned tide", "Earshot    … ipsum lorem ipsum lorem ipsum lorem ipsum the tide is high at noon lorem ipsum lorem ipsum … [cut off by ", "When are the tides high?"} {
		if line := strings.Split(r.out, "\n")[i]; !strings.Contains(line, want) || len([]rune(line)) > 320 {
			t.Errorf("line %d is %q, want %q in it", i, line, want)
		}
	}
	if !strings.Contains(r.out, "; not heard: and low at six lorem ipsum") {
		t.Errorf("it does not say what was not heard:\n%s", r.out)
	}
}

// TestFoundInBold: a terminal shows the words searched for in bold, and interprets nothing that
// somebody has written.
func TestFoundInBold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	remembered(t, dir)
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	r := archive.For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}})
	q, err := search.Parse("tide high", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Match(t.Context(), q, nil, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		term, colour string
		tty, bold    bool
	}{{"xterm", "", true, true}, {"dumb", "", true, false}, {"xterm", "1", true, false}, {"xterm", "", false, false}} {
		t.Setenv("TERM", tt.term)
		t.Setenv("NO_COLOR", tt.colour)
		file, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		a := &app{std: std{out: outputTo(file)}, ctx: t.Context()}
		a.out.tty = tt.tty
		if err := a.passages(r, q, events, false, func(id earshot.ParticipantID) string { return fmt.Sprint(id) }, "nothing"); err != nil {
			t.Fatal(err)
		}
		out, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"the \x1b[1mtide\x1b[22m is \x1b[1mhigh\x1b[22m at", "the \x1b[1mtides\x1b[22m \x1b[1mhigh\x1b[22m?"} {
			if strings.Contains(string(out), want) != tt.bold {
				t.Errorf("%+v: there is %q", tt, out)
			}
		}
		if strings.Contains(string(out), "\x1b") != tt.bold || strings.ContainsAny(string(out), "\ue0f0\ue0f1") {
			t.Errorf("%+v: there is %q", tt, out)
		}
	}
}
