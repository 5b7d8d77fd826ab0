package room_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
)

// saying tells the room what a voice is saying, and when that voice began.
func (h *house) saying(t *testing.T, from earshot.Handle, began time.Time, stage earshot.Stage, words string) {
	t.Helper()
	s := earshot.Speech{Stage: stage, Words: earshot.Text(words), Confidence: 0.8}
	if err := h.Admit(t.Context(), earshot.Event{From: from, At: began, Body: s}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// interims returns in short what boards were shown of people's words as they were being said.
func interims(shown []earshot.Event) string {
	var all []string
	for _, e := range shown {
		switch b := e.Body.(type) {
		case earshot.Speech:
			all = append(all, string(b.Stage)+" "+string(b.Words))
		case earshot.Utterance:
			all = append(all, "said "+string(b.Text))
		}
	}
	return strings.Join(all, "|")
}

// growing returns what is being said now, as anybody in the room sees it.
func (h *house) growing() string {
	all, _ := h.Interim(owner)
	return interims(all)
}

// TestWordsAreShownAsTheyCome: everybody here sees the words of a voice grow until they become an
// utterance or come to nothing. They are kept nowhere, and no model reads them.
func TestWordsAreShownAsTheyCome(t *testing.T) {
	bob := earshot.Handle{Provider: "discord", ID: "bob"}
	for _, tt := range []struct {
		name  string
		do    func(t *testing.T, h *house, began time.Time)
		shown string // what boards show
		left  string // what still grows in the end
	}{
		{"an utterance", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceBegan, "")
			h.saying(t, mic, began, earshot.VoiceWords, "half a")
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret")
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret")
			h.Admit(t.Context(), earshot.Event{From: mic, At: began, Body: earshot.Utterance{Text: "have a secret", Confidence: 0.9, Lasted: time.Second}})
		}, "words half a|words half a secret|said have a secret|over ", ""},
		{"nothing", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret")
			h.saying(t, mic, began, earshot.VoiceOver, "")
		}, "words half a secret|over ", ""},
		{"an utterance that could not be kept", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret")
			h.journal.Fail(errors.New("full"))
			h.Admit(t.Context(), earshot.Event{From: mic, At: began, Body: earshot.Utterance{Text: "half a secret", Confidence: 0.9, Lasted: time.Second}})
			h.journal.Fail(nil)
		}, "words half a secret|over ", ""},
		{"two voices", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, "mine")
			h.saying(t, bob, began.Add(time.Millisecond), earshot.VoiceWords, "his")
			h.saying(t, bob, began.Add(time.Millisecond), earshot.VoiceOver, "")
		}, "words mine|words his|over ", "words mine"},
		{"the next one of the same voice", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, "one")
			time.Sleep(time.Second)
			h.saying(t, mic, began.Add(time.Second), earshot.VoiceBegan, "")
			h.saying(t, mic, began.Add(time.Second), earshot.VoiceWords, "two")
			h.Admit(t.Context(), earshot.Event{From: mic, At: began, Body: earshot.Utterance{Text: "one", Confidence: 0.9, Lasted: time.Second}})
			synctest.Wait()
		}, "words one|words two|said one", "words two"},
		{"a sense that dies", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret")
			time.Sleep(9 * time.Second)
			if h.growing() == "" {
				t.Error("nothing is shown after nine seconds")
			}
			h.saying(t, mic, began, earshot.VoiceLasts, "")
			time.Sleep(9 * time.Second)
			if h.growing() == "" {
				t.Error("nothing is shown of a voice that lasts")
			}
			time.Sleep(2 * time.Second)
		}, "words half a secret|over ", ""},
		{"a room that stops listening", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret")
			h.command(t, "offrecord", "")
			h.saying(t, mic, began, earshot.VoiceWords, "half a secret, and more")
		}, "words half a secret|over ", ""},
		{"blank words", func(t *testing.T, h *house, began time.Time) {
			h.saying(t, mic, began, earshot.VoiceWords, " ")
		}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.open(t.Context())
				beside := &testkit.Voice{Called: "beside"}
				h.Enter(beside, earshot.Audience{Unknown: true})
				time.Sleep(time.Minute)
				tt.do(t, h, time.Now())
				synctest.Wait()
				for _, board := range []*testkit.Voice{h.console, beside} {
					if got := interims(board.Shown()); got != tt.shown {
						t.Errorf("%s was shown %q, want %q", board.Called, got, tt.shown)
					}
				}
				if got := h.growing(); got != tt.left {
					t.Errorf("in the end there is %q, want %q", got, tt.left)
				}
				if s := interims(h.Snapshot(owner).Words); s != tt.left {
					t.Errorf("the snapshot shows %q, want %q", s, tt.left)
				}
				h.say(t, "what was that?")
				time.Sleep(time.Second)
				h.stop()
				for _, e := range h.journal.Events() {
					if e.Body.Kind() == earshot.KindSpeech {
						t.Errorf("kept: %+v", e)
					}
				}
				if strings.Contains(h.logged.String(), "secret") {
					t.Errorf("logged:\n%s", h.logged)
				}
				seen, _ := json.Marshal(h.model.Seen())
				if strings.Contains(string(seen), "half a") {
					t.Errorf("a model was asked with it:\n%s", seen)
				}
			})
		})
	}
}

// TestWordsOfTheAgentAreNotShown: the agent's own voice, when it comes back, is not shown as
// somebody's words. Somebody who speaks at the same time is shown.
func TestWordsOfTheAgentAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = "The tides are the answer of the sea to the moon and to the sun."
		_, v := voiced(t, h)
		h.hears(t, "earshot, tell me about the tides", 0, 300*time.Millisecond)
		for _, words := range []string{"the", "the tides are", "the tides are the answer"} {
			h.notices(t, earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(words), Confidence: 0.8, Own: true})
			if got := h.growing(); got != "" {
				t.Errorf("it is shown as somebody's: %q", got)
			}
		}
		if v.Played() == "" {
			t.Error("the agent does not speak")
		}
		h.notices(t, earshot.Speech{Stage: earshot.VoiceWords, Words: "earshot, no, wait a moment please", Confidence: 0.8, Own: true})
		if got := h.growing(); got == "" {
			t.Error("who speaks at the same time is not shown")
		}
		h.stop()
	})
}

// TestInterimChanges: a reader who follows the words is woken by each change of them, and by
// nothing else.
func TestInterimChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		woken := func(changed <-chan struct{}) bool {
			select {
			case <-changed:
				return true
			default:
				return false
			}
		}
		_, changed := h.Interim(owner)
		h.say(t, "hello")
		time.Sleep(time.Second)
		if woken(changed) {
			t.Error("a message changed what is being said")
		}
		began := time.Now()
		for _, words := range []string{"one", "one two"} {
			h.saying(t, mic, began, earshot.VoiceWords, words)
			if !woken(changed) {
				t.Errorf("%q woke nobody", words)
			}
			_, changed = h.Interim(owner)
		}
		h.saying(t, mic, began, earshot.VoiceOver, "")
		if !woken(changed) {
			t.Error("the end woke nobody")
		}
		h.stop()
	})
}
