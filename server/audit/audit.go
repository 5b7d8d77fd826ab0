// Package audit records who changed something through the server, or was refused: in a file of its
// own beside the log, one entry per line. No entry holds what somebody said, a token, or anything
// else that a stranger could have made up.
//
// Only the owner can read the file, and its size is bounded: a full one is rotated, and the oldest
// rotated one removed. Floods of refusals are thinned out, and counted, so that they cannot push
// out earlier entries.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"earshot"
)

// An Entry is a request that changed something or was refused.
type Entry struct {
	At      time.Time             `json:"time"`
	Who     earshot.ParticipantID `json:"who,omitempty"` // empty if unknown
	From    string                `json:"from"`          // the account, such as uid1000, or the address
	Method  string                `json:"method"`
	Route   string                `json:"route,omitempty"` // empty if there is none
	Status  int                   `json:"status"`          // the HTTP status
	Changed string                `json:"changed,omitempty"`
	Missing int                   `json:"missing,omitempty"` // earlier refusals that were not written, since they were too many
}

// Refused reports whether a request was refused.
func (e Entry) Refused() bool { return e.Status >= 400 }

const (
	fileBytes = 1 << 20 // the size at which a file is rotated: about 8,000 entries
	aside     = 4       // rotated files that are kept

	// The refusals that are written: per second, and at once.
	perSecond = 2
	atOnce    = 100
)

// A Log is the audit file. It may be used from many goroutines of one process.
type Log struct {
	path string
	most int64

	mu      sync.Mutex
	file    *os.File
	size    int64
	thin    *rate.Limiter
	missing int
	failed  bool
	report  func(error)
}

// Open opens the file at path, and creates its directory if it is missing. Report is called once
// when entries can no longer be written; it may be nil.
func Open(path string, report func(error)) (*Log, error) {
	l := &Log{path: path, most: fileBytes, thin: rate.NewLimiter(perSecond, atOnce), report: report}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of the audit log: %w", err)
	}
	return l, l.open()
}

// open opens the file.
func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the audit log: %w", err)
	}
	about, err := f.Stat()
	if err == nil && about.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("opening the audit log: %w", err)
	}
	l.file, l.size = f, about.Size()
	return nil
}

// Move continues at another path, whose directory it creates if it is missing. If it fails, the
// log continues at the old path.
func (l *Log) Move(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path == l.path {
		return nil
	}
	next, err := Open(path, nil)
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.path, l.file, l.size = path, next.file, next.size
	return nil
}

// Write writes an entry. The first failure is reported.
func (l *Log) Write(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Refused() && !l.thin.AllowN(e.At, 1) {
		l.missing++
		return
	}
	e.Missing, l.missing = l.missing, 0
	err := l.write(e)
	if err != nil && !l.failed && l.report != nil {
		l.report(err)
	}
	l.failed = err != nil
}

func (l *Log) write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing the audit log: %w", err)
	}
	line = append(line, '\n')
	if l.size > 0 && l.size+int64(len(line)) > l.most {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	if err != nil {
		return fmt.Errorf("writing the audit log: %w", err)
	}
	return nil
}

// rotate renames the full file and begins a new one.
func (l *Log) rotate() error {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	for n := aside - 1; n >= 0; n-- {
		if err := os.Rename(name(l.path, n), name(l.path, n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rotating the audit log: %w", err)
		}
	}
	return l.open()
}

// name returns the name of the file that was rotated n times.
func name(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Last returns the newest entries of the log at path for which keep is true, the oldest first. It
// skips invalid lines, such as a crash leaves.
func Last(path string, many int, keep func(Entry) bool) ([]Entry, error) {
	var all []Entry
	for n := aside; n >= 0; n-- {
		some, err := read(name(path, n), keep)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all[max(0, len(all)-many):], nil
}

// read returns the entries of one file.
func read(path string, keep func(Entry) bool) (all []Entry, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.From != "" && keep(e) {
			all = append(all, e)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return all, nil
}
