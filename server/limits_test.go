package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/server/wire"
)

// A porch is a house where the token of ann and of bob is their name.
type porch struct{ Backend }

func (porch) Identify(_ context.Context, _ earshot.Handle, c Claim) (Principal, error) {
	who := participants.Participant{ID: earshot.ParticipantID(c.Token.Reveal())}
	if who.ID != "ann" && who.ID != "bob" {
		return Principal{}, participants.ErrToken
	}
	return Principal{Participant: who, Audience: earshot.Audience{Room: earshot.Desk}}, nil
}

func (porch) State(context.Context, Principal) (api.Status, error) { return api.Status{}, nil }

// knock sends a request for the state to a port, from an address and with a token. It returns the
// status, after how many seconds to ask again, and how long the answer took.
func (o *opening) knock(ctx context.Context, from, token string) (status, again int, took time.Duration) {
	ctx = context.WithValue(ctx, visitorKey{}, &visitor{from: from, addr: netip.MustParseAddr(from), met: func() {}})
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/state", http.NoBody)
	r.Host = "localhost"
	if token != "" {
		r.Header.Set(wire.TokenHeader, wire.Bearer+token)
	}
	w, began := httptest.NewRecorder(), time.Now()
	o.ServeHTTP(w, r)
	again, _ = strconv.Atoi(w.Header().Get("Retry-After"))
	return w.Code, again, time.Since(began)
}

// portOf returns the opening of a port.
func portOf(c Config) *opening {
	return &opening{Server: &Server{Backend: porch{}}, rules: loopbackRules(c)}
}

// TestWhoAsksTooMuch: a client that sends too many requests is told when to ask again, and may
// then. Others are not affected, even at the same address, and requests without a token take
// nothing from those with one.
func TestWhoAsksTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := portOf(Config{RequestsPerSecond: 5})
		ask := func(token string, n, want, again int) {
			t.Helper()
			for i := range n {
				if status, after, took := o.knock(t.Context(), "127.0.0.1", token); status != want || after != again || took != 0 {
					t.Fatalf("%q, request %d is answered %d after %v, and to ask again in %d s; want %d, %d s", token, i+1, status, took, after, want, again)
				}
			}
		}
		ask("ann", 10, 200, 0)
		ask("ann", 3, 429, 1)
		ask("bob", 10, 200, 0)
		ask("bob", 1, 429, 1)
		time.Sleep(time.Second)
		ask("ann", 5, 200, 0)
		ask("ann", 1, 429, 1)
		time.Sleep(time.Minute)
		ask("", 10, 401, 0)
		ask("", 3, 429, 1)
		ask("ann", 10, 200, 0)
	})
}

// TestWrongTokensAreSlow: the first few wrong tokens are answered at once, the next ones later and
// later, and then no more are checked for a while. A good token is always let in at once, and wrong
// ones are forgiven in time.
func TestWrongTokensAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := portOf(Config{})
		var last time.Duration
		n, status, again := 0, 0, 0
		for n < 2*tries && status != 429 {
			n++
			var took time.Duration
			status, again, took = o.knock(t.Context(), "127.0.0.1", "wrong")
			switch {
			case status == 429 && (again != 30 || took != 0):
				t.Errorf("no more are looked at, said after %v; to ask again in %d s", took, again)
			case status == 401 && ((n <= slips) != (took == 0) || took < last || took > longestWait):
				t.Errorf("wrong token %d was told after %v, the one before after %v", n, took, last)
			case status != 401 && status != 429:
				t.Fatalf("wrong token %d was answered %d", n, status)
			}
			if status == 401 {
				last = took
			}
			if is, _, took := o.knock(t.Context(), "127.0.0.1", "ann"); is != 200 || took != 0 {
				t.Fatalf("after %d wrong tokens a good one was answered %d after %v", n, is, took)
			}
		}
		if status != 429 || n <= tries || last != longestWait {
			t.Errorf("wrong token %d was answered %d; the last wait was %v", n, status, last)
		}
		if is, _, took := o.knock(t.Context(), "127.0.0.2", "wrong"); is != 401 || took != 0 {
			t.Errorf("from another address it was answered %d after %v", is, took)
		}
		time.Sleep(forgiven)
		if is, _, took := o.knock(t.Context(), "127.0.0.1", "wrong"); is != 401 || took != longestWait {
			t.Errorf("after a while it was answered %d after %v", is, took)
		}
		time.Sleep(tries * forgiven)
		if is, _, took := o.knock(t.Context(), "127.0.0.1", "wrong"); is != 401 || took != 0 {
			t.Errorf("after a long while it was answered %d after %v", is, took)
		}
	})
}

// TestManyWrongTokensAtOnce: only so many requests with wrong tokens wait for their delayed
// answers. A good token does not wait for them.
func TestManyWrongTokensAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := portOf(Config{})
		answers := make(chan int, waiting)
		for i := range waiting + 1 {
			from := fmt.Sprintf("127.0.0.%d", i+1)
			for range slips {
				o.knock(t.Context(), from, "wrong")
			}
			if i == waiting {
				synctest.Wait()
				if status, again, took := o.knock(t.Context(), from, "wrong"); status != 429 || again != 2 || took != 0 {
					t.Errorf("one more is answered %d after %v, and to ask again in %d s", status, took, again)
				}
				break
			}
			go func() {
				status, _, _ := o.knock(t.Context(), from, "wrong")
				answers <- status
			}()
		}
		if status, _, took := o.knock(t.Context(), "127.0.0.1", "ann"); status != 200 || took != 0 {
			t.Errorf("a good token is answered %d after %v", status, took)
		}
		for range waiting {
			if status := <-answers; status != 401 {
				t.Errorf("who waited is answered %d", status)
			}
		}
	})
}

// TestManyAreCounted: however many addresses send requests, only a bounded number is remembered.
func TestManyAreCounted(t *testing.T) {
	r, k, now := newRates(5), newKnocks(), time.Now()
	for i := range 3 * counted {
		from := strconv.Itoa(i)
		if err := r.take(from, now); err != nil {
			t.Fatal(err)
		}
		if _, err := k.wrong(from, now); err != nil {
			t.Fatal(err)
		}
		if len(r.all) > counted || len(k.all) > counted {
			t.Fatalf("%d and %d are remembered", len(r.all), len(k.all))
		}
	}
}

// A dead connection is one on which nothing comes.
type dead struct {
	net.Conn
	closed bool
}

func (d *dead) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (d *dead) Close() error {
	d.closed = true
	return nil
}

// A queue is a listener with some connections to accept.
type queue struct {
	net.Listener
	all []net.Conn
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.all) == 0 {
		return nil, errors.New("nobody comes")
	}
	next := q.all[0]
	q.all = q.all[1:]
	return next, nil
}

// TestTheOldestStrangerGoes: if too many unknown clients are connected, the one that has waited
// longest is disconnected. Known clients stay, and a client that leaves makes room.
func TestTheOldestStrangerGoes(t *testing.T) {
	q := &queue{}
	d := newDoor(q, loopbackRules(Config{}))
	come := func() (*visitor, *dead) {
		t.Helper()
		c := &dead{}
		q.all = append(q.all, c)
		v, err := d.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return v.(*visitor), c
	}
	first, known := come()
	first.met()
	var all []*visitor
	var conns []*dead
	for range strangers {
		v, c := come()
		all, conns = append(all, v), append(conns, c)
	}
	open := func() (n int) {
		for _, c := range conns {
			if !c.closed {
				n++
			}
		}
		return n
	}
	if open() != strangers {
		t.Fatalf("%d of %d are there", open(), strangers)
	}
	come()
	if !conns[0].closed || open() != strangers-1 || known.closed {
		t.Errorf("the oldest has gone: %v; %d are there; who is known has gone: %v", conns[0].closed, open(), known.closed)
	}
	all[1].met() // and is no stranger any more
	come()
	if conns[1].closed || conns[2].closed {
		t.Error("somebody had to go although there was room")
	}
	come()
	if conns[1].closed || !conns[2].closed {
		t.Error("another than the oldest had to go")
	}
	for range 2 { // closing twice changes nothing
		if err := all[3].Close(); err != nil {
			t.Error(err)
		}
	}
	come()
	if conns[4].closed || known.closed {
		t.Error("somebody had to go although one had gone")
	}
	// The known one, the one that has become known, and as many strangers as may be.
	if n := len(d.places); n != strangers+2 {
		t.Errorf("%d places are taken", n)
	}
}

// TestSharedRates: each of several daemons lets through its part, however many they are by now.
func TestSharedRates(t *testing.T) {
	daemons := 1
	r, now := newRates(60), time.Now()
	r.parts = func() int { return daemons }
	let := func() (n int) {
		_ = r.take("ann", now) // by which it learns how many they are
		now = now.Add(time.Minute)
		for r.take("ann", now) == nil {
			n++
		}
		return n
	}
	for _, tt := range []struct{ daemons, want int }{{1, 120}, {3, 40}, {200, 1}, {2, 60}, {0, 120}} {
		daemons = tt.daemons
		if got := let(); got != tt.want {
			t.Errorf("one of %d daemons lets %d requests through, want %d", tt.daemons, got, tt.want)
		}
	}
}
