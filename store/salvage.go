package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"earshot"
)

// salvage makes a new journal from what can be read of the damaged one at path, sets the damaged
// one aside, and puts the new one in its place. It returns what to tell the user. A crash at any
// moment leaves either the damaged file in place, or a complete new one that [settle] puts there.
//
// The damaged file is read twice: by SQLite, which also reads the log beside it, and page by page,
// which needs none of the structure that may be broken. The checksum of each event shows whether it
// is intact.
func salvage(ctx context.Context, path string, now time.Time, why error) (earshot.Notice, error) {
	fresh := filepath.Join(filepath.Dir(path), salvageFile)
	saved, lost, err := rescue(ctx, path, fresh)
	if err != nil {
		return earshot.Notice{}, errors.Join(err, discard(fresh))
	}
	name, err := aside(path, wasDamaged, now)
	if err != nil {
		return earshot.Notice{}, err
	}
	return told(path, name, saved, lost, why), replace(fresh, path)
}

// told describes a salvage in words.
func told(path, name string, saved int, lost []span, why error) earshot.Notice {
	if d, ok := errors.AsType[*damage](why); ok {
		why = d.why
	}
	text := fmt.Sprintf("%s was damaged (%v). It was set aside as %s, and %d events could be saved.", path, why, filepath.Base(name), saved)
	if len(lost) > 0 {
		text += " These are missing: " + named(lost) + "."
	}
	text += " It cannot be known whether anything after the last of them is missing."
	return earshot.Notice{Key: "store.salvaged", Text: text, Cure: "keep the old file until you are sure that nothing is missing; check the disk"}
}

// rescue copies every readable event of the journal at path into a new one, which is closed when
// rescue returns. It counts the events and finds the gaps.
func rescue(ctx context.Context, path, fresh string) (saved int, lost []span, err error) {
	if err := errors.Join(discard(fresh), touch(fresh)); err != nil {
		return 0, nil, err
	}
	db, err := openWriter(fresh)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = shut(ctx, db, err) }()
	if err := create(ctx, db, fresh); err != nil {
		return 0, nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, nil, err
	}
	defer tx.Rollback()
	c := &rowCopier{tx: tx}
	if err := errors.Join(c.ranges(ctx, path), c.pages(ctx, path)); err != nil {
		return 0, nil, err
	}
	if lost, err = gaps(ctx, tx); err != nil {
		return 0, nil, err
	}
	return c.saved, lost, tx.Commit()
}

// A rowCopier copies rows, each once.
type rowCopier struct {
	tx    *sql.Tx
	saved int
}

// take copies r if it is intact and not yet copied. An error is about the new file.
func (c *rowCopier) take(ctx context.Context, r row) error {
	e, err := r.event()
	if errors.Is(err, errAltered) {
		return nil
	}
	if err != nil {
		return err
	}
	var there bool
	err = c.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM journal WHERE sequence = ? OR id = ?)", r.sequence, e.ID).Scan(&there)
	if err != nil || there {
		return err
	}
	c.saved++
	return lay(ctx, c.tx, r, e)
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

// named names the first spans, and how many more there are.
func named(spans []span) string {
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
	return list(rows, err, func(s *span, rows *sql.Rows) error { return rows.Scan(&s.from, &s.to) })
}

// patience is how many ranges are tried, which takes some five seconds. That is enough to find the
// edges of about a thousand broken places. Anything left over is in pages, which are also examined
// one by one.
const patience = 100_000

// ranges copies what SQLite can read, in ranges of sequences. A range that cannot be read to its
// end is halved until only the sequences in the broken places are left out.
func (c *rowCopier) ranges(ctx context.Context, path string) error {
	db, err := openReaders(path)
	if err != nil {
		return err
	}
	defer db.Close()
	most, err := capacity(path)
	if err != nil {
		return err
	}
	todo := []span{{1, min(most, highest(ctx, db))}}
	for tries := 0; len(todo) > 0 && tries < patience; tries++ {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, readable, err := c.between(ctx, db, s)
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

// between copies the rows of s. If s cannot be read to its end, next is the sequence after the last
// one that could. An error concerns the new file, or the end of ctx.
func (c *rowCopier) between(ctx context.Context, db *sql.DB, s span) (next int64, readable bool, err error) {
	next = s.from
	rows, err := db.QueryContext(ctx, "SELECT "+columns+" FROM journal j NOT INDEXED WHERE j.sequence BETWEEN ? AND ? ORDER BY j.sequence", s.from, s.to)
	if err != nil {
		return next, false, ctx.Err()
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if r.scan(rows) != nil {
			return next, false, ctx.Err()
		}
		if err := c.take(ctx, r); err != nil {
			return next, false, err
		}
		next = max(next, r.sequence+1)
	}
	return next, rows.Err() == nil, ctx.Err()
}

// capacity returns how many events fit into the file at path and the log beside it. A row takes
// more than 100 bytes.
func capacity(path string) (int64, error) {
	file, _, err := size(path)
	if err != nil {
		return 0, err
	}
	log, _, err := size(path + "-wal")
	return (file + log) / 100, err
}

// highest returns the highest sequence found anywhere; 0 if nothing can be read. If the journal
// itself is broken, an index may still have it.
func highest(ctx context.Context, db *sql.DB) int64 {
	var top int64
	for _, from := range []string{"journal NOT INDEXED", "journal INDEXED BY journal_room", "members", "turns", "decisions"} {
		var last sql.NullInt64
		if db.QueryRowContext(ctx, "SELECT max(sequence) FROM "+from).Scan(&last) == nil {
			top = max(top, last.Int64)
		}
	}
	return top
}
