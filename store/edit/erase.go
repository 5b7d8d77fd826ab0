package edit

import (
	"context"
	"database/sql"
	"time"

	"earshot"
	"earshot/store/journal"
	"earshot/store/selection"
)

// An Entry is a row of the journal with its columns, so that a row with a damaged payload can be
// erased.
type Entry struct {
	journal.Row
	ID   earshot.EventID
	at   int64
	room earshot.RoomID
}

// entryColumns are the columns of an Entry. The journal is called j.
const entryColumns = journal.Columns + ", j.id, j.at, j.room"

// read reads a row of the columns of an Entry.
func (n *Entry) read(rows *sql.Rows) error { return n.Scan(rows, &n.ID, &n.at, &n.room) }

// MadeOf returns what was made directly from an event and is not erased.
func MadeOf(ctx context.Context, v earshot.View, of earshot.EventID) ([]Entry, error) {
	rows, err := v.QueryContext(ctx, "SELECT "+entryColumns+" FROM derived d CROSS JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind <> ? ORDER BY j.sequence", of, earshot.KindErased)
	return journal.List(rows, err, (*Entry).read)
}

// EraseAll erases some events and everything made from them, and returns what was erased.
func (d *Editor) EraseAll(ctx context.Context, tx *sql.Tx, ids ...earshot.EventID) (gone []selection.Event, err error) {
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE gone (id) AS (
			SELECT value FROM json_each(?)
			UNION SELECT d.event FROM derived d JOIN gone ON d.source = gone.id)
		SELECT `+entryColumns+` FROM gone CROSS JOIN journal j ON j.id = gone.id
		WHERE j.kind <> ? ORDER BY j.sequence`, journal.JSON(ids), earshot.KindErased)
	return d.eraseEach(ctx, tx, rows, err)
}

// EraseOne erases an event without what was made from it, and returns what was erased: nothing if
// the event does not exist or is erased already.
func (d *Editor) EraseOne(ctx context.Context, tx *sql.Tx, id earshot.EventID) (gone []selection.Event, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+entryColumns+" FROM journal j WHERE j.id = ? AND j.kind <> ?", id, earshot.KindErased)
	return d.eraseEach(ctx, tx, rows, err)
}

// eraseEach erases the entries that a query found.
func (d *Editor) eraseEach(ctx context.Context, tx *sql.Tx, rows *sql.Rows, err error) (gone []selection.Event, _ error) {
	found, err := journal.List(rows, err, (*Entry).read)
	if err != nil {
		return nil, err
	}
	for _, n := range found {
		was, err := d.erase(ctx, tx, n)
		if err != nil {
			return nil, err
		}
		gone = append(gone, was)
	}
	return gone, nil
}

// erase overwrites one event and removes it from the views. It returns what the event was.
func (d *Editor) erase(ctx context.Context, tx *sql.Tx, n Entry) (selection.Event, error) {
	e, err := n.Event()
	if err != nil { // nobody will see what is left of the event
		e = earshot.Event{ID: n.ID, At: time.UnixMilli(n.at), Room: n.room, Body: earshot.Notice{}}
	}
	was := selection.Of(e)
	was.Sequence, was.Room = n.Sequence, n.room
	r, e, err := journal.Seal(Erased(e), n.Sequence)
	if err == nil {
		err = d.Views.Index.Remove(ctx, tx, n.Sequence)
	}
	if err != nil {
		return was, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE journal SET kind = ?, author = '', payload = ?, sum = ? WHERE sequence = ?",
		earshot.KindErased, string(r.Payload), r.Sum, r.Sequence)
	if err != nil {
		return was, err
	}
	return was, d.Views.Apply(ctx, tx, e)
}

// Erased returns what is left of e.
func Erased(e earshot.Event) earshot.Event {
	return earshot.Event{ID: e.ID, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Tombstone{Was: e.Body.Kind()}}
}
