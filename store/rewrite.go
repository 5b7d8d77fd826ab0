package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"earshot"
	"earshot/store/journal"
	"earshot/store/views"
)

// errChanged says that something was changed, deleted or mended while the file was being copied.
var errChanged = errors.New("something else was deleted or changed meanwhile")

const (
	// maxAttempts is how many attempts are made to replace the file while another program, or a
	// long query, reads it. attemptDelay is how long others can write in between.
	maxAttempts  = 40
	attemptDelay = 50 * time.Millisecond

	// maxPause is how long the writer, and with it everybody else who writes, waits for queries to
	// end before the file is replaced.
	maxPause = 10 * time.Millisecond

	// reservedSpace is how much of the disk a copy leaves free: as much as the log beside the file
	// takes.
	reservedSpace = 32 << 20
)

// A fileCopy is a copy of the journal that is going to replace it.
type fileCopy struct {
	path   string
	db     *sql.DB // nil before it is opened and after it is closed
	views  *views.Set
	mark   int   // the mark of the journal when it was copied
	mended bool  // whether the journal had been mended by then
	last   int64 // the sequence of the newest event in the copy
}

// rewrite replaces the file by a copy of its present contents.
//
// Nobody waits while the file is copied, or while events that were added meanwhile are added to the
// copy in the same way as to the journal. Only then does the writer pause, add the few that are
// left, and give the copy the name of the file. If anything other than additions has happened since
// the copy was begun, the mark has risen, and the error is errChanged.
//
// A crash at any moment leaves one of the two files under that name, and it is complete: the log
// beside the old file is empty before the copy gets its name. The mark is not in the copy, and
// stays in the file if that is not replaced.
func (s *Store) rewrite(ctx context.Context, c *fileCopy) (err error) {
	s.cleaning.begin()
	defer s.cleaning.over()
	if err := checkSpace(s.archive.path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(), journal.Discard(c.path)) }()
	if err := errors.Join(journal.Discard(c.path), journal.Touch(c.path)); err != nil {
		return err
	}
	if err := s.archive.copyTo(ctx, c.path); err != nil {
		return err
	}
	if err := journal.Sync(c.path); err != nil {
		return journal.Explain(c.path, err)
	}
	if err := s.attach(ctx, c); err != nil {
		return err
	}
	for range maxAttempts {
		if err := s.follow(ctx, c, s.archive.db()); err != nil {
			return err
		}
		s.checkpoint(ctx)
		err = s.write.between(ctx, func(ctx context.Context) error { return s.swap(ctx, c) })
		if !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-time.After(attemptDelay):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}

// checkSpace returns an [ErrFull] if the disk has no room for a copy of the file at path.
func checkSpace(path string) error {
	bytes, _, err := journal.Size(path)
	if err != nil {
		return err
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &disk); err != nil {
		return nil // copying shows it
	}
	if free := uint64(disk.Bavail) * uint64(disk.Bsize); free < uint64(bytes)+reservedSpace {
		return fmt.Errorf("%w anew: %s: what was forgotten is erased, but traces of it stay in the file until the disk has room for a copy of it: free %d MB, and it goes on by itself",
			ErrFull, path, (uint64(bytes)+reservedSpace-free)>>20+1)
	}
	return nil
}

// attach opens a copy, unless more was deleted before it was made.
func (s *Store) attach(ctx context.Context, c *fileCopy) (err error) {
	if c.db, err = journal.OpenWriter(c.path); err != nil {
		return err
	}
	if _, err := c.db.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil { // until it is finished
		return err
	}
	c.views = s.views.ForCopy()
	var last sql.NullInt64
	if err := c.db.QueryRowContext(ctx, "SELECT max(sequence) FROM journal").Scan(&last); err != nil {
		return err
	}
	c.last = last.Int64
	if now, err := journal.TraceMark(ctx, c.db); err != nil || now != c.mark {
		return errors.Join(err, errChanged)
	}
	return nil
}

// follow adds to a copy what the journal has after it.
func (s *Store) follow(ctx context.Context, c *fileCopy, from earshot.View) error {
	for {
		rows, err := journal.After(ctx, from, c.last)
		if err != nil {
			return s.archive.failed(ctx, err)
		}
		if len(rows) == 0 {
			return nil
		}
		if err := c.add(ctx, rows); err != nil {
			return fmt.Errorf("copying the journal: %w", journal.Explain(c.path, err))
		}
	}
}

// add adds rows to the copy, in one step.
func (c *fileCopy) add(ctx context.Context, rows []journal.Row) error {
	err := journal.InTransaction(ctx, c.db, func(tx *sql.Tx) error {
		for _, r := range rows {
			e, err := r.Event()
			if err == nil {
				err = journal.Insert(ctx, tx, r, e)
			}
			if err == nil {
				err = c.views.Apply(ctx, tx, e)
			}
			if err != nil {
				return err
			}
		}
		for c.views.Index.NeedsMerge() {
			if err := c.views.Index.Merge(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		c.last = rows[len(rows)-1].Sequence
	}
	return err
}

// finish clears the mark in the copy, and closes it, with everything on the disk.
func (c *fileCopy) finish(ctx context.Context) error {
	err := journal.ClearTraces(ctx, c.db)
	if err == nil {
		_, err = c.db.ExecContext(ctx, "PRAGMA synchronous = FULL")
	}
	err = journal.CloseNew(ctx, c.db, err)
	c.db = nil
	return err
}

func (c *fileCopy) close() error {
	if c.db == nil {
		return nil
	}
	return c.db.Close()
}

// swap gives a copy the name of the file. It runs on the writer's goroutine, between two commits.
func (s *Store) swap(ctx context.Context, c *fileCopy) error {
	if now, err := journal.TraceMark(ctx, s.write.db); err != nil || now != c.mark || s.mended != c.mended {
		return errors.Join(err, errChanged)
	}
	if err := s.follow(ctx, c, s.write.db); err != nil {
		return err
	}
	release, err := s.archive.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.write.empty(ctx); err != nil {
		return err
	}
	if err := c.finish(ctx); err != nil {
		return fmt.Errorf("copying the journal: %w", journal.Explain(c.path, err))
	}
	path := s.archive.path
	_ = s.write.db.Close() // it has nothing left to write
	err = journal.RemoveSideFiles(path)
	if err == nil {
		err = journal.Install(c.path, path)
	}
	db, wrong := journal.OpenWriter(path)
	if wrong == nil {
		s.write.db = db
		wrong = db.PingContext(ctx)
	}
	return errors.Join(err, wrong)
}

// checkpoint moves what it can of the log into the file while others write, so that the writer has
// little left to move when it empties the log. If this fails, emptying the log fails too.
func (s *Store) checkpoint(ctx context.Context) {
	db, err := journal.OpenWriter(s.archive.path)
	if err != nil {
		return
	}
	defer db.Close()
	_, _ = db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
}

// hold takes all connections of the pool, so that nobody reads the file. It waits only briefly for
// queries in progress. release closes the connections: later queries open the file that has the
// name by then.
func (a *Archive) hold(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, maxPause)
	defer cancel()
	var held []*sql.Conn
	release = func() {
		for _, c := range held {
			_ = c.Raw(func(any) error { return driver.ErrBadConn }) // this closes it
		}
	}
	for pool := a.db(); len(held) < journal.MaxReaders; {
		c, err := pool.Conn(ctx)
		if err != nil {
			release()
			if ctx.Err() != nil {
				err = fmt.Errorf("%s: %w", a.path, errBusy)
			}
			return nil, err
		}
		held = append(held, c)
	}
	return release, nil
}

// Cleaning returns since when the file has been copied to remove the traces of what was forgotten,
// how many percent are done, and whether it is being copied. The journal can be used normally
// meanwhile.
func (s *Store) Cleaning() (since time.Time, percent int64, is bool) {
	since, is = s.cleaning.runs()
	all, _, _ := journal.Size(s.archive.path)
	done, _, _ := journal.Size(filepath.Join(filepath.Dir(s.archive.path), journal.RewriteName))
	return since, min(99, done*100/max(1, all)), is
}
