package voice

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A house is a main gateway and a voice server that do what a test says. It replaces the sockets,
// which a bubble cannot have; the loopback tests have them.
type house struct {
	c     *Call
	began time.Time

	// answer is what the main gateway does when it is asked for a channel; link is what becomes of
	// connection n.
	answer func(h *house, n int, channel uint64)
	link   func(h *house, ctx context.Context, n int, l *link) error

	back time.Duration // when the main gateway is back; 0 if it is never away

	mu    sync.Mutex
	moves int
	log   []string
}

// A socket takes everything, and says nothing.
type socket struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (s *socket) Write(b []byte) (int, error) { return len(b), nil }
func (s *socket) Read([]byte) (int, error)    { <-s.closed; return 0, net.ErrClosed }
func (s *socket) Close() error                { s.once.Do(func() { close(s.closed) }); return nil }

// note records what happens, with the time.
func (h *house) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := time.Since(h.began).Round(100 * time.Millisecond)
	h.log = append(h.log, fmt.Sprintf("%v ", at)+fmt.Sprintf(format, args...))
}

func (h *house) Move(_ context.Context, _, channel uint64, _, _ bool) error {
	h.note("move %d", channel)
	h.mu.Lock()
	h.moves++
	n := h.moves
	h.mu.Unlock()
	if h.answer != nil && channel != 0 {
		go h.answer(h, n, channel)
	}
	return nil
}

// Away implements [Absent].
func (h *house) Away() bool { return time.Since(h.began) < h.back }

// letIn is the answer of a main gateway that works.
func letIn(h *house, n int, channel uint64) {
	h.c.State(channel, "s")
	h.c.Server(fmt.Sprint("t", n), "e:443")
}

// open is a connection that works, until lasts has passed.
func open(h *house, ctx context.Context, l *link, lasts time.Duration, then error) error {
	if !l.resume {
		l.media.conn = &socket{closed: make(chan struct{})}
		if err := l.media.begin(modeGCM, make([]byte, keyLen)); err != nil {
			return err
		}
	}
	l.up()
	return wait(ctx, lasts, then)
}

func wait(ctx context.Context, d time.Duration, then error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return then
	}
}

// run runs a call in a house, for at most the time within.
func (h *house) run(t *testing.T, within time.Duration) error {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	h.c = New(Config{Place: Place{1, 7, 99}, Line: h})
	h.began = time.Now()
	links := 0
	h.c.connect = func(ctx context.Context, l *link) error {
		links++
		how := "identify"
		if l.resume {
			how = fmt.Sprintf("resume from %d", l.skip)
		}
		h.note("%s %d %s %s", how, l.ticket.channel, l.ticket.token, l.ticket.endpoint)
		return h.link(h, ctx, links, l)
	}
	return h.c.Run(ctx)
}

const forever = 1000 * time.Hour

func TestCall(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(h *house, n int, channel uint64)
		link   func(h *house, ctx context.Context, n int, l *link) error
		back   time.Duration // when the main gateway is back
		within time.Duration // 0 means 60 s
		code   int           // code of the end; -1 for none
		why    string
		want   string
	}{
		{
			name:   "joins and leaves",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				return open(h, ctx, l, forever, nil)
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 1m0s move 0",
		},
		{
			name: "is not let in",
			why:  "lack the right",
			want: "0s move 7, 15s move 0",
		},
		{
			name:   "a session that is no longer valid is asked for anew",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if n == 1 {
					return open(h, ctx, l, 5*time.Second, &closed{code: 4006})
				}
				return open(h, ctx, l, forever, nil)
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 5s move 7, 5s identify 7 t2 e:443, 1m0s move 0",
		},
		{
			name:   "after a crash of the server the session is resumed",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				l.seq.Store(40 + l.seq.Load() + 1)
				if n < 3 {
					return open(h, ctx, l, 5*time.Second, &closed{code: 4015})
				}
				return open(h, ctx, l, forever, nil)
			},
			code: -1, within: 20 * time.Second,
			want: "0s move 7, 0s identify 7 t1 e:443, 5s resume from 40 7 t1 e:443, 11s resume from 81 7 t1 e:443, 20s move 0",
		},
		{
			name:   "if resuming is refused it is asked for anew",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				switch n {
				case 1:
					return open(h, ctx, l, 5*time.Second, errors.New("connection reset"))
				case 2:
					return &closed{code: 4006}
				}
				return open(h, ctx, l, forever, nil)
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 5s resume from -1 7 t1 e:443, 6s move 7, 6s identify 7 t2 e:443, 1m0s move 0",
		},
		{
			name:   "removed by somebody",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				time.AfterFunc(5100*time.Millisecond, func() { h.c.State(0, "s") })
				return open(h, ctx, l, 5*time.Second, &closed{code: 4014})
			},
			code: 4014, why: "removed the bot",
			want: "0s move 7, 0s identify 7 t1 e:443",
		},
		{
			name:   "removed, said by the main gateway alone",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				time.AfterFunc(5*time.Second, func() { h.c.State(0, "s") })
				return open(h, ctx, l, forever, nil)
			},
			code: 4014, why: "removed the bot",
			want: "0s move 7, 0s identify 7 t1 e:443",
		},
		{
			name:   "closed as for a move, and nothing comes",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				return open(h, ctx, l, 5*time.Second, &closed{code: 4022})
			},
			code: 4022, why: "ended the call",
			want: "0s move 7, 0s identify 7 t1 e:443, 10s move 0",
		},
		{
			name:   "closed since the main gateway's session is over, which begins anew",
			answer: letIn,
			back:   14 * time.Second,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if n > 1 {
					return open(h, ctx, l, forever, nil)
				}
				time.AfterFunc(14500*time.Millisecond, func() {
					h.c.State(7, "s2")
					h.c.Server("t2", "e:443")
				})
				return open(h, ctx, l, 5*time.Second, &closed{code: 4014})
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 14.5s identify 7 t2 e:443, 1m0s move 0",
		},
		{
			name:   "closed while the main gateway is away, which does not come back",
			answer: letIn,
			back:   time.Hour,
			within: 10 * time.Minute,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				return open(h, ctx, l, 5*time.Second, &closed{code: 4014})
			},
			code: 0, why: "does not answer the request",
			want: "0s move 7, 0s identify 7 t1 e:443, 1m10s move 0",
		},
		{
			name:   "moved by somebody",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if n > 1 {
					return open(h, ctx, l, forever, nil)
				}
				time.AfterFunc(8*time.Second, func() {
					h.c.State(8, "s")
					h.c.Server("u", "f:443")
				})
				return open(h, ctx, l, 5*time.Second, &closed{code: 4014})
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 8s identify 8 u f:443, 1m0s move 0",
		},
		{
			name:   "another region, which takes its time",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if n > 1 {
					return open(h, ctx, l, forever, nil)
				}
				time.AfterFunc(4*time.Second, func() { h.c.Server("t1", "") })
				time.AfterFunc(20*time.Second, func() { h.c.Server("t1", "f:443") })
				return open(h, ctx, l, 5*time.Second, &closed{code: 4014})
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 20s identify 7 t1 f:443, 1m0s move 0",
		},
		{
			name:   "another region while the old one is still there",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if n == 1 {
					time.AfterFunc(4*time.Second, func() { h.c.Server("v", "f:443") })
				}
				return open(h, ctx, l, forever, nil)
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 4s identify 7 v f:443, 1m0s move 0",
		},
		{
			name:   "what cannot be mended is said",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				return &closed{code: 4017}
			},
			code: 4017, why: "newer end-to-end encryption",
			want: "0s move 7, 0s identify 7 t1 e:443, 0s move 0",
		},
		{
			name:   "joined and deaf",
			answer: letIn,
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if n > 1 {
					return open(h, ctx, l, forever, nil)
				}
				l.speaks(5, true)
				go func() {
					time.Sleep(8 * time.Second)
					if s := h.c.Status(); !strings.Contains(s.Deaf, "UDP") {
						h.note("not deaf: %q", s.Deaf)
					}
				}()
				if err := open(h, ctx, l, 0, nil); err != nil {
					return err
				}
				return <-l.fault
			},
			code: -1,
			want: "0s move 7, 0s identify 7 t1 e:443, 10s move 7, 10s identify 7 t2 e:443, 1m0s move 0",
		},
		{
			name: "credentials that come while the old ones are refused",
			answer: func(h *house, n int, channel uint64) {
				h.c.Server("old", "e:443")
				h.c.State(channel, "s")
				time.Sleep(2 * time.Second)
				h.c.Server("new", "e:443")
			},
			link: func(h *house, ctx context.Context, n int, l *link) error {
				if l.ticket.token == "old" {
					time.Sleep(3 * time.Second)
					return &closed{code: 4004}
				}
				return open(h, ctx, l, forever, nil)
			},
			code: -1,
			want: "0s move 7, 0s identify 7 old e:443, 3s identify 7 new e:443, 1m0s move 0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &house{answer: tt.answer, link: tt.link, back: tt.back}
				if tt.within == 0 {
					tt.within = time.Minute
				}
				err := h.run(t, tt.within)
				var end *Ended
				switch {
				case tt.code < 0 && err != nil:
					t.Errorf("ended: %v", err)
				case tt.code >= 0 && (!errors.As(err, &end) || end.Code != tt.code || !strings.Contains(end.Why, tt.why)):
					t.Errorf("ended with %v, want %d %q", err, tt.code, tt.why)
				}
				got := strings.Join(h.log, ", ")
				for _, pause := range []string{"5.8s", "5.9s", "6.1s", "6.2s", "6.3s"} { // 1 s, plus or minus a quarter
					got = strings.ReplaceAll(got, ", "+pause, ", 6s")
				}
				for _, pause := range []string{"10.8s", "10.9s", "11.1s", "11.2s", "11.3s"} {
					got = strings.ReplaceAll(got, ", "+pause, ", 11s")
				}
				if got != tt.want {
					t.Errorf("\n got %s\nwant %s", got, tt.want)
				}
				if s := h.c.Status(); s.Phase != "left" {
					t.Errorf("phase %q", s.Phase)
				}
			})
		})
	}
}

// TestCallNeverHammers: however a voice server misbehaves, it is not asked more often than is
// polite.
func TestCallNeverHammers(t *testing.T) {
	for _, code := range []int{0, 4006, 4015, 4001} {
		for _, up := range []bool{true, false} {
			t.Run(fmt.Sprint(code, up), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := &house{answer: letIn}
					h.link = func(h *house, ctx context.Context, n int, l *link) error {
						if up || n == 1 {
							return open(h, ctx, l, time.Millisecond, &closed{code: code})
						}
						return &closed{code: code}
					}
					if err := h.run(t, 2*time.Minute); err != nil {
						t.Fatal(err)
					}
					if n := len(h.log); n < 8 || n > 25 {
						t.Errorf("%d things happened in 2 minutes", n)
					}
				})
			})
		}
	}
}

func TestCallThatNeverBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{answer: letIn}
		h.link = func(h *house, ctx context.Context, n int, l *link) error { return errors.New("no route to host") }
		err := h.run(t, time.Hour)
		if err == nil || !strings.Contains(err.Error(), "cannot be reached: no route to host") {
			t.Errorf("ended: %v", err)
		}
		if took := time.Since(h.began); took > time.Minute {
			t.Errorf("tried for %v", took)
		}
	})
}

// TestCallThatNeverBeginsAndIsMoved: the attempts also end if the call is moved just when it would
// be given up.
func TestCallThatNeverBeginsAndIsMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{answer: letIn, link: func(h *house, _ context.Context, n int, _ *link) error {
			if n == 2*tries {
				h.c.Server("moved", "f:443")
			}
			return errors.New("refused")
		}}
		if err := h.run(t, time.Hour); !errors.As(err, new(*Ended)) {
			t.Errorf("after %d attempts: %v", len(h.log), err)
		}
	})
}

// TestSayKeepsTime: frames leave at their pace, and wait while they may not leave.
func TestSayKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{answer: letIn}
		h.link = func(h *house, ctx context.Context, n int, l *link) error {
			if err := wait(ctx, 500*time.Millisecond, nil); err != nil {
				return err
			}
			l.media.dave.Select(0, time.Now()) // not encrypted, like a stage
			return open(h, ctx, l, forever, nil)
		}
		done := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		h.c = New(Config{Place: Place{1, 7, 99}, Line: h})
		h.c.connect = func(ctx context.Context, l *link) error { return h.link(h, ctx, 1, l) }
		go func() { done <- h.c.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		for range 100 {
			if err := h.c.Say(t.Context(), []byte{1, 2, 3}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 2280*time.Millisecond || took > 2320*time.Millisecond {
			t.Errorf("handing over 2 s took %v, want 1.8 s after half a second", took)
		}
		dropped, sent := h.c.Hush(), h.c.Sent()
		if sent+int64(dropped) != 100 || dropped < 9 || dropped > 10 {
			t.Errorf("%d have left and %d not", sent, dropped)
		}
		time.Sleep(time.Second)
		if s := h.c.Status(); s.SentFrames != sent || s.HeldFrames < 24 || s.HeldFrames > 26 {
			t.Errorf("%d were sent and %d held, after %d", s.SentFrames, s.HeldFrames, sent)
		}

		// Nobody is stuck when the call ends, or when their own context does.
		stuck := make(chan error)
		brief, enough := context.WithTimeout(t.Context(), time.Second)
		defer enough()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		go func() { stuck <- h.c.Say(brief, []byte{1}) }()
		if err := <-stuck; !errors.Is(err, errOver) {
			t.Errorf("said after the end: %v", err)
		}
		for _, frame := range [][]byte{nil, make([]byte, 1276)} {
			if err := h.c.Say(t.Context(), frame); err == nil {
				t.Errorf("a frame of %d bytes was taken", len(frame))
			}
		}
	})
}

func TestSayWaitsNoLongerThanItsContext(t *testing.T) {
	c := New(Config{}) // it does not run, so nothing leaves
	for range ahead {
		if err := c.Say(t.Context(), silence); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Say(ctx, silence); !errors.Is(err, context.Canceled) {
		t.Errorf("said %v", err)
	}
}
