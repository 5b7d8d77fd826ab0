package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/executive/room"
	"earshot/executive/scene"
	"earshot/participants"
)

// named returns a message at the console with an ID.
func named(id, text string) earshot.Event {
	e := message(text)
	e.ID = earshot.EventID(id)
	return e
}

// with returns e with another body.
func with(e earshot.Event, b earshot.Body) earshot.Event {
	e.ID, e.Body = "", b
	return e
}

// admits lets an event in that must be let in.
func (h *house) admits(t *testing.T, e earshot.Event) {
	t.Helper()
	if err := h.Admit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// remains tells where a word is left: in the journal, in the scene, and in what the model
// was asked last.
func (h *house) remains(word string) (where []string) {
	for _, e := range h.journal.Events() {
		if data, _ := json.Marshal(e); strings.Contains(string(data), word) {
			where = append(where, fmt.Sprintf("%s %s", e.Body.Kind(), e.ID))
		}
	}
	view := room.Scene(h.Room).For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}})
	for _, f := range scene.Fields() {
		for _, i := range view.Items(f) {
			if strings.Contains(string(i.Text)+string(i.Was), word) {
				where = append(where, "the scene")
			}
		}
	}
	seen := h.model.Seen()
	if len(seen) == 0 {
		return where
	}
	for _, m := range seen[len(seen)-1].Messages {
		if strings.Contains(m.Text, word) {
			where = append(where, "the prompt")
		}
	}
	return where
}

// TestRevisedWhileItWaits: a message that is changed before it is answered is answered once, in its
// new words.
func TestRevisedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.say(t, "@earshot count")
		e := named("m", "@earshot what is a xylophone")
		e.From, e.Via = handle("bob"), "bob"
		c.must(t, "ann", "/mute", 0) // so that nothing else is heard
		c.admits(t, e)
		c.admits(t, with(e, earshot.Revision{Of: "m", Text: "@earshot what is a harp"}))
		time.Sleep(time.Second)
		c.stop()
		if found := c.remains("xylophone"); len(found) > 0 {
			t.Errorf("the old words are in %v", found)
		}
		n := 0
		for _, r := range c.replies() {
			if r.About == "m" && r.Outcome == earshot.Completed {
				n++
			}
		}
		if n != 1 {
			t.Errorf("it was answered %d times", n)
		}
	})
}

// TestRevisedBeforeItIsKept: a message that is changed before it is kept is answered once, in its
// new words.
func TestRevisedBeforeItIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journal.Slow(50 * time.Millisecond)
		h.open(t.Context())
		e := named("m", "what is a xylophone")
		go h.Admit(t.Context(), e)
		synctest.Wait()
		h.admits(t, with(e, earshot.Revision{Of: "m", Text: "what is a harp"})) // in the next commit
		time.Sleep(time.Second)
		h.stop()
		if n := len(h.model.Seen()); n != 1 || len(h.replies()) != 1 {
			t.Errorf("the model was asked %d times, and replied %d times", n, len(h.replies()))
		}
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("the old words are in %v", found)
		}
	})
}

// TestWithdrawnWhileItWaits: a message that is taken back while it waits is never answered.
func TestWithdrawnWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journal.Slow(50 * time.Millisecond)
		h.open(t.Context())
		e := named("m", "what is a xylophone")
		go h.Admit(t.Context(), e)
		synctest.Wait()
		h.admits(t, with(e, earshot.Withdrawal{Of: "m"})) // in the next commit
		time.Sleep(time.Second)
		h.say(t, "hello")
		time.Sleep(time.Second)
		h.stop()
		for _, r := range h.replies() {
			if r.About == "m" {
				t.Errorf("it was answered: %+v", r)
			}
		}
		if n := len(h.model.Seen()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("it is in %v", found)
		}
	})
}

// TestWithdrawnWithoutInterruption: when a message is taken back, its reply ends, even where nobody
// may interrupt.
func TestWithdrawnWithoutInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Interruption.Enabled = false
		h.open(t.Context())
		e := named("m", "count")
		h.admits(t, e)
		time.Sleep(25 * time.Millisecond)
		h.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
		time.Sleep(time.Second)
		h.stop()
		if n := h.console.Ends(); n != 1 || len(h.replies()) != 0 {
			t.Errorf("%d speeches ended, and there are %d replies", n, len(h.replies()))
		}
		if left := h.remains("one two"); len(left) > 0 {
			t.Errorf("what was said of it is in %v", left)
		}
	})
}

// TestWithdrawnWhatIsThoughtAbout: nothing more is thought about a message that was taken back, and
// what was thought about it is gone.
func TestWithdrawnWhatIsThoughtAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", "the xylophone has wooden bars and a long history"), one("xylophones are wooden"))
		h.open(t.Context())
		e := named("m", "think about the xylophone")
		h.admits(t, e)
		time.Sleep(4 * time.Second)
		if h.thoughts() == "" && !h.Busy() {
			t.Fatal("nothing is thought")
		}
		h.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
		time.Sleep(time.Minute)
		h.say(t, "hello")
		time.Sleep(time.Minute)
		h.stop()
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("it is in %v", found)
		}
	})
}

// TestWhoMayChange: a message may be changed only by its author, from where it came, and the change
// is for the people whom the message was for to begin with. A provider may only take back what came
// in, or came out, by it.
func TestWhoMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		older := earshot.Event{
			ID: "old", Room: earshot.Desk, Sequence: 1, From: ann, Author: participants.Owner, Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Owner, participants.Agent}},
			To: []earshot.ParticipantID{participants.Agent}, Body: earshot.Message{Text: "long ago"},
		}
		broken := errors.New("the disk is broken")
		h := newHouse()
		h.event = func(_ context.Context, id earshot.EventID) (earshot.Event, bool, error) {
			if id == "broken" {
				return earshot.Event{}, false, broken
			}
			return older, id == "old", nil
		}
		c := gather(t, h, "bob")
		if _, err := c.journal.Append(t.Context(), older); err != nil {
			t.Fatal(err)
		}
		c.admits(t, named("m", "@bob hello"))
		c.must(t, "ann", "/note tea", 0)
		memo := c.journal.Events()[len(c.journal.Events())-1]
		bob := earshot.Event{From: handle("bob"), Via: "bob"}
		elsewhere := earshot.Event{From: earshot.Handle{Provider: "discord", ID: "ann"}}
		house := earshot.Event{From: earshot.Handle{Provider: "console"}}
		stranger := earshot.Event{From: earshot.Handle{Provider: "discord"}}
		c.say(t, "@earshot count")
		time.Sleep(time.Second)
		replies := c.journal.Events()
		reply := replies[slices.IndexFunc(replies, func(e earshot.Event) bool { return e.Body.Kind() == earshot.KindReply })]
		there, nowhere := house, house
		there.Via, nowhere.Via = reply.Body.(earshot.Reply).Heard[0].Outlet, "shop window"
		for _, tt := range []struct {
			from earshot.Event
			body earshot.Body
			want string
		}{
			{bob, earshot.Revision{Of: "m", Text: "x"}, "somebody else wrote that message"},
			{bob, earshot.Withdrawal{Of: "m"}, "somebody else wrote that message"},
			{elsewhere, earshot.Withdrawal{Of: "m"}, "somebody else wrote that message"},
			{stranger, earshot.Withdrawal{Of: "m"}, "somebody else wrote that message"},
			{house, earshot.Revision{Of: "m", Text: "x"}, "somebody else wrote that message"},
			{message(""), earshot.Revision{Of: "nothing", Text: "x"}, "there is no such message"},
			{message(""), earshot.Withdrawal{Of: "broken"}, "the disk is broken"},
			{message(""), earshot.Revision{Of: "m", Text: " "}, "an empty message says nothing"},
			{message(""), earshot.Revision{Of: "m", Text: earshot.Text(strings.Repeat("x", earshot.MaxText+1))}, "too long"},
			{message(""), earshot.Revision{Of: memo.ID, Text: "x"}, "only a message can be changed"},
			{message(""), earshot.Revision{Of: "m", Text: "hello \xff"}, ""},
			{message(""), earshot.Revision{Of: "old", Text: "just now"}, ""},
			{there, earshot.Revision{Of: reply.ID, Text: "x"}, "somebody else wrote that message"},
			{nowhere, earshot.Withdrawal{Of: reply.ID}, "somebody else wrote that message"},
			{bob, earshot.Withdrawal{Of: reply.ID}, "somebody else wrote that message"},
			{there, earshot.Withdrawal{Of: reply.ID}, ""},
			{house, earshot.Withdrawal{Of: "m"}, ""},
			{house, earshot.Withdrawal{Of: "m"}, ""},
			{message(""), earshot.Revision{Of: "m", Text: "again"}, "taken back"},
		} {
			err := c.Admit(t.Context(), with(tt.from, tt.body))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s of %v: %v, want %q", tt.body.Kind(), tt.from.From, err, tt.want)
			}
		}
		c.stop()
		if left := c.remains("one two"); len(left) > 0 {
			t.Errorf("the reply that was taken back is in %v", left)
		}
		for _, e := range c.journal.Events() {
			if b, ok := e.Body.(earshot.Revision); ok && b.Of == "old" && (e.Visibility.Scope != earshot.Private || !slices.Equal(e.Visibility.Members, older.Visibility.Members) || !slices.Equal(e.To, older.To)) {
				t.Errorf("a private message is changed for %v, to %v", e.Visibility, e.To)
			}
		}
		for _, text := range texts(c.screens["bob"]) {
			if strings.Contains(text, "just now") {
				t.Errorf("bob sees %q", text)
			}
		}
	})
}

// TestOffTheRecordNothingIsRevised: off the record no message can be changed, since the new words
// would be kept. Of a message that was not kept, nothing is kept when it changes, and a kept
// message can still be taken back.
func TestOffTheRecordNothingIsRevised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		kept := named("m", "hello")
		h.admits(t, kept)
		time.Sleep(time.Second)
		h.give(t, "offrecord", "")
		if err := h.Admit(t.Context(), with(kept, earshot.Revision{Of: "m", Text: "xylophone"})); err == nil {
			t.Error("a message was changed off the record")
		}
		unkept := named("n", "xylophone")
		h.admits(t, unkept)
		h.admits(t, with(unkept, earshot.Revision{Of: "n", Text: "the xylophone"}))
		h.admits(t, with(unkept, earshot.Withdrawal{Of: "n"}))
		h.admits(t, with(kept, earshot.Withdrawal{Of: "m"}))
		h.stop()
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("it is in %v", found)
		}
		if e := h.journal.Events()[0]; e.Body.Kind() != earshot.KindErased {
			t.Errorf("what was taken back is a %s", e.Body.Kind())
		}
	})
}

// TestChangesOfSpelling: a change that only corrects the spelling is not answered again.
func TestChangesOfSpelling(t *testing.T) {
	for _, tt := range []struct {
		was, is string
		same    bool
	}{
		{"when is low tied", "When is low tide?", true},
		{"when is the ferry", "When is teh ferry??", true},
		{"tomorow at nine", "tomorrow at nine", true},
		{"**bold** words", "bold words", true},
		{"do it now", "do it not", false},
		{"at 15 hours", "at 16 hours", false},
		{"high tide", "low tide", false},
		{"tide", "tide tomorrow", false},
		{"what is a cat", "what is a car", false},
		{"?!", "tide", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse().open(t.Context())
			e := named("m", tt.was)
			h.admits(t, e)
			time.Sleep(25 * time.Millisecond)
			h.admits(t, with(e, earshot.Revision{Of: "m", Text: earshot.Text(tt.is)}))
			time.Sleep(time.Second)
			h.stop()
			if n := len(h.replies()); (n == 1) != tt.same {
				t.Errorf("from %q to %q: there are %d replies", tt.was, tt.is, n)
			}
		})
	}
}

// TestAReplyIsNamedByItsTurn: a message that answers a reply of the agent is for the agent, and
// says on record which reply that is. A message that answers or calls somebody else is for them.
func TestAReplyIsNamedByItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.say(t, "@earshot count")
		time.Sleep(time.Second)
		reply := c.replies()[0]
		n := 0
		answers := func(who string, to earshot.EventID, text earshot.Text) string {
			n++
			e := earshot.Event{ID: earshot.EventID(fmt.Sprint("a", n)), From: handle(who), Via: who, Body: earshot.Message{Text: text, ReplyTo: to}}
			c.admits(t, e)
			time.Sleep(time.Second)
			for _, d := range c.journal.Events() {
				if b, ok := d.Body.(earshot.Decision); ok && b.About == e.ID {
					return string(b.Verdict) + ": " + strings.Join(b.Reasons, ", ")
				}
			}
			return ""
		}
		if got := answers("bob", earshot.EventID(reply.Turn), "and on?"); got != "speak: "+reason.Replied {
			t.Errorf("an answer to the reply is decided about as %q", got)
		}
		if got := answers("bob", earshot.EventID(reply.Turn), "@ann look"); got != "silent: "+addressing.ToOthers {
			t.Errorf("an answer to the reply that calls ann is decided about as %q", got)
		}
		if got := answers("bob", reply.About, "me too"); got != "silent: "+addressing.ToOthers {
			t.Errorf("an answer to ann is decided about as %q", got)
		}
		if got := answers("bob", "nothing", "me too"); got != "silent: "+addressing.Elsewhere {
			t.Errorf("an answer to nothing is decided about as %q", got)
		}
		c.stop()
		for _, e := range c.journal.Events() {
			m, ok := e.Body.(earshot.Message)
			if i := slices.IndexFunc(c.journal.Events(), func(r earshot.Event) bool { return r.ID == m.ReplyTo }); ok && m.Text == "and on?" && (i < 0 || c.journal.Events()[i].Body.Kind() != earshot.KindReply) {
				t.Errorf("it says that it answers %s", m.ReplyTo)
			}
		}
	})
}

// TestAnAnswerToSomethingOld: a message that answers something the room does not remember is for
// the agent if the agent wrote that.
func TestAnAnswerToSomethingOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.event = func(_ context.Context, id earshot.EventID) (earshot.Event, bool, error) {
			return earshot.Event{ID: "old", Author: participants.Agent, Body: earshot.Reply{Offered: "long ago"}}, id == "old", nil
		}
		c := gather(t, h, "bob")
		e := earshot.Event{ID: "e", From: handle("bob"), Via: "bob", Body: earshot.Message{Text: "and on?", ReplyTo: "old"}}
		c.admits(t, e)
		time.Sleep(time.Second)
		c.stop()
		if all := c.replies(); len(all) != 1 || all[0].About != "e" {
			t.Errorf("the replies are %+v", all)
		}
	})
}

// TestWithdrawnIsNotQuoted: once a message is taken back, the model reads what answered it without
// a quotation of it.
func TestWithdrawnIsNotQuoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		first := named("m", "the xylophone is red")
		h.admits(t, first)
		time.Sleep(time.Second)
		second := message("is it?")
		second.Body = earshot.Message{Text: "is it?", ReplyTo: "m"}
		h.admits(t, second)
		time.Sleep(time.Second)
		if len(h.remains("xylophone")) == 0 {
			t.Fatal("it is nowhere to begin with")
		}
		h.admits(t, with(first, earshot.Withdrawal{Of: "m"}))
		h.say(t, "and now?")
		time.Sleep(time.Second)
		h.stop()
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("it is in %v", found)
		}
		if found := h.remains("is it?"); len(found) == 0 {
			t.Error("what answered it is gone")
		}
	})
}

// TestTheSceneStaysThatOfTheJournal: whatever is changed and taken back, the scene matches the
// journal.
func TestTheSceneStaysThatOfTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.scenery = func(context.Context) ([]earshot.Event, error) { return h.journal.Events(), nil }
		h.open(t.Context())
		for i := range 20 { // more than the scene holds
			e := named(fmt.Sprint("m", i), fmt.Sprint("the tide is ", i))
			e.Body = earshot.Message{Text: earshot.Text(fmt.Sprint("the tide is ", i)), Attachments: []earshot.Attachment{{Name: "tide.png"}}}
			h.admits(t, e)
			time.Sleep(time.Second)
			switch i % 4 {
			case 1:
				h.admits(t, with(e, earshot.Revision{Of: e.ID, Text: "ebb"}))
			case 3:
				h.admits(t, with(e, earshot.Withdrawal{Of: earshot.EventID(fmt.Sprint("m", i-1))}))
			}
			if got := h.give(t, "context", "resync"); got != "It matches the journal." {
				t.Fatalf("after %d: %s", i, got)
			}
		}
		h.stop()
	})
}
