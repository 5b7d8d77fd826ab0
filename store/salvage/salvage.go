// Package salvage makes a new journal from what can be read of a damaged one, with the help of
// SQLite and without it.
package salvage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"earshot"
	"earshot/store/journal"
)

// Repair makes a new journal from what can be read of the damaged one at path, sets the damaged
// one aside, and puts the new one in its place. It returns what to tell the user. A crash at any
// moment leaves either the damaged file in place, or a complete new one that [Resume] puts there.
//
// The damaged file is read twice: by SQLite, which also reads the log beside it, and page by page,
// which needs none of the structure that may be broken. The checksum of each event shows whether it
// is intact.
func Repair(ctx context.Context, path string, now time.Time, why error) (earshot.Notice, error) {
	fresh := filepath.Join(filepath.Dir(path), journal.SalvageName)
	saved, lost, err := copyReadable(ctx, path, fresh)
	if err != nil {
		return earshot.Notice{}, errors.Join(err, journal.Discard(fresh))
	}
	name, err := journal.SetAside(path, journal.ReasonDamaged, now)
	if err != nil {
		return earshot.Notice{}, err
	}
	return describe(path, name, saved, lost, why), journal.Install(fresh, path)
}

// describe describes a salvage in words.
func describe(path, name string, saved int, lost []span, why error) earshot.Notice {
	text := fmt.Sprintf("%s was damaged (%v). It was set aside as %s, and %d events could be saved.", path, journal.DamageReason(why), filepath.Base(name), saved)
	if len(lost) > 0 {
		text += " These are missing: " + joinSpans(lost) + "."
	}
	text += " It cannot be known whether anything after the last of them is missing."
	return earshot.Notice{Key: "store.salvaged", Text: text, Cure: "keep the old file until you are sure that nothing is missing; check the disk"}
}

// copyReadable copies every readable event of the journal at path into a new one, which is closed
// when copyReadable returns. It counts the events and finds the gaps.
func copyReadable(ctx context.Context, path, fresh string) (saved int, lost []span, err error) {
	if err := errors.Join(journal.Discard(fresh), journal.Touch(fresh)); err != nil {
		return 0, nil, err
	}
	db, err := journal.OpenWriter(fresh)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = journal.CloseNew(ctx, db, err) }()
	if err := journal.Create(ctx, db, fresh, false); err != nil {
		return 0, nil, err
	}
	err = journal.InTransaction(ctx, db, func(tx *sql.Tx) (err error) {
		c := &rowCopier{tx: tx}
		if err := errors.Join(c.copyRanges(ctx, path), c.copyPages(ctx, path)); err != nil {
			return err
		}
		saved = c.saved
		lost, err = gaps(ctx, tx)
		return err
	})
	return saved, lost, err
}

// A rowCopier copies rows, each once.
type rowCopier struct {
	tx    *sql.Tx
	saved int
}

// copyRow copies r if it is intact and not yet copied. An error is about the new file.
func (c *rowCopier) copyRow(ctx context.Context, r journal.Row) error {
	e, err := r.Event()
	if errors.Is(err, journal.ErrAltered) {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := journal.Exists(ctx, c.tx, "SELECT 1 FROM journal WHERE sequence = ? OR id = ?", r.Sequence, e.ID)
	if err != nil || there {
		return err
	}
	c.saved++
	return journal.Insert(ctx, c.tx, r, e)
}

// A span is a range of sequences, both ends included.
type span struct{ from, to int64 }

// String returns the span as people read it.
func (s span) String() string {
	if s.from == s.to {
		return fmt.Sprint(s.from)
	}
	return fmt.Sprintf("%d to %d", s.from, s.to)
}

// joinSpans names the first spans, and how many more there are.
func joinSpans(spans []span) string {
	const most = 20 // fills some lines of a terminal
	var names []string
	for _, s := range spans[:min(most, len(spans))] {
		names = append(names, s.String())
	}
	text := "the events " + strings.Join(names, ", ")
	if more := len(spans) - most; more > 0 {
		text += fmt.Sprintf(" and %d more stretches", more)
	}
	return text
}

// gaps returns the sequences that are missing before the last one.
func gaps(ctx context.Context, tx *sql.Tx) ([]span, error) {
	rows, err := tx.QueryContext(ctx, `SELECT before + 1, sequence - 1 FROM
		(SELECT sequence, lag(sequence, 1, 0) OVER (ORDER BY sequence) AS before FROM journal) WHERE sequence > before + 1`)
	return journal.List(rows, err, func(s *span, rows *sql.Rows) error { return rows.Scan(&s.from, &s.to) })
}

// maxTries is how many ranges are tried, which takes some five seconds. That is enough to find the
// edges of about a thousand broken places. Anything left over is in pages, which are also examined
// one by one.
const maxTries = 100_000

// copyRanges copies what SQLite can read, in ranges of sequences. A range that cannot be read to
// its end is halved until only the sequences in the broken places are left out.
func (c *rowCopier) copyRanges(ctx context.Context, path string) error {
	db, err := journal.OpenReaders(path)
	if err != nil {
		return err
	}
	defer db.Close()
	most, err := capacity(path)
	if err != nil {
		return err
	}
	todo := []span{{1, min(most, Highest(ctx, db))}}
	for tries := 0; len(todo) > 0 && tries < maxTries; tries++ {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, readable, err := c.copyRange(ctx, db, s)
		if err != nil {
			return err
		}
		if readable || next > s.to || s.from == s.to {
			continue
		}
		if next > s.from {
			todo = append(todo, span{next, s.to})
			continue
		}
		half := s.from + (s.to-s.from)/2
		todo = append(todo, span{half + 1, s.to}, span{s.from, half})
	}
	return nil
}

// copyRange copies the rows of s. If s cannot be read to its end, next is the sequence after the
// last one that could. An error concerns the new file, or the end of ctx.
func (c *rowCopier) copyRange(ctx context.Context, db *sql.DB, s span) (next int64, readable bool, err error) {
	next = s.from
	rows, err := db.QueryContext(ctx, "SELECT "+journal.Columns+" FROM journal j NOT INDEXED WHERE j.sequence BETWEEN ? AND ? ORDER BY j.sequence", s.from, s.to)
	if err != nil {
		return next, false, ctx.Err()
	}
	defer rows.Close()
	for rows.Next() {
		var r journal.Row
		if r.Scan(rows) != nil {
			return next, false, ctx.Err()
		}
		if err := c.copyRow(ctx, r); err != nil {
			return next, false, err
		}
		next = max(next, r.Sequence+1)
	}
	return next, rows.Err() == nil, ctx.Err()
}

// capacity returns how many events fit into the file at path and the log beside it. A row takes
// more than 100 bytes.
func capacity(path string) (int64, error) {
	file, _, err := journal.Size(path)
	if err != nil {
		return 0, err
	}
	log, _, err := journal.Size(path + "-wal")
	return (file + log) / 100, err
}

// Highest returns the highest sequence found anywhere; 0 if nothing can be read. If the journal
// itself is broken, an index may still have it.
func Highest(ctx context.Context, db *sql.DB) int64 {
	var top int64
	for _, from := range []string{"journal NOT INDEXED", "journal INDEXED BY journal_room", "members", "turns"} {
		var last sql.NullInt64
		if db.QueryRowContext(ctx, "SELECT max(sequence) FROM "+from).Scan(&last) == nil {
			top = max(top, last.Int64)
		}
	}
	return top
}

// Resume finishes a salvage that was cut short, if there was one, and removes an unfinished copy of
// the journal. The new file gets its final name only after the old one was set aside, so if there
// is a new file but no journal, the new file is complete.
func Resume(path string, now time.Time) error {
	fresh := filepath.Join(filepath.Dir(path), journal.SalvageName)
	_, there, err := journal.Size(path)
	err = errors.Join(err, journal.Discard(filepath.Join(filepath.Dir(path), journal.RewriteName)))
	if err != nil {
		return err
	}
	if there {
		return journal.Discard(fresh)
	}
	if _, ready, err := journal.Size(fresh); err != nil || !ready {
		return err
	}
	if _, err := journal.SetAside(path, journal.ReasonDamaged, now); err != nil { // the files that SQLite kept beside the old one
		return err
	}
	return journal.Install(fresh, path)
}
