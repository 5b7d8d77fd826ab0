package recall

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// A journal finds the events in which all words of a query begin one of theirs.
type journal []earshot.Event

func (j journal) Search(_ context.Context, _ earshot.Audience, query string, limit int) (found []earshot.Event, _ error) {
	for _, e := range slices.Backward(j) { // whoever asks: what is private must be kept back by the search
		text, _ := tool.Words(e.Body)
		if strings.Contains(strings.ToLower(string(text)), strings.TrimSuffix(query, "*")) && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

// A model answers a request with what the function returns.
type model func(*llm.Request) (string, error)

func (m model) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		text, err := m(req)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		yield(llm.Delta{Text: text}, nil)
	}
}

// A directory counts the agents that were made and ended.
type directory struct{ made, ended int }

func (d *directory) ByID(id earshot.ParticipantID) (agents.Record, bool) {
	return agents.Record{ID: id, Path: "/owner/agent/main"}, true
}

func (d *directory) Spawn(_ context.Context, _ earshot.ParticipantID, _ earshot.Path, kind earshot.PathKind, _ earshot.Profile) (agents.Record, error) {
	if d.made++; kind != earshot.PathSearch {
		return agents.Record{}, errors.New("it is no search")
	}
	return agents.Record{ID: "searcher"}, nil
}

func (d *directory) Finish(context.Context, earshot.ParticipantID, earshot.ParticipantID) error {
	d.ended++
	return nil
}

func searcher(j tool.Memory, m model) (Searcher, *directory) {
	d := new(directory)
	return Searcher{
		Journal: j, Model: m, Settings: func() executive.Config { return executive.Config{} }, Agents: d,
		Name: func(id earshot.ParticipantID) string { return string(id) }, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler),
	}, d
}

// ask has a question looked up by the tool, as a turn does.
func ask(t interface{ Context() context.Context }, r Searcher, s tool.Scope, question string) (tool.Answer, error) {
	s.Agent, s.Room = "main", earshot.Desk
	return r.Tool().Do(t.Context(), s, fmt.Appendf(nil, `{"question":%q}`, question))
}

var public = earshot.Visibility{Scope: earshot.Public}

func message(id string, v earshot.Visibility, text string) earshot.Event {
	return earshot.Event{ID: earshot.EventID(id), At: noon, Room: earshot.Desk, Author: "ann", Visibility: v, Body: earshot.Message{Text: earshot.Text(text)}}
}

// TestSearch: the answer names what it rests on; without a model, or one that names nothing, what was
// found is the answer. It always rests on all that was read.
func TestSearch(t *testing.T) {
	j := journal{message("a", public, "my train is at five"), message("b", public, "the locomotive was late"), message("q", public, "when is my train?")}
	answers := func(first, second string) model {
		return func(req *llm.Request) (string, error) {
			if req.Origin.Agent != "searcher" || req.Priority != llm.ForTool {
				t.Errorf("%+v asks with priority %v", req.Origin, req.Priority)
			}
			if string(req.Schema) == string(querySchema) {
				return first, nil
			}
			return second, nil
		}
	}
	for _, is := range []struct {
		name            string
		m               model
		want, not, from string
	}{
		{"by words", answers("no", "no"), "train is at five", "locomotive", "a"},
		{"by queries", answers(`{"queries":["locomotive from:ann *"]}`, `{"answer":"At five.","passages":["p1"]}`), "At five.\nThis rests on:\n(Thursday", "locomotive", "ab"},
		{"without sources", answers("", `{"answer":"At six.","passages":["p9"]}`), "train is at five", "six", "a"},
		{"without a model", func(*llm.Request) (string, error) { return "", errors.New("it is gone") }, "train is at five", "rests", "a"},
	} {
		r, d := searcher(j, is.m)
		a, err := ask(t, r, tool.Scope{About: "q", Visibility: public, Audience: earshot.Audience{Room: earshot.Desk}.With("main")}, "When is my train?")
		var from string
		for _, id := range a.Sources {
			from += string(id)
		}
		if err != nil || !strings.Contains(string(a.Text), is.want) || strings.Contains(string(a.Text), is.not) || from != is.from {
			t.Errorf("%s: %q from %s, %v", is.name, string(a.Text), from, err)
		}
		if d.made != 1 || d.ended != 1 {
			t.Errorf("%s: %d agents were made and %d ended", is.name, d.made, d.ended)
		}
	}
	r, d := searcher(j, answers("", ""))
	r.Model = model(func(*llm.Request) (string, error) { return "", nil })
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "main"}}
	a, err := ask(t, r, tool.Scope{Visibility: private, Audience: earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}}, "When is my train?")
	if err != nil || a.Visibility.Scope != earshot.Private || d.made != 0 {
		t.Errorf("in private: %+v, %d made, %v", a, d.made, err)
	}
}

// TestPrivacy: whatever the model of a search asks for and answers, nothing that somebody in the
// audience may not know is in its prompts or in its answer, and whoever may see the answer may see all
// that it was made of.
func TestPrivacy(t *testing.T) {
	people := []earshot.ParticipantID{"ann", "bob", "cy"}
	some := func(t *rapid.T, label string) []earshot.ParticipantID {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(people), 1, 3, rapid.ID[earshot.ParticipantID]).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		var j journal
		index := memory.NewIndex()
		all := make(map[earshot.EventID]earshot.Event)
		for i := range rapid.IntRange(1, 30).Draw(t, "events") {
			v := public
			if rapid.Bool().Draw(t, "private") {
				v = earshot.Visibility{Scope: earshot.Private, Members: append(some(t, "members"), "main")}
			}
			e := message(fmt.Sprintf("e%d", i), v, fmt.Sprintf("train secret%dx", i))
			if rapid.Bool().Draw(t, "fact") {
				text, _ := tool.Words(e.Body)
				e.Body = earshot.Fact{Text: text, Confidence: 1, Since: noon}
				index.Take(e, noon)
			} else {
				j = append(j, e)
			}
			all[e.ID] = e
		}
		s := tool.Scope{Visibility: public, Audience: earshot.Audience{Room: earshot.Desk, Members: some(t, "audience")}.With("main")}
		allowed := func(text string) {
			for id, e := range all {
				if strings.Contains(text, "secret"+strings.TrimPrefix(string(id), "e")+"x") && !e.Visibility.Allows(s.Audience) {
					t.Fatalf("%s is in %q", id, text)
				}
			}
		}
		r, _ := searcher(j, func(req *llm.Request) (string, error) {
			for _, m := range req.Messages {
				allowed(string(m.Text))
			}
			if string(req.Schema) == string(querySchema) {
				return fmt.Sprintf(`{"queries":["secret%dx","train"]}`, rapid.IntRange(0, 30).Draw(t, "wanted")), nil
			}
			return fmt.Sprintf(`{"answer":%q,"passages":["p1"]}`, req.Messages[1].Text), nil
		})
		r.Facts = index
		near := slices.Collect(maps.Values(all)) // whoever asks
		r.Nearest = func(context.Context, earshot.Audience, string, int) ([]earshot.Event, error) { return near, nil }
		a, err := ask(t, r, s, "What of the train?")
		if err != nil {
			t.Fatal(err)
		}
		allowed(string(a.Text))
		for _, id := range a.Sources {
			if reader := (earshot.Audience{Room: earshot.Desk, Members: some(t, "reader")}); a.Visibility.Allows(reader) && !all[id].Visibility.Allows(reader) {
				t.Fatalf("%v may see the answer, but not %s", reader, id)
			}
		}
	})
}

// FuzzParse: whatever a model answers, queries are few, and an answer names what was found.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"queries":["a","b","c","d","e"]}`))
	f.Add([]byte(`{"answer":"yes","passages":["p1","p3"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, q := range parseQueries(data) {
			if all := stems(q, mostWords); len(all) > mostWords {
				t.Fatalf("%d words", len(all))
			}
		}
		said, cited, ok := parseAnswer(data, []passage{{id: "a"}, {id: "b"}})
		if ok && (said == "" || len(cited) == 0 || len(cited) > 2) || len(said) > mostSaid+len("…") {
			t.Fatalf("%q from %v", said, cited)
		}
	})
}

// TestNeeds: only somebody who may read the memory has it searched.
func TestNeeds(t *testing.T) {
	if r, _ := searcher(nil, nil); r.Tool().Needs != participants.ReadMemory {
		t.Error("anybody may search")
	}
}
