package room_test

import (
	"earshot/executive/reason"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// told returns as text what a voice was told.
func told(all []earshot.Control) string {
	var names []string
	for _, c := range all {
		names = append(names, c.String())
	}
	return strings.Join(names, " ")
}

// TestWhoListensIsNoInterruption: "mm-hm" and "yeah" while the agent speaks are heard and kept, the
// agent goes on where it paused, and nobody is answered. After a question of the agent's they are
// an answer.
func TestWhoListensIsNoInterruption(t *testing.T) {
	for _, tt := range []struct{ name, reply, says, told, why string }{
		{"yeah", "one two three four five six seven eight nine ten", "yeah", "duck pause resume", reason.Murmured},
		{"oh I see", "one two three four five six seven eight nine ten", "oh I see", "duck pause resume", reason.Murmured},
		{"no", "one two three four five six seven eight nine ten", "no", "duck pause cut", reason.Follows},
		{"an answer", "shall I? one two three four five six seven eight", "yes", "duck pause cut", reason.Follows},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Reply = tt.reply
				_, v := voiced(t, h)
				h.hears(t, "earshot count", 0, 250*time.Millisecond)
				began := time.Now()
				h.notices(t, earshot.Speech{Stage: earshot.VoiceBegan})
				h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts})
				time.Sleep(200 * time.Millisecond)
				h.notices(t, earshot.Speech{Stage: earshot.VoiceWords, Words: "yeah"})
				time.Sleep(100 * time.Millisecond)
				e := aloud(tt.says, 0)
				e.At = began
				e.Body = earshot.Utterance{Text: earshot.Text(tt.says), Confidence: 0.8, Lasted: 300 * time.Millisecond}
				if err := h.Admit(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := told(v.Told()); got != tt.told {
					t.Errorf("it was told %q, want %q", got, tt.told)
				}
				time.Sleep(time.Minute)
				h.stop()
				var whys []string
				for _, e := range h.journal.Events() {
					if d, ok := e.Body.(earshot.Decision); ok {
						whys = append(whys, d.Reasons...)
					}
				}
				if !slices.Contains(whys, tt.why) {
					t.Errorf("it decided for %q, want %q", whys, tt.why)
				}
			})
		})
	}
}

// TestATelevisionHoldsNobodyBackForEver: when a voice goes on without words, the agent goes on
// within 0.4 s, lowered, and is as loud as before once the voice is over.
func TestATelevisionHoldsNobodyBackForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = strings.Repeat("one two three four ", 40)
		_, v := voiced(t, h)
		h.hears(t, "earshot count", 0, 250*time.Millisecond)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceBegan})
		h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts})
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if got := told(v.Told()); got != "duck pause" {
			t.Errorf("it was told %q before its patience was over", got)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got := told(v.Told()); got != "duck pause duck" {
			t.Errorf("it was told %q after it", got)
		}
		time.Sleep(time.Second)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		if got := told(v.Told()); got != "duck pause duck resume" {
			t.Errorf("it was told %q when it was over", got)
		}
		h.stop()
	})
}

// TestAPhraseIsNoVoice: a phrase that was spotted over the agent's own sound does not hold back a
// later reply, although nothing follows that would say that it is over.
func TestAPhraseIsNoVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.TypedAloud = true
		_, v := voiced(t, h)
		h.say(t, "count")
		time.Sleep(60 * time.Millisecond)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceCalls, Words: "stop talking", Own: true})
		time.Sleep(time.Second)
		before := v.Played()
		h.say(t, "count again")
		time.Sleep(time.Second)
		if v.Played() == before {
			t.Error("a second later nothing is said")
		}
		time.Sleep(time.Minute)
		h.stop()
	})
}
