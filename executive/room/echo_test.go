package room_test

import (
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// spell is a reader that speaks a clause in other words than it is written in.
func spell(text, spoken string, marks ...earshot.Mark) func() func(earshot.Clause) earshot.Clause {
	return func() func(earshot.Clause) earshot.Clause {
		return func(c earshot.Clause) earshot.Clause {
			if string(c.Text) == text {
				c.Spoken, c.Marks = earshot.Text(spoken), marks
			}
			return c
		}
	}
}

// TestWhatComesBack: the agent neither stops for its own voice nor answers it, whatever it says and
// however it is misheard.
func TestWhatComesBack(t *testing.T) {
	words := func(text string) earshot.Speech {
		return earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(text), Confidence: 0.6, Own: true}
	}
	calls := func(text string) earshot.Speech {
		return earshot.Speech{Stage: earshot.VoiceCalls, Words: earshot.Text(text), Confidence: 1, Own: true}
	}
	says := func(text string) earshot.Utterance {
		return earshot.Utterance{Text: earshot.Text(text), Confidence: 0.8, Own: 1, Lasted: 200 * time.Millisecond}
	}
	for _, tt := range []struct {
		name, reply string
		reader      func() func(earshot.Clause) earshot.Clause
		after       time.Duration // a rune takes 10 ms
		back        []earshot.Body
	}{
		{"its name", "Hello, I am Earshot.", nil, 300 * time.Millisecond, []earshot.Body{words("hello i am earshot"), says("hello i am earshot")}},
		{"a phrase that would stop it", "Say stop talking, and I am silent.", nil, 350 * time.Millisecond, []earshot.Body{calls("stop talking"), says("stop talking")}},
		{"a few words, badly heard", "The moon pulls at the sea, and the sea follows it.", nil, 500 * time.Millisecond, []earshot.Body{words("a moon"), words("a moon pulls at"), says("a moon pulls at")}},
		{"as it is spoken, not as it is written", "It is 15:04.", spell("It is 15:04.", "It is fifteen oh four.", earshot.Mark{}, earshot.Mark{Spoken: 6, Text: 6}), 250 * time.Millisecond, []earshot.Body{says("it is fifteen oh four")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Reply, h.reader = tt.reply, tt.reader
				_, v := voiced(t, h)
				h.hears(t, "earshot tell me", 0, tt.after)
				for _, body := range tt.back {
					if err := h.Admit(t.Context(), earshot.Event{From: mic, At: time.Now(), Body: body}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				h.stop()
				if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Completed {
					t.Errorf("%d replies, the first %s; it said %q", len(r), r[0].Outcome, v.Played())
				}
				for _, e := range h.journal.Events() {
					if u, ok := e.Body.(earshot.Utterance); ok && u.Own > 0 {
						t.Errorf("its own voice was written down: %q", string(u.Text))
					}
				}
			})
		})
	}
}

// TestALateEcho: an echo of one speech that is understood only when the next one has begun is not
// answered.
func TestALateEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.TypedAloud = true
		voiced(t, h)
		h.hears(t, "earshot count", 0, 400*time.Millisecond)
		echo := aloud("one two three four", 1)
		h.say(t, "what time is it")
		time.Sleep(20 * time.Millisecond)
		if err := h.Admit(t.Context(), echo); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		h.stop()
		if n := len(h.replies()); n != 2 {
			t.Errorf("%d replies to two questions", n)
		}
	})
}

// TestTalkThatBeganBefore: somebody who began to talk to others before the agent was asked is not
// answered only because the agent has answered since.
func TestTalkThatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := voiced(t, newHouse())
		h.hears(t, "earshot count", 0, 2*time.Second)
		e := aloud("and so i told her to sell the house", 0)
		e.At = time.Now().Add(-20 * time.Second)
		if err := h.Admit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		h.stop()
		if n := len(h.replies()); n != 1 {
			t.Errorf("%d replies to one question", n)
		}
	})
}

// TestBeQuiet: "be quiet" is obeyed as a sentence, even if the phrase in it was recognised first.
func TestBeQuiet(t *testing.T) {
	for _, spotted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.config.Speech.TypedAloud = true
			voiced(t, h)
			h.say(t, "count")
			time.Sleep(60 * time.Millisecond)
			e := aloud("be quiet", 0.5)
			if spotted {
				h.notices(t, earshot.Speech{Stage: earshot.VoiceCalls, Words: "be quiet", Confidence: 1, Own: true})
				time.Sleep(400 * time.Millisecond)
			}
			if err := h.Admit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if !h.state().Quiet {
				t.Errorf("with the phrase noticed before %v it is not quiet", spotted)
			}
			h.stop()
		})
	}
}

// TestVoicesDoNotDisturbAScreen: people who talk do not hold up a reply that is shown on a screen.
func TestVoicesDoNotDisturbAScreen(t *testing.T) {
	for _, style := range []string{"polite", "passive"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.config.MultiParty.TurnTakingProtocol = style
			voiced(t, h)
			h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 0.8})
			h.say(t, "count")
			time.Sleep(time.Second)
			if got := h.console.Played(); got != "one two three four" {
				t.Errorf("%s: it shows %q", style, got)
			}
			h.stop()
		})
	}
}

// TestABusyRoomIsCutAllTheSame: a command word that cannot be kept cuts the agent off all the same.
func TestABusyRoomIsCutAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Interruption.Sources = []string{"audio"} // so that the flood does not cut
		_, v := voiced(t, h)
		h.hears(t, "earshot count", 0, 60*time.Millisecond)
		h.journal.Slow(time.Hour)
		for range 2 { // the owner takes what it can of the first flood; the second fills the queue
			for range 300 {
				go h.Admit(t.Context(), message("not that"))
			}
			synctest.Wait()
		}
		if err := h.Admit(t.Context(), aloud("stop", 0)); err == nil {
			t.Error("a busy room takes everything")
		}
		synctest.Wait()
		if v.Ends() != 1 {
			t.Error("the voice goes on")
		}
		h.journal.Slow(0)
		time.Sleep(1000 * time.Hour)
		h.stop()
	})
}
