package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"earshot"
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
	events, err := r.ask(ctx, limit, "SELECT "+journal.Columns+" FROM journal j WHERE "+journal.Visible+" AND j.sequence > @after ORDER BY j.sequence LIMIT @limit",
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
	return "SELECT " + journal.Columns + " FROM journal j WHERE " + journal.Visible + and + " ORDER BY j.sequence DESC LIMIT @limit"
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
	if err != nil {
		return nil, s.archive.failed(ctx, err)
	}
	return events, nil
}

// Event returns an event of a room, whoever may see it, and whether it exists. It lets the room
// look up an event to which another refers. It is never for a prompt or an outlet.
func (s *Store) Event(ctx context.Context, in earshot.RoomID, id earshot.EventID) (earshot.Event, bool, error) {
	e, err := journal.Target(ctx, s.archive.db(), in, id)
	switch {
	case errors.Is(err, journal.ErrNoTarget):
		return earshot.Event{}, false, nil
	case err != nil:
		return earshot.Event{}, false, s.archive.failed(ctx, err)
	}
	return e, true, nil
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
	return r.ask(ctx, len(ids), "SELECT "+journal.Columns+" FROM journal j WHERE "+journal.Visible+
		" AND j.id IN (SELECT value FROM json_each(@ids)) ORDER BY j.sequence LIMIT @limit", sql.Named("ids", journal.JSON(ids)))
}

// About returns the first decisions about an event and the replies to it, in the order in which
// they happened.
func (r *Reader) About(ctx context.Context, id earshot.EventID, limit int) ([]earshot.Event, error) {
	return r.ask(ctx, limit, "SELECT "+journal.Columns+` FROM journal j WHERE `+journal.Visible+` AND j.sequence IN
		(SELECT sequence FROM decisions WHERE about = @about UNION SELECT sequence FROM turns WHERE about = @about) ORDER BY j.sequence LIMIT @limit`,
		sql.Named("about", id))
}

// Turn returns the beginning and the end of a turn, if they have happened: the decision to speak,
// and the reply.
func (r *Reader) Turn(ctx context.Context, id earshot.TurnID) ([]earshot.Event, error) {
	return r.ask(ctx, 16, "SELECT "+journal.Columns+` FROM journal j WHERE `+journal.Visible+` AND j.sequence IN
		(SELECT sequence FROM decisions WHERE turn = @turn UNION SELECT sequence FROM turns WHERE turn = @turn) ORDER BY j.sequence LIMIT @limit`,
		sql.Named("turn", id))
}

// Ends returns the replies that ended those of the turns that have ended, in the order of the
// journal.
func (r *Reader) Ends(ctx context.Context, turns []earshot.TurnID) ([]earshot.Event, error) {
	return r.ask(ctx, len(turns), "SELECT "+journal.Columns+" FROM journal j WHERE "+journal.Visible+
		" AND j.sequence IN (SELECT sequence FROM turns WHERE turn IN (SELECT value FROM json_each(@turns))) ORDER BY j.sequence LIMIT @limit", sql.Named("turns", journal.JSON(turns)))
}

// ask returns the events that a query finds. The query must use visible and @limit.
func (r *Reader) ask(ctx context.Context, limit int, query string, args ...any) ([]earshot.Event, error) {
	if limit < 1 {
		return nil, nil
	}
	events, err := journal.ReadVisible(ctx, r.archive.db(), r.who, query, append(args, sql.Named("limit", limit))...)
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	return events, nil
}

// Merge sorts events in their order and removes duplicates. It changes events.
func Merge(events []earshot.Event) []earshot.Event {
	slices.SortFunc(events, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return slices.CompactFunc(events, func(a, b earshot.Event) bool { return a.Sequence == b.Sequence })
}
