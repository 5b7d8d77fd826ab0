// Package logfile is the log of the daemon: a file that has a bound, that can be moved and made
// more or less talkative while it is written in, and into which nothing gets that people say.
package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"earshot/internal/redact"
)

// mostBytes is how long the log becomes before it is put aside: some 60,000 lines, months of a
// daemon that is well, and no more than a person can search.
const mostBytes = 10 << 20

// A File is where the daemon writes down what befalls it. It can be moved, and made
// more or less talkative, while it is written in. One that is full is put aside under its name
// with .1, in the place of the one before. If that cannot be done, it goes on where it is.
type File struct {
	standard *os.File
	level    slog.LevelVar

	mu   sync.Mutex
	file *os.File
	room int64 // how many bytes it still has room for
	most int64 // how many there are in one; 0 is no bound
}

// Open opens the log that cfg names. What people say cannot get into it.
func Open(cfg Config, standard *os.File) (*slog.Logger, *File, error) {
	b := &File{standard: standard, most: mostBytes}
	move, err := b.MoveTo(cfg)
	if err != nil {
		return nil, nil, err
	}
	move()
	h := redact.Handler{Next: slog.NewTextHandler(b, &slog.HandlerOptions{Level: &b.level})}
	return slog.New(h), b, nil
}

// MoveTo opens what cfg names, and returns what makes it the log. Until then nothing has
// changed.
func (b *File) MoveTo(cfg Config) (move func(), err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	file := b.standard
	if cfg.File != "-" {
		if err := os.MkdirAll(filepath.Dir(cfg.File), 0o700); err != nil {
			return nil, fmt.Errorf("creating the folder of the log: %w", err)
		}
		if file, err = appended(cfg.File); err != nil {
			return nil, err
		}
	}
	return func() {
		b.level.Set(level)
		b.mu.Lock()
		defer b.mu.Unlock()
		_ = b.leave()
		b.writes(file)
	}, nil
}

// appended opens a log to write at its end.
func appended(path string) (*os.File, error) {
	return OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
}

// OpenFile opens a log. What is no file and no device, such as a pipe, is refused: whoever
// writes to it, or only opens it, waits for others.
func OpenFile(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NONBLOCK, 0o600)
	if err != nil && !errors.Is(err, unix.ENXIO) && !errors.Is(err, unix.EISDIR) {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	var about fs.FileInfo
	if f != nil {
		about, err = f.Stat()
	} else {
		about, err = os.Stat(path)
	}
	if err == nil {
		if is := about.Mode().Type(); is == 0 || is&os.ModeCharDevice != 0 && f != nil {
			return f, nil
		}
		err = &PlaceError{path, about.Mode()}
	}
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return nil, err
}

// A PlaceError says what is at the path of the log that is no place for one.
type PlaceError struct {
	path string
	mode fs.FileMode
}

func (e *PlaceError) Error() string {
	is := "is a device that does not exist"
	switch e.mode.Type() {
	case fs.ModeNamedPipe:
		is = "is a named pipe, and earshot would wait for its reader"
	case fs.ModeSocket:
		is = "is a socket"
	case fs.ModeDir:
		is = "is a directory"
	case fs.ModeDevice:
		is = "is a disk"
	}
	return fmt.Sprintf("opening the log: %s %s", e.path, is)
}

// Cure says what mends it.
func (e *PlaceError) Cure() string { return Cure }

// Cure is what mends a log that cannot be opened.
const Cure = "set log.file to a regular file that you can write, or to - for standard error"

// writes makes a file the log. The mutex is held.
func (b *File) writes(file *os.File) {
	b.file, b.room = file, math.MaxInt64
	if about, err := file.Stat(); err == nil && about.Mode().IsRegular() && file != b.standard && b.most > 0 {
		b.room = b.most - about.Size()
	}
}

// Write implements [io.Writer].
func (b *File) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(len(line)) > b.room && b.room < b.most { // a longer line has one of its own
		b.turns()
	}
	n, err := b.file.Write(line)
	b.room -= int64(n)
	return n, err
}

// turns puts the log aside and begins another. The mutex is held.
func (b *File) turns() {
	path := b.file.Name()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file is put aside, and not the link that leads to it
	}
	b.room = b.most // before it is tried again
	if is, err := b.file.Stat(); err == nil {
		if there, err := os.Stat(path); err == nil && os.SameFile(is, there) && os.Rename(path, path+".1") != nil {
			return
		}
	}
	if next, err := appended(path); err == nil {
		_ = b.leave()
		b.writes(next)
	}
}

// leave closes the file. The mutex is held.
func (b *File) leave() error {
	if b.file == nil || b.file == b.standard {
		return nil
	}
	return b.file.Close()
}

// Close closes it. Nothing is written afterwards.
func (b *File) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leave()
}
