package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/api"
	"earshot/monitor/model"
)

// Lines writes one line per event, for pipes and for people who use a screen reader.
type Lines struct {
	Daemon Daemon
	Out    io.Writer

	JSON   bool      // write the events unchanged, as JSON
	Live   bool      // also write the state of the room, as {"kind":"live","live":{…}}; only with JSON
	ASCII  bool      // the reader can handle only ASCII
	Since  time.Time // write the events from this time on; zero means the last Last events
	After  int64     // write the events after this sequence, if it is not 0
	Last   int       // how many of the newest events to write first
	Follow bool      // continue with new events, until ctx ends
}

// Start sets from when on events are written; an empty text leaves that as it is.
func (l *Lines) Start(text string, now time.Time) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if n, ok := strings.CutPrefix(text, "after:"); ok {
		after, err := strconv.ParseInt(n, 10, 64)
		if err != nil || after < 0 {
			return errors.New("after: needs a sequence, a number from 0")
		}
		if l.After = after; after == 0 {
			l.Since = time.Unix(0, 0)
		}
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		l.Since = now.Add(-d)
		return nil
	}
	at, ok := model.Moment(text, now)
	if !ok {
		return errors.New("not a time; write 10m, 14:05, yesterday 14:05, 2026-11-22 or after:SEQUENCE")
	}
	l.Since = at
	return nil
}

// Run writes until ctx ends, the reader goes away, or the daemon refuses. After a lost connection
// it continues where it was. told, which may be nil, is called when the connection is lost and when
// it is re-established.
func (l Lines) Run(ctx context.Context, told func(text string)) error {
	if told == nil {
		told = func(string) {}
	}
	w := &lineWriter{Lines: l, printer: model.NewPrinter(l.ASCII)}
	err := w.run(ctx, told)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || ctx.Err() != nil {
		return nil // nobody reads any more
	}
	return err
}

// A lineWriter is a running Lines.
type lineWriter struct {
	Lines
	printer *model.Printer
}

func (w *lineWriter) run(ctx context.Context, told func(string)) error {
	after, err := w.first(ctx)
	if err != nil || !w.Follow {
		return err
	}
	in := newInbox()
	f := &feed{from: w.Daemon, to: in, last: after, began: true}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.run(ctx) })
	g.Go(func() error {
		defer in.close()
		for {
			select {
			case <-in.wake:
			case <-ctx.Done():
				return nil
			}
			for _, what := range in.take() {
				if err := w.takes(what, told); err != nil {
					return err
				}
			}
		}
	})
	return g.Wait()
}

// takes writes what has arrived.
func (w *lineWriter) takes(what any, told func(string)) error {
	switch what := what.(type) {
	case model.Events:
		for _, e := range what {
			if err := w.write(e); err != nil {
				return err
			}
		}
	case api.Status:
		w.printer.Know(what)
	case api.Snapshot:
		if w.JSON && w.Live {
			return w.line(struct {
				Kind string       `json:"kind"`
				Live api.Snapshot `json:"live"`
			}{"live", what})
		}
	case model.Names:
		w.printer.Call(what)
	case model.Lost:
		told(what.Why + "; trying again")
	case model.Reconnection:
		told("earshot is back")
	}
	return nil
}

// first writes the past events, and returns the sequence after which to continue.
func (w *lineWriter) first(ctx context.Context) (int64, error) {
	is, err := w.Daemon.State(ctx)
	if err != nil {
		return 0, err
	}
	w.printer.Know(is)
	var past []earshot.Event
	before := int64(0)
	enough := func(p []earshot.Event) bool {
		switch {
		case len(p) == 0:
			return true
		case w.After > 0:
			return p[0].Sequence <= w.After+1
		case !w.Since.IsZero():
			return p[0].At.Before(w.Since)
		}
		return len(past) >= w.Last
	}
	for {
		p, err := w.Daemon.History(ctx, nil, before, pageful)
		if err != nil {
			return 0, err
		}
		w.printer.Call(p.Names)
		past, before = slices.Concat(p.Events, past), p.Before
		if before == 0 || enough(p.Events) || len(past) > model.MaxEntries {
			break
		}
	}
	if w.After > 0 && w.Follow && len(past) > model.MaxEntries {
		return w.After, nil // too many to hold: they arrive like those that follow
	}
	last := int64(0)
	for i, e := range past {
		last = max(last, e.Sequence)
		early := i < len(past)-w.Last
		switch {
		case w.After > 0:
			early = e.Sequence <= w.After
		case !w.Since.IsZero():
			early = e.At.Before(w.Since)
		}
		if early {
			w.printer.Add(e)
		} else if err := w.write(e); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// write writes one event.
func (w *lineWriter) write(e earshot.Event) error {
	if e.Body.Kind() == earshot.KindSpeech { // speech has no end: the state of the room shows it
		return nil
	}
	if w.JSON {
		return w.line(e)
	}
	text := w.printer.Line(e)
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w.Out, text)
	return err
}

func (w *lineWriter) line(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Out.Write(append(data, '\n'))
	return err
}
