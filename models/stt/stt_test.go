package stt_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/hear"
	"earshot/models/stt"
	"earshot/models/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// A script tells what a fake helper does with one message of sound.
type script func(s *helper.Server, m helper.Sound) error

// counting returns a script that understands as many words as an utterance has frames.
func counting() script {
	heard := make(map[uint32]int)
	return func(s *helper.Server, m helper.Sound) error {
		if m.Stream&wire.Spot != 0 {
			return nil
		}
		heard[m.Stream] += len(m.Data) / 2
		h := wire.Hypothesis{Stream: m.Stream, Text: earshot.Text(fmt.Sprintf("%d frames", heard[m.Stream]/audio.Samples))}
		if len(m.Data) == 0 {
			h.Confidence, h.Means = 0.5, []float32{float32(m.Stream)}
			return s.Send(wire.FinalName, h)
		}
		return nil
	}
}

// fake returns the dialer of a helper that loads at once and gets a script for each life.
func fake(opened func(wire.OpenHear), begin func() script) helper.Dialer {
	return helpertest.Dialer("earshot-speech hear", func(ctx context.Context, s *helper.Server) error {
		take := begin()
		var parts sync.WaitGroup
		defer parts.Wait()
		ready := make(chan struct{})
		parts.Go(func() {
			s.Controls(func(c helper.Control) error {
				var o wire.OpenHear
				if c.Name == wire.OpenName && c.Decode(&o) == nil {
					if opened != nil {
						opened(o)
					}
					close(ready)
				}
				return nil
			})
		})
		select {
		case <-ready:
		case <-ctx.Done():
			return nil
		}
		if err := s.Send(wire.ReadyName, nil); err != nil {
			return err
		}
		return s.Sounds(func(m helper.Sound) error { return take(s, m) })
	})
}

// A tape keeps the results of a session.
type tape struct {
	mu      sync.Mutex
	results []stt.Result
}

func (t *tape) on(r stt.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results = append(t.results, r)
}

// String returns them as text, a final one with an exclamation mark.
func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, r := range t.results {
		s := string(r.Text)
		if r.Err != nil {
			s = r.Err.Error()
		}
		if r.Final {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// feed feeds n frames.
func feed(s *stt.Session, n int) {
	for range n {
		s.Feed(&audio.Frame{})
	}
}

// live runs r again and again, until stop is called.
func live(t *testing.T, r *stt.Recogniser) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			r.Run(ctx)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

func TestOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stt.New(stt.Config{Dial: fake(nil, counting), Log: quiet})
		var first, second, third tape
		a := r.Begin(first.on) // before r runs
		feed(a, 7)
		defer live(t, r)()
		synctest.Wait()
		b := r.Begin(second.on) // before the first has ended
		feed(b, 5)
		c := r.Begin(third.on)
		feed(a, 3)
		c.End()
		b.End()
		synctest.Wait()
		if first.String()+second.String()+third.String() != "" {
			t.Errorf("heard %v, %v, %v before the first had ended", &first, &second, &third)
		}
		a.End()
		a.End()
		feed(a, 1)
		synctest.Wait()
		if first.String() != "10 frames!" || second.String() != "5 frames!" || third.String() != "0 frames!" {
			t.Errorf("understood %v, %v, %v", &first, &second, &third)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stt.New(stt.Config{Dial: fake(nil, counting), Log: quiet})
		defer live(t, r)()
		var first, second tape
		a := r.Begin(first.on)
		feed(a, 7)
		synctest.Wait()
		b := r.Begin(second.on)
		feed(b, 2)
		b.End()
		a.Cancel()
		a.End()
		feed(a, 1)
		a.Cancel()
		time.Sleep(time.Hour)
		if first.String() != "" || second.String() != "2 frames!" {
			t.Errorf("understood %v and %v", &first, &second)
		}
	})
}

// TestUseInside: a session may be used from within the callback that gets its result.
func TestUseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stt.New(stt.Config{Dial: fake(nil, counting), Log: quiet})
		defer live(t, r)()
		var second tape
		var a *stt.Session
		a = r.Begin(func(stt.Result) {
			a.Cancel()
			b := r.Begin(second.on)
			feed(b, 1)
			b.End()
		})
		a.End()
		synctest.Wait()
		if second.String() != "1 frames!" {
			t.Errorf("understood %v", &second)
		}
	})
}

// TestDeaths: whenever a helper dies, the next one hears the utterance from its beginning, and
// knows what the previous one had learnt.
func TestDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := 0
		var learnt []any
		r := stt.New(stt.Config{
			Log: quiet, Names: []string{"earshot"}, Phrases: []string{"stop"},
			Dial: fake(func(o wire.OpenHear) { learnt = append(learnt, o.Names, o.Phrases, o.Means) }, func() script {
				life++
				count, took, most := counting(), 0, 10
				if life%2 == 0 { // this one dies after the utterance
					most = 1000
				}
				return func(s *helper.Server, m helper.Sound) error {
					if took++; took > most {
						return io.ErrUnexpectedEOF
					}
					if len(m.Data) == 0 {
						most = 0
					}
					return count(s, m)
				}
			}),
		})
		defer live(t, r)()
		for range 12 {
			var heard tape
			s := r.Begin(heard.on)
			for range 500 { // 10 s
				feed(s, 1)
				time.Sleep(audio.Time)
			}
			s.End()
			time.Sleep(5 * time.Second)
			if heard.String() != "500 frames!" {
				t.Errorf("understood %v", &heard)
			}
		}
		if life < 20 {
			t.Errorf("it died %d times", life)
		}
		if got, want := fmt.Sprint(learnt[:3]...), "[earshot] [stop] []"; got != want {
			t.Errorf("the first was told %s", got)
		}
		if got := fmt.Sprint(learnt[len(learnt)-1]); got != "[1]" {
			t.Errorf("the last was told the means %s", got)
		}
	})
}

// TestAnUtteranceThatKills: an utterance that kills helpers again and again is given up, and those
// after it are heard.
func TestAnUtteranceThatKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stt.New(stt.Config{Log: quiet, Dial: fake(nil, func() script {
			count := counting()
			return func(s *helper.Server, m helper.Sound) error {
				if len(m.Data) > 0 && m.Data[0] == 13 {
					return io.ErrUnexpectedEOF
				}
				return count(s, m)
			}
		})})
		defer live(t, r)()
		var killer, good tape
		k := r.Begin(killer.on)
		var f audio.Frame
		f.PCM[0] = 13
		k.Feed(&f)
		k.End()
		g := r.Begin(good.on)
		feed(g, 5)
		g.End()
		time.Sleep(10 * time.Second)
		if killer.String() != stt.ErrKill.Error()+"!" || good.String() != "5 frames!" {
			t.Errorf("understood %v and %v", &killer, &good)
		}
	})
}

// TestHeardBeforeTheHelperWas: an utterance waits for a helper that starts while it is spoken, or
// soon after.
func TestHeardBeforeTheHelperWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stt.New(stt.Config{Log: quiet, Dial: fake(nil, counting)})
		time.Sleep(6 * time.Second)
		var heard tape
		s := r.Begin(heard.on)
		time.Sleep(100 * time.Millisecond)
		defer live(t, r)()
		feed(s, 5)
		s.End()
		time.Sleep(time.Second)
		if heard.String() != "5 frames!" {
			t.Errorf("understood %v", &heard)
		}
	})
}

func TestWithoutHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		missing := &helper.MissingError{Name: "earshot-speech"}
		r := stt.New(stt.Config{Log: quiet, Dial: func() (helper.Link, error) { return nil, missing }})
		if err := r.Run(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("it ran with %v", err)
		}
		for _, wait := range []time.Duration{5 * time.Second, 0} { // the second does not wait
			began := time.Now()
			var heard tape
			var told time.Duration
			s := r.Begin(func(res stt.Result) { told = time.Since(began); heard.on(res) })
			feed(s, 10)
			s.End()
			time.Sleep(time.Minute)
			if got := heard.String(); got != stt.ErrAway.Error()+"!" || told != wait {
				t.Errorf("heard %v after %v", &heard, told)
			}
		}
	})
}

// TestHelperThatIsAtFault: whatever a faulty helper does, each session ends once, and the helper is
// not kept.
func TestHelperThatIsAtFault(t *testing.T) {
	final := func(stream uint32) wire.Hypothesis { return wire.Hypothesis{Stream: stream, Text: "a lie"} }
	for _, tt := range []struct {
		name string
		does script
		want string // the outcome of the session
		err  error  // the error of Run
	}{
		{"hangs", func(s *helper.Server, m helper.Sound) error { return nil }, stt.ErrBusy.Error() + "!", nil},
		{"answers too early", func(s *helper.Server, m helper.Sound) error { return s.Send(wire.FinalName, final(1)) }, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"answers another", func(s *helper.Server, m helper.Sound) error { return s.Send(wire.FinalName, final(9)) }, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"knows too much", func(s *helper.Server, m helper.Sound) error {
			return s.Send(wire.FinalName, wire.Hypothesis{Stream: 1, Confidence: 7})
		}, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"floods with results", func(s *helper.Server, m helper.Sound) error {
			for s.Send(wire.PartialName, final(1)) == nil {
			}
			return io.EOF
		}, "", helper.ErrProtocol},
		{"floods with old results", func(s *helper.Server, m helper.Sound) error {
			for s.Send(wire.PartialName, final(0)) == nil {
			}
			return io.EOF
		}, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"finds what it has not heard", func(s *helper.Server, m helper.Sound) error {
			return s.Send(wire.PhraseName, wire.Phrase{Stream: 1 | wire.Spot, Text: "stop"})
		}, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"finds nothing", func(s *helper.Server, m helper.Sound) error {
			return s.Send(wire.PhraseName, wire.Phrase{Stream: 1})
		}, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"sends sound", func(s *helper.Server, m helper.Sound) error { return s.SendSound(1, nil) }, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"is ready twice", func(s *helper.Server, m helper.Sound) error { return s.Send(wire.ReadyName, nil) }, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"says what we do not know", func(s *helper.Server, m helper.Sound) error { return s.Send("sing", nil) }, stt.ErrAway.Error() + "!", helper.ErrProtocol},
		{"has a fault", func(s *helper.Server, m helper.Sound) error {
			return s.Send(wire.FaultName, helper.Fault{Text: "no model", Cure: "get one", Lasting: true})
		}, stt.ErrAway.Error() + "!", errors.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := stt.New(stt.Config{Dial: fake(nil, func() script { return tt.does }), Log: quiet})
				var heard tape
				s := r.Begin(heard.on)
				feed(s, 10)
				ended := make(chan error, 1)
				go func() { ended <- r.Run(t.Context()) }()
				synctest.Wait()
				s.End()
				err := <-ended
				time.Sleep(time.Hour)
				if tt.err != nil && !errors.Is(err, tt.err) || err == nil {
					t.Errorf("it ended with %v, want %v", err, tt.err)
				}
				got := heard.String()
				if tt.want == "" {
					got, tt.want = got[strings.LastIndex(got, ", ")+2:], stt.ErrAway.Error()+"!"
				}
				if got != tt.want {
					t.Errorf("heard %s, want %s", got, tt.want)
				}
				if f, ok := errors.AsType[*helper.FaultError](err); ok && f.Cure() != "get one" {
					t.Errorf("the cure is %q", f.Cure())
				}
			})
		})
	}
}

// TestNeverReady: a helper that lives and never loads its models is killed.
func TestNeverReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := stt.New(stt.Config{Log: quiet, Dial: helpertest.Dialer("lazy", func(ctx context.Context, s *helper.Server) error {
			return s.Controls(func(helper.Control) error { return nil })
		})})
		err := r.Run(t.Context())
		if err == nil || time.Since(began) != 20*time.Second {
			t.Errorf("it ended after %v with %v", time.Since(began), err)
		}
	})
}

// A trialLink tries a model for a time before it starts the helper.
type trialLink struct{ helper.Link }

const trial = time.Minute

func (l trialLink) Send(name string, body any) error {
	if name == wire.OpenName {
		time.Sleep(trial)
	}
	return l.Link.Send(name, body)
}

// TestTrial: a helper that starts late, since its model is tried first, has as long to load as any
// other, and is killed if it takes longer. What is said meanwhile is told that there is no
// recogniser yet; what is said at the end is heard.
func TestTrial(t *testing.T) {
	for _, tt := range []struct {
		loads time.Duration
		dies  bool
	}{{19 * time.Second, false}, {21 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			dial := fake(func(wire.OpenHear) { time.Sleep(tt.loads) }, counting)
			r := stt.New(stt.Config{Log: quiet, Dial: func() (helper.Link, error) {
				l, err := dial()
				return trialLink{l}, err
			}})
			began := time.Now()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			var early, late tape
			said := func(on *tape) {
				s := r.Begin(on.on)
				feed(s, 50)
				s.End()
			}
			said(&early)
			time.Sleep(trial + time.Second) // now it loads
			said(&late)
			if time.Sleep(tt.loads); early.String() != stt.ErrAway.Error()+"!" {
				t.Errorf("what was said during the trial: %q", early.String())
			}
			if tt.dies {
				if err := <-ended; err == nil || time.Since(began) < trial+20*time.Second {
					t.Errorf("it ended after %v with %v", time.Since(began), err)
				}
			} else if late.String() != "50 frames!" {
				t.Errorf("what was said while it loaded: %q", late.String())
			}
			stop()
			if !tt.dies {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestTooMany: the queue is bounded; one session too many is told so at once.
func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stt.New(stt.Config{Dial: fake(nil, counting), Log: quiet})
		defer live(t, r)()
		synctest.Wait()
		var last tape
		first := r.Begin(new(tape).on)
		for range 7 {
			r.Begin(new(tape).on).End()
		}
		r.Begin(last.on)
		synctest.Wait()
		if last.String() != stt.ErrBusy.Error()+"!" {
			t.Errorf("the ninth heard %v", &last)
		}
		first.End()
		time.Sleep(time.Minute)
	})
}

// TestLongest: the longest utterance that an ear makes is heard completely; of a longer one, its
// beginning.
func TestLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hear.DefaultConfig()
		c.PreRoll, c.Longest = 1, 30
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		r := stt.New(stt.Config{Dial: fake(nil, counting), Log: quiet})
		defer live(t, r)()
		var heard tape
		s := r.Begin(heard.on)
		frames := int((c.PreRoll + c.Longest).Duration() / audio.Time)
		feed(s, frames+500)
		s.End()
		synctest.Wait()
		if want := fmt.Sprintf("%d frames!", frames); heard.String() != want {
			t.Errorf("understood %q, want %q", heard.String(), want)
		}
	})
}

// TestSpot: a phrase is found at the time of the frame in which it ends, and a gap begins a new
// stream.
func TestSpot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var found []string
		began := time.Now()
		heard := make(map[uint32]int)
		r := stt.New(stt.Config{
			Log: quiet, Phrases: []string{"stop"},
			Dial: fake(nil, func() script {
				return func(s *helper.Server, m helper.Sound) error {
					n := heard[m.Stream] + 1
					heard[m.Stream] = n
					if n != 10 {
						return nil
					}
					return s.Send(wire.PhraseName, wire.Phrase{Stream: m.Stream, Text: "stop", Sample: n * audio.Samples})
				}
			}),
			On: func(p stt.Phrase) { found = append(found, fmt.Sprint(string(p.Text), " ", p.At.Sub(began))) },
		})
		defer live(t, r)()
		synctest.Wait()
		spot := func(after time.Duration, n int) {
			for i := range n {
				r.Spot(&audio.Frame{At: began.Add(after + time.Duration(i)*audio.Time)})
				synctest.Wait()
			}
		}
		spot(0, 15)
		spot(300*time.Millisecond, 15) // without a gap
		spot(time.Minute, 9)
		spot(2*time.Minute, 10)
		if got, want := fmt.Sprint(found), "[stop 200ms stop 2m0.2s]"; got != want {
			t.Errorf("found %s, want %s", got, want)
		}
		if len(heard) != 3 {
			t.Errorf("there were %d streams, want 3", len(heard))
		}
	})
}

// TestSpotNeverBlocks: with a helper that does not listen, Spot drops the oldest frames
// instead of waiting.
func TestSpotNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var streams []uint32
		stuck := make(chan struct{})
		r := stt.New(stt.Config{Log: quiet, Dial: fake(nil, func() script {
			return func(_ *helper.Server, m helper.Sound) error {
				<-stuck
				streams = append(streams, m.Stream&^wire.Spot)
				return nil
			}
		})})
		defer live(t, r)()
		synctest.Wait()
		at := time.Now()
		for range 1000 {
			r.Spot(&audio.Frame{At: at})
			at = at.Add(audio.Time)
			synctest.Wait()
		}
		synctest.Wait()
		close(stuck)
		synctest.Wait()
		if n := len(streams); n < 50 || n > 53 || streams[0] != 1 || streams[n-1] != 2 {
			t.Errorf("%d frames came, in streams %v", n, streams)
		}
	})
}

// TestHotPath: a frame allocates nothing.
func TestHotPath(t *testing.T) {
	r := stt.New(stt.Config{Log: quiet})
	s := r.Begin(func(stt.Result) {})
	defer s.Cancel()
	f := new(audio.Frame)
	if n := testing.AllocsPerRun(1000, func() { s.Feed(f); r.Spot(f) }); n != 0 {
		t.Errorf("a frame costs %v allocations", n)
	}
}

// TestSlowLoad: the first words wait for a helper that is slow to load, and are told if it takes
// too long.
func TestSlowLoad(t *testing.T) {
	for _, tt := range []struct {
		takes, told time.Duration
		want        string
	}{
		{8 * time.Second, 8 * time.Second, "50 frames!"},
		{19 * time.Second, 19 * time.Second, "50 frames!"},
		{time.Hour, 20 * time.Second, stt.ErrAway.Error() + "!"},
	} {
		synctest.Test(t, func(t *testing.T) {
			stopped, stopAll := context.WithCancel(t.Context())
			defer stopAll()
			r := stt.New(stt.Config{Log: quiet, Dial: fake(func(wire.OpenHear) {
				select {
				case <-time.After(tt.takes):
				case <-stopped.Done():
				}
			}, counting)})
			began := time.Now()
			stop := live(t, r)
			time.Sleep(time.Second)
			var said tape
			told := make(chan time.Duration, 1)
			s := r.Begin(func(res stt.Result) { said.on(res); told <- time.Since(began) })
			feed(s, 50)
			s.End()
			if took := <-told; said.String() != tt.want || took != tt.told {
				t.Errorf("a helper that loads for %v: told %q after %v, want %q after %v", tt.takes, said.String(), took, tt.want, tt.told)
			}
			stopAll()
			stop()
		})
	}
}
