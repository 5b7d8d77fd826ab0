package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"earshot"
)

// Delete erases the events with the given IDs and, in turn, everything that
// was derived from them, from the journal, the views and the files. What stays
// is that there was something: its sequence, ID, time, room and visibility. N
// is how many events lost their content now; unknown IDs are passed over.
//
// If ctx ends, or another program reads the file, when only the last traces in
// the files are left to remove, n is right and the error says so. The next
// deletion, or the next start, removes them.
func (s *Store) Delete(ctx context.Context, ids ...earshot.EventID) (n int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	var gone int
	err = s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		victims, err := descendants(ctx, tx, string(list))
		if err != nil {
			return false, err
		}
		for _, v := range victims {
			if _, err := s.erase(ctx, tx, v); err != nil {
				return false, fmt.Errorf("deleting: %w", err)
			}
		}
		gone = len(victims)
		return gone > 0, mark(ctx, tx)
	})
	if err != nil {
		return 0, err
	}
	if err := s.purge(ctx); err != nil {
		return gone, fmt.Errorf("deleted, but the words may still lie on the disk: %w", err)
	}
	return gone, nil
}

// A victim is a row that is going to be erased. Its columns are read too, so
// that one whose payload is damaged can be.
type victim struct {
	row
	id   earshot.EventID
	at   int64
	room earshot.RoomID
}

// descendants returns the events in the list and all that came of them, except
// what is erased already.
func descendants(ctx context.Context, tx *sql.Tx, list string) ([]victim, error) {
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE gone (id) AS (
			SELECT value FROM json_each(?)
			UNION SELECT d.event FROM derived d JOIN gone ON d.source = gone.id)
		SELECT `+columns+`, j.id, j.at, j.room FROM gone CROSS JOIN journal j ON j.id = gone.id
		WHERE j.kind <> ? ORDER BY j.sequence`, list, earshot.KindErased)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []victim
	for rows.Next() {
		var v victim
		if err := v.scan(rows, &v.id, &v.at, &v.room); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// erase overwrites one event and takes it out of the views. It returns what it was.
func (s *Store) erase(ctx context.Context, tx *sql.Tx, v victim) (Doomed, error) {
	e, err := v.event()
	if err != nil { // nobody will see what is left of it
		e = earshot.Event{ID: v.id, At: time.UnixMilli(v.at), Room: v.room, Body: earshot.Notice{}}
	}
	was := doom(e)
	r, e, err := seal(erased(e), v.sequence)
	if err != nil {
		return was, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE journal SET kind = ?, author = '', payload = ?, sum = ? WHERE sequence = ?",
		earshot.KindErased, string(r.payload), r.sum, r.sequence)
	if err != nil {
		return was, err
	}
	return was, s.apply(ctx, tx, e)
}

// erased returns what is left of e.
func erased(e earshot.Event) earshot.Event {
	return earshot.Event{ID: e.ID, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Erased{Was: e.Body.Kind()}}
}
