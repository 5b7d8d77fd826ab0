package store

import (
	"context"
	"database/sql"

	"earshot"
	"earshot/store/vectors"
)

// Unembedded returns events of all rooms, whoever may see them, whose words have no vector of a model for
// embeddings yet, the newest first, and these words. It is for that model alone.
func (s *Store) Unembedded(ctx context.Context, model string, n int) ([]earshot.Event, []earshot.Text, error) {
	all, texts, err := vectors.Pending(ctx, s.archive.db(), model, n)
	return all, texts, s.archive.failed(ctx, err)
}

// SetVectors keeps the vectors that a model has made of the words of some events, if they still have them.
func (s *Store) SetVectors(ctx context.Context, model string, of []earshot.Event, all [][]float32) error {
	return s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
		for i := 0; i < min(len(of), len(all)) && err == nil; i++ {
			err = vectors.Set(ctx, tx, model, of[i], all[i])
		}
		return false, err
	})
}

// Nearest returns the events whose words mean what is nearest to a vector of a model, the nearest first. In
// a large journal that takes a while.
func (r *Reader) Nearest(ctx context.Context, model string, vector []float32, n int) (found []earshot.Event, err error) {
	err = r.archive.Look(ctx, func(v earshot.View) (err error) {
		found, err = vectors.Nearest(ctx, v, r.who, model, vector, max(n, 1))
		return r.archive.failed(ctx, err)
	})
	return found, err
}
