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
		case err != nil && ctx.Err() == nil && !raw && len(line) > 0: // a file that does not end with a line break
			return string(line), nil
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
	read := func(b []byte) (int, error) { return io.ReadFull(f, b) }
	if tty, ok := unblocked(f); ok {
		left := done
		done = func() { left(); unix.Close(tty) }
		read = func(b []byte) (int, error) { return unix.Read(tty, b) }
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
			switch n, err := read(one); {
			case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
				continue
			case err != nil || n == 0:
				return 0, ErrLeft
			}
			return one[0], nil
		}
	}, done, nil
}

// unblocked opens the terminal f again, for reads that do not block. ^C discards what was typed. If that
// happens after poll has reported a key, a blocking read waits for ever. ok is false if f is no terminal
// or cannot be opened again, as on systems without /proc.
func unblocked(f *os.File) (tty int, ok bool) {
	if !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	tty, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	return tty, err == nil
}
