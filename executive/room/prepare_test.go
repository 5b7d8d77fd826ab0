package room_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// foretold says words that were stable for 100 ms before the utterance ended, to a model that takes
// 1.6 s for its first clause. It returns how long the answer took.
func foretold(t *testing.T, h *house) string {
	h.model.Every, h.config.Speech.FillerAfter = 400*time.Millisecond, 0
	_, v := voiced(t, h)
	talkedBefore(t, h)
	h.stable(t, "and what else is new")
	time.Sleep(100 * time.Millisecond)
	h.utters(t, "and what else is new")
	return fmt.Sprintf("after %v", answersAfter(h, v))
}

// talkedBefore asks the agent something, and waits for its answer.
func talkedBefore(t *testing.T, h *house) {
	t.Helper()
	h.utters(t, "earshot what is new")
	time.Sleep(5 * time.Second)
}

// stable lets a voice begin and say words that sound complete.
func (h *house) stable(t *testing.T, words string) {
	t.Helper()
	h.notices(t, earshot.Speech{Stage: earshot.VoiceBegan, Confidence: 0.5})
	h.voice = time.Now()
	h.words(t, words, true)
}

// words lets the current voice say words.
func (h *house) words(t *testing.T, words string, stable bool) {
	t.Helper()
	err := h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", At: h.voice, Body: earshot.Speech{
		Stage: earshot.VoiceWords, Words: earshot.Text(words), Confidence: 0.6, Stable: stable,
	}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// utters lets the current voice finish with an utterance.
func (h *house) utters(t *testing.T, text string) {
	t.Helper()
	if h.voice.IsZero() {
		h.voice = time.Now()
	}
	err := h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", At: h.voice, Body: earshot.Utterance{
		Text: earshot.Text(text), Confidence: 0.9, Lasted: time.Since(h.voice),
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.voice = time.Time{}
	synctest.Wait()
}

// answersAfter returns how long it takes until more of an answer is heard.
func answersAfter(h *house, v *testkit.Voice) time.Duration {
	began, before := time.Now(), v.Played()
	for range 2000 {
		if v.Played() != before {
			return (time.Since(began) - 15*time.Millisecond).Round(100 * time.Millisecond)
		}
		time.Sleep(time.Millisecond)
	}
	return -1
}

// TestPrepared: an answer that was prepared for the words that were then said is used by the turn.
// An answer to other words leaves nothing behind, wherever one looks.
func TestPrepared(t *testing.T) {
	for _, tt := range []struct {
		name  string
		does  func(*testing.T, *house)
		want  time.Duration // from the utterance to its answer, which takes 1.6 s; negative: never
		asked int           // requests to the model
	}{
		{"the same words", func(t *testing.T, h *house) {
			h.stable(t, "and what else is new")
			time.Sleep(100 * time.Millisecond)
			h.utters(t, "and what else is new")
		}, 1500 * time.Millisecond, 1},
		{"more words", func(t *testing.T, h *house) {
			h.stable(t, "and what else is new")
			time.Sleep(100 * time.Millisecond)
			h.words(t, "and what else is new today", false)
			h.utters(t, "and what else is new today")
		}, 1600 * time.Millisecond, 2},
		{"more words, stable too", func(t *testing.T, h *house) {
			h.stable(t, "and what else is new")
			time.Sleep(time.Second)
			h.words(t, "and what else is new today", false)
			h.words(t, "and what else is new today", true)
			time.Sleep(200 * time.Millisecond)
			h.utters(t, "and what else is new today")
		}, 1400 * time.Millisecond, 2},
		{"other words in the end", func(t *testing.T, h *house) {
			h.stable(t, "and what else is new")
			time.Sleep(100 * time.Millisecond)
			h.utters(t, "and what else is knew")
		}, 1600 * time.Millisecond, 2},
		{"nothing in the end", func(t *testing.T, h *house) {
			h.stable(t, "and what else is new")
			time.Sleep(100 * time.Millisecond)
			h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		}, -1, 1},
		{"to somebody else", func(t *testing.T, h *house) {
			time.Sleep(time.Minute)
			h.stable(t, "and what else is new")
			time.Sleep(100 * time.Millisecond)
			h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		}, -1, 0},
		{"what needs no model", func(t *testing.T, h *house) {
			h.stable(t, "what time is it")
			time.Sleep(100 * time.Millisecond)
			h.utters(t, "what time is it")
		}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Every, h.config.Speech.FillerAfter = 400*time.Millisecond, 0 // no filler, which would be heard first
				_, v := voiced(t, h)
				talkedBefore(t, h)
				before := len(h.model.Seen())
				events := len(h.journal.Events())
				tt.does(t, h)
				if got := answersAfter(h, v); got != tt.want {
					t.Errorf("answered after %v, want %v", got, tt.want)
				}
				time.Sleep(time.Minute)
				if n := len(h.model.Seen()) - before; n != tt.asked {
					t.Errorf("the model was asked %d times, want %d", n, tt.asked)
				}
				if n := len(h.journal.Events()) - events; tt.want < 0 && n != 0 {
					t.Errorf("%d events were kept of nothing", n)
				}
				h.stop()
			})
		})
	}
}

// TestPreparedDoesNothing: the tools that a prepared answer calls are used by the turn, once, and
// never if there is no turn.
func TestPreparedDoesNothing(t *testing.T) {
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprint(same), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = &llmtest.Script{Reply: "Done.", Rules: []llmtest.Rule{{
					When: "keep the bread in mind", Calls: []llm.Call{{Tool: "ponder", Arguments: []byte(`{"question":"the bread"}`)}},
				}}, Every: time.Millisecond}
				h.people = heardBob(t)
				voiced(t, h)
				talkedBefore(t, h)
				h.stable(t, "keep the bread in mind")
				time.Sleep(time.Second)
				if n := uses(h); n != 0 {
					t.Errorf("%d uses of the tool before the turn", n)
				}
				if same {
					h.utters(t, "keep the bread in mind")
				} else {
					h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
				}
				time.Sleep(time.Minute)
				if n, want := uses(h), map[bool]int{true: 1}[same]; n != want {
					t.Errorf("%d uses of the tool, want %d", n, want)
				}
				h.stop()
			})
		})
	}
}

// heardBob returns a registry in which Bob alone speaks into the microphone.
func heardBob(t *testing.T) *participants.Registry {
	t.Helper()
	actors := participants.DefaultConfig()
	actors.Actors = []participants.Actor{{ID: "bob", Type: participants.Human, DisplayName: "Bob", Handles: []string{"microphone:default"}, Capabilities: []participants.Capability{participants.SendMessages}}}
	people, err := participants.Open(participants.Setup{
		Actors: actors, Account: ann, AccountName: "ann", Now: time.Now,
		Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot", Type: participants.Internal}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return people
}

// uses returns how often the tool was used.
func uses(h *house) (n int) {
	for _, e := range h.journal.Events() {
		if u, ok := e.Body.(earshot.Use); ok && u.Tool == "ponder" {
			n++
		}
	}
	return n
}

// TestForeseenInVain: words that have come to nothing by the time the room can look at them are not
// given to a model.
func TestForeseenInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		voiced(t, h)
		talkedBefore(t, h)
		before := len(h.model.Seen())
		h.journal.Slow(500 * time.Millisecond)
		other := aloud("shall we have lunch", 0)
		other.From.ID = "kitchen"
		go h.Admit(t.Context(), other)
		synctest.Wait()
		h.stable(t, "and what else is new")
		h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		h.journal.Slow(0)
		time.Sleep(time.Minute)
		if n := len(h.model.Seen()) - before; n != 0 {
			t.Errorf("the model was asked %d times about nothing", n)
		}
		h.stop()
	})
}
