package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
)

// saidOf returns an utterance that ends now, with the recogniser's confidence in it.
func saidOf(text string, sure, own float64, lasts time.Duration) earshot.Event {
	return earshot.Event{From: mic, Via: "loudspeaker", At: time.Now().Add(-lasts), Body: earshot.Utterance{
		Text: earshot.Text(text), Confidence: sure, Own: own, Lasted: lasts,
	}}
}

func (h *house) admit(t *testing.T, e earshot.Event) {
	t.Helper()
	if err := h.Admit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// TestStopMisheard: while the agent speaks, words that sound like a phrase that stops it do stop
// it, whoever says them, and are not taken for a question. They do not if the agent is silent, or
// if they sound too different.
func TestStopMisheard(t *testing.T) {
	long := strings.Repeat("one two three four five six seven ", 20)
	for _, tt := range []struct {
		name, said     string
		speaks, typed  bool
		cut, quiet     bool
		replies, asked int // after what was said
	}{
		{"stop talk and", "stop talk and", true, true, true, false, 1, 1},
		{"please stop talk and", "please stop talk and", true, true, true, false, 1, 1},
		{"stopped talking", "stopped talking", true, true, true, false, 1, 1},
		{"be quite", "be quite", true, true, true, true, 1, 1},
		{"start talking", "start talking", true, true, false, false, 1, 1},
		{"stop talk and go home", "stop talk and go home", true, true, false, false, 1, 1},
		{"to whom it answers", "stop talk and", true, false, true, false, 1, 1},
		{"after it has spoken", "stop talk and", false, false, false, false, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Reply, h.config.Speech.TypedAloud = long, tt.typed
				if !tt.speaks {
					h.model.Reply = "one"
				}
				_, v := voiced(t, h)
				if tt.typed {
					h.say(t, "count")
				} else {
					h.admit(t, saidOf("earshot count", 0.9, 0, time.Second))
				}
				time.Sleep(2 * time.Second)
				h.admit(t, saidOf(tt.said, 0.8, 0, 500*time.Millisecond))
				cut := slices.Contains(v.Told(), earshot.Cut)
				if tt.speaks && cut != tt.cut {
					t.Errorf("it was cut: %v, want %v", cut, tt.cut)
				}
				time.Sleep(2 * time.Minute)
				if got := h.state().Quiet; got != tt.quiet {
					t.Errorf("it is quiet: %v, want %v", got, tt.quiet)
				}
				h.stop()
				if n, asked := len(h.replies()), len(h.model.Seen()); n != tt.replies || asked != tt.asked {
					t.Errorf("%d replies and %d requests, want %d and %d", n, asked, tt.replies, tt.asked)
				}
			})
		})
	}
}

// TestNameMisheard: a name that was misheard by two sounds calls the agent if it comes after a
// silence and before a question, and is on record as the name. In the middle of other talk it does
// not call.
func TestNameMisheard(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before time.Duration // since somebody spoke to others
		said   string
		want   string // what is kept
		why    string
	}{
		{"you shot", 3 * time.Second, "you shot what is new", "Earshot what is new", addressing.Named},
		{"buckshot", 3 * time.Second, "buckshot can you count", "Earshot can you count", addressing.Named},
		{"amid talk", 200 * time.Millisecond, "you shot what is new", "you shot what is new", reason.Overheard},
		{"no question", 3 * time.Second, "you shot the pheasant", "you shot the pheasant", reason.Overheard},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, newHouse())
				h.admit(t, saidOf("we went to the forest", 0.9, 0, time.Second))
				time.Sleep(tt.before + time.Second)
				h.admit(t, saidOf(tt.said, 0.9, 0, time.Second))
				time.Sleep(time.Minute)
				h.stop()
				said := utterances(h)
				if got := string(said[len(said)-1].Body.(earshot.Utterance).Text); got != tt.want {
					t.Errorf("on record is %q, want %q", got, tt.want)
				}
				if why := h.reasons(); why[len(why)-1] != tt.why {
					t.Errorf("it decided %q, want %q", why[len(why)-1], tt.why)
				}
			})
		})
	}
}

// mumbled says something clearly and then, in its turn, something that is hardly understood. It
// returns what the agent said.
func mumbled(t *testing.T, h *house) string {
	_, v := voiced(t, h)
	h.admit(t, saidOf("earshot count", 0.9, 0, time.Second))
	time.Sleep(3 * time.Second)
	h.admit(t, saidOf("in neighbor by violin", 0.1, 0, 2*time.Second))
	time.Sleep(30 * time.Second)
	return strings.TrimSpace(strings.ReplaceAll(v.Played(), "Sorry?", " Sorry?"))
}

// TestAsksBack: somebody who speaks to the agent and is not understood is asked back, but not again
// until they are understood. Nobody is asked back out of their turn, or while the agent is to be
// quiet.
func TestAsksBack(t *testing.T) {
	type line struct {
		after time.Duration
		said  string
		sure  float64
	}
	const dim = 0.1
	const named, asks, unclear, follows = addressing.Named, reason.AsksBack, reason.Unclear, reason.Follows
	call := line{0, "earshot count", 0.9}
	for _, tt := range []struct {
		name string
		said []line
		want []string
	}{
		{"in its turn", []line{call, {3 * time.Second, "in neighbor by violin", dim}}, []string{named, asks}},
		{"and said again", []line{call, {3 * time.Second, "in neighbor by violin", dim}, {3 * time.Second, "my neighbor plays the violin", 0.9}}, []string{named, asks, follows}},
		{"twice in a row", []line{call, {3 * time.Second, "in neighbor by violin", dim}, {3 * time.Second, "in neighbor by violin", dim}}, []string{named, asks, unclear}},
		{"and once more after that was understood", []line{call, {3 * time.Second, "in neighbor by violin", dim}, {3 * time.Second, "my neighbor plays the violin", 0.9}, {3 * time.Second, "is by and loud", dim}}, []string{named, asks, follows, asks}},
		{"long after its reply", []line{call, {12 * time.Second, "in neighbor by violin", dim}}, []string{named, unclear}},
		{"out of the blue", []line{{0, "in neighbor by violin", dim}}, []string{unclear}},
		{"in quiet", []line{call, {3 * time.Second, "be quiet", 0.9}, {2 * time.Second, "in neighbor by violin", dim}}, []string{named, reason.Commanded, unclear}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, v := voiced(t, newHouse())
				for _, l := range tt.said {
					time.Sleep(l.after)
					h.admit(t, saidOf(l.said, l.sure, 0, time.Second))
				}
				time.Sleep(time.Minute)
				h.stop()
				if got := h.reasons(); !slices.Equal(got, tt.want) {
					t.Errorf("decided %q, want %q", got, tt.want)
				}
				times := 0
				for _, why := range tt.want {
					if why == asks {
						times++
					}
				}
				if got := strings.Count(v.Played(), "Sorry?"); got != times || len(h.model.Seen()) != count(tt.want, named)+count(tt.want, follows) {
					t.Errorf("it asked back %d times, and its model %d times", got, len(h.model.Seen()))
				}
			})
		})
	}
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// TestAsksBackOnlyWhomItTalksWith: only the voice that the agent is in talk with is asked back.
func TestAsksBackOnlyWhomItTalksWith(t *testing.T) {
	for _, voice := range []int{5, unlikePrint, 0} {
		synctest.Test(t, func(t *testing.T) {
			h, v := voiced(t, listening())
			h.hearsOf(t, 3, "earshot count", 3*time.Second)
			e := saidOf("in neighbor by violin", 0.1, 0, time.Second)
			u := e.Body.(earshot.Utterance)
			u.Voice = &earshot.Voice{Print: []float32{float32(voice)}, Heard: time.Second}
			e.Body = u
			h.admit(t, e)
			time.Sleep(time.Minute)
			h.stop()
			if strings.Contains(v.Played(), "Sorry?") {
				t.Errorf("voice %d was asked back", voice)
			}
		})
	}
}

// TestALateEchoOfFewWords: two words of the agent's own reply that come back late, in a room whose
// echo nobody has measured, are not answered. The same words are answered if they answer the
// agent's question.
func TestALateEchoOfFewWords(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		after       time.Duration
		own         float64
		replies     int
	}{
		{"late", "The ship had no wind. It lay still for days and all on it slept.", 3 * time.Second, 0.3, 1},
		{"unnoticed", "All on it slept. The ship had no wind.", 200 * time.Millisecond, 0, 1},
		{"an answer", "Was it that it had no wind?", time.Second, 0, 2},
		{"long after", "The ship had no wind.", 5 * time.Second, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Reply = tt.reply
				_, v := voiced(t, h)
				h.admit(t, saidOf("earshot tell me", 0.9, 0, time.Second))
				for v.Ends() == 0 {
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(tt.after)
				h.admit(t, saidOf("had no", 0.9, tt.own, 300*time.Millisecond))
				time.Sleep(time.Minute)
				h.stop()
				if n := len(h.replies()); n != tt.replies {
					t.Errorf("%d replies, want %d", n, tt.replies)
				}
			})
		})
	}
}

// TestASignComesBack: a sign such as "uh-huh" is part of no reply, and is still known as the
// agent's own when it comes back after its end.
func TestASignComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.config.Speech.Backchannels = true
		_, v := voiced(t, h)
		h.admit(t, saidOf("earshot count", 0.9, 0, time.Second))
		time.Sleep(2 * time.Second)
		began := time.Now()
		h.admit(t, earshot.Event{From: mic, At: began, Body: earshot.Speech{Stage: earshot.VoiceBegan}})
		time.Sleep(9 * time.Second)
		h.admit(t, earshot.Event{From: mic, At: began, Body: earshot.Speech{Stage: earshot.VoiceWords, Words: "earshot i want to tell you a long story", Pause: true}})
		time.Sleep(500 * time.Millisecond)
		if v.Signs() != "Uh-huh." {
			t.Fatalf("it said %q", v.Signs())
		}
		time.Sleep(500 * time.Millisecond)
		h.admit(t, saidOf("uh huh", 0.9, 0.5, 400*time.Millisecond))
		h.stop()
		for _, e := range utterances(h) {
			if e.Body.(earshot.Utterance).Text == "uh huh" {
				t.Error("its own sign was taken for somebody's word")
			}
		}
	})
}

// TestWhatCutIsOnRecord: words that cut a reply are kept even if nothing comes of them, because in
// the end they were noise, the agent's own voice, or a phrase that only the search for it heard.
func TestWhatCutIsOnRecord(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stage earshot.Stage
		words string
		then  func(began time.Time) *earshot.Event
		kept  []string
		why   string
	}{
		{"not understood in the end", earshot.VoiceWords, "what about the", func(began time.Time) *earshot.Event {
			return &earshot.Event{From: mic, At: began, Body: earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}}
		}, []string{"what about the"}, reason.Unclear},
		{"its own voice", earshot.VoiceWords, "what about the", func(time.Time) *earshot.Event {
			e := saidOf("one two three", 0.9, 1, time.Second)
			return &e
		}, []string{"one two three"}, reason.Echoed},
		{"a sense that dies", earshot.VoiceWords, "what about the", func(time.Time) *earshot.Event { return nil }, []string{"what about the"}, reason.Unclear},
		{"a phrase alone", earshot.VoiceCalls, "stop talking", func(time.Time) *earshot.Event { return nil }, []string{"stop talking"}, reason.Unclear},
		{"a phrase, and all of it", earshot.VoiceCalls, "stop talking", func(time.Time) *earshot.Event {
			e := saidOf("oh stop talking", 0.9, 0, time.Second)
			return &e
		}, []string{"oh stop talking"}, ""},
		{"understood", earshot.VoiceWords, "what about the", func(began time.Time) *earshot.Event {
			e := saidOf("what about the moon", 0.9, 0, time.Second)
			e.At = began
			return &e
		}, []string{"what about the moon"}, reason.Follows},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Reply = strings.Repeat("one two three four five six seven ", 20)
				voiced(t, h)
				h.admit(t, saidOf("earshot count", 0.9, 0, time.Second))
				time.Sleep(time.Second)
				began := time.Now()
				h.admit(t, earshot.Event{From: mic, At: began, Body: earshot.Speech{Stage: tt.stage, Words: earshot.Text(tt.words), Confidence: 0.6}})
				time.Sleep(time.Second)
				if e := tt.then(began); e != nil {
					h.admit(t, *e)
				}
				time.Sleep(time.Minute)
				h.stop()
				var kept []string
				for _, e := range utterances(h)[1:] {
					kept = append(kept, string(e.Body.(earshot.Utterance).Text))
				}
				if !slices.Equal(kept, tt.kept) {
					t.Errorf("on record is %q, want %q", kept, tt.kept)
				}
				if r := h.replies()[0]; r.Outcome != earshot.Interrupted || r.Cut == nil {
					t.Errorf("the reply was %s, by %+v", r.Outcome, r.Cut)
				}
				if why := h.reasons(); tt.why != "" && why[1] != tt.why {
					t.Errorf("it decided %q, want %q", why[1], tt.why)
				}
			})
		})
	}
}

// TestWhatCutIsOnRecordAtTheEnd: words that cut a reply are kept even if the program ends before
// anybody knows what came of them.
func TestWhatCutIsOnRecordAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = strings.Repeat("one two three four five six seven ", 20)
		voiced(t, h)
		h.admit(t, saidOf("earshot count", 0.9, 0, time.Second))
		time.Sleep(time.Second)
		h.admit(t, earshot.Event{From: mic, At: time.Now(), Body: earshot.Speech{Stage: earshot.VoiceWords, Words: "what about the", Confidence: 0.6}})
		time.Sleep(time.Second)
		h.stop()
		said := utterances(h)
		if last := said[len(said)-1].Body.(earshot.Utterance); len(said) != 2 || last.Text != "what about the" || last.Lasted != time.Second {
			t.Errorf("on record are %d utterances, the last %q, of %v", len(said), string(last.Text), last.Lasted)
		}
		if r := h.replies()[0]; r.Outcome != earshot.Interrupted {
			t.Errorf("the reply was %s", r.Outcome)
		}
	})
}

// TestFaint: an utterance that is understood too badly to be written down is written down where the
// agent asks back: in its turn, and after the agent's name. Anywhere else it is dropped, unless it
// has cut a reply.
func TestFaint(t *testing.T) {
	for _, tt := range []struct {
		name, before, said string
		own                float64
		kept, asked        bool
	}{
		{"in its turn", "earshot count", "in neighbor by violin", 0, true, true},
		{"its name", "", "earshot left side of it", 0, true, true},
		{"out of the blue", "", "in neighbor by violin", 0, false, false},
		{"beside its own sound", "earshot count", "in neighbor by violin", 0.2, false, false},
		{"its name in its own sound", "earshot count", "earshot by violin", 0.2, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, v := voiced(t, newHouse())
				if tt.before != "" {
					h.admit(t, saidOf(tt.before, 0.9, 0, time.Second))
				}
				time.Sleep(3 * time.Second)
				e := saidOf(tt.said, 0.2, tt.own, time.Second)
				u := e.Body.(earshot.Utterance)
				u.Faint = true
				e.Body = u
				h.admit(t, e)
				time.Sleep(time.Minute)
				h.stop()
				kept := slices.ContainsFunc(utterances(h), func(e earshot.Event) bool {
					return strings.HasSuffix(string(e.Body.(earshot.Utterance).Text), tt.said[len("earshot"):])
				})
				if asked := strings.Contains(v.Played(), "Sorry?"); kept != tt.kept || asked != tt.asked {
					t.Errorf("it was kept: %v, and asked back: %v", kept, asked)
				}
			})
		})
	}
}
