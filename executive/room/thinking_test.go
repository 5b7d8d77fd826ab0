package room_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// thinking returns a room whose model follows some rules. It thinks a word a second, and talks
// quickly.
func thinking(rules ...llmtest.Rule) *house {
	h := newHouse()
	for i := range rules {
		if rules[i].For != llmtest.ForReply && rules[i].Every == 0 {
			rules[i].Every = time.Second
		}
	}
	h.model.Rules = rules
	h.llm = &llm.Scheduler{Engine: h.model}
	return h
}

// one returns the rule of a model that has found one thing.
func one(text string) llmtest.Rule {
	return llmtest.Rule{For: llmtest.ForFindings, Reply: fmt.Sprintf(`{"findings":[{"text":%q,"evidence":["e1"],"confidence":0.8,"minutes":30,"worth_saying":false}]}`, text)}
}

func thinks(when, text string) llmtest.Rule {
	return llmtest.Rule{For: llmtest.ForThought, When: when, Reply: text}
}

// thoughts returns the stretches of thought and the findings on record, a line each.
func (h *house) thoughts() string {
	var all []string
	for _, e := range h.journal.Events() {
		switch b := e.Body.(type) {
		case earshot.Thought:
			switch {
			case b.Outcome == earshot.Asked:
				continue // on record as soon as somebody asks for a thought
			case b.Outcome == earshot.Suppressed && b.Text == "":
				continue // it was parked already when it was stopped, or was about to be
			}
			line := fmt.Sprintf("%s %s %s", b.Cause, b.Outcome, strings.TrimSpace(string(b.Text)))
			if b.Cut != nil {
				line += " | " + b.Cut.Signal
			}
			all = append(all, line)
		case earshot.Finding:
			all = append(all, "found "+string(b.Text))
		}
	}
	return strings.Join(all, "\n")
}

// asked returns the last message of each request that the model had with a priority.
func (h *house) asked(p llm.Priority) (all []string) {
	for _, req := range h.model.Seen() {
		if req.Priority == p {
			all = append(all, req.Messages[len(req.Messages)-1].Text)
		}
	}
	return all
}

func (h *house) wants(t *testing.T, want ...string) {
	t.Helper()
	if got := h.thoughts(); got != strings.Join(want, "\n") {
		t.Errorf("thought was\n%s\n\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestAThoughtSurvivesAnInterruption: a thought is parked at the first key, before anything is
// asked. When the answer is given, it goes on from what it had, with the question and answer as
// news. What it found is in the next prompt.
func TestAThoughtSurvivesAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(
			thinks("You were interrupted by:\nann: Hey, what is new?\n\nThis was answered:\nEarshot: Nothing.", "so Ann is in a hurry"),
			thinks("You were interrupted", "what?"), thinks("", "Ann must finish by four"),
			one("Ann is under time pressure."), llmtest.Rule{When: "what is new", Reply: "Nothing."},
		).open(t.Context())
		defer h.stop()
		h.say(t, "please think about my day")
		time.Sleep(2500 * time.Millisecond)
		typing(t, h, true)
		synctest.Wait() // the mind is told to stop before Admit returns, and writes in its own time
		h.wants(t, "trigger interrupted Ann must | typing")
		requests := len(h.model.Seen())
		time.Sleep(20 * time.Second)
		if n := len(h.model.Seen()); n != requests {
			t.Errorf("what is parked asked %d times", n-requests)
		}
		h.say(t, "Hey, what is new?")
		time.Sleep(time.Minute)
		h.wants(t, "trigger interrupted Ann must | typing", "trigger completed so Ann is in a hurry", "found Ann is under time pressure.")
		h.say(t, "and now?")
		time.Sleep(time.Minute)
		last := h.asked(llm.ReplyToPerson)
		if got := last[len(last)-1]; !strings.Contains(got, "reasoning_buffer (48 s ago, 80 % sure): Ann is under time pressure.") {
			t.Errorf("the prompt is\n%s", got)
		}
	})
}

// TestWhoInterruptsAThoughtIsNamed: the record of an interrupted thought names the person who
// interrupted it. The owner of the room may look at any moment, even between the noting that Ann
// types and the thought giving way to her.
func TestWhoInterruptsAThoughtIsNamed(t *testing.T) {
	for name, interrupt := range map[string]earshot.Body{
		"a key":     earshot.Typing{Began: true},
		"a message": earshot.Message{Text: "Hey, what is new?"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				synctest.Test(t, func(t *testing.T) {
					h := thinking(thinks("", strings.Repeat("on ", 100))).open(t.Context())
					defer h.stop()
					h.command(t, "think", "Will I finish?")
					time.Sleep(2500 * time.Millisecond)
					over := make(chan struct{})
					for _, bob := range []string{"bob", "carol"} { // both have the owner look all the time
						go func() {
							for {
								select {
								case <-over:
									return
								default:
								}
								_ = h.Admit(t.Context(), earshot.Event{From: handle(bob), Via: bob, Body: earshot.Speech{Stage: earshot.VoiceOver}})
							}
						}()
					}
					err := h.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "console", ID: "ann"}, Via: "console", Body: interrupt})
					close(over)
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					for _, e := range h.journal.Events() {
						if b, is := e.Body.(earshot.Thought); is && b.Cut != nil && b.Cut.By == "" {
							t.Fatalf("a thought was interrupted by nobody: %q", b.Cut.Signal)
						}
					}
				})
			}
		})
	}
}

// TestAnEmptiedLineInterruptsNothing: when a line is emptied again, the thought goes on without a
// word about it, as it does after a cough.
func TestAnEmptiedLineInterruptsNothing(t *testing.T) {
	for name, ends := range map[string]func(*testing.T, *house){
		"a line": func(t *testing.T, h *house) { typing(t, h, true); time.Sleep(5 * time.Second); typing(t, h, false) },
		"a cough": func(t *testing.T, h *house) {
			voice := earshot.Handle{Provider: "microphone", ID: "1"}
			h.Admit(t.Context(), earshot.Event{From: voice, Body: earshot.Speech{Stage: earshot.VoiceBegan, Confidence: 1}})
			time.Sleep(time.Second)
			h.Admit(t.Context(), earshot.Event{From: voice, Body: earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}})
		},
		"a voice that just ends": func(t *testing.T, h *house) {
			h.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Speech{Stage: earshot.VoiceBegan, Confidence: 1}})
			time.Sleep(20 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := thinking(thinks("You were thinking:\nAnn must\n", "finish by four"), thinks("", "Ann must not")).open(t.Context())
				defer h.stop()
				h.command(t, "think", "Will I finish?")
				time.Sleep(2500 * time.Millisecond)
				ends(t, h)
				time.Sleep(time.Minute)
				got := h.asked(llm.Reasoning)
				if len(got) < 2 || strings.Contains(got[1], "interrupted by") || !strings.Contains(got[1], "exactly where it stops") {
					t.Errorf("asked was %q", got[1:])
				}
				if !strings.Contains(h.thoughts(), "completed finish by four") {
					t.Error(h.thoughts())
				}
			})
		})
	}
}

// TestALineThatIsLeftHoldsNothing: a thought and a reply that a typed line has parked go on two
// minutes after the last key. The next key parks them again.
func TestALineThatIsLeftHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", strings.Repeat("on ", 1000)), llmtest.Rule{When: "count", Reply: "one two three four", Every: time.Second}).open(t.Context())
		defer h.stop()
		shows := func(want string) {
			t.Helper()
			if got := h.command(t, "think", ""); !strings.HasPrefix(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
		h.command(t, "think", "Will I finish?")
		time.Sleep(2500 * time.Millisecond)
		typing(t, h, true)
		time.Sleep(time.Minute)
		typing(t, h, true) // a further key
		time.Sleep(119 * time.Second)
		shows("Parked")
		time.Sleep(2 * time.Second)
		shows("Thinking")
		typing(t, h, true)
		time.Sleep(time.Second)
		shows("Parked")
		h.say(t, "count")
		time.Sleep(1500 * time.Millisecond)
		typing(t, h, true)
		time.Sleep(119 * time.Second)
		if n := len(h.replies()); n != 0 {
			t.Errorf("%d replies have ended", n)
		}
		time.Sleep(10 * time.Second)
		if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Completed {
			t.Errorf("the reply is %+v", r)
		}
		shows("Thinking")
	})
}

// command gives a command at the console, and returns the answer.
func (h *house) command(t *testing.T, name, args string) string {
	t.Helper()
	before := len(h.console.Shown())
	if err := h.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Command{Name: name, Args: earshot.Text(args)}}); err != nil {
		return err.Error()
	}
	for _, e := range h.console.Shown()[before:] {
		if n, ok := e.Body.(earshot.Notice); ok && e.Sequence == 0 {
			return n.Text
		}
	}
	return ""
}

// TestThink: /think shows a thought grow, survive an interruption and go on. /think stop ends the
// thought and leaves the reply, and stop ends the reply and leaves the thought.
func TestThink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("You were thinking", "four five"), thinks("", "one two three"), one("Three."), llmtest.Rule{When: "count", Reply: "a b c d", Every: time.Second}).open(t.Context())
		defer h.stop()
		shows := func(want ...string) {
			t.Helper()
			got := h.command(t, "think", "")
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("it shows\n%s\nwithout %q", got, w)
				}
			}
		}
		shows("I am not thinking about anything")
		h.command(t, "think", "How many?")
		time.Sleep(2500 * time.Millisecond)
		shows(`Thinking, 2 tokens (command), asked by ann: "How many?"`, "one two")
		h.say(t, "count")
		time.Sleep(1500 * time.Millisecond)
		shows("Parked", "one two", "… ann said something")
		h.say(t, "stop")
		time.Sleep(1600 * time.Millisecond)
		shows("Thinking", "one two", "four")
		time.Sleep(time.Minute)
		shows("I am not thinking", "80 % sure: Three.")
		if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Interrupted {
			t.Errorf("%+v", r)
		}
		h.command(t, "think", "How many more?")
		time.Sleep(1500 * time.Millisecond)
		if got := h.command(t, "think", "stop"); got != "I have stopped thinking about it." {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if got := h.thoughts(); !strings.HasSuffix(got, "command interrupted one | command") {
			t.Error(got)
		}
		if got := h.command(t, "think", "stop"); !strings.Contains(got, "nothing is being thought about") {
			t.Error(got)
		}
		h.config.Reasoning.Enabled = false
		if got := h.command(t, "think", "Why?"); !strings.Contains(got, "executive.reasoning.enabled") {
			t.Error(got)
		}
	})
}

// TestPonder: the conversation hands on a question that it is not sure enough of, and is told to
// come back to it. The finding is for the person who asked.
func TestPonder(t *testing.T) {
	for _, tt := range []struct{ arguments, told string }{
		{`{"question":"How far is it?","uncertainty":0.8}`, "You think about it."},
		{`{"question":"How far is it?","uncertainty":0.1}`, "Refused: you are sure enough; answer yourself"},
		{`{"question":"How far is it?","uncertainty":8}`, "Failed: uncertainty must be a number from 0 to 1"},
		{`{"question":" ","uncertainty":1}`, "Failed: question is empty"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := thinking(thinks("How far is it?", "Ten miles."), one("It is ten miles."),
				llmtest.Rule{When: "how far", Calls: []llm.Call{{Tool: "ponder", Arguments: json.RawMessage(tt.arguments)}}},
				llmtest.Rule{When: "how far", Result: new(""), Reply: "I will see."}).open(t.Context())
			defer h.stop()
			h.say(t, "how far")
			time.Sleep(time.Minute)
			seen := h.model.Seen()
			last := seen[1].Messages[len(seen[1].Messages)-1].Text
			if !strings.Contains(last, tt.told) {
				t.Errorf("%s: told was %s", tt.arguments, last)
			}
			want := ""
			if strings.HasPrefix(tt.told, "You") {
				want = "delegation completed Ten miles.\nfound It is ten miles."
			}
			if got := h.thoughts(); got != want {
				t.Errorf("%s: %s", tt.arguments, got)
			}
			for _, e := range h.journal.Events() {
				if f, ok := e.Body.(earshot.Finding); ok && (f.Answers == "" || len(e.To) != 1 || e.To[0] != participants.Owner) {
					t.Errorf("%+v to %v", f, e.To)
				}
			}
		})
	}
}

// TestAThoughtBeginsAsAReply: the prompt of a thought begins byte for byte as that of a reply,
// tools and all, so that a server need not read it again.
func TestAThoughtBeginsAsAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", "Hm."), one("So.")).open(t.Context())
		defer h.stop()
		h.say(t, "hello")
		time.Sleep(time.Minute)
		h.say(t, "think about it")
		time.Sleep(time.Minute)
		h.say(t, "and?")
		time.Sleep(time.Minute)
		text := func(r llm.Request) (s string) {
			for _, m := range r.Messages[:len(r.Messages)-1] {
				s += string(m.Role) + m.Text
			}
			return s
		}
		seen := h.model.Seen()
		reply, thought, found, after := seen[1], seen[2], seen[3], seen[4]
		if thought.Priority != llm.Reasoning || found.Schema == nil || after.Priority != llm.ReplyToPerson {
			t.Fatalf("asked were %v, %v, %v", thought.Priority, found.Priority, after.Priority)
		}
		if !strings.HasPrefix(text(thought), text(reply)) || text(found) != text(thought) || !strings.HasPrefix(text(after), text(thought)) {
			t.Errorf("they begin with\n%s\n\n%s\n\n%s", text(reply), text(thought), text(after))
		}
		if fmt.Sprint(thought.Tools) != fmt.Sprint(reply.Tools) || len(reply.Tools) == 0 || !thought.Shown || reply.Shown {
			t.Errorf("tools are %d and %d", len(thought.Tools), len(reply.Tools))
		}
	})
}

// TestWhatNobodyAskedBeginsAsTheLastReply: a thought that nobody asked for has the tools of whoever
// was answered last, which are fewer for a guest.
func TestWhatNobodyAskedBeginsAsTheLastReply(t *testing.T) {
	for _, last := range []string{"ann", "bob"} {
		synctest.Test(t, func(t *testing.T) {
			h := thinking(thinks("", "Hm."))
			h.tools = new(shelf).table()
			h.config.Parallel.ReasoningContinuous = true
			c := gather(t, h, "bob")
			defer c.stop()
			c.must(t, "ann", "Earshot, hello", time.Minute)
			c.must(t, last, "Earshot, hello again", time.Minute)
			c.Wonder(earshot.ByNovelty, "", "it rains")
			time.Sleep(time.Minute)
			seen := c.model.Seen()
			first, reply, thought := seen[0], seen[1], seen[2]
			if thought.Priority != llm.Reasoning || fmt.Sprint(thought.Tools) != fmt.Sprint(reply.Tools) {
				t.Errorf("%s had %d tools, what was thought next %d", last, len(reply.Tools), len(thought.Tools))
			}
			if fewer := len(reply.Tools) < len(first.Tools); fewer != (last == "bob") {
				t.Errorf("%s had %d tools, and ann had %d", last, len(reply.Tools), len(first.Tools))
			}
		})
	}
}

// TestWhereThereIsRoom: where there is room for both, with two slots or an engine for each, a
// thought does not give way to a reply.
func TestWhereThereIsRoom(t *testing.T) {
	for name, change := range map[string]func(*executive.Config){
		"two slots": func(c *executive.Config) { c.LLM.Slots = 2 },
		"an engine of its own": func(c *executive.Config) {
			c.LLM.Engines = []llm.EngineConfig{{Provider: "ollama", Model: "a", Slots: 1}, {Name: "big", Provider: "ollama", Model: "b", Slots: 1}}
			c.LLM.EngineConfig = llm.DefaultConfig().EngineConfig
			c.Reasoning.Engine = "big"
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := thinking(thinks("", "one two three four"))
				h.llm = &llm.Scheduler{Engine: h.model, Slots: 2}
				change(&h.config)
				h.open(t.Context())
				defer h.stop()
				h.command(t, "think", "How many?")
				time.Sleep(1500 * time.Millisecond)
				typing(t, h, true)
				time.Sleep(500 * time.Millisecond)
				h.say(t, "count")
				time.Sleep(time.Minute)
				h.wants(t, "command completed one two three four")
				if seen := h.model.Seen(); seen[0].Messages[0].Text == seen[1].Messages[0].Text {
					t.Error("it begins as a reply does, and takes its slot in the server")
				}
			})
		})
	}
}

// TestSequential: without parallel.enabled a thought is one step after a reply, takes place only if
// somebody asks for it, and ends when somebody speaks. The part that was thought is kept.
func TestSequential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", "one two three four"), one("Two."))
		h.config.Parallel.Enabled = false
		h.open(t.Context())
		defer h.stop()
		h.say(t, "think of numbers")
		time.Sleep(2500 * time.Millisecond)
		if r := h.replies(); len(r) != 1 {
			t.Errorf("%d replies before the thought", len(r))
		}
		h.say(t, "count")
		time.Sleep(time.Minute)
		h.wants(t, "trigger interrupted one two | addressed", "found Two.")
	})
}

// TestThoughtsGoOnAfterAStart: a thought that somebody asked for goes on after a restart if it was
// parked, and begins if it had not begun.
func TestThoughtsGoOnAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("You were thinking:\none two\n", "three"), thinks("Why?", "Because."), thinks("", "one two nine"), one("Three.")).open(t.Context())
		h.say(t, "hello")
		time.Sleep(time.Second)
		h.command(t, "think", "How many?")
		h.command(t, "think", "Why?")
		time.Sleep(2500 * time.Millisecond)
		h.stop()
		h.wants(t, "command interrupted one two | shutdown")
		h.past = h.journal.Events()
		h.open(t.Context())
		time.Sleep(time.Minute)
		if got := h.thoughts(); !strings.Contains(got, "command completed three\nfound Three.") || !strings.Contains(got, "command completed Because.") {
			t.Error(got)
		}
		h.stop()
		// What is over stays over, and what was found is known.
		h.past = h.journal.Events()
		h.open(t.Context())
		defer h.stop()
		requests := len(h.model.Seen())
		time.Sleep(time.Minute)
		if n := len(h.model.Seen()); n != requests {
			t.Errorf("it asked %d times", n-requests)
		}
		if got := h.command(t, "think", ""); !strings.Contains(got, "80 % sure: Three.") {
			t.Error(got)
		}
	})
}

// TestAKillForgetsNoQuestion: a question that somebody has asked to have thought about, in
// whichever way, is thought about after a restart, even if earshot stopped without a word during
// the first stretch, or before it. A thought that somebody has stopped is not.
func TestAKillForgetsNoQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		ask  func(*testing.T, *house)
		want string
	}{
		"by command":   {func(t *testing.T, h *house) { h.command(t, "think", "How far?") }, "command completed one two nine\nfound Ten."},
		"by a word":    {func(t *testing.T, h *house) { h.say(t, "think about it") }, "trigger completed one two nine\nfound Ten."},
		"by the agent": {func(t *testing.T, h *house) { h.say(t, "how far") }, "delegation completed one two nine\nfound Ten."},
		"stopped": {func(t *testing.T, h *house) {
			h.command(t, "think", "How far?")
			h.command(t, "think", "Why?")
			h.command(t, "think", "stop")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := thinking(thinks("", "one two nine"), one("Ten."),
					llmtest.Rule{When: "how far", Calls: []llm.Call{{Tool: "ponder", Arguments: json.RawMessage(`{"question":"How far?","uncertainty":1}`)}}},
					llmtest.Rule{When: "how far", Result: new(""), Reply: "I will see."}, llmtest.Rule{When: "think", Reply: "I will see."}).open(t.Context())
				h.say(t, "hello")
				time.Sleep(time.Minute)
				tt.ask(t, h)
				time.Sleep(1500 * time.Millisecond)
				h.past = h.journal.Events() // and no more, as after a kill
				h.stop()
				h.open(t.Context())
				defer h.stop()
				before := h.thoughts()
				time.Sleep(time.Minute)
				if got := strings.TrimSpace(strings.TrimPrefix(h.thoughts(), before)); got != tt.want {
					t.Errorf("%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}

// TestNothingIsThought: nothing is thought while the room answers nothing, and a thought that has
// begun waits.
func TestNothingIsThought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", "one two three")).open(t.Context())
		defer h.stop()
		h.command(t, "think", "How many?")
		time.Sleep(1500 * time.Millisecond)
		h.command(t, "pause", "")
		time.Sleep(time.Hour)
		if n := len(h.model.Seen()); n != 1 {
			t.Errorf("asked %d times", n)
		}
		h.command(t, "resume", "")
		time.Sleep(time.Minute)
		if got := h.thoughts(); !strings.HasPrefix(got, "command interrupted one | ") || !strings.Contains(got, "completed") {
			t.Error(got)
		}
	})
}

// TestTriggers: a trigger is a whole word, in any case, of a person's message to the agent.
func TestTriggers(t *testing.T) {
	for text, want := range map[string]string{
		"please ANALYZE that":       "trigger completed Hm.",
		"a thinker, unreasonable":   "",
		"stop":                      "",
		"what is complex about it?": "trigger completed Hm.",
	} {
		synctest.Test(t, func(t *testing.T) {
			h := thinking(thinks("", "Hm.")).open(t.Context())
			defer h.stop()
			h.say(t, text)
			time.Sleep(time.Minute)
			if got := h.thoughts(); got != want {
				t.Errorf("%q: %s", text, got)
			}
		})
	}
}

// TestItsOwnWordsMakeNobodyThink: a reply with a trigger in it begins no thought.
func TestItsOwnWordsMakeNobodyThink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", "Hm."), llmtest.Rule{Reply: "I think, I reason, I decide."}).open(t.Context())
		defer h.stop()
		h.say(t, "hello")
		time.Sleep(time.Minute)
		h.wants(t)
	})
}
