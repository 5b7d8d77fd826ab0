package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/internal/search"
)

// longestSearch is how long a search takes at most. Only searches in millions of texts need longer:
// those for words that are each common but never occur together, or for the beginnings of very many
// words.
const longestSearch = 10 * time.Second

// errLongSearch says what to do about that.
var errLongSearch = errors.New("too many events have these words: give rarer words, or since: or before: with a time")

// Search returns the newest messages, memos and heard replies that match a query, newest first,
// however old they are; see [search.Parse]. Names in the query are IDs.
func (r *Reader) Search(ctx context.Context, query string, limit int) ([]earshot.Event, error) {
	return r.SearchBefore(ctx, query, 0, limit)
}

// SearchBefore is Search in the events before a sequence; 0 means all.
func (r *Reader) SearchBefore(ctx context.Context, text string, before int64, limit int) ([]earshot.Event, error) {
	q, err := search.Parse(text, time.Now())
	if err != nil {
		return nil, err
	}
	var from []earshot.ParticipantID
	for _, name := range q.From {
		from = append(from, earshot.ParticipantID(name))
	}
	return r.Match(ctx, q, from, before, limit)
}

// Match returns the newest events before a sequence that match a query, newest first; sequence 0
// means all. If people are given, only their events match.
func (r *Reader) Match(ctx context.Context, q search.Query, from []earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error) {
	if limit < 1 {
		return nil, nil
	}
	bounded, cancel := context.WithTimeout(ctx, longestSearch)
	defer cancel()
	tx, err := r.archive.db().BeginTx(bounded, &sql.TxOptions{ReadOnly: true}) // parts of the index may be joined meanwhile
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	defer tx.Rollback()
	s := finder{r: r, tx: tx, query: q, from: from, limit: limit}
	switch err = s.run(bounded, beforeOf(before)); {
	case err == nil:
		return s.found, nil
	case bounded.Err() != nil && ctx.Err() == nil:
		return nil, errLongSearch
	}
	return nil, r.archive.failed(ctx, err)
}

// A finder answers one query from the index.
type finder struct {
	r     *Reader
	tx    *sql.Tx
	query search.Query
	from  []earshot.ParticipantID
	limit int
	found []earshot.Event
}

// An interval is a range of sequences without its end.
type interval struct{ first, end int64 }

// run searches the intervals in which there may be a match, and each of them partition by
// partition, newest first.
func (s *finder) run(ctx context.Context, before int64) error {
	intervals, err := s.intervals(ctx)
	if err != nil {
		return err
	}
	size := s.r.archive.index.size()
	for _, t := range intervals {
		for end := min(t.end, before); len(s.found) < s.limit; {
			var last sql.NullInt64
			err := s.tx.QueryRowContext(ctx, "SELECT max(sequence) FROM journal WHERE room = ? AND sequence < ?", s.r.who.Room, end).Scan(&last)
			if err != nil {
				return err
			}
			if !last.Valid || last.Int64 < t.first {
				break
			}
			if last.Int64 >= end {
				return astray(last.Int64)
			}
			first := last.Int64 - last.Int64%size
			if err := s.look(ctx, interval{max(t.first, first), end}); err != nil {
				return err
			}
			end = first
		}
	}
	return nil
}

// near is how many sequences between two days are searched rather than skipped.
const near = 4096

// intervals returns the intervals for the time of the query, newest first. In a journal into which
// older events were imported there may be several.
func (s *finder) intervals(ctx context.Context) (all []interval, err error) {
	q := s.query
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
	rows, err := s.tx.QueryContext(ctx, "SELECT first, last FROM days WHERE day BETWEEN ? AND ? ORDER BY last DESC", from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var first, last int64
		if err := rows.Scan(&first, &last); err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && last+near >= all[n-1].first {
			all[n-1].first = min(all[n-1].first, first)
			continue
		}
		all = append(all, interval{first, last + 1})
	}
	return all, rows.Err()
}

// atOnce is how many candidates are read in one go at most.
const atOnce = 4096

// look searches the events of an interval, all of which have the same tags.
func (s *finder) look(ctx context.Context, t interval) error {
	match := s.match(t.first)
	for n := min(s.limit-len(s.found), atOnce); len(s.found) < s.limit; n = min(4*n, atOnce) { // most candidates match
		sequences, err := column[int64](s.tx.QueryContext(ctx, "SELECT rowid FROM terms WHERE terms MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?", match, t.first, t.end, n))
		if err != nil {
			return err
		}
		for some := range slices.Chunk(sequences, 256) {
			if err := s.take(ctx, some); err != nil {
				return err
			}
		}
		if len(sequences) < n {
			return nil
		}
		last := sequences[n-1]
		if last < t.first || last >= t.end {
			return astray(last)
		}
		t.end = last
	}
	return nil
}

// match returns the query to the index, in the language of FTS5, for the partition of a sequence.
// Of what somebody has typed it contains only letters and numbers, in quotes.
func (s *finder) match(sequence int64) string {
	index, who := s.r.archive.index, s.r.who
	term := func(tag, word string) string { return `"` + tag + word + `"` }
	all := func(tag string) string {
		terms := []string{term(tag, markAny)}
		for _, l := range s.query.Lookups() {
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
		for _, id := range s.from {
			any = append(any, term(tag, markAuthor+digest(string(id))))
		}
		if len(any) > 0 {
			terms = append(terms, "("+strings.Join(any, " OR ")+")")
		}
		return strings.Join(terms, " AND ")
	}
	room := index.tag(sequence, who.Room)
	ways := []string{all(room)}
	if len(who.Agents) > 0 {
		shown := all(room)
		for _, id := range who.Agents {
			shown += " AND " + term(room, markAgent+digest(string(id)))
		}
		ways = []string{"(" + all(room) + ") NOT " + term(room, markLimited), shown}
	}
	if people := slices.Concat(who.Members, who.Agents); len(people) > 0 && !who.Unknown {
		mine := all(index.tag(sequence, who.Room, people[0]))
		for _, id := range people[1:] {
			mine += " AND " + term(index.tag(sequence, who.Room, id), markAny)
		}
		ways = append(ways, mine)
	}
	return "(" + strings.Join(ways, ") OR (") + ")"
}

// take adds those of some events, newest first, that may be seen and match.
func (s *finder) take(ctx context.Context, sequences []int64) error {
	events, err := s.r.these(ctx, s.tx, sequences)
	if err != nil {
		return err
	}
	for _, e := range events {
		if len(s.found) == s.limit {
			return nil
		}
		if !s.query.Within(e.At) || !s.query.Match(string(search.TextOf(e))) {
			continue
		}
		if theirs, err := s.theirs(ctx, e); err != nil || !theirs {
			if err != nil {
				return err
			}
			continue
		}
		s.found = append(s.found, e)
	}
	return nil
}

// theirs reports whether one of the given people has said something, as far as the reader may know.
func (s *finder) theirs(ctx context.Context, e earshot.Event) (bool, error) {
	if len(s.from) == 0 {
		return true, nil
	}
	author := e.Author
	if e.Body.Kind() == earshot.KindUtterance {
		later, err := attributions(ctx, s.tx, e, math.MaxInt64)
		if err != nil {
			return false, err
		}
		for _, l := range later {
			if l.Visibility.Allows(s.r.who) {
				author = l.Body.(earshot.Attribution).Author
			}
		}
	}
	return slices.Contains(s.from, author), nil
}
