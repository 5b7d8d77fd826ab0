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
	"earshot/executive/reason"
	"earshot/internal/testkit"
)

var mic = earshot.Handle{Provider: "microphone", ID: "default"}

// aloud returns an utterance that ends now.
func aloud(text string, own float64) earshot.Event {
	return earshot.Event{From: mic, Via: "loudspeaker", At: time.Now(), Body: earshot.Utterance{
		Text: earshot.Text(text), Confidence: 0.8, Lasted: time.Second, Own: own,
	}}
}

// hears lets the room hear an utterance, and then some time pass.
func (h *house) hears(t *testing.T, text string, own float64, then time.Duration) {
	t.Helper()
	if err := h.Admit(t.Context(), aloud(text, own)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(then)
}

// notices tells the room a stage of what a voice is saying.
func (h *house) notices(t *testing.T, s earshot.Speech) {
	t.Helper()
	if err := h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", At: time.Now(), Body: s}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// voiced opens a room with a voice that says a rune every ten milliseconds.
func voiced(t *testing.T, h *house) (*house, *testkit.Voice) {
	h.open(t.Context())
	v := &testkit.Voice{Called: "loudspeaker", Every: 10 * time.Millisecond, Aloud: true}
	h.Enter(v, earshot.Audience{Unknown: true})
	return h, v
}

// afterwards asks by name and then without it, and returns how many replies there were.
func afterwards(t *testing.T, h *house) string {
	voiced(t, h)
	if err := h.Admit(t.Context(), earshot.Event{From: mic, Body: earshot.Utterance{Text: "earshot count", Confidence: 0.95}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	h.hears(t, "and once more please", 0, time.Minute)
	return fmt.Sprintf("%d replies", len(h.replies()))
}

// spoken says something aloud, once, and returns how many replies there were.
func spoken(text string) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		voiced(t, h)
		h.hears(t, text, 0, time.Minute)
		return fmt.Sprintf("%d replies", len(h.replies()))
	}
}

// typed asks in writing, and returns what was said aloud.
func typed(t *testing.T, h *house) string {
	_, v := voiced(t, h)
	h.say(t, "count")
	time.Sleep(time.Minute)
	return v.Played()
}

// TestWhatIsSaidAloud: something that is said aloud is answered if it calls the agent or follows
// its reply, and otherwise it is overheard.
func TestWhatIsSaidAloud(t *testing.T) {
	for _, tt := range []struct {
		name string
		said []string
		gap  time.Duration
		want string // the decisions
	}{
		{"by name", []string{"earshot count"}, 0, addressing.Named},
		{"by what a recogniser makes of it", []string{"hey ear shot count"}, 0, addressing.Named},
		{"not to it", []string{"shall we have lunch"}, 0, reason.Overheard},
		{"about it", []string{"i told earshot about lunch"}, 0, reason.Overheard},
		{"after its reply", []string{"earshot count", "and again"}, 7 * time.Second, addressing.Named + ", " + reason.Follows},
		{"long after its reply", []string{"earshot count", "and again"}, 10 * time.Second, addressing.Named + ", " + reason.Overheard},
		{"one thing after the other", []string{"earshot count", "and again", "and again"}, 7 * time.Second, addressing.Named + ", " + reason.Follows + ", " + reason.Follows},
		{"silence", []string{"earshot be quiet", "and now", "earshot you can talk"}, time.Second, reason.Commanded + ", " + reason.Overheard + ", " + addressing.Named},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, newHouse())
				for _, text := range tt.said {
					h.hears(t, text, 0, tt.gap+time.Second)
				}
				h.stop()
				var got []string
				for _, e := range h.journal.Events() {
					if d, ok := e.Body.(earshot.Decision); ok {
						got = append(got, strings.Join(d.Reasons, "+"))
					}
				}
				if strings.Join(got, ", ") != tt.want {
					t.Errorf("decided %q, want %q", strings.Join(got, ", "), tt.want)
				}
			})
		})
	}
}

// TestOverheard: what was not said to the agent is written down, is in its context for a while, and
// is no part of its dialogue.
func TestOverheard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := voiced(t, newHouse())
		h.hears(t, "shall we have lunch", 0, time.Second)
		h.hears(t, "earshot count", 0, time.Second)
		h.stop()
		var kept []string
		for _, e := range h.journal.Events() {
			if u, ok := e.Body.(earshot.Utterance); ok {
				kept = append(kept, fmt.Sprint(string(u.Text), len(e.To), string(e.Visibility.Scope), string(e.Author)))
			}
		}
		if want := []string{"shall we have lunch0public", "Earshot count1public"}; !slices.Equal(kept, want) {
			t.Errorf("kept %q, want %q", kept, want)
		}
		messages := h.model.Seen()[0].Messages
		if !strings.Contains(messages[len(messages)-1].Text, "spoken aloud") {
			t.Error("the model does not know that it will be heard")
		}
		for i, m := range messages {
			last := i == len(messages)-1
			if strings.Contains(m.Text, "lunch") != last {
				t.Errorf("message %d of %d: lunch in it is %v", i, len(messages), !last)
			}
		}
	})
}

// A voiceStep is one thing that is heard while the agent speaks.
type voiceStep struct {
	stage earshot.Stage // empty for an utterance
	words string
	own   bool
}

// TestCuttingInAloud: what is heard while the agent speaks makes its voice lower, pause, go on or
// stop.
func TestCuttingInAloud(t *testing.T) {
	for _, tt := range []struct {
		name  string
		heard []voiceStep
		told  string // what the voice was told
		after int    // how many replies there are in the end
	}{
		{"a cough", []voiceStep{{stage: earshot.VoiceBegan}, {stage: earshot.VoiceOver}}, "duck resume", 1},
		{"words to it", []voiceStep{{stage: earshot.VoiceBegan}, {stage: earshot.VoiceLasts}, {stage: earshot.VoiceWords, words: "no i meant"}, {words: "no i meant tomorrow"}}, "duck pause cut", 2},
		{"one word may be a guess", []voiceStep{{stage: earshot.VoiceLasts}, {stage: earshot.VoiceWords, words: "the"}, {stage: earshot.VoiceOver}}, "pause resume", 1},
		{"its name", []voiceStep{{stage: earshot.VoiceWords, words: "earshot"}}, "cut", 1},
		{"a phrase that is listened for", []voiceStep{{stage: earshot.VoiceCalls, words: "stop talking", own: true}}, "cut", 1},
		{"stop", []voiceStep{{stage: earshot.VoiceBegan}, {stage: earshot.VoiceLasts}, {words: "stop"}}, "duck pause cut", 1},
		{"its own words", []voiceStep{{stage: earshot.VoiceLasts, own: true}, {stage: earshot.VoiceWords, words: "one two", own: true}, {words: "one two three", own: true}}, "pause resume", 1},
		{"other words while it speaks", []voiceStep{{stage: earshot.VoiceLasts, own: true}, {words: "what about the weather", own: true}}, "pause cut", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, v := voiced(t, newHouse())
				h.hears(t, "earshot count", 0, 100*time.Millisecond)
				for _, s := range tt.heard {
					if s.stage != "" {
						h.notices(t, earshot.Speech{Stage: s.stage, Words: earshot.Text(s.words), Confidence: 0.8, Own: s.own})
						continue
					}
					h.hears(t, s.words, map[bool]float64{true: 1}[s.own], 0)
				}
				time.Sleep(time.Minute)
				h.stop()
				var told []string
				for _, c := range v.Told() {
					told = append(told, c.String())
				}
				if got := strings.Join(told, " "); got != tt.told && got != tt.told+" cut" { // a turn cuts what it leaves
					t.Errorf("told %q, want %q", got, tt.told)
				}
				if n := len(h.replies()); n != tt.after {
					t.Errorf("%d replies, want %d", n, tt.after)
				}
			})
		})
	}
}

// TestBystanders: what others say to each other does not end the answer to
// somebody who wrote.
func TestBystanders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.TypedAloud = true
		_, v := voiced(t, h)
		h.say(t, "count")
		time.Sleep(100 * time.Millisecond)
		h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 1})
		h.notices(t, earshot.Speech{Stage: earshot.VoiceWords, Words: "shall we have", Confidence: 0.8})
		h.hears(t, "shall we have lunch", 0, time.Minute)
		h.stop()
		if got := h.replies(); len(got) != 1 || got[0].Outcome != earshot.Completed || v.Played() != "one two three four" {
			t.Errorf("%d replies, the voice said %q", len(got), v.Played())
		}
	})
}

// A chat is a console beside a call.
type chat struct{ *testkit.Voice }

func (chat) Written() bool { return true }

// TestAChatBesideACall: what was said aloud is answered aloud, and what was written in
// writing; without a voice everything is written.
func TestAChatBesideACall(t *testing.T) {
	for _, tt := range []struct {
		name            string
		call            bool
		aloud           bool
		spoken, written string
	}{
		{"said in a call", true, true, "one two three four", ""},
		{"written in a call", true, false, "", "one two three four"},
		{"said, and the call is over", false, true, "", "one two three four"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.away = true
				h.open(t.Context())
				v := &testkit.Voice{Called: "discord voice", Every: 10 * time.Millisecond, Aloud: true}
				if tt.call {
					h.Enter(v, earshot.Audience{Unknown: true})
				}
				h.Enter(chat{h.console}, earshot.Audience{Unknown: true})
				if tt.aloud {
					h.hears(t, "earshot count", 0, time.Minute)
				} else {
					h.say(t, "earshot count")
					time.Sleep(time.Minute)
				}
				h.stop()
				if v.Played() != tt.spoken || h.console.Played() != tt.written {
					t.Errorf("the voice said %q and the chat shows %q", v.Played(), h.console.Played())
				}
			})
		})
	}
}

// TestOwnVoice: the agent's own voice that comes back is nobody's words, and is not written down.
func TestOwnVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := voiced(t, newHouse())
		h.hears(t, "earshot count", 0, 300*time.Millisecond)
		h.hears(t, "one too three four", 0.9, time.Second)
		h.stop()
		for _, e := range h.journal.Events() {
			if u, ok := e.Body.(earshot.Utterance); ok && strings.Contains(string(u.Text), "three") {
				t.Error("the agent's own voice was written down")
			}
		}
	})
}

// TestSpeechThatLies: a sense may send anything; the room refuses it, or makes something harmless
// of it.
func TestSpeechThatLies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := voiced(t, newHouse())
		for _, body := range []earshot.Body{
			earshot.Utterance{}, earshot.Utterance{Text: " \n"}, earshot.Utterance{Text: earshot.Text(strings.Repeat("x", 5000))},
		} {
			if err := h.Admit(t.Context(), earshot.Event{From: mic, Body: body}); err == nil {
				t.Errorf("%#v was admitted", body)
			}
		}
		nan := 0.0
		nan /= nan
		for _, body := range []earshot.Body{
			earshot.Utterance{Text: "earshot \xff", Confidence: nan, Own: -7, Lasted: -time.Hour},
			earshot.Speech{Stage: "shouting"}, earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(strings.Repeat("é", 9000)), Confidence: nan},
		} {
			if err := h.Admit(t.Context(), earshot.Event{From: mic, Body: body}); err != nil {
				t.Errorf("%T: %v", body, err)
			}
		}
		h.stop()
		for _, e := range h.journal.Events() {
			if _, err := e.MarshalJSON(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestWhatWorksLeavesOutWhatDoesNot: a part that is known to be at fault is not
// said to work.
func TestWhatWorksLeavesOutWhatDoesNot(t *testing.T) {
	h := newHouse()
	h.works = []string{"console", "microphone"}
	h.open(t.Context())
	defer h.stop()
	h.Know(earshot.Notice{Key: "microphone", Text: "there is none"})
	if s := h.state(); !slices.Equal(s.Works, []string{"console"}) || len(s.Faults) != 1 {
		t.Errorf("works %q, faults %v", s.Works, s.Faults)
	}
	h.Report(earshot.Notice{Key: "microphone", Text: "microphone is back", Over: true})
	if s := h.state(); len(s.Works) != 2 || len(s.Faults) != 0 {
		t.Errorf("works %q, faults %v", s.Works, s.Faults)
	}
}
