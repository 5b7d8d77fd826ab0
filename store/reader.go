package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"earshot"
)

// A Reader returns what every member of one audience may know: the events of their room that all of
// them may see. It is safe for concurrent use.
type Reader struct {
	archive *Archive
	who     earshot.Audience
}

// visible selects the rows of the journal j that the audience may see. It is
// [earshot.Visibility.Allows] in SQL.
const visible = `j.room = @room AND (j.scope IN ('public', 'system') OR j.scope = 'private' AND @known
	AND NOT EXISTS (SELECT 1 FROM json_each(@members) a WHERE NOT EXISTS
		(SELECT 1 FROM members m WHERE m.sequence = j.sequence AND m.member = a.value)))
	AND (j.agents IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@agents) a WHERE NOT EXISTS
		(SELECT 1 FROM json_each(j.agents) m WHERE m.value = a.value)))`

// Events returns the first events after a sequence, oldest first. A caller that passes the last
// sequence of one answer as the next after misses nothing, and can resume anywhere.
func (r *Reader) Events(ctx context.Context, after int64, limit int) ([]earshot.Event, error) {
	events, err := r.ask(ctx, limit, "SELECT "+columns+" FROM journal j WHERE "+visible+" AND j.sequence > @after ORDER BY j.sequence LIMIT @limit",
		sql.Named("after", after))
	return r.within(ctx, after, 0, events, err)
}

// Last returns the newest events of the given kinds, or of all kinds if none is given, in the order
// in which they happened.
func (r *Reader) Last(ctx context.Context, kinds []earshot.Kind, limit int) ([]earshot.Event, error) {
	return r.Page(ctx, kinds, 0, limit)
}

// newest is the query for the newest rows that the audience may see.
func newest(and string) string {
	return "SELECT " + columns + " FROM journal j WHERE " + visible + and + " ORDER BY j.sequence DESC LIMIT @limit"
}

// Lately returns those of the newest events of a room that any of some audiences may know, in the
// order in which they happened. From these, several agents can continue, each with what it may
// know. It reads the many newest events of a kind, or of all kinds if kind is empty.
func (s *Store) Lately(ctx context.Context, room earshot.RoomID, kind earshot.Kind, many int, who ...earshot.Audience) ([]earshot.Event, error) {
	query := "SELECT " + columns + " FROM journal j WHERE j.room = @room"
	if kind != "" {
		query += " AND j.kind = @kind"
	}
	found, err := collect(s.archive.db().QueryContext(ctx, query+" ORDER BY j.sequence DESC LIMIT @many",
		sql.Named("room", room), sql.Named("kind", kind), sql.Named("many", max(0, many))))
	if err != nil {
		return nil, s.archive.failed(ctx, err)
	}
	slices.Reverse(found)
	events, err := open(found, who...)
	if err != nil {
		return nil, s.archive.failed(ctx, err)
	}
	return events, nil
}

// Decisions returns the newest decisions in the order in which they were made: those of one agent
// unless agent is empty, and those before a sequence unless before is 0.
func (r *Reader) Decisions(ctx context.Context, agent earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error) {
	events, err := r.ask(ctx, limit, newest(` AND j.kind = 'decision' AND @agent IN ('', j.author) AND (@before = 0 OR j.sequence < @before)`),
		sql.Named("agent", agent), sql.Named("before", before))
	slices.Reverse(events)
	return r.within(ctx, 0, before, events, err)
}

// Find returns those of the events that exist, in the order of the journal.
func (r *Reader) Find(ctx context.Context, ids []earshot.EventID) ([]earshot.Event, error) {
	return r.ask(ctx, len(ids), "SELECT "+columns+" FROM journal j WHERE "+visible+
		" AND j.id IN (SELECT value FROM json_each(@ids)) ORDER BY j.sequence LIMIT @limit", sql.Named("ids", asJSON(ids)))
}

// About returns the first decisions about an event and the replies to it, in the order in which
// they happened.
func (r *Reader) About(ctx context.Context, id earshot.EventID, limit int) ([]earshot.Event, error) {
	return r.ask(ctx, limit, "SELECT "+columns+` FROM journal j WHERE `+visible+` AND j.sequence IN
		(SELECT sequence FROM decisions WHERE about = @about UNION SELECT sequence FROM turns WHERE about = @about) ORDER BY j.sequence LIMIT @limit`,
		sql.Named("about", id))
}

// Turn returns the beginning and the end of a turn, if they have happened: the decision to speak,
// and the reply.
func (r *Reader) Turn(ctx context.Context, id earshot.TurnID) ([]earshot.Event, error) {
	return r.ask(ctx, 16, "SELECT "+columns+` FROM journal j WHERE `+visible+` AND j.sequence IN
		(SELECT sequence FROM decisions WHERE turn = @turn UNION SELECT sequence FROM turns WHERE turn = @turn) ORDER BY j.sequence LIMIT @limit`,
		sql.Named("turn", id))
}

// Ends returns the replies that ended those of the turns that have ended, in the order of the
// journal.
func (r *Reader) Ends(ctx context.Context, turns []earshot.TurnID) ([]earshot.Event, error) {
	return r.ask(ctx, len(turns), "SELECT "+columns+" FROM journal j WHERE "+visible+
		" AND j.sequence IN (SELECT sequence FROM turns WHERE turn IN (SELECT value FROM json_each(@turns))) ORDER BY j.sequence LIMIT @limit", sql.Named("turns", asJSON(turns)))
}

// ask returns the events that a query finds. The query must use visible and @limit.
func (r *Reader) ask(ctx context.Context, limit int, query string, args ...any) ([]earshot.Event, error) {
	if limit < 1 {
		return nil, nil
	}
	events, err := r.seen(ctx, r.archive.db(), query, append(args, sql.Named("limit", limit))...)
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	return events, nil
}

// these returns those of some events that the audience may see, newest first.
func (r *Reader) these(ctx context.Context, tx *sql.Tx, sequences []int64) ([]earshot.Event, error) {
	list, err := json.Marshal(sequences)
	if err != nil {
		return nil, err
	}
	return r.seen(ctx, tx, "SELECT "+columns+" FROM journal j WHERE "+visible+
		" AND j.sequence IN (SELECT value FROM json_each(@these)) ORDER BY j.sequence DESC", sql.Named("these", string(list)))
}

// seen returns the events that a query finds. The query must use visible.
func (r *Reader) seen(ctx context.Context, db earshot.View, query string, args ...any) ([]earshot.Event, error) {
	members := slices.Concat(r.who.Members, r.who.Agents)
	found, err := collect(db.QueryContext(ctx, query, append(args, sql.Named("room", r.who.Room), sql.Named("members", asJSON(members)),
		sql.Named("agents", asJSON(r.who.Agents)), sql.Named("known", !r.who.Unknown && len(members) > 0))...))
	if err != nil {
		return nil, err
	}
	return open(found, r.who)
}

// asJSON returns IDs for a query. No event has an ID that is not valid text, so such an ID becomes
// a number, which equals no ID.
func asJSON[ID ~string](ids []ID) string {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = 0
		if utf8.ValidString(string(id)) {
			values[i] = id
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("store: %v", err)) // text and numbers can always be encoded
	}
	return string(text)
}

// open returns the events in rows that any of some audiences may know. The columns beside an event
// only preselect it. Its visibility is checked again in the event itself, which alone has a
// checksum.
func open(rows []row, who ...earshot.Audience) ([]earshot.Event, error) {
	events := make([]earshot.Event, 0, len(rows))
	for _, row := range rows {
		e, err := row.event()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(who, func(a earshot.Audience) bool { return e.Room == a.Room && e.Visibility.Allows(a) }) {
			events = append(events, e)
		}
	}
	return events, nil
}

// Merge sorts events in their order and removes duplicates. It changes events.
func Merge(events []earshot.Event) []earshot.Event {
	slices.SortFunc(events, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return slices.CompactFunc(events, func(a, b earshot.Event) bool { return a.Sequence == b.Sequence })
}
