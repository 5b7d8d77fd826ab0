package notice_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/delivery"
	"earshot/executive/notice"
	"earshot/internal/testkit"
	"earshot/participants"
)

// board returns the notices of a room, and an outlet around which Ann is alone.
func board() (*notice.Board, *testkit.Voice) {
	b := &notice.Board{
		Room: earshot.Desk, People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "ann", "Earshot"), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Changed: func() {}, Recheck: func() {},
		Event: func(v earshot.Visibility, body earshot.Body) earshot.Event {
			return earshot.Event{Visibility: v, Body: body}
		},
	}
	v := &testkit.Voice{Called: "ann's"}
	b.Outlets.Add(v, earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}, delivery.Voice(nil))
	return b, v
}

// shown returns in short what was shown.
func shown(v *testkit.Voice) string {
	var all []string
	for _, e := range v.Shown() {
		switch body := e.Body.(type) {
		case earshot.Notice:
			all = append(all, body.Text)
		case earshot.Settled:
			all = append(all, "nothing more to "+string(body.About))
		}
	}
	return strings.Join(all, ", ")
}

// TestBoard: a fault is told once, a hint once in a session, and whoever waits is told when nothing
// more comes.
func TestBoard(t *testing.T) {
	fault := earshot.Notice{Key: "model", Text: "the model fails"}
	said := earshot.Event{ID: "m", Via: "ann's", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "hello"}}
	for _, tt := range []struct {
		name string
		do   func(*notice.Board)
		want string
	}{
		{"a fault", func(b *notice.Board) { b.ReportOnce(fault); b.ReportOnce(fault) }, "the model fails"},
		{"a fault that is known", func(b *notice.Board) { b.Know(fault); b.ReportOnce(fault) }, ""},
		{"a hint once", func(b *notice.Board) { b.Hint(said, "call me", true); b.Hint(said, "call me", true) }, "call me"},
		{"a hint each time", func(b *notice.Board) { b.Hint(said, "not here", false); b.Hint(said, "not here", false) }, "not here, not here"},
		{"no hint", func(b *notice.Board) { b.Hint(said, "", false) }, ""},
		{"at an outlet", func(b *notice.Board) {
			b.Tell("ann's", earshot.Notice{Text: "yes"})
			b.Tell("bob's", earshot.Notice{Text: "no"})
		}, "yes"},
		{"alone", func(b *notice.Board) {
			b.TellAlone(participants.Owner, earshot.Notice{Text: "yes"})
			b.TellAlone("bob", earshot.Notice{Text: "no"})
		}, "yes"},
		{"whoever waits", func(b *notice.Board) {
			b.Await(said)
			b.Settle(func(earshot.EventID) bool { return false })
			b.Settle(func(earshot.EventID) bool { return true })
			b.Settle(func(earshot.EventID) bool { return true })
		}, "nothing more to m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, v := board()
			tt.do(b)
			if got := shown(v); got != tt.want {
				t.Errorf("shown is %q, want %q", got, tt.want)
			}
		})
	}
}
