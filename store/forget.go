package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// slice is how long one step may erase events while nobody else wants to write: erasing several
	// events in one commit makes each cheaper. A writer that arrives waits for the event that is
	// being erased, and for the commit.
	slice = 50 * time.Millisecond

	// gentle is how long a step may erase events when there is no hurry.
	gentle = 3 * time.Millisecond

	// gathered is how many erased events Forget passes to its caller at once.
	gathered = 4096
)

// Forget erases the events of a selection and, recursively, everything made from them, from the
// journal, the views and the files. It erases the newest first, in steps so short that others can
// write in between. What stays of an event is that it existed: its sequence, ID, time, room and
// visibility. n is how many events lost their content; unknown IDs are skipped. each, which may be
// nil, is called from the caller's goroutine with batches of events whose erasure is on the disk.
//
// A selection should set Until: events that arrive meanwhile are not selected, unless they are made
// from selected ones. If Forget is cut short by ctx, a full disk or a crash, some events are erased
// with everything made from them, and others are not. Calling it again with the same selection
// finishes the work.
//
// The last traces in the files are removed afterwards, in the background; [Store.Clean]
// waits for that.
func (s *Store) Forget(ctx context.Context, sel Selection, each func([]SelectedEvent)) (n int, err error) {
	all, err := s.Select(ctx, sel)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(all, func(a, b SelectedEvent) int { return int(b.Sequence - a.Sequence) })
	var told []SelectedEvent
	tell := func() {
		if each != nil && len(told) > 0 {
			each(told)
		}
		told = nil
	}
	defer s.tidier.wake()
	defer tell()
	for len(all) > 0 {
		gone, taken, err := s.forgetSome(ctx, all, slice)
		if err != nil {
			return n, fmt.Errorf("forgetting: %w", err)
		}
		n, all, told = n+len(gone), all[taken:], append(told, gone...)
		if len(told) >= gathered {
			tell()
		}
	}
	return n, nil
}

// forgetSome erases the first of some events, as many as the given time allows. It returns what was
// erased, and how many of the given events it processed.
func (s *Store) forgetSome(ctx context.Context, all []SelectedEvent, within time.Duration) (gone []SelectedEvent, taken int, err error) {
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		for began := time.Now(); taken < len(all) && (taken == 0 || time.Since(began) < within && s.write.waiting.Load() == 0); taken++ {
			some, err := s.eraseAll(ctx, tx, all[taken].ID)
			if err != nil {
				return false, err
			}
			gone = append(gone, some...)
		}
		if len(gone) == 0 {
			return false, nil
		}
		return true, mark(ctx, tx)
	})
	return gone, taken, err
}

// Clean removes the last traces of deleted content from the files, if there are any, and returns
// when they are gone, which takes some ten seconds for each gigabyte of the journal. If ctx ends
// first, another program reads the file, or the disk has no room for a copy of it, the error says
// so, and the traces are removed afterwards.
func (s *Store) Clean(ctx context.Context) error { return s.purge(ctx) }

// Aside returns the files in a directory that are journals that were set aside, for example as
// damaged. Nothing can be erased inside such a file. A file with any other name does not belong to
// the store, and is not returned.
func Aside(directory string) []string {
	there, _ := os.ReadDir(directory) // what it could read, even with an error
	var all []string
	for _, f := range there {
		if why, is := strings.CutPrefix(f.Name(), journalFile+"."); is && (strings.HasPrefix(why, wasDamaged+"-") || strings.HasPrefix(why, wasReplaced+"-")) {
			all = append(all, filepath.Join(directory, f.Name()))
		}
	}
	return all
}

// ForgetAside overwrites the files that were set aside with zeros and removes them.
func (s *Store) ForgetAside() error {
	var faults []error
	for _, path := range Aside(filepath.Dir(s.archive.path)) {
		faults = append(faults, shred(path))
	}
	return errors.Join(faults...)
}

// zeros are written over a file.
var zeros [65536]byte

// shred overwrites a file and removes it.
func shred(path string) (err error) {
	bytes, there, err := size(path)
	if err != nil || !there {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for left := bytes; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = f.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Remove(path), flush(filepath.Dir(path)))
}
