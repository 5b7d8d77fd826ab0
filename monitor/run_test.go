package monitor_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
	"earshot/monitor"
	"earshot/participants"
	"earshot/server/client"
	"earshot/server/wire"
)

// A peer is a daemon that is told what happens, and when it is there.
type peer struct {
	mu      sync.Mutex
	events  []earshot.Event
	grown   chan struct{}
	gone    bool
	ends    bool // it answers that it is about to be gone
	refuses bool
	asked   int // how often the stream of events was asked for
	most    int // events in a page; 0 is as many as are asked for
}

func newPeer(events ...earshot.Event) *peer { return &peer{events: events, grown: make(chan struct{})} }

// change changes p, and has everybody look.
func (p *peer) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.grown)
	p.grown = make(chan struct{})
}

// fails says why p answers nothing now. It is called with the lock.
func (p *peer) fails() error {
	switch {
	case p.refuses:
		return &wire.Refusal{Problem: "you may not know that any more"}
	case p.ends:
		return &client.Failure{Refusal: &wire.Refusal{Problem: "earshot is stopping"}}
	case p.gone:
		return client.ErrNotRunning
	}
	return nil
}

func (p *peer) Events(ctx context.Context, after int64) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		p.mu.Lock()
		p.asked++
		p.mu.Unlock()
		for {
			p.mu.Lock()
			err, grown := p.fails(), p.grown
			var some []earshot.Event
			for _, e := range p.events {
				if e.Sequence > after {
					some = append(some, e)
				}
			}
			p.mu.Unlock()
			if err != nil {
				yield(earshot.Event{}, io.ErrUnexpectedEOF)
				return
			}
			for _, e := range some {
				after = e.Sequence
				if !yield(e, nil) {
					return
				}
			}
			select {
			case <-grown:
			case <-ctx.Done():
				yield(earshot.Event{}, ctx.Err())
				return
			}
		}
	}
}

func (p *peer) Live(ctx context.Context) iter.Seq2[api.LiveView, error] {
	return func(yield func(api.LiveView, error) bool) {
		for {
			p.mu.Lock()
			err, grown := p.fails(), p.grown
			p.mu.Unlock()
			if err != nil {
				yield(api.LiveView{}, err)
				return
			}
			if !yield(api.LiveView{Snapshot: api.Snapshot{RoomState: api.RoomState{Room: "desk", Mode: earshot.Live}}}, nil) {
				return
			}
			select {
			case <-grown:
			case <-ctx.Done():
				yield(api.LiveView{}, ctx.Err())
				return
			}
		}
	}
}

func (p *peer) History(_ context.Context, _ []earshot.Kind, before int64, limit int) (page api.HistoryPage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fails(); err != nil {
		return page, err
	}
	for _, e := range slices.Backward(p.events) {
		if (before == 0 || e.Sequence < before) && len(page.Events) < limit && (p.most == 0 || len(page.Events) < p.most) {
			page.Events = slices.Insert(page.Events, 0, e)
		}
	}
	if n := len(page.Events); n > 0 && page.Events[0].Sequence > 1 {
		page.Before = page.Events[0].Sequence
	}
	return page, nil
}

// TestAround: around an event stands as much before it as after it, and it is there also where
// little comes at once.
func TestAround(t *testing.T) {
	p := newPeer()
	for n := range 1000 {
		p.events = append(p.events, numbered(n+1))
	}
	f := monitor.NewFeed(p)
	for _, tt := range []struct {
		at, most, first, last int64
		whole                 bool
	}{
		{500, 0, 400, 599, false},
		{30, 0, 1, 129, true},
		{990, 0, 801, 1000, false},
		{500, 20, 481, 500, false},
	} {
		p.most = int(tt.most)
		is := f.Around(t.Context(), tt.at)
		if n := len(is.Events); n == 0 || is.At != tt.at || is.Events[0].Sequence != tt.first || is.Events[n-1].Sequence != tt.last || is.Whole != tt.whole || is.Err != nil {
			t.Errorf("around %d: %d events, whole %v, %v", tt.at, n, is.Whole, is.Err)
		}
	}
}

func (p *peer) Search(context.Context, string, int64, int) (api.HistoryPage, error) {
	return api.HistoryPage{}, nil
}

func (p *peer) State(context.Context) (api.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return api.Status{Known: []participants.Participant{{ID: "ann", Name: "Ann"}}}, p.fails()
}

// noon is when the day of the tests is at its middle, wherever they run.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)

// numbered is a message with a number.
func numbered(n int) earshot.Event {
	return earshot.Event{ID: earshot.EventID(fmt.Sprint(n)), Sequence: int64(n), At: noon, Author: "ann", From: earshot.Handle{Provider: "console"},
		Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: earshot.Text(fmt.Sprintf("number %d", n))}}
}

// A sheet is what is written, for many goroutines.
type sheet struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sheet) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sheet) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestLinesOverLosses: over ten losses nothing is lost, nothing doubled, each loss is told
// once, and so is its end.
func TestLinesOverLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(numbered(1), numbered(2))
		ctx, cancel := context.WithCancel(t.Context())
		var out, told sheet
		ended := make(chan error)
		go func() {
			ended <- monitor.Lines{Daemon: p, Out: &out, Last: 10, Follow: true}.Run(ctx, func(text string) { io.WriteString(&told, text+"\n") })
		}()
		n := 2
		for range 10 {
			time.Sleep(10 * time.Second)
			n++
			p.change(func() { p.events = append(p.events, numbered(n)) })
			time.Sleep(10 * time.Second)
			p.change(func() { p.ends = true })
			time.Sleep(time.Second)
			p.change(func() { p.ends, p.gone = false, true })
			time.Sleep(time.Minute)
			n++
			p.change(func() { p.gone, p.events = false, append(p.events, numbered(n)) })
		}
		time.Sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		var want strings.Builder
		for k := range n {
			fmt.Fprintf(&want, "2026-11-22 12:00:00 Ann: number %d\n", k+1)
		}
		if out.text() != want.String() {
			t.Errorf("it wrote\n%s", out.text())
		}
		if lost, back := strings.Count(told.text(), "; trying again\n"), strings.Count(told.text(), "earshot is back\n"); lost != 10 || back != 10 {
			t.Errorf("it told of %d losses and %d ends:\n%s", lost, back, told.text())
		}
		if p.asked > 300 {
			t.Errorf("it asked %d times", p.asked)
		}
	})
}

// A fleeting daemon is lost just when the stream of its events would be known to stand.
type fleeting struct{ *peer }

func (fleeting) Events(ctx context.Context, _ int64) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
		yield(earshot.Event{}, io.ErrUnexpectedEOF)
	}
}

// TestLostAsItStands: what is lost in the moment in which it would be known to stand is lost,
// until it stands again.
func TestLostAsItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var lost time.Time
		err := monitor.Lines{Daemon: fleeting{newPeer(numbered(1))}, Out: io.Discard, Last: 1, Follow: true}.Run(ctx, func(text string) {
			switch {
			case strings.HasSuffix(text, "trying again"):
				lost = time.Now()
			case time.Since(lost) < time.Second:
				t.Errorf("%q, %v after it was lost", text, time.Since(lost))
			}
		})
		if err != nil || lost.IsZero() {
			t.Errorf("it ended with %v, and was lost at %v", err, lost)
		}
	})
}

// TestForgottenOverALoss: what was forgotten goes from the screen also if the connection is
// lost at that moment.
func TestForgottenOverALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(numbered(1), numbered(2))
		in := monitor.NewFeed(p)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p.change(func() { p.gone = true })
		go in.Reload(ctx)
		time.Sleep(time.Minute)
		if n := in.Agains(); n != 0 {
			t.Errorf("it was read anew %d times although nobody was there", n)
		}
		p.change(func() { p.gone = false })
		time.Sleep(time.Minute)
		if n := in.Agains(); n != 1 {
			t.Errorf("it was read anew %d times", n)
		}
	})
}

// TestLinesAreRefused: who may not read any more is told so, and it ends.
func TestLinesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(numbered(1))
		ended := make(chan error)
		go func() {
			ended <- monitor.Lines{Daemon: p, Out: io.Discard, Last: 1, Follow: true}.Run(t.Context(), nil)
		}()
		time.Sleep(time.Minute)
		p.change(func() { p.refuses = true })
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "may not know that") {
			t.Errorf("it ended with %v", err)
		}
	})
}

// A reader who reads three lines.
type shortReader struct{ left int }

func (r *shortReader) Write(p []byte) (int, error) {
	if r.left--; r.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestLinesToWhoReadsNoMore end well.
func TestLinesToWhoReadsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(numbered(1), numbered(2), numbered(3), numbered(4), numbered(5))
		if err := (monitor.Lines{Daemon: p, Out: &shortReader{left: 3}, Last: 10, Follow: true}).Run(t.Context(), nil); err != nil {
			t.Errorf("it ended with %v", err)
		}
		ended := make(chan error)
		go func() {
			ended <- monitor.Lines{Daemon: p, Out: &shortReader{left: 5}, JSON: true, Last: 10, Follow: true}.Run(t.Context(), nil)
		}()
		time.Sleep(time.Minute)
		p.change(func() { p.events = append(p.events, numbered(6)) })
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestLinesAfterMuch: after a sequence nothing is left out, however much there is.
func TestLinesAfterMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 20_600
		p := newPeer()
		for n := range many {
			p.events = append(p.events, numbered(n+1))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var out sheet
		ended := make(chan error)
		go func() { ended <- monitor.Lines{Daemon: p, Out: &out, After: 1, Follow: true}.Run(ctx, nil) }()
		time.Sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.text(), "\n"); n != many-1 {
			t.Errorf("%d lines of %d", n, many-1)
		}
	})
}

// TestLinesSince: from when on, by time and by sequence, over several pages.
func TestLinesSince(t *testing.T) {
	p := newPeer()
	for n := range 1000 {
		e := numbered(n + 1)
		e.At = noon.Add(time.Duration(n) * time.Second)
		p.events = append(p.events, e)
	}
	for name, tt := range map[string]struct {
		lines monitor.Lines
		first string
		many  int
	}{
		"the last":        {monitor.Lines{Last: 3}, "number 998", 3},
		"none":            {monitor.Lines{}, "", 0},
		"since a time":    {monitor.Lines{Since: noon.Add(500 * time.Second)}, "number 501", 500},
		"after a number":  {monitor.Lines{After: 700}, "number 701", 300},
		"from the outset": {monitor.Lines{Since: time.Unix(0, 0)}, "number 1", 1000},
		"more than are":   {monitor.Lines{Last: 5000}, "number 1", 1000},
	} {
		var out sheet
		tt.lines.Daemon, tt.lines.Out = p, &out
		if err := tt.lines.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(out.text(), "\n")
		if strings.Count(out.text(), "\n") != tt.many || !strings.HasSuffix(first, tt.first) {
			t.Errorf("%s: %d lines from %q", name, strings.Count(out.text(), "\n"), first)
		}
	}
}
