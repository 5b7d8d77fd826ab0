package loudspeaker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/helper/helpertest"
	"earshot/internal/playback/playbacktest"
	"earshot/internal/sound"
	"earshot/internal/testkit"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

var _ earshot.Audible = (*loudspeaker.Loudspeaker)(nil)

// A stage is a running loudspeaker with fakes around it.
type stage struct {
	*loudspeaker.Loudspeaker
	player *player
	voice  *voice
	stop   context.CancelFunc
	ended  chan error
	in     atomic.Bool // whether it is in the room
}

type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// begin runs a loudspeaker; it must be called in a bubble.
func begin(ctx context.Context, v *voice) *stage { return beginWith(ctx, v, v) }

// beginWith does the same with something around the voice.
func beginWith(ctx context.Context, v *voice, around loudspeaker.Voice) *stage {
	ctx, stop := context.WithCancel(ctx)
	s := &stage{player: newPlayer(), voice: v, stop: stop, ended: make(chan error, 1)}
	s.Loudspeaker = loudspeaker.New(loudspeaker.DefaultConfig(), s.player.open, around)
	go func() {
		s.ended <- s.Run(ctx, func(o earshot.Outlet) func() {
			s.in.Store(true)
			return func() { s.in.Store(false) }
		})
	}()
	synctest.Wait()
	return s
}

// speak begins a speech.
func (s *stage) speak(t tester, ctx context.Context) (earshot.Speaking, *playbacktest.Listener) {
	t.Helper()
	l := playbacktest.Listen()
	speaking, err := s.Open(ctx, earshot.Opening{Turn: "1", Name: "earshot"}, l.Hear)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	return speaking, l
}

// end stops the loudspeaker.
func (s *stage) end(t tester) {
	t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if s.in.Load() {
		t.Errorf("it is still in the room")
	}
}

// say says all of c in a goroutine and finishes; the function that it returns waits for that.
func say(t tester, s earshot.Speaking, c []earshot.Clause) (wait func()) {
	var saying sync.WaitGroup
	saying.Go(func() {
		for _, c := range c {
			if err := s.Say(c); err != nil {
				t.Errorf("saying clause %d: %v", c.N, err)
			}
		}
		s.Finish()
	})
	return saying.Wait
}

// TestHeard performs scripts: at given times somebody does something, or the speech runs to its
// end. Then it is known to the word what was heard, and when the speech ended. A word takes 100 ms.
func TestHeard(t *testing.T) {
	tide := []string{"The tide is ", "high at 15:04 ", "🎉 ", "every day."} // 3, 5, 0, 2 words
	for _, tt := range []struct {
		name   string
		texts  []string
		script string // pairs of a time in milliseconds and an action
		want   string // what was heard
		end    time.Duration
	}{
		{"to its end", tide, "", "The tide is high at 15:04 🎉 every day.", 1000},
		{"nothing at all", nil, "", "", 20},
		{"only a picture", []string{"🎉"}, "", "🎉", 20},
		{"a cut at once", tide, "0 cut", "", 0},
		{"less than half a word", tide, "141 cut", "The ", 141},
		{"half a word", tide, "161 cut", "The tide ", 161},
		{"a number begun is not heard", tide, "661 cut", "The tide is high at ", 661},
		{"a number is heard with its last word", tide, "761 cut", "The tide is high at 15:04 ", 761},
		{"a picture is heard when it is reached", tide, "801 cut", "The tide is high at 15:04 🎉 ", 801},
		{"a pause moves everything", tide, "310 pause 1310 resume", "The tide is high at 15:04 🎉 every day.", 2000},
		{"a cut while paused", tide, "310 pause 5000 cut", "The tide is ", 5000},
		{"ducked it goes on", tide, "100 duck 200 resume", "The tide is high at 15:04 🎉 every day.", 1000},
		{"unplugged", tide, "361 unplug", "The tide is high ", 361},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t.Context(), new(voice))
				speaking, l := s.speak(t, t.Context())
				said := playbacktest.Clauses(tt.texts...)
				quiet := tester(t)
				if strings.Contains(tt.script, "unplug") {
					quiet = deaf{t} // Say reports it, too
				}
				wait := say(quiet, speaking, said)
				play(s, speaking, time.Now(), tt.script)
				wait()
				time.Sleep(time.Minute)
				end, at := l.Last()
				if got := playbacktest.Text(said, end); got != tt.want || !end.End {
					t.Errorf("heard %q (%+v), want %q", got, end, tt.want)
				}
				if at != tt.end*time.Millisecond {
					t.Errorf("ended after %v, want %v", at, tt.end*time.Millisecond)
				}
				s.stop()
				<-s.ended
			})
		})
	}
}

// A deaf test ignores errors.
type deaf struct{ *testing.T }

func (deaf) Errorf(string, ...any) {}

// play carries out script, at its times.
func play(s *stage, speaking earshot.Speaking, began time.Time, script string) {
	words := strings.Fields(script)
	for i := 0; i+1 < len(words); i += 2 {
		at, _ := time.ParseDuration(words[i] + "ms")
		time.Sleep(time.Until(began.Add(at)))
		if words[i+1] == "unplug" {
			s.player.unplug()
			continue
		}
		for c := earshot.Resume; c <= earshot.Cut; c++ {
			if c.String() == words[i+1] {
				speaking.Do(c)
			}
		}
	}
}

// TestEnds: however a speech ends, the end is reported once, nothing is reported after it, and late
// calls do nothing.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(s *stage, speaking earshot.Speaking, stop func())
		lost bool // whether Say reports it
	}{
		{"cut", func(_ *stage, speaking earshot.Speaking, _ func()) { speaking.Do(earshot.Cut) }, false},
		{"its context ended", func(_ *stage, _ earshot.Speaking, stop func()) { stop() }, false},
		{"the program ended", func(s *stage, _ earshot.Speaking, _ func()) { s.stop() }, false},
		{"unplugged", func(s *stage, _ earshot.Speaking, _ func()) { s.player.unplug() }, true},
		{"another began", func(s *stage, _ earshot.Speaking, _ func()) {
			other, err := s.Open(context.Background(), earshot.Opening{}, func(earshot.Heard) {})
			if err == nil {
				other.Finish()
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t.Context(), new(voice))
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				speaking, l := s.speak(t, ctx)
				if err := speaking.Say(earshot.Clause{Text: "one two three four five."}); err != nil {
					t.Error(err)
				}
				time.Sleep(201 * time.Millisecond)
				tt.end(s, speaking, stop)
				synctest.Wait()
				if err := speaking.Say(earshot.Clause{N: 1, Text: "late"}); (err != nil) != tt.lost || tt.lost && !strings.HasPrefix(err.Error(), "speaking: ") {
					t.Errorf("Say said %v", err)
				}
				for c := earshot.Resume; c <= earshot.Cut; c++ {
					speaking.Do(c)
				}
				speaking.Finish()
				time.Sleep(time.Minute)
				if end, at := l.Last(); end != (earshot.Heard{Byte: len("one two "), End: true}) || at > 203*time.Millisecond {
					t.Errorf("ended at %+v after %v", end, at)
				}
				checkReports(t, l)
				s.stop()
				<-s.ended
			})
		})
	}
}

// checkReports fails t unless there is one end, as the last report, and what was heard only grows.
func checkReports(t tester, l *playbacktest.Listener) {
	t.Helper()
	before := earshot.Heard{}
	for i, h := range l.All() {
		if h.End != (i == len(l.All())-1) {
			t.Fatalf("report %d of %d: %+v", i+1, len(l.All()), h)
		}
		if h.Clause < before.Clause || h.Clause == before.Clause && h.Byte < before.Byte {
			t.Fatalf("%+v came after %+v", h, before)
		}
		before = h
	}
}

// TestTruth: whatever is said and done, and when, what is reported as heard is what was played:
// each word of which at least half was played, and no other. The rest is still in the clauses.
func TestTruth(t *testing.T) {
	words := rapid.SampledFrom([]string{"a ", "tide ", "é ", "日 ", "21 ", "🎉 ", ", ", "x. ", "\n", "```\n"})
	rapid.Check(t, func(rt *rapid.T) {
		var texts []string
		for range rapid.IntRange(0, 5).Draw(rt, "clauses") {
			texts = append(texts, strings.Join(rapid.SliceOfN(words, 1, 6).Draw(rt, "words"), ""))
		}
		v := &voice{takes: time.Duration(rapid.IntRange(0, 150).Draw(rt, "takes")) * time.Millisecond}
		if rapid.Bool().Draw(rt, "fails") {
			v.failsAt = rapid.IntRange(1, 8).Draw(rt, "at")
		}
		script, at := "", 0
		for range rapid.IntRange(0, 6).Draw(rt, "controls") {
			at += rapid.IntRange(0, 400).Draw(rt, "after")
			what := rapid.SampledFrom([]string{"duck", "pause", "resume", "resume", "cut", "unplug"}).Draw(rt, "what")
			script += fmt.Sprintf("%d %s ", at, what)
			if what == "unplug" {
				break
			}
		}
		fault := ""
		synctest.Test(t, func(t *testing.T) {
			fault = truth(t, v, playbacktest.Clauses(texts...), fmt.Sprintf("%s%d resume", script, at+1))
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// truth performs one such speech, and returns what was wrong with it.
func truth(t *testing.T, v *voice, said []earshot.Clause, script string) string {
	s := begin(context.Background(), v)
	speaking, l := s.speak(t, context.Background())
	var saying sync.WaitGroup
	saying.Go(func() {
		for _, c := range said {
			if err := speaking.Say(c); err != nil {
				speaking.Do(earshot.Cut) // as a turn does on an error
				return
			}
		}
		speaking.Finish()
	})
	play(s, speaking, time.Now(), script)
	saying.Wait()
	time.Sleep(time.Minute)
	s.stop()
	<-s.ended
	checkReports(t, l)
	end := l.At()
	text := playbacktest.Text(said, end)
	least, most := played(said, s.player.heard(), v.failsAt > 0)
	if !end.End || !strings.HasPrefix(text, least) || !strings.HasPrefix(most, text) {
		return fmt.Sprintf("from %q to %q was played, and %q told: %+v", least, most, text, end)
	}
	if v.failsAt == 0 && !strings.Contains(script, "cut") && !strings.Contains(script, "unplug") && text != playbacktest.Text(said, earshot.Heard{Clause: len(said)}) {
		return fmt.Sprintf("nobody cut, and only %q was heard", text)
	}
	return ""
}

// played returns how much of the text was played at least and at most, by the samples of each word.
// The two differ since a clause without sound may or may not have been reached, and since nobody
// knows where the last word ends when a voice breaks.
func played(said []earshot.Clause, samples map[int]int, broke bool) (least, most string) {
	var r tts.Reader
	number := 0
	for _, c := range said {
		form := r.Next(string(c.Text))
		n, spoken := 0, []int{0} // where each word begins in what is spoken
		for range strings.Fields(form.Spoken) {
			number++
			if 2*samples[number] < perWord {
				break
			}
			rest := strings.IndexByte(form.Spoken[spoken[n]:]+" ", ' ')
			spoken = append(spoken, min(spoken[n]+rest+1, len(form.Spoken)))
			n++
		}
		before := most
		if form.Spoken == "" {
			most += string(c.Text)
			continue
		}
		at := form.Text(spoken[n])
		most = before + string(c.Text[:at])
		if n > 0 {
			least = most
		}
		if broke && n > 0 {
			least = before + string(c.Text[:form.Text(spoken[n-1])])
		}
		if samples[number] < perWord {
			break // the rest was not reached
		}
	}
	return least, most
}

// TestNotTooFarAhead: while one clause is heard the next one is made into sound, and no more.
func TestNotTooFarAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t.Context(), &voice{takes: 80 * time.Millisecond})
		speaking, l := s.speak(t, t.Context())
		const clause = "one two three four five six seven eight nine ten eleven twelve " // 1.2 s
		wait := say(t, speaking, playbacktest.Clauses(clause, clause, clause, clause))
		for began := time.Now(); time.Since(began) < 5*time.Second; {
			time.Sleep(100 * time.Millisecond)
			played := 0
			for _, n := range s.player.heard() {
				played += n
			}
			if ahead := s.voice.words() - played/perWord; ahead > 12+10+3 {
				t.Errorf("after %v it is %d words ahead", time.Since(began), ahead)
			}
		}
		wait()
		if _, at := l.Last(); at > 4*1200*time.Millisecond+100*time.Millisecond {
			t.Errorf("it took %v: the voice stuttered", at)
		}
		s.end(t)
	})
}

// TestCutStopsTheVoice: a cut at once ends the making of sound, and Say.
func TestCutStopsTheVoice(t *testing.T) {
	for name, text := range map[string]string{"while it thinks": "one", "while it waits for room": strings.Repeat("word ", 1000)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t.Context(), &voice{takes: 100 * time.Millisecond})
				speaking, l := s.speak(t, t.Context())
				wait := say(t, speaking, playbacktest.Clauses(text))
				time.Sleep(50 * time.Millisecond)
				if len(text) > 10 {
					time.Sleep(time.Second)
				}
				cut := time.Now()
				speaking.Do(earshot.Cut)
				wait()
				if took := time.Since(cut); took != 0 {
					t.Errorf("Say returned %v after the cut", took)
				}
				synctest.Wait()
				if end := l.At(); !end.End {
					t.Error("it has not ended")
				}
				if n := s.voice.words(); n > 900 {
					t.Errorf("%d words were made", n)
				}
				s.end(t)
			})
		})
	}
}

// TestVoiceBreaks: Say reports that the voice broke, without repeating what was said.
func TestVoiceBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t.Context(), &voice{failsAt: 3})
		speaking, l := s.speak(t, t.Context())
		err := speaking.Say(earshot.Clause{Text: "canary canary canary"})
		if !errors.Is(err, errVoice) || strings.Contains(err.Error(), "canary") {
			t.Errorf("Say said %v", err)
		}
		time.Sleep(time.Minute)
		if end := l.At(); end != (earshot.Heard{Byte: len("canary "), End: true}) {
			t.Errorf("ended at %+v", end)
		}
		s.end(t)
	})
}

func mark(spoken, text int) earshot.Mark { return earshot.Mark{Spoken: spoken, Text: text} }

// TestForms: a clause with a spoken form is said in that form, and wrong marks stay within the
// text. With a voice that reports no words, text is heard clause by clause.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name   string
		silent bool
		clause earshot.Clause
		cut    time.Duration
		said   string
		want   int
	}{
		{"its own form", false, earshot.Clause{Text: "Dr. é", Spoken: "doctor e", Marks: []earshot.Mark{mark(0, 0), mark(7, 4), mark(8, 6)}}, 161 * time.Millisecond, "doctor e", 6},
		{"marks that lie", false, earshot.Clause{Text: "日本", Spoken: "a b c", Marks: []earshot.Mark{mark(0, 0), mark(2, 4), mark(4, 99)}}, 61 * time.Millisecond, "a b c", 3},
		{"marks beyond", false, earshot.Clause{Text: "日本", Spoken: "a b c", Marks: []earshot.Mark{mark(0, 0), mark(2, 99)}}, 61 * time.Millisecond, "a b c", 6},
		{"no words", true, earshot.Clause{Text: "one two"}, 161 * time.Millisecond, "one two", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t.Context(), &voice{silent: tt.silent})
				speaking, l := s.speak(t, t.Context())
				if err := speaking.Say(tt.clause); err != nil {
					t.Error(err)
				}
				time.Sleep(tt.cut)
				speaking.Do(earshot.Cut)
				synctest.Wait()
				if end := l.At(); end.Byte != tt.want || !end.End {
					t.Errorf("ended at %+v, want byte %d", end, tt.want)
				}
				if got := strings.Join(s.voice.said, " "); got != tt.said {
					t.Errorf("said %q, want %q", got, tt.said)
				}
				s.end(t)
			})
		})
	}
}

// TestRun: the loudspeaker is in the room while its device is open, and ends with the reason why it
// is not.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t.Context(), new(voice))
		if !s.in.Load() {
			t.Error("it is not in the room")
		}
		s.player.unplug()
		if err := <-s.ended; !errors.Is(err, errUnplugged) || s.in.Load() || s.player.closed != 1 {
			t.Errorf("ended with %v, in the room: %v, closed %d times", err, s.in.Load(), s.player.closed)
		}
		if _, err := s.Open(t.Context(), earshot.Opening{}, func(earshot.Heard) {}); !errors.Is(err, loudspeaker.ErrClosed) {
			t.Errorf("opened without a device: %v", err)
		}
		if err := s.Run(t.Context(), func(earshot.Outlet) func() { t.Error("entered"); return nil }); !errors.Is(err, errUnplugged) {
			t.Errorf("opened what is not there: %v", err)
		}
		if s.Name() != "loudspeaker" {
			t.Errorf("it is called %q", s.Name())
		}
	})
}

// TestOneAfterTheOther: the next speech begins when the one before has ended.
func TestOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t.Context(), new(voice))
		for range 3 {
			speaking, l := s.speak(t, t.Context())
			say(t, speaking, playbacktest.Clauses("one two"))()
			time.Sleep(time.Second)
			if end := l.At(); end != (earshot.Heard{Byte: 7, End: true}) {
				t.Errorf("ended at %+v", end)
			}
		}
		s.end(t)
	})
}

func TestConfig(t *testing.T) {
	if err := loudspeaker.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	var keys []string
	for _, f := range field.Faults(loudspeaker.Config{Volume: 1.5, Speed: 9}.Validate()) {
		keys = append(keys, f.Key)
	}
	if got := strings.Join(keys, " "); got != "volume speed voice" {
		t.Errorf("faults of %q", got)
	}
}

// A stillPlayer takes sound, but plays nothing by itself.
type stillPlayer struct {
	*player
	moved func(sound.Position)
}

func (p *stillPlayer) Play(_ int, moved func(sound.Position)) (loudspeaker.Playing, error) {
	p.moved = moved
	return p, nil
}

func (p *stillPlayer) Write(context.Context, []int16) error { return nil }
func (p *stillPlayer) Do(earshot.Control)                   {}
func (p *stillPlayer) Finish()                              {}

// TestPositionsCostNothing: a position, which comes every 20 ms, allocates nothing.
func TestPositionsCostNothing(t *testing.T) {
	p := &stillPlayer{player: newPlayer()}
	l := loudspeaker.New(loudspeaker.DefaultConfig(), func(context.Context, string, float64) (loudspeaker.Player, error) { return p, nil }, new(voice))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	entered := make(chan struct{})
	running.Go(func() {
		if err := l.Run(ctx, func(earshot.Outlet) func() { close(entered); return func() {} }); err != nil {
			t.Error(err)
		}
	})
	testkit.Receive(t, testkit.Patience, "the loudspeaker to enter the room", entered)
	s, err := l.Open(ctx, earshot.Opening{}, func(earshot.Heard) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Say(earshot.Clause{Text: earshot.Text(strings.Repeat("word ", 200))}); err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	if n := testing.AllocsPerRun(500, func() { at += 320; p.moved(sound.Position{Samples: at}) }); n != 0 {
		t.Errorf("a position allocates %v times", n)
	}
	stop()
	testkit.Finish(t, testkit.Patience, "the end of the loudspeaker", running.Wait)
}

// TestFickle: without a voice the loudspeaker leaves the room, so that no reply waits for it; but
// it stays while a voice is away only for a moment.
func TestFickle(t *testing.T) {
	type change struct {
		after time.Duration
		here  bool
	}
	for _, tt := range []struct {
		name    string
		changes []change // each so long after the previous one
		want    string   // # if it is in the room at the end of a second
	}{
		{"never there", nil, "......"},
		{"there after two seconds", []change{{1500 * time.Millisecond, true}}, ".#####"},
		{"dead", []change{{0, true}, {1500 * time.Millisecond, false}}, "####.."},
		{"back soon", []change{{0, true}, {1500 * time.Millisecond, false}, {2 * time.Second, true}}, "######"},
		{"back late", []change{{0, true}, {500 * time.Millisecond, false}, {4 * time.Second, true}}, "###.##"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &fickle{changed: make(chan struct{})}
				s := beginWith(t.Context(), &v.voice, v)
				var changing sync.WaitGroup
				changing.Go(func() {
					for _, c := range tt.changes {
						time.Sleep(c.after)
						v.set(c.here)
					}
				})
				got := ""
				for range 6 {
					time.Sleep(time.Second)
					synctest.Wait()
					got += map[bool]string{true: "#", false: "."}[s.in.Load()]
				}
				if got != tt.want {
					t.Errorf("in the room %s, want %s", got, tt.want)
				}
				changing.Wait()
				s.end(t)
			})
		})
	}
}
