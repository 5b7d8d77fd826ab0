package microphone_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/helper/helpertest"
	"earshot/models/hear"
	"earshot/models/stt"
	"earshot/providers"
	"earshot/providers/microphone"
	"earshot/providers/providertest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

func TestProvider(t *testing.T) {
	providertest.Run(t, func(*testing.T) providers.Provider {
		return microphone.New(microphone.DefaultConfig(), microphone.Parts{
			Capture:    &take{picture: "..#####.......", loops: true},
			Recogniser: &recogniser{},
		})
	})
}

// quick returns a configuration in which an utterance ends after 300 ms of silence.
func quick() microphone.Config {
	c := microphone.DefaultConfig()
	c.Ear.End = 0.3
	return c
}

// A performance is one run of a microphone.
type performance struct {
	*microphone.Provider
	rec  *recogniser
	room *room
	talk hear.Talk // what the room knows of the conversation
}

func newPerformance(c *take, results ...result) *performance {
	p := &performance{rec: &recogniser{results: results}, room: &room{began: time.Now()}}
	p.Provider = microphone.New(quick(), microphone.Parts{
		Capture: c, Recogniser: p.rec, Notice: p.room.notice, Talk: func() hear.Talk { return p.talk },
	})
	return p
}

// TestScenes: the upper line draws what is captured, the lower one what the room sees, and when: b
// began, l lasts, w words, s words that are stable, p pause, C calls, o over, U utterance. A
// character is 100 ms. An utterance ends 300 ms after its last sound, and is understood 60 ms
// later.
func TestScenes(t *testing.T) {
	for _, tt := range []struct {
		name, picture, want string
		results             []result
		said                string
	}{
		{"a sentence",
			"..#####.......",
			"..bl......U", []result{{text: "what time is it"}}, "what time is it"},
		{"with words as they come",
			"..######.......",
			"..bl.ww..s.U", []result{{partials: []string{"", "", "", "", "i", "i went there"}, text: "i went there"}}, "i went there"},
		{"a click",
			"...", "", nil, ""},
		{"two sentences",
			"..#####.......#####........",
			"..bl......U...bl......U", []result{{text: "one more"}, {text: "two more"}}, "one more|two more"},
		{"an open sentence is waited for",
			"..####....####...........",
			"..bl.w...p.w...sU", []result{{partials: strings.Split(",,,,"+strings.Repeat("turn the,", 6)+"turn the light on", ","), text: "turn the light on"}}, "turn the light on"},
		{"nothing was understood",
			"..#####.......",
			"..bl......o", []result{{text: ""}}, ""},
		{"hardly anything was",
			"..#####.......",
			"..bl......o", []result{{text: "what time is it", sure: 0.1}}, ""},
		{"little was, which is told as such",
			"..#####.......",
			"..bl......U", []result{{text: "what time is it", sure: 0.2}}, "(what time is it)"},
		{"only noise was",
			"..#####.......",
			"..bl......o", []result{{partials: []string{"the"}, text: "the", sure: 0.4}}, ""},
		{"somebody listens, and says so",
			"..#####.......",
			"..bl......o", []result{{text: "mm-hm"}}, ""},
		{"it could not be",
			"..#####.......#####.......",
			"..bl......o...bl......U", []result{{err: errors.New("no model")}, {text: "well again"}}, "well again"},
		{"nobody understands, and it is known at once",
			"..#####.......",
			"..bl......o", []result{{err: errors.New("no helper"), early: true}}, ""},
		{"what came too late of one voice is not taken for the end of the next",
			"..#####...#####........",
			"..bl......bl......U", []result{{text: ""}, {text: "here I am"}}, "here I am"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: tt.picture}, tt.results...)
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Errorf("ended with %v", err)
				}
				if got := string(p.room.picture); got != tt.want || p.room.said() != tt.said {
					t.Errorf("heard %s\nroom  %s, %q\nwant  %s, %q", tt.picture, got, p.room.said(), tt.want, tt.said)
				}
			})
		})
	}
}

// TestPatience: how long the microphone waits for more words depends on the words so far, and on
// what the agent has asked.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		talk        hear.Talk
		own         bool
		want        time.Duration // of silence, including the 60 ms for understanding
	}{
		{"finished", "what time is it", hear.Talk{}, false, 280 * time.Millisecond},
		{"unclear", "i went there", hear.Talk{}, false, 360 * time.Millisecond},
		{"open", "i went to the", hear.Talk{}, false, 960 * time.Millisecond},
		{"dictated", "my number is oh two", hear.Talk{}, false, 2060 * time.Millisecond},
		{"dictated when asked", "oh two", hear.Talk{Asked: true, Dictation: true}, false, 2060 * time.Millisecond},
		{"the first words of an answer", "the red", hear.Talk{Asked: true}, false, 960 * time.Millisecond},
		{"a wish for time", "hold on", hear.Talk{}, false, 4060 * time.Millisecond},
		{"the same to stop the agent", "hold on", hear.Talk{}, true, 360 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				picture := "..#####" + strings.Repeat(".", 50)
				if tt.own {
					picture = strings.ReplaceAll(picture, "#", "@")
				}
				p := newPerformance(&take{picture: picture}, result{partials: []string{tt.words}, text: tt.words})
				p.talk = tt.talk
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if got := p.room.at - 700*time.Millisecond; p.room.said() != tt.words || got != tt.want {
					t.Errorf("%q was ended after %v, want %v", p.room.said(), got, tt.want)
				}
			})
		})
	}
}

// TestLateWords: words that sound complete, but came only after a while of silence, do not end the
// utterance at once: more may be on the way.
func TestLateWords(t *testing.T) {
	for _, tt := range []struct {
		name     string
		partials string // one after each 100 ms; the voice ends with the seventh
		behind   time.Duration
		want     time.Duration
	}{
		{"with the voice", ",,,,,,where is it", 0, 280 * time.Millisecond},
		{"soon after it", ",,,,,,where,where is it", 0, 280 * time.Millisecond},
		{"late", ",,,,,,where,where is the,where is it", 0, 360 * time.Millisecond},
		{"said again, unchanged", ",,,,,,where is it,where is it,where is it", 0, 280 * time.Millisecond},
		{"told late by a busy recogniser", ",,,,,,where,where is the,where is it", 200 * time.Millisecond, 280 * time.Millisecond},
		{"late, and told at once", ",,,,,,where,where is the,where is it", time.Millisecond, 360 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: "..#####" + strings.Repeat(".", 50)}, result{partials: strings.Split(tt.partials, ","), behind: tt.behind, text: "where is it"})
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if got := p.room.at - 700*time.Millisecond; got != tt.want {
					t.Errorf("it was ended after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// TestEvents: the contents of all events of one utterance.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: "..@@###......."}, result{partials: strings.Split(",,,,,stop", ","), text: "stop it", sure: 0.7})
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		began := p.room.began.Add(220 * time.Millisecond) // the capture time of the first frame with a voice
		from := earshot.Handle{Provider: "microphone", ID: "default"}
		want := []earshot.Body{
			earshot.Speech{Stage: earshot.VoiceBegan, Confidence: 0.5, Own: true},
			earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 0.8, Own: true},
			earshot.Speech{Stage: earshot.VoiceWords, Words: "stop", Confidence: 0.7, Own: true},
			earshot.Speech{Stage: earshot.VoiceWords, Words: "stop", Confidence: 0.7, Own: true, Stable: true},
			earshot.Utterance{Text: "stop it", Confidence: 0.7, Lasted: 500 * time.Millisecond, Own: 10. / 25},
		}
		for i, e := range p.room.events {
			if i >= len(want) || e.Body != want[i] || e.From != from || e.Via != "loudspeaker" || !e.At.Equal(began) {
				t.Errorf("event %d is %+v of %v by %v", i, e.Body, e.At.Sub(p.room.began), e.From)
			}
		}
		if len(p.room.events) != len(want) {
			t.Errorf("%d events, want %d", len(p.room.events), len(want))
		}
	})
}

// TestPause: when the voice falls silent in an unfinished sentence, the room is told of a pause,
// once each time, including the last.
func TestPause(t *testing.T) {
	for _, tt := range []struct{ name, picture, partials, want string }{
		{"in the middle", "..#####....#####...........", ",,,,,,i was going to the", "blwppU"},
		{"twice", "..#####....#####....#####...........", ",,,,,,i was going to the,,,,,,,,,i was going to the house of the", "blwpwppU"},
		{"a gap between words", "..#####..#####...........", ",,,,,,i was going to the", "blwpU"},
		{"at the end of a sentence", "..#####...........", ",,,,,,where is it", "blwsU"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: tt.picture}, result{partials: strings.Split(tt.partials, ","), text: "i was going to the house"})
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if got := p.room.saw(); got != tt.want {
					t.Errorf("it tells %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestTooLong: a speech without end is understood in parts, the first of which is marked as
// truncated.
func TestTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: strings.Repeat("#", 320) + "....."}, result{text: "part one"}, result{text: "part two"})
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, e := range p.room.events {
			if u, ok := e.Body.(earshot.Utterance); ok {
				got = append(got, u.Truncated)
			}
		}
		if p.room.said() != "part one|part two" || fmt.Sprint(got) != "[true false]" {
			t.Errorf("said %q, truncated %v", p.room.said(), got)
		}
	})
}

// TestPhrases: the microphone listens for phrases while the agent's sound plays and half a second
// longer, in what may be a voice, 300 ms before that and 600 ms after. A phrase is told at once.
func TestPhrases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: "...ooooo@@oooooo............"})
		frames := 0
		p.rec.spotted = func() {
			if frames++; frames == 20 {
				p.Called("stop talking", time.Now())
			}
		}
		p.Called("too early", time.Now())
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		p.Called("too late", time.Now())
		if frames != 15+10+30 {
			t.Errorf("listened in %d frames", frames)
		}
		if !strings.Contains(p.room.saw(), "C") {
			t.Fatalf("the room saw %q", p.room.saw())
		}
		calls := slices.IndexFunc(p.room.events, func(e earshot.Event) bool { return letter(e) == 'C' })
		if got := p.room.events[calls].Body; got != (earshot.Speech{Stage: earshot.VoiceCalls, Words: "stop talking", Confidence: 1, Own: true}) {
			t.Errorf("it was %+v", got)
		}
	})
}

// TestPhrasesBehindAPause: a voice over the agent's sound makes that pause. The microphone listens
// for phrases until half a second after that voice has ended.
func TestPhrasesBehindAPause(t *testing.T) {
	for _, tt := range []struct {
		picture string
		frames  int
	}{
		{"ooo@@##########.......", 5*15 + 30}, // to the end of the utterance
		{"ooo@@.................", 5*5 + 30},
		{"ooo@@....##...........", 5*5 + 15 + 5*2 + 15}, // soon after it
		{"ooooo##.##............", 15 + 5*4 + 5},        // the voice began after the agent's sound
		{"oooooooooo............", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPerformance(&take{picture: tt.picture}, result{text: "stop talking"})
			frames := 0
			p.rec.spotted = func() { frames++ }
			if err := p.Run(t.Context(), p.room.emit); err != nil {
				t.Fatal(err)
			}
			if frames < tt.frames-1 || frames > tt.frames {
				t.Errorf("%s: listened in %d frames, want %d", tt.picture, frames, tt.frames)
			}
		})
	}
}

// TestWithoutRecogniser: voices still lower and pause the agent if nothing can understand them.
func TestWithoutRecogniser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{began: time.Now()}
		p := microphone.New(quick(), microphone.Parts{Capture: &take{picture: "..####......"}})
		if err := p.Run(t.Context(), r.emit); err != nil {
			t.Fatal(err)
		}
		if got := string(r.picture); got != "..bl.....o" {
			t.Errorf("the room sees %s", got)
		}
	})
}

// TestNotices: each fault is told once, and so is its end.
func TestNotices(t *testing.T) {
	silence := strings.Repeat("_", 700)
	for _, tt := range []struct {
		name, picture, want string
		results             []result
		fail                error
	}{
		{"muted", silence + "...", "silent microphone, over silent microphone", nil, nil},
		{"muted for long", silence + silence, "silent microphone", nil, nil},
		{"muted for a moment", silence[:500] + "....", "", nil, nil},
		{"not understood", "..###......###......###......", "speech, over speech",
			[]result{{err: errors.New("x")}, {err: errors.New("y")}, {text: "well"}}, nil},
		{"nobody there, which is said elsewhere", "..###......###......", "", []result{{err: stt.ErrAway}, {err: stt.ErrAway}}, nil},
		{"not kept", "..###......###......", "unkept speech", []result{{text: "hello there"}, {text: "hello there"}}, errors.New("disk full")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: tt.picture}, tt.results...)
				p.room.fail = tt.fail
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if got := p.room.told(); got != tt.want {
					t.Errorf("told %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestLost: words said before the device was lost are still understood, but a recogniser that hangs
// delays the end only for a while. With a recording, which nobody opens again, the microphone also
// waits for words that a busy machine understands late.
func TestLost(t *testing.T) {
	unplugged := errors.New("unplugged")
	for _, tt := range []struct {
		name string
		end  error
		will result
		said string
		took time.Duration
	}{
		{"understood", unplugged, result{text: "what time is it"}, "what time is it", 800 * time.Millisecond},
		{"late", unplugged, result{text: "what time is it", late: 30 * time.Second}, "", 800*time.Millisecond + 5*time.Second},
		{"hung", unplugged, result{never: true}, "", 800*time.Millisecond + 5*time.Second},
		{"a recording, late", nil, result{text: "what time is it", late: 30 * time.Second}, "what time is it", 800*time.Millisecond + 30*time.Second},
		{"a recording, hung", nil, result{never: true}, "", 800*time.Millisecond + time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: "..#####", err: tt.end}, tt.will)
				if err := p.Run(t.Context(), p.room.emit); !errors.Is(err, tt.end) {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(p.room.began); p.room.said() != tt.said || took > tt.took {
					t.Errorf("%q was understood after %v", p.room.said(), took)
				}
			})
		})
	}
}

// TestStuckRoom: neither a stuck room nor a stuck disk holds up frames, and a stuck disk does not
// hold up stages either. What waits is bounded, and a notice tells what is dropped.
func TestStuckRoom(t *testing.T) {
	for _, disk := range []bool{false, true} {
		t.Run(fmt.Sprintf("disk=%v", disk), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &take{picture: "###.....", loops: true}
				results := make([]result, 2000)
				for i := range results {
					results[i].text = fmt.Sprintf("sentence %d", i)
				}
				p := newPerformance(c, results...)
				p.room.stuck, p.room.takes = !disk, 24*time.Hour
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- p.Run(ctx, p.room.emit) }()
				time.Sleep(time.Minute)
				if sessions := p.rec.sessions(); sessions != 75 {
					t.Errorf("in a minute %d utterances were begun, want 75", sessions)
				}
				time.Sleep(10 * time.Minute)
				if got := p.room.told(); got != "unkept speech" {
					t.Errorf("told %q", got)
				}
				if stages := p.room.count() - 1; disk != (stages > 500) {
					t.Errorf("the room saw %d stages", stages)
				}
				cancel()
				<-ended
			})
		})
	}
}

// TestSlowRoom: a slow room gets everything that was said, in order.
func TestSlowRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var results []result
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprintf("sentence %d", i))
			results = append(results, result{text: want[i]})
		}
		p := newPerformance(&take{picture: strings.Repeat("###.....", 20)}, results...)
		p.room.takes = 990 * time.Millisecond
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		if got := p.room.said(); got != strings.Join(want, "|") {
			t.Errorf("said %s", got)
		}
	})
}

// TestManySessions: a recogniser that hangs gets a bounded number of sessions (8), and they are
// cancelled at the end.
func TestManySessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make([]result, 20)
		for i := range hang {
			hang[i].never = true
		}
		p := newPerformance(&take{picture: strings.Repeat("###.....", 20)}, hang...)
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		if p.rec.began != 8 || p.rec.cancel != 8 {
			t.Errorf("%d sessions were begun, %d cancelled", p.rec.began, p.rec.cancel)
		}
	})
}

func TestConfig(t *testing.T) {
	if err := microphone.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	c := microphone.DefaultConfig()
	c.LeastConfidence, c.Deaf, c.Ear.Duck = 2, 1, 99
	var keys []string
	for _, f := range field.Faults(c.Validate()) {
		keys = append(keys, f.Key)
	}
	if got := strings.Join(keys, " "); got != "least_confidence deaf_seconds ear.duck_frames" {
		t.Errorf("faults of %q", got)
	}
}

// TestNoise: which texts, at which confidence, are noise and no utterance.
func TestNoise(t *testing.T) {
	for _, tt := range []struct {
		text string
		sure float64
		want bool // whether it is an utterance
	}{
		{"the", 0.5, false}, {"the", 0.9, true}, {"the the and", 0.5, false}, {"huh", 0.5, false}, {"huh", 1, false},
		{"mm-hm", 1, false}, {"Um, uh.", 1, false}, {"", 1, false}, {" ", 1, false},
		{"no", 0.3, true}, {"yes", 0.3, true}, {"stop", 0.3, true}, {"what", 0.3, true}, {"stop", 0.24, false},
		{"oh no", 0.5, true}, {"what is it", 0.5, true}, {"it is the", 0.5, false}, {"it is the", 0.7, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPerformance(&take{picture: "..###......"}, result{text: tt.text, sure: tt.sure})
			if err := p.Run(t.Context(), p.room.emit); err != nil {
				t.Fatal(err)
			}
			if got := p.room.said() != ""; got != tt.want {
				t.Errorf("%q at %v is an utterance: %v, want %v", tt.text, tt.sure, got, tt.want)
			}
		})
	}
}

// TestNothingIsLogged: what was said appears in no notice and in no printed event.
func TestNothingIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: "..###......"}, result{text: "canary"})
		p.room.fail = errors.New("disk full")
		if err := p.Run(t.Context(), p.room.emit); err != nil || strings.Contains(fmt.Sprintf("%v %+v %s", p.room.events, p.room.events, p.room.told()), "canary") {
			t.Errorf("it shows: %v", err)
		}
	})
}

// BenchmarkFrame measures what a frame costs while nobody speaks, while somebody does, and while
// the microphone also tells voices apart.
func BenchmarkFrame(b *testing.B) {
	for _, bb := range []struct {
		name, picture string
		voices        bool
	}{{"silence", ".", true}, {"voice", "#", false}, {"whose voice", "#", true}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			p := microphone.New(microphone.DefaultConfig(), microphone.Parts{
				Capture:    &take{picture: strings.Repeat(bb.picture, b.N/5+1), fast: true},
				Recogniser: &recogniser{}, Voices: bb.voices,
			})
			if err := p.Run(b.Context(), func(context.Context, earshot.Event) error { return nil }); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestWhoIsHeard: events come from the machine's microphone, unless the microphone was given
// somebody else's track.
func TestWhoIsHeard(t *testing.T) {
	for _, tt := range []struct {
		name      string
		parts     microphone.Parts
		from, via string
	}{
		{"microphone", microphone.Parts{}, "microphone:default", "loudspeaker"},
		{"discord", microphone.Parts{Name: "discord", From: earshot.Handle{Provider: "discord", ID: "7"}, Via: "discord voice"}, "discord:7", "discord voice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &room{began: time.Now()}
				tt.parts.Capture, tt.parts.Recogniser = &take{picture: "..#####......."}, &recogniser{results: []result{{text: "what time is it"}}}
				mic := microphone.New(quick(), tt.parts)
				if err := mic.Run(t.Context(), r.emit); err != nil || mic.Name() != tt.name {
					t.Errorf("%s ended with %v", mic.Name(), err)
				}
				if len(r.events) != 3 {
					t.Fatalf("the room saw %s", r.saw())
				}
				for _, e := range r.events {
					if e.From.String() != tt.from || e.Via != tt.via {
						t.Errorf("%s is from %v via %q", e.Body.Kind(), e.From, e.Via)
					}
				}
			})
		})
	}
}
