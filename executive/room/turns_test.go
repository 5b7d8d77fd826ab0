package room_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/executive/turncontrol"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
)

// replying returns the record of an agent that calls whoever it answers.
func replying(id, name string) agents.Record {
	r := record(id, name)
	r.AutoReply = true
	return r
}

// pair returns a room in which Earshot and Scout call whoever they answer, and say what the script
// makes them say.
func pair(t *testing.T, h *house, others ...string) *crew {
	t.Helper()
	c := man(t, h, others...)
	c.seats(replying("agent", "Earshot"), replying("scout", "Scout"))
	return c
}

// endless lets agents answer for ever, each time with something else.
func endless(names ...string) *llmtest.Script {
	s := &llmtest.Script{Every: time.Millisecond}
	for _, name := range names {
		r := llmtest.Rule{Agent: name}
		for i := range 50 {
			r.Replies = append(r.Replies, llmtest.Reply{Text: fmt.Sprintf("point %d", i)})
		}
		s.Rules = append(s.Rules, r)
	}
	return s
}

// mutual lets Earshot and Scout call each other for ever, each of its own accord.
func mutual() *llmtest.Script {
	s := endless("Earshot", "Scout")
	for i := range s.Rules[0].Replies {
		s.Rules[0].Replies[i].Text = fmt.Sprintf("@Scout, point %d", i)
		s.Rules[1].Replies[i].Text = fmt.Sprintf("@Earshot, point %d", i)
	}
	return s
}

// talk returns what agents said, in order, each with the name of the agent.
func (c *crew) talk() (all []string) {
	for _, e := range c.journal.Events() {
		if r, ok := e.Body.(earshot.Reply); ok && r.Offered != "" {
			all = append(all, c.people.Name(e.Author)+": "+string(r.Offered))
		}
	}
	return all
}

// handovers returns how the agents have handed over, in order.
func (c *crew) handovers() (all []earshot.Handover) {
	for _, r := range c.replies() {
		if r.Handover != nil {
			all = append(all, *r.Handover)
		}
	}
	return all
}

// TestAgentsForEver: two agents set to talk for ever stop at the limit,
// with one notice; the model is not asked again.
func TestAgentsForEver(t *testing.T) {
	for _, tt := range []struct {
		limit int
		asked int // requests to the model
		words string
	}{
		{0, 1, "@ann, agents do not answer each other here; it is yours."},
		{1, 1, "@ann, agents do not answer each other here; it is yours."},
		{2, 2, "@ann, we have said 2 messages in a row; it is yours again."},
		{20, 20, "@ann, we have said 20 messages in a row; it is yours again."},
	} {
		t.Run(fmt.Sprint(tt.limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.MultiParty.TurnLimit = tt.limit
				h.model = endless("Earshot", "Scout")
				h.model.Rules[0].Replies[0].Text = "@Scout, go on"
				c := pair(t, h)
				c.must(t, "ann", "talk to each other", time.Hour)
				c.stop()
				talk := c.talk()
				if n := len(c.model.Seen()); n != tt.asked || len(talk) != tt.asked+1 {
					t.Errorf("the model was asked %d times for %q", n, talk)
				}
				last := "Earshot: "
				if tt.asked%2 == 0 {
					last = "Scout: "
				}
				if got := talk[len(talk)-1]; got != last+tt.words {
					t.Errorf("handed over with %q, want %q", got, last+tt.words)
				}
				if got := c.handovers(); !slices.Equal(got, []earshot.Handover{{Why: earshot.TurnLimit, To: "owner"}}) {
					t.Errorf("handed over %+v", got)
				}
				if !strings.HasSuffix(c.console.Played(), tt.words) {
					t.Errorf("%q was shown", c.console.Played())
				}
				if tt.limit > 2 && (talk[1] != "Scout: @Earshot, point 0" || talk[2] != "Earshot: @Scout, point 1") {
					t.Errorf("they said %q", talk[:3])
				}
				for i, req := range c.model.Seen() {
					if want := map[bool]llm.Priority{true: llm.ReplyToPerson, false: llm.ReplyToAgent}[i == 0]; req.Priority != want {
						t.Errorf("request %d has priority %d", i, req.Priority)
					}
				}
			})
		})
	}
}

// TestAPersonInTheMiddle: a person who speaks in the middle of a talk is answered next, and the
// agents begin to count again. What they had still to say to each other is given up.
func TestAPersonInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.MultiParty.TurnLimit = 6
		h.model = endless("Earshot", "Scout")
		h.model.Rules[0].Replies[0].Text = "@Scout, go on"
		h.model.Rules = append([]llmtest.Rule{{When: "what time", Reply: "five"}}, h.model.Rules...)
		c := pair(t, h)
		c.must(t, "ann", "talk to each other", 6*time.Millisecond)
		c.must(t, "ann", "@Scout what time is it?", time.Hour)
		c.stop()
		turns := c.turns()
		i := slices.IndexFunc(turns, func(s string) bool { return strings.Contains(s, "what time") })
		if i < 1 || !strings.Contains(turns[i-1], "interrupted") && !strings.Contains(turns[i-1], "suppressed") || i != len(turns)-1 {
			t.Errorf("turns %q", turns)
		}
		if n := len(c.handovers()); n != 0 {
			t.Errorf("%d handovers", n)
		}
	})
}

// TestCutInTheMiddle: at whatever moment somebody says a word that stops agents, the floor is free
// at once and nothing more comes.
func TestCutInTheMiddle(t *testing.T) {
	for _, word := range []string{"stop", "/stop", "be quiet"} {
		for at := range 40 {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = endless("Earshot", "Scout")
				h.model.Rules[0].Replies[0].Text = "@Scout, go on"
				c := pair(t, h)
				c.must(t, "ann", "talk to each other", time.Duration(at)*time.Millisecond)
				c.must(t, "ann", word, 0)
				synctest.Wait()
				asked, shown := len(c.model.Seen()), c.console.Played()
				time.Sleep(time.Hour)
				c.stop()
				if n := len(c.model.Seen()); n != asked || c.console.Played() != shown {
					t.Errorf("%q after %d ms: %d more requests, and %q was shown after %q", word, at, n-asked, c.console.Played(), shown)
				}
			})
		}
	}
}

// TestTheCountGoesOn: comings and goings, notices, and what people say to each other do not end the
// count. A person's message to an agent does.
func TestTheCountGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.MultiParty.TurnLimit = 4
		h.model = endless("Earshot", "Scout")
		h.model.Rules[0].Replies[0].Text = "@Scout, go on"
		c := pair(t, h, "bob")
		c.must(t, "ann", "@Earshot talk to each other", 3*time.Millisecond)
		c.goes(t, "bob")
		c.come(t, "bob")
		c.must(t, "bob", "ann, lunch?", time.Millisecond)
		c.Report(earshot.Notice{Key: "x", Text: "something is wrong"})
		time.Sleep(time.Hour)
		c.stop()
		if got, n := c.handovers(), len(c.model.Seen()); len(got) != 1 || n != 4 {
			t.Errorf("%d requests, then %+v", n, got)
		}
	})
}

// outside returns a room with ann in it, and two AIs from outside that write by their own handles.
func outside(t *testing.T, h *house) *house {
	t.Helper()
	if h.people == nil {
		actors := participants.DefaultConfig()
		for _, n := range []string{"claude", "hal"} {
			actors.Actors = append(actors.Actors, participants.Actor{
				ID: earshot.ParticipantID(n), Type: participants.AIAssistant, DisplayName: n, Handles: []string{"console:" + n},
			})
		}
		people, err := participants.Open(participants.Setup{
			Account: ann, AccountName: "ann", Actors: actors, Now: time.Now,
			Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot", Type: participants.Internal}},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.people = people
	}
	h.open(t.Context())
	h.presence(t, ann, "ann", true)
	h.presence(t, handle("claude"), "claude", true)
	return h
}

// by lets somebody write to Earshot, and waits.
func (h *house) by(t *testing.T, name, text string) {
	t.Helper()
	if err := h.Admit(t.Context(), earshot.Event{From: handle(name), Via: name, Body: earshot.Message{Text: earshot.Text(text)}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
}

// ends returns the outcome of each turn, or why it handed over.
func (h *house) ends() string {
	var all []string
	for _, r := range h.replies() {
		if r.Handover != nil {
			all = append(all, string(r.Handover.Why))
			continue
		}
		all = append(all, string(r.Outcome))
	}
	return strings.Join(all, " ")
}

// TestAIsFromOutsideCount: AIs from outside are answered within the limit, and are told once that
// it is enough.
func TestAIsFromOutsideCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.MultiParty.TurnLimit = 4
		outside(t, h)
		for i := range 5 {
			h.by(t, "claude", fmt.Sprintf("Earshot, question %d", i))
		}
		h.by(t, "ann", "Earshot, go on")
		h.by(t, "claude", "Earshot, one more question")
		h.stop()
		if got, want := h.ends(), "completed completed suppressed limit suppressed suppressed completed completed"; got != want {
			t.Errorf("turns %q, want %q", got, want)
		}
		if n := len(h.model.Seen()); n != 4 {
			t.Errorf("%d requests", n)
		}
		enough := make(map[earshot.EventID]int)
		for _, e := range h.journal.Events() {
			if d, ok := e.Body.(earshot.Decision); ok && d.Reasons[0] == reason.Enough {
				if enough[d.About]++; enough[d.About] > 1 {
					t.Error("whoever is handed over to is told twice that it is enough")
				}
			}
		}
		if len(enough) != 3 {
			t.Errorf("%d were told that it is enough", len(enough))
		}
	})
}

// TestAnAIFromOutsideCutsNobody: a person is answered to the end, and before an AI from outside is.
func TestAnAIFromOutsideCutsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := outside(t, newHouse())
		h.say(t, "Earshot, count")
		time.Sleep(15 * time.Millisecond)
		h.by(t, "claude", "Earshot, and now?")
		h.stop()
		if got := h.ends(); got != "completed completed" {
			t.Errorf("turns %q", got)
		}
	})
}

// TestWhatAnAITypesIsSent: the first key of an AI's line holds back the floor. The message that the
// line becomes does not any more, so it is answered.
func TestWhatAnAITypesIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := outside(t, newHouse())
		if err := h.Admit(t.Context(), earshot.Event{From: handle("claude"), Via: "claude", Body: earshot.Typing{Began: true}}); err != nil {
			t.Fatal(err)
		}
		h.by(t, "claude", "Earshot, and now?")
		if got := h.ends(); got != "completed" {
			t.Errorf("turns %q", got)
		}
		h.stop()
	})
}

// TestARestartGoesOnCounting: messages from before a restart count, and so does a handover from
// before it.
func TestARestartGoesOnCounting(t *testing.T) {
	for _, tt := range []struct {
		before int // messages of the AI
		want   string
	}{
		{0, "completed completed suppressed limit suppressed"},
		{1, "completed suppressed limit suppressed suppressed"},
		{2, "suppressed limit suppressed suppressed suppressed"},
		{3, "suppressed suppressed suppressed suppressed"},
	} {
		t.Run(fmt.Sprint(tt.before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.MultiParty.TurnLimit = 4
				outside(t, h)
				for i := range tt.before {
					h.by(t, "claude", fmt.Sprintf("Earshot, question %d", i))
				}
				h.stop()
				again := newHouse()
				again.config, again.past, again.people, again.ids = h.config, h.journal.Events(), h.people, 100
				again.journal.From(int64(len(again.past)))
				outside(t, again)
				for i := range 4 {
					again.by(t, "claude", fmt.Sprintf("Earshot, question %d", i+10))
				}
				again.stop()
				if got := again.ends(); got != tt.want {
					t.Errorf("turns %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// passing returns a room in which Earshot has given a certain reply.
func passing(t *testing.T, reply string) *crew {
	h := newHouse()
	h.model = &llmtest.Script{Rules: []llmtest.Rule{{Agent: "Earshot", Reply: reply}, {Agent: "Scout", Reply: "yes"}}, Every: time.Millisecond}
	c := pair(t, h)
	c.must(t, "ann", "go on", time.Hour)
	c.stop()
	return c
}

// TestPass: an agent may pass control anywhere in its reply. What it said before that stays. If it
// said nothing, the reply is the handover alone.
func TestPass(t *testing.T) {
	const passes = "Earshot: @ann, Earshot is passing control to you."
	for _, tt := range []struct {
		reply string
		want  []string
	}{
		{"<world>pass</world>", []string{passes}},
		{"<WORLD> Pass </WORLD> and more", []string{passes}},
		{"I am done. <world>pass</world> not this", []string{"Earshot: I am done. ", passes}},
		{"@Scout, go on. <world>pass</world>", []string{"Earshot: @Scout, go on. ", passes}},
		{"```\n<world>done</world>\n```", []string{"Earshot: ```\n", passes}},
		{"<world>TO: Scout</world><world>stop</world>", []string{passes}},
		{"see <world>dance</world> this", []string{"Earshot: see … this"}},
		{"<world>TO: Scout</world>your turn", []string{"Earshot: your turn", "Scout: @Earshot, yes", "Earshot: your turn", "Scout: @Earshot, yes", "Earshot: your turn", "Scout: @Earshot, yes", "Scout: @ann, we are saying the same again and again; it is yours."}},
	} {
		t.Run(tt.reply, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := passing(t, tt.reply)
				if got := c.talk(); !slices.Equal(got, tt.want) {
					t.Errorf("%q, want %q", got, tt.want)
				}
				if strings.Contains(c.console.Played(), "world>") {
					t.Errorf("%q was shown", c.console.Played())
				}
				for _, r := range c.replies() {
					if r.Outcome != earshot.Completed || r.Reflex != (r.Handover != nil) {
						t.Errorf("%+v", r)
					}
				}
			})
		})
	}
}

// TestWhoCallsWhom: the words of an agent call another agent at the beginning of a paragraph, but
// never everybody and never itself. A person who is called starts no turn.
func TestWhoCallsWhom(t *testing.T) {
	for _, tt := range []struct{ reply, answers, to string }{
		{"I am done.", "", "owner"},
		{"@Scout, your turn.", "Scout", "owner scout"},
		{"Done.\n\nScout, your turn.", "Scout", "owner scout"},
		{"Done. Scout, thank you.", "", "owner"},
		{"I asked Scout about it.", "", "owner"},
		{"@Earshot, go on", "", "owner"},
		{"@all, look", "", "owner"},
		{"ALL AGENTS: look", "", "owner"},
		{"@nobody, look", "", "owner"},
		{"@human, what now?", "", "owner"},
		{"@bob, what now?", "", "owner"},
		{"@Ranger, look", "", "owner"}, // Ranger has no seat
	} {
		t.Run(tt.reply, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = &llmtest.Script{Rules: []llmtest.Rule{{Agent: "Earshot", Reply: tt.reply}, {Agent: "Scout", Reply: "<world>pass</world>"}}}
				c := pair(t, h, "bob")
				_ = c.people.Introduce(t.Context(), participants.Participant{ID: "ranger", Name: "Ranger"}, func() error { return nil })
				c.must(t, "ann", "@Earshot go on", time.Hour)
				c.stop()
				var answers, to []string
				for _, e := range c.journal.Events() {
					if r, ok := e.Body.(earshot.Reply); ok && e.Author == "agent" {
						for _, id := range e.To {
							to = append(to, string(id))
						}
						for _, a := range e.To {
							if a == "scout" && !e.Visibility.Allows(earshot.Audience{}.With("scout")) {
								t.Error("Scout may not see what it is asked")
							}
						}
						_ = r
					} else if ok {
						answers = append(answers, c.people.Name(e.Author))
					}
				}
				if got := strings.Join(answers, " "); got != tt.answers || strings.Join(to, " ") != tt.to {
					t.Errorf("%q answers what is for %q", got, to)
				}
			})
		})
	}
}

// TestAnotherUsersAgent: what an agent says to another user's agent reaches nobody, not even the
// agents that it calls in the same reply. A person has the floor, and the agents read why.
func TestAnotherUsersAgent(t *testing.T) {
	for _, reply := range []string{"@Coder, look", "@Scout, look\n@Coder, look", "<world>TO: Coder</world>look"} {
		t.Run(reply, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = &llmtest.Script{Rules: []llmtest.Rule{{When: "and now", Reply: "Yes."}, {Agent: "Earshot", Reply: reply}, {Reply: "Yes?"}}}
				c := pair(t, h)
				me, scout, coder := replying("agent", "Earshot"), replying("scout", "Scout"), replying("coder", "Coder")
				me.User, scout.User, coder.User = "owner", "owner", "kids"
				c.seats(me, scout, coder)
				c.must(t, "ann", "@Earshot go on", time.Second)
				if got := c.talk(); len(got) != 2 || got[1] != "Earshot: @ann, that is for an agent of another user, which I may not call; it is yours." {
					t.Errorf("said %q", got)
				}
				for _, e := range c.journal.Events() {
					if _, ok := e.Body.(earshot.Reply); ok && !slices.Equal(e.To, []earshot.ParticipantID{"owner"}) {
						t.Errorf("a reply is for %q", e.To)
					}
				}
				c.must(t, "ann", "@Earshot and now?", time.Second)
				c.stop()
				if who, dialogue := c.asked(); who != "Earshot" || !strings.Contains(dialogue, "[FROM: System] Earshot has handed over to ann. It had called an agent of another user") {
					t.Errorf("%s was asked with %q", who, dialogue)
				}
			})
		})
	}
}

// TestAnswersToEverybodyCallNobody: agents that answer a message to all of them call no agent.
func TestAnswersToEverybodyCallNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model = &llmtest.Script{Rules: []llmtest.Rule{{Agent: "Earshot", Reply: "@Scout, what about you?"}, {Agent: "Scout", Reply: "@Earshot, and you?"}}}
		c := pair(t, h)
		c.must(t, "ann", "@all are you there?", time.Hour)
		c.stop()
		if got := c.talk(); !slices.Equal(got, []string{"Earshot: @Scout, what about you?", "Scout: @Earshot, and you?"}) {
			t.Errorf("%q", got)
		}
		if got := c.decided(); strings.Count(strings.Join(got, "|"), reason.Broadcast) != 2 {
			t.Errorf("decided %q", got)
		}
	})
}

// TestAutoReplyOff: an agent without auto-reply calls nobody by answering.
func TestAutoReplyOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model = &llmtest.Script{Rules: []llmtest.Rule{{Agent: "Earshot", Reply: "@Scout, your turn"}, {Agent: "Scout", Reply: "done"}}}
		c := man(t, h)
		c.must(t, "ann", "go on", time.Hour)
		c.stop()
		if got := c.talk(); !slices.Equal(got, []string{"Earshot: @Scout, your turn", "Scout: done"}) {
			t.Errorf("%q", got)
		}
	})
}

// TestWhatAnAgentIsAsked: what one agent asks another is in the other's prompt, even if the other
// was not to see what the first had been asked.
func TestWhatAnAgentIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model = &llmtest.Script{Rules: []llmtest.Rule{{Agent: "Earshot", Reply: "@Scout, look at the parser"}, {Agent: "Scout", Reply: "<world>pass</world>"}}}
		c := pair(t, h, "bob")
		c.must(t, "bob", "@Scout good morning", time.Second)
		c.must(t, "ann", "@Earshot do it together, and tell no other", time.Hour)
		c.stop()
		who, dialogue := c.asked()
		if who != "Scout" || !strings.HasSuffix(dialogue, "[FROM: Earshot TO: ann, Scout] @Scout, look at the parser") || strings.Contains(dialogue, "tell no other") {
			t.Errorf("%s was asked %q", who, dialogue)
		}
	})
}

// TestAHandoverIsTheHousesWord: no model reads a handover as something that it said itself.
func TestAHandoverIsTheHousesWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model = &llmtest.Script{Rules: []llmtest.Rule{{Agent: "Earshot", Reply: "well <world>pass</world>"}, {Agent: "Scout", Reply: "yes"}}}
		c := pair(t, h)
		for _, name := range []string{"Earshot", "Scout"} {
			c.must(t, "ann", "@all go on", time.Hour)
			c.must(t, "ann", "@"+name+" and now?", time.Hour)
			if who, dialogue := c.asked(); who != name || !strings.Contains(dialogue, "[FROM: System] Earshot has handed over to ann.") || strings.Contains(dialogue, "passing control") {
				t.Errorf("%s read %q", who, dialogue)
			}
		}
		c.must(t, "ann", "@Earshot what did you say?", time.Hour)
		c.stop()
		if talk := c.talk(); talk[len(talk)-1] != "Earshot: well " {
			t.Errorf("%q", talk)
		}
	})
}

// TestHandedOverElsewhere: a question or a handover to somebody who is not in the room reaches them
// where they are.
func TestHandedOverElsewhere(t *testing.T) {
	for _, tt := range []struct{ reply, want string }{
		{"@human, which colour?", "bob: @human, which colour?"},
		{"Which colour, @human?", "bob: Which colour, @human?"},
		{"<world>pass</world>", "bob: @bob, Earshot is passing control to you."},
		{"done", ""},
	} {
		t.Run(tt.reply, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var reached []string
				h := newHouse()
				h.reach = func(who earshot.ParticipantID, e earshot.Event) {
					reached = append(reached, fmt.Sprintf("%s: %s", who, string(e.Body.(earshot.Reply).Offered)))
				}
				h.model = &llmtest.Script{Reply: tt.reply}
				c := pair(t, h, "bob")
				c.must(t, "bob", "@Earshot go on", time.Second)
				if len(reached) != 0 {
					t.Errorf("%q was brought to who is there", reached)
				}
				c.goes(t, "bob")
				c.must(t, "bob", "@Earshot go on", time.Second)
				c.stop()
				if got := strings.Join(reached, "|"); got != tt.want {
					t.Errorf("reached %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestVoicesAmongAgents: after somebody has spoken, what agents answer each other is said aloud,
// and so is the handover.
func TestVoicesAmongAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.MultiParty.TurnLimit = 2
		h.model = endless("Earshot", "Scout")
		h.model.Rules[0].Replies[0].Text = "@Scout, go on"
		c := pair(t, h)
		voice := &testkit.Voice{Called: "loudspeaker", Every: time.Millisecond, Aloud: true}
		c.Enter(voice, earshot.Audience{Unknown: true})
		c.hears(t, "Earshot, talk to each other", 0, time.Hour)
		c.must(t, "ann", "in writing", time.Hour)
		c.stop()
		if want := "@Scout, go on@Earshot, point 0@ann, we have said 2 messages in a row; it is yours again."; voice.Played() != want {
			t.Errorf("%q was said, want %q", voice.Played(), want)
		}
	})
}

// TestExchangesCount: what agents ask each other within their turns counts towards the limit.
// Beyond it, the model is told what to do instead.
func TestExchangesCount(t *testing.T) {
	for _, tt := range []struct {
		limit   int
		between int // messages
		used    string
	}{
		{0, 0, "may not say more to each other now"},
		{1, 1, "may not say more to each other now"}, // nobody answers that one
		{2, 2, "Scout: yes"},
		{20, 2, "Scout: yes"},
	} {
		t.Run(fmt.Sprint(tt.limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.MultiParty.TurnLimit = tt.limit
				h.model.Rules = []llmtest.Rule{
					calls("Earshot", "ask Scout", "message_agent", `{"name":"Scout","message":"are you there?"}`),
					after("Earshot", "", "Done."), {Agent: "Scout", Reply: "yes"},
				}
				c := pair(t, h)
				c.must(t, "ann", "ask Scout", time.Minute)
				c.stop()
				if got := c.between(); len(got) != tt.between {
					t.Errorf("between them: %q", got)
				}
				if got := c.uses(); len(got) != 1 || !strings.Contains(got[0], tt.used) {
					t.Errorf("used %q", got)
				}
				if got := c.talk(); !slices.Equal(got, []string{"Earshot: Done."}) {
					t.Errorf("said %q", got)
				}
			})
		})
	}
}

// TestInPrivateTheyCount: a private talk of agents is counted apart. It uses up nothing of the open
// talk, stays among its members, and is handed over to one of them.
func TestInPrivateTheyCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.MultiParty.TurnLimit = 3
		h.model = mutual()
		c := pair(t, h, "bob")
		c.must(t, "bob", "/msg Earshot, Scout: talk to each other", time.Hour)
		c.must(t, "ann", "@Earshot talk to each other", time.Hour)
		c.must(t, "bob", "/msg Earshot talk to Scout", time.Hour)
		c.stop()
		var private, open int
		for _, e := range c.journal.Events() {
			r, ok := e.Body.(earshot.Reply)
			if !ok || r.Handover == nil {
				continue
			}
			if e.Visibility.Scope == earshot.Private {
				private++
			} else {
				open++
			}
			if want := map[bool]earshot.ParticipantID{true: "bob", false: "owner"}[e.Visibility.Scope == earshot.Private]; r.Handover.To != want {
				t.Errorf("handed over to %s, want %s", r.Handover.To, want)
			}
		}
		if private != 1 || open != 1 {
			t.Errorf("handed over %d times in private, %d in the open: %q", private, open, c.talk())
		}
		if last := c.turns()[len(c.turns())-1]; last != "Earshot completed: talk to Scout" {
			t.Errorf("the last turn is %q", last)
		}
		if strings.Contains(c.console.Played(), "bob") {
			t.Errorf("ann reads %q", c.console.Played())
		}
	})
}

// TestNothingGoesOn: agents do not go on talking where the room answers nothing, where silence was
// asked for, or where the journal takes nothing.
func TestNothingGoesOn(t *testing.T) {
	const open, private = "talk to each other", "/msg Earshot, Scout: talk to each other"
	for _, tt := range []struct {
		name, text string
		then       func(t *testing.T, c *crew)
		asked      int
		why        string
	}{
		{"paused", open, func(t *testing.T, c *crew) { _ = c.writes(t, "ann", "/pause") }, 1, addressing.Alone},
		{"off the record", open, func(t *testing.T, c *crew) { _ = c.writes(t, "ann", "/offrecord") }, 1, addressing.Alone},
		{"disabled", open, func(_ *testing.T, c *crew) { c.off.Store(true) }, 1, reason.Disabled},
		{"quiet", private, func(*testing.T, *crew) {}, 2, reason.Hushed},
		{"a full disk", open, func(_ *testing.T, c *crew) { c.journal.Fail(errors.New("full")) }, 1, addressing.Alone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = mutual()
				h.model.Every = 10 * time.Millisecond
				c := pair(t, h)
				if tt.text == private {
					c.must(t, "ann", "be quiet", time.Second)
				}
				c.must(t, "ann", tt.text, 5*time.Millisecond)
				tt.then(t, c)
				time.Sleep(time.Hour)
				c.journal.Fail(nil)
				time.Sleep(time.Hour)
				c.stop()
				if n := len(c.model.Seen()); n != tt.asked {
					t.Errorf("the model was asked %d times, want %d", n, tt.asked)
				}
				if got := c.decided(); got[len(got)-1] != tt.why {
					t.Errorf("decided %q, want %q", got, tt.why)
				}
			})
		})
	}
}

// TestTurnControl: whatever people and agents do, no agent answers another once enough has been
// said. The agents hand over once, and not silently. What a person asks is answered, or another
// question of the same conversation is answered in its place.
func TestTurnControl(t *testing.T) {
	said := rapid.SampledFrom([]string{"@Scout, go on", "@Earshot, go on", "done", "<world>pass</world>", "so <world>pass</world>", "@human, what now?",
		"<world>TO: Scout, Earshot</world> look", "@all look", "first 1", "then 2", "and 3", "@Scout, 4"})
	wrote := rapid.SampledFrom([]string{"@Earshot talk", "@Scout talk", "@all talk", "what now?", "bob, lunch?", "stop", "be quiet", "/msg Scout talk", "/msg Earshot, Scout: talk", "/mute", "/resume"})
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(0, 6).Draw(rt, "limit")
		h := newHouse()
		h.config.MultiParty.TurnLimit = limit
		h.model = &llmtest.Script{Every: time.Millisecond}
		for _, name := range []string{"Earshot", "Scout"} {
			r := llmtest.Rule{Agent: name}
			for _, text := range rapid.SliceOfN(said, 1, 12).Draw(rt, name) {
				r.Replies = append(r.Replies, llmtest.Reply{Text: text})
			}
			h.model.Rules = append(h.model.Rules, r)
		}
		type line struct {
			who, text string
			then      time.Duration
		}
		var lines []line
		for range rapid.IntRange(1, 8).Draw(rt, "lines") {
			lines = append(lines, line{
				rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "who"), wrote.Draw(rt, "text"),
				time.Duration(rapid.SampledFrom([]int{0, 1, 7, 30, 200}).Draw(rt, "then")) * time.Millisecond,
			})
		}
		var c *crew
		synctest.Test(t, func(t *testing.T) {
			c = pair(t, h, "bob")
			for _, l := range lines {
				_ = c.writes(t, l.who, l.text)
				time.Sleep(l.then)
			}
			time.Sleep(time.Hour)
			c.stop()
		})
		controlled(rt, c, limit)
	})
}

// controlled checks that what is on record keeps to that.
func controlled(t *rapid.T, c *crew, limit int) {
	kind := func(id earshot.ParticipantID) participants.Type {
		p, _ := c.people.Get(id)
		return p.Type
	}
	var turns turncontrol.Control
	by := make(map[earshot.EventID]earshot.Event)
	asked, ended := make(map[earshot.TurnID]earshot.Event), make(map[earshot.TurnID]earshot.Event)
	waits := make(map[conversation.Circle]bool) // enough was said, and nobody was told
	for _, e := range c.journal.Events() {
		by[e.ID] = e
		circle, before := conversation.CircleOf(e.Visibility), turns.Of(e.Visibility)
		turns.Take(e, kind)
		switch body := e.Body.(type) {
		case earshot.Decision:
			if body.Turn != "" {
				asked[body.Turn] = e
			}
			if body.Reasons[0] == reason.Commanded { // all talk among agents is over
				clear(waits)
			}
			if body.Reasons[0] == reason.Enough && body.Verdict == earshot.Silent && !before.Over {
				waits[circle] = true
			}
		case earshot.Reply:
			if _, twice := ended[body.Turn]; twice {
				t.Fatalf("turn %s ended twice", body.Turn)
			}
			ended[body.Turn] = e
			if d, ok := asked[body.Turn].Body.(earshot.Decision); ok && d.Reasons[0] == reason.Enough && body.Cut != nil {
				delete(waits, circle) // somebody took the floor before it was handed over
			}
			to := by[body.About]
			switch {
			case body.Handover != nil && body.Handover.Why != earshot.Passed && before.Over:
				t.Fatalf("handed over twice: %q", c.talk())
			case body.Handover == nil && body.Offered != "" && kind(to.Author).Machine() && before.Spent(limit):
				t.Fatalf("an agent answered another after %d messages: %q", before.Count, c.talk())
			}
		}
		if turncontrol.EventOf(e, kind).Kind >= turncontrol.Begin {
			delete(waits, circle)
		}
	}
	if len(waits) > 0 {
		t.Fatalf("nobody was told that it is enough: %q", c.talk())
	}
	for id, d := range asked {
		e, over := ended[id]
		if !over {
			t.Fatalf("turn %s never ended", id)
		}
		question, r := by[d.Body.(earshot.Decision).About], e.Body.(earshot.Reply)
		if kind(question.Author).Machine() || r.Outcome == earshot.Completed || r.Outcome == earshot.Interrupted {
			continue
		}
		newer := func(other earshot.Event) bool {
			o := by[other.Body.(earshot.Decision).About]
			return other.Author == d.Author && o.Sequence != question.Sequence && conversation.CircleOf(o.Visibility) == conversation.CircleOf(question.Visibility)
		}
		if r.Outcome != earshot.Suppressed || !slices.ContainsFunc(slices.Collect(maps.Values(asked)), newer) {
			t.Fatalf("%q was not answered: %+v", string(question.Body.(earshot.Message).Text), r)
		}
	}
}
