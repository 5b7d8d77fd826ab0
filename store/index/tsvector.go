package index

import (
	"context"
	"database/sql"
	"strings"
)

// In PostgreSQL the terms of an event, the same as in a file, are one tsvector, and an index of the
// kind GIN leads from each term to the events. What is removed is gone from both with the commit; the
// server overwrites its traces when it vacuums.

// vectorTables makes the table and its index.
const vectorTables = `CREATE TABLE terms (rowid BIGINT PRIMARY KEY, words tsvector NOT NULL); CREATE INDEX terms_words ON terms USING gin (words)`

func addToVector(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	if len(terms) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO terms (rowid, words) VALUES (?, array_to_tsvector(string_to_array(?, ' '))) ON CONFLICT (rowid) DO UPDATE SET words = terms.words || excluded.words",
		sequence, strings.Join(terms, " "))
	return err
}

func removeFromVector(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	_, err := tx.ExecContext(ctx, "UPDATE terms SET words = ts_delete(words, string_to_array(?2, ' ')) WHERE rowid = ?1; DELETE FROM terms WHERE rowid = ?1 AND words = CAST('' AS tsvector)",
		sequence, strings.Join(terms, " "))
	return err
}

// vectorQuery finds what matches. It does not sort by the primary key, because then the server might read
// all events, the newest first, which takes the longer the more others have said.
const vectorQuery = "SELECT rowid FROM terms WHERE words @@ CAST(? AS tsquery) AND rowid >= ? AND rowid < ? ORDER BY rowid + 0 DESC LIMIT ?"

// asTextQuery returns a query in the language of FTS5 in that of PostgreSQL. Its terms contain neither
// spaces nor quotes.
func asTextQuery(expression string) string {
	return strings.NewReplacer(`" *`, `':*`, `"`, `'`, " AND ", " & ", " OR ", " | ", " NOT ", " & ! ").Replace(expression)
}
