package room_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/internal/testkit"
	"earshot/participants"
)

// give gives a command at the console, and returns what the console showed.
func (h *house) give(t *testing.T, name, args string) string {
	t.Helper()
	before := len(texts(h.console))
	e := earshot.Event{From: ann, Via: "console", Body: earshot.Command{Name: name, Args: earshot.Text(args)}}
	if err := h.Admit(t.Context(), e); err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(texts(h.console)[before:], "\n")
}

// kinds returns in words what was kept.
func (h *house) kinds() string {
	var all []string
	for _, e := range h.journal.Events() {
		switch b := e.Body.(type) {
		case earshot.ModeChange:
			all = append(all, fmt.Sprintf("%s:%s", e.Author, b.Mode))
			if b.Returns != "" {
				all[len(all)-1] += " until " + string(b.Returns)
			}
		case earshot.Decision:
			all = append(all, fmt.Sprintf("%s (%s)", b.Verdict, strings.Join(b.Reasons, ", ")))
		case earshot.Reply:
			all = append(all, "reply "+string(b.Outcome))
		case earshot.Presence:
			all = append(all, fmt.Sprintf("%s:%v*%d", e.Author, b.Here, b.Times))
		default:
			all = append(all, string(b.Kind()))
		}
	}
	return strings.Join(all, "; ")
}

// TestModes: each mode decides what is kept and answered, both of what is written and of what a
// sense that has not stopped yet still hands in.
func TestModes(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"mute", "owner:muted; message; speak (nobody else is here, so it was for me); reply completed"},
		{"pause", "owner:paused; message; silent (the room is paused)"},
		{"offrecord", "owner:off the record"},
		{"resume", "message; speak (nobody else is here, so it was for me); reply completed; utterance; silent (it was said aloud, and not to me)"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				answer := h.give(t, tt.command, "")
				h.say(t, "one two")
				time.Sleep(time.Second)
				said := earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Utterance{Text: "we had lunch", Confidence: 1}}
				if err := h.Admit(t.Context(), said); err != nil {
					t.Error(err)
				}
				h.stop()
				if got := h.kinds(); got != tt.want {
					t.Errorf("kept: %s\nwant: %s", got, tt.want)
				}
				if n := h.state().Dropped; n != map[bool]int{false: 1}[tt.command == "resume"] {
					t.Errorf("%d sounds were thrown away", n)
				}
				if live := tt.command == "resume"; live != strings.Contains(answer, "already live") {
					t.Errorf("answered %q", answer)
				}
			})
		})
	}
}

// TestAVoiceThatEndsBecauseOfTheMode: when a mode ends a voice, the room still hears that it is
// over, so that it holds nobody up.
func TestAVoiceThatEndsBecauseOfTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.TypedAloud = true
		h.open(t.Context())
		h.Enter(&testkit.Voice{Called: "loudspeaker", Every: time.Millisecond, Aloud: true}, earshot.Audience{Unknown: true})
		speech := func(s earshot.Stage) {
			e := earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Speech{Stage: s, Confidence: 1}}
			if err := h.Admit(t.Context(), e); err != nil {
				t.Error(err)
			}
		}
		h.say(t, "count")
		time.Sleep(15 * time.Millisecond)
		speech(earshot.VoiceLasts)
		h.give(t, "mute", "")
		time.Sleep(time.Second)
		if n := len(h.replies()); n != 0 {
			t.Errorf("%d replies while somebody speaks", n)
		}
		speech(earshot.VoiceOver)
		time.Sleep(time.Second)
		h.stop()
		if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Completed {
			t.Errorf("replies %+v", r)
		}
	})
}

// TestWhoMayChangeTheMode: everybody in the room may change the mode; scripts and strangers may
// not.
func TestWhoMayChangeTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		bob, script := h.terminal(t, "one", "bob"), h.terminal(t, "two", participants.Generic)
		for _, tt := range []struct {
			by   *terminal
			want string
		}{
			{script, "error: only somebody in the room can change what it takes in; it is live"},
			{bob, ""},
		} {
			if got := tt.by.give(t, "mute", ""); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.by.Called, got, tt.want)
			}
		}
		stranger := earshot.Event{From: earshot.Handle{Provider: "voice", ID: "3"}, Body: earshot.Command{Name: "resume"}}
		if err := h.Admit(t.Context(), stranger); err == nil || err.Error() != "/resume is only for people I know" {
			t.Errorf("a stranger: %v", err)
		}
		if got := script.give(t, "note", "hello"); !strings.Contains(got, "say who you are") {
			t.Errorf("a script notes: %q", got)
		}
		h.stop()
	})
}

// TestWhispersOffTheRecord: a whisper off the record is shown to the people it is for and to nobody
// else. If they are not there, nobody will ever see it, and the sender is told so.
func TestWhispersOffTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x, y, z := h.terminal(t, "one", participants.Owner), h.terminal(t, "two", "bob"), h.terminal(t, "three", "bob")
		z.give(t, "identity", "Dan")
		x.give(t, "offrecord", "")
		kept := len(h.journal.Events())
		x.give(t, "msg", "Bob SECRET")
		if got := x.give(t, "msg", "cara SECRET"); !strings.Contains(got, "Nobody has seen that") {
			t.Errorf("told %q", got)
		}
		x.give(t, "msg", h.config.Name+" SECRET")
		time.Sleep(time.Second)
		h.stop()
		for who, want := range map[*terminal]int{x: 3, y: 1, z: 0} {
			if got := strings.Count(strings.Join(texts(who.Voice), "\n"), "SECRET"); got != want {
				t.Errorf("%s is shown it %d times, want %d", who.Called, got, want)
			}
		}
		if n := len(h.journal.Events()); n != kept || len(h.model.Seen()) != 0 {
			t.Errorf("%d events were kept, the model was asked %d times", n-kept, len(h.model.Seen()))
		}
	})
}

func TestRepeatedItIsToldAndNotAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		_, changed := h.Mode()
		h.give(t, "mute", "")
		<-changed
		if got := h.give(t, "mute", ""); !strings.Contains(got, "already muted: no sound is taken in") || !strings.Contains(got, "/resume") {
			t.Errorf("answered %q", got)
		}
		h.give(t, "resume", "")
		h.stop()
		if got := h.kinds(); got != "owner:muted; owner:live" {
			t.Errorf("kept %s", got)
		}
	})
}

// TestTheLiveReplyIsCut: a pause, and going off the record, cut the live reply, and what was heard
// of it before is written down.
func TestTheLiveReplyIsCut(t *testing.T) {
	for _, command := range []string{"pause", "offrecord"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.config.Interruption.Enabled = false // so that the cut is no interruption
			h.open(t.Context())
			h.say(t, "count")
			time.Sleep(25 * time.Millisecond)
			h.give(t, command, "")
			time.Sleep(time.Second)
			h.stop()
			got := h.replies()
			if len(got) != 1 || got[0].Outcome != earshot.Interrupted || got[0].Cut.By != participants.Owner || got[0].Delivered() == "" {
				t.Errorf("/%s: %+v", command, got)
			}
			if h.console.Played() != string(got[0].Delivered()) {
				t.Errorf("/%s: it went on talking", command)
			}
		})
	}
}

// TestOffTheRecord: what is written off the record is shown to the people who may see it, and is
// nowhere else.
func TestOffTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		other := &testkit.Voice{Called: "other"}
		h.Enter(other, earshot.Audience{Members: []earshot.ParticipantID{"bob"}})
		h.give(t, "offrecord", "")
		e := message("SECRET")
		e.ID = "mine"
		for range 2 { // sent twice, as by a client that had no answer
			if err := h.Admit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.give(t, "note", "SECRET"); !strings.Contains(got, "off the record") {
			t.Errorf("a note: %q", got)
		}
		for _, name := range []string{"context", "why", "who"} {
			if got := h.give(t, name, ""); strings.Contains(got, "SECRET") {
				t.Errorf("/%s: %q", name, got)
			}
		}
		h.give(t, "resume", "")
		if err := h.Admit(t.Context(), e); err != nil { // and again once everything is kept
			t.Fatal(err)
		}
		h.say(t, "what was said?")
		time.Sleep(time.Second)
		h.say(t, "count")
		time.Sleep(time.Second)
		h.stop()
		shown := 0
		for _, e := range other.Shown() {
			if m, ok := e.Body.(earshot.Message); ok && m.Text == "SECRET" {
				shown++
				if e.Author != participants.Owner || e.ID != "" || e.Sequence != 0 {
					t.Errorf("shown as %s %d by %s", e.ID, e.Sequence, e.Author)
				}
			}
		}
		if shown != 1 {
			t.Errorf("the other was shown it %d times", shown)
		}
		for _, e := range h.journal.Events() {
			data, _ := e.MarshalJSON()
			if strings.Contains(string(data), "SECRET") || strings.Contains(string(data), "mine") {
				t.Errorf("kept: %s", data)
			}
		}
		for _, r := range h.model.Seen() {
			for _, m := range r.Messages {
				if strings.Contains(m.Text, "SECRET") {
					t.Errorf("in the prompt: %s", m.Text)
				}
			}
		}
		if strings.Contains(h.logged.String(), "SECRET") || strings.Contains(h.logged.String(), "mine") {
			t.Error("logged")
		}
	})
}

// TestSentBeforeTheSwitch: a message that was admitted on the record is kept, although it is
// committed after the switch. It is not answered any more.
func TestSentBeforeTheSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.journal.Slow(time.Minute)
		sent := make(chan error, 3)
		go func() { sent <- h.Admit(t.Context(), message("first")) }()
		synctest.Wait()
		go func() { sent <- h.Admit(t.Context(), message("second")) }()
		synctest.Wait()
		go func() { sent <- h.SetMode(t.Context(), participants.Owner, earshot.OffRecord) }()
		synctest.Wait()
		if err := h.Admit(t.Context(), message("third")); err != nil { // it waits for no disk
			t.Error(err)
		}
		for range 3 {
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Hour)
		h.stop()
		const end = "; reply interrupted" // the turn ends before, between or after the others are written
		want := "message; speak (nobody else is here, so it was for me); message; silent (the room is off the record); owner:off the record"
		if got := h.kinds(); strings.Count(got, end) != 1 || strings.Replace(got, end, "", 1) != want {
			t.Errorf("kept %s\nwant %s%s", got, want, end)
		}
	})
}

// TestBackOnTheRecord: nothing is kept until everybody has been told that the room is live again.
// If somebody goes off the record again meanwhile, it is off the record at once, and stays so.
func TestBackOnTheRecord(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse().open(t.Context())
			h.give(t, "offrecord", "")
			h.journal.Slow(time.Minute)
			go h.SetMode(t.Context(), participants.Owner, earshot.Live)
			synctest.Wait()
			h.say(t, "SECRET")
			if again {
				go h.SetMode(t.Context(), participants.Owner, earshot.OffRecord)
			}
			time.Sleep(time.Hour)
			h.journal.Slow(0)
			h.say(t, "hello")
			time.Sleep(time.Second)
			h.stop()
			want := "owner:off the record; owner:live; message; speak (nobody else is here, so it was for me); reply completed"
			if again {
				want = "owner:off the record; owner:live; owner:off the record"
			}
			if got := h.kinds(); got != want {
				t.Errorf("kept %s\nwant %s", got, want)
			}
		})
	}
}

func TestAModeSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.past = []earshot.Event{
			{ID: "1", Sequence: 1, Author: participants.Owner, Visibility: earshot.Visibility{Scope: earshot.System}, Body: earshot.ModeChange{Mode: earshot.Muted}},
			{ID: "2", Sequence: 2, Author: participants.Owner, Visibility: earshot.Visibility{Scope: earshot.System}, Body: earshot.ModeChange{Mode: earshot.Paused}},
		}
		h.journal.From(2)
		h.open(t.Context())
		if mode, _ := h.Mode(); mode != earshot.Paused {
			t.Errorf("it is %s", mode)
		}
		late := &testkit.Voice{Called: "late"}
		h.Enter(late, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
		if got := texts(late); len(got) != 1 || !strings.HasPrefix(got[0], "The room is paused: ") {
			t.Errorf("who attaches sees first: %q", got)
		}
		if got := h.give(t, "who", ""); !strings.Contains(got, "paused") {
			t.Errorf("/who: %q", got)
		}
		h.stop()
	})
}

// TestAModeThatCannotBeWrittenDown: a mode that the journal refuses holds all the same, and people
// are told.
func TestAModeThatCannotBeWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.journal.Fail(errors.New("disk full"))
		if got := h.give(t, "offrecord", ""); !strings.Contains(got, "only until earshot stops") {
			t.Errorf("answered %q", got)
		}
		if mode, _ := h.Mode(); mode != earshot.OffRecord {
			t.Errorf("it is %s", mode)
		}
		h.stop()
		if err := h.SetMode(t.Context(), participants.Owner, earshot.Live); err == nil {
			t.Error("a closed room changes its mode")
		}
		shown := h.console.Shown()
		if m, ok := shown[len(shown)-1].Body.(earshot.ModeChange); !ok || m.Mode != earshot.OffRecord {
			t.Errorf("shown %+v", shown[len(shown)-1])
		}
	})
}

// TestNote: a note is shown, is in the prompt, and is still there after a restart.
func TestNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		for _, tt := range []struct{ text, want string }{
			{" ", "error: what shall I keep in mind? Write: /note TEXT"},
			{strings.Repeat("x", 301), "error: the note has 301 bytes, and at most 300 are possible; use fewer words"},
			{"the door code is on the fridge", ""},
		} {
			if got := h.give(t, "note", tt.text); got != tt.want {
				t.Errorf("/note: %q, want %q", got, tt.want)
			}
		}
		h.stop()
		past := h.journal.Events()
		if m, ok := past[0].Body.(earshot.Memo); len(past) != 1 || !ok || past[0].Author != participants.Owner || past[0].Visibility.Scope != earshot.Public || m.Text == "" {
			t.Errorf("kept %s", h.kinds())
		}
		again := newHouse()
		again.past = past
		again.journal.From(1)
		again.open(t.Context())
		again.say(t, "count")
		time.Sleep(time.Second)
		again.stop()
		messages := again.model.Seen()[0].Messages
		if last := messages[len(messages)-1].Text; !strings.Contains(last, "ann: the door code is on the fridge") {
			t.Errorf("the model reads %q", last)
		}
	})
}

// TestCommandsOfARoom: a room may have commands that other rooms do not have, and /help lists them.
func TestCommandsOfARoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.extra = command.Table{{Group: "This call", Name: "leave", Help: "leave it", Do: func(_ context.Context, c command.Call) (string, error) {
			return "left, as " + c.By.Name + " says", nil
		}}}
		h.open(t.Context())
		if got := h.give(t, "leave", ""); got != "left, as ann says" {
			t.Errorf("it answered %q", got)
		}
		if got := h.give(t, "help", ""); !strings.Contains(got, "This call\n  /leave ") || !strings.Contains(got, "/help") || !strings.Contains(got, "/who") {
			t.Errorf("help is\n%s", got)
		}
		h.stop()
	})
}
