package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/store/journal"
)

const (
	// orderKey is the key of the lock that each transaction holds which writes, so that the order of the
	// sequences is that of the commits: "journal" in ASCII.
	orderKey = 0x6a6f75726e616c

	// channel is where daemons tell each other that they have committed something.
	channel = "earshot"

	// holdAgain is the pause before it is asked again whether the tables are up to date: somebody waits for a start.
	holdAgain = 20 * time.Millisecond

	// maxDelivered is how many events are in memory at once that others have added.
	maxDelivered = 256

	// fencedState is the code of the error by which the database refuses a fence; see package cluster.
	fencedState = "EF001"
)

// peers is what a store knows of other daemons that write to its database. Nil knows none.
type peers struct {
	fence func(ctx context.Context, tx *sql.Tx, room earshot.RoomID) error
	kinds []earshot.Kind // that are delivered
	key   string         // of this store, in what it tells

	checked checkedRooms // in the transaction that is going on; the writer's

	mu        sync.Mutex
	own       map[earshot.EventID]struct{} // that were added here and are not delivered yet
	delivered int64                        // up to this sequence
	moved     chan struct{}                // closed and replaced when something was delivered
	wake      chan struct{}
}

func newPeers(fence func(context.Context, *sql.Tx, earshot.RoomID) error, kinds []earshot.Kind) *peers {
	return &peers{fence: fence, kinds: kinds, key: rand.Text(), own: make(map[earshot.EventID]struct{}), moved: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// hold waits until no other daemon is bringing the tables up to date. The connection keeps the lock until
// begin.
func (o *peers) hold(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	for got, told := false, false; ; told = true {
		err := db.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(?)", int64(orderKey)).Scan(&got)
		if err != nil || got {
			return err
		}
		if !told {
			log.Info("waiting for another daemon, which brings the tables of the journal up to date")
		}
		select {
		case <-time.After(holdAgain): // with many events it takes longer than a statement may
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin lets the others go on, and notes up to where the journal is known.
func (o *peers) begin(ctx context.Context, db *sql.DB) (err error) {
	if o.delivered, err = journal.Last(ctx, db); err == nil {
		_, err = db.ExecContext(ctx, "SELECT pg_advisory_unlock(?)", int64(orderKey))
	}
	return err
}

// beginShared begins a transaction that writes. What was known of the journal may be another by now. What all
// steps add is checked together: each would take a round trip for that, for which all daemons wait. If that fails,
// each step checks for itself.
func (s *Store) beginShared(ctx context.Context, tx *sql.Tx, batch []*request) error {
	s.editor.Forget()
	s.peers.checked = nil
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", int64(orderKey))
	var events []earshot.Event
	for _, r := range batch {
		events = append(events, r.adds...)
	}
	if err != nil || len(batch) == 1 || len(events) == 0 {
		return err
	}
	if _, err = tx.ExecContext(ctx, "SAVEPOINT checks"); err != nil {
		return err
	}
	end := "RELEASE checks"
	if errors.Join(s.peers.check(ctx, tx, events), s.editor.Read(ctx, tx, events)) == nil {
		s.peers.checked = make(checkedRooms)
		for _, e := range events {
			s.peers.checked[e.Room] = s.peers.checked[e.Room] || !common(e)
		}
	} else {
		s.editor.Forget()
		end = "ROLLBACK TO checks; RELEASE checks"
	}
	_, err = tx.ExecContext(ctx, end)
	return err
}

// checkedRooms are those whose fences the database has checked, and keeps until the transaction ends.
type checkedRooms map[earshot.RoomID]bool

// has reports whether nothing of some events needs to be checked any more.
func (c checkedRooms) has(events []earshot.Event) bool {
	return c != nil && !slices.ContainsFunc(events, func(e earshot.Event) bool { return !common(e) && !c[e.Room] })
}

// end tells the others that there is something new.
func (o *peers) end(ctx context.Context, tx *sql.Tx, changed bool) error {
	if !changed {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_notify(?, ?)", channel, o.key)
	return err
}

// common reports whether any daemon may add an event, whoever has its room: it is about who there is, or says
// that something of the room was forgotten.
func common(e earshot.Event) bool {
	switch e.Body.Kind() {
	case earshot.KindActor, earshot.KindAgent, earshot.KindForgotten:
		return true
	}
	return false
}

// check has a transaction fail unless the rooms of some events are this daemon's.
func (o *peers) check(ctx context.Context, tx *sql.Tx, events []earshot.Event) error {
	var checked []earshot.RoomID
	for _, e := range events {
		if common(e) || slices.Contains(checked, e.Room) {
			continue
		}
		checked = append(checked, e.Room)
		if err := o.fence(ctx, tx, e.Room); err != nil {
			return err
		}
	}
	return nil
}

// adds notes events that are about to be committed here.
func (o *peers) adds(events []earshot.Event) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		if slices.Contains(o.kinds, e.Body.Kind()) {
			o.own[e.ID] = struct{}{}
		}
	}
}

// failed notes that events were not committed.
func (o *peers) failed(events []earshot.Event) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		delete(o.own, e.ID)
	}
}

// tell tells the others that a transaction erases an event.
func (o *peers) tell(ctx context.Context, tx *sql.Tx, id earshot.EventID) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_notify(?, ?)", channel, o.key+" "+string(id))
	return err
}

// CatchUp returns when all was delivered that was committed before the call, or ctx ends.
func (s *Store) CatchUp(ctx context.Context) error {
	if s.peers == nil {
		return nil
	}
	last, err := journal.Last(ctx, s.archive.db())
	for err == nil {
		s.peers.mu.Lock()
		delivered, moved := s.peers.delivered, s.peers.moved
		s.peers.mu.Unlock()
		if delivered >= last {
			return nil
		}
		select {
		case s.peers.wake <- struct{}{}:
		default:
		}
		select {
		case <-moved:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	return fmt.Errorf("waiting for what other daemons have written: %w", err)
}

// Follow delivers what other daemons add of the kinds [Config.Followed] from when the journal was opened on, in the
// order of the journal, and the IDs of what they erase, until ctx ends. What was added while the journal was
// being read anyway may come, too. nil IDs say that anything may have been erased unnoticed: before it began to
// listen, or while the database was away.
// Without other daemons it only waits. It is called once; take and erased are called from one goroutine.
func (s *Store) Follow(ctx context.Context, take func([]earshot.Event), erased func([]earshot.EventID)) {
	if s.peers == nil {
		<-ctx.Done()
		return
	}
	heard := make(chan string, 1024)
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() { s.listen(ctx, heard) })
	var again <-chan time.Time
	for due := false; ; {
		if due && len(heard) == 0 { // what several tell at once is read once
			due = false
			if err := s.deliver(ctx, take); err != nil && ctx.Err() == nil {
				s.archive.log.Warn("what other daemons write is not known at present", "err", err)
				again = time.After(askAgain)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.peers.wake:
			due = true
		case <-again:
			due = true
		case payload := <-heard:
			key, id, named := strings.Cut(payload, " ")
			switch {
			case key == s.peers.key: // what was added here is known
			case named:
				erased([]earshot.EventID{earshot.EventID(id)})
			case key == "": // it has just begun to listen
				erased(nil)
				due = true
			default:
				due = true
			}
		}
	}
}

// listen listens to the others until ctx ends.
func (s *Store) listen(ctx context.Context, heard chan<- string) {
	pass := func(payload string) {
		select {
		case heard <- payload:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		_ = s.archive.server.Listen(ctx, channel, pass) // what is wrong is told by who reads or writes
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
		}
	}
}

// deliver delivers what is new.
func (s *Store) deliver(ctx context.Context, take func([]earshot.Event)) error {
	o := s.peers
	for {
		last, err := journal.Last(ctx, s.archive.db()) // what is read is up to there, since most of what happens is of kinds that nobody follows
		if err != nil || last <= o.delivered {         // which only this goroutine changes
			return err
		}
		rows, err := journal.Collect(s.archive.db().QueryContext(ctx, "SELECT "+journal.Columns+` FROM journal j
			WHERE j.sequence > ? AND j.sequence <= ? AND j.kind IN (SELECT value FROM json_each(?)) ORDER BY j.sequence LIMIT ?`, o.delivered, last, journal.JSON(o.kinds), maxDelivered))
		if err != nil {
			return err
		}
		if len(rows) == maxDelivered {
			last = rows[len(rows)-1].Sequence
		}
		var foreign []earshot.Event
		for _, r := range rows {
			e, err := r.Event()
			if err != nil {
				return err
			}
			o.mu.Lock()
			_, own := o.own[e.ID]
			delete(o.own, e.ID)
			o.mu.Unlock()
			if !own {
				foreign = append(foreign, e)
			}
		}
		if len(foreign) > 0 {
			take(foreign)
		}
		s.changed.Store(time.Now().UnixNano())
		s.grow()
		o.mu.Lock()
		o.delivered = last
		close(o.moved)
		o.moved = make(chan struct{})
		o.mu.Unlock()
	}
}
