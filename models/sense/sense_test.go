package sense_test

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/hear"
	"earshot/models/sense"
	"earshot/models/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

var quiet = slog.New(slog.DiscardHandler)

// both asks for both models.
var both = wire.OpenSense{VAD: "silero", Turn: "smart-turn"}

// window is that of Silero, in samples.
const window = 512

// A fake is a helper in which a voice is every window with a sample that is not 0, and whose answers are
// the number of samples that it is asked about, in seconds divided by ten.
type fake struct {
	takes time.Duration // for an answer

	mu        sync.Mutex
	heard     map[uint32]int
	loud      map[uint32]bool
	ended     int
	questions []wire.Question
}

func newFake() *fake { return &fake{heard: make(map[uint32]int), loud: make(map[uint32]bool)} }

// work is what it does.
func (f *fake) work(_ context.Context, s *helper.Server) error {
	var g errgroup.Group
	g.Go(func() error {
		return s.Controls(func(c helper.Control) error { return s.Send(wire.ReadyName, nil) })
	})
	g.Go(func() error {
		return s.Sounds(func(m helper.Sound) error {
			if m.Stream&wire.Turn != 0 {
				return f.answer(s, m)
			}
			return f.hear(s, m)
		})
	})
	return g.Wait()
}

func (f *fake) answer(s *helper.Server, m helper.Sound) error {
	q, err := wire.DecodeQuestion(m.Data)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.questions = append(f.questions, q)
	f.mu.Unlock()
	time.Sleep(f.takes)
	return s.SendSound(m.Stream, wire.Probability{Of: q.Number, P: min(1, float32(q.Samples)/audio.Rate/10)}.Append(nil))
}

func (f *fake) hear(s *helper.Server, m helper.Sound) error {
	if len(m.Data) == 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended++
		return nil
	}
	for i := 0; i < len(m.Data); i += 2 {
		f.loud[m.Stream] = f.loud[m.Stream] || binary.LittleEndian.Uint16(m.Data[i:]) != 0
		if f.heard[m.Stream]++; f.heard[m.Stream]%window == 0 {
			p := wire.Probability{Of: uint32(f.heard[m.Stream]), P: 0.1}
			if f.loud[m.Stream] {
				p.P = 0.9
			}
			f.loud[m.Stream] = false
			if err := s.SendSound(m.Stream, p.Append(nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

// running runs a sensor until the test ends.
func running(t *testing.T, sets wire.OpenSense, dial helper.Dialer) *sense.Sensor {
	s := sense.New(sense.Config{Dial: dial, Sets: sets, Log: quiet})
	ctx, stop := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	parts.Go(func() {
		for ctx.Err() == nil {
			s.Run(ctx)
		}
	})
	t.Cleanup(func() { stop(); parts.Wait() })
	return s
}

// A picture is played into a listener: # is a frame of a voice, and anything else one of silence. Of
// each frame it returns, some frames later, whether there was a voice: v, n, or ? if that is not known.
func play(l *sense.Listener, picture string) (verdicts string, probability float64) {
	said, still := time.Duration(0), time.Duration(0)
	for _, c := range picture {
		f := new(audio.Frame)
		if c == '#' {
			f.PCM[0], still = 1000, 0
		}
		if c == '#' || said > 0 {
			said += audio.Time
		}
		if c != '#' && said > 0 {
			still += audio.Time
		}
		l.Step(f, said, still)
		time.Sleep(audio.Time)
	}
	sensed, turn := l.Step(new(audio.Frame), said+audio.Time, still+audio.Time)
	for back := len(picture); back > 0; back-- {
		switch bit := uint64(1) << back; {
		case sensed.Voice&bit != 0:
			verdicts += "v"
		case sensed.None&bit != 0:
			verdicts += "n"
		default:
			verdicts += "?"
		}
	}
	return verdicts, turn
}

// TestSense: each frame has its verdict within two, and an answer is of what was just said.
func TestSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := running(t, both, helpertest.Dialer("fake", f.work))
		synctest.Wait()
		l := s.Listen()
		if got, want := first(play(l, "..........######..")), "nnnnnnnnnvvvvvvvn?"; got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		for _, tt := range []struct {
			picture string
			want    float64
		}{
			{"##########.........", hear.Undecided},               // 180 ms of silence
			{"##########............", 0.09},                      // 200 ms, and of 400 ms half a second more
			{"##########......................", 0.11},            // and again
			{"##########......................#", hear.Undecided}, // the voice is back
		} {
			if _, got := play(l, tt.picture); math.Abs(got-tt.want) > 1e-3 {
				t.Errorf("%s: %v, want %v", tt.picture, got, tt.want)
			}
		}
		l.Close()
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.ended != 1 || len(f.heard) != 1 {
			t.Errorf("of %d streams %d have ended", len(f.heard), f.ended)
		}
	})
}

func first(s string, _ float64) string { return s }

// TestLateAnswer: an answer about a silence that is over counts for nothing.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.takes = 300 * time.Millisecond
		l := running(t, both, helpertest.Dialer("fake", f.work)).Listen()
		defer l.Close()
		synctest.Wait()
		if _, got := play(l, "##########............##########.........."); got != hear.Undecided {
			t.Errorf("in the second silence it is %v", got)
		}
	})
}

// TestLost: after frames that are missing a new stream begins, since a model must not take what was not
// next to each other for one sound.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		l := running(t, both, helpertest.Dialer("fake", f.work)).Listen()
		defer l.Close()
		synctest.Wait()
		play(l, "####")
		l.Step(&audio.Frame{Lost: 3}, 0, 0)
		if got, want := first(play(l, "##..")), "vvn?"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.heard) != 2 || f.ended != 1 {
			t.Errorf("there are %d streams, of which %d have ended", len(f.heard), f.ended)
		}
	})
}

// TestInterrupted: nothing is asked about somebody whose beginning the helper has not heard.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		l := running(t, both, helpertest.Dialer("fake", f.work)).Listen()
		defer l.Close()
		synctest.Wait()
		play(l, "##########")
		l.Step(&audio.Frame{Lost: 1}, 220*time.Millisecond, 0)
		for still := audio.Time; still < time.Second; still += audio.Time {
			if _, turn := l.Step(new(audio.Frame), 2*time.Second+still, still); turn != hear.Undecided {
				t.Fatalf("after %v of silence it is %v", still, turn)
			}
			time.Sleep(audio.Time)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.questions) != 0 {
			t.Errorf("%d questions were asked", len(f.questions))
		}
	})
}

// TestNobody: without a helper nothing is known, and nothing is kept.
func TestNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sense.New(sense.Config{Sets: both, Log: quiet})
		l := s.Listen()
		defer l.Close()
		sensed, turn := l.Step(new(audio.Frame), 0, 0)
		if sensed != (hear.Sensed{}) || !math.IsNaN(turn) {
			t.Errorf("%v, %v", sensed, turn)
		}
	})
}

// TestDeath: when the helper dies, nothing is known until the next one is there.
func TestDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, deaths := newFake(), 0
		dial := func() (helper.Link, error) {
			deaths++
			again := newFake()
			if deaths == 1 {
				again = f
			}
			return helpertest.New("fake", func(ctx context.Context, s *helper.Server) error {
				if deaths == 1 {
					time.AfterFunc(time.Second, func() { s.SendSound(1, []byte("lie")) })
				} else {
					time.Sleep(time.Second)
				}
				return again.work(ctx, s)
			}), nil
		}
		l := running(t, both, dial).Listen()
		defer l.Close()
		synctest.Wait()
		play(l, "########")
		time.Sleep(time.Second)
		if sensed, turn := l.Step(new(audio.Frame), 0, 0); sensed != (hear.Sensed{}) || !math.IsNaN(turn) {
			t.Errorf("after a death %v, %v", sensed, turn)
		}
		time.Sleep(2 * time.Second)
		if got, want := first(play(l, "....####..")), "nnnvvvvvn?"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestLies: a helper that says what it cannot know is killed for it.
func TestLies(t *testing.T) {
	probability := func(of uint32, p float32) []byte { return wire.Probability{Of: of, P: p}.Append(nil) }
	for name, lie := range map[string]struct {
		stream uint32
		data   []byte
	}{
		"of a stream that never was":     {99, probability(512, 0.5)},
		"of sound that it was not sent":  {1, probability(1<<20, 0.5)},
		"of no sound":                    {1, probability(0, 0.5)},
		"of a question that nobody asks": {1 | wire.Turn, probability(7, 0.5)},
		"no probability":                 {1, probability(512, 1.5)},
		"no number":                      {1, probability(512, float32(math.NaN()))},
		"too short":                      {1, []byte("abc")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := sense.New(sense.Config{Sets: both, Log: quiet, Dial: helpertest.Dialer("fake", func(ctx context.Context, s *helper.Server) error {
					time.AfterFunc(time.Second, func() { s.SendSound(lie.stream, lie.data) })
					return newFake().work(ctx, s)
				})})
				l := s.Listen()
				defer l.Close()
				ended := make(chan error, 1)
				go func() { ended <- s.Run(t.Context()) }()
				synctest.Wait()
				play(l, "####")
				time.Sleep(2 * time.Second)
				if err := <-ended; !errors.Is(err, helper.ErrProtocol) {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

// TestFault: what the helper says is wrong is what Run returns, and a helper that does not load is
// killed.
func TestFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fault := helpertest.Dialer("fake", func(_ context.Context, s *helper.Server) error {
			s.Send(wire.FaultName, helper.Fault{Text: "it is damaged", Cure: "fetch it", Lasting: true})
			return s.Controls(func(helper.Control) error { return nil })
		})
		err := sense.New(sense.Config{Sets: both, Log: quiet, Dial: fault}).Run(t.Context())
		if f, ok := errors.AsType[*helper.FaultError](err); !ok || f.Cure() != "fetch it" || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("it ended with %v", err)
		}
		slow := helpertest.Dialer("fake", func(_ context.Context, s *helper.Server) error {
			return s.Controls(func(helper.Control) error { return nil })
		})
		began := time.Now()
		err = sense.New(sense.Config{Sets: both, Log: quiet, Dial: slow}).Run(t.Context())
		if took := time.Since(began); err == nil || took < 20*time.Second || took > 22*time.Second {
			t.Errorf("it ended after %v with %v", took, err)
		}
	})
}

// TestFlood: frames that nobody takes are dropped, and sensing goes on behind them.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := running(t, both, helpertest.Dialer("fake", f.work))
		synctest.Wait()
		l := s.Listen()
		defer l.Close()
		for range 10000 {
			l.Step(new(audio.Frame), 0, 0)
		}
		time.Sleep(10 * time.Second)
		if got, want := first(play(l, "....####..")), "nnnvvvvvn?"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestNoAllocation: a listener allocates nothing, while its frames are taken and when nobody does.
func TestNoAllocation(t *testing.T) {
	s := running(t, both, helpertest.Dialer("fake", func(_ context.Context, s *helper.Server) error {
		return s.Controls(func(helper.Control) error { return s.Send(wire.ReadyName, nil) })
	}))
	l, f := s.Listen(), new(audio.Frame)
	defer l.Close()
	testkit.Await(t, testkit.Patience, "the helper", func() bool {
		_, turn := l.Step(f, 0, 0)
		return !math.IsNaN(turn)
	})
	if n := testing.AllocsPerRun(1000, func() { l.Step(f, time.Second, 400*time.Millisecond) }); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
