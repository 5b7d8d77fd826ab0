package store

import (
	"context"
	"database/sql"
	"time"

	"earshot"
)

// A victim is a row that will be erased. Its columns are read too, so that a row with a damaged
// payload can be erased.
type victim struct {
	row
	id   earshot.EventID
	at   int64
	room earshot.RoomID
}

// read reads the columns of a row, followed by those of a victim.
func (v *victim) read(rows *sql.Rows) error { return v.scan(rows, &v.id, &v.at, &v.room) }

// descendants returns the events with some IDs, which are JSON, and everything made from them,
// except what is already erased.
func descendants(ctx context.Context, tx *sql.Tx, ids string) ([]victim, error) {
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE gone (id) AS (
			SELECT value FROM json_each(?)
			UNION SELECT d.event FROM derived d JOIN gone ON d.source = gone.id)
		SELECT `+columns+`, j.id, j.at, j.room FROM gone CROSS JOIN journal j ON j.id = gone.id
		WHERE j.kind <> ? ORDER BY j.sequence`, ids, earshot.KindErased)
	return list(rows, err, (*victim).read)
}

// eraseAll erases some events and everything made from them, and returns what was erased.
func (s *Store) eraseAll(ctx context.Context, tx *sql.Tx, ids ...earshot.EventID) (gone []SelectedEvent, err error) {
	victims, err := descendants(ctx, tx, asJSON(ids))
	if err != nil {
		return nil, err
	}
	for _, v := range victims {
		was, err := s.erase(ctx, tx, v)
		if err != nil {
			return nil, err
		}
		was.Sequence, was.Room = v.sequence, v.room
		gone = append(gone, was)
	}
	return gone, nil
}

// erase overwrites one event and removes it from the views. It returns what the event was.
func (s *Store) erase(ctx context.Context, tx *sql.Tx, v victim) (SelectedEvent, error) {
	e, err := v.event()
	if err != nil { // nobody will see what is left of the event
		e = earshot.Event{ID: v.id, At: time.UnixMilli(v.at), Room: v.room, Body: earshot.Notice{}}
	}
	was := doom(e)
	r, e, err := seal(erased(e), v.sequence)
	if err == nil {
		err = s.archive.index.remove(ctx, tx, v.sequence)
	}
	if err != nil {
		return was, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE journal SET kind = ?, author = '', payload = ?, sum = ? WHERE sequence = ?",
		earshot.KindErased, string(r.payload), r.sum, r.sequence)
	if err != nil {
		return was, err
	}
	return was, apply(ctx, tx, s.projections, e)
}

// erased returns what is left of e.
func erased(e earshot.Event) earshot.Event {
	return earshot.Event{ID: e.ID, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Tombstone{Was: e.Body.Kind()}}
}
