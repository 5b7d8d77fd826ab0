package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/executive/scene"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// edits returns the edits on record, with their authors.
func (h *house) edits() (all []string) {
	for _, e := range h.journal.Events() {
		if b, ok := e.Body.(earshot.Edit); ok {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s", e.Author, string(b.Deed()))))
		}
	}
	return all
}

// last returns what somebody was told last.
func (c *company) last(name string) string {
	if all := c.told(name); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// journalled lets a room compare its scene with its journal.
func (h *house) journalled() {
	h.scenery = func(context.Context) ([]earshot.Event, error) { return h.journal.Events(), nil }
}

// TestContext: people can list the entries of the scene, and change them by their numbers.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journalled()
		c := gather(t, h, "bob")
		c.must(t, "ann", "/note likes tea", time.Minute)
		c.must(t, "bob", "/context", 0)
		want := "  1  current_environment (now): Saturday, 1 January 2000, 00:01, night\n  2  user_state (60 s ago): ann is here\n  3  user_state (60 s ago): bob is here\n  4  notes (60 s ago): ann: likes tea"
		if got := c.last("bob"); got != want {
			t.Errorf("bob reads\n%s\nwant\n%s", got, want)
		}
		for _, tt := range []struct{ who, write, fails string }{
			{"bob", "/context change 4 likes coffee", ""},
			{"bob", "/context remove 4", "changed in the meantime"}, // the text that he saw has changed by now
			{"bob", "/context change 1 noon", "that is the clock of this machine"},
			{"ann", "/context change 4 likes milk", "/context shows the numbers"},
			{"ann", "/context add notes a deadline at four", ""},
			{"ann", "/context add user_state Bob is asleep", ""},
			{"bob", "/context add mood fine", "there is no such field; the fields are current_environment, "},
			{"bob", "/context add agent_state you are tired", "nothing can be added to agent_state"},
			{"bob", "/context add notes", "the text is empty"},
			{"bob", "/context add notes " + strings.Repeat("x", 301), "at most 300"},
			{"bob", "/context dance", "write /context [add FIELD TEXT"},
			{"bob", "/context change x y", "which entry?"},
			{"bob", "/context undo 9", "/context log shows"},
			{"ann", "/context undo", ""},
			{"bob", "/context undo 3", "/context log shows the changes"},
		} {
			if strings.HasPrefix(tt.write, "/context undo 3") {
				tt.write = "/context undo 99"
			}
			err := c.writes(t, tt.who, tt.write)
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s writes %s: %v", tt.who, tt.write, err)
			}
		}
		c.must(t, "bob", "/context log", 0)
		if got := c.last("bob"); strings.Count(got, "\n") != 3 || !strings.Contains(got, `bob changed notes: "likes tea" is "likes coffee" now`) || !strings.Contains(got, `ann added to user_state: "Bob is asleep" (taken back)`) {
			t.Errorf("the changes are\n%s", got)
		}
		c.must(t, "ann", "/context", 0)
		if got := c.last("ann"); !strings.Contains(got, `bob: likes coffee (corrected; it said "likes tea")`) || strings.Contains(got, "asleep") {
			t.Errorf("ann reads\n%s", got)
		}
		c.must(t, "ann", "/context resync", 0)
		if got := c.last("ann"); got != "It matches the journal." {
			t.Error(got)
		}
		c.stop()
		if got := strings.Join(h.edits(), "; "); strings.Count(got, ";") != 3 {
			t.Errorf("on record are %s", got)
		}
		again := newHouse()
		again.past, again.people = h.journal.Events(), h.people
		again.journal.From(int64(len(again.past)))
		again.open(t.Context())
		if got := again.give(t, "context", ""); !strings.Contains(got, "bob: likes coffee") || !strings.Contains(got, "a deadline at four") || strings.Contains(got, "asleep") {
			t.Errorf("after a start\n%s", got)
		}
		again.stop()
	})
}

// TestWhoMayEdit: every known participant may edit what they see; only the operator may edit what
// was said, and nobody edits a private entry that they do not see.
func TestWhoMayEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		c := gather(t, h, "bob")
		c.must(t, "ann", "/msg earshot my cup is red", time.Second)
		c.must(t, "ann", "hello bob", 0)
		c.must(t, "bob", "/context", 0)
		if got := c.last("bob"); strings.Contains(got, "red") || !strings.Contains(got, "  2  recent_messages (now): ann: hello bob") {
			t.Fatalf("bob reads\n%s", got)
		}
		if err := c.writes(t, "bob", "/context remove 2"); err == nil || !strings.Contains(err.Error(), "only an operator of this earshot can change it") {
			t.Errorf("bob takes out what was said: %v", err)
		}
		c.must(t, "ann", "/context", 0)
		c.must(t, "ann", "/context change 2 my cup is blue", 0) // only she and the agent know this entry
		c.stop()
		all := c.journal.Events()
		e := all[len(all)-1]
		if b := e.Body.(earshot.Edit); e.Visibility.Scope != earshot.Private || string(b.Was) != "my cup is red" || len(e.Sources) != 1 {
			t.Errorf("what is private is changed for %v, of %d sources", e.Visibility, len(e.Sources))
		}
		for _, shown := range c.screens["bob"].Shown() {
			if b, ok := shown.Body.(earshot.Edit); ok {
				t.Errorf("bob is shown %q", string(b.Text))
			}
		}
	})
}

// TestCorrect: a person's correction changes the entry that it is about. The sense that was wrong
// is told so, and the same observation does not come back until there is another one.
func TestCorrect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journalled()
		var taught []string
		h.corrected = func(source string, e earshot.Event) {
			taught = append(taught, source+": "+string(e.Body.(earshot.Edit).Text))
		}
		c := gather(t, h, "bob")
		sees := func(text string) error {
			return c.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "webcam", ID: "0"}, Body: earshot.Edit{Act: earshot.Created, Field: "recent_visual", Item: "cup", Text: earshot.Text(text)}})
		}
		for _, step := range []struct{ who, does, shows string }{
			{"webcam", "Ann's cup is on the desk", "Ann's cup is on the desk"},
			{"ann", "/correct no, that is Bob's cup", "ann: that is Bob's cup"},
			{"webcam", "Ann's cup is on the desk", "ann: that is Bob's cup"},
			{"ann", "/correct Eve's cup, not Bob's cup", "ann: that is Eve's cup"},
			{"webcam", "Ann's cup is on the desk", "ann: that is Eve's cup"},
			{"webcam", "the desk is empty", "the desk is empty"},
			{"webcam", "Ann's cup is on the desk", "Ann's cup is on the desk"},
		} {
			time.Sleep(time.Second)
			if step.who == "webcam" {
				if err := sees(step.does); err != nil {
					t.Fatal(err)
				}
			} else {
				c.must(t, step.who, step.does, 0)
			}
			c.must(t, "bob", "/context", 0)
			if got := c.last("bob"); !strings.Contains(got, "recent_visual (now): "+step.shows) {
				t.Errorf("after %s %q:\n%s", step.who, step.does, got)
			}
		}
		c.must(t, "ann", "/correct nonsense about cheese", 0)
		if got := c.last("ann"); !strings.Contains(got, "Which of these is wrong?") || !strings.Contains(got, "Ann's cup") {
			t.Errorf("asked back: %s", got)
		}
		c.must(t, "bob", "/context resync", 0)
		if got := c.last("bob"); got != "It matches the journal." {
			t.Error(got)
		}
		c.stop()
		if got := strings.Join(taught, "; "); got != "webcam: that is Bob's cup" {
			t.Errorf("taught was %s", got)
		}
	})
}

// TestObservationsOfTheHouse: what the house itself observed can be corrected too, and stays
// corrected until the next different observation, which ends the correction, on record.
func TestObservationsOfTheHouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journalled()
		c := gather(t, h, "bob")
		c.must(t, "ann", "/correct bob is asleep", 0)
		c.must(t, "bob", "/context", 0) // a command is no sign of life to a sense
		if got := c.last("bob"); !strings.Contains(got, "ann: bob is asleep") {
			t.Errorf("bob reads\n%s", got)
		}
		c.must(t, "bob", "ann, I am not", 0) // the observation is "bob is here" again
		c.must(t, "ann", "/context", 0)
		if got := c.last("ann"); !strings.Contains(got, "ann: bob is asleep") {
			t.Errorf("the same observation has come back:\n%s", got)
		}
		if err := c.Admit(t.Context(), earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Typing{Began: true}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c.must(t, "ann", "/context", 0)
		if got := c.last("ann"); !strings.Contains(got, "bob is typing") || strings.Contains(got, "asleep") {
			t.Errorf("something else is so:\n%s", got)
		}
		c.must(t, "ann", "/context resync", 0)
		if got := c.last("ann"); got != "It matches the journal." {
			t.Error(got)
		}
		c.stop()
		all := h.journal.Events()
		if b, ok := all[len(all)-1].Body.(earshot.Edit); !ok || !scene.Over(b) || b.Source != "console" {
			t.Errorf("on record is %T", all[len(all)-1].Body)
		}
	})
}

// TestSensesTellOnlyWhatTheyNotice: a sense may report only on the fields that are for it, and
// people edit by /context.
func TestSensesTellOnlyWhatTheyNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		for _, tt := range []struct {
			from earshot.Handle
			edit earshot.Edit
			want string
		}{
			{handle("bob"), earshot.Edit{Act: earshot.Created, Field: "user_state", Text: "x"}, "use /context"},
			{earshot.Handle{Provider: "webcam", ID: "0"}, earshot.Edit{Act: earshot.Created, Field: "notes", Text: "x"}, "can only report on"},
			{earshot.Handle{Provider: "webcam", ID: "0"}, earshot.Edit{Act: earshot.Undone, Field: "user_state"}, "not \"undone\""},
			{earshot.Handle{Provider: "webcam", ID: "0"}, earshot.Edit{Act: earshot.Created, Field: "user_state", Item: strings.Repeat("x", 99), Text: "x"}, "at most 64"},
			{earshot.Handle{Provider: "webcam", ID: "0"}, earshot.Edit{Act: earshot.Created, Field: "user_state", Text: " "}, "says nothing"},
			{earshot.Handle{Provider: "webcam", ID: "0"}, earshot.Edit{Act: earshot.Changed, Field: "user_state", Item: "ann", Text: "ann frowns"}, ""},
		} {
			err := c.Admit(t.Context(), earshot.Event{From: tt.from, Body: tt.edit})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v", tt.edit, err)
			}
		}
		c.must(t, "ann", "/context", 0)
		if got := c.last("ann"); !strings.Contains(got, "ann frowns") || !strings.Contains(got, "ann is here") {
			t.Errorf("ann reads\n%s", got)
		}
		c.must(t, "ann", "/offrecord", 0)
		if err := c.writes(t, "ann", "/context add notes x"); err == nil || !strings.Contains(err.Error(), "off the record") {
			t.Errorf("off the record: %v", err)
		}
		c.stop()
	})
}

// TestEditContext: a model corrects an entry by quoting it, and everybody sees that. If it may not
// change an entry, it is told what to do instead.
func TestEditContext(t *testing.T) {
	for _, tt := range []struct{ name, arguments, want string }{
		{"change", `{"action":"change","field":"notes","entry":"ann: likes tea","text":"likes coffee"}`, "It is changed."},
		{"by a part", `{"action":"remove","field":"notes","entry":"Tea"}`, "It is removed."},
		{"add", `{"action":"add","field":"user_state","text":"ann is tired"}`, "It is added."},
		{"unclear", `{"action":"remove","field":"notes","entry":"coffee"}`, "copy one of these into entry, as it stands:\n- ann: likes tea"},
		{"nothing there", `{"action":"remove","field":"findings","entry":"tea"}`, "there is no entry in that field"},
		{"a finding", `{"action":"add","field":"findings","text":"x"}`, "findings come from thinking"},
		{"an unknown field", `{"action":"add","field":"mood","text":"x"}`, `it must be \"notes\", \"user_state\" or \"findings\"`},
		{"an unknown action", `{"action":"sing","field":"notes"}`, `it must be \"add\", \"change\" or \"remove\"`},
		{"an unknown key", `{"action":"add","field":"notes","text":"x","author":"ann"}`, `unknown field`},
		{"no text", `{"action":"change","field":"notes","entry":"likes tea"}`, "text is empty"},
		{"a text to remove", `{"action":"remove","field":"notes","entry":"likes tea","text":"x"}`, "text is not for remove"},
		{"an entry to add", `{"action":"add","field":"notes","entry":"likes tea","text":"x"}`, "entry is not for add"},
		{"what is so already", `{"action":"change","field":"notes","entry":"likes tea","text":"likes tea"}`, "that is what it says already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Rules = []llmtest.Rule{calls("Earshot", "I am wrong", "edit_context", tt.arguments), after("Earshot", "", "Done.")}
				c := gather(t, h)
				c.must(t, "ann", "/note likes tea", 0)
				c.must(t, "ann", "I am wrong", time.Minute)
				c.stop()
				used := strings.Join(c.uses(), "; ")
				if !strings.Contains(used, strings.ReplaceAll(tt.want, `\"`, `"`)) {
					t.Errorf("used: %s", used)
				}
				if done := strings.HasPrefix(tt.want, "It is"); len(c.edits()) > 0 != done {
					t.Errorf("changed: %q", c.edits())
				}
			})
		})
	}
}

// TestAModelKeepsPrivateWordsPrivate: a model that is asked in private changes nothing that others
// can see.
func TestAModelKeepsPrivateWordsPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		change, _ := json.Marshal(map[string]string{"action": "change", "field": "notes", "entry": "likes tea", "text": "secretly likes coffee"})
		add, _ := json.Marshal(map[string]string{"action": "add", "field": "notes", "text": "secretly likes coffee"})
		h.model.Rules = []llmtest.Rule{
			{Agent: "Earshot", When: "change it", Calls: []llm.Call{{Tool: "edit_context", Arguments: change}}},
			{Agent: "Earshot", When: "add it", Calls: []llm.Call{{Tool: "edit_context", Arguments: add}}},
			after("Earshot", "", "Done."),
		}
		c := gather(t, h, "bob")
		c.must(t, "bob", "/note likes tea", 0)
		c.must(t, "ann", "/msg earshot change it", time.Minute)
		c.must(t, "ann", "/msg earshot add it", time.Minute)
		c.must(t, "bob", "/context", 0)
		if got := c.last("bob"); strings.Contains(got, "secretly") || !strings.Contains(got, "likes tea") {
			t.Errorf("bob reads\n%s", got)
		}
		c.must(t, "ann", "/context", 0)
		if got := c.last("ann"); !strings.Contains(got, "Earshot: secretly likes coffee") {
			t.Errorf("ann reads\n%s", got)
		}
		c.stop()
		if used := strings.Join(c.uses(), "; "); !strings.Contains(used, "that entry is visible to more people than this conversation") {
			t.Errorf("used: %s", used)
		}
	})
}

// TestTwoEditsAtOnce: if two people change the same entry at once, the second is told that it has
// changed.
func TestTwoEditsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		c := gather(t, h, "bob")
		c.must(t, "ann", "/note likes tea", 0)
		c.must(t, "ann", "/context", 0)
		c.must(t, "bob", "/context", 0)
		h.journal.Slow(time.Second)
		how := make(chan error, 2)
		for _, who := range []string{"ann", "bob"} {
			go func() { how <- c.writes(t, who, "/context change 3 likes "+who) }()
		}
		first, second := <-how, <-how
		if (first == nil) == (second == nil) || !strings.Contains(errors.Join(first, second).Error(), "changed in the meantime") {
			t.Errorf("%v and %v", first, second)
		}
		h.journal.Slow(0)
		c.stop()
		if n := len(c.edits()); n != 1 {
			t.Errorf("%d edits", n)
		}
	})
}

// TestResync: whatever has gone wrong with the scene, it is rebuilt from the journal, and people
// are told so once.
func TestResync(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*scene.Scene)
		found bool // with the next event, by the counters; otherwise by /context resync
	}{
		{"dropped", func(s *scene.Scene) { s.Forget("m2") }, false},
		{"corrupt", func(s *scene.Scene) {
			s.Edit(earshot.Event{ID: "x", Author: "eve", Body: earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "m1", Text: "nonsense"}})
		}, false},
		{"another", func(s *scene.Scene) {
			s.Put(scene.Item{Field: scene.Notes, Event: "m9", Text: "nonsense", Visibility: earshot.Visibility{Scope: earshot.Public}})
		}, false},
		{"counted twice", func(s *scene.Scene) { s.Forget("m1"); s.Took(1) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.journalled()
				h.open(t.Context())
				for n := range 4 {
					e := earshot.Event{ID: earshot.EventID(fmt.Sprint("m", n)), From: ann, Via: "console", Body: earshot.Command{Name: "note", Args: earshot.Text(fmt.Sprint("note ", n))}}
					if err := h.Admit(t.Context(), e); err != nil {
						t.Fatal(err)
					}
				}
				right := h.give(t, "context", "")
				tt.spoil(room.Scene(h.Room))
				if h.give(t, "context", "") == right {
					t.Fatal("it is not spoilt")
				}
				if tt.found {
					h.give(t, "note", "more")
					synctest.Wait()
					right += "\n  6  notes (now): ann: more"
				} else if got := h.give(t, "context", "resync"); !strings.HasPrefix(got, "It did not match the journal") {
					t.Error(got)
				}
				if got := h.give(t, "context", ""); got != right {
					t.Errorf("afterwards\n%s\nwant\n%s", got, right)
				}
				if got := h.give(t, "context", "resync"); got != "It matches the journal." {
					t.Error(got)
				}
				h.stop()
				if n := strings.Count(strings.Join(texts(h.console), "\n"), "so I have rebuilt it from the journal"); n != 1 {
					t.Errorf("it was said %d times", n)
				}
			})
		})
	}
}

// TestResyncAtStart: a room that was given too little of its past gets the rest once it runs.
func TestResyncAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		for n := range 3 {
			h.give(t, "note", fmt.Sprint("note ", n))
		}
		h.stop()
		all := h.journal.Events()
		again := newHouse()
		again.past, again.ids = all[1:], 100
		again.scenery = func(context.Context) ([]earshot.Event, error) { return append(all, again.journal.Events()...), nil }
		again.journal.From(int64(len(all)))
		again.open(t.Context())
		synctest.Wait()
		if got := again.give(t, "context", ""); strings.Count(got, "notes") != 3 {
			t.Errorf("after a start\n%s", got)
		}
		again.stop()
	})
}

// TestAClosedRoomIsNotWaitedFor: /context resync in a closed room says that it is closed, and does
// not wait.
func TestAClosedRoomIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journalled()
		h.open(t.Context())
		h.stop()
		if got := h.give(t, "context", "resync"); !strings.Contains(got, "the room is closed") {
			t.Error(got)
		}
	})
}

// TestRefuted: the next thought is told which findings somebody has refuted, with the correction.
// Once that is undone, it is not told any more.
func TestRefuted(t *testing.T) {
	const told = "and were told that it is wrong:\n- Ann is under time pressure."
	for _, tt := range []struct{ does, told string }{
		{"/correct no, that is wrong", told + "\n"},
		{"/correct Ann has time, not pressure", told + " (ann says instead: Ann has time, not pressure)"},
		{"/context", ""},
		{"/context undo", ""},
	} {
		t.Run(tt.does, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := thinking(thinks("", "Ann must finish by four"), one("Ann is under time pressure."))
				h.journalled()
				h.open(t.Context())
				defer h.stop()
				h.say(t, "please think about my day")
				time.Sleep(time.Minute)
				name, args, _ := strings.Cut(tt.does[1:], " ")
				if tt.does == "/context undo" {
					h.give(t, "correct", "no, that is wrong")
				}
				if got := h.give(t, name, args); strings.HasPrefix(got, "error") || strings.Contains(got, "Which") {
					t.Fatal(got)
				}
				h.say(t, "please think about it again")
				time.Sleep(time.Minute)
				all := h.asked(llm.Reasoning)
				if got := all[len(all)-2]; !strings.Contains(got, tt.told) || strings.Contains(got, "it is wrong") != (tt.told != "") {
					t.Errorf("the mind was told\n%s", got)
				}
				if got := h.give(t, "context", "resync"); got != "It matches the journal." {
					t.Error(got)
				}
			})
		})
	}
}

// TestContextClock: a list of the scene has the time at which it is made, both before a model was
// asked and long after.
func TestContextClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		for _, want := range []string{"00:00", "00:03", "00:06"} {
			if got := h.give(t, "context", ""); !strings.HasPrefix(got, "  1  current_environment (now): Saturday, 1 January 2000, "+want) {
				t.Errorf("at %s it reads\n%s", want, got)
			}
			h.say(t, "what is new?")
			time.Sleep(3 * time.Minute)
		}
		h.stop()
	})
}
