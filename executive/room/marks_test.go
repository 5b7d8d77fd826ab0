package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/executive/scene"
	"earshot/internal/testkit"
	"earshot/participants"
)

// comesLater opens h before ann and bob come, so that what there is to say waits for them.
func comesLater(t *testing.T, h *house) *company {
	t.Helper()
	h.away = true
	h.people = registry(t, "bob", "carol", "old friend")
	c := &company{house: h.open(t.Context()), screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
	synctest.Wait()
	c.comesBack(t)
	c.come(t, "bob")
	return c
}

// openly returns what was decided and said in public.
func (c *company) openly() (all []string) {
	for _, e := range c.journal.Events() {
		switch b := e.Body.(type) {
		case earshot.Decision:
			if e.Visibility.Scope == earshot.Public {
				all = append(all, string(b.Verdict)+": "+strings.Join(b.Reasons, "; "))
			}
		case earshot.Reply:
			if e.Visibility.Scope == earshot.Public {
				all = append(all, string(b.Delivered()))
			}
		}
	}
	return all
}

// TestPrivateColoursNothingPublic: whatever goes on in private, the agent does in public exactly
// what it would have done without it, and for the same reasons.
func TestPrivateColoursNothingPublic(t *testing.T) {
	whisper := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Owner, "agent"}}
	private := func(e earshot.Event) earshot.Event { e.Visibility = whisper; return e }
	asked := earshot.Event{ID: "q", From: ann, Author: participants.Owner, Body: earshot.Message{Text: "we must not miss the last train"}}
	train := func(id, answers earshot.EventID) earshot.Event {
		return finding(id, answers, "The last train leaves at nine.", "q")
	}
	refusing := earshot.Event{ID: "no", Author: participants.Owner, From: ann, Body: earshot.Edit{
		Act: earshot.Ended, Field: string(scene.Reasoning), Item: "p", Was: "The last train leaves at nine.",
	}}
	used := earshot.Event{ID: "r", Author: "agent", Sources: []earshot.EventID{"f"}, Body: earshot.Reply{
		Turn: "t", Offered: "The last train leaves at nine.", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 30}},
	}}
	many := []earshot.Event{asked, train("f", "")}
	for n := range 12 {
		many = append(many, private(finding(earshot.EventID(fmt.Sprint("p", n)), "", fmt.Sprint("It is secret number ", n, "."), "q")))
	}
	for _, tt := range []struct {
		name string
		past []earshot.Event // what is private in it is left out for comparison
		says string          // what ann says in private
		then string          // in public, if anything
	}{
		{"not now", []earshot.Event{asked}, "not now", eggs},
		{"be quiet", []earshot.Event{asked}, "be quiet", eggs},
		{"be quiet for an hour", []earshot.Event{asked}, "be quiet for an hour", eggs},
		{"it spoke unasked", []earshot.Event{asked, private(finding("p", "", "It is a secret.", "q"))}, "", eggs},
		{"it was denied", []earshot.Event{asked, private(train("p", "")), private(refusing), train("f", "")}, "", ""},
		{"it was told", []earshot.Event{asked, train("f", ""), private(used)}, "", ""},
		{"it was answered", []earshot.Event{asked, train("f", "q"), private(train("p", "q"))}, "", ""},
		{"there are many", many, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lives := func(secretly bool) (did []string) {
				synctest.Test(t, func(t *testing.T) {
					h := byDay()
					past := slices.Clone(tt.past)
					if !secretly {
						past = slices.DeleteFunc(past, func(e earshot.Event) bool { return e.Visibility.Scope == earshot.Private })
					}
					h.goesOnFrom(t, past...)
					c := comesLater(t, h)
					time.Sleep(5 * time.Second) // what is private is said, or not
					if secretly && tt.says != "" {
						c.must(t, "ann", "/msg earshot "+tt.says, 0)
					}
					time.Sleep(5 * time.Second)
					if tt.then != "" {
						c.must(t, "bob", tt.then, 0)
					}
					time.Sleep(10 * time.Minute)
					c.must(t, "bob", "/why", 0)
					did = append(c.openly(), c.last("bob"))
					c.stop()
				})
				return did
			}
			got, want := lives(true), lives(false)
			if !slices.Equal(got[:len(got)-1], want[:len(want)-1]) {
				t.Errorf("it did and said\n%s\nand without what was private\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if count := func(all []string) int { return strings.Count(all[len(all)-1], "because") }; count(got) != count(want) {
				t.Errorf("bob is told\n%s\nand without what was private\n%s", got[len(got)-1], want[len(want)-1])
			}
			if len(want) < 2 {
				t.Errorf("nothing happens: %q", want)
			}
		})
	}
}

// TestNotNowInPrivate: "not now", said in private, holds back for a while what is private.
func TestNotNowInPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := byDay()
		e := finding("p", "", "It is a secret.")
		e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Owner, "agent"}}
		h.goesOnFrom(t, e)
		h.away = true
		c := gather(t, h)
		c.must(t, "ann", "/msg earshot not now", 0)
		c.comesBack(t)
		time.Sleep(10 * time.Minute)
		if got := c.console.Played(); strings.Contains(got, "secret") {
			t.Errorf("it says %q", got)
		}
		time.Sleep(6 * time.Minute)
		if got := c.console.Played(); !strings.Contains(got, "secret") {
			t.Errorf("it says %q", got)
		}
		c.stop()
	})
}

// TestWhoHasJustSpoken: an answer waits for whoever has just spoken, and the reason says whether
// that was the asker or somebody else.
func TestWhoHasJustSpoken(t *testing.T) {
	for _, tt := range []struct{ who, want string }{{"ann", attention.AskerTalks}, {"bob", attention.OthersTalk}} {
		synctest.Test(t, func(t *testing.T) {
			thought, found := thinks("", "It is at nine."), one("The last train leaves at nine.")
			thought.Every, found.Every = 10*time.Millisecond, time.Millisecond
			h := thinking(thought, found)
			h.config.Attention.QuietHours = ""
			c := gather(t, h, "bob")
			c.must(t, "bob", "I take the last train", time.Minute)
			c.must(t, "ann", "/think When is the last train?", 0)
			c.must(t, tt.who, "well, well", time.Minute)
			c.stop()
			all := c.verdicts()
			if n := len(all); !slices.Contains(all, "wait: "+tt.want) || all[n-1] != "speak: "+attention.WasAsked {
				t.Errorf("when %s has just spoken: %q", tt.who, all)
			}
		})
	}
}
