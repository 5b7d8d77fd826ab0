package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"earshot"
	"earshot/internal/search"
	"earshot/store/journal"
)

// A Query asks for the newest events that an audience may see and that match.
type Query struct {
	Audience earshot.Audience
	Words    search.Query
	From     []earshot.ParticipantID // if any, only their events match
	Before   int64                   // only events before this sequence match
	Limit    int
}

// Find returns the events that match a query, newest first.
func (x *Index) Find(ctx context.Context, tx *sql.Tx, q Query) ([]earshot.Event, error) {
	f := finder{Query: q, index: x, tx: tx}
	err := f.run(ctx)
	return f.found, err
}

// A finder answers one query from the index.
type finder struct {
	Query
	index *Index
	tx    *sql.Tx
	found []earshot.Event
}

// An interval is a range of sequences without its end.
type interval struct{ first, end int64 }

// run searches the intervals in which there may be a match, and each of them partition by
// partition, newest first.
func (f *finder) run(ctx context.Context) error {
	intervals, err := f.intervals(ctx)
	if err != nil {
		return err
	}
	size := f.index.size()
	for _, t := range intervals {
		for end := min(t.end, f.Before); len(f.found) < f.Limit; {
			var last sql.NullInt64
			err := f.tx.QueryRowContext(ctx, "SELECT max(sequence) FROM journal WHERE room = ? AND sequence < ?", f.Audience.Room, end).Scan(&last)
			if err != nil {
				return err
			}
			if !last.Valid || last.Int64 < t.first {
				break
			}
			if last.Int64 >= end {
				return journal.OutOfOrder(last.Int64)
			}
			first := last.Int64 - last.Int64%size
			if err := f.searchInterval(ctx, interval{max(t.first, first), end}); err != nil {
				return err
			}
			end = first
		}
	}
	return nil
}

// maxGap is how many sequences between two days are searched rather than skipped.
const maxGap = 4096

// intervals returns the intervals for the time of the query, newest first. In a journal into which
// older events were imported there may be several.
func (f *finder) intervals(ctx context.Context) (all []interval, err error) {
	q := f.Words
	if q.Since.IsZero() && q.Before.IsZero() {
		return []interval{{0, math.MaxInt64}}, nil
	}
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.Since.IsZero() {
		from = dayOf(q.Since)
	}
	if !q.Before.IsZero() {
		to = dayOf(q.Before)
	}
	rows, err := f.tx.QueryContext(ctx, "SELECT first, last FROM days WHERE day BETWEEN ? AND ? ORDER BY last DESC", from, to)
	err = journal.EachRow(rows, err, func(rows *sql.Rows) error {
		var first, last int64
		err := rows.Scan(&first, &last)
		if n := len(all); n > 0 && last+maxGap >= all[n-1].first {
			all[n-1].first = min(all[n-1].first, first)
		} else {
			all = append(all, interval{first, last + 1})
		}
		return err
	})
	return all, err
}

// maxCandidates is how many candidates are read in one go at most.
const maxCandidates = 4096

// searchInterval searches the events of an interval, all of which have the same tags.
func (f *finder) searchInterval(ctx context.Context, t interval) error {
	match, query := f.index.Expression(f.Query, t.first), "SELECT rowid FROM terms WHERE terms MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
	if f.index.Server {
		match, query = asTextQuery(match), vectorQuery
	}
	for n := min(f.Limit-len(f.found), maxCandidates); len(f.found) < f.Limit; n = min(4*n, maxCandidates) { // most candidates match
		sequences, err := journal.Column[int64](f.tx.QueryContext(ctx, query, match, t.first, t.end, n))
		if err != nil {
			return err
		}
		for some := range slices.Chunk(sequences, 256) {
			if err := f.addMatches(ctx, some); err != nil {
				return err
			}
		}
		if len(sequences) < n {
			return nil
		}
		last := sequences[n-1]
		if last < t.first || last >= t.end {
			return journal.OutOfOrder(last)
		}
		t.end = last
	}
	return nil
}

// addMatches adds those of some events, newest first, that may be seen and match.
func (f *finder) addMatches(ctx context.Context, sequences []int64) error {
	list, err := json.Marshal(sequences)
	if err != nil {
		return err
	}
	events, err := journal.ReadVisible(ctx, f.tx, f.Audience, journal.SelectVisible+
		" AND j.sequence IN (SELECT CAST(value AS BIGINT) FROM json_each(@these)) ORDER BY j.sequence DESC", sql.Named("these", string(list)))
	if err != nil {
		return err
	}
	for _, e := range events {
		if len(f.found) == f.Limit {
			return nil
		}
		text := search.TextOf(e) // of an erased event, whose terms may still be stale, there is none
		if text == "" || !f.Words.Within(e.At) || !f.Words.Match(string(text)) {
			continue
		}
		if is, err := f.isFrom(ctx, e); err != nil || !is {
			if err != nil {
				return err
			}
			continue
		}
		f.found = append(f.found, e)
	}
	return nil
}

// isFrom reports whether one of the given people has said something, as far as the reader may know.
func (f *finder) isFrom(ctx context.Context, e earshot.Event) (bool, error) {
	if len(f.From) == 0 {
		return true, nil
	}
	author := e.Author
	if e.Body.Kind() == earshot.KindUtterance {
		later, err := attributions(ctx, f.tx, e, math.MaxInt64)
		if err != nil {
			return false, err
		}
		for _, l := range later {
			if l.Visibility.Allows(f.Audience) {
				author = l.Body.(earshot.Attribution).Author
			}
		}
	}
	return slices.Contains(f.From, author), nil
}

// Expression returns a query in the language of FTS5, for the partition of a sequence. Of what
// somebody has typed it contains only letters and numbers, in quotes.
func (x *Index) Expression(q Query, sequence int64) string {
	term := func(tag, word string) string { return `"` + tag + word + `"` }
	all := func(tag string) string {
		terms := []string{term(tag, markAny)}
		for _, l := range q.Words.Lookups() {
			if t := term(tag, l.Term); l.Prefix {
				terms = append(terms, t+" *")
			} else {
				terms = append(terms, t)
			}
		}
		if len(terms) > 1 {
			terms = terms[1:] // every text with a word matches it anyway
		}
		var any []string
		for _, id := range q.From {
			any = append(any, term(tag, markAuthor+digest(string(id))))
		}
		if len(any) > 0 {
			terms = append(terms, "("+strings.Join(any, " OR ")+")")
		}
		return strings.Join(terms, " AND ")
	}
	room := x.tag(sequence, q.Audience.Room)
	ways := []string{all(room)}
	if len(q.Audience.Agents) > 0 {
		shown := all(room)
		for _, id := range q.Audience.Agents {
			shown += " AND " + term(room, markAgent+digest(string(id)))
		}
		ways = []string{"(" + all(room) + ") NOT " + term(room, markLimited), shown}
	}
	if people := slices.Concat(q.Audience.Members, q.Audience.Agents); len(people) > 0 && !q.Audience.Unknown {
		mine := all(x.tag(sequence, q.Audience.Room, people[0]))
		for _, id := range people[1:] {
			mine += " AND " + term(x.tag(sequence, q.Audience.Room, id), markAny)
		}
		ways = append(ways, mine)
	}
	return "(" + strings.Join(ways, ") OR (") + ")"
}
