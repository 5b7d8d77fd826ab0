package see_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/see"
	"earshot/models/see/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A script tells what a fake helper does; a nil function means to behave honestly.
type script struct {
	open func(s *helper.Server, o wire.Open) error
	look func(s *helper.Server, l wire.Look) error
	beat func(s *helper.Server, n uint64) error // for each picture, two a second
}

// jpeg is the picture that an honest fake sends.
var jpeg = bytes.Repeat([]byte("a picture "), 20_000)

// send sends a picture as it should be.
func send(s *helper.Server, l wire.Look) error {
	err := s.Send(wire.PictureName, wire.Picture{
		Request: l.Request, Bytes: len(jpeg), Age: l.Age, Width: 640, Height: 480,
		Seen: []earshot.Seen{{What: earshot.Person, Box: earshot.Box{Width: 1, Height: 1}, Sure: 0.5}},
	})
	return errors.Join(err, chunks(s, l.Request, jpeg))
}

// chunks sends the bytes of a picture, and their end.
func chunks(s *helper.Server, request uint32, data []byte) error {
	var err error
	for chunk := range slices.Chunk(data, wire.MaxChunk) {
		err = errors.Join(err, s.SendSound(request, chunk))
	}
	return errors.Join(err, s.SendSound(request, nil))
}

func observe(s *helper.Server, n uint64) error {
	return s.Send(wire.ObservationName, wire.Observation{Number: n, Age: 100 * time.Millisecond, Width: 640, Height: 480, Brightness: 0.5})
}

// fake returns the dialer of a helper that gets a script for each life.
func fake(next func() script) helper.Dialer {
	return helpertest.Dialer("earshot-camera", func(ctx context.Context, s *helper.Server) error {
		do := next()
		if do.open == nil {
			do.open = func(s *helper.Server, _ wire.Open) error {
				return s.Send(wire.ReadyName, wire.Ready{Width: 640, Height: 480, Rate: 30})
			}
		}
		if do.look == nil {
			do.look = send
		}
		if do.beat == nil {
			do.beat = observe
		}
		// None of these goroutines is waited for here: they end when the pipes close, which happens
		// after this function has returned. The bubble of the test waits for all of them.
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ready := make(chan struct{})
		failed := make(chan error, 3)
		go s.Sounds(func(helper.Sound) error { return nil })
		go func() {
			failed <- s.Controls(func(c helper.Control) error {
				var o wire.Open
				var l wire.Look
				switch {
				case c.Name == wire.OpenName && c.Decode(&o) == nil:
					defer close(ready)
					return do.open(s, o)
				case c.Name == wire.LookName && c.Decode(&l) == nil:
					return do.look(s, l)
				}
				return fmt.Errorf("it was told %q", c.Name)
			})
		}()
		go func() {
			select {
			case <-ready:
			case <-ctx.Done():
				return
			}
			for n := uint64(1); ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Second / 2):
				}
				if err := do.beat(s, n); err != nil {
					failed <- err
					return
				}
			}
		}()
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		}
	})
}

// always returns the same script for each life.
func always(s script) func() script { return func() script { return s } }

// running runs a camera once. The function stop ends it, and returns the result of Run.
func running(t *testing.T, c *see.Camera) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func TestObservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []see.Observation
		var opened wire.Open
		began := time.Now()
		c := see.New(see.Config{
			Name: "door", Open: wire.Open{Source: "0", Width: 640, Masks: []earshot.Box{{Width: 0.5, Height: 1}}},
			On: func(o see.Observation) { all = append(all, o) },
			Dial: fake(always(script{
				open: func(s *helper.Server, o wire.Open) error {
					opened = o
					return s.Send(wire.ReadyName, wire.Ready{Width: 640, Height: 480})
				},
				beat: func(s *helper.Server, n uint64) error {
					age := []time.Duration{0, 300 * time.Millisecond, 0, 700 * time.Millisecond}[n%4]
					return s.Send(wire.ObservationName, wire.Observation{Number: 2 * n, Age: age, Width: 640, Height: 480})
				},
			})),
		})
		stop := running(t, c)
		time.Sleep(2*time.Second + time.Millisecond)
		if err := stop(); err != nil {
			t.Error(err)
		}
		var at []string
		for _, o := range all {
			at = append(at, fmt.Sprintf("%d@%v", o.Number, o.At.Sub(began)))
		}
		// the third was sent late; no time is before the previous one
		if got := strings.Join(at, " "); got != "2@200ms 4@1s 6@1s 8@2s" {
			t.Errorf("saw %s", got)
		}
		if opened.Source != "0" || len(opened.Masks) != 1 {
			t.Errorf("it was told to open %+v", opened)
		}
	})
}

func TestLook(t *testing.T) {
	for _, tt := range []struct {
		name string
		look func(s *helper.Server, l wire.Look) error
	}{
		{"as it should be", nil},
		{"the bytes first", func(s *helper.Server, l wire.Look) error {
			return errors.Join(chunks(s, l.Request, jpeg), s.Send(wire.PictureName, wire.Picture{Request: l.Request, Bytes: len(jpeg), Age: l.Age, Width: 640, Height: 480,
				Seen: []earshot.Seen{{What: earshot.Person, Box: earshot.Box{Width: 1, Height: 1}}}}))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []wire.Look
				look := tt.look
				if look == nil {
					look = send
				}
				c := see.New(see.Config{Name: "door", Dial: fake(always(script{look: func(s *helper.Server, l wire.Look) error {
					asked = append(asked, l)
					return look(s, l)
				}}))})
				if _, err := c.Look(t.Context(), time.Time{}, false); !errors.Is(err, see.ErrAway) {
					t.Errorf("before it runs: %v", err)
				}
				stop := running(t, c)
				synctest.Wait()
				now := time.Now()
				for _, at := range []time.Time{{}, now.Add(-3 * time.Second), now, now.Add(time.Hour)} {
					p, err := c.Look(t.Context(), at, true)
					if err != nil || !bytes.Equal(p.JPEG, jpeg) || p.Camera != "door" || p.Width != 640 || p.Height != 480 || len(p.Seen) != 1 || p.At.After(now) {
						t.Errorf("at %v: %v at %v, %v", at, p, p.At, err)
					}
				}
				if got := fmt.Sprint(asked); got != "[{1 0s true} {2 3s true} {3 1ns true} {4 1ns true}]" {
					t.Errorf("asked for %s", got)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
				if _, err := c.Look(t.Context(), time.Time{}, false); !errors.Is(err, see.ErrAway) {
					t.Errorf("after it ran: %v", err)
				}
			})
		})
	}
}

func TestNoSuchPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := see.New(see.Config{Dial: fake(always(script{look: func(s *helper.Server, l wire.Look) error {
			return s.Send(wire.PictureName, wire.Picture{Request: l.Request})
		}}))})
		stop := running(t, c)
		synctest.Wait()
		for range 2 * wire.MaxRequests {
			if _, err := c.Look(t.Context(), time.Now(), false); !errors.Is(err, see.ErrNone) {
				t.Error(err)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// looking asks for n pictures at once, and returns the sorted outcomes.
func looking(ctx context.Context, c *see.Camera, n int) []string {
	got := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			p, err := c.Look(ctx, time.Time{}, false)
			if got[i] = fmt.Sprint(err); err == nil {
				got[i] = fmt.Sprint(len(p.JPEG))
			}
		})
	}
	all.Wait()
	slices.Sort(got)
	return got
}

// TestSlow: a helper that never answers a Look is killed, and nobody waits longer than that.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := see.New(see.Config{Dial: fake(always(script{look: func(*helper.Server, wire.Look) error { return nil }}))})
		done := make(chan error, 1)
		go func() { done <- c.Run(t.Context()) }()
		synctest.Wait()
		began := time.Now()

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Look(short, time.Time{}, false); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("who waits for a second is told %v after %v", err, time.Since(began))
		}
		got := fmt.Sprint(looking(t.Context(), c, wire.MaxRequests)) // one place is still taken
		if want := fmt.Sprint([]string{see.ErrAway.Error(), see.ErrAway.Error(), see.ErrAway.Error(), see.ErrBusy.Error()}); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		if took := time.Since(began); took < see.Patience || took > see.Patience+time.Second {
			t.Errorf("after %v", took)
		}
		if err := <-done; err == nil || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("ended with %v", err)
		}
	})
}

// TestBusy: too many requests at once are refused, and all places can be used again.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := see.New(see.Config{Dial: fake(always(script{look: func(s *helper.Server, l wire.Look) error {
			time.Sleep(time.Second)
			return send(s, l)
		}}))})
		stop := running(t, c)
		synctest.Wait()
		for range 3 {
			got := strings.Join(looking(t.Context(), c, 6), ", ")
			if want := "200000, 200000, 200000, 200000, " + see.ErrBusy.Error() + ", " + see.ErrBusy.Error(); got != want {
				t.Errorf("got %s", got)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		do    script
		after time.Duration
		want  string // a part of the error; empty for none
		cure  string
		over  bool // whether it is over for good
	}{
		{"a recording is over", script{beat: func(s *helper.Server, n uint64) error {
			if n == 3 {
				return s.Send(wire.EndName, nil)
			}
			return observe(s, n)
		}}, 1500 * time.Millisecond, "", "", false},
		{"no such device", script{open: func(s *helper.Server, _ wire.Open) error {
			return s.Send(wire.FaultName, helper.Fault{Text: "there is no camera 0", Cure: "plug it in"})
		}}, 0, "there is no camera 0", "plug it in", false},
		{"no detectors", script{open: func(s *helper.Server, _ wire.Open) error {
			return s.Send(wire.FaultName, helper.Fault{Text: "opencv-data is missing", Lasting: true})
		}}, 0, "opencv-data is missing", "", true},
		{"never ready", script{open: func(*helper.Server, wire.Open) error { return nil }, beat: func(*helper.Server, uint64) error { return nil }}, 40 * time.Second, "did not answer", "", false},
		{"dies", script{beat: func(*helper.Server, uint64) error { return errors.New("crash") }}, 500 * time.Millisecond, "crash", "", false},
		{"hangs", script{beat: func(s *helper.Server, _ uint64) error {
			s.Guard(time.Second) // and is never done
			return nil
		}}, 0, helper.ErrHung.Error(), "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := see.New(see.Config{Dial: fake(always(tt.do))}).Run(t.Context())
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("ended with %v, want %q", err, tt.want)
				}
				curable, ok := errors.AsType[interface {
					error
					Cure() string
				}](err)
				if ok && curable.Cure() != tt.cure || !ok && tt.cure != "" || errors.Is(err, errors.ErrUnsupported) != tt.over {
					t.Errorf("the cure of %v is not %q, or it is over for good", err, tt.cure)
				}
				if took := time.Since(began); tt.after > 0 && (took < tt.after || took > tt.after+time.Second) {
					t.Errorf("after %v, want %v", took, tt.after)
				}
			})
		})
	}
}

func TestMissing(t *testing.T) {
	c := see.New(see.Config{Dial: func() (helper.Link, error) { return nil, &helper.MissingError{Name: "earshot-camera"} }})
	if err := c.Run(t.Context()); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "earshot-camera is not installed") {
		t.Error(err)
	}
}

// TestLies: a helper that says something impossible is killed for it, and whoever waits for a
// picture is told.
func TestLies(t *testing.T) {
	says := func(name string, body any) script {
		return script{look: func(s *helper.Server, l wire.Look) error { return s.Send(name, body) }}
	}
	picture := func(change func(*wire.Picture)) script {
		return script{look: func(s *helper.Server, l wire.Look) error {
			p := wire.Picture{Request: l.Request, Bytes: 100, Width: 4, Height: 3}
			change(&p)
			return s.Send(wire.PictureName, p)
		}}
	}
	bytesOf := func(head, sent int, chunk int) script {
		return script{look: func(s *helper.Server, l wire.Look) error {
			if head >= 0 {
				if err := s.Send(wire.PictureName, wire.Picture{Request: l.Request, Bytes: head, Width: 4, Height: 3}); err != nil {
					return err
				}
			}
			for data := range slices.Chunk(make([]byte, sent), chunk) {
				if err := s.SendSound(l.Request, data); err != nil {
					return err
				}
			}
			return s.SendSound(l.Request, nil)
		}}
	}
	for _, tt := range []struct {
		name string
		do   script
	}{
		{"a name that is none", says("hello again", nil)},
		{"ready twice", says(wire.ReadyName, wire.Ready{Width: 1, Height: 1})},
		{"a fault that is none", says(wire.FaultName, 3)},
		{"an observation that is none", says(wire.ObservationName, "x")},
		{"an observation without a number", says(wire.ObservationName, wire.Observation{Width: 4, Height: 3})},
		{"an observation of no size", says(wire.ObservationName, wire.Observation{Number: 9})},
		{"an observation of tomorrow", says(wire.ObservationName, wire.Observation{Number: 9, Width: 4, Height: 3, Age: -time.Hour})},
		{"more than everything moves", says(wire.ObservationName, wire.Observation{Number: 9, Width: 4, Height: 3, Motion: 1.5})},
		{"a thing that nobody knows", says(wire.ObservationName, wire.Observation{Number: 9, Width: 4, Height: 3, Seen: []earshot.Seen{{What: "ghost", Box: earshot.Box{Width: 1, Height: 1}}}})},
		{"a picture again", script{look: func(s *helper.Server, _ wire.Look) error { return errors.Join(observe(s, 9), observe(s, 9)) }}},
		{"a picture that nobody asked for", picture(func(p *wire.Picture) { p.Request += 7 })},
		{"a picture without end", picture(func(p *wire.Picture) { p.Bytes = earshot.MaxPicture + 1 })},
		{"a picture of less than nothing", picture(func(p *wire.Picture) { p.Bytes = -1 })},
		{"a picture of another age", picture(func(p *wire.Picture) { p.Age = time.Hour })},
		{"a picture of no size", picture(func(p *wire.Picture) { p.Width = 0 })},
		{"a picture told twice", script{look: func(s *helper.Server, l wire.Look) error {
			p := wire.Picture{Request: l.Request, Bytes: 100, Width: 4, Height: 3}
			return errors.Join(s.Send(wire.PictureName, p), s.Send(wire.PictureName, p))
		}}},
		{"fewer bytes than it said", bytesOf(100, 99, 99)},
		{"more bytes than it said", bytesOf(100, 101, 101)},
		{"bytes of no picture", bytesOf(0, 1, 1)},
		{"too much at once", bytesOf(wire.MaxChunk+1, wire.MaxChunk+1, wire.MaxChunk+1)},
		{"bytes without end", bytesOf(-1, earshot.MaxPicture+1, wire.MaxChunk)},
		{"bytes that nobody asked for", script{look: func(s *helper.Server, l wire.Look) error { return s.SendSound(l.Request+1, []byte{1}) }}},
		{"a picture before anybody asked", script{open: func(s *helper.Server, _ wire.Open) error {
			return errors.Join(s.Send(wire.ReadyName, wire.Ready{Width: 1, Height: 1}), s.Send(wire.PictureName, wire.Picture{Request: 1}))
		}}},
		{"an observation before it is ready", script{open: func(s *helper.Server, _ wire.Open) error { return observe(s, 1) }}},
		{"a camera of no size", script{open: func(s *helper.Server, _ wire.Open) error { return s.Send(wire.ReadyName, wire.Ready{}) }}},
		{"observations without end", script{look: func(s *helper.Server, _ wire.Look) error {
			for n := uint64(9); ; n++ {
				if err := observe(s, n); err != nil {
					return err
				}
			}
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := see.New(see.Config{Dial: fake(always(tt.do))})
				done := make(chan error, 1)
				go func() { done <- c.Run(t.Context()) }()
				synctest.Wait()
				_, err := c.Look(t.Context(), time.Time{}, false)
				if !errors.Is(err, see.ErrAway) && !(errors.Is(err, see.ErrNone) && tt.name == "bytes of no picture") {
					t.Errorf("who waits is told %v", err)
				}
				if err := <-done; !errors.Is(err, helper.ErrProtocol) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}

// TestAnotherSize: a camera may change the size of its pictures.
func TestAnotherSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		c := see.New(see.Config{On: func(o see.Observation) { sizes = append(sizes, o.Width) }, Dial: fake(always(script{beat: func(s *helper.Server, n uint64) error {
			return s.Send(wire.ObservationName, wire.Observation{Number: n, Width: 100 * int(n), Height: 480})
		}}))})
		stop := running(t, c)
		time.Sleep(1600 * time.Millisecond)
		if err := stop(); err != nil || fmt.Sprint(sizes) != "[100 200 300]" {
			t.Errorf("sizes %v, %v", sizes, err)
		}
	})
}

// TestDeaths: a helper dies again and again, at any moment. Whoever waits for a picture is told at
// once, and another camera misses nothing.
func TestDeaths(t *testing.T) {
	deaths := 20
	if os.Getenv("EARSHOT_PROOF") != "" {
		deaths = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		lives := 0
		frail := see.New(see.Config{Dial: fake(func() script {
			lives++
			last := 1 + random.IntN(4)
			how := random.IntN(5)
			return script{
				look: func(s *helper.Server, l wire.Look) error {
					switch how {
					case 0:
						return errors.New("dies of it")
					case 1: // in the middle of a picture
						return errors.Join(s.Send(wire.PictureName, wire.Picture{Request: l.Request, Bytes: 100, Width: 4, Height: 3}), s.SendSound(l.Request, []byte{1}), errors.New("dies"))
					case 2:
						return nil // never answers
					}
					return send(s, l)
				},
				beat: func(s *helper.Server, n uint64) error {
					if n < uint64(last) {
						return observe(s, n)
					}
					if how == 3 { // it hangs
						s.Guard(0)
						return nil
					}
					return errors.New("dies")
				},
			}
		})})
		seen := 0
		well := see.New(see.Config{On: func(see.Observation) { seen++ }, Dial: fake(always(script{}))})
		stopWell := running(t, well)
		synctest.Wait()
		began := time.Now()

		ctx, cancel := context.WithCancel(t.Context())
		var parts sync.WaitGroup
		told := make(map[string]int)
		parts.Go(func() {
			for ctx.Err() == nil {
				for _, s := range looking(ctx, frail, 3) {
					told[s]++
				}
				time.Sleep(200 * time.Millisecond)
			}
		})
		missed := 0
		parts.Go(func() {
			for ctx.Err() == nil {
				if p, err := well.Look(ctx, time.Time{}, false); (err != nil || len(p.JPEG) != len(jpeg)) && ctx.Err() == nil {
					missed++
				}
				time.Sleep(time.Second)
			}
		})
		for lives < deaths {
			if err := frail.Run(ctx); err == nil {
				t.Error("it died, and that is no error")
			}
			time.Sleep(100 * time.Millisecond)
		}
		lasted := time.Since(began)
		cancel()
		parts.Wait()
		if err := stopWell(); err != nil || missed > 0 || seen < int(lasted.Seconds()*2)-1 {
			t.Errorf("the other camera: %v; %d pictures missed, %d of %d observations", err, missed, seen, int(lasted.Seconds()*2))
		}
		if told[see.ErrAway.Error()] == 0 || told[fmt.Sprint(len(jpeg))] == 0 {
			t.Errorf("who waited was told %v", told)
		}
		t.Logf("%d deaths in %v: %v", lives, lasted, told)
	})
}
