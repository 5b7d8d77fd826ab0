package journal

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"earshot"
)

// A Row is an event as it is stored on the disk.
type Row struct {
	Sequence int64
	Payload  []byte // the event as JSON, without its sequence
	Sum      int64
}

// Columns are the columns of a row, in the order of [Row.Scan]. The journal is called j.
const Columns = "j.sequence, j.payload, j.sum"

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal makes the row of an event, and returns the event as everybody will read it from the row.
func Seal(e earshot.Event, sequence int64) (Row, earshot.Event, error) {
	e.Sequence = 0
	payload, err := json.Marshal(e)
	if err != nil {
		return Row{}, e, err
	}
	if len(payload) > MaxPayload {
		return Row{}, e, fmt.Errorf("it takes %d bytes; at most %d are kept", len(payload), MaxPayload)
	}
	r := Row{Sequence: sequence, Payload: payload}
	r.Sum = r.checksum()
	e, err = r.Event()
	return r, e, err
}

func (r Row) checksum() int64 {
	head := binary.LittleEndian.AppendUint64(nil, uint64(r.Sequence))
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, r.Payload))
}

// Intact reports whether the row is unchanged since it was written.
func (r Row) Intact() bool { return r.Sum == r.checksum() }

// Scan reads the row, and further values if asked, from the columns of a result. A value of a wrong
// type was not written by us; the error does not repeat it.
func (r *Row) Scan(from interface{ Scan(...any) error }, more ...any) error {
	err := from.Scan(append([]any{&r.Sequence, &r.Payload, &r.Sum}, more...)...)
	if err != nil && strings.Contains(err.Error(), "sql: Scan error") {
		return fmt.Errorf("event %d: %w", r.Sequence, ErrAltered)
	}
	return err
}

// ErrAltered says that a row was changed after it was written.
var ErrAltered = errors.New("it was changed after it was written")

// Event returns the event in the row.
func (r Row) Event() (earshot.Event, error) {
	var e earshot.Event
	if !r.Intact() {
		return e, fmt.Errorf("event %d: %w", r.Sequence, ErrAltered)
	}
	if err := json.Unmarshal(r.Payload, &e); err != nil {
		return e, fmt.Errorf("%w: event %d was written by a newer earshot: start that one: %w", ErrOther, r.Sequence, err)
	}
	e.Sequence = r.Sequence
	return e, nil
}

// Insert writes the row of e, with the columns that help to find it.
func Insert(ctx context.Context, tx *sql.Tx, r Row, e earshot.Event) error {
	var agents any
	if e.Visibility.Agents != nil {
		agents = JSON(e.Visibility.Agents)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO journal (sequence, id, at, room, kind, author, scope, payload, sum, agents) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Sequence, e.ID, e.At.UnixMilli(), e.Room, e.Body.Kind(), e.Author, e.Visibility.Scope, string(r.Payload), r.Sum, agents)
	if err != nil {
		return err
	}
	if e.Visibility.Scope == earshot.Private {
		for _, m := range e.Visibility.Members {
			if _, err := tx.ExecContext(ctx, "INSERT INTO members (sequence, member) VALUES (?, ?) ON CONFLICT DO NOTHING", r.Sequence, m); err != nil {
				return err
			}
		}
	}
	for _, source := range e.Sources {
		if _, err := tx.ExecContext(ctx, "INSERT INTO derived (source, event) VALUES (?, ?) ON CONFLICT DO NOTHING", source, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// Overwrite stores what is in a row in place of the row with its sequence.
func Overwrite(ctx context.Context, tx *sql.Tx, r Row) error {
	_, err := tx.ExecContext(ctx, "UPDATE journal SET payload = ?, sum = ? WHERE sequence = ?", string(r.Payload), r.Sum, r.Sequence)
	return err
}
