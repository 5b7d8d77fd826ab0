package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// ReadLine reads a line a byte at a time, so that nothing of what follows is
// taken from whoever reads next. It is [ErrLeft] at the end of what there is to
// read, and when ctx ends.
func ReadLine(ctx context.Context, f *os.File) (string, error) { return readKeys(ctx, f, false) }

// ReadSecret asks a question on w, and reads the line that answers it, which the terminal does not
// show.
func ReadSecret(ctx context.Context, in *os.File, w io.Writer, question string) (string, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(in.Fd()), before) }()
	fmt.Fprint(w, question) // only now, so that nothing of an answer that comes at once is shown
	return readKeys(ctx, in, true)
}

// readKeys reads a line. On a raw terminal the keys that correct or leave it are
// only bytes of it.
func readKeys(ctx context.Context, f *os.File, raw bool) (string, error) {
	next, done, err := Bytes(ctx, f)
	if err != nil {
		return "", err
	}
	defer done()
	var line []byte
	for {
		b, err := next()
		switch {
		case err != nil:
			return "", err
		case b == '\n' || b == '\r':
			return string(line), nil
		case raw && (b == 0x03 || b == 0x04): // ^C and ^D
			return "", ErrLeft
		case raw && (b == 0x7f || b == '\b'):
			_, size := utf8.DecodeLastRune(line)
			line = line[:len(line)-size]
		case len(line) < MaxAnswer:
			line = append(line, b)
		}
	}
}

// Bytes returns what reads f, byte by byte, until ctx ends: a read that waits
// could not be ended, so it waits before it reads. Whoever has enough calls done.
func Bytes(ctx context.Context, f *os.File) (next func() (byte, error), done func(), err error) {
	ended, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	var closing sync.WaitGroup
	closing.Add(1)
	stop := context.AfterFunc(ctx, func() { defer closing.Done(); end.Close() })
	done = func() {
		if stop() {
			end.Close()
			closing.Done()
		}
		closing.Wait()
		ended.Close()
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}, {Fd: int32(ended.Fd()), Events: unix.POLLIN}}
	one := make([]byte, 1)
	return func() (byte, error) {
		for {
			_, err := unix.Poll(fds, -1)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case err != nil:
				return 0, err
			case ctx.Err() != nil:
				return 0, ErrLeft
			}
			if _, err := io.ReadFull(f, one); err != nil {
				return 0, ErrLeft
			}
			return one[0], nil
		}
	}, done, nil
}
