package store

import (
	"context"
	"database/sql"
	"errors"

	"earshot"
	"earshot/store/journal"
	"earshot/store/vectors"
)

// Unembedded returns events of all rooms, whoever may see them, whose words have no vector of a model for
// embeddings yet: the newest first. It is for that model alone.
func (s *Store) Unembedded(ctx context.Context, model string, n int) ([]earshot.Event, error) {
	all, err := vectors.Pending(ctx, s.archive.db(), model, n)
	return all, s.archive.failed(ctx, err)
}

// SetVectors keeps the vectors that a model has made of the words of some events. Those that have lost
// their words since then get none.
func (s *Store) SetVectors(ctx context.Context, model string, of []earshot.Event, all [][]float32) error {
	if len(of) != len(all) {
		return errors.New("keeping vectors: there must be one for each event")
	}
	return s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		for i, e := range of {
			if err := vectors.Set(ctx, tx, model, e, all[i]); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

// Nearest returns the events whose words mean what is nearest to a vector of a model, the nearest first.
// It compares the vectors of all events, which takes a while in a large journal.
func (r *Reader) Nearest(ctx context.Context, model string, vector []float32, n int) ([]earshot.Event, error) {
	if n < 1 || len(vector) == 0 {
		return nil, nil
	}
	tx, err := r.archive.db().BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // both queries as of one moment
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	defer tx.Rollback()
	found, err := vectors.Nearest(ctx, tx, r.who, model, vector, n)
	return found, r.archive.failed(ctx, journal.StatementError(err))
}

// Wording returns the words of an event of which a vector is made.
func Wording(e earshot.Event) earshot.Text { return vectors.TextOf(e) }
