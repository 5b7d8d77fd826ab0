package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/monitor"
	"earshot/monitor/model"
	"earshot/server/client"
)

// monitored measures how long it takes from a message that somebody posts to the screen of
// a monitor, which is drawn twenty times a second: the real daemon, its socket, the real
// monitor on a screen of 120 columns. The bare thing is the same message at a reader of the
// bare stream of events. A round is over when both have it.
func monitored(ctx context.Context, b bench) (rows []Row, err error) {
	daemon, err := b.startDaemon(ctx, "monitored", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{client: &client.Client{Socket: socketIn(filepath.Join(b.dir, "monitored"))}, failed: make(chan error, 1)}
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { w.reads(ctx) })
	all.Go(func() { w.watches(ctx) })
	var ours, bare []float64
	for k := range b.rounds*b.repeats + 3 {
		o, p, err := w.round(ctx, fmt.Sprintf("mark%06d", k))
		if err != nil {
			return nil, err
		}
		if k >= 3 { // the first find everything cold
			ours, bare = append(ours, o), append(bare, p)
		}
	}
	return []Row{row("M1 message → screen of the monitor", "ms", spread(ours), spread(bare), "120×40, drawn 20 times a second; beside the bare stream of events").goal("p99", spread(ours).P99, 150)}, nil
}

// A watcher knows when something is on the screen, and when it was in the stream.
type watcher struct {
	client *client.Client

	mu       sync.Mutex
	mark     string
	drawn    bool       // it is in what will be written next
	written  bool       // and was
	failed   chan error // holds the end of the monitor
	screen   chan time.Time
	streamed chan time.Time
}

// reads reads the bare stream.
func (w *watcher) reads(ctx context.Context) {
	for e, err := range w.client.Events(ctx, 0) {
		if err != nil {
			return
		}
		m, ok := e.Body.(earshot.Message)
		if !ok {
			continue
		}
		now := time.Now()
		w.mu.Lock()
		if w.mark != "" && strings.Contains(string(m.Text), w.mark) {
			w.streamed <- now
		}
		w.mu.Unlock()
	}
}

// watches watches on a screen that nobody sees.
func (w *watcher) watches(ctx context.Context) {
	in, out := newIdleKeys(ctx), w
	w.failed <- monitor.Run(ctx, monitor.Config{
		Daemon: w.client, Door: w.client, NewID: newID, In: in, Out: out, Env: []string{"TERM=xterm-256color"}, Width: 120, Height: 40,
		Drawn: func(s model.Screen) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.mark == "" || w.drawn {
				return
			}
			for _, row := range s.Rows {
				w.drawn = w.drawn || strings.Contains(row, w.mark)
			}
		},
	})
}

// Write takes what is drawn.
func (w *watcher) Write(p []byte) (int, error) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drawn && !w.written {
		w.written = true
		w.screen <- now
	}
	return len(p), nil
}

// round posts one message, and returns after how many milliseconds it was on the screen and
// in the stream.
func (w *watcher) round(ctx context.Context, mark string) (screen, stream float64, err error) {
	w.mu.Lock()
	w.mark, w.drawn, w.written = mark, false, false
	w.screen, w.streamed = make(chan time.Time, 1), make(chan time.Time, 1)
	toScreen, toStream := w.screen, w.streamed
	w.mu.Unlock()
	began := time.Now()
	if _, err := w.client.Post(ctx, "", earshot.Text("@nobody "+mark)); err != nil {
		return 0, 0, err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for range 2 {
		select {
		case at := <-toScreen:
			screen = milliseconds(at.Sub(began))
		case at := <-toStream:
			stream = milliseconds(at.Sub(began))
		case err := <-w.failed:
			return 0, 0, fmt.Errorf("the monitor ended: %w", err)
		case <-late.C:
			return 0, 0, errors.New("a message is not shown")
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}
	return screen, stream, nil
}

// idleKeys is a keyboard on which nobody types, until ctx ends.
type idleKeys struct{ over <-chan struct{} }

func newIdleKeys(ctx context.Context) idleKeys { return idleKeys{ctx.Done()} }

func (k idleKeys) Read([]byte) (int, error) {
	<-k.over
	return 0, errors.New("nobody types")
}
