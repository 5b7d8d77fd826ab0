package room_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/reason"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
)

// fates returns what became of reminders, in order.
func (h *house) fates() (all []string) {
	for _, e := range h.journal.Events() {
		if r, ok := e.Body.(earshot.Reminder); ok {
			all = append(all, string(r.Act)+" "+string(r.Text))
		}
	}
	return all
}

// reopened opens the room once more, as after a restart. Nobody is there yet.
func reopened(t *testing.T, was *company) *company {
	t.Helper()
	h := newHouse()
	h.journal, h.model, h.ids = was.journal, was.model, was.ids
	h.past = h.journal.Events()
	h.away = true
	h.people = registry(t, "bob", "carol", "old friend")
	c := &company{house: h.open(t.Context()), screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
	return c
}

// comesBack lets ann come.
func (c *company) comesBack(t *testing.T) {
	t.Helper()
	c.Enter(c.console, earshot.Audience{Members: []earshot.ParticipantID{"owner"}})
	c.presence(t, ann, "ann", true)
}

// TestRemind: a reminder that somebody sets is listed, can be cancelled, and is said once when it
// is due, without a model, and aloud too.
func TestRemind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		loud := &testkit.Voice{Called: "loudspeaker", Aloud: true}
		c.Enter(loud, earshot.Audience{Unknown: true})
		c.must(t, "ann", "/remind", 0)
		c.must(t, "ann", "/remind 10m the pizza\nnow", 0)
		c.must(t, "ann", "/remind 1h30m call Bob", 0)
		c.must(t, "bob", "/remind me in 2 days about taxes", 0)
		c.must(t, "ann", "/remind", 0)
		for _, tt := range []struct{ text, want string }{
			{"/remind soon tea", "that is not a time; write 10m"}, {"/remind 10m", "the reminder is empty; say what to remind you of"},
			{"/remind cancel", "which reminder? Write /remind cancel N"}, {"/remind cancel 9", "there is no reminder 9"}, {"/remind cancel 3", "there is no reminder 3"},
			{"/remind 400d tea", "within a year"}, {"/remind 10m " + strings.Repeat("x", 301), "at most 300"},
		} {
			if err := c.writes(t, "ann", tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%.30s: %v, want %s", tt.text, err, tt.want)
			}
		}
		list := strings.Join(c.told("ann"), "|")
		if !strings.Contains(list, "You have no reminders") || !strings.Contains(list, "00:10:00  the pizza now\n  2  ") || strings.Contains(list, "taxes") {
			t.Errorf("listed is %q", list)
		}
		c.must(t, "ann", "/remind cancel 2", 0)
		began := time.Now()
		time.Sleep(3 * time.Hour)
		c.stop()
		want := "ann, you wanted to be reminded: the pizza now"
		for _, v := range []*testkit.Voice{c.console, c.screens["bob"], loud} {
			if got := v.Played(); got != want {
				t.Errorf("%s shows %q", v.Called, got)
			}
		}
		if got := strings.Join(c.fates(), "|"); got != "created the pizza now|created call Bob|created taxes|ended call Bob|fired the pizza now" {
			t.Errorf("in the journal stand %s", got)
		}
		if n := len(c.model.Seen()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
		for _, e := range c.journal.Events() {
			if e.Author == "agent" && e.Via != "" {
				t.Errorf("%T of the agent came in at %s, whose terminal takes it for its reader", e.Body, e.Via)
			}
			if r, ok := e.Body.(earshot.Reply); ok && (!r.Reflex || e.At.Sub(began) != 10*time.Minute || len(e.To) != 1 || e.To[0] != "owner") {
				t.Errorf("the reply is %+v at %v to %v", r, e.At.Sub(began), e.To)
			}
		}
		if got := c.decided(); len(got) != 1 || got[0] != reason.Due {
			t.Errorf("decided was %v", got)
		}
	})
}

// TestAnAgentReminds: an agent sets a reminder for the person who asked for it, in the conversation
// in which they asked.
func TestAnAgentReminds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{
			calls("", "pizza", "remind", `{"action":"set","text":"the pizza","in_seconds":600}`), calls("", "secret", "remind", `{"action":"set","text":"the secret","in_seconds":60}`),
			calls("", "which", "remind", `{"action":"list"}`), calls("", "forget", "remind", `{"action":"cancel","number":2}`),
			after("", "", "Done."),
		}
		c := gather(t, h, "bob")
		loud := &testkit.Voice{Called: "loudspeaker", Aloud: true}
		c.Enter(loud, earshot.Audience{Unknown: true})
		c.must(t, "bob", "Earshot, remind me of the pizza", time.Second)
		c.must(t, "ann", "/msg Earshot remind me of a secret", time.Second)
		c.must(t, "ann", "Earshot, which are mine?", time.Second) // the private one is not listed where all read
		c.must(t, "bob", "Earshot, forget it", time.Second)
		time.Sleep(time.Hour)
		c.stop()
		used := strings.Join(c.uses(), "|")
		for _, want := range []string{"Set as number 1, due", "There are no reminders.", "there is no reminder 2"} {
			if !strings.Contains(used, want) {
				t.Errorf("%q is not in %q", want, used)
			}
		}
		if !strings.HasSuffix(c.console.Played(), "bob, you wanted to be reminded: the pizza") || !strings.Contains(c.console.Played(), "ann, you wanted to be reminded: the secret") {
			t.Errorf("ann reads %q", c.console.Played())
		}
		for _, v := range []*testkit.Voice{c.screens["bob"], loud} {
			if got := v.Played(); !strings.HasSuffix(got, "bob, you wanted to be reminded: the pizza") || strings.Contains(got, "secret") {
				t.Errorf("%s shows %q", v.Called, got)
			}
		}
	})
}

// TestAReminderWaits: a reminder waits until its person is there and until the room answers, and it
// survives a restart.
func TestAReminderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		c.must(t, "bob", "/remind 10m tea", 0)
		c.goes(t, "bob")
		time.Sleep(time.Hour)
		if c.console.Played() != "" {
			t.Errorf("it was said to nobody: %q", c.console.Played())
		}
		c.stop()
		c = reopened(t, c)
		c.comesBack(t)
		time.Sleep(time.Hour)
		c.must(t, "ann", "/pause", 0)
		c.come(t, "bob")
		time.Sleep(time.Hour)
		if c.console.Played() != "" {
			t.Errorf("it was said in a pause: %q", c.console.Played())
		}
		c.must(t, "ann", "/resume", time.Second)
		if got := c.screens["bob"].Played(); got != "bob, you wanted to be reminded at 00:10: tea" {
			t.Errorf("bob reads %q", got)
		}
		c.stop()
		c = reopened(t, c)
		c.comesBack(t)
		c.come(t, "bob")
		time.Sleep(24 * time.Hour)
		c.stop()
		if got := strings.Join(c.fates(), "|"); got != "created tea|fired tea" || c.screens["bob"].Played() != "" {
			t.Errorf("%s, and then bob reads %q", got, c.screens["bob"].Played())
		}
	})
}

// TestAReminderAndPeople: a reminder waits while somebody talks, a question goes first, and
// somebody who cuts a reminder off has been reminded.
func TestAReminderAndPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = strings.Repeat("word ", 200)
		c := gather(t, h)
		c.must(t, "ann", "/remind 1s tea", 999*time.Millisecond)
		c.must(t, "ann", "Earshot, talk", 500*time.Millisecond)
		if strings.Contains(c.console.Played(), "reminded") {
			t.Error("it was said while the agent talked")
		}
		time.Sleep(10 * time.Second)
		if got := c.console.Played(); !strings.HasSuffix(got, "ann, you wanted to be reminded: tea") {
			t.Errorf("ann reads %q", got[max(0, len(got)-60):])
		}
		c.must(t, "ann", "/remind 1s coffee", time.Second+5*time.Millisecond)
		c.must(t, "ann", "stop", time.Hour)
		c.stop()
		replies := c.replies()
		if last := replies[len(replies)-1]; last.Outcome != earshot.Interrupted || len(c.fates()) != 4 {
			t.Errorf("%+v, %v", last, c.fates())
		}
	})
}

// TestAReminderWhereWordsLast: where what is written stays, a reminder is said in writing even if
// its person is not there, and calls them by a mention.
func TestAReminderWhereWordsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.lasts = true
		c := gather(t, h)
		loud := &testkit.Voice{Called: "loudspeaker", Aloud: true}
		c.Enter(loud, earshot.Audience{Unknown: true})
		c.must(t, "ann", "/remind 1m tea", 2*time.Minute)
		c.must(t, "ann", "/remind 1m coffee", 0)
		c.presence(t, ann, "ann", false)
		time.Sleep(time.Hour)
		c.stop()
		if aloud, read := loud.Played(), c.console.Played(); aloud != "@ann, you wanted to be reminded: tea" || !strings.HasSuffix(read, "@ann, you wanted to be reminded: coffee") {
			t.Errorf("ann hears %q, and reads %q", aloud, read)
		}
	})
}

// TestAReminderOfWhichNothingWasHeard: if nobody heard any of a reminder, it is said again a minute
// later.
func TestAReminderOfWhichNothingWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.away = true
		c := gather(t, h)
		bad := &deadly{Voice: c.console, until: time.Now().Add(150 * time.Second)}
		c.Enter(bad, earshot.Audience{Members: []earshot.ParticipantID{"owner"}})
		c.must(t, "ann", "/remind 1m tea", time.Hour)
		c.stop()
		if got := c.console.Played(); got != "ann, you wanted to be reminded at 00:01: tea" || bad.failed != 2 {
			t.Errorf("after %d failures ann reads %q", bad.failed, got)
		}
		if got := strings.Join(c.fates(), "|"); got != "created tea|fired tea" {
			t.Errorf("in the journal stand %s", got)
		}
	})
}

// deadly is an outlet that breaks whenever it is opened before a certain time.
type deadly struct {
	*testkit.Voice
	until  time.Time
	failed int
}

func (d *deadly) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	if time.Now().Before(d.until) {
		d.failed++
		return nil, errors.New("broken")
	}
	return d.Voice.Open(ctx, o, heard)
}

// TestADyingHouseReminds: a reminder is said again after a restart if the journal did not take that
// it was said, and never twice if it did.
func TestADyingHouseReminds(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint(full), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse())
				c.must(t, "ann", "/remind 1m tea", 0)
				c.journal.RefuseIf(func(e earshot.Event) error {
					if k := e.Body.Kind(); full && (k == earshot.KindReply || k == earshot.KindReminder) {
						return errors.New("the machine dies")
					}
					return nil
				})
				time.Sleep(time.Hour)
				if n := strings.Count(c.console.Played(), "tea"); n != 1 {
					t.Errorf("said %d times", n)
				}
				c.stop()
				c.journal.RefuseIf(nil)
				c = reopened(t, c)
				c.comesBack(t)
				time.Sleep(time.Hour)
				c.stop()
				if n := strings.Count(c.console.Played(), "tea"); (n == 1) != full {
					t.Errorf("after the restart it is said %d times", n)
				}
				if got := strings.Join(c.fates(), "|"); got != "created tea|fired tea" {
					t.Errorf("in the journal stand %s", got)
				}
			})
		})
	}
}

// TestOffTheRecordNothingIsSet: off the record no reminder can be set, since it would have to be
// kept.
func TestOffTheRecordNothingIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse())
		c.must(t, "ann", "/offrecord", 0)
		if err := c.writes(t, "ann", "/remind 10m canary"); err == nil || !strings.Contains(err.Error(), "off the record") || strings.Contains(err.Error(), "canary") {
			t.Errorf("it was set: %v", err)
		}
		c.stop()
		if got := c.fates(); len(got) > 0 {
			t.Errorf("kept are %v", got)
		}
	})
}

// TestEachReminderOnce: over random comings, goings, restarts and reminders, each reminder is said
// exactly once, to somebody who is there, and not before it is due.
func TestEachReminderOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			c := gather(t, newHouse())
			due, here := map[string]time.Time{}, true
			for i := range rapid.IntRange(1, 12).Draw(rt, "steps") {
				switch rapid.SampledFrom([]string{"set", "set", "go", "restart", "talk"}).Draw(rt, "step") {
				case "set":
					in := rapid.IntRange(1, 90).Draw(rt, "in")
					name := fmt.Sprintf("thing%d.", i)
					c.must(t, "ann", fmt.Sprintf("/remind %dm %s", in, name), 0)
					due[name] = time.Now().Add(time.Duration(in) * time.Minute)
				case "go":
					c.presence(t, ann, "ann", !here)
					here = !here
				case "restart":
					c.stop()
					c = reopened(t, c)
					if here {
						c.comesBack(t)
					} else {
						c.Enter(c.console, earshot.Audience{Members: []earshot.ParticipantID{"owner"}})
					}
				case "talk":
					c.must(t, "ann", "Earshot, talk", 0)
				}
				time.Sleep(time.Duration(rapid.IntRange(0, 3600).Draw(rt, "then")) * time.Second)
			}
			if !here {
				c.presence(t, ann, "ann", true)
			}
			time.Sleep(5 * time.Hour)
			c.stop()
			said := map[string]int{}
			for _, e := range c.journal.Events() {
				r, ok := e.Body.(earshot.Reply)
				if !ok {
					continue
				}
				for name, at := range due { // a cut reminder was delivered in part
					if r.Reflex && r.Delivered() != "" && strings.HasSuffix(string(r.Offered), ": "+name) {
						said[name]++
						if e.At.Before(at) {
							t.Errorf("%s was said %v early", name, at.Sub(e.At))
						}
					}
				}
			}
			for name := range due {
				if said[name] != 1 {
					t.Errorf("%s was said %d times: %v", name, said[name], c.fates())
				}
			}
		})
	})
}
