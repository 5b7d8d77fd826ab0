package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// A company is a house with several people, each at a screen of their own. Ann operates it and sits
// at the console.
type company struct {
	*house
	screens map[string]*testkit.Voice
	leave   map[string]func()
}

// registry returns a registry of ann, the people named, and two agents: Earshot, which has its seat
// in the room, and Scout, which only listens.
func registry(t testing.TB, names ...string) *participants.Registry {
	t.Helper()
	actors := participants.DefaultConfig()
	for _, n := range names {
		actors.Actors = append(actors.Actors, participants.Actor{
			ID: earshot.ParticipantID(n), Type: participants.Human, DisplayName: n, Handles: []string{"console:" + n},
		})
	}
	r, err := participants.Open(participants.Setup{
		Account: ann, AccountName: "ann", Actors: actors, Now: time.Now,
		Agents: []participants.Participant{
			{ID: participants.Agent, Name: "Earshot", Type: participants.Internal},
			{ID: "scout", Name: "Scout", Type: participants.Internal},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gather opens h with ann and others in it.
func gather(t *testing.T, h *house, others ...string) *company {
	t.Helper()
	h.people = registry(t, "bob", "carol", "old friend")
	c := &company{house: h.open(t.Context()), screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
	h.presence(t, ann, "ann", true)
	for _, name := range others {
		c.come(t, name)
	}
	return c
}

func (c *company) come(t *testing.T, name string) {
	t.Helper()
	if c.screens[name] == nil {
		c.screens[name] = &testkit.Voice{Called: name, Flow: true}
	}
	c.leave[name] = c.Enter(c.screens[name], earshot.Audience{Members: []earshot.ParticipantID{earshot.ParticipantID(name)}})
	c.presence(t, handle(name), name, true)
}

func (c *company) goes(t *testing.T, name string) {
	t.Helper()
	c.leave[name]()
	c.presence(t, handle(name), name, false)
}

func handle(name string) earshot.Handle { return earshot.Handle{Provider: "console", ID: name} }

// writes sends a text from somebody's own screen. A text that begins with a slash is a command.
func (c *company) writes(t *testing.T, name, text string) error {
	t.Helper()
	e := earshot.Event{From: handle(name), Via: name, Body: earshot.Message{Text: earshot.Text(text)}}
	if name == "ann" {
		e.Via = "console"
	}
	if rest, is := strings.CutPrefix(text, "/"); is {
		command, args, _ := strings.Cut(rest, " ")
		e.Body = earshot.Command{Name: command, Args: earshot.Text(args)}
	}
	return c.Admit(t.Context(), e)
}

// must calls writes, which must succeed, and then waits for some time.
func (c *company) must(t *testing.T, name, text string, then time.Duration) {
	t.Helper()
	if err := c.writes(t, name, text); err != nil {
		t.Fatalf("%s writes %q: %v", name, text, err)
	}
	time.Sleep(then)
}

// decided returns the reasons of each decision on record, in order.
func (c *company) decided() (all []string) {
	for _, e := range c.journal.Events() {
		if d, ok := e.Body.(earshot.Decision); ok {
			all = append(all, strings.Join(d.Reasons, "+"))
		}
	}
	return all
}

// messages returns the messages on record.
func (c *company) messages() (all []earshot.Event) {
	for _, e := range c.journal.Events() {
		if e.Body.Kind() == earshot.KindMessage {
			all = append(all, e)
		}
	}
	return all
}

// told returns the texts of the notices that were shown on one person's screen.
func (c *company) told(name string) (all []string) {
	for _, e := range c.screens[name].Shown() {
		if n, ok := e.Body.(earshot.Notice); ok {
			all = append(all, n.Text)
		}
	}
	return all
}

// TestAgentsOnlyRespondWhenTheyShould: an agent answers when it is mentioned, or when somebody is
// alone with it.
func TestAgentsOnlyRespondWhenTheyShould(t *testing.T) {
	for _, tt := range []struct {
		text   string
		others string // who is here besides ann
		why    string // the decision; "" for none
		to     string
		agents string // the agents that may see it; "" for all
		hint   string
	}{
		{"what time is it in Lima?", "", addressing.Alone, "agent", "", ""},
		{"what time is it in Lima?", "bob", addressing.Elsewhere + "+" + attention.AtNight, "", "", "nobody was addressed, so nobody answers; begin with Earshot, and I will"},
		{"earshot what is the time in Lima", "bob", addressing.Named, "agent", "agent", ""},
		{"Earshot, what is new?", "bob", addressing.Named, "agent", "agent", ""},
		{"@EARSHOT what is new?", "bob", addressing.Named, "agent", "agent", ""},
		{"what do you think, Earshot?", "bob", addressing.Named, "agent", "agent", ""},
		{"I asked earshot about it yesterday", "bob", addressing.Elsewhere, "", "", "nobody was addressed, so nobody answers; begin with Earshot, and I will"},
		{"I asked earshot about it yesterday", "", addressing.Alone, "agent", "", ""},
		{"bob, are you there?", "bob", addressing.ToOthers, "bob", "", ""},
		{"bob, are you there?", "", addressing.ToOthers, "bob", "", "bob is not here and will find it in the history"},
		{"@bob @Earshot hello", "bob", addressing.Named, "bob agent", "agent", ""},
		{"@all hello", "bob", addressing.Everybody, "agent scout", "", ""},
		{"ALL AGENTS: the deadline has moved", "bob", addressing.Everybody, "agent scout", "", ""},
		{"@human what now?", "bob", addressing.ToOthers, "", "", ""},
		{"@Scout look around", "bob", "", "scout", "scout", ""},
		{"Scout look around", "bob", "", "scout", "scout", ""},
		{"TO: bob, Earshot\nlunch?", "bob", addressing.Named, "bob agent", "agent", ""},
		{"@@Earshot hello", "bob", addressing.Elsewhere, "", "", "nobody was addressed, so nobody answers; begin with Earshot, and I will"},
		{"@erashot hello", "bob", addressing.Misses, "", "", "nobody here is called erashot; did you mean @Earshot?"},
		{"@erashot hello", "", addressing.Misses, "", "", "nobody here is called erashot; did you mean @Earshot?"},
		{"@Zed hello", "bob", addressing.Misses, "", "", "nobody here is called Zed; /who shows who is here"},
		{"@Zed hello", "", addressing.Misses, "", "", "nobody here is called Zed; /who shows who is here. Leave out the @ and I answer"},
		{"@Zed, what time is it?", "bob", addressing.Misses, "", "", "nobody here is called Zed; /who shows who is here"},
		{"@Zed hello @Earshot", "", addressing.Named, "agent", "agent", "nobody here is called Zed; /who shows who is here"},
		{"write to zed@example.com", "", addressing.Alone, "agent", "", ""},
		{"stop", "bob", reason.Commanded, "", "", ""},
		{"@Override\npublic void run() {}", "", addressing.Alone, "agent", "", ""},
		{"@Override\npublic void run() {}", "bob", addressing.Elsewhere, "", "", "nobody here is called Override; /who shows who is here"},
	} {
		t.Run(tt.text+" with "+tt.others, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse(), strings.Fields(tt.others)...)
				c.must(t, "ann", tt.text, time.Second)
				c.stop()
				if got := strings.Join(c.decided(), " "); got != tt.why {
					t.Errorf("decided %q, want %q", got, tt.why)
				}
				e := c.messages()[0]
				if got := strings.Trim(fmt.Sprint(e.To), "[]"); got != tt.to {
					t.Errorf("it is to %q, want %q", got, tt.to)
				}
				if got := strings.Trim(fmt.Sprint(e.Visibility.Agents), "[]"); got != tt.agents || e.Visibility.Scope != earshot.Public {
					t.Errorf("agents %q may see it, %s, want %q", got, e.Visibility.Scope, tt.agents)
				}
				if got := strings.Join(c.told("ann"), "|"); got != tt.hint {
					t.Errorf("she was told %q, want %q", got, tt.hint)
				}
				if got := c.Advice(e.ID); got != tt.hint {
					t.Errorf("a program is told %q, want %q", got, tt.hint)
				}
				for _, o := range strings.Fields(tt.others) {
					if got := c.told(o); len(got) > 0 {
						t.Errorf("%s was told %q", o, got)
					}
				}
			})
		})
	}
}

// TestAHintIsSaidOnceASession: people who talk to each other are told only once a session that
// nobody answers what is addressed to nobody.
func TestAHintIsSaidOnceASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		for range 3 {
			c.must(t, "ann", "shall we have lunch?", time.Second)
			c.must(t, "bob", "yes", time.Second)
		}
		c.stop()
		for _, name := range []string{"ann", "bob"} {
			if got := c.told(name); len(got) != 1 || !strings.Contains(got[0], "begin with Earshot") {
				t.Errorf("%s was told %q", name, got)
			}
		}
	})
}

// TestPeopleWhoTalkToEachOther: people who talk to each other do not cut the agent off; only a
// message to the agent or a command word does.
func TestPeopleWhoTalkToEachOther(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"ann, did you hear that?", "completed"},
		{"I like what earshot says", "completed"},
		{"/msg ann did you hear that?", "completed"},
		{"/msg ann stop", "completed"},
		{"Earshot, why?", "interrupted"},
		{"stop", "interrupted"},
		{"/stop", "interrupted"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse(), "bob")
				c.must(t, "ann", "Earshot, count", 25*time.Millisecond)
				if err := c.Admit(t.Context(), earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Typing{Began: true}}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if n := len(c.replies()); n != 0 {
					t.Fatalf("%d replies have ended while he types", n)
				}
				c.must(t, "bob", tt.text, time.Second)
				if tt.text == "/stop" {
					c.Admit(t.Context(), earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Typing{}})
				}
				c.stop()
				if got := string(c.replies()[0].Outcome); got != tt.want {
					t.Errorf("her answer was %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestHumanUsersAreInControl: everybody present can direct the agent, and stop what it says to
// others.
func TestHumanUsersAreInControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.must(t, "bob", "Earshot, count", 25*time.Millisecond)
		c.must(t, "ann", "Earshot, be quiet", time.Second)
		c.must(t, "bob", "lunch?", time.Second)
		c.must(t, "bob", "Earshot, count", time.Second)
		c.stop()
		if got := c.replies(); len(got) != 2 || got[0].Cut == nil || got[0].Cut.By != participants.Owner || got[1].Outcome != earshot.Completed {
			t.Errorf("replies %+v", got)
		}
	})
}

// onlyWith lets bob ask the agent while ann is here, and returns what was decided.
func onlyWith(t *testing.T, h *house) string {
	c := gather(t, h, "bob")
	c.must(t, "bob", "Earshot, count", time.Minute)
	return c.decided()[0]
}

// TestOneParty: with executive.multi_party.enabled false, the agent answers only the operator, or
// somebody who is alone with it, and others do not cut it off.
func TestOneParty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.MultiParty.Enabled = false
		c := gather(t, h, "bob")
		c.must(t, "ann", "Earshot, count", 25*time.Millisecond)
		c.must(t, "bob", "Earshot, count to nine", time.Second)
		c.presence(t, ann, "ann", false)
		c.must(t, "bob", "count", time.Second)
		c.stop()
		want := []string{addressing.Named, reason.Unheeded, addressing.Alone}
		if got := c.decided(); !slices.Equal(got, want) {
			t.Errorf("decided %q, want %q", got, want)
		}
		if got := c.replies()[0].Outcome; got != earshot.Completed {
			t.Errorf("her answer was %s", got)
		}
	})
}

// TestSomebodyFromElsewhere: a person who writes without being present is not alone with the agent
// while ann is here. Ann still is, and /context does not list the other person as here.
func TestSomebodyFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse())
		c.must(t, "bob", "what is new?", time.Second)
		c.must(t, "ann", "what is new?", time.Second)
		c.must(t, "ann", "/context", time.Second)
		if told := c.told("ann"); !strings.Contains(told[len(told)-1], "ann is here") || strings.Contains(told[len(told)-1], "bob is here") {
			t.Errorf("going on is %q", told[len(told)-1])
		}
		c.stop()
		if got, want := c.decided(), []string{addressing.Elsewhere, addressing.Alone}; !slices.Equal(got, want) {
			t.Errorf("decided %q, want %q", got, want)
		}
	})
}

// TestWhomAMessageIsFor: where there are several agents, the prompt says whom each message is for.
func TestWhomAMessageIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.must(t, "ann", "bob, lunch?", time.Second)
		c.must(t, "bob", "@ann @Earshot ask it", time.Second)
		c.stop()
		if got := c.dialogue(); !strings.HasSuffix(got, "[FROM: ann TO: bob] bob, lunch?|[FROM: bob TO: ann, Earshot] @ann @Earshot ask it") {
			t.Errorf("the model reads %q", got)
		}
	})
}

// TestEachState: /context shows the state of each person.
func TestEachState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob", "carol")
		c.must(t, "bob", "Earshot, count", time.Second)
		c.Admit(t.Context(), earshot.Event{From: handle("carol"), Body: earshot.Typing{Began: true}})
		c.must(t, "ann", "/context", time.Second)
		c.stop()
		got := strings.Join(c.told("ann"), "\n")
		for _, want := range []string{"bob is here", "carol is typing"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%q is not there once:\n%s", want, got)
			}
		}
	})
}

// TestTheRosterFollows: the prompt says who is here, and changes when somebody leaves.
func TestTheRosterFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.must(t, "ann", "Earshot, count", time.Second)
		c.goes(t, "bob")
		c.must(t, "ann", "count", time.Second)
		c.stop()
		var here []string
		for _, seen := range c.model.Seen() {
			_, current, _ := strings.Cut(seen.Messages[0].Text, "=== CURRENT PARTICIPANTS ===")
			here = append(here, fmt.Sprint(strings.Contains(current, "bob")))
		}
		if !slices.Equal(here, []string{"true", "false"}) {
			t.Errorf("bob is here: %v", here)
		}
	})
}

// TestForeignNamesAreCorrectedOnce: a model that writes in somebody else's name is told so once, in
// its next prompt.
func TestForeignNamesAreCorrectedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{{When: "first", Reply: "[FROM: bob] I am bob."}}
		h.config = executive.DefaultConfig()
		c := gather(t, h)
		for _, text := range []string{"first", "second", "third"} {
			c.must(t, "ann", text, time.Second)
		}
		c.stop()
		if strings.Contains(c.console.Played(), "FROM") {
			t.Errorf("it was shown: %q", c.console.Played())
		}
		var told []string
		for _, seen := range c.model.Seen() {
			told = append(told, fmt.Sprint(strings.Contains(seen.Messages[len(seen.Messages)-1].Text, "somebody else's name")))
		}
		if !slices.Equal(told, []string{"false", "true", "false"}) {
			t.Errorf("it was told %v", told)
		}
	})
}

// TestTheIdentityStandsFirst: the prompt begins with the agent's identity, even after the dialogue
// has begun anew because its older half was too long for the model, old lines were dropped, or the
// program was restarted.
func TestTheIdentityStandsFirst(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines int
		fault error
		past  bool
	}{
		{"halved", 4, &llm.Error{Fault: llm.TooLong, Engine: "script"}, false},
		{"dropped", 60, nil, false},
		{"restarted", 1, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Every = 0
				if tt.past {
					before := gather(t, newHouse())
					before.must(t, "ann", "remember me", time.Second)
					before.stop()
					for _, e := range before.messages() {
						e.ID = "before"
						h.past = append(h.past, e)
					}
					h.journal.From(9)
				}
				for range tt.lines - 1 {
					h.model.Troubles = append(h.model.Troubles, llmtest.Trouble{})
				}
				h.model.Troubles = append(h.model.Troubles, llmtest.Trouble{Err: tt.fault})
				c := gather(t, h)
				for i := range tt.lines {
					c.must(t, "ann", fmt.Sprintf("line %d", i), time.Second)
				}
				c.stop()
				seen := c.model.Seen()
				last := seen[len(seen)-1].Messages
				if last[0].Role != llm.System || !strings.HasPrefix(last[0].Text, "You are Earshot.") || !strings.Contains(last[0].Text, "=== CURRENT PARTICIPANTS ===") {
					t.Errorf("the prompt begins with %q", last[0].Text)
				}
				if said := c.dialogue(); strings.Contains(said, "line 0") != (tt.lines == 1) || strings.Contains(said, "remember me") != tt.past {
					t.Errorf("the dialogue is %q", c.dialogue())
				}
			})
		})
	}
}
