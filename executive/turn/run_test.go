package turn_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/turn"
	"earshot/internal/testkit"
	"earshot/interrupt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = earshot.Handle{Provider: "console", ID: "ann"}

// words yields the words of text, one every interval.
func words(text string, every time.Duration) func(context.Context) iter.Seq2[string, error] {
	return func(ctx context.Context) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for w := range strings.SplitAfterSeq(text, " ") {
				select {
				case <-time.After(every):
				case <-ctx.Done():
					yield("", context.Cause(ctx))
					return
				}
				if !yield(w, nil) {
					return
				}
			}
		}
	}
}

const tides = "abcd efgh ijkl mnop "

func spec(floor *interrupt.Floor, outlets ...earshot.Outlet) turn.Spec {
	return turn.Spec{
		Opening: earshot.Opening{Turn: "t1", About: "e1", Name: "Earshot"},
		Floor:   floor, Outlets: outlets, Text: words(tides, 5*time.Millisecond),
		Ahead: 8, Drain: time.Second,
	}
}

func TestRun(t *testing.T) {
	type step struct {
		at   time.Duration
		kind interrupt.Kind
	}
	for _, tt := range []struct {
		name    string
		steps   []step
		outcome earshot.Outcome
		heard   string
		took    time.Duration
	}{
		// A word comes every 5 ms, a rune is played every 1 ms.
		{"to the end", nil, earshot.Completed, tides, 25 * time.Millisecond},
		{"cut in the second word", []step{{12500 * time.Microsecond, interrupt.Addressed}}, earshot.Interrupted, "abcd ef", 12500 * time.Microsecond},
		{"cut before the first", []step{{time.Millisecond, interrupt.Command}}, earshot.Interrupted, "", time.Millisecond},
		{"paused at a key, resumed when the line is empty",
			[]step{{7500 * time.Microsecond, interrupt.Typing}, {107500 * time.Microsecond, interrupt.Over}}, earshot.Completed, tides, 0},
		{"paused at a key, cut at Enter",
			[]step{{7500 * time.Microsecond, interrupt.Typing}, {time.Second, interrupt.Addressed}}, earshot.Interrupted, "", time.Second},
		{"a cut after the end is none", []step{{time.Hour, interrupt.Command}}, earshot.Completed, tides, 25 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var floor interrupt.Floor
				voice := &testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true}
				for _, s := range tt.steps {
					timer := time.AfterFunc(s.at, func() { floor.Signal(&interrupt.Signal{Kind: s.kind, From: ann, By: "ann", At: time.Now()}) })
					defer timer.Stop()
				}
				began := time.Now()
				reply, err := turn.Run(t.Context(), spec(&floor, voice))
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); tt.took != 0 && took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if reply.Outcome != tt.outcome {
					t.Errorf("outcome %v, want %v", reply.Outcome, tt.outcome)
				}
				if got := string(reply.Delivered()); got != voice.Played() {
					t.Errorf("called heard: %q, played: %q", got, voice.Played())
				}
				if tt.heard != "" && voice.Played() != tt.heard {
					t.Errorf("played %q, want %q", voice.Played(), tt.heard)
				}
				if voice.Ends() != 1 || floor.Held() {
					t.Errorf("%d ends, floor held = %v", voice.Ends(), floor.Held())
				}
			})
		})
	}
}

// TestTheScreenKeepsThePaceOfTheVoice: while a voice is live one reads what one
// hears, and after a cut no more than that.
func TestTheScreenKeepsThePaceOfTheVoice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cut   time.Duration
		shown string
	}{
		{"to the end", 0, tides},
		{"cut in the second word", 32*time.Millisecond + time.Microsecond, "abcd ef"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var floor interrupt.Floor
				screen := &testkit.Voice{Called: "console", Flow: true}
				voice := &testkit.Voice{Called: "loudspeaker", Every: time.Millisecond, Aloud: true}
				if tt.cut > 0 {
					defer time.AfterFunc(tt.cut, func() { floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: ann}) }).Stop()
				}
				reply, err := turn.Run(t.Context(), spec(&floor, screen, voice))
				if err != nil {
					t.Fatal(err)
				}
				if screen.Played() != tt.shown || voice.Played() != tt.shown || string(reply.Delivered()) != tt.shown {
					t.Errorf("shown %q, spoken %q, called heard %q; want %q", screen.Played(), voice.Played(), string(reply.Delivered()), tt.shown)
				}
			})
		})
	}
}

// TestAVoiceThatIsLostHoldsNobodyBack: the screen then shows the whole reply.
func TestAVoiceThatIsLostHoldsNobodyBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor interrupt.Floor
		screen := &testkit.Voice{Called: "console", Flow: true}
		reply, err := turn.Run(t.Context(), spec(&floor, screen, broken{}))
		if err != nil || screen.Played() != tides || reply.Outcome != earshot.Completed {
			t.Errorf("shown %q, outcome %v with %v", screen.Played(), reply.Outcome, err)
		}
	})
}

// broken is a voice whose device is gone.
type broken struct{}

func (broken) Name() string  { return "loudspeaker" }
func (broken) Audible() bool { return true }
func (broken) Open(context.Context, earshot.Opening, func(earshot.Heard)) (earshot.Speaking, error) {
	return nil, errors.New("no device")
}

func TestTwoOutletsHearDifferentMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor interrupt.Floor
		quick := &testkit.Voice{Called: "console", Flow: true}
		slow := &testkit.Voice{Called: "loudspeaker", Every: 3 * time.Millisecond}
		time.AfterFunc(35*time.Millisecond+time.Microsecond, func() { floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: ann}) })
		s := spec(&floor, quick, slow)
		s.Text = words("A sentence that is long. ", time.Millisecond)
		reply, err := turn.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if quick.Played() != "A sentence that is long. " || reply.Outcome != earshot.Completed {
			t.Errorf("the quick one played %q, outcome %v", quick.Played(), reply.Outcome)
		}
		for i, v := range []*testkit.Voice{quick, slow} {
			if reply.Heard[i].Outlet != v.Called || reply.Heard[i].Bytes != len(v.Played()) {
				t.Errorf("delivery %+v, played %q", reply.Heard[i], v.Played())
			}
		}
		if n := len(slow.Played()); n == 0 || n == len(reply.Offered) {
			t.Errorf("the slow one played %d bytes; the test wants it to be cut in the middle", n)
		}
	})
}

// deaf is an outlet that never says where it is.
type deaf struct{ open error }

func (deaf) Name() string { return "deaf" }
func (d deaf) Open(context.Context, earshot.Opening, func(earshot.Heard)) (earshot.Speaking, error) {
	return d, d.open
}
func (deaf) Say(earshot.Clause) error { return nil }
func (deaf) Do(earshot.Control)       {}
func (deaf) Finish()                  {}

func TestAnOutletThatNeverAnswersACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor interrupt.Floor
		time.AfterFunc(8*time.Millisecond, func() { floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: ann}) })
		began := time.Now()
		reply, err := turn.Run(t.Context(), spec(&floor, deaf{}))
		if err != nil || reply.Outcome != earshot.Interrupted {
			t.Errorf("outcome %v, %v", reply.Outcome, err)
		}
		if took := time.Since(began); took != 1008*time.Millisecond {
			t.Errorf("ended after %v, want the cut and the drain", took)
		}
		if reply.Delivered() != "" {
			t.Errorf("%d bytes are called heard that nobody acknowledged", len(reply.Delivered()))
		}
	})
}

func TestOutletsThatBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("unplugged")
		voice := &testkit.Voice{Called: "console", Flow: true}
		var lost []string
		s := spec(new(interrupt.Floor), deaf{open: gone}, voice)
		s.Lost = func(name string, err error) { lost = append(lost, name+": "+err.Error()) }
		reply, err := turn.Run(t.Context(), s)
		if err != nil || reply.Outcome != earshot.Completed || voice.Played() != tides {
			t.Errorf("outcome %v, %v; played %q", reply.Outcome, err, voice.Played())
		}
		if len(lost) != 1 || lost[0] != "deaf: unplugged" {
			t.Errorf("lost %v", lost)
		}

		_, err = turn.Run(t.Context(), spec(new(interrupt.Floor), deaf{open: gone}))
		if !errors.Is(err, turn.ErrUnheard) {
			t.Errorf("with every outlet lost the error is %v", err)
		}
	})
}

func TestAModelThatBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		voice := &testkit.Voice{Called: "console", Flow: true}
		s := spec(new(interrupt.Floor), voice)
		s.Text = func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				if yield("half a ", nil) {
					yield("", errors.New("connection reset"))
				}
			}
		}
		reply, err := turn.Run(t.Context(), s)
		if err == nil || reply.Outcome != earshot.Failed || string(reply.Delivered()) != "half a " {
			t.Errorf("outcome %v, delivered %q, %v", reply.Outcome, string(reply.Delivered()), err)
		}
		if strings.Contains(voice.Played(), "connection") {
			t.Errorf("an error was said: %q", voice.Played())
		}
	})
}

func TestShutdownCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 13*time.Millisecond)
		defer cancel()
		voice := &testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true}
		reply, err := turn.Run(ctx, spec(new(interrupt.Floor), voice))
		if err != nil || reply.Outcome != earshot.Interrupted || reply.Cut.Signal != "shutdown" {
			t.Errorf("outcome %v, cut %+v, %v", reply.Outcome, reply.Cut, err)
		}
		if string(reply.Delivered()) != voice.Played() {
			t.Errorf("called heard: %q, played: %q", string(reply.Delivered()), voice.Played())
		}
	})
}

func TestNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reply, err := turn.Run(t.Context(), spec(new(interrupt.Floor)))
		if err != nil || reply.Outcome != earshot.Completed || string(reply.Offered) != tides || reply.Delivered() != "" {
			t.Errorf("%+v, %v", reply, err)
		}
	})
}

// TestRunUnderFire cuts and pauses at arbitrary moments on real goroutines; it
// is for the race detector.
func TestRunUnderFire(t *testing.T) {
	for i := range 200 {
		var floor interrupt.Floor
		voices := []*testkit.Voice{{Called: "a", Flow: true}, {Called: "b"}}
		s := spec(&floor, voices[0], voices[1])
		s.Text = words(strings.Repeat(tides, i%7+1), 0)
		fire := make(chan struct{})
		go func() {
			defer close(fire)
			for k := range i % 50 {
				floor.Signal(&interrupt.Signal{Kind: []interrupt.Kind{interrupt.Typing, interrupt.Over}[k%2], From: ann})
			}
			floor.Signal(&interrupt.Signal{Kind: interrupt.Addressed, From: ann})
		}()
		reply, err := turn.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Receive(t, testkit.Patience, "the end of the signals", fire)
		for k, v := range voices {
			if reply.Heard[k].Bytes != len(v.Played()) || v.Ends() != 1 {
				t.Fatalf("round %d: %s played %d bytes, %d are called heard, %d ends", i, v.Called, len(v.Played()), reply.Heard[k].Bytes, v.Ends())
			}
		}
	}
}

// refusing is a voice that takes two clauses and no more.
type refusing struct{ *testkit.Voice }

func (r refusing) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	s, err := r.Voice.Open(ctx, o, heard)
	return &two{Speaking: s}, err
}

type two struct {
	earshot.Speaking
	n int
}

func (s *two) Say(c earshot.Clause) error {
	if s.n++; s.n > 2 {
		return errors.New("no more")
	}
	return s.Speaking.Say(c)
}

// TestAnOutletThatTakesNoMore: what it still plays is cut, and what it played is
// on record, while another outlet goes on.
func TestAnOutletThatTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := refusing{&testkit.Voice{Called: "bad", Every: 3 * time.Millisecond, Flow: true}}
		good := &testkit.Voice{Called: "good", Flow: true}
		reply, err := turn.Run(t.Context(), spec(new(interrupt.Floor), bad, good))
		if err != nil || reply.Outcome != earshot.Completed {
			t.Errorf("outcome %v, %v", reply.Outcome, err)
		}
		if n := len(bad.Played()); n == 0 || n > 10 || reply.Heard[0].Bytes != n {
			t.Errorf("it played %q; %d bytes are called heard", bad.Played(), reply.Heard[0].Bytes)
		}
	})
}

// TestAnOutletThatStandsStill is given up in the end, but not while somebody
// holds it back.
func TestAnOutletThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		good := &testkit.Voice{Called: "good", Flow: true}
		reply, err := turn.Run(t.Context(), spec(new(interrupt.Floor), wall{}, good))
		if took := time.Since(began); err != nil || reply.Outcome != earshot.Completed || took < 30*time.Second || took > time.Minute {
			t.Errorf("outcome %v after %v, %v", reply.Outcome, took, err)
		}

		_, err = turn.Run(t.Context(), spec(new(interrupt.Floor), wall{}))
		if !errors.Is(err, turn.ErrUnheard) {
			t.Errorf("the only outlet stood still: %v", err)
		}

		var floor interrupt.Floor
		floor.Signal(&interrupt.Signal{Kind: interrupt.Typing, From: ann})
		time.AfterFunc(10*time.Hour, func() { floor.Signal(&interrupt.Signal{Kind: interrupt.Over, From: ann}) })
		patient := &testkit.Voice{Called: "patient", Flow: true}
		reply, err = turn.Run(t.Context(), spec(&floor, patient))
		if err != nil || reply.Outcome != earshot.Completed || patient.Played() != tides {
			t.Errorf("held back for hours: outcome %v, played %q, %v", reply.Outcome, patient.Played(), err)
		}
	})
}

// TestAnOutletThatGoesOnLate: whoever held it back does so no more just before it would
// be given up, and it needs a moment to be heard again.
func TestAnOutletThatGoesOnLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor interrupt.Floor
		floor.Signal(&interrupt.Signal{Kind: interrupt.Typing, From: ann})
		time.AfterFunc(30*time.Second, func() { floor.Signal(&interrupt.Signal{Kind: interrupt.Over, From: ann}) })
		slow := &testkit.Voice{Called: "slow", Every: 200 * time.Millisecond}
		reply, err := turn.Run(t.Context(), spec(&floor, slow))
		if err != nil || reply.Outcome != earshot.Completed || slow.Played() != tides {
			t.Errorf("outcome %v, played %q, %v", reply.Outcome, slow.Played(), err)
		}
	})
}

// TestShutdownAtEveryMoment: a turn that the end of the program broke off is
// never called complete, and nothing comes out afterwards.
func TestShutdownAtEveryMoment(t *testing.T) {
	for at := time.Duration(0); at < 30*time.Millisecond; at += 250 * time.Microsecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), at)
			defer cancel()
			var floor interrupt.Floor
			quick := &testkit.Voice{Called: "quick", Flow: true}
			timer := time.AfterFunc(at, func() { // somebody types at that moment
				floor.Signal(&interrupt.Signal{Kind: interrupt.Typing, From: ann})
				floor.Signal(&interrupt.Signal{Kind: interrupt.Over, From: ann})
			})
			defer timer.Stop()
			reply, err := turn.Run(ctx, spec(&floor, quick))
			if err != nil {
				t.Fatal(err)
			}
			whole := string(reply.Offered) == tides
			if !whole && (reply.Outcome != earshot.Interrupted || reply.Cut.Signal != "shutdown") {
				t.Errorf("at %v: outcome %v of %q", at, reply.Outcome, string(reply.Offered))
			}
			if string(reply.Delivered()) != quick.Played() {
				t.Errorf("at %v: called heard %q, played %q", at, string(reply.Delivered()), quick.Played())
			}
		})
	}
}

// TestACutBeforeTheTurnBegan is not lost.
func TestACutBeforeTheTurnBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var floor interrupt.Floor
		voice := &testkit.Voice{Called: "console", Flow: true}
		s := spec(&floor, voice)
		s.Since = floor.Ticket()
		floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: ann, By: "ann"})
		reply, err := turn.Run(t.Context(), s)
		if err != nil || reply.Outcome != earshot.Interrupted || reply.Cut.By != "ann" || voice.Played() != "" {
			t.Errorf("outcome %v, cut %+v, played %q, %v", reply.Outcome, reply.Cut, voice.Played(), err)
		}
	})
}

// TestSpokenTruthOfRuns takes whole turns through random interleavings of
// tokens, positions, pauses, resumptions, cuts, late acknowledgements and
// failures, on the goroutines that a turn really has.
func TestSpokenTruthOfRuns(t *testing.T) {
	many(t, 10_000, 1_000_000, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) { spokenTruthOfRun(t, rt) })
	})
}

func spokenTruthOfRun(t *testing.T, rt *rapid.T) {
	var floor interrupt.Floor
	millisecond := rapid.IntRange(0, 30)
	voices := []*testkit.Voice{
		{Called: "text", Flow: true, Every: time.Duration(rapid.IntRange(0, 2).Draw(rt, "pace")) * time.Millisecond},
		{Called: "voice", Every: time.Millisecond},
	}[:rapid.IntRange(1, 2).Draw(rt, "outlets")]
	var outlets []earshot.Outlet
	for _, v := range voices {
		outlets = append(outlets, v)
	}
	s := spec(&floor, outlets...)
	s.Ahead = rapid.IntRange(1, 5).Draw(rt, "ahead")
	s.Text = words(tides, time.Duration(rapid.IntRange(0, 3).Draw(rt, "words"))*time.Millisecond)
	if rapid.Bool().Draw(rt, "breaks") {
		whole := s.Text
		s.Text = func(ctx context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				for w, err := range whole(ctx) {
					if w == "ijkl " {
						yield("", errors.New("broken"))
						return
					}
					if !yield(w, err) {
						return
					}
				}
			}
		}
	}
	for range rapid.IntRange(0, 6).Draw(rt, "signals") {
		kind := rapid.SampledFrom([]interrupt.Kind{
			interrupt.Typing, interrupt.Over, interrupt.Onset, interrupt.Voice, interrupt.Noise, interrupt.Addressed,
		}).Draw(rt, "kind")
		timer := time.AfterFunc(time.Duration(millisecond.Draw(rt, "at"))*time.Millisecond, func() {
			floor.Signal(&interrupt.Signal{Kind: kind, From: ann, By: "ann", At: time.Now()})
		})
		defer timer.Stop()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a pause that nobody ends has an end
	defer cancel()
	reply, _ := turn.Run(ctx, s)

	if string(reply.Delivered())+string(reply.Remainder()) != string(reply.Offered) || !strings.HasPrefix(tides, string(reply.Offered)) {
		rt.Fatalf("offered %q, delivered %q, remainder %q", string(reply.Offered), string(reply.Delivered()), string(reply.Remainder()))
	}
	for i, v := range voices {
		if v.Ends() != 1 {
			rt.Fatalf("%s ended %d times", v.Called, v.Ends())
		}
		if heard := string(reply.Offered[:reply.Heard[i].Bytes]); heard != v.Played() {
			rt.Fatalf("%s played %q, on record is %q", v.Called, v.Played(), heard)
		}
	}
	if reply.Outcome == earshot.Completed && string(reply.Delivered()) != tides {
		rt.Fatalf("complete with %q", string(reply.Delivered()))
	}
	if floor.Held() {
		rt.Fatal("the floor was not given back")
	}
}
