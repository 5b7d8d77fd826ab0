package helper

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The descriptors of a helper's control pipes.
const (
	controlIn  = 3
	controlOut = 4
)

// errAlone is the error of a helper that somebody starts by hand.
var errAlone = errors.New("this program does not run alone; earshot starts it")

// Stdio returns the helper's end of the pipes that [Start] made; in and out are the standard ones.
// They are hidden from everything else: a library's output goes to standard error and so into the
// log, and no process that a library starts keeps the pipes open. If they are not ours, the first
// message sent fails and says so.
func Stdio(in, out *os.File) *Conn {
	fds := [4]int{controlIn, controlOut, int(in.Fd()), int(out.Fd())}
	p, err := privates(fds)
	if err == nil {
		err = vacate(fds)
	}
	if err != nil {
		return NewConn(noPipe{err}, noPipe{err}, noPipe{err}, noPipe{err})
	}
	c := NewConn(p[0], p[1], p[2], p[3])
	c.exit = exit
	return c
}

// exit ends the process and, if it leads a group, as one started by [Start] does, the rest of the
// group: nobody else may be left who knows what it has started.
func exit(code int) {
	if unix.Getpgrp() == os.Getpid() {
		unix.Kill(0, unix.SIGKILL)
	}
	os.Exit(code)
}

func privates(fds [4]int) (pipes [4]*os.File, err error) {
	for i, fd := range fds {
		if pipes[i], err = private(fd); err != nil {
			return pipes, err
		}
	}
	return pipes, nil
}

// private returns a pipe under a descriptor that no library knows and no child inherits. Reading
// it ends when it is closed.
func private(fd int) (*os.File, error) {
	var about unix.Stat_t
	if err := unix.Fstat(fd, &about); err != nil || about.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, errAlone
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, controlOut+1)
	if err != nil {
		return nil, fmt.Errorf("taking the pipes: %w", err)
	}
	if err := unix.SetNonblock(own, true); err != nil {
		return nil, fmt.Errorf("taking the pipes: %w", err)
	}
	return os.NewFile(uintptr(own), "pipe"), nil
}

// vacate removes the pipes from their old descriptors.
func vacate(fds [4]int) error {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer nothing.Close()
	return errors.Join(
		unix.Close(fds[0]),
		unix.Close(fds[1]),
		unix.Dup2(int(nothing.Fd()), fds[2]),
		unix.Dup2(unix.Stderr, fds[3]),
	)
}

// noPipe replaces a missing pipe.
type noPipe struct{ error }

func (a noPipe) Read([]byte) (int, error)  { return 0, a.error }
func (a noPipe) Write([]byte) (int, error) { return 0, a.error }
