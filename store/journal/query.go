package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// EachRow calls do with each row of the result of a query, and closes it.
func EachRow(rows *sql.Rows, err error, do func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// List reads the result of a query, each row of it by read, and closes it.
func List[T any](rows *sql.Rows, err error, read func(*T, *sql.Rows) error) (all []T, _ error) {
	err = EachRow(rows, err, func(rows *sql.Rows) error {
		var one T
		err := read(&one, rows)
		if err == nil {
			all = append(all, one)
		}
		return err
	})
	return all, err
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

// InTransaction calls do in a transaction, which is committed unless do fails.
func InTransaction(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
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
	e, err := Find(ctx, db, "j.id = ? AND j.room = ?", id, in)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoTarget
	}
	return e, err
}

// Find returns the event for which a condition on the journal j holds, or [sql.ErrNoRows].
func Find(ctx context.Context, db earshot.View, condition string, args ...any) (e earshot.Event, err error) {
	var r Row
	if err := r.Scan(db.QueryRowContext(ctx, "SELECT "+Columns+" FROM journal j WHERE "+condition, args...)); err != nil {
		return e, err
	}
	return r.Event()
}

// Exists reports whether a query finds anything.
func Exists(ctx context.Context, db earshot.View, query string, args ...any) (is bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT EXISTS ("+query+")", args...).Scan(&is)
	return is, err
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

// Last returns the highest sequence, 0 if there is none.
func Last(ctx context.Context, db earshot.View) (last int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(sequence), 0) FROM journal").Scan(&last)
	return last, err
}

// Visible is the condition that the audience of [VisibleTo] may see a row of the journal j. It is
// [earshot.Visibility.Allows] in SQL. SelectVisible selects those rows.
const (
	Visible = `j.room = @room AND (j.scope IN ('public', 'system') OR j.scope = 'private' AND @known <> 0
	AND NOT EXISTS (SELECT 1 FROM json_each(@members) a WHERE NOT EXISTS
		(SELECT 1 FROM members m WHERE m.sequence = j.sequence AND m.member = a.value)))
	AND (j.agents IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@agents) a WHERE NOT EXISTS
		(SELECT 1 FROM json_each(j.agents) m WHERE m.value = a.value)))`
	SelectVisible = "SELECT " + Columns + " FROM journal j WHERE " + Visible
)

// VisibleTo returns the arguments of [Visible] for an audience.
func VisibleTo(who earshot.Audience) []any {
	members := slices.Concat(who.Members, who.Agents)
	return []any{sql.Named("room", who.Room), sql.Named("members", JSON(members)), sql.Named("agents", JSON(who.Agents)),
		sql.Named("known", !who.Unknown && len(members) > 0)}
}

// ReadVisible returns the events that a query finds and that an audience may see. The query must
// use [SelectVisible].
func ReadVisible(ctx context.Context, db earshot.View, who earshot.Audience, query string, args ...any) ([]earshot.Event, error) {
	found, err := Collect(db.QueryContext(ctx, query, append(args, VisibleTo(who)...)...))
	if err != nil {
		return nil, err
	}
	return OpenVisible(found, who)
}

// OpenVisible returns the events in rows that any of some audiences may see. The columns beside an
// event only preselect it. Its visibility is checked again in the event itself, which alone has a
// checksum.
func OpenVisible(rows []Row, who ...earshot.Audience) ([]earshot.Event, error) {
	events := make([]earshot.Event, 0, len(rows))
	for _, row := range rows {
		e, err := row.Event()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(who, func(a earshot.Audience) bool { return e.Room == a.Room && e.Visibility.Allows(a) }) {
			events = append(events, e)
		}
	}
	return events, nil
}

// Varint reads a variable-length integer of SQLite, and returns how many bytes it took: 0 if there
// is none.
func Varint(data []byte) (n int64, took int) {
	for i, b := range data[:min(9, len(data))] {
		if i == 8 {
			return n<<8 | int64(b), 9
		}
		n = n<<7 | int64(b&0x7f)
		if b < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
