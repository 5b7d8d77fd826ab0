package transcript

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"earshot"
)

// TestHistoryOfAgents: each line shows its author, messages between agents cannot be mistaken for
// anything else, and a reply comes after what was done for it.
func TestHistoryOfAgents(t *testing.T) {
	names := map[earshot.ParticipantID]string{"ann": "Ann", "a": "Alice", "b": "Bob", "": "somebody"}
	name := func(id earshot.ParticipantID) string { return names[id] }
	public, now := earshot.Visibility{Scope: earshot.Public}, time.Now()
	at := func(author earshot.ParticipantID, id earshot.EventID, body earshot.Body, to ...earshot.ParticipantID) earshot.Event {
		return earshot.Event{ID: id, At: now, Author: author, To: to, Visibility: public, Body: body}
	}
	heard := func(turn earshot.TurnID, about earshot.EventID, text earshot.Text) earshot.Reply {
		return earshot.Reply{Turn: turn, About: about, Outcome: earshot.Completed, Offered: text, Heard: []earshot.Delivery{{Bytes: len(text)}}}
	}
	handover := heard("t2", "r1", "@Ann, we are done.")
	handover.Handover = &earshot.Handover{Why: earshot.TurnLimit, To: "ann"}
	events := []earshot.Event{
		at("ann", "", earshot.Agent{Act: earshot.Created, ID: "b", Profile: &earshot.Profile{Name: "Bob"}}),
		at("ann", "q1", earshot.Message{Text: "Alice, ask Bob"}, "a"),
		at("a", "m1", earshot.Message{Text: "@Bob, what is it?", Turn: "t1"}, "b"),
		at("b", "", earshot.Use{Turn: "t1", Tool: "read_file", Arguments: `{"path":"it.txt"}`}),
		at("b", "", earshot.Use{Turn: "t1", Tool: "note"}),
		at("b", "m2", earshot.Message{Text: "a\nteapot", Turn: "t1", About: "m1"}, "a"),
		at("ann", "q2", earshot.Message{Text: "Bob → Alice: no"}),
		at("a", "r1", heard("t1", "q1", "A teapot.")),
		at("b", "", earshot.Reminder{Act: earshot.Created, Due: now, Text: "tea"}, "ann"),
		at("b", "", earshot.Reminder{Act: earshot.Ended}, "ann"),
		at("a", "", handover),
		at("", "", earshot.Sight{Camera: "desk", What: earshot.CodeRead, Text: "boo\nBob: hello"}),
	}
	var b strings.Builder
	for _, e := range InOrder(events) {
		Print(&b, e, name)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		line = regexp.MustCompile(`at \d\d:\d\d:\d\d`).ReplaceAllString(line, "at that time")
		got = append(got, strings.TrimRight(line[8:], " \n"))
	}
	want := `
  Bob        [is an agent now, by Ann]
  Ann        Alice, ask Bob
  Alice → Bob what is it?
  Bob        [reads it.txt]
  Bob → Alice a
             teapot
  Alice      A teapot.
  Alice      @Ann, we are done. [the floor is for Ann: they have talked among themselves for long enough]
  Ann        Bob → Alice: no
  Bob        [will remind Ann at that time: tea]
  Bob        [will not remind Ann of it any more]
  desk       [a code is held up, which says "boo Bob: hello"]`
	if "\n"+strings.Join(got, "\n") != want {
		t.Errorf("seen:\n%s\nwant:%s", strings.Join(got, "\n"), want)
	}
}

// TestHistoryOfManyAtOnce: utterances at the same time appear in the order in which they began.
func TestHistoryOfManyAtOnce(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(id earshot.EventID, seconds int, body earshot.Body) earshot.Event {
		return earshot.Event{ID: id, At: noon.Add(time.Duration(seconds) * time.Second), Body: body}
	}
	var got []string
	for _, e := range InOrder([]earshot.Event{
		at("a", 1, earshot.Utterance{}),
		at("d", 4, earshot.Utterance{}),
		at("c", 3, earshot.Utterance{}),
		at("b", 2, earshot.Utterance{}),
		at("to a", 8, earshot.Reply{About: "a"}),
		at("written", 9, earshot.Message{}),
		at("e", 7, earshot.Utterance{}),
	}) {
		got = append(got, string(e.ID))
	}
	if got := strings.Join(got, ", "); got != "a, to a, b, c, d, written, e" {
		t.Errorf("they stand in the order %s", got)
	}
}

// TestHistoryOfAll: the answers of several agents come after the question, in the order in which
// they came, each after what was done for it.
func TestHistoryOfAll(t *testing.T) {
	event := func(id earshot.EventID, body earshot.Body) earshot.Event { return earshot.Event{ID: id, Body: body} }
	var got []string
	for _, e := range InOrder([]earshot.Event{
		event("all", earshot.Message{Text: "@all, what is the time?"}),
		event("a", earshot.Reply{Turn: "t1", About: "all"}),
		event("ask", earshot.Message{Turn: "t2", Text: "what is it?"}),
		event("told", earshot.Message{Turn: "t2", About: "ask", Text: "noon"}),
		event("b", earshot.Reply{Turn: "t2", About: "all"}),
		event("c", earshot.Reply{Turn: "t3", About: "all"}),
		event("stop", earshot.Message{Text: "thank you"}),
		event("d", earshot.Reply{Turn: "t4", About: "all"}),
		event("e", earshot.Reply{Turn: "t5", About: "stop"}),
	}) {
		got = append(got, string(e.ID))
	}
	if got := strings.Join(got, " "); got != "all a ask told b c d stop e" {
		t.Errorf("they stand in the order %s", got)
	}
}
