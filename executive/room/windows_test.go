package room_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
)

// An eager board does something the moment it is first shown a certain verdict. It is slow enough
// that this is done before anybody goes on.
type eager struct {
	testkit.Voice
	when earshot.Verdict
	do   func()
	did  atomic.Bool
}

// Show implements [earshot.Board].
func (b *eager) Show(e earshot.Event) {
	if d, ok := e.Body.(earshot.Decision); ok && d.Verdict == b.when && !b.did.Swap(true) {
		go b.do()
		time.Sleep(time.Millisecond)
	}
}

// enters lets an eager board into the room.
func (c *company) enters(when earshot.Verdict, do func()) *eager {
	b := &eager{Voice: testkit.Voice{Called: "eager", Flow: true}, when: when, do: do}
	c.Enter(b, earshot.Audience{Members: []earshot.ParticipantID{"bob"}})
	return b
}

// tells returns a function that lets ann write something.
func (c *company) tells(t *testing.T, text string) func() {
	return func() {
		if err := c.writes(t, "ann", text); err != nil {
			t.Error(err)
		}
	}
}

// away returns an open room that ann has not come to yet; see comesBack.
func away(t *testing.T, h *house) *company {
	h.away = true
	h.people = registry(t, "bob")
	c := &company{house: h.open(t.Context()), screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
	synctest.Wait()
	return c
}

// TestStoppedBeforeTheFirstWord: somebody who reads that the agent is going to say something by
// itself, and stops it, does not hear it.
func TestStoppedBeforeTheFirstWord(t *testing.T) {
	for _, word := range []string{"/stop", "stop", "Earshot, be quiet"} {
		for name, begin := range map[string]func(*testing.T, *house) *company{
			"what it found": func(t *testing.T, h *house) *company {
				h.remembers(t, train)
				return away(t, h)
			},
			"a reminder": func(t *testing.T, h *house) *company {
				c := gather(t, h)
				c.must(t, "ann", "/remind 10m the pizza", time.Minute)
				return c
			},
		} {
			t.Run(name+", "+word, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := begin(t, byDay())
					eager := c.enters(earshot.Speak, c.tells(t, word))
					if name == "what it found" {
						c.comesBack(t)
					}
					time.Sleep(10 * time.Minute)
					if !eager.did.Load() {
						t.Fatal("nothing was to be said")
					}
					c.stop()
					replies := c.replies()
					if len(replies) == 0 || replies[0].Outcome != earshot.Interrupted {
						t.Fatalf("replies %+v", replies)
					}
					if name == "what it found" && c.console.Played() != "" {
						t.Errorf("it said %q", c.console.Played())
					}
					ends, next := time.Time{}, time.Time{}
					for _, e := range c.journal.Events() {
						if d, ok := e.Body.(earshot.Decision); ok && d.Turn == replies[0].Turn {
							ends = e.At
						} else if ok && d.Turn != "" && next.IsZero() {
							next = e.At
						}
					}
					if !next.IsZero() && next.Sub(ends) < time.Minute {
						t.Errorf("it is tried again after %v", next.Sub(ends))
					}
				})
			})
		}
	}
}

// TestPausedBetweenTwoDecisions: nothing is said in a paused room, even if it is paused while the
// agent decides.
func TestPausedBetweenTwoDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := train
		old.Until = time.Now().Add(time.Second)
		h := byDay()
		h.remembers(t, old)
		more, err := h.journal.Append(t.Context(), earshot.Event{
			ID: "f2", At: time.Now(), Author: "agent", Visibility: earshot.Visibility{Scope: earshot.Public},
			Body: earshot.Finding{Text: "The eggs keep for four weeks.", Confidence: 0.9, Worth: true, Until: time.Now().Add(time.Hour)},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.past = append(h.past, more...)
		c := away(t, h)
		eager := c.enters(earshot.Silent, c.tells(t, "/pause"))
		time.Sleep(time.Minute)
		c.comesBack(t)
		time.Sleep(time.Minute)
		c.stop()
		if got := c.console.Played(); got != "" || !eager.did.Load() {
			t.Errorf("paused is %v, and it said %q after %q", eager.did.Load(), got, c.verdicts())
		}
	})
}

// TestAVoiceCutsNobodyElse: a question that waits for a reply is answered even if a voice cuts that
// reply before the voice has said all, and whatever becomes of that voice.
func TestAVoiceCutsNobodyElse(t *testing.T) {
	words := earshot.Speech{Stage: earshot.VoiceWords, Words: "earshot what is", Confidence: 0.9}
	for _, ends := range []string{"it goes on", "it is over", "nothing more is heard"} {
		for waits, asks := range map[string]func(*testing.T, *crew){
			"a whisper": func(t *testing.T, c *crew) {
				c.must(t, "ann", "@Earshot count", 200*time.Millisecond)
				c.must(t, "bob", "/msg Earshot count", 0)
			},
			"another agent": func(t *testing.T, c *crew) { c.must(t, "ann", "@Earshot @Scout count", 200*time.Millisecond) },
		} {
			t.Run(waits+", "+ends, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHouse()
					h.model.Every = 100 * time.Millisecond
					c := man(t, h, "bob")
					c.Enter(&testkit.Voice{Called: "loudspeaker", Every: 10 * time.Millisecond, Aloud: true}, earshot.Audience{Unknown: true})
					asks(t, c)
					c.notices(t, earshot.Speech{Stage: earshot.VoiceBegan, Confidence: 1})
					c.notices(t, words)
					time.Sleep(2 * time.Second)
					switch ends {
					case "it goes on":
						c.hears(t, "earshot what is the news", 0, 0)
					case "it is over":
						c.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
					}
					time.Sleep(time.Minute)
					c.stop()
					answered := 0
					for _, e := range c.journal.Events() {
						if r, ok := e.Body.(earshot.Reply); ok && (e.Visibility.Scope == earshot.Private || e.Author == "scout") {
							if answered++; r.Outcome != earshot.Completed {
								t.Errorf("the answer is %+v", r)
							}
						}
					}
					if answered != 1 {
						t.Errorf("there are %d answers", answered)
					}
				})
			})
		}
	}
}
