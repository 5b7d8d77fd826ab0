package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What a lock file says of its last owner.
type previousExit int

const (
	none   previousExit = iota // there was none
	closed                     // it closed the journal
	died                       // it died between two commits
	broken                     // it died within a commit, or it left a file that it did not trust
)

// goodbye is what an owner writes who closed the journal.
const goodbye = "closed\n"

// A lock is the right to write in a data directory. The kernel takes it back
// when the process dies, in whatever way.
type lock struct {
	file *os.File
	at   int64 // where it says whether the owner trusts the file
}

// Behind its process id an owner says whether its file may be left as it is, should it die now.
const (
	settled  = " "
	doubtful = "!"
)

// acquire takes the lock at path, writes the process id into it, and tells how
// the last owner parted.
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
		err = l.write(pid + doubtful)
	}
	if err != nil {
		return nil, none, errors.Join(fmt.Errorf("locking %s: %w", directory, err), f.Close())
	}
	switch {
	case said == "":
		return l, none, nil
	case said == goodbye:
		return l, closed, nil
	case strings.HasSuffix(said, doubtful):
		return l, broken, nil
	}
	return l, died, nil
}

// take locks the file, or tells who has it.
func (l *lock) take(directory string) error {
	err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("locking %s: %w", directory, err)
	}
	said, _ := l.read()
	pid, _ := strconv.Atoi(strings.TrimRight(said, "\n"+settled+doubtful))
	return &ErrLocked{Directory: directory, PID: pid}
}

// read returns what the file says, at most as much as an owner writes.
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

// doubt notes whether the next start is to look through the file before anything else, should
// this process die now. If that cannot be noted, what is wrong is found in the background.
func (l *lock) doubt(is bool) {
	said := settled
	if is {
		said = doubtful
	}
	_, _ = l.file.WriteAt([]byte(said), l.at)
}

// release gives the lock back. An owner that trusts its file says so, and the
// next one need not look through all of it.
func (l *lock) release(trusted bool) error {
	var err error
	if trusted {
		err = l.write(goodbye)
	}
	return errors.Join(err, l.file.Close())
}
