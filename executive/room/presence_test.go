package room_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/participants"
)

// moves makes ann come and go by session 1, one character a second: "+" comes, "-" goes, "." waits.
func (h *house) moves(t *testing.T, how string) {
	t.Helper()
	for _, c := range how {
		if c != '.' {
			h.presence(t, ann, "1", c == '+')
		}
		time.Sleep(time.Second)
	}
}

func (h *house) presence(t *testing.T, who earshot.Handle, session string, here bool) {
	t.Helper()
	if err := h.Admit(t.Context(), earshot.Event{From: who, Via: "console", Body: earshot.Presence{Session: session, Here: here}}); err != nil {
		t.Error(err)
	}
}

// dialogue returns the dialogue that the model was shown last.
func (h *house) dialogue() string {
	seen := h.model.Seen()
	messages := seen[len(seen)-1].Messages
	var all []string
	for _, m := range messages[1 : len(messages)-1] {
		all = append(all, m.Text)
	}
	return strings.Join(all, "|")
}

// TestJoinAndLeaveFeelNaturalNotSpammy: whatever a connection does, people read few lines about it,
// and the last of them is true.
func TestJoinAndLeaveFeelNaturalNotSpammy(t *testing.T) {
	for _, tt := range []struct{ name, moves, want string }{
		{"comes and goes", "+...-", "owner:true*0; owner:false*0"},
		{"flaps and stays", "+-+-+-+-+", "owner:true*0; owner:false*0; owner:true*0; owner:false*0; owner:true*2"},
		{"flaps and is gone", "+-+-+-+-", "owner:true*0; owner:false*0; owner:true*0; owner:false*0"},
		{"two hundred times", strings.Repeat("+-", 200) + "+", "owner:true*0; owner:false*0; owner:true*0; owner:false*0; owner:true*198"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				h.moves(t, tt.moves)
				if here := len(h.state().Here); here != map[bool]int{true: 1, false: 0}[strings.HasSuffix(tt.moves, "+")] {
					t.Errorf("%d are here", here) // known before it is announced
				}
				time.Sleep(time.Minute)
				h.stop()
				if got := h.kinds(); got != tt.want {
					t.Errorf("announced %s\nwant %s", got, tt.want)
				}
			})
		})
	}
}

// TestSomebodyJoinsAsksAndLeaves: somebody joins, asks the agent, is answered, and leaves, and
// everybody sees each of these.
func TestSomebodyJoinsAsksAndLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		bob := h.terminal(t, "two", "bob")
		x := h.terminal(t, "one", participants.Owner)
		time.Sleep(time.Second)
		x.say(t, "@"+h.config.Name+" hello")
		time.Sleep(time.Second)
		x.leave()
		h.stop()
		var seen []string
		for _, e := range bob.Shown() {
			switch b := e.Body.(type) {
			case earshot.Presence:
				seen = append(seen, fmt.Sprint(e.Author, " ", b.Here))
			case earshot.Message:
				seen = append(seen, fmt.Sprint(e.Author, " ", string(b.Text)))
			case earshot.Reply:
				seen = append(seen, string(b.Delivered()))
			}
		}
		want := "bob true|owner true|owner @" + h.config.Name + " hello|" + h.model.Reply + "|owner false"
		if got := strings.Join(seen, "|"); got != want {
			t.Errorf("Bob sees %s\nwant %s", got, want)
		}
		if bob.Played() != h.model.Reply || x.Played() != h.model.Reply {
			t.Errorf("they read %q and %q", bob.Played(), x.Played())
		}
	})
}

// TestAgentsReceiveJoinAnnouncement: nobody answers a join announcement, and the model reads it in
// the dialogue as a line of the system's.
func TestAgentsReceiveJoinAnnouncement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.moves(t, "+")
		if n := len(h.model.Seen()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
		h.say(t, "hello")
		time.Sleep(time.Second)
		h.stop()
		if got, want := h.dialogue(), "[FROM: System] ann (human user) has joined the conversation|[FROM: ann] hello"; got != want {
			t.Errorf("the model reads %q, want %q", got, want)
		}
		for _, e := range h.journal.Events() {
			if _, ok := e.Body.(earshot.Presence); ok && (e.Visibility.Scope != earshot.System || e.Author != participants.Owner || len(e.To) > 0) {
				t.Errorf("kept %+v", e)
			}
		}
		if r := h.replies(); len(r) != 1 {
			t.Fatalf("%d replies", len(r))
		}
	})
}

// TestAnnouncementsDriveNothingOut: of a run of announcements the dialogue keeps the last of each
// person, and few in all, so that they drive out no questions.
func TestAnnouncementsDriveNothingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		for i := range 30 {
			h.say(t, fmt.Sprintf("question %d", i))
			time.Sleep(time.Second)
			h.moves(t, "-+")
			time.Sleep(2 * time.Minute)
		}
		h.say(t, "count")
		time.Sleep(time.Second)
		h.stop()
		got := h.dialogue()
		if n := strings.Count(got, "[FROM: System]") - strings.Count(got, "What follows is from"); n > 8 {
			t.Errorf("%d announcements", n)
		}
		if n := strings.Count(got, "[FROM: ann]"); n < 20 {
			t.Errorf("only %d questions are left", n)
		}
	})
}

// TestOneNameOnTwoTerminalsJoinsOnce: somebody at two terminals joins once, and leaves with the
// last one. Unknown voices are never here.
func TestOneNameOnTwoTerminalsJoinsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.presence(t, ann, "1", true)
		h.presence(t, ann, "2", true)
		h.presence(t, ann, "1", false)
		if n := len(h.state().Here); n != 1 {
			t.Errorf("%d are here", n)
		}
		h.presence(t, ann, "2", false)
		h.presence(t, earshot.Handle{Provider: "voice", ID: "3"}, "3", true)
		h.stop()
		if got := h.kinds(); got != "owner:true*0; owner:false*0" {
			t.Errorf("announced %s", got)
		}
		if n := len(h.state().Here); n != 0 {
			t.Errorf("%d are here", n)
		}
	})
}

// TestAfterACrashNobodyIsHere: after a crash nobody is said to have left, and the dialogue does not
// say that they are here.
func TestAfterACrashNobodyIsHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := earshot.Visibility{Scope: earshot.System}
		h := newHouse()
		h.past = []earshot.Event{
			{ID: "1", Sequence: 1, At: time.Now(), Author: participants.Owner, Visibility: system, Body: earshot.Presence{Session: "1", Here: true}},
			{ID: "2", Sequence: 2, At: time.Now(), Author: participants.Owner, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "hello"}},
		}
		h.journal.From(2)
		h.open(t.Context())
		if n := len(h.state().Here); n != 0 {
			t.Errorf("%d are here", n)
		}
		h.say(t, "still there?")
		time.Sleep(time.Second)
		h.moves(t, "+")
		h.say(t, "and now?")
		time.Sleep(time.Second)
		h.stop()
		if got, want := h.dialogue(), "[FROM: ann] hello|[FROM: ann] still there?|one two three four|[FROM: System] ann (human user) has joined the conversation|[FROM: ann] and now?"; got != want {
			t.Errorf("the model reads\n%s\nwant\n%s", got, want)
		}
	})
}

// TestWhoComesWhileTheDiskIsFull: somebody who comes while the disk is full is here at once, and is
// announced, in order, when the disk takes something again.
func TestWhoComesWhileTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.journal.Fail(errors.New("disk full"))
		h.moves(t, "+..-..+")
		if n := len(h.state().Here); n != 1 {
			t.Errorf("%d are here", n)
		}
		h.journal.Fail(nil)
		time.Sleep(time.Minute)
		h.stop()
		if got := h.kinds(); got != "owner:true*0; owner:false*0; owner:true*0" {
			t.Errorf("announced %s", got)
		}
	})
}

// TestAnnouncementsKeepTheirOrder: whenever the journal takes something again, somebody's coming is
// announced before their leaving.
func TestAnnouncementsKeepTheirOrder(t *testing.T) {
	for refusals := range 16 {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse().open(t.Context())
			n := 0
			h.journal.RefuseIf(func(earshot.Event) error {
				if n++; n > refusals {
					return nil
				}
				return errors.New("disk full")
			})
			h.moves(t, "+-.+-")
			time.Sleep(time.Minute)
			h.stop()
			if got := h.kinds(); got != "owner:true*0; owner:false*0; owner:true*0; owner:false*0" {
				t.Errorf("after %d refusals announced %s", refusals, got)
			}
		})
	}
}
