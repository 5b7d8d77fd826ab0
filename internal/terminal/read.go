package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"syscall"
	"time"
)

// Keys yields what is typed until ctx ends or the terminal is gone, which is
// the end of it and not an error. One goroutine reads at a time.
func (t *Terminal) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		var s strokes
		for in, err := range t.reads(ctx, s.deadline) {
			if err != nil {
				yield(Key{}, err)
				return
			}
			for _, k := range s.step(time.Now(), in) {
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}

// Questions yields the lines of a terminal that is not read by keys until ctx
// ends or there are no more. It reads no further while one is being dealt with.
// From a pipe each line is a question; of a person lines that come at once are one.
func (t *Terminal) Questions(ctx context.Context) iter.Seq2[Question, error] {
	return func(yield func(Question, error) bool) {
		var s Splitter
		var at time.Time
		var asked []Question
		due := func() (time.Time, bool) {
			if len(asked) == 0 || t.piped {
				return time.Time{}, false
			}
			return at.Add(lull), true
		}
		give := func(n int) bool {
			for _, q := range asked[:n] {
				if !yield(q, nil) {
					return false
				}
			}
			asked = asked[n:]
			return true
		}
		for in, err := range t.reads(ctx, due) {
			if err != nil {
				yield(Question{}, err)
				return
			}
			at = time.Now()
			for _, q := range s.Add(in) {
				if t.piped {
					asked = append(asked, q)
				} else {
					asked = q.join(asked)
				}
			}
			done := len(asked)
			if !t.piped && len(in) > 0 {
				done = max(0, done-1) // with which what comes may be one
			}
			if !give(done) {
				return
			}
		}
		if q, ok := s.End(); ok {
			asked = append(asked, q)
		}
		if ctx.Err() == nil {
			give(len(asked))
		}
	}
}

// reads yields what is read, and nothing whenever due has come.
func (t *Terminal) reads(ctx context.Context, due func() (time.Time, bool)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer interrupting(ctx, t.in.File)()
		buf := make([]byte, 4<<10)
		for {
			until, _ := due()
			t.in.SetReadDeadline(until)
			if ctx.Err() != nil {
				return
			}
			n, err := t.in.Read(buf)
			switch {
			case errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO):
				return
			case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
				yield(nil, fmt.Errorf("reading the terminal: %w", cause(err)))
				return
			}
			if !yield(buf[:n], nil) {
				return
			}
		}
	}
}

// interrupting makes the end of ctx end a read that waits, until the returned
// function is called.
func interrupting(ctx context.Context, in *os.File) (stop func()) {
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(ended)
		in.SetReadDeadline(past)
	})
	return func() {
		if !cancel() {
			<-ended
		}
	}
}
