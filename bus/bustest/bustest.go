// Package bustest has the tests that every bus must pass.
package bustest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"earshot/bus"
	"earshot/internal/testkit"
)

// A Pair are two members of one bus, which may be the same, and how many messages were dropped at
// either.
type Pair struct {
	A, B    bus.Bus
	Dropped func() int64
}

// Run tests a bus. Each test opens one of its own.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	for name, test := range map[string]func(*testing.T, Pair){
		"Order": order, "Patterns": patterns, "Request": request, "SlowSubscriber": slow, "Stop": stop,
		"ContextEnds": contextEnds, "Refusals": refusals, "LanesDoNotWait": lanes,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// Subscribe subscribes to a pattern, and returns what comes, of which up to a thousand may wait.
func Subscribe(t testing.TB, b bus.Bus, pattern string) <-chan bus.Message {
	t.Helper()
	all := make(chan bus.Message, 1000)
	stop, err := b.Subscribe(t.Context(), pattern, func(m bus.Message) {
		m.Data = slices.Clone(m.Data)
		all <- m
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return all
}

// Publish publishes a message as soon as the bus takes it.
func Publish(t testing.TB, b bus.Bus, subject string, data []byte) {
	t.Helper()
	testkit.Await(t, testkit.Patience, "the bus takes a message", func() bool {
		err := b.Publish(subject, data)
		if err != nil && !errors.Is(err, bus.ErrFull) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// order: what one publishes comes in order, and is what it was when it was published.
func order(t *testing.T, p Pair) {
	for _, subject := range []string{"order.control", "order.sound"} {
		got := Subscribe(t, p.A, subject)
		var b []byte
		for i := range 1000 {
			b = binary.LittleEndian.AppendUint64(b[:0], uint64(i))
			Publish(t, p.B, subject, b)
		}
		for i := range 1000 {
			m := testkit.Receive(t, testkit.Patience, "a message", got)
			if n := binary.LittleEndian.Uint64(m.Data); n != uint64(i) || m.Subject != subject || m.Respond != nil {
				t.Fatalf("message %d under %s came instead of %d", n, m.Subject, i)
			}
		}
	}
	if on, _ := p.A.Connected(); !on || p.Dropped() != 0 {
		t.Errorf("connected: %v, dropped: %d", on, p.Dropped())
	}
}

// patterns: a subscriber gets what its pattern matches, and nothing else.
func patterns(t *testing.T, p Pair) {
	subjects := []string{"a", "a.b", "a.b.c", "a.c", "b", "b.b", "a.b.sound", "a-b", "A.b"}
	for _, pattern := range []string{"a", "a.b", "a.*", "*.b", "*", "a.>", ">", "*.*", "*.b.>", "a.b.sound", "a.*.sound"} {
		got := Subscribe(t, p.A, pattern)
		var want []string
		for _, s := range subjects {
			if bus.Matches(pattern, s) {
				want = append(want, s)
			}
			Publish(t, p.B, s, nil)
		}
		last := strings.NewReplacer("*", "last", ">", "last").Replace(pattern)
		Publish(t, p.B, last, []byte("last"))
		missing := map[string]bool{last: true}
		for _, s := range want {
			missing[s] = true
		}
		for len(missing) > 0 { // sound of the pattern before may still come, since it has a lane of its own
			m := testkit.Receive(t, testkit.Patience, "a message for "+pattern, got)
			if delete(missing, m.Subject); !bus.Matches(pattern, m.Subject) {
				t.Errorf("%s matches %s", pattern, m.Subject)
			}
		}
	}
}

// request: the first answer counts, and what is wrong is told.
func request(t *testing.T, p Pair) {
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if _, err := p.B.Request(ctx, "ask.me", nil); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("a request to nobody: %v", err)
	}
	end, err := p.A.Subscribe(ctx, "ask.>", func(m bus.Message) {
		if m.Respond == nil {
			t.Error("a request that cannot be answered")
			return
		}
		switch m.Subject {
		case "ask.me":
			m.Respond(append([]byte("you said "), m.Data...))
			for range 100 {
				m.Respond([]byte("once more"))
			}
		case "ask.much":
			if err := m.Respond(make([]byte, bus.MaxData+1)); err == nil {
				t.Error("an answer that is too long was taken")
			}
			m.Respond(nil)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for i := range 20 {
		text := fmt.Sprint("hello ", i)
		if b, err := p.B.Request(ctx, "ask.me", []byte(text)); err != nil || string(b) != "you said "+text {
			t.Fatalf("the answer is %q, %v", b, err)
		}
	}
	if b, err := p.B.Request(ctx, "ask.much", nil); err != nil || len(b) != 0 {
		t.Errorf("the answer is %q, %v", b, err)
	}
	over := errors.New("over")
	short, giveUp := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := p.B.Request(short, "ask.nothing", nil)
		done <- err
	}()
	giveUp(over)
	if err := testkit.Receive(t, testkit.Patience, "the request ends", done); !errors.Is(err, over) {
		t.Errorf("a request without an answer: %v", err)
	}
}

// slow: what a subscriber does not take is dropped and counted, and it gets the rest in order. On a busy machine
// a connection may be lost meanwhile, with messages that nobody counts: then it is tried again.
func slow(t *testing.T, p Pair) {
	for n := range 3 {
		if slowly(t, p, fmt.Sprint("slow", n)) {
			return
		}
	}
	t.Error("the connection was lost each time")
}

// slowly reports whether the connection was there all the time.
func slowly(t *testing.T, p Pair, name string) bool {
	const size, sent = 128 << 10, 3 * bus.MaxPending / (128 << 10)
	taking, free := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var got []uint64
	_, lost := p.A.Connected()
	_, lostToo := p.B.Connected()
	there := func() bool {
		select {
		case <-lost:
			return false
		case <-lostToo:
			return false
		default:
			return true
		}
	}
	before := p.Dropped()
	end, err := p.A.Subscribe(t.Context(), name+".sound", func(m bus.Message) {
		if binary.LittleEndian.Uint64(m.Data) == 0 { // the first
			close(taking)
			<-free
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, binary.LittleEndian.Uint64(m.Data))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	goOn := sync.OnceFunc(func() { close(free) })
	defer goOn() // before it ends, which waits for it
	b := make([]byte, size)
	for i := range sent {
		binary.LittleEndian.PutUint64(b, uint64(i))
		Publish(t, p.B, name+".sound", b)
	}
	came := func(what string, ch <-chan struct{}) {
		testkit.Await(t, testkit.Patience, what, func() bool {
			select {
			case <-ch:
				return true
			default:
				return !there()
			}
		})
	}
	came("the first message", taking)
	behind := make(chan struct{}) // comes after all the others
	ask := Subscribe(t, p.A, name+".end.sound")
	Publish(t, p.B, name+".end.sound", nil)
	go func() {
		defer close(behind)
		select {
		case <-ask:
		case <-t.Context().Done():
		}
	}()
	came("all the messages", behind)
	goOn()
	var arrived, dropped int64
	testkit.Await(t, testkit.Patience, "all to have come or to be counted as dropped", func() bool {
		mu.Lock()
		defer mu.Unlock()
		arrived, dropped = int64(len(got)), p.Dropped()-before
		return arrived+dropped >= sent || !there()
	})
	if !there() {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	if arrived+dropped != sent || dropped == 0 || !slices.IsSorted(got) || len(got) < bus.MaxPending/size-2 {
		t.Errorf("of %d messages %d came and %d were dropped; sorted: %v", sent, arrived, dropped, slices.IsSorted(got))
	}
	return true
}

// stop: when it has returned, the subscriber is not called and will not be.
func stop(t *testing.T, p Pair) {
	taking, free := make(chan struct{}, 1), make(chan struct{})
	var running, calls atomic.Int32
	end, err := p.A.Subscribe(t.Context(), "stop.>", func(m bus.Message) {
		running.Add(1)
		defer running.Add(-1)
		calls.Add(1)
		taking <- struct{}{}
		<-free
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		Publish(t, p.B, "stop.now", nil)
	}
	testkit.Receive(t, testkit.Patience, "the first message", taking)
	ended := make(chan int32, 1)
	go func() {
		end()
		ended <- running.Load()
	}()
	close(free)
	for stopped := false; !stopped; {
		select {
		case n := <-ended:
			if stopped = true; n != 0 {
				t.Error("it is called when it has been stopped")
			}
		case <-taking:
		case <-t.Context().Done():
		}
	}
	before := calls.Load()
	after := Subscribe(t, p.A, "stop.>")
	Publish(t, p.B, "stop.then", nil)
	for m := testkit.Receive(t, testkit.Patience, "another subscriber", after); m.Subject != "stop.then"; {
		m = testkit.Receive(t, testkit.Patience, "another subscriber", after)
	}
	if calls.Load() != before {
		t.Error("it was called after it had been stopped")
	}
	end() // again, which does nothing
}

// contextEnds: with its context a subscription ends, also if nobody stops it yet.
func contextEnds(t *testing.T, p Pair) {
	ctx, cancel := context.WithCancel(t.Context())
	end, err := p.A.Subscribe(ctx, "ends.*", func(m bus.Message) { m.Respond(nil) })
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	within, done := context.WithTimeout(t.Context(), testkit.Patience)
	defer done()
	if _, err := p.B.Request(within, "ends.not", nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	testkit.Await(t, testkit.Patience, "nobody is there", func() bool {
		once, done := context.WithTimeout(within, testkit.Patience/60)
		defer done()
		_, err := p.B.Request(once, "ends.now", nil)
		return errors.Is(err, bus.ErrNobody)
	})
}

// refusals: what cannot be published or subscribed to is refused at once.
func refusals(t *testing.T, p Pair) {
	for _, subject := range []string{"", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nb", "a.*", "a.>", "*", strings.Repeat("a", 257)} {
		if p.A.Publish(subject, nil) == nil {
			t.Errorf("%q was published", subject)
		}
		if _, err := p.A.Request(t.Context(), subject, nil); err == nil || errors.Is(err, bus.ErrNobody) {
			t.Errorf("%q was requested: %v", subject, err)
		}
	}
	for _, pattern := range []string{"", "a.", "a.>.b", "a*", "*a", ">>", "a b"} {
		if end, err := p.A.Subscribe(t.Context(), pattern, nil); err == nil {
			end()
			t.Errorf("%q was subscribed to", pattern)
		}
	}
	if p.A.Publish("a", make([]byte, bus.MaxData+1)) == nil {
		t.Error("too much was published")
	}
	got := Subscribe(t, p.A, "most")
	most := bytes.Repeat([]byte{1, 2, 3, 4}, bus.MaxData/4)
	Publish(t, p.B, "most", most)
	if m := testkit.Receive(t, testkit.Patience, "the longest message", got); !bytes.Equal(m.Data, most) {
		t.Errorf("%d bytes came", len(m.Data))
	}
}

// lanes: control comes although nobody takes the sound.
func lanes(t *testing.T, p Pair) {
	free := make(chan struct{})
	end, err := p.A.Subscribe(t.Context(), "lane.up.sound", func(bus.Message) { <-free })
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	defer close(free)
	for range 2 * bus.MaxPending / (64 << 10) {
		Publish(t, p.B, "lane.up.sound", make([]byte, 64<<10))
	}
	got := Subscribe(t, p.A, "lane.up.control")
	Publish(t, p.B, "lane.up.control", []byte("cut"))
	testkit.Receive(t, testkit.Patience, "control beside sound", got)
}
