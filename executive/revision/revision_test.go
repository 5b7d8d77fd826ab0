package revision_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/revision"
	"earshot/interrupt"
	"earshot/participants"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// TestCheck: an author changes their message by the handle by which they wrote it, and a moderator
// withdraws what is at their place.
func TestCheck(t *testing.T) {
	ann, phone := earshot.Handle{Provider: "discord", ID: "ann"}, earshot.Handle{Provider: "discord", ID: "ann's phone"}
	moderator, elsewhere := earshot.Handle{Provider: "discord"}, earshot.Handle{Provider: "console"}
	revise, withdraw := earshot.Revision{Of: "1", Text: "hullo"}, earshot.Withdrawal{Of: "1"}
	message, utterance := earshot.Message{Text: "hello"}, earshot.Utterance{Text: "hello"}
	reply := earshot.Reply{Offered: "hello", Heard: []earshot.Delivery{{Outlet: "lobby", Bytes: 5}, {Outlet: "hall"}}}
	file := earshot.Message{Attachments: []earshot.Attachment{{Name: "cat.png"}}}
	for _, tt := range []struct {
		name string
		by   earshot.Handle
		via  string
		body earshot.Body
		was  earshot.Body
		why  string // part of the error; empty for none
	}{
		{"a revision", ann, "lobby", revise, message, ""},
		{"a withdrawal", ann, "lobby", withdraw, message, ""},
		{"by another handle", phone, "lobby", revise, message, "somebody else"},
		{"from elsewhere", elsewhere, "lobby", withdraw, message, "somebody else"},
		{"by a moderator", moderator, "lobby", withdraw, message, ""},
		{"a moderator's words", moderator, "lobby", revise, message, "somebody else"},
		{"what was said aloud, taken back", ann, "lobby", withdraw, utterance, ""},
		{"what was said aloud, revised", ann, "lobby", revise, utterance, "only a message"},
		{"a memo", ann, "lobby", withdraw, earshot.Memo{Text: "hello"}, "only a message"},
		{"an agent's message", ann, "lobby", withdraw, earshot.Message{Text: "hello", Turn: "t"}, "only a message"},
		{"a reply that came out", moderator, "lobby", withdraw, reply, ""},
		{"a reply that nobody heard there", moderator, "hall", withdraw, reply, "only a message"},
		{"no words", ann, "lobby", earshot.Revision{Of: "1"}, message, "an empty message"},
		{"no words beside a file", ann, "lobby", earshot.Revision{Of: "1"}, file, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := revision.Check(earshot.Event{ID: "2", From: tt.by, Via: tt.via, Body: tt.body}, earshot.Event{ID: "1", From: ann, Body: tt.was})
			if tt.why == "" && err != nil || tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)) {
				t.Errorf("got %v, want %q", err, tt.why)
			}
		})
	}
}

// TestNeedless: what is done already is no error of the sender.
func TestNeedless(t *testing.T) {
	for _, tt := range []struct {
		body earshot.Body
		why  error
		want bool
	}{
		{earshot.Withdrawal{Of: "1"}, revision.ErrTakenBack, true},
		{earshot.Revision{Of: "1"}, revision.ErrTakenBack, false},
		{earshot.Revision{Of: "1"}, revision.ErrNothingKept, true},
		{earshot.Withdrawal{Of: "1"}, revision.ErrNoSuch, false},
		{earshot.Message{}, nil, false},
	} {
		if got := revision.Needless(tt.body, tt.why); got != tt.want {
			t.Errorf("%T, %v: %t", tt.body, tt.why, got)
		}
	}
}

// TestOf: two kinds of events change earlier ones, and act on the floor as their author's words.
func TestOf(t *testing.T) {
	for _, body := range []earshot.Body{earshot.Revision{Of: "1"}, earshot.Withdrawal{Of: "1"}} {
		if of, does := revision.Of(body); of != "1" || !does {
			t.Errorf("%T changes %q, %t", body, of, does)
		}
	}
	if of, does := revision.Of(earshot.Message{ReplyTo: "1"}); of != "" || does {
		t.Errorf("a message changes %q, %t", of, does)
	}
	if s := revision.Signal(earshot.Event{Via: "lobby", At: noon}, "ann"); s.Kind != interrupt.Addressed || s.By != "ann" || s.Via != "lobby" || !s.At.Equal(noon) {
		t.Errorf("the signal is %+v", s)
	}
}

// TestReword: a revision changes its message, and takes the words from earlier ones of that message.
func TestReword(t *testing.T) {
	by := earshot.Event{ID: "3", At: noon, Body: earshot.Revision{Of: "1", Text: "new"}}
	for _, tt := range []struct {
		name    string
		had     earshot.Event
		changed bool
		text    earshot.Text
	}{
		{"its message", earshot.Event{ID: "1", Body: earshot.Message{Text: "old"}}, true, "new"},
		{"another message", earshot.Event{ID: "9", Body: earshot.Message{Text: "old"}}, false, "old"},
		{"an earlier revision", earshot.Event{ID: "2", Body: earshot.Revision{Of: "1", Text: "old"}}, true, ""},
		{"a revision of another", earshot.Event{ID: "2", Body: earshot.Revision{Of: "9", Text: "old"}}, false, "old"},
		{"itself", by, false, "new"},
		{"of which only the ID is known", earshot.Event{ID: "1"}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now, changed := revision.Reword(tt.had, by)
			text := earshot.Text("")
			switch b := now.Body.(type) {
			case earshot.Message:
				text = b.Text
				if changed != b.Revised.Equal(noon) {
					t.Errorf("revised at %v", b.Revised)
				}
			case earshot.Revision:
				text = b.Text
			}
			if changed != tt.changed || text != tt.text || now.ID != tt.had.ID {
				t.Errorf("it is %q, changed: %t", string(text), changed)
			}
		})
	}
}

// TestRespelt: a slip of the fingers changes no question, another word does.
func TestRespelt(t *testing.T) {
	for _, tt := range []struct {
		a, b earshot.Text
		want bool
	}{
		{"hello there", "Hello, there!", true},
		{"the wheather today", "the weather today", true},
		{"the waether today", "the weather today", true},
		{"teh cat", "the cat", true},
		{"not yet", "now yet", false},
		{"at 14 o'clock", "at 15 o'clock", false},
		{"what is it", "what was it", false},
		{"tell me", "tell me more", false},
	} {
		if got := revision.Respelt(tt.a, tt.b); got != tt.want || revision.Respelt(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: %t", string(tt.a), string(tt.b), got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := earshot.Text(rapid.String().Draw(t, "text"))
		if !revision.Respelt(text, text) {
			t.Fatalf("%q is not spelt like itself", string(text))
		}
	})
}

// TestCovers: an agent changes only what everybody who hears the answer may see.
func TestCovers(t *testing.T) {
	public := earshot.Visibility{Scope: earshot.Public}
	private := func(who ...earshot.ParticipantID) earshot.Visibility {
		return earshot.Visibility{Scope: earshot.Private, Members: who}
	}
	hidden := earshot.Visibility{Scope: earshot.Public, Agents: []earshot.ParticipantID{"agent"}}
	for _, tt := range []struct {
		name string
		v, w earshot.Visibility
		want bool
	}{
		{"the same", public, public, true},
		{"less", public, private("ann", "agent"), true},
		{"more", private("ann", "agent"), public, false},
		{"others", private("ann", "agent"), private("bob", "agent"), false},
		{"hidden from agents", hidden, public, false},
		{"in front of all agents", public, hidden, true},
	} {
		if got := revision.Covers(tt.v, tt.w); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestCheckEdit: a sense changes only what it has observed itself.
func TestCheckEdit(t *testing.T) {
	webcam := earshot.Handle{Provider: "webcam", ID: "desk"}
	cup := earshot.Edit{Act: earshot.Created, Field: "recent_visual", Item: "cup", Text: "a cup", Was: "a plate", Source: "console", Undoes: "1"}
	with := func(change func(*earshot.Edit)) earshot.Edit {
		e := cup
		change(&e)
		return e
	}
	for _, tt := range []struct {
		name string
		who  earshot.ParticipantID
		edit earshot.Edit
		why  string
		text earshot.Text
	}{
		{"an observation", "", cup, "", "a cup"},
		{"its end", "", with(func(e *earshot.Edit) { e.Act = earshot.Ended }), "", ""},
		{"by somebody", "ann", cup, "use /context", ""},
		{"an undo", "", with(func(e *earshot.Edit) { e.Act = earshot.Undone }), "only add, change or end", ""},
		{"of the notes", "", with(func(e *earshot.Edit) { e.Field = "notes" }), "can only report on", ""},
		{"a long name", "", with(func(e *earshot.Edit) { e.Item = strings.Repeat("a", 65) }), "at most 64", ""},
		{"a long text", "", with(func(e *earshot.Edit) { e.Text = "a cup of tea" }), "at most 10", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := revision.CheckEdit(tt.edit, webcam, participants.Participant{ID: tt.who}, 10)
			switch {
			case tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)), tt.why == "" && err != nil:
				t.Errorf("got %v, want %q", err, tt.why)
			case tt.why == "" && got != (earshot.Edit{Act: tt.edit.Act, Field: "recent_visual", Item: "webcam:cup", Text: tt.text}):
				t.Errorf("it is %+v", got)
			}
		})
	}
}
