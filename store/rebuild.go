package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"earshot"
)

// Rebuild makes every view anew from the journal. Their answers do not change; if they do, a view
// has a fault.
func (s *Store) Rebuild(ctx context.Context) error {
	return s.write.do(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		return false, remake(ctx, tx, s.projections, nil)
	})
}

// refresh rebuilds the views whose version has changed. It forgets the views that the program no
// longer has, so that a view that comes back is rebuilt.
func (s *Store) refresh(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	have, err := versions(ctx, tx)
	if err != nil {
		return err
	}
	var stale []earshot.Projection
	var other []string // views in the file that the program lacks or makes differently
	for _, p := range s.projections {
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
		s.archive.log.Info("rebuilding the views of the journal for this version; with a long journal that takes minutes", "views", strings.Join(other, " "))
	}
	for name := range have {
		if name == ours || name == unpurged {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE name = ?", name); err != nil {
			return err
		}
	}
	if err := remake(ctx, tx, stale, s.progress); err != nil {
		return err
	}
	return tx.Commit()
}

// distinct returns an error if two views share a name, or one uses a name that the store reserves.
func distinct(views []earshot.Projection) error {
	seen := map[string]bool{ours: true, unpurged: true}
	for _, p := range views {
		if seen[p.Name()] {
			return fmt.Errorf("opening the journal: two views are called %q", p.Name())
		}
		seen[p.Name()] = true
	}
	return nil
}

// versions returns the version of everything in the file.
func versions(ctx context.Context, db earshot.View) (map[string]int, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, version FROM versions")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	have := map[string]int{}
	for rows.Next() {
		var name string
		var version int
		if err := rows.Scan(&name, &version); err != nil {
			return nil, err
		}
		have[name] = version
	}
	return have, rows.Err()
}

// remake drops the views and makes them from the journal. An erased event reaches them only once,
// in its erased form. told, which may be nil, receives the progress.
func remake(ctx context.Context, tx *sql.Tx, stale []earshot.Projection, told func(done, all int64)) error {
	if len(stale) == 0 {
		return nil
	}
	var done, all int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM journal").Scan(&all); err != nil {
		return err
	}
	for _, p := range stale {
		if err := errors.Join(p.Reset(ctx, tx), p.Create(ctx, tx), stamp(ctx, tx, p.Name(), p.Version())); err != nil {
			return fmt.Errorf("making the view %s: %w", p.Name(), err)
		}
	}
	return each(ctx, tx, func(e earshot.Event) error {
		for _, p := range stale {
			if err := p.Apply(ctx, tx, e); err != nil {
				return fmt.Errorf("making the view %s: %w", p.Name(), err)
			}
		}
		if done++; told != nil && (done%chunk == 0 || done == all) {
			told(done, all)
		}
		return nil
	})
}

// each calls do with every event of the journal, in order.
func each(ctx context.Context, db earshot.View, do func(earshot.Event) error) error {
	for last := int64(0); ; {
		rows, err := after(ctx, db, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			e, err := r.event()
			if err != nil {
				return err
			}
			if err := do(e); err != nil {
				return err
			}
		}
		last = rows[len(rows)-1].sequence
	}
}

// chunk is how many rows are in memory at once when all are read.
const chunk = 256

// after returns the first rows after a sequence, of all rooms. In a damaged file a page may be its
// own descendant. Then the rows never end, and only their order reveals it.
func after(ctx context.Context, db earshot.View, sequence int64) ([]row, error) {
	all, err := collect(db.QueryContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.sequence > ? ORDER BY j.sequence LIMIT ?", sequence, chunk))
	if err == nil && len(all) > 0 && all[0].sequence <= sequence {
		return nil, astray(all[0].sequence)
	}
	return all, err
}

// astray returns the error for a row that is out of order.
func astray(sequence int64) error {
	return fmt.Errorf("event %d: it is out of order: %w", sequence, errAltered)
}

// list reads the result of a query, each row of it by read, and closes it.
func list[T any](rows *sql.Rows, err error, read func(*T, *sql.Rows) error) (all []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := read(&one, rows); err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// column reads the only column of a result, and closes it.
func column[T any](rows *sql.Rows, err error) ([]T, error) {
	return list(rows, err, func(one *T, rows *sql.Rows) error { return rows.Scan(one) })
}

// collect reads rows of the journal, in ascending or descending order, and closes them.
func collect(rows *sql.Rows, err error) ([]row, error) {
	all, err := list(rows, err, func(r *row, rows *sql.Rows) error { return r.scan(rows) })
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(all); i++ {
		last, next := all[i-1].sequence, all[i].sequence
		if next == last || next > last != (all[1].sequence > all[0].sequence) {
			return nil, astray(next)
		}
	}
	return all, nil
}
