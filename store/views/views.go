// Package views keeps the tables that are made from the journal, such as the index of words. Each
// is an [earshot.Projection]: it changes in the transaction that adds an event to the journal, and
// is made anew when the program makes it differently from how it is in the file.
package views

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"earshot"
	"earshot/store/index"
	"earshot/store/journal"
	"earshot/store/vectors"
)

// A Set is all the views of one file.
type Set struct {
	Index  *index.Index
	all    []earshot.Projection
	others []earshot.Projection // those of other packages
}

// New returns the store's own views, followed by those of other packages. The partition is that of
// the index.
func New(partition int64, others ...earshot.Projection) *Set {
	x := &index.Index{Partition: partition}
	return &Set{x, slices.Concat([]earshot.Projection{x, turns{}, vectors.View{}}, others), others}
}

// ForCopy returns the same views for a copy of the file, whose index counts its own work.
func (s *Set) ForCopy() *Set { return New(s.Index.Partition, s.others...) }

// CheckNames returns an error if two views share a name, or one uses a name that is reserved.
func (s *Set) CheckNames() error {
	seen := map[string]bool{}
	for _, p := range s.all {
		if seen[p.Name()] || journal.IsReserved(p.Name()) {
			return fmt.Errorf("opening the journal: two views are called %q", p.Name())
		}
		seen[p.Name()] = true
	}
	return nil
}

// Apply updates the views with an event.
func (s *Set) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	for _, p := range s.all {
		if err := p.Apply(ctx, tx, e); err != nil {
			return fmt.Errorf("keeping the view %s: %w", p.Name(), err)
		}
	}
	return nil
}

// Remove removes the words of an event from the index, before the event is overwritten.
func (s *Set) Remove(ctx context.Context, tx *sql.Tx, sequence int64) error {
	return s.Index.Remove(ctx, tx, sequence)
}

// Version returns what is the same where all views are made in the same way.
func (s *Set) Version() string {
	sum := sha256.New()
	for _, p := range s.all {
		fmt.Fprintf(sum, "%s %d\n", p.Name(), p.Version())
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// AreCurrent reports whether a file with these versions has the views as this program makes them.
func (s *Set) AreCurrent(have map[string]int) bool {
	return !slices.ContainsFunc(s.all, func(p earshot.Projection) bool { return have[p.Name()] != p.Version() })
}

// Refresh rebuilds the views whose version has changed. It forgets the views that the program no
// longer has, so that a view that comes back is rebuilt. progress, which may be nil, is called as
// events are processed.
func (s *Set) Refresh(ctx context.Context, db *sql.DB, log *slog.Logger, progress func(done, all int64)) error {
	return journal.InTransaction(ctx, db, func(tx *sql.Tx) error { return s.refresh(ctx, tx, log, progress) })
}

// refresh is Refresh in a transaction.
func (s *Set) refresh(ctx context.Context, tx *sql.Tx, log *slog.Logger, progress func(done, all int64)) error {
	have, err := journal.Versions(ctx, tx)
	if err != nil {
		return err
	}
	var stale []earshot.Projection
	var other []string // views in the file that the program lacks or makes differently
	for _, p := range s.all {
		v, ok := have[p.Name()]
		if !ok || v != p.Version() {
			stale = append(stale, p)
		}
		if ok && v != p.Version() {
			other = append(other, p.Name())
		}
		delete(have, p.Name())
	}
	if len(other) > 0 {
		log.Info("rebuilding the views of the journal for this version; with a long journal that takes minutes", "views", strings.Join(other, " "))
	}
	for name := range have {
		if journal.IsReserved(name) {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE name = ?", name); err != nil {
			return err
		}
	}
	return rebuild(ctx, tx, stale, progress)
}

// Rebuild makes every view anew from the journal.
func (s *Set) Rebuild(ctx context.Context, tx *sql.Tx) error { return rebuild(ctx, tx, s.all, nil) }

// progressEvery is how many events are processed between two reports of the progress.
const progressEvery = 256

// rebuild drops some views and makes them from the journal. An erased event reaches them only once,
// in its erased form.
func rebuild(ctx context.Context, tx *sql.Tx, stale []earshot.Projection, progress func(done, all int64)) error {
	if len(stale) == 0 {
		return nil
	}
	var done, all int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM journal").Scan(&all); err != nil {
		return err
	}
	for _, p := range stale {
		if err := errors.Join(p.Reset(ctx, tx), p.Create(ctx, tx), journal.SetVersion(ctx, tx, p.Name(), p.Version())); err != nil {
			return fmt.Errorf("making the view %s: %w", p.Name(), err)
		}
	}
	return journal.Each(ctx, tx, func(e earshot.Event) error {
		for _, p := range stale {
			if err := p.Apply(ctx, tx, e); err != nil {
				return fmt.Errorf("making the view %s: %w", p.Name(), err)
			}
		}
		if done++; progress != nil && (done%progressEvery == 0 || done == all) {
			progress(done, all)
		}
		return nil
	})
}

// CheckDefinitions returns an error unless the tables in the open file are defined as this program
// defines them. A flipped bit in a definition leaves a file in which SQLite finds no fault, but
// whose statements fail one day.
func (s *Set) CheckDefinitions(ctx context.Context, db *sql.DB) error {
	have, err := journal.Definitions(ctx, db)
	if err != nil {
		return err
	}
	want, err := s.newDefinitions(ctx)
	if err != nil {
		return err
	}
	for name, as := range want {
		if have[name] != as {
			return fmt.Errorf("the definition of %s was changed", name)
		}
	}
	return nil
}

func (s *Set) newDefinitions(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := journal.CreateTables(ctx, tx); err != nil {
		return nil, err
	}
	for _, p := range s.all {
		if err := p.Create(ctx, tx); err != nil {
			return nil, fmt.Errorf("making the view %s: %w", p.Name(), err)
		}
	}
	return journal.Definitions(ctx, tx)
}

// turns is the view that records which turn a decision began and a reply ended, and what both were
// about.
type turns struct{}

func (turns) Name() string { return "turns" }
func (turns) Version() int { return 2 }

func (turns) Create(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx,
		`CREATE TABLE turns (sequence INTEGER PRIMARY KEY, turn TEXT NOT NULL, about TEXT NOT NULL) STRICT`,
		`CREATE INDEX turns_turn ON turns (turn)`,
		`CREATE INDEX turns_about ON turns (about)`)
}

func (turns) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, `DROP TABLE IF EXISTS turns`, `DROP TABLE IF EXISTS decisions`) // the second was a view of its own once
}

func (turns) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	const insert = "INSERT INTO turns VALUES (?, ?, ?)"
	switch b := e.Body.(type) {
	case earshot.Decision:
		_, err = tx.ExecContext(ctx, insert, e.Sequence, b.Turn, b.About)
	case earshot.Reply:
		_, err = tx.ExecContext(ctx, insert, e.Sequence, b.Turn, b.About)
	case earshot.Tombstone:
		_, err = tx.ExecContext(ctx, "DELETE FROM turns WHERE sequence = ?", e.Sequence)
	}
	return err
}
