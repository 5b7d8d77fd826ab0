package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/internal/search"
	"earshot/store/index"
	"earshot/store/journal"
)

// A Reader returns what every member of one audience may know: the events of their room that all of
// them may see. It is safe for concurrent use.
type Reader struct {
	archive *Archive
	who     earshot.Audience
}

// Events returns the first events after a sequence, oldest first. A caller that passes the last
// sequence of one answer as the next after misses nothing, and can resume anywhere.
func (r *Reader) Events(ctx context.Context, after int64, limit int) ([]earshot.Event, error) {
	events, err := r.ask(ctx, limit, journal.SelectVisible+" AND j.sequence > @after ORDER BY j.sequence LIMIT @limit",
		sql.Named("after", after))
	return r.within(ctx, after, 0, events, err)
}

// Last returns the newest events of the given kinds, or of all kinds if none is given, in the order
// in which they happened.
func (r *Reader) Last(ctx context.Context, kinds []earshot.Kind, limit int) ([]earshot.Event, error) {
	return r.Page(ctx, kinds, 0, limit)
}

// newestQuery is the query for the newest rows that the audience may see.
func newestQuery(and string) string {
	return journal.SelectVisible + and + " ORDER BY j.sequence DESC LIMIT @limit"
}

// Lately returns those of the newest events of a room that any of some audiences may know, in the
// order in which they happened. From these, several agents can continue, each with what it may
// know. It reads the many newest events of a kind, or of all kinds if kind is empty.
func (s *Store) Lately(ctx context.Context, room earshot.RoomID, kind earshot.Kind, many int, who ...earshot.Audience) ([]earshot.Event, error) {
	query := "SELECT " + journal.Columns + " FROM journal j WHERE j.room = @room"
	if kind != "" {
		query += " AND j.kind = @kind"
	}
	found, err := journal.Collect(s.archive.db().QueryContext(ctx, query+" ORDER BY j.sequence DESC LIMIT @many",
		sql.Named("room", room), sql.Named("kind", kind), sql.Named("many", max(0, many))))
	if err != nil {
		return nil, s.archive.failed(ctx, err)
	}
	slices.Reverse(found)
	events, err := journal.OpenVisible(found, who...)
	return events, s.archive.failed(ctx, err)
}

// Event returns an event of a room, whoever may see it, and whether it exists. It lets the room
// look up an event to which another refers. It is never for a prompt or an outlet.
func (s *Store) Event(ctx context.Context, in earshot.RoomID, id earshot.EventID) (earshot.Event, bool, error) {
	e, err := journal.Target(ctx, s.archive.db(), in, id)
	if errors.Is(err, journal.ErrNoTarget) {
		return earshot.Event{}, false, nil
	}
	return e, err == nil, s.archive.failed(ctx, err)
}

// Decisions returns the newest decisions in the order in which they were made: those of one agent
// unless agent is empty, and those before a sequence unless before is 0.
func (r *Reader) Decisions(ctx context.Context, agent earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error) {
	events, err := r.ask(ctx, limit, newestQuery(` AND j.kind = 'decision' AND @agent IN ('', j.author) AND (@before = 0 OR j.sequence < @before)`),
		sql.Named("agent", agent), sql.Named("before", before))
	slices.Reverse(events)
	return r.within(ctx, 0, before, events, err)
}

// Find returns those of the events that exist, in the order of the journal.
func (r *Reader) Find(ctx context.Context, ids []earshot.EventID) ([]earshot.Event, error) {
	return r.ask(ctx, len(ids), journal.SelectVisible+
		" AND j.id IN (SELECT value FROM json_each(@ids)) ORDER BY j.sequence LIMIT @limit", sql.Named("ids", journal.JSON(ids)))
}

// About returns the first decisions about an event and the replies to it, in the order in which
// they happened.
func (r *Reader) About(ctx context.Context, id earshot.EventID, limit int) ([]earshot.Event, error) {
	return r.ask(ctx, limit, journal.SelectVisible+
		" AND j.sequence IN (SELECT sequence FROM turns WHERE about = @about) ORDER BY j.sequence LIMIT @limit", sql.Named("about", id))
}

// Turn returns the beginning and the end of a turn, if they have happened: the decision to speak,
// and the reply.
func (r *Reader) Turn(ctx context.Context, id earshot.TurnID) ([]earshot.Event, error) {
	return r.ask(ctx, 16, journal.SelectVisible+
		" AND j.sequence IN (SELECT sequence FROM turns WHERE turn = @turn) ORDER BY j.sequence LIMIT @limit", sql.Named("turn", id))
}

// Ends returns the replies that ended those of the turns that have ended, in the order of the
// journal.
func (r *Reader) Ends(ctx context.Context, turns []earshot.TurnID) ([]earshot.Event, error) {
	return r.ask(ctx, len(turns), journal.SelectVisible+ // coalesce keeps SQLite from reading all replies
		" AND coalesce(j.kind, '') = 'reply' AND j.sequence IN (SELECT sequence FROM turns WHERE turn IN (SELECT value FROM json_each(@turns))) ORDER BY j.sequence LIMIT @limit", sql.Named("turns", journal.JSON(turns)))
}

// ask returns the events that a query finds. The query must use [journal.SelectVisible] and @limit.
func (r *Reader) ask(ctx context.Context, limit int, query string, args ...any) ([]earshot.Event, error) {
	if limit < 1 {
		return nil, nil
	}
	events, err := journal.ReadVisible(ctx, r.archive.db(), r.who, query, append(args, sql.Named("limit", limit))...)
	return events, r.archive.failed(ctx, err)
}

// Merge sorts events in their order and removes duplicates. It changes events.
func Merge(events []earshot.Event) []earshot.Event {
	slices.SortFunc(events, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return slices.CompactFunc(events, func(a, b earshot.Event) bool { return a.Sequence == b.Sequence })
}

// Page returns the newest events before a sequence, of the given kinds or of all if none is given,
// in the order in which they happened; before 0 means the newest of all. A caller that passes the
// first sequence of one answer as the next before reaches the beginning and misses nothing.
func (r *Reader) Page(ctx context.Context, kinds []earshot.Kind, before int64, limit int) ([]earshot.Event, error) {
	const earlier = " AND j.sequence < @before"
	args := []any{sql.Named("before", beforeOf(before))}
	query := newestQuery(earlier)
	var parts []string
	for i, kind := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		name := "kind" + strconv.Itoa(i)
		args = append(args, sql.Named(name, kind))
		parts = append(parts, "SELECT * FROM ("+newestQuery(earlier+" AND j.kind = @"+name)+") AS "+name)
	}
	if len(parts) > 0 {
		query = "SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ") AS kinds ORDER BY sequence DESC LIMIT @limit"
	}
	events, err := r.ask(ctx, limit, query, args...)
	slices.Reverse(events)
	return r.within(ctx, 0, before, events, err)
}

// within returns events, or an error unless the first and the last of them are between two
// sequences, where 0 means no bound. Without this check, a caller that pages through a damaged file
// might never finish.
func (r *Reader) within(ctx context.Context, after, before int64, events []earshot.Event, err error) ([]earshot.Event, error) {
	if len(events) == 0 {
		return events, err
	}
	if first := events[0].Sequence; first <= after {
		return nil, r.archive.failed(ctx, journal.OutOfOrder(first))
	}
	if last := events[len(events)-1].Sequence; last >= beforeOf(before) {
		return nil, r.archive.failed(ctx, journal.OutOfOrder(last))
	}
	return events, err
}

// beforeOf returns the sequence that all results must precede; 0 means no bound.
func beforeOf(before int64) int64 {
	if before == 0 {
		return math.MaxInt64
	}
	return before
}

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
	return rooms, s.archive.failed(ctx, err)
}

// longestSearch is how long a search takes at most. Only searches in millions of texts need longer:
// those for words that are each common but never occur together, or for the beginnings of very many
// words.
const longestSearch = 10 * time.Second

// errLongSearch says what to do about that.
var errLongSearch = errors.New("too many events have these words: give rarer words, or since: or before: with a time")

// Search returns the newest messages, memos and heard replies that match a query, newest first,
// however old they are; see [search.Parse]. Names in the query are IDs.
func (r *Reader) Search(ctx context.Context, query string, limit int) ([]earshot.Event, error) {
	q, err := search.Parse(query, time.Now())
	if err != nil {
		return nil, err
	}
	var from []earshot.ParticipantID
	for _, name := range q.From {
		from = append(from, earshot.ParticipantID(name))
	}
	return r.Match(ctx, q, from, 0, limit)
}

// Match returns the newest events before a sequence that match a query, newest first; sequence 0
// means all. If people are given, only their events match.
func (r *Reader) Match(ctx context.Context, q search.Query, from []earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error) {
	if limit < 1 {
		return nil, nil
	}
	bounded, cancel := context.WithTimeout(ctx, longestSearch)
	defer cancel()
	tx, err := r.archive.db().BeginTx(bounded, &sql.TxOptions{ReadOnly: true}) // parts of the index may be merged meanwhile
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	defer tx.Rollback()
	found, err := r.archive.index.Find(bounded, tx, index.Query{Audience: r.who, Words: q, From: from, Before: beforeOf(before), Limit: limit})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, errLongSearch
	}
	return found, r.archive.failed(ctx, err)
}
