package record_test

import (
	"fmt"
	"testing"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/record"
	"earshot/participants"
)

// past returns the past in which Ann asked Scout and Rook, and what came of it. Scout's reply is in
// turn s, Rook's in turn r.
func past(bodies ...earshot.Body) []earshot.Event {
	all := []earshot.Event{{ID: "q", Author: "ann", To: []earshot.ParticipantID{"scout", "rook"}, Body: earshot.Message{Text: "Scout and Rook, count"}}}
	for n, body := range bodies {
		e := earshot.Event{ID: earshot.EventID(fmt.Sprint(n)), Author: "scout", Body: body}
		if r, ok := body.(earshot.Reply); ok && r.Turn == "r" {
			e.Author = "rook"
		}
		all = append(all, e)
	}
	for i := range all {
		all[i].Visibility = earshot.Visibility{Scope: earshot.Public}
	}
	return all
}

func begins(turn earshot.TurnID, agent earshot.ParticipantID, why ...string) earshot.Decision {
	return earshot.Decision{About: "q", Turn: turn, Agent: agent, Verdict: earshot.Speak, Reasons: why}
}

func ends(turn earshot.TurnID, how earshot.Outcome, heard earshot.Text, cut string) earshot.Reply {
	r := earshot.Reply{About: "q", Turn: turn, Outcome: how, Offered: heard, Heard: []earshot.Delivery{{Outlet: "console", Bytes: len(heard)}}}
	if cut != "" {
		r.Cut = &earshot.Interruption{Signal: cut}
	}
	return r
}

// TestCutShort: a message is unanswered if earshot stopped before anything of an answer was heard.
func TestCutShort(t *testing.T) {
	for _, tt := range []struct {
		name string
		past []earshot.Event
		want string
	}{
		{"answered", past(begins("s", "scout"), ends("s", earshot.Completed, "one", "")), "[] [scout]"},
		{"stopped before", past(begins("s", "scout"), ends("s", earshot.Interrupted, "", "shutdown")), "[q] []"},
		{"stopped in the middle", past(begins("s", "scout"), ends("s", earshot.Interrupted, "one", "shutdown")), "[] [scout]"},
		{"cut by somebody", past(begins("s", "scout"), ends("s", earshot.Interrupted, "", "addressed")), "[] [scout]"},
		{"killed", past(begins("s", "scout")), "[] [scout]"},
		{"one of two", past(begins("r", "rook"), ends("r", earshot.Completed, "one", ""), begins("s", "scout"), ends("s", earshot.Interrupted, "", "shutdown")), "[q] [rook]"},
		{"answered later", past(begins("s", "scout"), ends("s", earshot.Interrupted, "", "shutdown"), begins("t", "scout"), ends("t", earshot.Completed, "one", "")), "[] [scout]"},
		{"lost", past(begins("s", "scout")), "[q] []"},
		{"lost before anything was decided", past(), "[q] []"},
		{"killed before anything was decided", past(), "[] []"},
		{"lost long ago", past(begins("s", "scout")), "[] [scout]"},
		{"lost and answered since", past(begins("s", "scout"), begins("t", "scout"), ends("t", earshot.Completed, "one", "")), "[] [scout]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began, lost := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), time.Time{}
			for i := range tt.past {
				tt.past[i].At = began
			}
			switch tt.name {
			case "lost", "lost and answered since", "lost before anything was decided":
				lost = began
			case "lost long ago":
				lost = began.Add(time.Second)
			}
			left, had := record.CutShort(tt.past, lost)
			ids := []earshot.EventID{}
			for _, e := range left {
				ids = append(ids, e.ID)
			}
			if got := fmt.Sprint(ids, had["q"]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestLastWords: whoever answers to the end may have called another agent, unless all were called,
// or somebody said something since.
func TestLastWords(t *testing.T) {
	kind := func(id earshot.ParticipantID) participants.Type {
		if id == "ann" {
			return participants.Human
		}
		return participants.Internal
	}
	said := ends("s", earshot.Completed, "Rook, one", "")
	for _, tt := range []struct {
		name string
		past []earshot.Event
		want string
	}{
		{"a reply", past(begins("s", "scout"), said), "[1 to ann]"},
		{"a reply that was cut off", past(begins("s", "scout"), ends("s", earshot.Interrupted, "Rook, one", "addressed")), "[]"},
		{"a reply to all agents", past(begins("s", "scout", addressing.Everybody), said), "[]"},
		{"two replies", past(begins("s", "scout"), said, begins("r", "rook"), ends("r", earshot.Completed, "two", "")), "[3 to ann]"},
		{"somebody else's words", append(past(begins("s", "scout"), said), past()...), "[]"},
		{"a memo since", past(begins("s", "scout"), said, earshot.Memo{Text: "tea"}), "[1 to ann]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			words := []string{}
			for _, l := range record.LastWords(tt.past, kind) {
				words = append(words, fmt.Sprint(l.Said.ID, " to ", l.To))
			}
			if got := fmt.Sprint(words); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
