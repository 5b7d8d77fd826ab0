package helper_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/helper"
)

// A daemon is the other end of a helper, in memory. It records what the helper says.
type daemon struct {
	*helper.Conn
	far    *helper.Conn
	inputs []io.Closer // the helper's
	all    []io.Closer

	mu   sync.Mutex
	said []string
}

func newDaemon() *daemon {
	controlR, controlW := io.Pipe()
	replyR, replyW := io.Pipe()
	soundR, soundW := io.Pipe()
	backR, backW := io.Pipe()
	return &daemon{
		Conn:   helper.NewConn(replyR, controlW, backR, soundW),
		far:    helper.NewConn(controlR, replyW, soundR, backW),
		inputs: []io.Closer{controlW, soundW},
		all:    []io.Closer{controlW, soundW, replyR, backR},
	}
}

// listen records until the returned function is called.
func (d *daemon) listen() (stop func()) {
	var parts sync.WaitGroup
	parts.Go(func() { d.Sounds(func(helper.Sound) error { return nil }) })
	parts.Go(func() {
		d.Controls(func(c helper.Control) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.said = append(d.said, c.Name)
			return nil
		})
	})
	return func() {
		shut(d.all)
		parts.Wait()
	}
}

func shut(pipes []io.Closer) {
	for _, p := range pipes {
		p.Close()
	}
}

// last returns what was said since the last call.
func (d *daemon) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := d.said
	d.said = nil
	return strings.Join(said, " ")
}

// obey reads both pipes and ignores what they bring.
func obey(ctx context.Context, s *helper.Server) error {
	var g errgroup.Group
	g.Go(func() error { return s.Controls(func(helper.Control) error { return nil }) })
	g.Go(func() error { return s.Sounds(func(helper.Sound) error { return nil }) })
	return g.Wait()
}

// TestServeEnds: a helper ends when its input ends, when it is told to, when its daemon is gone,
// and when its work is over.
func TestServeEnds(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		work func(context.Context, *helper.Server) error
		end  func(d *daemon, stop context.CancelFunc)
		late bool // only the next beat notices it
		want error
	}{
		{"input ends", obey, func(d *daemon, _ context.CancelFunc) { shut(d.inputs) }, false, nil},
		{"told to", obey, func(_ *daemon, stop context.CancelFunc) { stop() }, false, nil},
		{"daemon gone", waitForEnd, func(d *daemon, _ context.CancelFunc) { shut(d.all) }, true, nil},
		{"garbage", obey, func(d *daemon, _ context.CancelFunc) { d.Send("", nil) }, false, helper.ErrProtocol},
		{"work over", func(context.Context, *helper.Server) error { return nil }, nil, false, nil},
		{"work broken", func(context.Context, *helper.Server) error { return broken }, nil, false, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon()
				defer d.listen()()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				began := time.Now()
				if tt.end != nil {
					time.AfterFunc(10*helper.HastyBeat()+1, func() { tt.end(d, stop) })
				}
				if err := helper.Serve(ctx, "x", d.far, tt.work); !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				want := 10*helper.HastyBeat() + 1
				switch {
				case tt.end == nil:
					want = 0
				case tt.late:
					want = 11 * helper.HastyBeat()
				}
				if took := time.Since(began); took != want {
					t.Errorf("after %v, want %v", took, want)
				}
			})
		})
	}
}

func waitForEnd(ctx context.Context, _ *helper.Server) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestServeBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon()
		defer d.listen()()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		running.Go(func() { helper.Serve(ctx, "x", d.far, obey) })
		time.Sleep(3*helper.HastyBeat() + 1)
		synctest.Wait()
		if got := d.last(); got != "hello beat beat beat" {
			t.Errorf("said %q", got)
		}
	})
}

// TestGuard: while guarded work takes longer than its limit, the helper says stuck in place of
// beat.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon()
		defer d.listen()()
		beat := helper.HastyBeat()
		err := helper.Serve(t.Context(), "x", d.far, func(_ context.Context, s *helper.Server) error {
			time.Sleep(beat / 2)
			for _, tt := range []struct{ limits, takes []time.Duration }{
				{[]time.Duration{beat}, []time.Duration{3 * beat}},
				{[]time.Duration{beat, 5 * beat}, []time.Duration{0, 3 * beat}},
				{[]time.Duration{5 * beat, beat}, []time.Duration{0, 3 * beat}},
			} {
				var done []func()
				for _, limit := range tt.limits {
					done = append(done, s.Guard(limit))
				}
				for i, d := range done {
					time.Sleep(tt.takes[i])
					d()
				}
			}
			time.Sleep(beat)
			return nil
		})
		// Three rounds of three beats: beyond the limit from the second beat on; never beyond it;
		// beyond it again.
		want := "hello beat stuck stuck beat beat beat beat stuck stuck beat"
		if got := d.last(); err != nil || got != want {
			t.Errorf("said %q, %v, want %q", got, err, want)
		}
	})
}

func TestGuardAllocatesNothing(t *testing.T) {
	s := new(helper.Server)
	s.Guard(time.Hour)()
	if n := testing.AllocsPerRun(100, func() { s.Guard(time.Hour)() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLinger: the process exits when its daemon is gone, even if its work goes on, and when its
// work is over, even if its libraries go on.
func TestLinger(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(d *daemon, release chan struct{})
	}{
		{"daemon gone", func(d *daemon, _ chan struct{}) { shut(d.all) }},
		{"work over", func(_ *daemon, release chan struct{}) { close(release) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon()
				defer d.listen()()
				exited, release := make(chan time.Time, 2), make(chan struct{})
				d.far.OnExit(func(code int) {
					if code != 1 {
						t.Errorf("exit code %d", code)
					}
					exited <- time.Now()
				})
				var running sync.WaitGroup
				running.Go(func() {
					helper.Serve(t.Context(), "x", d.far, func(context.Context, *helper.Server) error {
						<-release
						return nil
					})
				})
				synctest.Wait()
				began := time.Now()
				tt.end(d, release)
				took := (<-exited).Sub(began)
				if most := helper.HastyBeat() + helper.HastyLinger(); took < helper.HastyLinger() || took > most {
					t.Errorf("took %v, at most %v", took, most)
				}
				if tt.name == "daemon gone" {
					close(release)
				}
				running.Wait()
				time.Sleep(helper.HastyLinger()) // lets the second timer fire if the work ended
			})
		})
	}
}

// FuzzServe: whatever is sent to a helper, it ends well or with a protocol error.
func FuzzServe(f *testing.F) {
	f.Add(message(`{"name":"open"}`), message("1234sound"))
	f.Add([]byte{255, 255, 255, 255}, []byte{1})
	f.Fuzz(func(t *testing.T, control, sound []byte) {
		c := receiver(bytes.NewReader(control), bytes.NewReader(sound))
		if err := helper.Serve(t.Context(), "fuzz", c, obey); err != nil && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("error %v", err)
		}
	})
}

func TestServeToNobody(t *testing.T) {
	d := newDaemon()
	shut(d.all)
	err := helper.Serve(t.Context(), "x", d.far, func(context.Context, *helper.Server) error {
		t.Error("worked for nobody")
		return nil
	})
	if !errors.Is(err, helper.ErrGone) {
		t.Errorf("error %v", err)
	}
}

func TestCredit(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   string // a letter takes up to 3; a digit grants that many, to at most 5 in all
		want []int  // what each take got, 0 if it would have waited
	}{
		{"none yet", "t", []int{0}},
		{"some", "2tt", []int{2, 0}},
		{"enough", "5tt", []int{3, 2}},
		{"no more than allowed", "99tt", []int{3, 2}},
		{"in parts", "1t2t", []int{1, 2}},
		{"nothing granted", "0t", []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			over, stop := context.WithCancel(t.Context())
			stop()
			var c helper.Credit
			var got []int
			for _, r := range tt.do {
				if r != 't' {
					c.Grant(int(r-'0'), 5)
					continue
				}
				n, err := c.Take(over, 3)
				if (n == 0) != (err != nil) {
					t.Errorf("took %d, %v", n, err)
				}
				got = append(got, n)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q took %v, want %v", tt.do, got, tt.want)
			}
		})
	}
}

// TestCreditIsShared: when several takers share the credit, all that is granted is taken, no taker
// sleeps while there is something to take, and none is left once it is over.
func TestCreditIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var c helper.Credit
		var mu sync.Mutex
		var takers sync.WaitGroup
		taken := 0
		for range 5 {
			takers.Go(func() {
				for {
					n, err := c.Take(ctx, 2)
					if err != nil {
						return
					}
					mu.Lock()
					taken += n
					mu.Unlock()
				}
			})
		}
		for i := range 10 {
			c.Grant(7, 7)
			synctest.Wait()
			if left := c.Left(); taken != 7*(i+1) || left != 0 {
				t.Errorf("%d were taken and %d left of %d", taken, left, 7*(i+1))
			}
		}
		stop()
		takers.Wait()
	})
}

func TestCreditAllocatesNothing(t *testing.T) {
	var c helper.Credit
	c.Grant(1, 1)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := c.Take(t.Context(), 1); err != nil {
			t.Error(err)
		}
		c.Grant(1, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
