package room_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/participants/agents"
)

// drowsing returns a house whose agents fall asleep after some seconds.
func drowsing(after field.Seconds) *house {
	h := newHouse()
	h.config.AgentsSleepAfter = after
	return h
}

// read returns how often a dialogue was read again.
func (c *crew) read() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

// states returns the state of each agent.
func (c *crew) states() string {
	var all []string
	for _, a := range c.state().Agents {
		all = append(all, a.Name+" "+a.State)
	}
	return strings.Join(all, ", ")
}

// TestAnAgentFallsAsleep: an agent falls asleep when nothing has happened to it for a while, and is
// awake again when it answers. What others talk about does not keep it awake.
func TestAnAgentFallsAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, drowsing(60), "bob")
		for _, step := range []struct {
			text  string
			then  time.Duration
			want  string
			reads int
		}{
			{"@bob are you there?", time.Second, "Earshot active, Scout sleeping", 0},
			{"@Scout hello", time.Second, "Earshot active, Scout active", 1},
			{"@Earshot hello", 55 * time.Second, "Earshot active, Scout active", 1},
			{"@bob lunch?", 10 * time.Second, "Earshot sleeping, Scout sleeping", 1},
			{"@bob now", 10 * time.Second, "Earshot sleeping, Scout sleeping", 1},
			{"@Scout again", time.Second, "Earshot sleeping, Scout active", 2},
			{"/stop", time.Second, "Earshot sleeping, Scout active", 2},
			{"@all hello", 59 * time.Second, "Earshot active, Scout active", 3},
			{"", 2 * time.Second, "Earshot sleeping, Scout sleeping", 3},
		} {
			if step.text != "" {
				c.must(t, "ann", step.text, 0)
			}
			time.Sleep(step.then)
			if got, reads := c.states(), c.read(); got != step.want || reads != step.reads {
				t.Errorf("after %q: %s, %d times read; want %s, %d", step.text, got, reads, step.want, step.reads)
			}
		}
		c.stop()
	})
}

// TestATalkingAgentDoesNotSleep: an agent that talks does not fall asleep, however long it talks.
// One whose turn is still to come may sleep until then.
func TestATalkingAgentDoesNotSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := drowsing(1)
		h.config.Interruption.Enabled = false
		h.model.Every = 10 * time.Second
		c := man(t, h)
		c.must(t, "ann", "@Earshot count", time.Second)
		c.must(t, "ann", "@Scout count", 20*time.Second)
		if got := c.states(); got != "Earshot active, Scout sleeping" {
			t.Errorf("while one talks: %s", got)
		}
		time.Sleep(30 * time.Second)
		if got := c.states(); got != "Earshot sleeping, Scout active" {
			t.Errorf("while the other talks: %s", got)
		}
		c.stop()
	})
}

// TestWhoCannotRemember: an agent whose dialogue cannot be read does not answer as if it had
// forgotten it. Its turn fails, which is told once, and so is that it is over.
func TestWhoCannotRemember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, drowsing(60))
		c.fails(errors.New("the disk is gone"))
		c.must(t, "ann", "@Scout hello", time.Second)
		c.must(t, "ann", "@Scout hello?", time.Second)
		if f := c.state().Faults; len(f) != 1 || f[0].Key != "memory" || f[0].Cure == "" {
			t.Errorf("the faults are %+v", f)
		}
		c.fails(nil)
		c.must(t, "ann", "@Scout again", time.Second)
		time.Sleep(15 * time.Second) // a fault is reported as over once it has stayed away for a while
		c.stop()
		if got := c.turns(); !slices.Equal(got, []string{"Scout failed: @Scout hello", "Scout failed: @Scout hello?", "Scout completed: @Scout again"}) {
			t.Errorf("turns %q", got)
		}
		told := slices.DeleteFunc(c.told("ann"), func(s string) bool { return !strings.HasPrefix(s, "the earlier conversation") })
		if want := []string{"the earlier conversation cannot be read, so Scout cannot answer", "the earlier conversation can be read again"}; !slices.Equal(told, want) {
			t.Errorf("ann was told %q, want %q", told, want)
		}
	})
}

// TestWhoWakesFirstAfterAStart: an agent that wakes after a restart knows all that was said before
// it, and who has come since. It is not told that nobody was here when the program started.
func TestWhoWakesFirstAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, drowsing(60), "bob")
		c.must(t, "bob", "@Scout hello", time.Second)
		c.again(t)
		time.Sleep(time.Second)
		c.come(t, "carol")
		c.must(t, "ann", "@Scout what now?", time.Second)
		c.stop()
		want := "[FROM: bob TO: Scout] @Scout hello|one two three four|" +
			"[FROM: System] ann (human user) has joined the conversation|[FROM: System] carol (human user) has joined the conversation|[FROM: ann TO: Scout] @Scout what now?"
		if who, got := c.asked(); who != "Scout" || got != want {
			t.Errorf("%s was asked\n%q, want\n%q", who, got, want)
		}
	})
}

// TestAskedAgainInOrder: of two questions that a restart left unanswered the older is asked first,
// although their author arrives while they are looked at.
func TestAskedAgainInOrder(t *testing.T) {
	all := []deed{
		{"bob", "@Scout look around", 1, time.Minute}, {"ann", "@all hello", 1, 25 * time.Millisecond},
		{"ann", "/msg bob, Scout: a secret", 1, 25 * time.Millisecond}, {"ann", "(restart)", 1, time.Second},
	}
	for range 200 { // the order in which goroutines run makes the difference
		synctest.Test(t, func(t *testing.T) {
			c := man(t, drowsing(0), "bob")
			c.does(t, all)
			c.stop()
			var about []earshot.EventID
			for _, d := range testkit.Bodies[earshot.Decision](c.journal.Events()) {
				if d.Agent == "scout" {
					about = append(about, d.About)
				}
			}
			if len(about) != 5 || !slices.Equal(about[1:3], about[3:]) {
				t.Errorf("Scout decided about %v", about)
			}
		})
	}
}

// A deed is something that somebody does, how many times, and how long nothing happens after each.
type deed struct {
	who, what string
	times     int
	then      time.Duration
}

var deeds = rapid.Custom(func(t *rapid.T) deed {
	return deed{
		who: rapid.SampledFrom([]string{"ann", "ann", "bob"}).Draw(t, "who"),
		what: rapid.SampledFrom([]string{
			"@Scout look around", "@Earshot count", "@all hello", "just talk", "just talk", "@bob you know", "/msg Scout a secret", "/msg bob, Scout: a secret",
			"@Scout what was said?", "@Scout say that again", "@Scout go on", "stop", "@Scout be quiet", "@Scout speak", "(comes)", "(goes)", "(restart)",
		}).Draw(t, "what"),
		times: rapid.SampledFrom([]int{1, 1, 1, 2, 20}).Draw(t, "times"),
		then:  rapid.SampledFrom([]time.Duration{time.Millisecond, 25 * time.Millisecond, time.Second, time.Minute}).Draw(t, "then"),
	}
})

// TestSleepChangesNothing: whatever people do, an agent that sleeps whenever it can says the same,
// and is asked the same, as one that never sleeps.
func TestSleepChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(deeds, 1, 25).Draw(rt, "deeds")
		never, sleepy := live(t, 0, all), live(t, 5, all)
		for i := range max(len(never), len(sleepy)) {
			if i >= len(never) || i >= len(sleepy) || never[i] != sleepy[i] {
				rt.Fatalf("%d and %d lines; they differ in line %d:\n%s\n%s", len(never), len(sleepy), i, at(never, i), at(sleepy, i))
			}
		}
	})
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

// live lets people do things in a room where agents sleep after some seconds, and returns what the
// model was asked and how the turns ended.
func live(t *testing.T, after field.Seconds, all []deed) (lines []string) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, drowsing(after), "bob")
		c.does(t, all)
		c.must(t, "ann", "@all what do you know?", time.Minute)
		c.stop()
		lines = c.asks()
	})
	return lines
}

// does does all deeds. Each is at a different point within a millisecond, so that none happens just when
// another one takes effect: nobody promises which of the two comes first.
func (c *crew) does(t *testing.T, all []deed) {
	t.Helper()
	began, n, here := time.Now(), 0, true
	for _, d := range all {
		for range d.times {
			n++
			time.Sleep(time.Millisecond - time.Since(began)%time.Millisecond + time.Duration(n)*time.Microsecond)
			here = c.do(t, d, here)
			time.Sleep(d.then)
		}
	}
}

// do does one deed. It takes, and returns, whether bob is here.
func (c *crew) do(t *testing.T, d deed, here bool) bool {
	switch d.what {
	case "(comes)":
		if !here {
			c.come(t, "bob")
		}
		return true
	case "(goes)":
		if here {
			c.goes(t, "bob")
		}
		return false
	case "(restart)":
		c.again(t)
		return false
	}
	_ = c.writes(t, d.who, d.what) // the room may have a reason to refuse it
	return here
}

// again stops the program, and starts it again.
func (c *crew) again(t *testing.T) {
	c.stop()
	c.past = slices.DeleteFunc(c.journal.Events(), func(e earshot.Event) bool {
		return !slices.ContainsFunc(c.sits, func(a agents.Record) bool { return e.Visibility.Allows(earshot.Audience{}.With(a.ID)) })
	})
	c.people = registry(t, "bob", "carol", "old friend")
	c.open(t.Context())
	c.presence(t, ann, "ann", true)
}

// asks returns the requests to the model, and how the turns ended.
func (c *crew) asks() (lines []string) {
	for i, req := range c.model.Seen() {
		for _, m := range req.Messages {
			lines = append(lines, fmt.Sprintf("%d %s: %s", i, m.Role, m.Text))
		}
	}
	ends := c.turns()
	slices.Sort(ends)
	return append(lines, ends...)
}

// fails makes the reading of dialogues fail, or work again if err is nil.
func (c *crew) fails(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = err
}
