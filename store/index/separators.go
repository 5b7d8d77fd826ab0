package index

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"

	"earshot"
	"earshot/store/journal"
)

// A Separator is the beginning of the first term of a page of the index, by which FTS5 finds the
// page. It stays when that term is removed, and when the page is merged with others, and so would
// reveal how the word began. See "FTS5 Data Structures" in sqlite.org/fts5.html, and
// ext/fts5/fts5_index.c of SQLite.
type Separator struct {
	segment int64
	term    []byte
}

const separatorColumns = `SELECT i.segid, i.term, d.block FROM terms_idx i LEFT JOIN terms_data d ON d.id = (i.segid << 37) + (i.pgno >> 1)`

// StaleSeparators returns the separators with which no term begins any more.
func (*Index) StaleSeparators(ctx context.Context, db earshot.View) (left []Separator, err error) {
	rows, err := db.QueryContext(ctx, separatorColumns)
	err = journal.EachRow(rows, err, func(rows *sql.Rows) error {
		var s Separator
		var page sql.RawBytes
		err := rows.Scan(&s.segment, &s.term, &page)
		if first := firstTerm(page); len(s.term) > 0 && (page == nil || first != nil && !bytes.HasPrefix(first, s.term)) {
			left = append(left, s)
		}
		return err
	})
	return left, journal.StatementError(err)
}

// ReplaceSeparators replaces some separators by ones that fit the current pages: the shortest
// beginning of the first term that sorts after the old separator, and so after all terms of the
// previous page. A separator without a page is deleted.
func ReplaceSeparators(ctx context.Context, tx *sql.Tx, some []Separator) error {
	for _, s := range some {
		var segment int64
		var term, page []byte
		err := tx.QueryRowContext(ctx, separatorColumns+" WHERE i.segid = ? AND i.term = ?", s.segment, s.term).Scan(&segment, &term, &page)
		if errors.Is(err, sql.ErrNoRows) {
			continue // the whole segment was merged with others
		}
		first, n := firstTerm(page), 0
		switch {
		case err != nil:
		case page == nil:
			_, err = tx.ExecContext(ctx, "DELETE FROM terms_idx WHERE segid = ? AND term = ?", segment, term)
		case bytes.Compare(first, term) > 0 && !bytes.HasPrefix(first, term):
			for first[n] == term[n] {
				n++
			}
			_, err = tx.ExecContext(ctx, "UPDATE terms_idx SET term = ? WHERE segid = ? AND term = ?", first[:n+1], segment, term)
		}
		if err != nil {
			return journal.StatementError(err)
		}
	}
	return nil
}

// firstTerm returns the first term of a page of the index; nil if it has none. The rows, whose end
// is in the header, are followed by the offset of the term, which begins with its length.
func firstTerm(page []byte) []byte {
	if len(page) < 4 {
		return nil
	}
	end := int(binary.BigEndian.Uint16(page[2:]))
	if end >= len(page) {
		return nil
	}
	at, _ := journal.Varint(page[end:])
	if at < 4 || at >= int64(end) {
		return nil
	}
	n, took := journal.Varint(page[at:end])
	if took == 0 || n <= 0 || n > int64(end)-at-int64(took) {
		return nil
	}
	return page[at+int64(took) : at+int64(took)+n]
}
