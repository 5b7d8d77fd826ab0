package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"earshot"
	"earshot/internal/search"
	"earshot/store/index"
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
