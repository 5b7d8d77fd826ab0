package server

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"earshot"
)

const (
	// chunk is how many bytes of events a stream holds while its client does not read, but
	// for an event that is longer.
	chunk = 64 << 10

	// reading is how many read the journal at once for the streams; what they hold
	// meanwhile may be long.
	reading = 8

	// apart is of how many that ask for something else it is known what they were told: more
	// than there are people. Anybody can ask for what comes after any sequence.
	apart = 256

	// readTime is how long that may take.
	readTime = 30 * time.Second
)

// A tail is what those have in common who follow the events. A thousand who wait for the
// next one are told of it by one look into the journal for each audience, not by one for
// each of them.
type tail struct {
	mu     sync.Mutex
	places chan struct{}          // holds one for each who reads the journal
	at     <-chan struct{}        // what is known is known since the journal has grown to this
	looks  map[string]*eventBatch // by audience and sequence
}

// An eventBatch is what comes after a sequence, as lines: as many as a stream may hold, at
// least one if there is one.
type eventBatch struct {
	done chan struct{} // closed when the rest is known
	text []byte
	n    int   // lines
	last int64 // the sequence of the last
	more bool  // there may be more
	err  error
}

// after returns what comes after a sequence, for an audience: at most so many events. Grown
// is closed when there is more. What it holds is shared: nobody changes it.
func (t *tail) after(ctx context.Context, journal Journal, a earshot.Audience, after int64, limit int) (g *eventBatch, grown <-chan struct{}, err error) {
	key, err := json.Marshal(struct {
		A     earshot.Audience
		After int64
		Limit int
	}{a, after, limit})
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	grown = journal.Grown() // before reading, so that nothing falls between
	if grown != t.at || t.looks == nil {
		t.at, t.looks = grown, make(map[string]*eventBatch)
	}
	if t.places == nil {
		t.places = make(chan struct{}, reading)
	}
	g, looked := t.looks[string(key)]
	if !looked {
		if len(t.looks) >= apart {
			clear(t.looks) // who waits for one has it
		}
		g = &eventBatch{done: make(chan struct{})}
		t.looks[string(key)] = g
	}
	t.mu.Unlock()
	if !looked {
		t.look(ctx, journal, a, after, limit, g)
		if g.err != nil || g.more { // it is not the end, where all meet
			t.forget(string(key), g)
		}
	}
	select {
	case <-g.done:
		return g, grown, g.err
	case <-ctx.Done():
		return nil, grown, ctx.Err()
	}
}

// look reads the journal, for all who ask the same. That the first of them goes away is
// nothing to the others.
func (t *tail) look(ctx context.Context, journal Journal, a earshot.Audience, after int64, limit int, g *eventBatch) {
	defer close(g.done)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	t.places <- struct{}{}
	defer func() { <-t.places }()
	some, err := journal.Events(ctx, a, after, limit)
	if err != nil {
		g.err = &fault{http.StatusServiceUnavailable, err}
		return
	}
	for _, e := range some {
		line, err := json.Marshal(e)
		if err != nil {
			g.err = err
			return
		}
		if g.n > 0 && len(g.text)+len(line) >= chunk {
			g.more = true
			return
		}
		g.text = append(append(g.text, line...), '\n')
		g.n, g.last = g.n+1, e.Sequence
	}
	g.more = g.n == limit
}

// forget lets go of a batch that nobody else will want.
func (t *tail) forget(key string, g *eventBatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.looks[key] == g {
		delete(t.looks, key)
	}
}
