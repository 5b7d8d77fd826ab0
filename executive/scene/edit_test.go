package scene_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/executive/scene"
	"earshot/internal/testkit"
)

// edited returns the event of an edit by somebody, at so many minutes past noon.
func edited(id, by string, minutes int, b earshot.Edit) earshot.Event {
	return earshot.Event{
		ID: earshot.EventID(id), At: noon.Add(time.Duration(minutes) * time.Minute), Author: earshot.ParticipantID(by),
		From: earshot.Handle{Provider: "console", ID: by}, Visibility: public, Body: b,
	}
}

// whispered is what only ann sees.
var whispered = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}

// desk is a scene with a note, a finding, and an observation of ann.
func desk() *scene.Scene {
	s := new(scene.Scene)
	s.Put(scene.Item{Field: scene.Notes, Event: "n1", Source: "console", At: noon, Text: "likes tea", By: "ann", Visibility: public})
	s.Put(scene.Item{Field: scene.Reasoning, Event: "f1", Source: "think", At: noon, Text: "ann is late", Confidence: 0.5, Until: noon.Add(time.Hour), Visibility: public})
	s.Put(scene.Item{Field: scene.User, Of: "ann", Source: "console", At: noon, Text: "ann is here", Visibility: public})
	return s
}

// shows returns what some fields show.
func shows(s *scene.Scene, fields ...scene.Field) string {
	var all []scene.Item
	for _, f := range fields {
		all = append(all, s.For(bob).Items(f)...)
	}
	var lines []string
	for _, i := range all {
		lines = append(lines, i.Line())
	}
	return strings.Join(lines, " | ")
}

func TestEdit(t *testing.T) {
	change := func(act earshot.Act, f scene.Field, item, was, text string) earshot.Edit {
		return earshot.Edit{Act: act, Field: string(f), Item: item, Was: earshot.Text(was), Text: earshot.Text(text)}
	}
	undo := func(f scene.Field, item, edit string) earshot.Edit {
		return earshot.Edit{Act: earshot.Undone, Field: string(f), Item: item, Undoes: earshot.EventID(edit)}
	}
	tea := change(earshot.Changed, scene.Notes, "n1", "likes tea", "likes coffee")
	gone := change(earshot.Ended, scene.Reasoning, "f1", "ann is late", "")
	phone := change(earshot.Changed, scene.User, "ann", "ann is here", "ann is on the phone")
	phone.Source = "console"
	for _, tt := range []struct {
		name  string
		edits []earshot.Edit
		field scene.Field
		want  string
	}{
		{"nothing", nil, scene.Notes, "ann: likes tea"},
		{"added", []earshot.Edit{change(earshot.Created, scene.Notes, "", "", "a deadline at four")}, scene.Notes, "ann: likes tea | bob: a deadline at four"},
		{"changed", []earshot.Edit{tea}, scene.Notes, `bob: likes coffee (corrected; it said "likes tea")`},
		{"taken back", []earshot.Edit{tea, undo(scene.Notes, "n1", "e0")}, scene.Notes, "ann: likes tea"},
		{"removed", []earshot.Edit{gone}, scene.Reasoning, ""},
		{"put back", []earshot.Edit{gone, undo(scene.Reasoning, "f1", "e0")}, scene.Reasoning, "ann is late"},
		{"not added after all", []earshot.Edit{change(earshot.Created, scene.Notes, "", "", "x"), undo(scene.Notes, "e0", "e0")}, scene.Notes, "ann: likes tea"},
		{"not the last one", []earshot.Edit{tea, change(earshot.Changed, scene.Notes, "n1", "likes coffee", "likes milk"), undo(scene.Notes, "n1", "e0")}, scene.Notes, `bob: likes milk (corrected; it said "likes coffee")`},
		{"an observation", []earshot.Edit{phone}, scene.User, `bob: ann is on the phone (corrected; it said "ann is here")`},
		{"an observation was right", []earshot.Edit{phone, undo(scene.User, "ann", "e0")}, scene.User, "ann is here"},
		{"what is not there", []earshot.Edit{change(earshot.Changed, scene.Notes, "n9", "", "x"), change("odd", scene.Notes, "n1", "", "x"), change(earshot.Changed, "mood", "n1", "", "x")}, scene.Notes, "ann: likes tea"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := desk()
			for i, b := range tt.edits {
				s.Edit(edited(fmt.Sprint("e", i), "bob", i, b))
				s.Edit(edited(fmt.Sprint("e", i), "bob", i, b)) // twice is once
			}
			if got := shows(s, tt.field); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestObservedAgain: the same observation of the same source does not bring back what was
// corrected; any other does.
func TestObservedAgain(t *testing.T) {
	observed := func(source, text string) scene.Item {
		return scene.Item{Field: scene.User, Of: "ann", Source: source, At: noon.Add(time.Hour), Text: earshot.Text(text), Visibility: public}
	}
	for _, tt := range []struct {
		name string
		next scene.Item
		want string
		over bool
	}{
		{"the same", observed("console", "ann is here"), "bob: ann is asleep", false},
		{"something else", observed("console", "ann is typing"), "ann is typing", true},
		{"from elsewhere", observed("webcam", "ann is here"), "ann is here", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := desk()
			s.Edit(edited("e1", "bob", 1, earshot.Edit{Act: earshot.Changed, Field: string(scene.User), Item: "ann", Was: "ann is here", Text: "ann is asleep", Source: "console"}))
			was, over := s.Observe(tt.next)
			if got := shows(s, scene.User); !strings.HasPrefix(got, tt.want) || over != tt.over {
				t.Errorf("%s, over: %v", got, over)
			}
			if _, again := s.Observe(tt.next); again {
				t.Error("it is over twice")
			}
			if !over {
				return
			}
			s.Edit(edited("e2", "agent", 2, earshot.Edit{Act: earshot.Ended, Field: string(scene.User), Item: was.ID, Source: "console", Undoes: was.Event}))
			s.Observe(observed("console", "ann is here"))
			if got := shows(s, scene.User); got != "ann is here" {
				t.Errorf("afterwards %s", got)
			}
		})
	}
}

// TestASenseLearns is the same for a sense that reports by edits of its own.
func TestASenseLearns(t *testing.T) {
	told := func(n int, text string) earshot.Event {
		e := edited(fmt.Sprint("w", n), "", n, earshot.Edit{Act: earshot.Created, Field: string(scene.Visual), Item: "webcam:cup", Text: earshot.Text(text)})
		e.From = earshot.Handle{Provider: "webcam", ID: "0"}
		return e
	}
	s := new(scene.Scene)
	s.Edit(told(1, "Ann's cup"))
	s.Edit(edited("e1", "bob", 2, earshot.Edit{Act: earshot.Changed, Field: string(scene.Visual), Item: "webcam:cup", Was: "Ann's cup", Text: "Bob's cup"}))
	for n, tt := range []struct{ told, want string }{
		{"Ann's cup", `bob: Bob's cup (corrected; it said "Ann's cup")`},
		{"a plate", "a plate"},
		{"Ann's cup", "Ann's cup"},
	} {
		s.Edit(told(n+3, tt.told))
		if got := shows(s, scene.Visual); got != tt.want {
			t.Errorf("told %q: %s", tt.told, got)
		}
	}
	if n := len(s.For(bob).Versions()); n != 1 {
		t.Errorf("%d changes by people", n)
	}
}

// TestCheck: an edit that does not fit is refused with what to do instead.
func TestCheck(t *testing.T) {
	s := desk()
	s.Put(scene.Item{Field: scene.Notes, Event: "n2", At: noon, Text: "ann only", By: "ann", Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}})
	s.Edit(edited("e1", "bob", 1, earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n1", Was: "likes tea", Text: "likes coffee"}))
	s.Edit(edited("e2", "bob", 2, earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n1", Was: "likes coffee", Text: "likes milk"}))
	for _, tt := range []struct {
		edit earshot.Edit
		want string
	}{
		{earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n1", Was: "likes milk", Text: "likes water"}, ""},
		{earshot.Edit{Act: earshot.Ended, Field: "reasoning_buffer", Item: "f1", Was: "ann is late"}, ""},
		{earshot.Edit{Act: earshot.Created, Field: "notes", Text: "x"}, ""},
		{earshot.Edit{Act: earshot.Undone, Field: "notes", Undoes: "e2"}, ""},
		{earshot.Edit{Act: earshot.Created, Field: "mood", Text: "x"}, "there is no such field; the fields are current_environment, "},
		{earshot.Edit{Act: earshot.Created, Field: "notes", Text: " "}, "the text is empty"},
		{earshot.Edit{Act: earshot.Created, Field: "notes", Text: earshot.Text(strings.Repeat("x", 301))}, "at most 300"},
		{earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n2", Was: "ann only", Text: "x"}, "no longer exists"}, // which bob does not see
		{earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n1", Was: "likes tea", Text: "x"}, "changed in the meantime"},
		{earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n1", Was: "likes milk", Text: "likes milk"}, "says already"},
		{earshot.Edit{Act: earshot.Undone, Field: "notes", Undoes: "e1"}, "the later change first"},
		{earshot.Edit{Act: earshot.Undone, Field: "notes", Undoes: "e9"}, "no such change"},
	} {
		_, err := s.For(bob).Check(tt.edit)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.edit, err)
		}
	}
}

// TestFindings: when there are too many, the stale ones go first, then the used ones, then the
// least sure; each goes whole.
func TestFindings(t *testing.T) {
	s := new(scene.Scene)
	for n := range 12 {
		i := scene.Item{
			Field: scene.Reasoning, Event: earshot.EventID(fmt.Sprint("f", n)), Source: "think", At: noon.Add(time.Duration(n) * time.Minute),
			Text: earshot.Text(fmt.Sprint("finding ", n)), Confidence: float64(n+1) / 20, Until: noon.Add(time.Hour), Visibility: public,
		}
		if n == 11 {
			i.Confidence = 0
		}
		if n == 8 {
			i.Until = noon.Add(10 * time.Minute)
		}
		s.Put(i)
	}
	s.Use("Finding 10, and the 3rd, 3: and nothing else of it.", public, "f10", "f3", "f4")
	if got := shows(s, scene.Reasoning); got != "finding 0 | finding 1 | finding 2 | finding 4 | finding 5 | finding 6 | finding 7 | finding 9" {
		t.Errorf("left are %s", got)
	}
	if s.Denied("finding 1", public) {
		t.Error("nobody has denied anything")
	}
	s.Edit(edited("e1", "ann", 1, earshot.Edit{Act: earshot.Ended, Field: string(scene.Reasoning), Item: "f1", Was: "finding 1"}))
	s.Put(scene.Item{Field: scene.Reasoning, Event: "f99", Source: "think", At: noon.Add(time.Hour), Text: "Finding  1", Confidence: 1, Visibility: public})
	if got := shows(s, scene.Reasoning); strings.Contains(got, "inding 1 ") || strings.Contains(got, "Finding") {
		t.Errorf("what was denied is found again: %s", got)
	}
	s.Put(scene.Item{Field: scene.Reasoning, Event: "f98", Source: "think", At: noon, Text: "a secret", Visibility: whispered})
	s.Edit(edited("e2", "ann", 1, earshot.Edit{Act: earshot.Ended, Field: string(scene.Reasoning), Item: "f98", Was: "a secret"}))
	if !s.Denied("A secret", whispered) || s.Denied("a secret", public) || !s.Denied("finding 1", whispered) {
		t.Error("what is denied in private is denied there alone, and what is denied before all everywhere")
	}
	if !s.Denied("Finding 1", public) || s.Denied("finding 0", public) {
		t.Error("the first alone is denied")
	}
}

// TestAFindingStandsOnce: a finding that differs only in case, spaces and punctuation replaces the
// existing one, if as many people see it.
func TestAFindingStandsOnce(t *testing.T) {
	finding := func(id string, minute int, text earshot.Text, v earshot.Visibility) scene.Item {
		return scene.Item{Field: scene.Reasoning, Event: earshot.EventID(id), Source: "think", At: noon.Add(time.Duration(minute) * time.Minute), Text: text, Until: noon.Add(time.Hour), Visibility: v}
	}
	for _, tt := range []struct {
		name         string
		puts         []scene.Item
		edit         earshot.Edit
		all, private string // what everybody may see, and what those do who whisper
	}{
		{"again", []scene.Item{finding("f1", 0, "Ann is late.", public), finding("f2", 1, "bob is here", public), finding("f3", 2, "ann  is LATE!", public)}, earshot.Edit{}, "bob is here | ann is LATE!", "bob is here | ann  is LATE!"},
		{"something else", []scene.Item{finding("f1", 0, "Ann is late.", public), finding("f2", 1, "Ann is later.", public)}, earshot.Edit{}, "Ann is late. | Ann is later.", "Ann is late. | Ann is later."},
		{"known to all", []scene.Item{finding("f1", 0, "Ann is late.", public), finding("f2", 1, "Ann is late", whispered)}, earshot.Edit{}, "Ann is late.", "Ann is late."},
		{"known to few", []scene.Item{finding("f1", 0, "Ann is late.", whispered), finding("f2", 1, "Ann is late", public)}, earshot.Edit{}, "Ann is late", "Ann is late"},
		{"out of order", []scene.Item{finding("f2", 1, "Ann is late", public), finding("f1", 0, "Ann is late.", public)}, earshot.Edit{}, "Ann is late", "Ann is late"},
		{"when that was stale", []scene.Item{finding("f1", 0, "Ann is late.", public), finding("f2", 90, "Ann is late", public)}, earshot.Edit{}, "Ann is late. | Ann is late", "Ann is late. | Ann is late"},
		{"what somebody has put right", []scene.Item{finding("f1", 0, "Ann is late.", public), finding("f2", 1, "ann is early", public)},
			earshot.Edit{Act: earshot.Changed, Field: string(scene.Reasoning), Item: "f1", Was: "Ann is late.", Text: "Ann is early."}, `bob: Ann is early. (corrected; it said "Ann is late.")`, "Ann is early."},
		{"no words", []scene.Item{finding("f1", 0, "…", public), finding("f2", 1, "!", public)}, earshot.Edit{}, "… | !", "… | !"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(scene.Scene)
			for i, f := range tt.puts {
				if i > 0 && tt.edit.Act != "" {
					s.Edit(edited("e1", "bob", 1, tt.edit))
				}
				s.Put(f)
			}
			if got := shows(s, scene.Reasoning); got != tt.all {
				t.Errorf("all see %q, want %q", got, tt.all)
			}
			var seen []string
			for _, i := range s.For(earshot.Audience{Members: whispered.Members}).Items(scene.Reasoning) {
				seen = append(seen, string(i.Text))
			}
			if got := strings.Join(seen, " | "); got != tt.private {
				t.Errorf("few see %q, want %q", got, tt.private)
			}
		})
	}
	s := new(scene.Scene)
	s.Put(finding("f1", 0, "Ann is running late.", public))
	s.Use("Ann is running late, I think.", public, "f1")
	s.Put(finding("f2", 1, "ann is running late", public))
	if all := s.For(bob).Items(scene.Reasoning); len(all) != 1 || all[0].Event != "f2" || !all[0].Used {
		t.Errorf("after it was said and found again there is %+v", all)
	}
}

// TestForgetAnEdit: everything that an edit, or the entry it changed, has left goes with it.
func TestForgetAnEdit(t *testing.T) {
	for _, id := range []earshot.EventID{"n1", "e1"} {
		s := desk()
		s.Edit(edited("e1", "bob", 1, earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "n1", Was: "likes tea", Text: "likes coffee"}))
		s.Forget(id, "e1")
		if strings.Contains(shows(s, scene.Notes), "coffee") || len(s.For(bob).Versions()) > 0 {
			t.Errorf("after forgetting %s: %s", id, shows(s, scene.Notes))
		}
	}
}

// TestRefutedWhileItIsEdited: a finding is refuted and restored while others read the refutations;
// the race detector would notice.
func TestRefutedWhileItIsEdited(t *testing.T) {
	s := desk()
	wrong := earshot.Edit{Act: earshot.Ended, Field: string(scene.Reasoning), Item: "f1", Was: "ann is late"}
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 200 {
			id := fmt.Sprint("e", i)
			s.Edit(edited(id, "bob", i, wrong))
			s.Edit(edited("back "+id, "bob", i, earshot.Edit{Act: earshot.Undone, Field: wrong.Field, Item: "f1", Undoes: earshot.EventID(id)}))
		}
	})
	all.Go(func() {
		for range 200 {
			for _, r := range s.For(bob).Refuted(noon) {
				if r.Finding != "ann is late" || r.Name != "bob" {
					t.Errorf("%s refuted %q", r.Name, r.Finding)
				}
			}
		}
	})
	testkit.Finish(t, 5*testkit.Patience, "the end of all edits", all.Wait)
}
