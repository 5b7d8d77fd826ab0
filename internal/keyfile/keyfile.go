// Package keyfile reads and changes a small file that says who is let in, such as the [List] of tokens. The
// file is the truth, and several processes may change it. One that others could have written, or read if it holds a
// secret, or that is no regular file, is an error.
package keyfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A File is such a file. Its directory must exist.
type File struct {
	Path string
	What string // its content, in the plural, such as "tokens"
	Most int64  // bytes; a longer file is read to one byte more

	Secret bool // nobody else may read it

	Create string // the command that makes a new entry
	Review string // what removes entries that somebody else may have made, or know
}

// An Error is a file that cannot be trusted, so nobody is let in.
type Error struct {
	file          File
	problem, cure string
}

// Error says what is wrong with the file.
func (e *Error) Error() string {
	return fmt.Sprintf("the %s in %s %s", e.file.What, e.file.Path, e.problem)
}

// Cure says how to repair it.
func (e *Error) Cure() string { return e.cure }

// Damaged returns the error of a file with content that cannot be read.
func (f File) Damaged(err error) error {
	return &Error{f, "cannot be read: " + err.Error(), fmt.Sprintf("move %s away, and create new %s: %s", f.Path, f.What, f.Create)}
}

// settled is how long a file must have been unchanged before its content may be cached: file system
// clocks are coarse, so a file that is changed twice at once can look the same as before.
const settled = 2 * time.Second

// A Stamp is the metadata of a file. Any change to the file changes it.
type Stamp struct {
	device, inode    uint64
	bytes            int64
	mode, owner      uint32
	written, changed time.Time // of the content and of the metadata; nobody can set the latter
}

// stampOf returns the metadata of a file.
func stampOf(is *unix.Stat_t) Stamp {
	return Stamp{uint64(is.Dev), is.Ino, is.Size, uint32(is.Mode), is.Uid, time.Unix(is.Mtim.Unix()), time.Unix(is.Ctim.Unix())} // the types are those of Linux only there
}

// Settled reports whether content that was read with this stamp at now may be used for as long as
// the stamp is the same.
func (s Stamp) Settled(now time.Time) bool { return now.Sub(s.changed) > settled }

// Stamp returns the stamp of the file now, or false if there is none.
func (f File) Stamp() (Stamp, bool) {
	var is unix.Stat_t
	if unix.Stat(f.Path, &is) != nil {
		return Stamp{}, false
	}
	return stampOf(&is), true
}

// Read returns the content of the file, unless somebody else may have written it. If there is no file, the
// error is [fs.ErrNotExist].
func (f File) Read() ([]byte, Stamp, error) {
	opened, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("reading the %s: %w", f.What, err)
	}
	defer opened.Close()
	var is unix.Stat_t
	if err := unix.Fstat(int(opened.Fd()), &is); err != nil { // before reading, so that no change is missed in between
		return nil, Stamp{}, fmt.Errorf("reading the %s: %w", f.What, err)
	}
	switch {
	case is.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, Stamp{}, &Error{f, "are not a regular file", "move it away"}
	case int(is.Uid) != os.Geteuid() && is.Uid != 0:
		return nil, Stamp{}, &Error{f, "belong to another user", "move them away, and create new ones: " + f.Create}
	case f.Secret && is.Mode&0o077 != 0:
		return nil, Stamp{}, &Error{f, "can be read or changed by others", "chmod 600 " + f.Path + "; then " + f.Review}
	case is.Mode&0o022 != 0:
		return nil, Stamp{}, &Error{f, "can be changed by others", "chmod 600 " + f.Path + "; then " + f.Review}
	}
	data, err := io.ReadAll(io.LimitReader(opened, f.Most+1))
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("reading the %s: %w", f.What, err)
	}
	return data, stampOf(&is), nil
}

// Lock waits until nobody else changes the file. The lock file stays, since removing it would take
// it away from a process that has just locked it.
func (f File) Lock() (unlock func(), err error) {
	held, err := os.OpenFile(f.Path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the %s: %w", f.What, err)
	}
	for {
		err = unix.Flock(int(held.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		held.Close()
		return nil, fmt.Errorf("locking the %s: %w", f.What, err)
	}
	return func() { held.Close() }, nil
}
