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
	// slice is how long one step takes at most, in which events are erased, while nobody
	// else wants to write: more in one commit cost less. Whoever comes waits for the event
	// that is being erased, and the commit.
	slice = 50 * time.Millisecond

	// gentle is the same where there is no hurry.
	gentle = 3 * time.Millisecond

	// gathered is of how many erased events who forgets is told at once.
	gathered = 4096
)

// Forget erases what a selection means and, in turn, all that was made of it, from the
// journal, the views and the files, the newest first and in steps so short that others can
// write in between. What stays is that there was something: its sequence, ID, time, room and
// visibility. N is how many events lost their content; IDs that nobody knows are passed over.
// Each is called with some of them when they are on the
// disk as erased, from the caller's goroutine, until all were; it may be nil.
//
// A selection should say until when: what comes meanwhile is not meant otherwise, except
// what is made of something that is. If Forget is cut short, by ctx, by a full disk or a
// crash, some events are erased with all that was made of them and others are not; to
// forget the same again finishes it.
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

// forgetSome erases the first of some events, as many as can be in a time, and returns what
// was erased, and how many of them were looked at.
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

// Clean removes the last traces of what was deleted from the files, if there are any, and
// returns when they are gone. If ctx ends first, or another program reads the file, the
// error says so, and they are removed when that is over.
func (s *Store) Clean(ctx context.Context) error { return s.purge(ctx) }

// Aside returns the files of journals in a directory that were set aside, as a damaged one
// is. What is in them nothing can be taken out of. What has another name somebody has put
// there, and is theirs.
func Aside(directory string) []string {
	there, _ := os.ReadDir(directory) // of what it can read
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
