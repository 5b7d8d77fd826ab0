package store

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"

	"earshot"
	"earshot/store/journal"
)

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
		parts = append(parts, "SELECT * FROM ("+newestQuery(earlier+" AND j.kind = @"+name)+")")
	}
	if len(parts) > 0 {
		query = "SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ") ORDER BY sequence DESC LIMIT @limit"
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
