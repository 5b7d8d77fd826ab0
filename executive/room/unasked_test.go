package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/internal/testkit"
)

const eggs = "Does anybody know how long eggs keep?"

// byDay returns a house without quiet hours: the clock of tests begins at midnight.
func byDay() *house {
	h := newHouse()
	h.config.Attention.QuietHours = ""
	return h
}

// verdicts returns what was decided, in order, each with its reasons.
func (h *house) verdicts() (all []string) {
	for _, e := range h.journal.Events() {
		if d, ok := e.Body.(earshot.Decision); ok {
			all = append(all, string(d.Verdict)+": "+strings.Join(d.Reasons, "; "))
		}
	}
	return all
}

// TestAQuestionToTheRoom: a question to the room is left to the people first, and answered if none
// of them does. The model is told that nobody called it.
func TestAQuestionToTheRoom(t *testing.T) {
	const first, then = "wait: " + attention.PeopleFirst, "speak: " + attention.ToTheRoom
	for _, tt := range []struct {
		name    string
		after   time.Duration // until bob does something
		bob     string
		want    []string
		answers int
	}{
		{"nobody answers", 0, "", []string{first, then}, 1},
		{"bob does", 2 * time.Second, "About four weeks.", []string{first, "silent: " + addressing.Elsewhere + "; " + attention.Answered, "silent: " + attention.Answered}, 0},
		{"bob does not know", 2 * time.Second, "No idea.", []string{first, "silent: " + addressing.Elsewhere, then}, 1},
		{"bob types and types", 2 * time.Second, "...", []string{first}, 0},
		{"bob types, and leaves it", 2 * time.Second, "", []string{first, then}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, byDay(), "bob")
				c.must(t, "ann", eggs, tt.after)
				switch {
				case tt.bob == "...":
					c.types(t, "bob", true)
				case tt.bob == "" && tt.after > 0:
					c.types(t, "bob", true)
					time.Sleep(10 * time.Second)
					c.types(t, "bob", false)
				case tt.bob != "":
					c.must(t, "bob", tt.bob, 0)
				}
				time.Sleep(time.Minute)
				c.stop()
				if got := c.verdicts(); !slices.Equal(got, tt.want) {
					t.Errorf("decided %q, want %q", got, tt.want)
				}
				if n := len(c.model.Seen()); n != tt.answers || len(c.replies()) != n {
					t.Errorf("%d requests and %d replies, want %d", n, len(c.replies()), tt.answers)
				}
				if told := c.told("ann"); len(told) > 0 {
					t.Errorf("she was told %q", told)
				}
				for _, req := range c.model.Seen() {
					if last := req.Messages[len(req.Messages)-1].Text; !strings.Contains(last, "Nobody called you") {
						t.Errorf("the model was told %q", last)
					}
				}
			})
		})
	}
}

func (c *company) types(t *testing.T, name string, began bool) {
	t.Helper()
	if err := c.Admit(t.Context(), earshot.Event{From: handle(name), Via: name, Body: earshot.Typing{Began: began}}); err != nil {
		t.Fatal(err)
	}
}

// TestAQuestionToTheRoomAloud: a voice that nobody knows may be a loudspeaker's, so only its
// questions to everybody count. The model reads what was asked.
func TestAQuestionToTheRoomAloud(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{{"does anybody know how long eggs keep", 1}, {"what is the capital of peru", 0}, {"shall we have lunch", 0}} {
		synctest.Test(t, func(t *testing.T) {
			h, _ := voiced(t, byDay())
			h.hears(t, tt.text, 0, time.Minute)
			h.stop()
			if n := len(h.replies()); n != tt.want {
				t.Errorf("%q: %d replies, want %d", tt.text, n, tt.want)
			}
			for _, req := range h.model.Seen() {
				if !strings.Contains(fmt.Sprint(req.Messages), tt.text) {
					t.Errorf("%q does not stand in the prompt", tt.text)
				}
			}
		})
	}
}

// remembers lets a house go on from a past in which it has found something.
func (h *house) remembers(t *testing.T, f earshot.Finding) {
	t.Helper()
	public := earshot.Visibility{Scope: earshot.Public}
	at := time.Now()
	if f.Until.IsZero() {
		f.Until = at.Add(time.Hour)
	}
	past, err := h.journal.Append(t.Context(),
		earshot.Event{ID: "q", At: at, From: ann, Author: "owner", Visibility: public, Body: earshot.Message{Text: "we must not miss the last train"}},
		earshot.Event{ID: "f", At: at, Author: "agent", Visibility: public, Sources: []earshot.EventID{"q"}, Body: f},
	)
	if err != nil {
		t.Fatal(err)
	}
	h.past = past
}

var train = earshot.Finding{Text: "The last train leaves in twenty minutes.", Confidence: 0.9, Worth: true}

// TestAFindingIsSaidOnce: a finding is said at the next gap, in its own words, without a model, and
// not again after a restart.
func TestAFindingIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := byDay()
		h.remembers(t, train)
		c := gather(t, h, "bob")
		time.Sleep(time.Minute)
		c.stop()
		if got := c.console.Played(); got != string(train.Text) {
			t.Errorf("what was said is %q", got)
		}
		if n := len(c.model.Seen()); n != 0 {
			t.Errorf("%d requests", n)
		}
		want := []string{"speak: " + attention.WhatIFound}
		if got := c.verdicts(); !slices.Equal(got[max(0, len(got)-1):], want) {
			t.Errorf("decided %q, want %q", got, want)
		}
		reply := c.replies()[0]
		if reply.About != "" || reply.Delivered() != train.Text {
			t.Errorf("the reply is %+v", reply)
		}
		h2 := byDay()
		h2.journal, h2.ids = c.journal, c.ids
		h2.past = c.journal.Events()
		again := gather(t, h2)
		time.Sleep(time.Hour)
		again.stop()
		if n := len(again.replies()); n != 1 {
			t.Errorf("it was said %d times", n)
		}
	})
}

// TestAFindingWaits: it is decided once that a finding waits. The finding is said when what it
// waits for is over, or not at all if that is too late.
func TestAFindingWaits(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, c *company) // holds it back, and then lets it go
		is   func(*earshot.Finding, *house)
		want []string
	}{
		{"somebody types", func(t *testing.T, c *company) {
			c.types(t, "bob", true)
			c.comesBack(t)
			time.Sleep(time.Minute)
			c.types(t, "bob", false)
		}, nil, []string{"wait: " + attention.NobodyHere, "speak: " + attention.WhatIFound}},
		{"a snooze", func(t *testing.T, c *company) {
			c.must(t, "ann", "/snooze 10m", 0)
			c.comesBack(t)
		}, nil, []string{"wait: " + attention.NobodyHere, "speak: " + attention.WhatIFound}},
		{"too long a snooze", func(t *testing.T, c *company) {
			c.must(t, "ann", "/snooze", 0)
			c.comesBack(t)
		}, nil, []string{"wait: " + attention.NobodyHere, "silent: " + attention.Stale}},
		{"somebody says that it is wrong", func(t *testing.T, c *company) {
			c.must(t, "ann", "/snooze 10m", 0)
			c.comesBack(t)
			c.must(t, "ann", "/correct the last train has left", 0)
		}, nil, []string{"wait: " + attention.NobodyHere, "silent: " + attention.Stale}},
		{"not worth it", nil, func(f *earshot.Finding, _ *house) { f.Worth = false }, []string{"note: " + attention.NotWorth}},
		{"not sure", nil, func(f *earshot.Finding, _ *house) { f.Confidence = 0.2 }, []string{"note: " + attention.NotSure}},
		{"asked, by somebody who is not here", nil, func(f *earshot.Finding, _ *house) { f.Answers = "q" }, []string{"wait: " + attention.NobodyHere}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := byDay()
				is := train
				if tt.is != nil {
					tt.is(&is, h)
				}
				h.remembers(t, is)
				h.away = true
				h.people = registry(t, "bob")
				c := &company{house: h.open(t.Context()), screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
				synctest.Wait() // the agent has looked, and nobody is there
				if tt.make != nil {
					tt.make(t, c)
				}
				time.Sleep(2 * time.Hour)
				c.stop()
				if got := c.verdicts(); !slices.Equal(got, tt.want) {
					t.Errorf("decided %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestNotNow: words can tell the agent to be still, too, and for how long. A restart does not make
// it forget that.
func TestNotNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, byDay(), "bob")
		c.must(t, "ann", "Earshot, be quiet for an hour", time.Second)
		c.must(t, "bob", eggs, time.Minute)
		if n := len(c.replies()); n != 0 {
			t.Errorf("%d replies to who wants silence", n)
		}
		c.must(t, "bob", "Earshot, what time is it?", time.Minute)
		if n := len(c.replies()); n != 1 {
			t.Errorf("%d replies, although it was called once", n)
		}
		c.stop()
		h := byDay()
		h.journal, h.ids = c.journal, c.ids
		h.past = h.journal.Events()
		again := gather(t, h, "bob")
		again.must(t, "bob", eggs, time.Minute)
		if got := again.verdicts(); got[len(got)-1] != "silent: "+addressing.Elsewhere+"; "+attention.Snoozing {
			t.Errorf("decided %q", got)
		}
		again.must(t, "ann", "/snooze off", 0)
		again.must(t, "bob", eggs, time.Minute)
		if n := len(again.replies()); n != 2 {
			t.Errorf("%d replies in all, want the clock and the eggs", n)
		}
		again.stop()
	})
}

// TestNotNowWithoutAName: somebody who says "not now" to an agent that has just spoken need not say
// its name.
func TestNotNowWithoutAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := byDay()
		h.config.Attention.CoolDown = 0
		c := gather(t, h, "bob")
		c.must(t, "ann", eggs, 15*time.Second)
		c.must(t, "bob", "not now!", 5*time.Minute)
		c.must(t, "ann", eggs, time.Minute)
		if got := c.verdicts(); got[len(got)-1] != "silent: "+addressing.Elsewhere+"; "+attention.ToldNo {
			t.Errorf("decided %q", got)
		}
		time.Sleep(15 * time.Minute)
		c.must(t, "ann", eggs, time.Minute)
		if n := len(c.replies()); n != 2 {
			t.Errorf("%d replies, want the first, and one after it was forgotten", n)
		}
		c.stop()
	})
}

// TestSnooze: /snooze refuses times that make no sense, takes an hour if none is given, and is
// shown to others.
func TestSnooze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, byDay(), "bob")
		for _, tt := range []struct{ text, want string }{
			{"/snooze soon", "write /snooze 30m"}, {"/snooze 400h", "at most a week"}, {"/snooze 2001-01-01T00:00:00Z", "at most a week"}, {"/snooze 1999-01-01T00:00:00Z", "has passed"},
		} {
			if err := c.writes(t, "ann", tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
			}
		}
		c.must(t, "bob", "/snooze", 0)
		c.stop()
		shown := c.screens["ann"].Shown()
		if s, ok := shown[len(shown)-1].Body.(earshot.Snooze); !ok || !s.Until.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("ann was shown %v", shown[len(shown)-1].Body)
		}
	})
}

// answersRoom asks the room the same question some times, with a pause after each, and returns how
// many replies there were.
func answersRoom(times int, pause time.Duration) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		c := gather(t, h, "bob")
		time.Sleep(untilNoon())
		for range times {
			c.must(t, "ann", eggs, pause)
		}
		return fmt.Sprintf("%d replies", len(c.replies()))
	}
}

// untilNoon returns how long it is until the next noon.
func untilNoon() time.Duration {
	return 24*time.Hour - time.Now().Add(12*time.Hour).Sub(time.Now().Add(12*time.Hour).Truncate(24*time.Hour))
}

// speaksUp returns whether a finding is said of which the agent is fairly sure.
func speaksUp(t *testing.T, h *house) string {
	is := train
	is.Until, is.Confidence = time.Now().Add(24*time.Hour), 0.7
	h.remembers(t, is)
	c := gather(t, h)
	time.Sleep(untilNoon() + time.Hour)
	return fmt.Sprint(strings.Contains(c.console.Played(), "train"))
}
