package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"earshot"
)

// unpurged is the mark, among the versions, that something was deleted whose traces may still be in
// the file. It rises with each deletion, so that removing the traces of one does not clear the mark
// of another.
const unpurged = "unpurged"

// mark notes that something is deleted.
func mark(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO versions (name, version) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET version = version + 1", unpurged)
	return err
}

// marked returns the mark, 0 if there is none.
func marked(ctx context.Context, db earshot.View) (mark int, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM versions WHERE name = ?", unpurged).Scan(&mark)
	return mark, err
}

// unmark clears a mark, unless something was deleted since it was read.
func unmark(ctx context.Context, tx *sql.Tx, mark int) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE name = ? AND version = ?", unpurged, mark)
	return err
}

const (
	// stretch is how many pages are examined in one go.
	stretch = 512

	// cleaned is how many pages are cleaned at most in one step, so that others can write in
	// between: it takes a few milliseconds.
	cleaned = 32
)

// purge removes the traces of deleted content: first from the index of words, and then from the
// pages of the file.
//
// SQLite overwrites what it frees, but when it moves rows from one page to another to balance them,
// it leaves the old copies between the rows. A row that is deleted later is then overwritten in one
// place only. So purge sets every byte of a page that belongs to no row to zero, then empties the
// log beside the file, and only then clears the mark.
//
// Most pages are clean. So a reader examines them, which lets others write, and passes the numbers
// of the dirty ones to the writer, which examines them again as they are then. Rows that are moved
// meanwhile are no traces of earlier deletions.
func (s *Store) purge(ctx context.Context) error {
	s.tidier.purging.Lock()
	defer s.tidier.purging.Unlock()
	was, err := s.unpurged(ctx)
	if err != nil || was == 0 {
		return err
	}
	if err := s.sweepIndex(ctx); err != nil {
		return err
	}
	if err := s.sweepPages(ctx); err != nil {
		return err
	}
	if err := s.empty(ctx); err != nil {
		return err
	}
	return s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (bool, error) { return false, unmark(ctx, tx, was) })
}

// unpurged returns the mark; 0 if there is nothing to clean.
func (s *Store) unpurged(ctx context.Context) (was int, err error) {
	err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
		was, err = marked(ctx, tx)
		return false, err
	})
	return was, err
}

// farewell is how long traces are removed while the store closes: whoever waits for the next daemon
// waits for this one. The next start continues.
const farewell = 500 * time.Millisecond

// errLeft says that there was no more time.
var errLeft = errors.New("no time was left; the next start continues")

// sweepIndex removes the terms of deleted texts from the index.
func (s *Store) sweepIndex(ctx context.Context) (err error) {
	for more := true; more && err == nil; {
		err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
			more, err = s.archive.index.sweep(ctx, tx)
			return false, err
		})
	}
	if err != nil {
		return err
	}
	left, err := s.archive.index.separators(ctx, s.archive.db())
	for some := range slices.Chunk(left, cleaned) {
		if err == nil {
			err = s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (bool, error) { return false, separate(ctx, tx, some) })
		}
	}
	return err
}

// sweepPages cleans all pages.
func (s *Store) sweepPages(ctx context.Context) (err error) {
	for from, more := int64(1), true; more; from += stretch {
		var dirty []int64
		if dirty, more, err = untidy(ctx, s.archive.db(), from); err != nil {
			return err
		}
		for some := range slices.Chunk(dirty, cleaned) {
			if err := s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (bool, error) { return false, sweep(ctx, tx, some) }); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	// patient is how many times emptying the log is tried while another program reads it, and
	// breath how long others can write in between.
	patient = 40
	breath  = 50 * time.Millisecond
)

// empty makes the writer empty the log beside the file, as soon as nobody reads it.
func (s *Store) empty(ctx context.Context) (err error) {
	for range patient {
		err = s.write.do(ctx, true, func(context.Context, *sql.Tx) (bool, error) { return false, nil })
		if !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-time.After(breath):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}

// finish starts to remove the traces that an earlier daemon had no time to remove. Nobody waits for
// that, and a failure does not stop this daemon.
func (s *Store) finish(ctx context.Context) {
	mark, err := marked(ctx, s.archive.db())
	if mark > 0 {
		s.tidier.wake()
	}
	if err != nil {
		s.archive.log.Warn("traces of deleted events may be left in the journal", "err", err)
	}
}

// untidy returns the numbers of the pages of a stretch that are dirty now, and whether there are
// more pages behind them.
func untidy(ctx context.Context, db earshot.View, from int64) (dirty []int64, more bool, err error) {
	var pages int64
	if err := db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return nil, false, err
	}
	if pages >= 1<<24 {
		return nil, false, errors.New("the file is too large to search for traces") // see clean
	}
	rows, err := db.QueryContext(ctx, `WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT pgno, data FROM n CROSS JOIN sqlite_dbpage ON pgno = i`, from, min(from+stretch-1, pages))
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var data sql.RawBytes
		if err := rows.Scan(&number, &data); err != nil {
			return nil, false, err
		}
		if stale(data, number == 1) {
			dirty = append(dirty, number)
		}
	}
	return dirty, from+stretch <= pages, rows.Err()
}

// sweep cleans some pages.
func sweep(ctx context.Context, tx *sql.Tx, pages []int64) error {
	for _, number := range pages {
		var data []byte
		err := tx.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			continue // the file has become shorter
		}
		if err == nil && clean(data, number == 1) {
			_, err = tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", data, number)
		}
		if err != nil {
			return fmt.Errorf("cleaning page %d: %w", number, err)
		}
	}
	return nil
}

// clean sets the bytes of a page that belong to no row to zero, and reports whether any were not.
func clean(page []byte, first bool) (changed bool) {
	for gap := range unowned(page, first) {
		changed = wipe(gap) || changed
	}
	return changed
}

// stale reports whether a page has anything to clean.
func stale(page []byte, first bool) bool {
	for gap := range unowned(page, first) {
		if !zero(gap) {
			return true
		}
	}
	return false
}

// unowned yields the parts of a page that belong to no row. A page that is not part of a tree
// begins with the number of another page, whose first byte is zero in a file of this size; such a
// page has no such parts. See sqlite.org/fileformat2.html.
func unowned(page []byte, first bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		head := 0
		if first {
			head = 100
		}
		if len(page) < head+12 {
			return
		}
		start := head
		switch page[head] {
		case 0x02, 0x05:
			start += 12
		case 0x0a, 0x0d:
			start += 8
		default:
			return
		}
		at := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
		start += 2 * at(head+3)
		content := at(head + 5)
		if content == 0 {
			content = 65536
		}
		if start > content || content > len(page) {
			return // damaged; whoever reads it will report that
		}
		if !yield(page[start:content]) {
			return
		}
		for block := at(head + 1); block >= content && block+4 <= len(page); {
			next, size := at(block), at(block+2)
			if size < 4 || block+size > len(page) {
				return
			}
			if !yield(page[block+4:block+size]) || next <= block {
				return
			}
			block = next
		}
	}
}

// wipe sets bytes to zero, and reports whether any was not.
func wipe(some []byte) (changed bool) {
	changed = !zero(some)
	clear(some)
	return changed
}

// zeros is as long as the largest page.
var zeros [65536]byte

// zero reports whether all bytes are zero.
func zero(some []byte) bool { return bytes.Equal(some, zeros[:len(some)]) }
