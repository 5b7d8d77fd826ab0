package views

import (
	"context"
	"database/sql"
	"fmt"

	"earshot/store/journal"
)

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

// newDefinitions returns the definitions of a new file.
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
