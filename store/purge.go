package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"earshot"
)

// unpurged is the mark, among the versions, that something was deleted whose
// traces may still lie in the file. It rises with each deletion, so that whoever
// has removed the traces of one does not take away the mark of another.
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

// unmark takes a mark away, unless something was deleted since it was read.
func unmark(ctx context.Context, tx *sql.Tx, mark int) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE name = ? AND version = ?", unpurged, mark)
	return err
}

// stretch is how many pages are cleaned in one step, so that others can write
// in between. It takes some 10 ms.
const stretch = 1000

// purge removes the traces of what was deleted.
//
// SQLite overwrites what it frees, but when it moves rows from one page to
// another, to fill them evenly, it leaves the old copies lying between the
// rows. A row that is deleted later is then overwritten in one place only. So
// every byte of a page that belongs to no row is set to zero here, then the log
// beside the file is emptied, and only then the mark is taken away.
func (s *Store) purge(ctx context.Context) error {
	was := 0
	for from, more := int64(1), true; more; from += stretch {
		err := s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (changed bool, err error) {
			if from == 1 {
				if was, err = marked(ctx, tx); err != nil {
					return false, err
				}
			}
			more, err = sweep(ctx, tx, from)
			return false, err
		})
		if err != nil {
			return err
		}
	}
	err := s.write.do(ctx, true, func(context.Context, *sql.Tx) (bool, error) { return false, nil })
	if err != nil {
		return err
	}
	return s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (bool, error) { return false, unmark(ctx, tx, was) })
}

// finish removes the traces that an earlier daemon had no time to remove. What
// goes wrong with it does not keep this one from its work.
func (s *Store) finish(ctx context.Context) {
	mark, err := marked(ctx, s.archive.db)
	if mark > 0 {
		err = s.purge(ctx)
	}
	if err != nil {
		s.archive.log.Warn("traces of deleted events may be left in the journal", "err", err)
	}
}

// A sheet is a page of the file and its number.
type sheet struct {
	number int64
	data   []byte
}

// sweep cleans some pages, and reports whether there are more behind them.
func sweep(ctx context.Context, tx *sql.Tx, from int64) (more bool, err error) {
	var pages int64
	if err := tx.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return false, err
	}
	if pages >= 1<<24 {
		return false, errors.New("the file is too big to look for traces in it") // see clean
	}
	dirty, err := untidy(ctx, tx, from, min(from+stretch-1, pages))
	if err != nil {
		return false, err
	}
	for _, d := range dirty {
		if _, err := tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", d.data, d.number); err != nil {
			return false, fmt.Errorf("cleaning page %d: %w", d.number, err)
		}
	}
	return from+stretch <= pages, nil
}

// untidy returns the pages that had something to be cleaned, cleaned.
func untidy(ctx context.Context, tx *sql.Tx, from, to int64) (dirty []sheet, err error) {
	rows, err := tx.QueryContext(ctx, `WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT pgno, data FROM n CROSS JOIN sqlite_dbpage ON pgno = i`, from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s sheet
		if err := rows.Scan(&s.number, &s.data); err != nil {
			return nil, err
		}
		if clean(s.data, s.number == 1) {
			dirty = append(dirty, s)
		}
	}
	return dirty, rows.Err()
}

// clean sets to zero what belongs to no row of a page, and reports whether
// there was anything. A page that is not part of a tree begins with the number
// of another page, whose first byte is zero in a file of this size; such a
// page is left alone. See sqlite.org/fileformat2.html.
func clean(page []byte, first bool) (changed bool) {
	head := 0
	if first {
		head = 100
	}
	if len(page) < head+12 {
		return false
	}
	start := head
	switch page[head] {
	case 0x02, 0x05:
		start += 12
	case 0x0a, 0x0d:
		start += 8
	default:
		return false
	}
	at := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
	start += 2 * at(head+3)
	content := at(head + 5)
	if content == 0 {
		content = 65536
	}
	if start > content || content > len(page) {
		return false // damaged; whoever reads it will say so
	}
	changed = wipe(page[start:content])
	for block := at(head + 1); block >= content && block+4 <= len(page); {
		next, size := at(block), at(block+2)
		if size < 4 || block+size > len(page) {
			break
		}
		changed = wipe(page[block+4:block+size]) || changed
		if next <= block {
			break
		}
		block = next
	}
	return changed
}

// wipe sets bytes to zero, and reports whether any was not.
func wipe(bytes []byte) (changed bool) {
	for i, b := range bytes {
		if b != 0 {
			bytes[i], changed = 0, true
		}
	}
	return changed
}
