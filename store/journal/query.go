package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"earshot"
)

// Each calls do with every event of the journal, in order.
func Each(ctx context.Context, db earshot.View, do func(earshot.Event) error) error {
	for last := int64(0); ; {
		rows, err := After(ctx, db, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			e, err := r.Event()
			if err != nil {
				return err
			}
			if err := do(e); err != nil {
				return err
			}
		}
		last = rows[len(rows)-1].Sequence
	}
}

// maxRows is how many rows are in memory at once when all are read.
const maxRows = 256

// After returns the first rows after a sequence, of all rooms. In a damaged file a page may be its
// own descendant. Then the rows never end, and only their order reveals it.
func After(ctx context.Context, db earshot.View, sequence int64) ([]Row, error) {
	all, err := Collect(db.QueryContext(ctx, "SELECT "+Columns+" FROM journal j WHERE j.sequence > ? ORDER BY j.sequence LIMIT ?", sequence, maxRows))
	if err == nil && len(all) > 0 && all[0].Sequence <= sequence {
		return nil, OutOfOrder(all[0].Sequence)
	}
	return all, err
}

// OutOfOrder returns the error for a row that is out of order.
func OutOfOrder(sequence int64) error {
	return fmt.Errorf("event %d: it is out of order: %w", sequence, ErrAltered)
}

// List reads the result of a query, each row of it by read, and closes it.
func List[T any](rows *sql.Rows, err error, read func(*T, *sql.Rows) error) (all []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := read(&one, rows); err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// Column reads the only column of a result, and closes it.
func Column[T any](rows *sql.Rows, err error) ([]T, error) {
	return List(rows, err, func(one *T, rows *sql.Rows) error { return rows.Scan(one) })
}

// Collect reads rows of the journal, in ascending or descending order, and closes them.
func Collect(rows *sql.Rows, err error) ([]Row, error) {
	all, err := List(rows, err, func(r *Row, rows *sql.Rows) error { return r.Scan(rows) })
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(all); i++ {
		last, next := all[i-1].Sequence, all[i].Sequence
		if next == last || next > last != (all[1].Sequence > all[0].Sequence) {
			return nil, OutOfOrder(next)
		}
	}
	return all, nil
}

// JSON returns IDs for a query. No event has an ID that is not valid text, so such an ID becomes
// a number, which equals no ID.
func JSON[ID ~string](ids []ID) string {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = 0
		if utf8.ValidString(string(id)) {
			values[i] = id
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("journal: %v", err)) // text and numbers can always be encoded
	}
	return string(text)
}

// Exec executes statements one after the other.
func Exec(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoTarget says that an event refers to another event that does not exist or has the wrong kind.
var ErrNoTarget = errors.New("it is about a message that this room has not")

// Target returns the event of a room to which another event refers.
func Target(ctx context.Context, db earshot.View, in earshot.RoomID, id earshot.EventID) (earshot.Event, error) {
	var r Row
	err := r.Scan(db.QueryRowContext(ctx, "SELECT "+Columns+" FROM journal j WHERE j.id = ? AND j.room = ?", id, in))
	if errors.Is(err, sql.ErrNoRows) {
		return earshot.Event{}, ErrNoTarget
	}
	if err != nil {
		return earshot.Event{}, err
	}
	return r.Event()
}

// EventAt returns the event with a sequence.
func EventAt(ctx context.Context, tx *sql.Tx, sequence int64) (e earshot.Event, err error) {
	var r Row
	if err := r.Scan(tx.QueryRowContext(ctx, "SELECT "+Columns+" FROM journal j WHERE j.sequence = ?", sequence)); err != nil {
		return e, err
	}
	return r.Event()
}

// Totals says how much there is in a journal at one moment.
type Totals struct {
	Events int   // erased ones too
	Erased int   // how many of them are erased
	Last   int64 // the highest sequence
}

// Count counts the events. In a large journal that takes a moment.
func Count(ctx context.Context, db earshot.View) (n Totals, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE kind = ?), coalesce(max(sequence), 0) FROM journal INDEXED BY journal_kind",
		earshot.KindErased).Scan(&n.Events, &n.Erased, &n.Last)
	return n, err
}
