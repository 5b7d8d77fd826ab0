package earshot

import (
	"context"
	"database/sql"
)

// A View reads what the journal has made of the events so far, from within the
// step that adds to it. A [sql.Tx] is one.
type View interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Projection is a table, or some, kept from the events, and made again from
// them at any time. A package that must answer questions about the past
// supplies one; the store keeps it.
type Projection interface {
	// Name is the projection's key among the migrations.
	Name() string

	// Version rises whenever Create or Apply change; the projection is then
	// made again from the journal.
	Version() int

	// Create makes the empty tables. Reset drops them, also those of an
	// earlier version.
	Create(ctx context.Context, tx *sql.Tx) error
	Reset(ctx context.Context, tx *sql.Tx) error

	// Apply takes in one event, in the order of the journal and within the
	// step that adds it. An event that has been erased comes a second time,
	// with an [Tombstone] body: whatever came from it goes. So does one that was
	// revised, which comes a third time as it is from then on.
	Apply(ctx context.Context, tx *sql.Tx, e Event) error
}

// Exec executes statements of a [Projection].
func Exec(ctx context.Context, tx *sql.Tx, statements string, args ...any) error {
	_, err := tx.ExecContext(ctx, statements, args...)
	return err
}
