package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/executive/scene"
	"earshot/participants"
)

// forgets erases events with everything made from them, and makes the room forget them.
func (h *house) forgets(t *testing.T, ids ...earshot.EventID) {
	t.Helper()
	if err := h.Forget(t.Context(), h.journal.Forget(ids...), nil); err != nil {
		t.Fatal(err)
	}
}

// asksAgain makes the model answer once more, so that its new prompt can be seen.
func (h *house) asksAgain(t *testing.T) {
	t.Helper()
	h.say(t, "and now?")
	time.Sleep(time.Minute)
	if n := len(h.replies()); n == 0 || h.replies()[n-1].Outcome != earshot.Completed {
		t.Errorf("it answers no more: %+v", h.replies())
	}
}

// TestForgetWhileItAnswers: a reply that is being said is cut when what it rests on is forgotten,
// and nothing of either is left anywhere.
func TestForgetWhileItAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		gone earshot.EventID
		cut  bool
	}{
		{"what it answers", "m", true},
		{"what stands in its prompt", "before", true},
		{"something else", "nothing", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.journalled()
				h.model.Reply = "xylophone " + strings.Repeat("and on ", 40)
				h.open(t.Context())
				h.admits(t, named("before", "Earshot, keep the xylophone in tune"))
				time.Sleep(time.Minute)
				h.admits(t, named("m", "what is a xylophone"))
				time.Sleep(100 * time.Millisecond)
				if !h.Busy() {
					t.Fatal("it says nothing")
				}
				began := len(h.console.Played())
				h.forgets(t, tt.gone)
				synctest.Wait()
				if h.Busy() == tt.cut {
					t.Errorf("it goes on: %v, want %v", h.Busy(), !tt.cut)
				}
				time.Sleep(time.Minute)
				if got := h.console.Played(); tt.cut && len(got) > began+len("and on and on ") {
					t.Errorf("it said %q after that", got[began:])
				}
				if !tt.cut {
					h.stop()
					return
				}
				h.model.Reply = "Nothing."
				h.forgets(t, "before", "m")
				h.asksAgain(t)
				h.stop()
				if found := h.remains("xylophone"); len(found) > 0 {
					t.Errorf("it is in %v", found)
				}
			})
		})
	}
}

// TestForgetWhatIsThoughtAbout: a thought about something that is forgotten is dropped, and finds
// nothing.
func TestForgetWhatIsThoughtAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("", "the xylophone has wooden bars and a long history"), one("xylophones are wooden"))
		h.open(t.Context())
		h.admits(t, named("m", "think about the xylophone"))
		time.Sleep(4 * time.Second)
		if h.thoughts() == "" && !h.Busy() {
			t.Fatal("nothing is thought")
		}
		h.forgets(t, "m")
		time.Sleep(time.Minute)
		h.say(t, "hello")
		time.Sleep(time.Minute)
		h.stop()
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("it is in %v", found)
		}
		for _, m := range h.snapshotThoughts() {
			if strings.Contains(m, "xylophone") {
				t.Errorf("it thinks %q", m)
			}
		}
	})
}

// snapshotThoughts returns the current thoughts.
func (h *house) snapshotThoughts() (all []string) {
	for _, m := range h.Snapshot(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}).Thoughts {
		all = append(all, string(m.Question)+" "+string(m.Text))
	}
	return all
}

// TestForgetWhatWaits: a waiting question is given up if the question or its asker is forgotten,
// and no model is told of it.
func TestForgetWhatWaits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		gone   []earshot.EventID
		people []earshot.ParticipantID
	}{
		{"the question", []earshot.EventID{"m"}, nil},
		{"who asks", nil, []earshot.ParticipantID{"bob"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.Interruption.Enabled = false
				c := gather(t, h, "bob")
				c.model.Reply = strings.Repeat("on and on ", 20)
				c.admits(t, named("first", "@earshot count"))
				e := named("m", "@earshot what is a xylophone")
				e.From, e.Via = handle("bob"), "bob"
				c.admits(t, e)
				time.Sleep(20 * time.Millisecond)
				if err := c.Forget(t.Context(), c.journal.Forget(tt.gone...), tt.people); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				c.stop()
				for _, r := range c.replies() {
					if r.About == "m" && (r.Outcome != earshot.Suppressed || r.Offered != "") {
						t.Errorf("it was answered: %+v", r)
					}
				}
				if found := c.remains("xylophone"); len(tt.gone) > 0 && len(found) > 0 {
					t.Errorf("it is in %v", found)
				}
				if n := len(c.model.Seen()); n != 1 {
					t.Errorf("the model was asked %d times", n)
				}
			})
		})
	}
}

// TestForgetWhatIsGoingOn: the scene, the dialogue and the next prompt have nothing left of what is
// forgotten, and still have others' words.
func TestForgetWhatIsGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.journalled()
		h.open(t.Context())
		h.admits(t, named("stays", "the harp is blue"))
		time.Sleep(time.Second)
		h.give(t, "note", "the xylophone is red")
		all := h.journal.Events()
		note := all[len(all)-1].ID
		h.admits(t, named("m", "where is my xylophone?"))
		time.Sleep(time.Second)
		if len(h.remains("xylophone")) < 3 {
			t.Fatalf("it is only in %v to begin with", h.remains("xylophone"))
		}
		h.forgets(t, "m", note)
		for _, f := range scene.Fields() {
			for _, i := range room.Scene(h.Room).For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}).Items(f) {
				if strings.Contains(string(i.Text), "xylophone") {
					t.Errorf("%s has %q", f, i.Text)
				}
			}
		}
		h.asksAgain(t)
		h.stop()
		if found := h.remains("xylophone"); len(found) > 0 {
			t.Errorf("it is in %v", found)
		}
		if !slices.Contains(h.remains("the harp is blue"), "the prompt") {
			t.Error("what was not forgotten is not known")
		}
	})
}
