package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"
	"pgregory.net/rapid"

	"earshot/bus"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/bus/stream"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

const subject = "earshot.cluster.attic.http"

// connect returns both ends of a connection, and the listener.
func connect(t testing.TB, a, b bus.Bus) (dialled, accepted net.Conn, l net.Listener) {
	t.Helper()
	l, err := stream.Listen(t.Context(), b, subject, 512)
	if err != nil {
		t.Fatal(err)
	}
	if dialled, err = stream.Dial(t.Context(), a, subject); err != nil {
		t.Fatal(err)
	}
	if accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dialled.Close()
		accepted.Close()
		l.Close()
	})
	return dialled, accepted, l
}

// pipe makes what nettest asks for.
func pipe(a, b bus.Bus) nettest.MakePipe {
	return func() (net.Conn, net.Conn, func(), error) {
		l, err := stream.Listen(context.Background(), b, subject, 512)
		if err != nil {
			return nil, nil, nil, err
		}
		defer l.Close()
		c1, err := stream.Dial(context.Background(), a, subject)
		if err != nil {
			return nil, nil, nil, err
		}
		c2, err := l.Accept()
		if err != nil {
			return nil, nil, nil, err
		}
		return c1, c2, func() {
			c1.Close()
			c2.Close()
		}, nil
	}
}

func TestConn(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		var l bus.Local
		nettest.TestConn(t, pipe(&l, &l))
	})
	t.Run("NATS", func(t *testing.T) {
		s := natstest.Start(t, natsserver.Config{})
		nettest.TestConn(t, pipe(natstest.Connect(t, s.Config()), natstest.Connect(t, s.Config())))
	})
}

// TestBytes: what is written in any parts is read in any parts, both ways at once, with the end of
// each way by itself.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l bus.Local
		c1, c2, done, err := pipe(&l, &l)()
		if err != nil {
			rt.Fatal(err)
		}
		defer done()
		var all sync.WaitGroup
		got, want := make([][]byte, 2), make([][]byte, 2)
		for i, way := range [][2]net.Conn{{c1, c2}, {c2, c1}} {
			writes := rapid.SliceOfN(rapid.IntRange(0, 100_000), 0, 8).Draw(rt, "writes")
			size := rapid.IntRange(1, 50_000).Draw(rt, "buffer")
			var parts [][]byte
			for n, length := range writes {
				part := bytes.Repeat([]byte{byte(n), byte(i), 7}, length/3+1)[:length]
				parts, want[i] = append(parts, part), append(want[i], part...)
			}
			all.Go(func() {
				for _, p := range parts {
					if n, err := way[0].Write(p); n != len(p) || err != nil {
						rt.Errorf("wrote %d of %d: %v", n, len(p), err)
					}
				}
				way[0].(interface{ CloseWrite() error }).CloseWrite()
			})
			all.Go(func() {
				b := make([]byte, size)
				for {
					n, err := way[1].Read(b)
					got[i] = append(got[i], b[:n]...)
					if err != nil {
						if err != io.EOF {
							rt.Errorf("reading: %v", err)
						}
						return
					}
				}
			})
		}
		all.Wait()
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				rt.Fatalf("%d bytes came of %d", len(got[i]), len(want[i]))
			}
		}
	})
}

// TestWindow: while nobody reads, the writer waits long before the bus would drop anything.
func TestWindow(t *testing.T) {
	for _, size := range []int{1, 1000, 1 << 20} {
		var dropped atomic.Int64
		l := &bus.Local{Dropped: func(n int) { dropped.Add(int64(n)) }}
		c1, c2, _ := connect(t, l, l)
		c1.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		sent := 0
		for {
			n, err := c1.Write(make([]byte, size))
			if sent += n; err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal(err)
				}
				break
			}
		}
		if sent >= bus.MaxPending/4 || dropped.Load() > 0 {
			t.Errorf("%d bytes were sent in parts of %d, and %d messages dropped", sent, size, dropped.Load())
		}
		c1.SetWriteDeadline(time.Time{})
		c1.Close() // what was written is read all the same
		if n, err := io.Copy(io.Discard, c2); int(n) != sent || err != nil {
			t.Errorf("%d bytes of %d came: %v", n, sent, err)
		}
		c1.Close()
		c2.Close()
	}
}

// A lossyBus loses messages, or is away, when it is told to.
type lossyBus struct {
	bus.Bus
	lose atomic.Bool
	full atomic.Int64 // how many messages it does not take

	mu     sync.Mutex
	away   bool
	change chan struct{}
}

func (l *lossyBus) Publish(subject string, data []byte) error {
	if l.full.Add(-1) >= 0 {
		return bus.ErrFull
	}
	if l.lose.Load() {
		return nil
	}
	return l.Bus.Publish(subject, data)
}

func (l *lossyBus) Connected() (bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.away, l.change
}

func (l *lossyBus) set(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
	close(l.change)
	l.change = make(chan struct{})
}

// TestFaults: whatever happens to the bus or the peer, both ends get an error, in time.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name     string
		happens  func(l *lossyBus, c1 net.Conn)
		says     string // at the other end
		from, to time.Duration
	}{
		{"one message is lost", func(l *lossyBus, c1 net.Conn) {
			l.lose.Store(true)
			c1.Write([]byte("lost"))
			l.lose.Store(false)
			c1.Write([]byte("next"))
		}, "was lost", 0, 0},
		{"the last message is lost", func(l *lossyBus, c1 net.Conn) {
			l.lose.Store(true)
			c1.Write([]byte("lost"))
			l.lose.Store(false)
		}, "was lost", 0, time.Second},
		{"the peer is silent", func(l *lossyBus, c1 net.Conn) { l.lose.Store(true) }, "silent", 2 * time.Second, 4 * time.Second},
		{"the bus is away", func(l *lossyBus, c1 net.Conn) { l.set(true) }, "unexpected EOF", 500 * time.Millisecond, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var base bus.Local
				l := &lossyBus{Bus: &base, change: make(chan struct{})}
				c1, c2, done, err := pipe(l, &base)()
				if err != nil {
					t.Fatal(err)
				}
				defer done()
				begun := time.Now()
				tt.happens(l, c1)
				_, err = io.Copy(io.Discard, c2)
				if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), tt.says) || took < tt.from || took > tt.to {
					t.Errorf("after %v: %v", took, err)
				}
				l.lose.Store(false)
				if _, err := io.Copy(io.Discard, c1); err == nil || time.Since(begun) > 10*time.Second {
					t.Errorf("at the end that dialled, after %v: %v", time.Since(begun), err)
				}
				if _, err := c1.Write([]byte("x")); err == nil {
					t.Error("something was written to a connection that failed")
				}
			})
		})
	}
}

// TestShortAbsence: a bus that is full or away for less than a moment costs nothing, nor does an hour
// in which nothing is said.
func TestShortAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var base bus.Local
		l := &lossyBus{Bus: &base, change: make(chan struct{})}
		c1, c2, done, err := pipe(l, &base)()
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		time.Sleep(time.Hour)
		l.set(true)
		time.Sleep(100 * time.Millisecond)
		l.set(false)
		l.full.Store(20)
		if _, err := c1.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.full.Store(20)
		c1.Close()
		if b, err := io.ReadAll(c2); string(b) != "hello" || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
	})
}

// TestForged: what does not belong to the connection is ignored and counted, and changes nothing.
func TestForged(t *testing.T) {
	var l bus.Local
	var seen [][]byte
	var mu sync.Mutex
	stop, err := l.Subscribe(t.Context(), subject+".*.up", func(m bus.Message) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, bytes.Clone(m.Data))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c1, c2, listener := connect(t, &l, &l)
	to := c1.RemoteAddr().String()
	b := make([]byte, 100)
	exchange := func(text string) {
		t.Helper()
		if _, err := c1.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if n, err := c2.Read(b); string(b[:n]) != text || err != nil {
			t.Fatalf("read %q, %v", b[:n], err)
		}
	}
	exchange("one")
	var replayed []byte
	testkit.Await(t, testkit.Patience, "the message is seen", func() bool {
		mu.Lock()
		defer mu.Unlock()
		if len(seen) > 0 {
			replayed = seen[0]
		}
		return replayed != nil
	})
	sent := [][]byte{nil, []byte("x"), replayed, append([]byte{99}, replayed[1:]...), bytes.Repeat([]byte{0}, 100<<10)}
	for _, m := range sent {
		if err := l.Publish(to, m); err != nil {
			t.Fatal(err)
		}
	}
	exchange("two")
	if n := listener.(interface{ Ignored() int64 }).Ignored(); n != int64(len(sent)) {
		t.Errorf("%d of %d were ignored", n, len(sent))
	}
	for _, name := range []string{"", "x", strings.Repeat("A", 25) + ".", strings.Repeat("A", 27), strings.Split(to, ".")[4]} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if answer, err := l.Request(ctx, subject, []byte(name)); err == nil {
			t.Errorf("to %q it answers %q", name, answer)
		}
		cancel()
	}
	exchange("three")
}

// A fullBus takes one subscription.
type fullBus struct {
	bus.Bus
	taken atomic.Bool
}

func (f *fullBus) Subscribe(ctx context.Context, pattern string, take func(bus.Message)) (func(), error) {
	if f.taken.Swap(true) {
		return nil, bus.ErrFull
	}
	return f.Bus.Subscribe(ctx, pattern, take)
}

// A slowBus takes a while to subscribe.
type slowBus struct{ bus.Bus }

func (s slowBus) Subscribe(ctx context.Context, pattern string, take func(bus.Message)) (func(), error) {
	<-time.After(5 * time.Second)
	return s.Bus.Subscribe(ctx, pattern, take)
}

// TestListener: dialling has a bound, whoever listens and for whatever reason not.
func TestListener(t *testing.T) {
	var l bus.Local
	if _, err := stream.Dial(t.Context(), &l, subject); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("nobody listens: %v", err)
	}
	listener, err := stream.Listen(t.Context(), &l, subject, 512)
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	for err == nil {
		var c net.Conn
		if c, err = stream.Dial(t.Context(), &l, subject); err == nil {
			conns = append(conns, c)
		}
	}
	if len(conns) != 64 || !strings.Contains(err.Error(), "no more") {
		t.Errorf("%d connections wait: %v", len(conns), err)
	}
	listener.Close()
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepting after the end: %v", err)
	}
	for _, c := range conns {
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("nobody accepted it: %v", err)
		}
		c.Close()
	}
	for name, b := range map[string]bus.Bus{"three are open": &l, "the bus takes no subscription": &fullBus{Bus: &l}} {
		listener, err := stream.Listen(t.Context(), b, subject, 3)
		if err != nil {
			t.Fatal(err)
		}
		begun, conns := time.Now(), 0
		for range 4 {
			var c net.Conn
			if c, err = stream.Dial(t.Context(), &l, subject); err != nil {
				break
			}
			conns++
			defer c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "no more connections") || conns != 3 && b == &l || time.Since(begun) > testkit.Patience {
			t.Errorf("%s: after %d connections: %v", name, conns, err)
		}
		listener.Close()
	}
	synctest.Test(t, func(t *testing.T) { // a bus that is away may take its time to subscribe
		away := &lossyBus{Bus: new(bus.Local), change: make(chan struct{})}
		away.set(true)
		begun := time.Now()
		if _, err := stream.Dial(t.Context(), slowBus{away}, subject); err == nil || time.Since(begun) > 0 {
			t.Errorf("the bus is away: after %v: %v", time.Since(begun), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var l bus.Local
		stop, err := l.Subscribe(t.Context(), subject, func(bus.Message) {})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		begun := time.Now()
		if _, err := stream.Dial(t.Context(), &l, subject); err == nil || time.Since(begun) != 3*time.Second {
			t.Errorf("nobody answers, after %v: %v", time.Since(begun), err)
		}
	})
}

// TestServerKilled: when the server of the bus is killed, both ends know soon.
func TestServerKilled(t *testing.T) {
	s := natstest.Start(t, natsserver.Config{})
	c1, c2, _ := connect(t, natstest.Connect(t, s.Config()), natstest.Connect(t, s.Config()))
	s.Kill(t)
	for _, c := range []net.Conn{c1, c2} {
		ended := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
		if err := testkit.Receive(t, testkit.Patience, "the connection ends", ended); err == nil {
			t.Error("it does not fail")
		}
	}
}

// BenchmarkConn measures how fast bytes go, and how long a line and its answer take.
func BenchmarkConn(b *testing.B) {
	s := natstest.Start(b, natsserver.Config{})
	c1, c2, _ := connect(b, natstest.Connect(b, s.Config()), natstest.Connect(b, s.Config()))
	go io.Copy(c2, c2)
	for _, size := range []int{100, 32 << 10} {
		b.Run("", func(b *testing.B) {
			out, in := make([]byte, size), make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				c1.Write(out)
				if _, err := io.ReadFull(c1, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
