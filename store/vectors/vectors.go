// Package vectors is the view of the journal that has what the words of events mean: a vector of a model
// for embeddings for each, where one was made. What means about the same points into about the same
// direction. Vectors are made later, beside the writer, and made again if they are lost. A vector tells
// something of its text, so it goes when the event loses its words. Each number is kept in a byte.
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

// View is the view of the vectors, an [earshot.Projection].
type View struct{}

// Name returns its name, and Version the version of its table.
func (View) Name() string { return "vectors" }
func (View) Version() int { return 1 }

// Create makes the table, and Reset removes it. An event without a vector has a row with no model.
func (View) Create(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx,
		`CREATE TABLE vectors (sequence INTEGER PRIMARY KEY, model TEXT NOT NULL DEFAULT '', vector BLOB NOT NULL DEFAULT x'') STRICT`,
		`CREATE INDEX vectors_model ON vectors (model, sequence DESC)`)
}

func (View) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, `DROP TABLE IF EXISTS vectors`)
}

// Apply takes in an event. A message that is revised comes as erased, and then anew.
func (View) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	if _, erased := e.Body.(earshot.Tombstone); erased {
		_, err = tx.ExecContext(ctx, "DELETE FROM vectors WHERE sequence = ?", e.Sequence)
	} else if textOf(e) != "" {
		_, err = tx.ExecContext(ctx, "INSERT INTO vectors (sequence) VALUES (?) ON CONFLICT (sequence) DO UPDATE SET model = excluded.model, vector = excluded.vector", e.Sequence)
	}
	return err
}

// textOf returns the text of an event for which there is a vector; "" if there is none.
func textOf(e earshot.Event) earshot.Text {
	if f, is := e.Body.(earshot.Fact); is {
		return f.Text
	}
	return search.TextOf(e)
}

// Pending returns events without a vector of a model, the newest first, and only then those with the
// vectors of another model. It also returns their texts.
func Pending(ctx context.Context, v earshot.View, model string, n int) (all []earshot.Event, texts []earshot.Text, err error) {
	const from = "SELECT * FROM (SELECT " + journal.Columns + " FROM vectors v CROSS JOIN journal j ON j.sequence = v.sequence WHERE v.model "
	const order = " @model ORDER BY v.model, v.sequence DESC LIMIT @n) AS " // as the index has them
	found, err := v.QueryContext(ctx, from+"<"+order+"older UNION ALL "+from+">"+order+"newer LIMIT @n", sql.Named("model", model), sql.Named("n", n))
	rows, err := journal.List(found, err, func(r *journal.Row, rows *sql.Rows) error { return r.Scan(rows) }) // in no order of theirs
	for _, r := range rows {
		e, err := r.Event()
		if err != nil {
			return nil, nil, err
		}
		all, texts = append(all, e), append(texts, textOf(e))
	}
	return all, texts, err
}

// Set writes the vector of an event, unless the event has lost its words or has others by now.
func Set(ctx context.Context, tx *sql.Tx, model string, e earshot.Event, vector []float32) error {
	now, err := journal.Find(ctx, tx, "j.sequence = ?", e.Sequence)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (now.ID != e.ID || textOf(now) != textOf(e)) {
		return nil
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE vectors SET model = ?, vector = ? WHERE sequence = ?", model, quantize(vector), e.Sequence)
	}
	return err
}

// Nearest returns those events that an audience may see whose vectors point most nearly into the direction
// of one, the nearest first. It compares all, in the order of the file, which is quicker than by the index.
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
		if err := rows.Scan(&m.sequence, &data); err != nil || len(data) != len(to) {
			return err
		}
		if m.score = likeness(to, data); len(best) < n || m.score > best[n-1].score {
			at, _ := slices.BinarySearchFunc(best, m, func(a, b match) int { return cmp.Compare(b.score, a.score) })
			best = slices.Insert(best, at, m)[:min(len(best)+1, n)]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var sequences []int64
	for _, m := range best {
		sequences = append(sequences, m.sequence)
	}
	list, _ := json.Marshal(sequences) // of numbers
	found, err := journal.ReadVisible(ctx, v, who, journal.SelectVisible+" AND j.sequence IN (SELECT CAST(value AS BIGINT) FROM json_each(@sequences)) ORDER BY j.sequence", sql.Named("sequences", string(list)))
	slices.SortFunc(found, func(a, b earshot.Event) int {
		return slices.Index(sequences, a.Sequence) - slices.Index(sequences, b.Sequence)
	})
	return found, err
}

// quantize returns a vector with each number in a byte, such that the largest is 127.
func quantize(vector []float32) []byte {
	most := math.SmallestNonzeroFloat64
	for _, f := range vector {
		most = max(most, math.Abs(float64(f)))
	}
	out := make([]byte, len(vector))
	for i, f := range vector {
		out[i] = byte(int8(math.Round(float64(f) / most * 127)))
	}
	return out
}

// likeness returns the cosine of the angle between two vectors, times the length of the first.
func likeness(a, b []byte) float64 {
	var dot, size int32 // of at most 4096 numbers
	for i, x := range a {
		y := int32(int8(b[i]))
		dot += int32(int8(x)) * y
		size += y * y
	}
	return float64(dot) / math.Sqrt(float64(max(size, 1)))
}
