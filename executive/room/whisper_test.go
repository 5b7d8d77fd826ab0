package room_test

import (
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
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// TestWhispers: /msg sends a text to the people whom it names, or says why it cannot. Bob is here,
// carol and old friend are known and away.
func TestWhispers(t *testing.T) {
	const noName = "nobody has that name, so nothing was sent"
	for _, tt := range []struct{ name, command, want string }{
		{"to somebody here", "/msg bob hello", "bob: hello"},
		{"in any case, and with an @", "/msg @BOB hello", "bob: hello"},
		{"with a colon", "/msg bob: carol is late", "bob: carol is late"},
		{"to two", "/msg bob, carol hello", "bob carol: hello"},
		{"to two without a space", "/msg bob,carol: hello", "bob carol: hello"},
		{"twice to one", "/msg bob, bob hello", "bob: hello"},
		{"a name of two words", "/msg old friend hello", "old friend: hello"},
		{"a name in quotes", `/msg "old friend" hello`, "old friend: hello"},
		{"to the agent", "/msg earshot what is new?", "agent: what is new?"},
		{"to both", "/msg bob, earshot hello", "bob agent: hello"},
		{"several lines", "/msg bob hello\nbob", "bob: hello\nbob"},
		{"oneself beside another", "/msg bob, ann hello", "bob: hello"},

		{"to nobody", "/msg", "to whom? Write /msg NAME text"},
		{"without a text", "/msg bob", "an empty message says nothing; write /msg NAME text"},
		{"with an empty text", "/msg bob:  \n", "an empty message says nothing; write /msg NAME text"},
		{"to oneself", "/msg ann hello", "that is you; to keep something in mind, use /note"},
		{"a name nobody has", "/msg bobb hello", noName + "; did you mean bob?"},
		{"a name nobody is near", "/msg xyzzy hello", noName + "; /who shows who is here"},
		{"a part of a name", "/msg old hello", noName},
		{"to a list that is none", "/msg bob, are you there?", "a comma must be followed by another name, and a colon ends the names: " + noName},
		{"to all", "/msg all hello", noName},
		{"to scripts", "/msg user hello", noName},
		{"a quote without an end", `/msg "bob hello`, "the closing quote after the name is missing"},
		{"a quote that nobody is called", `/msg "bob hello" x`, noName},
		{"too long", "/msg bob " + strings.Repeat("x", earshot.MaxText+1), "is too long: at most 65536"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse(), "bob")
				err := c.writes(t, "ann", tt.command)
				time.Sleep(time.Second)
				c.stop()
				kept := c.messages()
				if err != nil {
					if len(kept) > 0 || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("%d are kept, and said is %q, want %q", len(kept), err, tt.want)
					}
					return
				}
				if told := c.told("ann"); len(told) > 0 && !strings.Contains(tt.want, "carol") && !strings.Contains(tt.want, "old friend") {
					t.Errorf("she was told %q", told)
				}
				m := kept[0]
				got := strings.Trim(fmt.Sprint(m.To), "[]") + ": " + string(m.Body.(earshot.Message).Text)
				if got != tt.want || m.Visibility.Scope != earshot.Private || len(m.Visibility.Members) != len(m.To)+1 {
					t.Errorf("sent %q to %v, want %q", got, m.Visibility, tt.want)
				}
			})
		})
	}
}

// TestAnAmbiguousNameIsNotGuessed: a text that could go to one person or to another goes to nobody.
func TestAnAmbiguousNameIsNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.people = registry(t, "mia", "mia berg")
		c := &company{house: h.open(t.Context())}
		err := c.writes(t, "ann", "/msg mia berg is steep")
		if err == nil || !strings.Contains(err.Error(), "in quotes") || len(c.messages()) > 0 {
			t.Errorf("it was sent: %v", err)
		}
		c.must(t, "ann", `/msg "mia" berg is steep`, time.Second)
		c.must(t, "ann", "/msg mia: berg is steep", time.Second)
		c.stop()
		for _, m := range c.messages() {
			if !slices.Equal(m.To, []earshot.ParticipantID{"mia"}) {
				t.Errorf("it went to %v", m.To)
			}
		}
	})
}

// TestWhoMayWhisper: only somebody who is known may whisper.
func TestWhoMayWhisper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		for _, from := range []earshot.Handle{handle("nobody"), {}} {
			err := c.Admit(t.Context(), earshot.Event{From: from, Via: "console", Body: earshot.Command{Name: "msg", Args: "bob hello"}})
			if err == nil || !strings.Contains(err.Error(), "--identity") {
				t.Errorf("from %v: %v", from, err)
			}
		}
		c.stop()
		if n := len(c.messages()); n > 0 {
			t.Errorf("%d are kept", n)
		}
	})
}

// TestAWhisperSentTwiceIsOne: a whisper that a terminal sends again, because it had no answer, is
// one message.
func TestAWhisperSentTwiceIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		for range 2 {
			e := earshot.Event{ID: "mine", From: ann, Via: "console", Body: earshot.Command{Name: "msg", Args: "bob, earshot hello"}}
			if err := c.Admit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		c.stop()
		if m := c.messages(); len(m) != 1 || m[0].ID != "mine" || len(c.replies()) != 1 {
			t.Errorf("%d messages, %d replies", len(m), len(c.replies()))
		}
	})
}

// TestPrivateConversationsRemainPrivate: what people write to each other in private is shown to
// them alone. No agent sees it, nothing is decided about it, and nobody else is told of it.
func TestPrivateConversationsRemainPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob", "carol")
		c.must(t, "ann", "/msg bob the canary sings", time.Second)
		c.must(t, "ann", "/context", time.Second)
		c.must(t, "bob", "Earshot, what was said?", time.Second)
		c.must(t, "bob", "Earshot, count", time.Second)
		c.must(t, "carol", "/why", time.Second)
		c.stop()
		for _, seen := range c.model.Seen() {
			if strings.Contains(fmt.Sprint(seen.Messages), "canary") {
				t.Error("it is in a prompt")
			}
		}
		shown := func(name string) int { return strings.Count(strings.Join(texts(c.screens[name]), "\n"), "canary") }
		if shown("ann") != 1 || shown("bob") != 1 || shown("carol") != 0 {
			t.Errorf("shown to ann %d times, to bob %d, to carol %d", shown("ann"), shown("bob"), shown("carol"))
		}
		if n := len(c.decided()); n != 2 {
			t.Errorf("%d decisions: %q", n, c.decided())
		}
		if strings.Contains(c.screens["bob"].Played(), "canary") || strings.Contains(c.logged.String(), "canary") {
			t.Error("it was read out, or logged")
		}
	})
}

// TestPrivateConversationsRemainPrivateFromOtherAgents: what is written to one agent, in private or
// by a mention, is not seen by another agent.
func TestPrivateConversationsRemainPrivateFromOtherAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.must(t, "ann", "/msg Scout the canary sings", time.Second)
		c.must(t, "ann", "@Scout the canary sings", time.Second)
		c.must(t, "bob", "Earshot, count", time.Second)
		c.stop()
		if got := fmt.Sprint(c.model.Seen()); strings.Contains(got, "canary") {
			t.Error("the other agent reads it")
		}
		if got := strings.Join(texts(c.screens["bob"]), "\n"); strings.Count(got, "canary") != 1 {
			t.Errorf("bob, who shares the room, sees %q", got)
		}
		for _, e := range c.messages()[:2] {
			if e.Visibility.Allows(earshot.Audience{}.With(participants.Agent)) || !e.Visibility.Allows(earshot.Audience{}.With("scout")) {
				t.Errorf("it is for %+v", e.Visibility)
			}
		}
	})
}

// TestAPrivateReply: a private reply is seen only by those who were written to, and is never heard.
// What comes of it is private, too.
func TestAPrivateReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.TypedAloud = true
		h.model.Reply = "the canary answers"
		c := gather(t, h, "bob", "carol")
		voice := &testkit.Voice{Called: "loudspeaker", Aloud: true}
		c.Enter(voice, earshot.Audience{Unknown: true})
		earphone := &testkit.Voice{Called: "earphone", Aloud: true}
		c.Enter(earphone, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
		c.must(t, "ann", "/msg earshot, bob tell us", time.Second)
		c.stop()
		for _, who := range []string{"ann", "bob"} {
			if !strings.Contains(c.screens[who].Played(), "canary") {
				t.Errorf("%s does not see it", who)
			}
		}
		if voice.Played()+earphone.Played()+c.screens["carol"].Played() != "" {
			t.Error("it was heard, or seen by others")
		}
		for _, e := range c.journal.Events() {
			if k := e.Body.Kind(); k != earshot.KindPresence && e.Visibility.Allows(earshot.Audience{Members: []earshot.ParticipantID{"carol"}}) {
				t.Errorf("carol may see a %s", k)
			}
			if e.Body.Kind() == earshot.KindReply && fmt.Sprint(e.To) != "[owner bob]" {
				t.Errorf("the reply is to %v", e.To)
			}
		}
		if got := c.decided(); !slices.Equal(got, []string{addressing.Whispered}) {
			t.Errorf("decided %q", got)
		}
	})
}

// TestAFaultQuotesNothingPrivate: everybody is told that the model fails, but not what a server
// says about that, since it may quote a private question.
func TestAFaultQuotesNothingPrivate(t *testing.T) {
	for _, err := range []error{&llm.Error{Fault: llm.Broken, Engine: "ollama", Err: errors.New("500: cannot parse the canary")}, errors.New("the canary")} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.model.Troubles = []llmtest.Trouble{{Err: err}}
			c := gather(t, h, "bob")
			c.must(t, "ann", "/msg earshot the canary", time.Second)
			c.stop()
			told := c.told("bob")
			for _, n := range c.State(earshot.Audience{Members: []earshot.ParticipantID{"bob"}}).Faults {
				told = append(told, n.Text)
			}
			if len(told) != 2 || strings.Contains(strings.Join(told, " "), "canary") {
				t.Errorf("bob is told %q", told)
			}
		})
	}
}

// TestNoPrivateAnswerWhereOthersRead: at a screen that two people share nothing is answered in
// private, and the sender is told so.
func TestNoPrivateAnswerWhereOthersRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse())
		shared := &testkit.Voice{Called: "bob", Flow: true}
		c.screens["bob"] = shared
		c.Enter(shared, earshot.Audience{Members: []earshot.ParticipantID{"bob", "carol"}})
		c.must(t, "bob", "/msg earshot the canary", time.Second)
		c.stop()
		if shared.Played() != "" || len(c.model.Seen()) > 0 || len(c.told("bob")) != 1 {
			t.Errorf("shown %q, told %q", shared.Played(), c.told("bob"))
		}
		if got := c.replies(); len(got) != 1 || got[0].Outcome != earshot.Suppressed {
			t.Errorf("replies %+v", got)
		}
	})
}

// TestAWhisperAndAQuestion: a question that one person asks in private neither cuts the answer to
// another, nor takes the place of what another has asked.
func TestAWhisperAndAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob", "carol")
		c.must(t, "ann", "Earshot, count", 15*time.Millisecond)
		c.must(t, "bob", "/msg earshot count", time.Millisecond)
		c.must(t, "carol", "/msg earshot count", time.Millisecond)
		time.Sleep(time.Second)
		c.must(t, "bob", "/msg earshot count", 15*time.Millisecond)
		c.must(t, "bob", "/msg earshot and again", time.Second)
		c.stop()
		var got []string
		for _, r := range c.replies() {
			got = append(got, string(r.Outcome))
		}
		if want := "completed completed completed interrupted completed"; strings.Join(got, " ") != want {
			t.Errorf("the answers were %q, want %q", strings.Join(got, " "), want)
		}
	})
}

// TestAWhisperWhileItIsQuiet: a whisper is answered while the room is quiet, since it disturbs
// nobody else, and the room stays quiet.
func TestAWhisperWhileItIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse())
		c.must(t, "ann", "be quiet", time.Second)
		c.must(t, "ann", "/msg earshot count", time.Second)
		c.must(t, "ann", "count", time.Second)
		c.stop()
		if got, want := c.decided(), []string{reason.Commanded, addressing.Whispered, reason.Hushed}; !slices.Equal(got, want) {
			t.Errorf("decided %q, want %q", got, want)
		}
	})
}

// TestAWhisperToSomebodyAway: a whisper to somebody who is away is kept for them, and the sender is
// told so.
func TestAWhisperToSomebodyAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.must(t, "ann", "/msg bob, carol, old friend lunch?", time.Second)
		c.stop()
		if got := c.told("ann"); !slices.Equal(got, []string{"carol and old friend are not here and will find it in the history"}) {
			t.Errorf("she was told %q", got)
		}
		if len(c.told("bob")) > 0 || len(c.messages()) != 1 {
			t.Errorf("bob was told %q; %d are kept", c.told("bob"), len(c.messages()))
		}
	})
}

// TestAWhisperToWhoMayNotComeIn: a whisper to somebody who may not enter the room is not sent, and
// nothing is promised, since they would never find it.
func TestAWhisperToWhoMayNotComeIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.enters = func(p participants.Participant) error {
			if p.ID == "carol" {
				return errors.New("there is no such room")
			}
			return nil
		}
		c := gather(t, h, "bob")
		for _, text := range []string{"/msg carol the canary", "/msg bob, carol the canary"} {
			if err := c.writes(t, "ann", text); err == nil || err.Error() != "carol may not enter this room and would never see it; nothing was sent" {
				t.Errorf("%s: %v", text, err)
			}
		}
		c.must(t, "ann", "@carol hello", time.Second)
		c.stop()
		if got := c.messages(); len(got) != 1 {
			t.Errorf("%d messages were kept", len(got))
		}
		if got := c.told("ann"); len(got) != 1 || got[0] != "carol may not enter this room and will not see it" {
			t.Errorf("told %q", got)
		}
	})
}

// TestWhatWasPrivateIsUsedInPrivate: what the agent knows from somebody in private, it uses only
// towards them and in private. That holds even while nobody else is here, since somebody who comes
// later reads what was said to all.
func TestWhatWasPrivateIsUsedInPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{{When: "remember", Reply: "the canary, yes"}, {When: "recall", Reply: "the canary again"}}
		c := gather(t, h)
		c.must(t, "ann", "/msg earshot remember the canary", time.Second)
		c.must(t, "ann", "what do you know?", time.Second) // while she is alone
		c.must(t, "ann", "/msg earshot what do you recall?", time.Second)
		c.come(t, "bob")
		c.must(t, "ann", "Earshot, what do you know?", time.Second)
		c.must(t, "bob", "Earshot, what was said?", time.Second)
		c.must(t, "bob", "Earshot, say that again", time.Second)
		c.must(t, "bob", "Earshot, go on", time.Second)
		c.stop()
		seen := c.model.Seen()
		reads := func(i int) bool { return strings.Contains(fmt.Sprint(seen[i].Messages), "canary") }
		if !reads(0) || reads(1) || !reads(2) || reads(3) {
			t.Errorf("it reads of it: in private %v, alone with her %v, in private again %v, in company %v", reads(0), reads(1), reads(2), reads(3))
		}
		if got := c.screens["bob"].Played() + strings.Join(texts(c.screens["bob"]), ""); strings.Contains(got, "canary") {
			t.Errorf("bob sees %q", got)
		}
		for _, e := range c.journal.Events() {
			if r, ok := e.Body.(earshot.Reply); ok && strings.Contains(string(r.Offered), "canary") && e.Visibility.Allows(earshot.Audience{Members: []earshot.ParticipantID{"bob"}}) {
				t.Error("bob may see a reply that is made of it")
			}
		}
	})
}
