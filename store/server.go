package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"earshot"
	"earshot/store/journal"
	"earshot/store/postgres"
	"earshot/store/views"
)

// openServer opens the journal in a database of PostgreSQL. The directory is locked already, for what
// others keep there; the connection that writes has the lock of the database. Of several daemons that share
// it, one at a time brings the tables up to date.
func (s *Store) openServer(ctx context.Context, c Config) error {
	server, err := postgres.NewConnector(c.URL.Reveal())
	if err != nil {
		return fmt.Errorf("opening the journal: store.url: %w", err)
	}
	s.archive.server = server
	s.views.Index.Server = true
	version := ""
	if s.peers != nil {
		version = s.views.Version()
	}
	db := server.OpenWriter(version)
	err = s.views.CheckNames()
	if err == nil && s.peers != nil {
		err = s.peers.hold(ctx, db, s.archive.log)
	}
	if err == nil {
		err = postgres.Install(ctx, db)
	}
	if err == nil {
		err = journal.Create(ctx, db, server.Name, true)
	}
	if err == nil && s.peers != nil {
		err = s.checkOthers(ctx, db, version)
	}
	if err == nil {
		err = s.views.Refresh(ctx, db, s.archive.log, s.progress)
	}
	if err == nil && s.peers != nil {
		err = s.peers.begin(ctx, db)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return errors.Join(fmt.Errorf("opening the journal: %w", s.archive.explain(err)), db.Close())
	}
	s.start(ctx, db, server.OpenReaders(journal.MaxReaders))
	return nil
}

// checkOthers returns an error if the tables must be made anew for this version while daemons of another one use
// them.
func (s *Store) checkOthers(ctx context.Context, db *sql.DB, version string) error {
	have, err := journal.Versions(ctx, db)
	if err != nil || s.views.AreCurrent(have) {
		return err
	}
	others, err := postgres.OtherVersions(ctx, db, version)
	if others {
		err = fmt.Errorf("%w: %s: daemons of another version use its tables: end all daemons that share it, and then start this version everywhere", ErrOther, s.archive.name())
	}
	return err
}

// openServerReader is OpenReader for a database of PostgreSQL.
func openServerReader(ctx context.Context, c Config, path string) (*Archive, error) {
	server, err := postgres.NewConnector(c.URL.Reveal())
	if err != nil {
		return nil, fmt.Errorf("opening the journal: store.url: %w", err)
	}
	own := views.New(0)
	own.Index.Server = true
	a := &Archive{path: path, server: server, index: own.Index}
	a.pool.Store(server.OpenReaders(journal.MaxReaders))
	if err := a.checkVersions(ctx, own); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// name returns what errors call the journal.
func (a *Archive) name() string {
	if a.server != nil {
		return a.server.Name
	}
	return a.path
}

// explain returns the error that says what to do about one of a statement.
func (a *Archive) explain(err error) error {
	if a.server == nil {
		return journal.Explain(a.path, err)
	}
	switch e, is := errors.AsType[*postgres.Error](err); {
	case errors.Is(err, postgres.ErrOwned):
		return &ErrLocked{Directory: a.name()}
	case is && e.SQLState() == fencedState:
		return fmt.Errorf("%w (the database says so)", ErrFenced)
	case errors.Is(err, journal.ErrAltered):
		return fmt.Errorf("%w: %s: restore it with the tools of PostgreSQL: %w", ErrDamaged, a.name(), err)
	case errors.Is(err, driver.ErrBadConn):
		return fmt.Errorf("%w: %s: it does not answer: start it, or correct store.url", ErrFull, a.name())
	case is:
		return fmt.Errorf("%w: %s: %w", ErrFull, a.name(), e)
	}
	return err
}

// vacuum removes the traces of what was deleted from the tables, if there are any. Its caller is the only
// one that removes traces.
func (s *Store) vacuum(ctx context.Context) error {
	s.cleaning.begin()
	defer s.cleaning.over()
	mark, err := journal.TraceMark(ctx, s.archive.db())
	if err != nil || mark == 0 {
		return s.archive.failed(ctx, err)
	}
	if err := postgres.Vacuum(ctx, s.archive.db()); err != nil {
		return s.archive.failed(ctx, err)
	}
	return s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		return false, journal.ClearMark(ctx, tx, mark)
	})
}

// askAgain is the pause before a server that did not answer is asked again.
const askAgain = time.Second

// wasKept reports whether an event was kept in a commit in which the connection was lost, as why says. It
// asks on the connection that writes: when that has the lock of the database, the lost one was ended and can
// commit nothing any more. It returns why if the event was not kept, and an [ErrInDoubt] if ctx ends first.
func (s *Store) wasKept(ctx context.Context, id earshot.EventID, why error) (is bool, err error) {
	for {
		err = s.write.whole(ctx, func(ctx context.Context, tx *sql.Tx) (_ bool, err error) {
			is, err = journal.Exists(ctx, tx, "SELECT 1 FROM journal WHERE id = ?", id)
			return false, err
		})
		if err == nil {
			return is, why
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			return false, fmt.Errorf("%w: %w", ErrInDoubt, context.Cause(ctx))
		case <-s.write.quit:
			return false, fmt.Errorf("%w: %w", ErrInDoubt, ErrClosed)
		}
		if !errors.Is(err, postgres.ErrLost) {
			return false, fmt.Errorf("%w: %w", ErrInDoubt, err)
		}
	}
}
