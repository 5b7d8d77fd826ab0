package perception_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/perception"
	"earshot/executive/scene"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// record numbers events as a journal does.
func record(bodies ...earshot.Body) (all []earshot.Event) {
	for n, body := range bodies {
		e := earshot.Event{
			ID: earshot.EventID(fmt.Sprint("e", n)), Sequence: int64(n + 1), At: noon.Add(time.Duration(n) * time.Second), Author: "ann",
			From: earshot.Handle{Provider: "console", ID: "ann"}, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: body,
		}
		if k := body.Kind(); k == earshot.KindReply || k == earshot.KindFinding {
			e.Author, e.Sources = "agent", []earshot.EventID{"e0"}
		}
		all = append(all, e)
	}
	return all
}

// perceiver returns one of an empty scene; each message has one picture attached.
func perceiver() *perception.Perceiver {
	return &perception.Perceiver{Scene: new(scene.Scene), Recent: func(earshot.EventID) earshot.Event {
		return earshot.Event{Body: earshot.Message{Attachments: []earshot.Attachment{{Name: "cat.png"}}}}
	}}
}

// fields returns the entries of all fields, as words.
func fields(s *scene.Scene) string {
	var all []string
	view := s.For(earshot.Audience{}.With("agent"))
	for _, f := range scene.Fields() {
		for _, i := range view.Items(f) {
			all = append(all, string(f)+": "+string(i.Text))
		}
	}
	return strings.Join(all, "|")
}

// TestPerceive: what each kind of event does to the scene.
func TestPerceive(t *testing.T) {
	said := func(text earshot.Text, heard int) earshot.Reply {
		return earshot.Reply{Turn: "t", Offered: text, Heard: []earshot.Delivery{{Outlet: "console", Bytes: heard}}, Outcome: earshot.Completed}
	}
	cut := said("It will rain tomorrow.", 12)
	cut.Outcome, cut.Cut = earshot.Interrupted, &earshot.Interruption{By: "ann", Signal: "addressed"}
	resumable := cut
	resumable.Resumable = noon.Add(time.Hour)
	for _, tt := range []struct {
		name   string
		bodies []earshot.Body
		want   string
	}{
		{"a message", []earshot.Body{earshot.Message{Text: "hello"}}, "recent_messages: hello"},
		{"an utterance", []earshot.Body{earshot.Utterance{Text: "hello"}}, "recent_messages: hello"},
		{"a revision keeps what is attached", []earshot.Body{earshot.Message{Text: "hello"}, earshot.Revision{Of: "e0", Text: "hullo"}}, "recent_messages: hullo\n[attached: cat.png]"},
		{"a memo", []earshot.Body{earshot.Memo{Text: "tea at four"}}, "notes: tea at four"},
		{"a finding in place of another", []earshot.Body{
			earshot.Finding{Text: "it rains", Confidence: 0.9, Until: noon.Add(time.Hour)},
			earshot.Finding{Text: "it pours", Confidence: 0.9, Until: noon.Add(time.Hour), Merges: []earshot.EventID{"e0"}},
		}, "reasoning_buffer: it pours"},
		{"a reply", []earshot.Body{said("Yes.", 4)}, "agent_state: you have said what you wanted to say"},
		{"a reply that was cut off", []earshot.Body{cut}, "agent_state: cut you off there."},
		{"a reply that can be resumed", []earshot.Body{resumable}, `agent_state: cut you off there. The last that was heard: "It will rain". Not said yet: tomorrow.`},
		{"it stays while another is said", []earshot.Body{resumable, said("Yes.", 4)}, `agent_state: cut you off there. The last that was heard: "It will rain". Not said yet: tomorrow.`},
		{"a decision", []earshot.Body{earshot.Decision{Verdict: earshot.Silent}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := perceiver()
			for _, e := range record(tt.bodies...) {
				p.Perceive(e)
			}
			if got := fields(p.Scene); got != tt.want {
				t.Errorf("the scene is\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestResync: rebuilt from the same events the scene does not differ; one that was spoilt does, once.
func TestResync(t *testing.T) {
	perceivable := func(e earshot.Event) bool { return e.Body.Kind() != earshot.KindDecision }
	rapid.Check(t, func(t *rapid.T) {
		var bodies []earshot.Body
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			text := earshot.Text(rapid.SampledFrom([]string{"a cup", "a plate", "it rains"}).Draw(t, "text"))
			of := earshot.EventID(rapid.SampledFrom([]string{"e0", "e1", "e2"}).Draw(t, "of"))
			bodies = append(bodies, rapid.SampledFrom([]earshot.Body{
				earshot.Message{Text: text}, earshot.Utterance{Text: text}, earshot.Memo{Text: text}, earshot.Revision{Of: of, Text: text}, earshot.Decision{},
				earshot.Finding{Text: text, Confidence: 0.5, Until: noon.Add(time.Hour)}, earshot.Reply{Offered: text, Outcome: earshot.Completed}, earshot.Attribution{Of: of, Author: "bob"},
			}).Draw(t, "body"))
		}
		all := record(bodies...)
		p := perceiver()
		p.Perceivable = perceivable
		p.Scenery = func(context.Context) ([]earshot.Event, error) { return all, nil }
		resync := func() bool {
			differed, err := p.Resync(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return differed
		}
		for _, e := range slices.DeleteFunc(slices.Clone(all), func(e earshot.Event) bool { return !perceivable(e) }) {
			p.Perceive(e)
		}
		want := fields(p.Scene)
		if !p.Complete() || resync() || fields(p.Scene) != want {
			t.Fatalf("rebuilt it is\n%s\nand was\n%s", fields(p.Scene), want)
		}
		p.Scene.Put(scene.Item{Field: scene.Notes, Event: "spoilt", At: noon, Text: "of nobody", Visibility: earshot.Visibility{Scope: earshot.Public}})
		p.Scene.Took(1)
		if p.Complete() || !resync() || resync() || !p.Complete() || fields(p.Scene) != want {
			t.Fatalf("mended it is\n%s\nand was\n%s", fields(p.Scene), want)
		}
	})
}
