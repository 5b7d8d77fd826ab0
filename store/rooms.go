package store

import (
	"context"

	"earshot"
	"earshot/store/journal"
)

// Rooms returns at most limit rooms whose names begin with prefix and in which anything has
// happened, the room with the newest event first. It is for the part of the program that keeps the
// rooms. The time it takes depends on the number of rooms, not on how much was said in them.
func (s *Store) Rooms(ctx context.Context, prefix string, limit int) ([]earshot.RoomID, error) {
	rooms, err := journal.Column[earshot.RoomID](s.archive.db().QueryContext(ctx, `WITH RECURSIVE all_rooms (room) AS (
			SELECT min(room) FROM journal WHERE room >= ?1
			UNION ALL SELECT (SELECT min(room) FROM journal WHERE room > all_rooms.room) FROM all_rooms WHERE substr(all_rooms.room, 1, length(?1)) = ?1
		)
		SELECT room FROM all_rooms WHERE substr(room, 1, length(?1)) = ?1
		ORDER BY (SELECT max(sequence) FROM journal j WHERE j.room = all_rooms.room) DESC LIMIT ?2`, prefix, max(0, limit)))
	if err != nil {
		return nil, s.archive.failed(ctx, err)
	}
	return rooms, nil
}
