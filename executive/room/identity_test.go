package room_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/participants"
)

// society returns a registry of ann, who operates the house, of bob, and of cara, who needs a
// token. Anybody else may give a new name.
func society(t *testing.T, agent string) *participants.Registry {
	t.Helper()
	n := 0
	r, err := participants.Open(participants.Setup{
		Account: ann, AccountName: "ann", Now: time.Now,
		NewID:  func() earshot.EventID { n++; return earshot.EventID(fmt.Sprint(n)) },
		Agents: []participants.Participant{{ID: participants.Agent, Name: agent, Type: participants.Internal}},
		Actors: participants.Config{AllowDynamicCreation: true, AllowAnonymous: true, AnonymousPattern: "guest_{timestamp}", Actors: []participants.Actor{
			{ID: "bob", Type: participants.Human, DisplayName: "Bob", Description: "human user, a friend"},
			{ID: "cara", Type: participants.Human, DisplayName: "Cara", RequiresAuth: true},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A terminal is one of ann's account. Who it belongs to may change.
type terminal struct {
	*testkit.Voice
	h       *house
	session string
	leave   func()
}

// terminal attaches a terminal, as the server does.
func (h *house) terminal(t *testing.T, name string, who earshot.ParticipantID) *terminal {
	t.Helper()
	x := &terminal{&testkit.Voice{Called: name, Every: time.Millisecond, Flow: true}, h, "session of " + name, nil}
	h.people.Attach(participants.Session{
		ID: x.session, Room: earshot.Desk, Participant: who, Account: ann, Outlet: name, Connection: "terminal", Since: time.Now(),
	})
	leave := h.Enter(x.Voice, earshot.Audience{Members: []earshot.ParticipantID{who}})
	x.admit(t, earshot.Presence{Session: x.session, Here: true})
	x.leave = func() {
		leave()
		x.admit(t, earshot.Presence{Session: x.session, Here: false})
		h.people.Detach(x.session)
	}
	return x
}

func (x *terminal) try(t *testing.T, b earshot.Body) error {
	return x.h.Admit(t.Context(), earshot.Event{From: x.h.people.Handle(x.session), Via: x.Called, Body: b})
}

func (x *terminal) admit(t *testing.T, b earshot.Body) {
	t.Helper()
	if err := x.try(t, b); err != nil {
		t.Error(err)
	}
}

func (x *terminal) say(t *testing.T, text string) {
	t.Helper()
	x.admit(t, earshot.Message{Text: earshot.Text(text)})
}

// give gives a command at the terminal, and returns the answer.
func (x *terminal) give(t *testing.T, name, args string) string {
	before := len(texts(x.Voice))
	if err := x.try(t, earshot.Command{Name: name, Args: earshot.Text(args)}); err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(texts(x.Voice)[before:], "\n")
}

// crowd returns an open house with a society in it.
func crowd(t *testing.T) *house {
	h := newHouse()
	h.people = society(t, h.config.Name)
	return h.open(t.Context())
}

// TestIdentity: when ann becomes Bob, ann leaves and Bob joins, and old lines keep their author.
func TestIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x := h.terminal(t, "one", participants.Owner)
		x.say(t, "as ann")
		time.Sleep(time.Second)
		if got := x.give(t, "identity", ""); !strings.Contains(got, "You are ann, known by console:ann.") {
			t.Errorf("told %q", got)
		}
		if got := x.give(t, "identity", "bob"); got != "You are now Bob. What ann wrote stays theirs." {
			t.Errorf("told %q", got)
		}
		if got := x.give(t, "identity", ""); got != "You are Bob, by name, at a terminal of console:ann." {
			t.Errorf("told %q", got)
		}
		if got := x.give(t, "identity", "Bob"); got != "You are already Bob." {
			t.Errorf("told %q", got)
		}
		if here := h.state().Here; len(here) != 1 || here[0].ID != "bob" {
			t.Errorf("here are %v", here)
		}
		if got := x.give(t, "merge", "ann bob"); !strings.Contains(got, "operators of this earshot") {
			t.Errorf("by the name of Bob one may still operate: %q", got)
		}
		x.say(t, "as bob")
		time.Sleep(time.Second)
		x.leave()
		h.stop()
		want := "[FROM: System] ann (human user) has joined the conversation|[FROM: ann] as ann|one two three four|" +
			"[FROM: System] ann has left the conversation|[FROM: System] Bob (human user, a friend) has joined the conversation|[FROM: Bob] as bob"
		if got := h.dialogue(); got != want {
			t.Errorf("the model reads\n%s\nwant\n%s", got, want)
		}
		if got := h.kinds(); !strings.HasSuffix(got, "bob:false*0") || strings.Count(got, "owner:false") != 1 {
			t.Errorf("kept %s", got)
		}
	})
}

// TestATerminalKnowsWhoseItIs: a terminal is told who it belongs to now, even if nobody else is
// told that they came, because they are here at another terminal already.
func TestATerminalKnowsWhoseItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x, other := h.terminal(t, "one", participants.Owner), h.terminal(t, "two", "bob")
		time.Sleep(time.Second)
		before := len(other.Shown())
		x.give(t, "identity", "bob")
		h.stop()
		var whose []earshot.ParticipantID
		for _, e := range x.Shown() {
			if p, ok := e.Body.(earshot.Presence); ok && p.Here && e.Via == "one" {
				whose = append(whose, e.Author)
			}
		}
		if got := fmt.Sprint(whose); got != "[owner bob]" {
			t.Errorf("the terminal was that of %s", got)
		}
		for _, e := range other.Shown()[before:] {
			if p, ok := e.Body.(earshot.Presence); ok && p.Here {
				t.Errorf("another terminal was shown that %s came", e.Author)
			}
		}
	})
}

// TestAGuestLeavesByName: a guest who becomes somebody else leaves under their old name, although a
// guest is forgotten with their last terminal.
func TestAGuestLeavesByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x := h.terminal(t, "one", participants.Owner)
		if got := x.give(t, "identity", "anonymous"); !strings.Contains(got, "You are now guest_") {
			t.Fatalf("told %q", got)
		}
		h.journal.Slow(time.Millisecond)
		x.give(t, "identity", "bob")
		x.say(t, "hello")
		time.Sleep(time.Second)
		h.stop()
		if got := h.dialogue(); !strings.Contains(got, "] guest_") || !strings.Contains(got, " has left the conversation|[FROM: System] Bob") || strings.Contains(got, "a guest has left") {
			t.Errorf("the model reads %q", got)
		}
	})
}

// TestWhoCannotBecomeWhom: /identity says why somebody cannot become the person they name.
func TestWhoCannotBecomeWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x := h.terminal(t, "one", participants.Owner)
		for _, tt := range []struct {
			name, want string
		}{
			{"cara", "EARSHOT_TOKEN="},
			{h.config.Name, "reserved for an agent"},
			{"Dan", "You are now Dan"},
			{"ann", "You are now ann"}, // the person whose account it is
		} {
			if got := x.give(t, "identity", tt.name); !strings.Contains(got, tt.want) {
				t.Errorf("/identity %s: %q, want %q", tt.name, got, tt.want)
			}
		}
		elsewhere := earshot.Event{From: ann, Body: earshot.Command{Name: "identity", Args: "bob"}}
		if err := h.Admit(t.Context(), elsewhere); err == nil || !strings.Contains(err.Error(), "earshot chat --identity") {
			t.Errorf("without a terminal: %v", err)
		}
		h.stop()
	})
}

func TestARoomThatOneMayNotEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.people = society(t, h.config.Name)
		h.enters = func(p participants.Participant) error {
			if p.ID == "bob" || p.ID == "" {
				return errors.New("there is no such room")
			}
			return nil
		}
		h.open(t.Context())
		x := h.terminal(t, "one", participants.Owner)
		for _, name := range []string{"bob", "Zed"} {
			if got := x.give(t, "identity", name); got != "error: there is no such room" {
				t.Errorf("%s: told %q", name, got)
			}
		}
		if _, known := h.people.Find("Zed"); known {
			t.Error("Zed has come to be known")
		}
		h.stop()
	})
}

// TestTheNewOneSeesNothingOfTheOldOne: what is private to ann is not shown at a
// terminal that has become Bob's, and a private reply that was being said there
// ends there.
func TestTheNewOneSeesNothingOfTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x, y := h.terminal(t, "one", participants.Owner), h.terminal(t, "two", participants.Owner)
		h.model.Reply = "a long SECRET for ann alone"
		x.give(t, "msg", h.config.Name+" whisper")
		time.Sleep(25 * time.Millisecond)
		x.give(t, "identity", "bob")
		shown := len(x.Shown())
		time.Sleep(time.Second)
		h.stop()
		if got := y.Played(); got != h.model.Reply {
			t.Errorf("ann's other terminal plays %q", got)
		}
		if got := x.Played(); len(got) >= len(h.model.Reply) || strings.Contains(got, "alone") {
			t.Errorf("Bob's terminal plays %q", got)
		}
		for _, e := range x.Shown()[shown:] {
			if e.Visibility.Scope == earshot.Private {
				t.Errorf("Bob is shown %s", e.Body.Kind())
			}
		}
		if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Completed {
			t.Errorf("replies %+v", r)
		}
	})
}

// TestNobodyIsLeftToHear: a private reply is cut off when its only terminal becomes somebody
// else's, and the person who has left is named as the one who cut it.
func TestNobodyIsLeftToHear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.people = society(t, h.config.Name)
		h.away = true
		h.open(t.Context())
		x := h.terminal(t, "one", participants.Owner)
		x.give(t, "msg", h.config.Name+" whisper")
		time.Sleep(25 * time.Millisecond)
		x.give(t, "identity", "bob")
		time.Sleep(time.Second)
		h.stop()
		r := h.replies()
		if len(r) != 1 || r[0].Outcome != earshot.Interrupted || r[0].Cut.By != participants.Owner {
			t.Errorf("replies %+v", r)
		}
		if x.Played() != string(r[0].Delivered()) {
			t.Errorf("it went on to %q", x.Played())
		}
	})
}

// TestQuestionsStayTheirAskers: a question that ann asked before she became Bob is answered to ann,
// at the terminals of everybody who may see it.
func TestQuestionsStayTheirAskers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x := h.terminal(t, "one", participants.Owner)
		synctest.Wait()
		h.config.Interruption.Enabled = false
		x.say(t, "first")
		time.Sleep(15 * time.Millisecond)
		x.say(t, "second")
		x.give(t, "identity", "bob")
		time.Sleep(time.Second)
		h.stop()
		if r := h.replies(); len(r) != 2 || r[1].Outcome != earshot.Completed {
			t.Fatalf("replies %+v", r)
		}
		for _, e := range h.journal.Events() {
			if _, ok := e.Body.(earshot.Reply); ok && (len(e.To) != 1 || e.To[0] != participants.Owner) {
				t.Errorf("the reply is to %v", e.To)
			}
		}
	})
}

// TestWho: /who says who is here, since when, and at which terminals: ann sees the terminals of
// everybody, and Bob sees only his own.
func TestWho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x := h.terminal(t, "one", participants.Owner)
		y := h.terminal(t, "two", "bob")
		time.Sleep(time.Second)
		h.terminal(t, "three", "bob")
		now := time.Now().Local().Format("15:04")
		room := "\n" + h.config.Name + " (agent)\nThe room is live: what you say and write is kept and answered."
		if got, want := x.give(t, "who", ""), "ann (human user), here since "+now+", at one\nBob (human user, a friend), here since "+now+", at two, three"+room; got != want {
			t.Errorf("ann is told\n%s\nwant\n%s", got, want)
		}
		if got, want := y.give(t, "who", ""), "ann (human user), here since "+now+"\nBob (human user, a friend), here since "+now+", at two, three"+room; got != want {
			t.Errorf("Bob is told\n%s\nwant\n%s", got, want)
		}
		h.stop()
	})
}

// TestState: nobody else can see in the state of the room that something private is going on.
func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x := h.terminal(t, "one", participants.Owner)
		h.terminal(t, "two", "bob")
		x.give(t, "msg", h.config.Name+" whisper")
		time.Sleep(25 * time.Millisecond)
		bob := h.State(earshot.Audience{Members: []earshot.ParticipantID{"bob"}})
		if bob.Speaking || strings.Join(bob.Outlets, " ") != "two" || bob.Mode != earshot.Live || len(bob.Here) != 2 {
			t.Errorf("Bob is told %+v", bob)
		}
		if s := h.state(); !s.Speaking || len(s.Outlets) != 3 {
			t.Errorf("ann is told %+v", s)
		}
		h.stop()
	})
}
