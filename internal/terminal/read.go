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
		var d Decoder
		for in, err := range t.reads(ctx, d.Deadline) {
			if err != nil {
				yield(Key{}, err)
				return
			}
			for _, k := range d.Step(time.Now(), in) {
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}

// Questions yields the lines of a terminal that is not read by keys until ctx
// ends or there are no more. It reads no further while one is being dealt with.
func (t *Terminal) Questions(ctx context.Context) iter.Seq2[Question, error] {
	return func(yield func(Question, error) bool) {
		var s Splitter
		never := func() (time.Time, bool) { return time.Time{}, false }
		for in, err := range t.reads(ctx, never) {
			if err != nil {
				yield(Question{}, err)
				return
			}
			for _, q := range s.Add(in) {
				if !yield(q, nil) {
					return
				}
			}
		}
		if q, ok := s.End(); ok && ctx.Err() == nil {
			yield(q, nil)
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
