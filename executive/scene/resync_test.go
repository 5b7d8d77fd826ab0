package scene_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/scene"
)

// give hands a scene one event, as a room does.
func give(s *scene.Scene, e earshot.Event) {
	s.Took(e.Sequence)
	switch b := e.Body.(type) {
	case earshot.Message:
		s.Put(scene.Item{Field: scene.Messages, Event: e.ID, At: e.At, Text: b.Text, By: e.Author, Visibility: e.Visibility})
	case earshot.Memo:
		s.Put(scene.Item{Field: scene.Notes, Event: e.ID, At: e.At, Text: b.Text, By: e.Author, Visibility: e.Visibility})
	case earshot.Finding:
		s.Put(scene.Item{Field: scene.Reasoning, Event: e.ID, At: e.At, Text: b.Text, Confidence: b.Confidence, Until: b.Until, Visibility: e.Visibility})
	case earshot.Reply:
		s.Use(b.Offered, e.Visibility, e.Sources...)
		s.Put(scene.Item{Field: scene.Agent, Of: e.Author, Event: e.ID, At: e.At, Text: b.Offered, Visibility: e.Visibility})
	case earshot.Edit:
		s.Edit(e)
	}
}

// journal draws what happens in a room.
func journal(t *rapid.T) (all []earshot.Event) {
	var ids []earshot.EventID
	draw := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	for n := range rapid.IntRange(0, 60).Draw(t, "events") {
		e := earshot.Event{
			ID: earshot.EventID(fmt.Sprint("e", n)), Sequence: int64(n + 1), At: noon.Add(time.Duration(n) * time.Second),
			Author: earshot.ParticipantID(draw("author", "ann", "bob", "agent", "")), Visibility: public,
		}
		e.From = earshot.Handle{Provider: draw("source", "console", "webcam")}
		text := earshot.Text(draw("text", "a cup", "a plate", "Ann's cup", "it rains"))
		switch draw("kind", "message", "memo", "finding", "reply", "edit", "edit", "edit") {
		case "message":
			e.Body = earshot.Message{Text: text}
		case "memo":
			e.Body = earshot.Memo{Text: text}
		case "finding":
			e.Body = earshot.Finding{Text: text, Confidence: float64(n%10) / 10, Until: e.At.Add(time.Minute)}
		case "reply":
			e.Body, e.Sources = earshot.Reply{Offered: text}, []earshot.EventID{"e1", "e2", "e3"}
		case "edit":
			b := earshot.Edit{
				Act: earshot.Act(draw("act", "created", "changed", "changed", "ended", "undone")), Text: text,
				Field: draw("field", "notes", "reasoning_buffer", "user_state", "recent_visual"),
				Was:   "here", Source: draw("observed", "", "", "console"),
			}
			b.Item = draw("item", "ann", "webcam:cup")
			if len(ids) > 0 {
				b.Undoes = rapid.SampledFrom(ids).Draw(t, "undoes")
				if draw("of", "an event", "a state") == "an event" {
					b.Item = string(rapid.SampledFrom(ids).Draw(t, "changes"))
				}
			}
			e.Body = b
		}
		ids = append(ids, e.ID)
		all = append(all, e)
	}
	return all
}

// faults are what can go wrong between a journal and a scene.
var faults = []struct {
	name string
	do   func(all []earshot.Event, at int) []earshot.Event
}{
	{"drop", func(all []earshot.Event, at int) []earshot.Event { return slices.Delete(all, at, at+1) }},
	{"double", func(all []earshot.Event, at int) []earshot.Event { return slices.Insert(all, at, all[at]) }},
	{"reorder", func(all []earshot.Event, at int) []earshot.Event {
		if at+1 < len(all) {
			all[at], all[at+1] = all[at+1], all[at]
		}
		return all
	}},
	{"corrupt", func(all []earshot.Event, at int) []earshot.Event {
		all[at].Body = earshot.Memo{Text: "nobody said this"}
		return all
	}},
}

// TestResync: a scene that was kept live equals the one that the journal makes. Whatever has gone
// wrong with it, it equals that one after a resync, and observations stay. The counters show that
// an event is missing, doubled or out of order.
func TestResync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := journal(t)
		live, fresh := new(scene.Scene), new(scene.Scene)
		for _, e := range all {
			give(live, e)
			give(fresh, e)
			live.Put(scene.Item{Field: scene.User, Of: "bob", Source: "console", At: noon, Text: "bob is here", Visibility: public})
		}
		counts := int64(len(all))
		if live.Resync(fresh, counts) {
			t.Fatal("what was made live differs from what the journal makes")
		}
		if len(all) == 0 {
			return
		}
		f := rapid.SampledFrom(faults).Draw(t, "fault")
		faulty, fresh := new(scene.Scene), new(scene.Scene)
		for _, e := range f.do(slices.Clone(all), rapid.IntRange(0, len(all)-1).Draw(t, "where")) {
			give(faulty, e)
		}
		for _, e := range all {
			give(fresh, e)
		}
		had := picture(faulty)
		if f.name != "corrupt" && len(all) > 1 && faulty.Counts(counts) && had != picture(fresh) {
			t.Fatalf("%s is not to be seen in the counters", f.name)
		}
		want := picture(fresh)
		if differs := faulty.Resync(fresh, counts); !differs && had != want {
			t.Fatalf("%s: it did not tell that it differed", f.name)
		}
		if got := picture(faulty); got != want || !faulty.Counts(counts) {
			t.Fatalf("%s: after the resync\n%swant\n%s", f.name, got, want)
		}
	})
}

// TestTheEndOfTheJournalIsEnough: each field needs no more of the journal than it counts.
func TestTheEndOfTheJournalIsEnough(t *testing.T) {
	s, end := new(scene.Scene), new(scene.Scene)
	for n := range 200 {
		e := earshot.Event{ID: earshot.EventID(fmt.Sprint(n)), Sequence: int64(n + 1), At: noon, Author: "ann", Visibility: public, Body: earshot.Memo{Text: earshot.Text(fmt.Sprint("note ", n))}}
		if n%3 == 0 {
			e.Body = earshot.Message{Text: "hello"}
		}
		give(s, e)
		if n > 140 {
			give(end, e)
		}
	}
	if s.Resync(end, 0) {
		t.Error("it differs")
	}
}

func picture(s *scene.Scene) (out string) {
	for _, f := range scene.Fields() {
		for _, i := range s.For(bob).Items(f) {
			out += fmt.Sprintf("%s %s %s %v %v %s\n", f, i.ID, i.Line(), i.Used, i.At, i.Event)
		}
	}
	for _, v := range s.For(bob).Versions() {
		out += fmt.Sprintln(v.Edit.ID, v.Undone)
	}
	return out
}
