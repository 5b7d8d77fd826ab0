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

	"earshot"
	"earshot/store/journal"
)

const (
	// stepTime is how long one step may erase events while nobody else wants to write: erasing
	// several events in one commit makes each cheaper. A writer that arrives waits for the event
	// that is being erased, and for the commit.
	stepTime = 50 * time.Millisecond

	// gentleTime is how long a step may erase events when there is no hurry.
	gentleTime = 3 * time.Millisecond

	// batchSize is how many erased events Forget passes to its caller at once.
	batchSize = 4096
)

// A Selection says which events are selected; see [journal.Selection].
type Selection = journal.Selection

// A SelectedEvent is an event that is selected, or was made from a selected one.
type SelectedEvent = journal.SelectedEvent

// Select returns the selected events, followed by everything that was made from them, leaving out
// what is already erased, each in the order of the journal. It is for the owner of the journal, and
// ignores visibility. A selection only by person or time takes as long as reading the journal, but
// nobody waits meanwhile.
func (s *Store) Select(ctx context.Context, sel Selection) (all []SelectedEvent, err error) {
	err = s.archive.Look(ctx, func(v earshot.View) (err error) {
		all, err = journal.Select(ctx, v, sel)
		return s.archive.failed(ctx, err)
	})
	return all, err
}

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
	var batch []SelectedEvent
	report := func() {
		if each != nil && len(batch) > 0 {
			each(batch)
		}
		batch = nil
	}
	defer s.cleaner.wake()
	defer report()
	for len(all) > 0 {
		gone, done, err := s.forgetSome(ctx, all, stepTime)
		if err != nil {
			return n, fmt.Errorf("forgetting: %w", err)
		}
		n, all, batch = n+len(gone), all[done:], append(batch, gone...)
		if len(batch) >= batchSize {
			report()
		}
	}
	return n, nil
}

// forgetSome erases the first of some events, as many as the given time allows. It returns what was
// erased, and how many of the given events it processed.
func (s *Store) forgetSome(ctx context.Context, all []SelectedEvent, within time.Duration) (gone []SelectedEvent, done int, err error) {
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		for began := time.Now(); done < len(all) && (done == 0 || time.Since(began) < within && s.write.waiting.Load() == 0); done++ {
			some, err := s.editor.EraseAll(ctx, tx, all[done].ID)
			if err != nil {
				return false, err
			}
			gone = append(gone, some...)
		}
		if len(gone) == 0 {
			return false, nil
		}
		return true, journal.MarkTraces(ctx, tx)
	})
	return gone, done, err
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
		if why, is := strings.CutPrefix(f.Name(), journal.FileName+"."); is && (strings.HasPrefix(why, journal.ReasonDamaged+"-") || strings.HasPrefix(why, journal.ReasonReplaced+"-")) {
			all = append(all, filepath.Join(directory, f.Name()))
		}
	}
	return all
}

// ForgetAside overwrites the files that were set aside with zeros and removes them.
func (s *Store) ForgetAside() error {
	var faults []error
	for _, path := range Aside(filepath.Dir(s.archive.path)) {
		faults = append(faults, journal.Shred(path))
	}
	return errors.Join(faults...)
}
