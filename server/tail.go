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
	// chunk is how many bytes of events a stream holds while its client does not read, unless a
	// single event is longer.
	chunk = 64 << 10

	// reading is how many goroutines read the journal for the streams at once; what they hold
	// meanwhile may be large.
	reading = 8

	// apart is how many other batches are remembered: more than there are people. Anybody can ask
	// for what comes after any sequence.
	apart = 256

	// readTime is how long reading the journal may take.
	readTime = 30 * time.Second
)

// A tail shares the reading of the journal among those who follow the events. For a thousand who
// wait for the next one, the journal is read once for each audience, not once for each of them.
type tail struct {
	mu     sync.Mutex
	places chan struct{}          // holds one for each goroutine that reads the journal
	at     <-chan struct{}        // looks is valid until this is closed: the journal has grown
	looks  map[string]*eventBatch // by audience and sequence
}

// An eventBatch holds what comes after a sequence, as lines: as many as a stream may hold, and at
// least one if there is one.
type eventBatch struct {
	done chan struct{} // closed when the fields below are set
	text []byte
	n    int   // lines
	last int64 // the sequence of the last
	more bool  // there may be more
	err  error
}

// after returns at most limit events after a sequence, for an audience. Grown is closed when there
// is more. The result is shared: nobody changes it.
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
	grown = journal.Grown() // before reading, so that nothing is missed in between
	if grown != t.at || t.looks == nil {
		t.at, t.looks = grown, make(map[string]*eventBatch)
	}
	if t.places == nil {
		t.places = make(chan struct{}, reading)
	}
	g, looked := t.looks[string(key)]
	if !looked {
		if len(t.looks) >= apart {
			clear(t.looks) // a goroutine that waits for a batch still has it
		}
		g = &eventBatch{done: make(chan struct{})}
		t.looks[string(key)] = g
	}
	t.mu.Unlock()
	if !looked {
		t.look(ctx, journal, a, after, limit, g)
		if g.err != nil || g.more { // it is not the end of the journal, where all readers meet
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

// look reads the journal for all who ask the same. It goes on when the first of them leaves.
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

// forget removes a batch that nobody else will want.
func (t *tail) forget(key string, g *eventBatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.looks[key] == g {
		delete(t.looks, key)
	}
}
