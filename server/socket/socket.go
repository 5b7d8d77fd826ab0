// Package socket is the socket at which a daemon answers commands of its user.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"earshot/server/wire"
)

// ErrRunning says that another daemon answers at the socket.
var ErrRunning = errors.New("earshot is already running")

// Listen opens the socket for [earshot/server.Server.Serve], for its user alone. It replaces a socket that a dead
// daemon left behind; if a live daemon answers, the error is [ErrRunning].
func Listen(socket string) (*Listener, error) {
	if err := makeDir(filepath.Dir(socket)); err != nil {
		return nil, err
	}
	lock, err := takeLock(socket + ".lock")
	if err != nil {
		return nil, err
	}
	l, err := listenAt(socket)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &Listener{l, lock}, nil
}

// A Listener is a socket and the lock that says who owns it. The kernel releases the lock when the
// process dies, for whatever reason. The lock file stays, since removing it would take it away
// from a process that has just locked it.
type Listener struct {
	*net.UnixListener
	lock *os.File
}

// Close removes the socket, and then releases the lock.
func (l *Listener) Close() error { return errors.Join(l.UnixListener.Close(), l.lock.Close()) }

// makeDir makes sure that dir belongs to us and is closed to others.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("creating the socket's directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("creating the socket's directory: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Getuid() {
		return &wire.Refusal{
			Problem: fmt.Sprintf("the socket's directory %s belongs to somebody else", dir),
			Mend:    "set server.socket to a path in a directory of your own",
		}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return &wire.Refusal{
			Problem: fmt.Sprintf("the socket's directory %s is open to others", dir),
			Mend:    "chmod 700 " + dir,
		}
	}
	return nil
}

// takeLock locks the file at path, or returns ErrRunning.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the socket: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrRunning
	}
	return nil, fmt.Errorf("locking the socket: %w", err)
}

// listenAt listens at socket, and replaces a dead one.
func listenAt(socket string) (*net.UnixListener, error) {
	info, err := os.Lstat(socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("opening the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("opening the socket: %s is there and is not a socket", socket)
	default:
		if err := removeDead(socket); err != nil {
			return nil, err
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("opening the socket: %w", err)
	}
	if err := os.Chmod(socket, 0o600); err != nil { // so far the directory has kept others out
		l.Close()
		return nil, fmt.Errorf("opening the socket: %w", err)
	}
	return l, nil
}

// removeDead removes a socket unless somebody answers at it.
func removeDead(socket string) error {
	c, err := net.Dial("unix", socket)
	if err == nil {
		c.Close()
		return ErrRunning
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("checking whether the socket is in use: %w", err)
	}
	if err := os.Remove(socket); err != nil {
		return fmt.Errorf("removing a dead socket: %w", err)
	}
	return nil
}
