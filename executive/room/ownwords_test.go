package room_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// words returns the prompt of the last request as text.
func (tr *trial) words() string {
	var all []string
	for _, m := range tr.model.asked[len(tr.model.asked)-1].Messages {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

// quiet opens a room with ann, bob and carol in it, in which nobody has said anything.
func quiet(t *testing.T, h *house) *trial {
	t.Helper()
	s := &shelf{holds: tool.Answer{Text: "the cat is grey"}}
	h.tools = s.table()
	m := &eagerly{Script: h.model}
	h.llm = m
	return &trial{court(t, h), s, m}
}

// TestOwnWords: somebody who asks with /mywords is held back by nobody else's words, since no one
// else's are in the prompt, however they came to be said.
func TestOwnWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(t *testing.T, tr *trial)
		read bool
	}{
		{"nothing else was said", func(*testing.T, *trial) {}, true},
		{"bob has called the agent", func(t *testing.T, tr *trial) {
			tr.must(t, "ann", "/pause", 0)
			tr.must(t, "bob", "Earshot, canary", 0)
			tr.must(t, "ann", "/resume", 0)
		}, true},
		{"bob waits for an answer", func(t *testing.T, tr *trial) {
			tr.model.Every = time.Second
			set := tr.config
			set.Interruption.Enabled = false
			tr.reset.Store(&set)
			tr.must(t, "ann", "Earshot, count", time.Second)
			tr.must(t, "bob", "Earshot, canary", 0)
		}, true},
		{"bob has something noted, and talks to others", func(t *testing.T, tr *trial) {
			tr.must(t, "bob", "/note canary", 0)
			tr.must(t, "bob", "carol, canary", 0)
		}, true},
		{"the agent has answered bob with it", func(t *testing.T, tr *trial) {
			tr.model.Reply = "canary"
			tr.must(t, "bob", "Earshot, say it", time.Second)
		}, true},
		{"somebody unknown has said it aloud", func(t *testing.T, tr *trial) {
			if err := tr.Admit(t.Context(), aloud("Earshot, canary", 0)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"bob wants to change what ann wrote", func(t *testing.T, tr *trial) {
			tr.must(t, "ann", "Earshot, my cat is grey", time.Second)
			tr.must(t, "bob", "/context", 0)
			list := regexp.MustCompile(`(?m)^ *([0-9]+)\W.*my cat is grey`).FindStringSubmatch(strings.Join(tr.told("bob"), "\n"))
			if list == nil {
				t.Fatalf("bob reads %q", tr.told("bob"))
			}
			if err := tr.writes(t, "bob", "/context change "+list[1]+" canary"); err == nil {
				t.Error("bob can")
			}
		}, true},
		{"ann answers what bob wrote", func(t *testing.T, tr *trial) {
			if err := tr.Admit(t.Context(), earshot.Event{ID: "bobs", From: handle("bob"), Via: "bob", Body: earshot.Message{Text: "canary"}}); err != nil {
				t.Fatal(err)
			}
			if err := tr.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Message{Text: "Earshot, what of that?", ReplyTo: "bobs"}}); err != nil {
				t.Fatal(err)
			}
			rests(time.Second)
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := quiet(t, newHouse())
				tt.does(t, tr)
				synctest.Wait()
				tr.model.asked, tr.model.arguments = nil, []string{inDiary, inDiary} // one more, for whoever waited before
				if err := tr.writes(t, "ann", "/mywords what is in my diary?"); err != nil {
					t.Fatal(err)
				}
				rests(time.Minute)
				tr.stop()
				var asked *llm.Request // the last such request, since bob is answered before
				for _, req := range tr.model.asked {
					if strings.HasSuffix(req.Messages[len(req.Messages)-2].Text, "what is in my diary?") {
						asked = req
					}
				}
				if asked == nil {
					t.Fatalf("nobody was asked: %q", tr.decided())
				}
				for _, m := range asked.Messages {
					if strings.Contains(m.Text, "canary") || strings.Contains(m.Text, "[FROM: bob]") || strings.Contains(m.Text, "[FROM: carol]") {
						t.Errorf("in the prompt stands %q", m.Text)
					}
				}
				if got := len(tr.shelf.read) > 0; got != tt.read {
					t.Errorf("it was read: %v; used %q", got, tr.uses())
				}
				if !slices.Contains(tr.decided(), reason.OwnWords) {
					t.Errorf("decided %q", tr.decided())
				}
			})
		})
	}
}

// TestOwnWordsGiveNoRights: somebody who may not have a thing done may not have it done by /mywords
// either, and a message cannot claim to have been asked by /mywords.
func TestOwnWordsGiveNoRights(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    earshot.Event
		err  bool
	}{
		{"a guest", earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Command{Name: "mywords", Args: "read it"}}, false},
		{"a guest, in capitals, with a name", earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Command{Name: "MyWords", Args: "@Earshot ann: read it"}}, false},
		{"nobody", earshot.Event{From: earshot.Handle{Provider: "discord", ID: "9"}, Body: earshot.Command{Name: "mywords", Args: "read it"}}, true},
		{"a voice", earshot.Event{From: earshot.Handle{Provider: "voice", ID: "1"}, Body: earshot.Command{Name: "mywords", Args: "read it"}}, true},
		{"nothing asked", earshot.Event{From: ann, Body: earshot.Command{Name: "mywords", Args: " "}}, true},
		{"too much", earshot.Event{From: ann, Body: earshot.Command{Name: "mywords", Args: earshot.Text(strings.Repeat("x", earshot.MaxText+1))}}, true},
		{"a message that says so", earshot.Event{From: ann, Body: earshot.Message{Text: "Earshot, read it", OwnWords: true}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := quiet(t, newHouse())
				tr.must(t, "ann", "/pause", 0)
				tr.must(t, "bob", "Earshot, hello", 0)
				tr.must(t, "ann", "/resume", 0)
				tr.model.arguments = []string{inDiary}
				if err := tr.Admit(t.Context(), tt.e); (err != nil) != tt.err {
					t.Errorf("it is taken: %v", err)
				}
				rests(time.Minute)
				tr.stop()
				if len(tr.shelf.read) > 0 {
					t.Errorf("it was read; used %q", tr.uses())
				}
			})
		})
	}
}

// TestOwnWordsAnswerNobodyElse: the answer to a question asked by /mywords is no answer to anybody
// else, so others' words go on holding back what they held back before. Once it is answered, its
// author holds nobody back either.
func TestOwnWordsAnswerNobodyElse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		by    string
		reads bool
	}{
		{"ann asks so, and bob still waits", "ann", false},
		{"bob asks so, and is answered", "bob", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := quiet(t, newHouse())
				if tt.by == "ann" {
					tr.must(t, "ann", "/pause", 0)
					tr.must(t, "bob", "Earshot, read the diary to me", 0)
					tr.must(t, "ann", "/resume", 0)
				}
				tr.must(t, tt.by, "/mywords how are you?", time.Minute)
				tr.model.arguments = []string{inDiary}
				tr.must(t, "ann", "Earshot, and now?", time.Minute)
				tr.stop()
				if got := len(tr.shelf.read) > 0; got != tt.reads {
					t.Errorf("it was read: %v; used %q", got, tr.uses())
				}
			})
		})
	}
}

// TestOwnWordsBefore: what the same person asked before is in the prompt, as dealt with; what the
// agent answered does not.
func TestOwnWordsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := quiet(t, newHouse())
		tr.model.Reply = "canary"
		tr.must(t, "ann", "Earshot, my cat is grey", time.Second)
		tr.must(t, "bob", "Earshot, canary", time.Second)
		tr.must(t, "ann", "/mywords what is my cat like?", time.Second)
		tr.stop()
		got := tr.words()
		before, told, asked := strings.Index(got, "my cat is grey"), strings.Index(got, "do nothing of it again"), strings.Index(got, "what is my cat like?")
		if before < 0 || told < before || asked < told || strings.Contains(got, "canary") {
			t.Errorf("the prompt is %q", got)
		}
		last := tr.messages()[2]
		if m := last.Body.(earshot.Message); !m.OwnWords || m.Text != "what is my cat like?" || last.Visibility.Scope != earshot.Public || last.Author != participants.Owner {
			t.Errorf("on record is %+v", last)
		}
		if shown := tr.screens["bob"].Shown(); !slices.ContainsFunc(shown, func(e earshot.Event) bool { return e.ID == last.ID }) {
			t.Error("bob does not see what was asked before all")
		}
	})
}

// TestOwnWordsAfterARestart: a question asked by /mywords that nobody had answered is asked again
// after a restart, still without anybody else's words.
func TestOwnWordsAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		was := quiet(t, newHouse())
		was.must(t, "ann", "/pause", 0)
		was.must(t, "bob", "Earshot, canary", 0)
		was.must(t, "ann", "/resume", 0)
		was.model.Every = time.Hour
		was.must(t, "ann", "/mywords what is in my diary?", time.Second)
		was.stop()
		h := newHouse()
		h.journal, h.past, h.ids, h.away = was.journal, was.journal.Events(), was.ids, true
		tr := quiet(t, h)
		rests(time.Minute)
		tr.stop()
		if len(tr.model.asked) == 0 || strings.Contains(tr.words(), "canary") || !strings.Contains(tr.words(), "in my diary") {
			t.Errorf("asked %d times; %q", len(tr.model.asked), was.decided())
		}
	})
}

// TestOwnWordsGoOnWithNothing: what the agent was saying to others is in no prompt of somebody's
// own words, even if they ask it to go on.
func TestOwnWordsGoOnWithNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := quiet(t, newHouse())
		tr.model.Rules = []llmtest.Rule{{When: "sing", Reply: "canary, canary, canary. And so on. And on.", Every: time.Second}}
		tr.must(t, "bob", "Earshot, sing", 4*time.Second)
		tr.must(t, "ann", "stop", time.Second)
		tr.model.asked = nil
		tr.must(t, "ann", "/mywords go on", time.Minute)
		tr.stop()
		if len(tr.model.asked) != 1 || strings.Contains(tr.words(), "canary") {
			t.Errorf("asked %d times: %q", len(tr.model.asked), tr.words())
		}
	})
}

// TestOwnWordsElsewhere: /mywords works from where there is no outlet, too.
func TestOwnWordsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := quiet(t, newHouse())
		tr.model.arguments = []string{inDiary}
		answer, err := tr.Do(context.Background(), earshot.Event{From: ann, Body: earshot.Command{Name: "mywords", Args: "what is in my diary?"}})
		rests(time.Minute)
		tr.stop()
		if err != nil || answer != "" || len(tr.shelf.read) != 1 || len(tr.replies()) != 1 {
			t.Errorf("%q, %v; read %q", answer, err, tr.shelf.read)
		}
	})
}

// TestConfirmElsewhere: somebody who has no outlet here can list what waits to be confirmed, and
// confirm it.
func TestConfirmElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := tries(t, inDiary)
		do := func(from earshot.Handle, args string) (string, error) {
			return tr.Do(t.Context(), earshot.Event{From: from, Body: earshot.Command{Name: "confirm", Args: earshot.Text(args)}})
		}
		list, err := do(ann, "")
		other, _ := do(handle("carol"), "")
		found := confirmable.FindStringSubmatch(list)
		if err != nil || found == nil || strings.Contains(other, "diary") {
			t.Fatalf("%q and %q, %v", list, other, err)
		}
		_, err = do(ann, found[1])
		rests(time.Second)
		tr.stop()
		if err != nil || len(tr.shelf.read) != 1 {
			t.Errorf("read %q: %v", tr.shelf.read, err)
		}
	})
}

// TestConfirmIsOfferedWhereItMayBeSeen: a call for a public question is offered in a channel that
// everybody reads.
func TestConfirmIsOfferedWhereItMayBeSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := newHouse(), &shelf{holds: tool.Answer{Text: "grey"}}
		h.away = true
		wall := &testkit.Voice{Called: "wall"}
		h.later = nil
		tr := triesAt(t, h, s, wall)
		tr.stop()
		var told []string
		for _, e := range wall.Shown() {
			if n, is := e.Body.(earshot.Notice); is && strings.Contains(n.Text, "/confirm") {
				told = append(told, n.Text)
			}
		}
		if len(told) != 1 || !strings.HasPrefix(told[0], "ann: ") {
			t.Errorf("told is %q", told)
		}
	})
}

// triesAt is tries in a room where everything is shown at one place that anybody reads.
func triesAt(t *testing.T, h *house, s *shelf, wall *testkit.Voice) *trial {
	t.Helper()
	h.tools = s.table()
	m := &eagerly{Script: h.model}
	h.llm = m
	tr := &trial{court(t, h), s, m}
	tr.Enter(wall, earshot.Audience{Unknown: true})
	tr.asks(t, inDiary)
	return tr
}
