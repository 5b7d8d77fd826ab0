package monitor

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/monitor/model"
	"earshot/server/client"
)

// A Daemon answers the queries of the monitor; [client.Client] is one. It returns only what the
// caller may know.
type Daemon interface {
	// Events yields the events after a sequence, as [client.Client.Events] does.
	Events(ctx context.Context, after int64) iter.Seq2[earshot.Event, error]

	// History returns the newest events before a sequence, as [client.Client.History] does.
	History(ctx context.Context, kinds []earshot.Kind, before int64, limit int) (api.HistoryPage, error)

	// Search returns the events that contain some words, as [client.Client.Search] does.
	Search(ctx context.Context, query string, before int64, limit int) (api.HistoryPage, error)

	// State returns the state of the daemon.
	State(ctx context.Context) (api.Status, error)

	// Live yields the state of the room whenever it changes.
	Live(ctx context.Context) iter.Seq2[api.LiveView, error]
}

const (
	// loads is how many events are loaded at the start: a few screens.
	loads = 600

	// pageful is how many events a daemon returns at a time.
	pageful = 200

	// least and most bound how long the monitor waits before it retries a lost connection.
	least = 250 * time.Millisecond
	most  = 5 * time.Second

	// settled is the time after which a silent connection counts as established.
	settled = time.Second

	// asks is how often the monitor asks who exists, and whether a camera is open.
	asks = 3 * time.Second
)

// A feed puts what a daemon reports into an inbox.
type feed struct {
	from Daemon
	to   *inbox

	mu   sync.Mutex
	lost map[string]string // the reason, by source
	last int64             // the sequence of the newest event delivered

	began bool // the past events were delivered
}

// run feeds the inbox until ctx ends or the daemon refuses. It reconnects after every loss.
func (f *feed) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for what, once := range map[string]func(context.Context, func()) error{"events": f.events, "live": f.live, "state": f.state} {
		all.Go(func() {
			if err := f.again(ctx, what, once); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// again repeats something that ends when the connection is lost. once calls well when the
// connection is established, from any goroutine. After once has returned, well has no effect.
func (f *feed) again(ctx context.Context, what string, once func(ctx context.Context, well func()) error) error {
	wait := least
	for ctx.Err() == nil {
		var mu sync.Mutex
		stood, over := false, false
		err := once(ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if !over {
				stood = true
				f.stands(what, "")
			}
		})
		mu.Lock()
		if over = true; stood {
			wait = least
		}
		mu.Unlock()
		if ctx.Err() != nil {
			return nil
		}
		if r, ok := client.Refused(err); ok {
			return r
		}
		f.stands(what, lostText(err))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = min(2*wait, most)
	}
	return nil
}

// lostText says in a few words why nothing arrives. The details of a socket error would help
// nobody.
func lostText(err error) string {
	switch {
	case errors.Is(err, client.ErrNotRunning):
		return "earshot is not running"
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return "the connection to earshot was lost"
	}
	if f, ok := errors.AsType[*client.Failure](err); ok {
		return f.Problem
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return "the connection to earshot was lost: " + text
}

// stands notes whether a source delivers, and informs the inbox if this changes the state of the
// feed as a whole.
func (f *feed) stands(what, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	had := len(f.lost) > 0
	if why == "" {
		delete(f.lost, what)
	} else {
		if f.lost == nil {
			f.lost = make(map[string]string)
		}
		f.lost[what] = why
	}
	switch {
	case !had && why != "":
		f.to.put(model.Lost{Why: why})
	case had && len(f.lost) == 0:
		f.to.put(model.Reconnection{})
	}
}

// events delivers the events, beginning with the newest past ones.
func (f *feed) events(ctx context.Context, well func()) error {
	if !f.began {
		events, whole, err := f.newest(ctx, loads)
		if err != nil {
			return err
		}
		f.to.put(model.Past{Events: events, Whole: whole})
		if n := len(events); n > 0 {
			f.last = events[n-1].Sequence
		}
		f.began = true
	}
	up := time.AfterFunc(settled, well)
	defer up.Stop()
	for e, err := range f.from.Events(ctx, f.last) {
		if err != nil {
			return err
		}
		if up.Stop() {
			well()
		}
		f.to.event(e)
		f.last = max(f.last, e.Sequence)
	}
	return nil
}

// newest returns the newest events in order, roughly as many as requested, and whether these are
// all.
func (f *feed) newest(ctx context.Context, many int) (events []earshot.Event, whole bool, err error) {
	before := int64(0)
	for len(events) < many {
		p, err := f.from.History(ctx, nil, before, pageful)
		if err != nil {
			return nil, false, err
		}
		f.to.put(model.Names(p.Names))
		events, before = append(p.Events[:len(p.Events):len(p.Events)], events...), p.Before
		if before == 0 {
			return events, true, nil
		}
	}
	return events, false, nil
}

// older delivers a page of events from before a sequence.
func (f *feed) older(ctx context.Context, before int64) {
	p, err := f.from.History(ctx, nil, before, pageful)
	if err != nil {
		f.to.put(model.Past{Before: before})
		return
	}
	f.to.put(model.Names(p.Names))
	f.to.put(model.Past{Before: before, Events: p.Events, Whole: p.Before == 0})
}

// reload delivers the newest events again, however often the connection is lost: what was forgotten
// must not stay on the screen.
func (f *feed) reload(ctx context.Context) {
	for {
		events, _, err := f.newest(ctx, loads)
		if err == nil {
			f.to.put(model.Again{Events: events})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(most):
		}
	}
}

// mostFound is how many matches are examined to find one that the filter shows.
const mostFound = 20

// seek delivers the events before a sequence that contain some words.
func (f *feed) seek(ctx context.Context, words string, before int64) {
	p, err := f.from.Search(ctx, words, before, mostFound)
	f.to.put(model.Names(p.Names))
	f.to.put(model.Found{Words: words, Events: p.Events, Err: err})
}

// around delivers the events around an event, as many before it as after it.
func (f *feed) around(ctx context.Context, at int64) {
	p, err := f.from.History(ctx, nil, at+pageful/2, pageful)
	if err == nil && !slices.ContainsFunc(p.Events, func(e earshot.Event) bool { return e.Sequence == at }) { // the events that follow are too long for one page
		p, err = f.from.History(ctx, nil, at+1, pageful)
	}
	f.to.put(model.Names(p.Names))
	f.to.put(model.Surroundings{At: at, Events: p.Events, Whole: p.Before == 0, Err: err})
}

// live delivers the state of the room.
func (f *feed) live(ctx context.Context, well func()) error {
	for now, err := range f.from.Live(ctx) {
		if err != nil {
			return err
		}
		well()
		f.to.put(now.Snapshot)
	}
	return nil
}

// state delivers, at intervals, who exists and whether a camera is open.
func (f *feed) state(ctx context.Context, well func()) error {
	for {
		is, err := f.from.State(ctx)
		if err != nil {
			return err
		}
		well()
		f.to.put(is)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(asks):
		}
	}
}
