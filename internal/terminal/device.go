package terminal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"
)

// past is a deadline that ends a read or a write at once.
var past = time.Unix(1, 0)

// reopen opens what f is a second time, so that reading and writing can be
// given up. To make f itself give up would change it for everybody who shares
// it, such as the shell that comes back afterwards. What never blocks for long
// is returned as it is; own reports whether it must be closed.
func reopen(f *os.File, flag int) (g *os.File, own bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("looking at %s: %w", f.Name(), err)
	}
	mode := info.Mode()
	if mode.IsRegular() || mode.IsDir() {
		return f, false, nil
	}
	name := fmt.Sprintf("/proc/self/fd/%d", descriptor(f))
	if mode&(os.ModeCharDevice|os.ModeNamedPipe) != 0 {
		if g, err = os.OpenFile(name, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0); err == nil {
			return g, true, nil
		}
	}
	if term.IsTerminal(descriptor(f)) { // somebody else's, as after su, but still the one that we run on
		if g, err = os.OpenFile("/dev/tty", flag|syscall.O_NONBLOCK, 0); err == nil {
			return g, true, nil
		}
	}
	return share(f)
}

// share makes a second descriptor of f, which then waits for nothing.
func share(f *os.File) (g *os.File, own bool, err error) {
	fd, err := syscall.Dup(descriptor(f))
	if err != nil {
		return nil, false, fmt.Errorf("opening %s again: %w", f.Name(), err)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return nil, false, fmt.Errorf("opening %s again: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), true, nil
}

// descriptor returns the number of f, without what [os.File.Fd] does to it:
// after that, deadlines would have no effect.
func descriptor(f *os.File) int {
	fd := -1
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(n uintptr) { fd = int(n) })
	}
	return fd
}

// send writes b until it is written, stopped says so, or the device is lost,
// and returns how much of it was. Whoever makes stopped true sets a deadline
// that is over, so that a write that waits notices.
func send(w *os.File, b []byte, stopped func() bool) (n int, err error) {
	for n < len(b) {
		w.SetWriteDeadline(time.Time{}) // in vain where no write waits
		if stopped() {
			return n, nil
		}
		m, err := w.Write(b[n:])
		n += m
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	return n, nil
}
