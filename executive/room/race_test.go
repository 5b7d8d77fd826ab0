package room_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/llm/llmtest"
)

// sound is how far somebody has come who is heard through a microphone.
func sound(stage earshot.Stage) earshot.Event {
	return earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Speech{Stage: stage, Confidence: 1}}
}

// TestTheMindIsParkedAsLongAsSomebodySpeaks, whatever else the owner of the room has to
// look at meanwhile; and no longer.
func TestTheMindIsParkedAsLongAsSomebodySpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		defer h.stop()
		for range 300 {
			var all sync.WaitGroup
			for range 4 {
				all.Go(h.Reseat)
			}
			all.Go(func() { h.Admit(t.Context(), sound(earshot.VoiceBegan)) })
			all.Wait()
			synctest.Wait()
			if !room.Parked(h.Room) {
				t.Fatal("somebody speaks, and the mind is let go")
			}
			h.Admit(t.Context(), sound(earshot.VoiceOver))
			synctest.Wait()
			if room.Parked(h.Room) {
				t.Fatal("nobody speaks, and the mind is parked")
			}
		}
	})
}

// TestAVoiceThatJustEndsParksNobody: nothing more comes of it, and nothing else happens.
func TestAVoiceThatJustEndsParksNobody(t *testing.T) {
	for name, stage := range map[string]earshot.Stage{"a voice": earshot.VoiceBegan, "a phrase": earshot.VoiceCalls} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				defer h.stop()
				synctest.Wait()
				h.Admit(t.Context(), sound(stage))
				if !room.Parked(h.Room) {
					t.Error("the mind is not parked")
				}
				time.Sleep(20 * time.Second)
				if room.Parked(h.Room) {
					t.Error("the mind is parked for ever")
				}
			})
		})
	}
}

// keeps returns what in the journal a word is left in.
func (h *house) keeps(word string) earshot.Kind {
	for _, e := range h.journal.Events() {
		if data, _ := json.Marshal(e); strings.Contains(string(data), word) {
			return e.Body.Kind()
		}
	}
	return ""
}

// TestWithdrawnAtAnyMoment: whenever a message is taken back to which two agents say
// something, nothing more is said about it from then on, and nothing of it is left.
func TestWithdrawnAtAnyMoment(t *testing.T) {
	for at := range 80 {
		for _, slow := range []time.Duration{0, 25 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Rules = []llmtest.Rule{{Agent: "Earshot", When: "go", Reply: "@Scout, xylophone"}, {Agent: "Scout", Reply: "a xylophone it is"}}
				c := man(t, h, "bob")
				e := named("m", "@Earshot go xylophone")
				c.admits(t, e)
				time.Sleep(time.Duration(at) * time.Millisecond)
				if slow > 0 { // the owner has to wait for the journal meanwhile
					c.journal.Slow(slow)
					go c.writes(t, "bob", "ann, look")
					time.Sleep(slow / 2)
				}
				c.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
				said := c.console.Played()
				time.Sleep(time.Minute)
				c.stop()
				if more, _ := strings.CutPrefix(c.console.Played(), said); len(more) > 1 { // a letter may be on its way
					t.Errorf("taken back after %d ms, and %q is said", at, more)
				}
				if left := c.keeps("xylophone"); left != "" {
					t.Errorf("taken back after %d ms, and it is in a %s", at, left)
				}
			})
		}
	}
}

// TestAnErasedReplyCallsNobody: what it was made of was taken back while it was said, so
// that the agent that it calls could not read it.
func TestAnErasedReplyCallsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{{Agent: "Earshot", When: "go", Reply: "@Scout, play the xylophone"}}
		c := man(t, h, "bob")
		e := named("m", "bob, the xylophone is mine")
		c.admits(t, e)
		c.must(t, "bob", "@Earshot go", 25*time.Millisecond)
		c.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
		time.Sleep(time.Minute)
		c.stop()
		if who, _ := c.asked(); who != "Earshot" {
			t.Errorf("%s is asked", who)
		}
		if left := c.keeps("xylophone"); left != "" {
			t.Errorf("it is in a %s", left)
		}
		for _, e := range c.journal.Events() {
			if d, ok := e.Body.(earshot.Decision); ok && d.Agent == "scout" {
				t.Errorf("it is decided: %v", d.Reasons)
			}
		}
	})
}

// TestTakenBackAsItComes: a message and its withdrawal may overtake one another on the way
// from a sense that asks and is told at the same time; nothing is left of it.
func TestTakenBackAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		defer h.stop()
		for i := range 300 {
			id := fmt.Sprint("m", i)
			e := named(id, "xylophone")
			back := earshot.Event{From: earshot.Handle{Provider: e.From.Provider}, Body: earshot.Withdrawal{Of: e.ID}}
			var all sync.WaitGroup
			all.Go(func() { h.Admit(t.Context(), e) })
			all.Go(func() { h.Admit(t.Context(), back) })
			all.Wait()
			synctest.Wait()
			if left := h.keeps("xylophone"); left != "" {
				t.Fatalf("round %d: it is in a %s", i, left)
			}
		}
	})
}

// TestTakenBackBeforeItComes: it is not let in any more; only who keeps order where it comes
// from can keep it out.
func TestTakenBackBeforeItComes(t *testing.T) {
	for _, tt := range []struct {
		name string
		by   earshot.Handle
		kept bool
	}{
		{"by who keeps order", earshot.Handle{Provider: "console"}, false},
		{"by who keeps order elsewhere", earshot.Handle{Provider: "discord"}, true},
		{"by its author", ann, true},
		{"by somebody else", handle("bob"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse())
				e := named("m", "count")
				if err := c.Admit(t.Context(), earshot.Event{From: tt.by, Via: "console", Body: earshot.Withdrawal{Of: "m"}}); err == nil {
					t.Error("what was not there was taken back")
				}
				for range 2 {
					c.admits(t, e)
					time.Sleep(time.Second)
				}
				c.stop()
				n := 0
				for _, e := range c.journal.Events() {
					if e.ID == "m" {
						n++
					}
				}
				if (n == 1) != tt.kept || (len(c.replies()) == 1) != tt.kept {
					t.Errorf("it is kept %d times and has %d replies", n, len(c.replies()))
				}
			})
		})
	}
}

// TestAQuestionIsChangedWhileOthersLook: what hangs is looked at by whoever writes meanwhile.
func TestAQuestionIsChangedWhileOthersLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, byDay(), "bob")
		defer c.stop()
		for i := range 10 {
			e := named(fmt.Sprint("m", i), eggs)
			c.admits(t, e)
			var all sync.WaitGroup
			all.Go(func() {
				c.Admit(t.Context(), with(e, earshot.Revision{Of: e.ID, Text: "does anybody know how long eggs keep?"}))
			})
			for range 2 {
				all.Go(func() {
					for range 200 {
						room.Route(c.Room, earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Message{Text: "hm", ReplyTo: "no such turn"}})
					}
				})
			}
			all.Wait()
			time.Sleep(time.Minute)
		}
	})
}
