package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockFile is the name of the lock in a data directory.
const lockFile = "lock"

// A previousExit is what a lock file says about its last owner.
type previousExit int

const (
	none   previousExit = iota // there was no owner
	closed                     // it closed the journal
	died                       // it died between two commits
	broken                     // it died within a commit, or left a file that it did not trust
)

// closedText is what an owner writes after closing the journal.
const closedText = "closed\n"

// A lock is the right to write in a data directory. The kernel releases it when the process dies,
// however it dies.
type lock struct {
	file *os.File
	at   int64 // the offset at which it records whether the owner trusts the file
}

// After its process ID, an owner writes whether the file may be used unchecked if it dies now.
const (
	trustedMark  = " "
	doubtfulMark = "!"
)

// acquire takes the lock at path, writes the process ID into it, and returns how the last owner
// ended.
func acquire(directory, path string) (*lock, previousExit, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, none, fmt.Errorf("locking %s: %w", directory, err)
	}
	l := &lock{file: f}
	if err := l.take(directory); err != nil {
		return nil, none, errors.Join(err, f.Close())
	}
	said, err := l.read()
	if err == nil {
		pid := strconv.Itoa(os.Getpid()) + "\n"
		l.at = int64(len(pid))
		err = l.write(pid + doubtfulMark)
	}
	if err != nil {
		return nil, none, errors.Join(fmt.Errorf("locking %s: %w", directory, err), f.Close())
	}
	switch {
	case said == "":
		return l, none, nil
	case said == closedText:
		return l, closed, nil
	case strings.HasSuffix(said, doubtfulMark):
		return l, broken, nil
	}
	return l, died, nil
}

// take locks the file, or says who holds it.
func (l *lock) take(directory string) error {
	err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("locking %s: %w", directory, err)
	}
	said, _ := l.read()
	pid, _ := strconv.Atoi(strings.TrimRight(said, "\n"+trustedMark+doubtfulMark))
	return &ErrLocked{Directory: directory, PID: pid}
}

// read returns the contents of the file, at most as much as an owner writes.
func (l *lock) read() (string, error) {
	said, err := io.ReadAll(io.NewSectionReader(l.file, 0, 32))
	return string(said), err
}

func (l *lock) write(said string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(said), 0)
	return err
}

// doubt records whether the next start must check the whole file first if this process dies now. If
// that cannot be recorded, damage is found in the background.
func (l *lock) doubt(is bool) {
	said := trustedMark
	if is {
		said = doubtfulMark
	}
	_, _ = l.file.WriteAt([]byte(said), l.at)
}

// release gives the lock back. If the owner trusts its file, release records that, so the next
// owner need not check all of it.
func (l *lock) release(trusted bool) error {
	var err error
	if trusted {
		err = l.write(closedText)
	}
	return errors.Join(err, l.file.Close())
}

// prepare creates the directory, accessible only to its owner. An existing directory keeps its
// mode, since it may hold other files too; our files in it do not.
func prepare(directory string) error {
	if !filepath.IsAbs(directory) {
		return fmt.Errorf("opening the journal: the directory %q is not an absolute path", directory)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return fmt.Errorf("making the directory of the journal: %w: choose another as store.directory", err)
	}
	return nil
}
