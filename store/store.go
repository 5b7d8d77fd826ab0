// Package store keeps what happened. The journal is the truth: one SQLite file, or a database of
// PostgreSQL, to which events are
// added and never changed, except that a deleted event loses its content and a revised message gets
// a new one. The views of the journal, such as the search, are made from it and can be rebuilt at
// any time.
//
// Two kinds of events change earlier ones, in the same step that adds them. The subject of an
// [earshot.Revision] says from then on what the revision says. The subject of an
// [earshot.Withdrawal] is erased with everything derived from it. The old content is gone with the
// commit, and its traces are gone when the file has been replaced by a copy without them; see
// [Store.Clean].
//
// An event is acknowledged after it has been forced to the disk. Decisions that depend on the past,
// such as whether a name is free, are taken inside the writer ([Store.Do]), so that nobody else can
// decide in between. Callers that arrive while a commit is in progress share the next one.
//
// The journal is read through [Store.For] an audience, and shows what every member of the audience
// may see. Streams are pulled: a reader asks for what came after its last sequence, and waits on
// [Store.Grown] when there is nothing. A slow reader makes nobody wait and misses nothing.
//
// One daemon owns a data directory; other processes read it with [OpenReader]. A damaged file is
// set aside when the damage is found, and what can be read of it is saved into a new file, with
// which the daemon continues.
//
// This package decides who may write and when: it has the lock, the writer, the readers and the
// work in the background. The packages below it, which only it imports, say what is done with a
// file or in a transaction; [journal] is the lowest of them.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/store/edit"
	"earshot/store/journal"
	"earshot/store/postgres"
	"earshot/store/retention"
	"earshot/store/salvage"
	"earshot/store/views"
)

// A Store is an open journal that its daemon writes. It is safe for concurrent use.
type Store struct {
	archive   *Archive
	write     *writer
	running   sync.WaitGroup
	cleaner   traceCleaner
	lock      *lock
	reports   *faultReporter
	views     *views.Set
	editor    *edit.Editor         // owned by the writer
	overheard *retention.Overheard // its erasing is owned by the writer
	now       func() time.Time
	meter     Meter                 // may be nil
	progress  func(done, all int64) // may be nil
	closing   sync.Once
	suspect   atomic.Bool // damage was seen, so the next start checks everything
	mended    bool        // the file was mended since it was opened; owned by the writer
	check     check
	cleaning  stopwatch
	peers     *peers       // nil if nobody else writes
	changed   atomic.Int64 // when the journal last grew, in nanoseconds since 1970

	mu    sync.Mutex
	grown chan struct{}
}

// Open opens the journal in the directory, or creates it if there is none. It brings the views up
// to date and makes necessary repairs. If the last daemon died within a commit, or did not trust
// the file, Open takes as long as reading the whole file. If the daemon died otherwise, the check
// runs in the background. When ctx ends later, the journal stays open.
//
// The error is an [*ErrLocked] if another daemon owns the directory, and an [ErrOther] if the file
// has another version; such a file is left as it is.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := prepare(c.Directory); err != nil {
		return nil, err
	}
	l, last, err := acquire(c.Directory, filepath.Join(c.Directory, lockFile))
	if err != nil {
		return nil, err
	}
	s := newStore(ctx, c, l)
	open := s.open
	if c.URL != "" {
		open = func(ctx context.Context, _ previousExit) error { return s.openServer(ctx, c) }
	}
	if err := open(ctx, last); err != nil {
		s.reports.close()
		return nil, errors.Join(err, l.release(last == closed && !errors.Is(err, ErrDamaged)))
	}
	return s, nil
}

// newStore returns a store with defaults for what c leaves out.
func newStore(ctx context.Context, c Config, l *lock) *Store {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		lock:     l,
		reports:  newReporter(ctx, c.Report, log),
		views:    views.New(c.partition, c.Projections...),
		now:      c.Now,
		meter:    c.Meter,
		progress: c.Progress,
		grown:    make(chan struct{}),
		cleaner:  newTraceCleaner(),
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.editor = &edit.Editor{Views: s.views, Now: s.now, NewID: c.NewID, Traces: s.cleaner.wake}
	if c.NewID == nil {
		s.editor.NewID = newIDs(s.now)
	}
	if c.Fence != nil {
		s.peers = newPeers(c.Fence, c.Followed)
		s.editor.Tell = s.peers.tell
	}
	s.overheard = retention.NewOverheard(s.editor, c.Heeded, c.Unheeded)
	path := filepath.Join(c.Directory, journal.FileName)
	s.archive = &Archive{path: path, log: log, index: s.views.Index, damage: s.damaged}
	return s
}

// open opens the file, or a new one with what could be salvaged.
func (s *Store) open(ctx context.Context, last previousExit) error {
	path := s.archive.path
	if err := s.views.CheckNames(); err != nil {
		return err
	}
	if err := salvage.Resume(path, s.now()); err != nil {
		return fmt.Errorf("opening the journal %s: %w", path, err)
	}
	db, err := s.openFile(ctx, last)
	if errors.Is(err, ErrDamaged) {
		notice, failed := salvage.Repair(ctx, path, s.now(), err)
		if failed != nil {
			return fmt.Errorf("saving what can be read of %s: %w", path, journal.Explain(path, failed))
		}
		s.archive.log.Warn("salvaged the journal", "err", err)
		s.reports.fault(notice)
		db, err = s.openFile(ctx, none)
	}
	if err != nil {
		return err
	}
	readers, err := journal.OpenReaders(path)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.start(ctx, db, readers)
	if last == died {
		s.checkInBackground(ctx, s.damaged)
	}
	s.resumeCleaning(ctx)
	return nil
}

// start starts to write to an open database, and to clean it.
func (s *Store) start(ctx context.Context, db, readers *sql.DB) {
	s.archive.pool.Store(readers)
	s.write = &writer{
		db: db, path: s.archive.path, explain: s.archive.explain, requests: make(chan *request), broken: make(chan error, 1), quit: make(chan struct{}),
		work: s.views.Index.Work, owes: s.views.Index.NeedsMerge, owed: s.mergeIndex, doubt: s.doubt, mend: s.mend, ended: s.ended, took: s.took,
	}
	if s.peers != nil {
		s.write.begin, s.write.end = s.beginShared, s.peers.end
	}
	s.doubt(false)
	always := context.WithoutCancel(ctx)
	s.running.Go(func() { s.write.run(always) })
	cleaning, giveUp := context.WithCancelCause(always)
	s.cleaner.giveUp = giveUp
	s.cleaner.onGiveUp = func(do func()) func() bool { return context.AfterFunc(cleaning, do) }
	go s.cleanTraces(cleaning) // Close waits for it
}

// openFile opens the file as it is, unless it is damaged.
func (s *Store) openFile(ctx context.Context, last previousExit) (*sql.DB, error) {
	path := s.archive.path
	bytes, there, err := journal.Size(path)
	if err != nil {
		return nil, err
	}
	if there && (bytes > 0 || last != none) {
		if err := journal.CheckHeader(path); err != nil {
			return nil, err
		}
		if err := journal.CheckFileVersion(ctx, path); err != nil {
			return nil, fmt.Errorf("opening the journal: %w", err)
		}
	}
	if err := journal.Touch(path); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	db, err := journal.OpenWriter(path)
	if err != nil {
		return nil, err
	}
	if err := s.prepareTables(ctx, db, last == broken && bytes > 0); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// prepareTables makes the tables of an empty file, looks for damage, and brings the views up to
// date.
func (s *Store) prepareTables(ctx context.Context, db *sql.DB, doubtful bool) error {
	path := s.archive.path
	err := journal.Create(ctx, db, path, false)
	if err == nil && doubtful {
		if found := journal.CheckContents(ctx, db); ctx.Err() == nil && found != nil {
			err = journal.Damaged(path, found)
		}
	}
	if err == nil {
		err = s.views.Refresh(ctx, db, s.archive.log, s.progress)
	}
	if err == nil {
		if found := s.views.CheckDefinitions(ctx, db); ctx.Err() == nil && found != nil {
			err = journal.Damaged(path, found)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("opening the journal: %w", journal.Explain(path, err))
	}
	return nil
}

// Close waits for writes in progress and for the listener of the reports, and releases the
// directory. Later calls fail with [ErrClosed].
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.cleaner.close()
		close(s.write.quit)
		s.running.Wait()
		checked := s.check.end()
		err = errors.Join(s.archive.Close(), s.write.db.Close(), s.archive.closeOld())
		s.reports.close()
		err = errors.Join(err, s.lock.release(err == nil && checked && !s.suspect.Load()))
	})
	return err
}

// Do lets decide make a decision, and adds the events that it returns, in one step: the view shows
// everything that was added before, and nothing is added in between. Do returns the events as they
// were kept, with ID and sequence, after they have been forced to the disk.
//
// decide runs on the writer's goroutine. It must be quick, and must not use the store. If it
// returns an error, nothing is added and Do returns the error.
//
// An event whose ID the journal already has is not added again; Do returns it as it was kept the
// first time. So a caller that does not know whether its event was kept can call again with the
// same ID. An event that was derived from a deleted event is kept as [earshot.Tombstone].
//
// If ctx ends before the step has begun, nothing was kept. If it ends later, the error is
// [ErrInDoubt].
func (s *Store) Do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error)) ([]earshot.Event, error) {
	return s.do(ctx, decide)
}

// do is Do. A caller that knows beforehand which events are added passes them as adds, so that the whole batch
// is checked in one round trip.
func (s *Store) do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error), adds ...earshot.Event) ([]earshot.Event, error) {
	var stored, fresh []earshot.Event
	err := s.write.do(ctx, func(ctx context.Context, tx *sql.Tx) (changed bool, err error) {
		defer func() {
			if err != nil {
				s.editor.Forget()
			}
		}()
		fresh = nil
		events, err := decide(view{tx})
		if err == nil && s.peers != nil && !s.peers.checked.has(events) {
			err = errors.Join(s.peers.check(ctx, tx, events), s.editor.Read(ctx, tx, events)) // which has the database say what it thinks of the fences
		}
		if err != nil {
			return false, err
		}
		s.views.Index.BeginStep()
		stored = make([]earshot.Event, len(events))
		for i, e := range events {
			var added bool
			if stored[i], added, err = s.editor.Add(ctx, tx, e); err != nil {
				return false, err
			}
			if added {
				fresh = append(fresh, stored[i])
			}
		}
		s.peers.adds(fresh)
		return len(fresh) > 0, nil
	}, adds...)
	if errors.Is(err, postgres.ErrLost) && len(fresh) > 0 { // perhaps in the commit
		var kept bool
		if kept, err = s.wasKept(ctx, fresh[0].ID, err); kept {
			err = nil
		}
	}
	if err != nil {
		if !errors.Is(err, ErrInDoubt) { // the step may be running still
			s.peers.failed(fresh)
		}
		return nil, err
	}
	if s.meter != nil {
		for _, e := range fresh {
			s.meter.Kept(e)
		}
	}
	return stored, nil
}

// Append adds events in one step, as [Store.Do] does. Events that could not be added because the
// file is damaged are added once it is mended, and those that could not because the connection to the
// server was lost are added by the next one.
func (s *Store) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	these := func(earshot.View) ([]earshot.Event, error) { return events, nil }
	stored, err := s.do(ctx, these, events...)
	if errors.Is(err, ErrDamaged) || errors.Is(err, postgres.ErrLost) {
		stored, err = s.do(ctx, these, events...)
	}
	return stored, err
}

// For returns what the audience a may read.
func (s *Store) For(a earshot.Audience) *Reader { return s.archive.For(a) }

// Look calls f with the tables that are made from the journal; see [Archive.Look].
func (s *Store) Look(ctx context.Context, f func(earshot.View) error) error {
	return s.archive.Look(ctx, f)
}

// Export yields every event of every room, whoever may see it; see [Archive.Export].
func (s *Store) Export(ctx context.Context) iter.Seq2[earshot.Event, error] {
	return s.archive.Export(ctx)
}

// Grown returns a channel that is closed when the journal has grown. To miss nothing, get the
// channel first and then read.
func (s *Store) Grown() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grown
}

func (s *Store) took(d time.Duration, err error) {
	if s.meter != nil {
		s.meter.Committed(d, err)
	}
}

// The faults that are reported.
const (
	faultFull    = "store.full"
	faultDamaged = "store.damaged"
	faultTraces  = "store.traces"
)

// ended wakes the readers, and reports the faults that begin or end with a commit.
func (s *Store) ended(changed bool, errs []error) {
	full := false
	if len(errs) > 0 {
		s.editor.Forget()
	}
	for _, err := range errs {
		s.damaged(err)
		if errors.Is(err, ErrFull) {
			full = true
			cure := "df -h " + filepath.Dir(s.archive.path)
			if s.archive.server != nil {
				cure = "earshot doctor"
			}
			s.reports.fault(earshot.Notice{Key: faultFull, Text: err.Error() + ". Nothing is remembered until then.", Cure: cure})
		}
	}
	if !changed {
		return
	}
	if !full {
		s.reports.over(faultFull, "the journal can be written again")
	}
	s.changed.Store(time.Now().UnixNano())
	s.grow()
}

// grow wakes the readers.
func (s *Store) grow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.grown)
	s.grown = make(chan struct{})
}

// damaged has the file mended if err says that it is damaged. If that is not possible, it makes the
// next start check the whole file.
func (s *Store) damaged(err error) {
	if !errors.Is(err, ErrDamaged) {
		return
	}
	if s.archive.server != nil { // which nobody but its administrators can mend
		s.reports.fault(earshot.Notice{Key: faultDamaged, Text: err.Error()})
		return
	}
	s.suspect.Store(true)
	s.lock.doubt(true)
	select {
	case s.write.broken <- err:
	default: // a request to mend is already waiting
	}
}

func (s *Store) mergeIndex(ctx context.Context, tx *sql.Tx) (bool, error) {
	return false, s.views.Index.Merge(ctx, tx)
}

// Rebuild makes every view anew from the journal. Their answers do not change; if they do, a view
// has a fault.
func (s *Store) Rebuild(ctx context.Context) error {
	return s.write.do(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) { return false, s.views.Rebuild(ctx, tx) })
}

// doubt notes that a commit has begun or ended.
func (s *Store) doubt(is bool) { s.lock.doubt(is || s.suspect.Load()) }
