package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/participants"
)

var people = []earshot.ParticipantID{"ann", "bob", "cleo"}

// drawVisibility draws who may see something: everybody, or some people in private.
func drawVisibility(t *rapid.T, label string) earshot.Visibility {
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(people), 0, 3, rapid.ID).Draw(t, label)
	if len(some) == 0 {
		return earshot.Visibility{Scope: earshot.Public}
	}
	slices.Sort(some)
	return earshot.Visibility{Scope: earshot.Private, Members: some}
}

// TestProvenance builds prompts of random conversations: whoever may see the reply may see
// everything in its prompt; each line of others in it is a source, once; building changes nothing,
// so it can be done early and repeated.
func TestProvenance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		registry := participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "Ann", "Earshot")
		at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
		history := dialogue.History{Agent: participants.Agent}
		var going []scene.Item
		var question earshot.Event
		for i := range rapid.IntRange(1, 12).Draw(t, "events") {
			author := rapid.SampledFrom(append(people, participants.Agent)).Draw(t, "author")
			e := earshot.Event{
				ID: earshot.EventID(fmt.Sprint("e", i)), Sequence: int64(i + 1), At: at, Author: author,
				Visibility: drawVisibility(t, "visibility"), Body: earshot.Message{Text: earshot.Text(fmt.Sprint("line", i, "."))},
			}
			if rapid.Bool().Draw(t, "going on") {
				going = append(going, scene.Item{ID: string(e.ID), Field: scene.Notes, Event: e.ID, At: at, Text: "note", Visibility: e.Visibility})
			}
			history.Learn(e, registry)
			question = e
		}
		audience := earshot.Audience{Room: earshot.Desk, Members: rapid.SliceOfNDistinct(rapid.SampledFrom(people), 1, 3, rapid.ID).Draw(t, "audience")}.With(participants.Agent)
		going = slices.DeleteFunc(going, func(i scene.Item) bool { return !i.Visibility.Allows(audience) })
		r := prompt.Reply{
			Dialogue: prompt.Dialogue{Agent: participants.Agent, Identity: "You are Earshot.", History: &history, Audience: audience, At: at, Name: registry.Name},
			Question: question, Scene: going, Rests: prompt.Provenance{Visibility: earshot.Visibility{Scope: earshot.Public}}, Instructions: "Be brief.",
		}
		is := r.Build()
		if again := r.Build(); fmt.Sprint(again) != fmt.Sprint(is) {
			t.Fatalf("built again it is\n%v\nwant\n%v", again, is)
		}
		text := fmt.Sprint(is.Messages)
		for _, l := range history.Lines {
			reads := strings.Contains(text, string(l.Text))
			source := slices.Contains(is.Rests.Sources, l.Event)
			if allowed := l.Visibility.Allows(audience); reads != allowed {
				t.Fatalf("%s is in the prompt: %v, and the audience may see it: %v", l.Event, reads, allowed)
			}
			if reads && l.Author != participants.Agent && !source {
				t.Fatalf("%s is in the prompt and no source", l.Event)
			}
			for _, who := range people {
				reader := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{who}}
				if reads && is.Rests.Visibility.Allows(reader) && !l.Visibility.Allows(reader) {
					t.Fatalf("%s may see the reply, which rests on %s, and not that", who, l.Event)
				}
			}
		}
		if once := slices.Compact(slices.Sorted(slices.Values(is.Rests.Sources))); len(once) != len(is.Rests.Sources) {
			t.Fatalf("sources are named twice: %v", is.Rests.Sources)
		}
	})
}

// TestWhatCameFromBeyond: an answer that repeats what a tool found for an earlier answer is erased with
// what that rests on, as long as the earlier answer is in the dialogue.
func TestWhatCameFromBeyond(t *testing.T) {
	registry := participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "Ann", "Earshot")
	at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	public := earshot.Visibility{Scope: earshot.Public}
	history := dialogue.History{Agent: participants.Agent}
	var sources []earshot.EventID
	for i := range 3 {
		question := earshot.Event{ID: earshot.EventID(fmt.Sprint("q", i)), Sequence: int64(2*i + 1), At: at, Author: "ann", Visibility: public, Body: earshot.Message{Text: "and?"}}
		history.Learn(question, registry)
		sources = prompt.Reply{
			Dialogue: prompt.Dialogue{Agent: participants.Agent, Identity: "You are Earshot.", History: &history, Audience: earshot.Audience{Room: earshot.Desk}.With(participants.Agent), At: at, Name: registry.Name},
			Question: question, Rests: prompt.Provenance{Visibility: public}, Instructions: "Be brief.",
		}.Build().Rests.Sources
		reply := earshot.Event{
			ID: earshot.EventID(fmt.Sprint("r", i)), Sequence: int64(2*i + 2), At: at, Author: participants.Agent, Visibility: public, Sources: slices.Clone(sources),
			Body: earshot.Reply{About: question.ID, Outcome: earshot.Completed, Offered: "so"},
		}
		if i == 0 {
			reply.Sources = append(reply.Sources, "file")
		}
		history.Learn(reply, registry)
		if l := history.Lines[len(history.Lines)-1]; len(l.Beyond) > 0 != (i == 0) {
			t.Errorf("what answer %d rests on from beyond the dialogue is %v", i, l.Beyond)
		}
	}
	for _, v := range []earshot.Visibility{{Scope: earshot.Private, Members: []earshot.ParticipantID{"bob", participants.Agent}}, public} {
		e := earshot.Event{ID: "more", Sequence: 9, At: at, Author: participants.Agent, Visibility: v, Sources: []earshot.EventID{"secret"}, Body: earshot.Message{Text: "so"}}
		history.Learn(e, registry)
		if l := history.Lines[len(history.Lines)-1]; !slices.Equal(l.Beyond, e.Sources) { // who reads the second does not read the first
			t.Errorf("for %s it rests on %v", v.Scope, l.Beyond)
		}
	}
	if slices.Sort(sources); !slices.Equal(sources, []earshot.EventID{"file", "q0", "q1", "q2"}) {
		t.Errorf("the last answer rests on %v", sources)
	}
}

// TestQuestionComesLast: the question is the last thing that a model reads of the dialogue, also when
// somebody has come since, as whoever asked does when a daemon was lost and another gives the answer.
func TestQuestionComesLast(t *testing.T) {
	registry := participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "Ann", "Earshot")
	public := earshot.Visibility{Scope: earshot.Public}
	question := earshot.Event{ID: "q", Sequence: 1, Author: "ann", Visibility: public, Body: earshot.Message{Text: "please count"}}
	history := dialogue.History{Agent: participants.Agent}
	for i, next := range []earshot.Event{question, {ID: "p", Sequence: 2, Author: "ann", Visibility: public, Body: earshot.Presence{Here: true}}} {
		history.Learn(next, registry)
		messages := prompt.Reply{
			Dialogue: prompt.Dialogue{Agent: participants.Agent, History: &history, Audience: earshot.Audience{Room: earshot.Desk}.With(participants.Agent), Name: registry.Name},
			Question: question,
		}.Build().Messages
		if last := messages[len(messages)-2].Text; !strings.Contains(last, "please count") || strings.Count(fmt.Sprint(messages), "please count") != i+1 {
			t.Errorf("before the instructions stands %q, of\n%v", last, messages)
		}
	}
}
