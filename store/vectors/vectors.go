// Package vectors is the view of the journal that has what the words of events mean: a vector of a model
// for embeddings for each, where one was made. Texts that mean about the same have vectors that point
// into about the same direction.
//
// The vectors are made beside the writer, later, and are lost without harm: then they are made again. A
// vector tells something of its text, so it goes when the event loses its words. Only the direction of a
// vector matters: each number is kept in a byte, so that a search reads a quarter of the bytes.
package vectors

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"earshot"
	"earshot/internal/search"
	"earshot/store/journal"
)

// View is the view of the vectors.
type View struct{}

// Name implements [earshot.Projection].
func (View) Name() string { return "vectors" }

// Version implements [earshot.Projection].
func (View) Version() int { return 1 }

// Create implements [earshot.Projection]. An event without a vector has a row with no model.
func (View) Create(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx,
		`CREATE TABLE vectors (sequence INTEGER PRIMARY KEY, model TEXT NOT NULL DEFAULT '', vector BLOB NOT NULL DEFAULT x'') STRICT`,
		`CREATE INDEX vectors_model ON vectors (model, sequence DESC)`)
}

// Reset implements [earshot.Projection].
func (View) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, `DROP TABLE IF EXISTS vectors`)
}

// Apply implements [earshot.Projection]. A message that is revised comes as erased, and then anew.
func (View) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	if _, erased := e.Body.(earshot.Tombstone); erased {
		_, err = tx.ExecContext(ctx, "DELETE FROM vectors WHERE sequence = ?", e.Sequence)
	} else if TextOf(e) != "" {
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO vectors (sequence) VALUES (?)", e.Sequence)
	}
	return err
}

// TextOf returns the text of an event for which there is a vector; "" if there is none.
func TextOf(e earshot.Event) earshot.Text {
	if f, is := e.Body.(earshot.Fact); is {
		return f.Text
	}
	return search.TextOf(e)
}

// Pending returns events without a vector of a model, the newest first, and only then those with the
// vectors of another model.
func Pending(ctx context.Context, v earshot.View, model string, n int) (all []earshot.Event, err error) {
	const query = "SELECT " + journal.Columns + " FROM vectors v CROSS JOIN journal j ON j.sequence = v.sequence WHERE "
	for _, which := range []string{"v.model = ''", "v.model > '' AND v.model < @model", "v.model > @model"} {
		if len(all) == n {
			break
		}
		rows, err := journal.Collect(v.QueryContext(ctx, query+which+" ORDER BY v.model, v.sequence DESC LIMIT @n", sql.Named("model", model), sql.Named("n", n-len(all))))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			e, err := r.Event()
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// Set writes the vector of an event as it was when it was read. If the event has lost its words or has
// others since then, it writes nothing.
func Set(ctx context.Context, tx *sql.Tx, model string, e earshot.Event, vector []float32) error {
	now, err := journal.Find(ctx, tx, "j.sequence = ?", e.Sequence)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (now.ID != e.ID || TextOf(now) != TextOf(e)) {
		return nil
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE vectors SET model = ?, vector = ? WHERE sequence = ?", model, quantize(vector), e.Sequence)
	}
	return err
}

// Nearest returns the events whose vectors of a model point most nearly into the direction of one, the
// nearest first, among those that an audience may see. It compares all of them, in the order of the
// file, which is quicker than by the index.
func Nearest(ctx context.Context, v earshot.View, who earshot.Audience, model string, vector []float32, n int) ([]earshot.Event, error) {
	type match struct {
		sequence int64
		score    float64
	}
	var best []match
	to := quantize(vector)
	rows, err := v.QueryContext(ctx, "SELECT v.sequence, v.vector FROM vectors v NOT INDEXED CROSS JOIN journal j ON j.sequence = v.sequence WHERE v.model = @model AND "+journal.Visible,
		append(journal.VisibleTo(who), sql.Named("model", model))...)
	err = journal.EachRow(rows, err, func(rows *sql.Rows) error {
		var m match
		var data sql.RawBytes
		if err := rows.Scan(&m.sequence, &data); err != nil {
			return err
		}
		if m.score = likeness(to, data); len(best) < n || m.score > best[n-1].score {
			at, _ := slices.BinarySearchFunc(best, m, func(a, b match) int { return cmp.Compare(b.score, a.score) })
			best = slices.Insert(best, at, m)[:min(len(best)+1, n)]
		}
		return nil
	})
	if err != nil || len(best) == 0 {
		return nil, err
	}
	place := make(map[int64]int, len(best))
	var sequences []int64
	for i, m := range best {
		place[m.sequence], sequences = i, append(sequences, m.sequence)
	}
	list, _ := json.Marshal(sequences) // of numbers
	found, err := journal.ReadVisible(ctx, v, who, journal.SelectVisible+" AND j.sequence IN (SELECT value FROM json_each(@sequences))", sql.Named("sequences", string(list)))
	slices.SortFunc(found, func(a, b earshot.Event) int { return cmp.Compare(place[a.Sequence], place[b.Sequence]) })
	return found, err
}

// quantize returns a vector with each number in a byte, such that the largest is 127.
func quantize(vector []float32) []byte {
	most := 0.0
	for _, f := range vector {
		most = max(most, math.Abs(float64(f)))
	}
	out := make([]byte, len(vector))
	for i, f := range vector {
		if most > 0 {
			out[i] = byte(int8(math.Round(float64(f) / most * 127)))
		}
	}
	return out
}

// likeness returns the cosine of the angle between two vectors, times the length of the first. Vectors
// of different models are not alike.
func likeness(a, b []byte) float64 {
	if len(a) != len(b) {
		return -math.MaxFloat64
	}
	var dot, size int32 // of at most 4096 numbers
	for i, x := range a {
		y := int32(int8(b[i]))
		dot += int32(int8(x)) * y
		size += y * y
	}
	return float64(dot) / math.Sqrt(float64(max(size, 1)))
}
