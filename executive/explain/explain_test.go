package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/explain"
	"earshot/internal/testkit"
)

var night = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// called is what everybody is called in these tests.
func called(id earshot.ParticipantID) string {
	if id == "" {
		return "somebody"
	}
	return strings.ToUpper(string(id[:1])) + string(id[1:])
}

// journal keeps events, one a second, each visible to all unless it says otherwise.
func journal(t *testing.T, events ...earshot.Event) *testkit.Journal {
	t.Helper()
	j := new(testkit.Journal)
	for i, e := range events {
		e.At, e.Room = night.Add(time.Duration(i)*time.Second), earshot.Desk
		if e.Visibility.Scope == "" {
			e.Visibility.Scope = earshot.Public
		}
		if _, err := j.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func event(id earshot.EventID, author earshot.ParticipantID, b earshot.Body) earshot.Event {
	return earshot.Event{ID: id, Author: author, Body: b}
}

func decision(id, about earshot.EventID, agent earshot.ParticipantID, v earshot.Verdict, reasons ...string) earshot.Event {
	return event(id, agent, earshot.Decision{About: about, Agent: agent, Verdict: v, Reasons: reasons})
}

var everybody = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}

func TestTell(t *testing.T) {
	long := "this goes on and on for longer than anybody would want to read of it again"
	for _, tt := range []struct {
		name  string
		about earshot.Event
		v     earshot.Verdict
		why   []string
		want  string
	}{
		{"an arrival", event("m", "", earshot.Sight{Camera: "desk", What: earshot.PeopleChanged, People: 1}), earshot.Silent, []string{"these are the quiet hours"},
			"the camera desk saw “somebody came into view”\n          I kept silent because these are the quiet hours"},
		{"a message", event("m", "ann", earshot.Message{Text: "what time\nis it?"}), earshot.Speak, []string{"it calls me by name"},
			"Ann wrote “what time is it?”\n          I answered because it calls me by name"},
		{"a long one", event("m", "ann", earshot.Message{Text: earshot.Text(long)}), earshot.Silent, []string{"it calls somebody else"},
			"Ann wrote “this goes on and on for longer than anybody would want to…”\n          I kept silent because it calls somebody else"},
		{"a voice", event("m", "", earshot.Utterance{Text: "mind the step"}), earshot.Silent, []string{"it was said aloud, and not to me"},
			"somebody said “mind the step”\n          I kept silent because it was said aloud, and not to me"},
		{"a finding that waits", event("m", "agent", earshot.Finding{Text: "You have a deadline."}), earshot.Wait, []string{"somebody is speaking", "I spoke 2 min ago"},
			"Agent found “You have a deadline.”\n          I waited because\n          - somebody is speaking\n          - I spoke 2 min ago"},
		{"a finding that is said", event("m", "agent", earshot.Finding{Text: "You have a deadline."}), earshot.Speak, []string{"ann asked for it"},
			"Agent found “You have a deadline.”\n          I said it because ann asked for it"},
		{"a finding that is not worth it", event("m", "agent", earshot.Finding{Text: "It is Monday."}), earshot.Note, []string{"nobody asked, and it is not worth saying"},
			"Agent found “It is Monday.”\n          I noted it and said nothing because nobody asked, and it is not worth saying"},
		{"something erased", event("m", "ann", earshot.Tombstone{Was: earshot.KindMessage}), earshot.Speak, []string{"it calls me by name"},
			"About something that no longer exists or that you may not see:\n          I spoke because it calls me by name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := journal(t, tt.about, decision("d", "m", "agent", tt.v, tt.why...))
			all, err := explain.Tell(t.Context(), j.For(everybody), explain.Query{Last: 5}, called)
			if err != nil {
				t.Fatal(err)
			}
			if got := explain.Text(all, time.UTC, false); got != "00:00:01  "+tt.want {
				t.Errorf("told\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestFailed: what came to nothing is called no answer.
func TestFailed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		about earshot.Event
		reply earshot.Reply
		want  string
	}{
		{"a model that failed", event("m", "ann", earshot.Message{Text: "hello"}), earshot.Reply{Outcome: earshot.Failed, Fault: "ollama: refused"},
			"Ann wrote “hello”\n          I tried to answer because it calls me by name\n          It failed: ollama: refused"},
		{"of an earlier version", event("m", "ann", earshot.Message{Text: "hello"}), earshot.Reply{Outcome: earshot.Failed},
			"Ann wrote “hello”\n          I tried to answer because it calls me by name\n          It failed: something went wrong"},
		{"a finding", event("m", "agent", earshot.Finding{Text: "it rains"}), earshot.Reply{Outcome: earshot.Failed, Fault: "ollama: refused"},
			"Agent found “it rains”\n          I tried to say it because it calls me by name\n          It failed: ollama: refused"},
		{"broken off", event("m", "ann", earshot.Message{Text: "hello"}), earshot.Reply{Outcome: earshot.Failed, Offered: "hello", Heard: []earshot.Delivery{{Bytes: 2}}},
			"Ann wrote “hello”\n          I answered because it calls me by name"},
		{"an answer", event("m", "ann", earshot.Message{Text: "hello"}), earshot.Reply{Outcome: earshot.Completed, Offered: "hello", Heard: []earshot.Delivery{{Bytes: 5}}},
			"Ann wrote “hello”\n          I answered because it calls me by name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.reply.Turn, tt.reply.About = "1", "m"
			j := journal(t, tt.about, event("d", "agent", earshot.Decision{About: "m", Agent: "agent", Verdict: earshot.Speak, Reasons: []string{"it calls me by name"}, Turn: "1"}), event("r", "agent", tt.reply))
			all, err := explain.Tell(t.Context(), j.For(everybody), explain.Query{Last: 5}, called)
			if err != nil {
				t.Fatal(err)
			}
			if got := explain.Text(all, time.UTC, false); got != "00:00:01  "+tt.want {
				t.Errorf("told\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestPages: the newest are told, those of one agent if that is asked, and from there
// one can go back.
func TestPages(t *testing.T) {
	var events []earshot.Event
	for _, d := range []string{"1 agent", "2 scout", "3 agent", "4 agent", "5 scout"} {
		id, agent, _ := strings.Cut(d, " ")
		events = append(events, decision(earshot.EventID(id), "", earshot.ParticipantID(agent), earshot.Silent, id))
	}
	j := journal(t, events...)
	for _, tt := range []struct {
		q    explain.Query
		want string
	}{
		{explain.Query{Last: 2}, "4 5"},
		{explain.Query{Last: 2, Before: 4}, "2 3"},
		{explain.Query{Last: 9, Before: 2}, "1"},
		{explain.Query{Last: 9, Agent: "scout"}, "2 5"},
		{explain.Query{}, ""},
	} {
		all, err := explain.Tell(t.Context(), j.For(everybody), tt.q, called)
		var got []string
		for _, a := range all {
			got = append(got, a.Reasons[0])
		}
		if strings.Join(got, " ") != tt.want || err != nil {
			t.Errorf("%+v tells %q, %v; want %q", tt.q, got, err, tt.want)
		}
	}
}

// TestPrivate: who may not see something is told neither that nor what was decided
// about it; a decision that they may see tells nothing of it.
func TestPrivate(t *testing.T) {
	secret := event("m", "bob", earshot.Message{Text: "SECRET"})
	secret.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"bob", "agent"}}
	hidden := decision("d", "m", "agent", earshot.Speak, "it was written to me in private")
	hidden.Visibility = secret.Visibility
	j := journal(t, secret, hidden, decision("open", "m", "agent", earshot.Silent, "I had other things to do"))
	for who, want := range map[earshot.ParticipantID]int{"ann": 1, "bob": 2} {
		all, err := explain.Tell(t.Context(), j.For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{who}}), explain.Query{Last: 9}, called)
		got := explain.Text(all, time.UTC, true)
		if len(all) != want || strings.Contains(got, "SECRET") != (who == "bob") || err != nil {
			t.Errorf("%s is told, %v:\n%s", who, err, got)
		}
	}
}

// broken is a journal that cannot be read.
type broken struct{ explain.Journal }

func (broken) Decisions(context.Context, earshot.ParticipantID, int64, int) ([]earshot.Event, error) {
	return nil, errors.New("the disk is gone")
}

func TestABrokenJournal(t *testing.T) {
	if _, err := explain.Tell(t.Context(), broken{}, explain.Query{Last: 1}, called); err == nil || !strings.Contains(err.Error(), "reading the decisions: the disk is gone") {
		t.Errorf("told %v", err)
	}
}
