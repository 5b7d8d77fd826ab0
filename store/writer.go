package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// A step changes the journal, and reports whether it did. It runs on the
// writer's goroutine, within a transaction that it shares with the steps of
// other callers.
type step func(ctx context.Context, tx *sql.Tx) (changed bool, err error)

// A request is a step on its way through the writer.
type request struct {
	ctx      context.Context // of the caller, looked at before the step runs
	step     step
	truncate bool // the log beside the file is to be emptied afterwards

	changed bool
	err     error
	done    chan error // receives once
}

// most is how many steps share a commit. More would let the first wait long
// for the last.
const most = 128

// heavy is how much work steps may have been for others to share their commit. The longest text
// is as much, without its terms, and at most three times as much with them: then it takes 35 ms.
const heavy = mostTerms / 2

// A writer is the one goroutine that changes the file. Callers that arrive
// while it commits share the next commit, each behind a savepoint of its own,
// so that the error of one does not hurt the others.
//
// Requests are handed over without a buffer: a caller that is not taken yet
// can leave and knows that nothing happened.
type writer struct {
	db       *sql.DB // one connection
	path     string
	requests chan *request
	broken   chan error   // has why, when the file is to be mended
	waiting  atomic.Int64 // callers that were not taken yet
	quit     chan struct{}

	// work is how much there was to do so far, in terms that were put into the index or taken
	// out, which is most of what a long message costs.
	work func() int

	// doubt is told when a commit begins and when it is over.
	doubt func(bool)

	// mend makes a new file of what can be read of this one, and goes on with that.
	mend func(ctx context.Context, why error)

	// owes reports whether there is something to be done that no caller waits for, and owed
	// does a little of it, or fails and has it left.
	owes func() bool
	owed step

	// took is told how long each transaction took, or why it could not be done.
	took func(time.Duration, error)

	// ended is called after each commit and each failure, before the callers
	// hear of it: whether there is more in the journal than before, and what
	// went wrong with each caller that failed.
	ended func(changed bool, errs []error)
}

// do has the step taken, and waits until it is on the disk, or ctx ends: then the step may
// still be at work. For one that shares memory with its caller there is [writer.whole].
func (w *writer) do(ctx context.Context, truncate bool, s step) error {
	r, err := w.ask(ctx, truncate, s)
	if err != nil {
		return err
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-r.done: // it was done after all
		return err
	default:
		return fmt.Errorf("%w: %w", ErrInDoubt, context.Cause(ctx))
	}
}

// whole is do for who must know what came of the step: once it is taken, its end is waited
// for, whenever ctx ends.
func (w *writer) whole(ctx context.Context, s step) error {
	r, err := w.ask(ctx, false, s)
	if err != nil {
		return err
	}
	return <-r.done
}

// ask has the step taken.
func (w *writer) ask(ctx context.Context, truncate bool, s step) (*request, error) {
	r := &request{ctx: ctx, step: s, truncate: truncate, done: make(chan error, 1)}
	select {
	case <-w.quit:
		return nil, ErrClosed
	default:
	}
	return r, w.hand(ctx, r)
}

// hand waits until the writer takes r.
func (w *writer) hand(ctx context.Context, r *request) error {
	w.waiting.Add(1)
	select {
	case w.requests <- r:
		return nil // the writer has counted it off
	case <-w.quit:
		w.waiting.Add(-1)
		return ErrClosed
	case <-ctx.Done():
		w.waiting.Add(-1)
		return fmt.Errorf("not kept: %w", context.Cause(ctx))
	}
}

// taken counts r off those who wait, before any step runs: counted by its caller, who may come
// to it later, it would seem to wait for itself.
func (w *writer) taken(r *request) *request {
	w.waiting.Add(-1)
	return r
}

// run commits until the store is closed. Its ctx does not end: what was taken
// is brought to its end.
func (w *writer) run(ctx context.Context) {
	for {
		w.mendFirst(ctx)
		select {
		case why := <-w.broken:
			w.mend(ctx, why)
		case r := <-w.requests:
			for batch := w.gather(w.taken(r)); len(batch) > 0; {
				batch = batch[w.commit(ctx, batch):]
				w.tend(ctx)
			}
		case <-w.quit:
			w.mendFirst(ctx)
			return
		}
	}
}

// mendFirst mends the file, if that is to be done, before anything else is done with it.
func (w *writer) mendFirst(ctx context.Context) {
	select {
	case why := <-w.broken:
		w.mend(ctx, why)
	default:
	}
}

// tend does what steps have left to be done, each in a transaction of its own.
func (w *writer) tend(ctx context.Context) {
	for w.owes() {
		w.commit(ctx, []*request{{ctx: ctx, step: w.owed, done: make(chan error, 1)}})
	}
}

// gather returns first and those that wait with it.
func (w *writer) gather(first *request) []*request {
	batch := []*request{first}
	for len(batch) < most {
		select {
		case r := <-w.requests:
			batch = append(batch, w.taken(r))
		default:
			return batch
		}
	}
	return batch
}

// commit performs the first steps of a batch, tells each caller how it went, and returns how
// many they are.
func (w *writer) commit(ctx context.Context, batch []*request) int {
	began := time.Now()
	w.doubt(true)
	n, err := w.transact(ctx, batch)
	w.took(time.Since(began), err)
	batch = batch[:n]
	if err != nil {
		if code(err) != sqlite3.SQLITE_FULL { // which it takes back by itself
			w.renew()
		}
		err = kept(w.path, err)
		for _, r := range batch {
			r.err = err
		}
	}
	w.ended(summary(batch))
	for _, r := range batch {
		if r.truncate && r.err == nil {
			r.err = w.empty(ctx)
		}
	}
	w.doubt(false)
	for _, r := range batch {
		r.done <- r.err
	}
	return len(batch)
}

// summary returns whether any step of batch changed the journal, and the
// errors of those that failed.
func summary(batch []*request) (changed bool, errs []error) {
	for _, r := range batch {
		if r.err != nil {
			errs = append(errs, r.err)
		} else {
			changed = changed || r.changed
		}
	}
	return changed, errs
}

// transact performs the first steps of a batch in one transaction, until they are heavy, and
// returns how many. An error is that of all of them.
func (w *writer) transact(ctx context.Context, batch []*request) (n int, err error) {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return len(batch), err
	}
	defer tx.Rollback()
	if len(batch) == 1 {
		return 1, w.alone(ctx, tx, batch[0])
	}
	for began := w.work(); n < len(batch) && (n == 0 || w.work()-began < heavy); n++ {
		if err := w.try(ctx, tx, batch[n]); err != nil {
			return len(batch), err
		}
	}
	return n, tx.Commit()
}

// alone performs the only step of a transaction, which needs no savepoint: if
// it fails, there is nothing else to lose.
func (w *writer) alone(ctx context.Context, tx *sql.Tx, r *request) error {
	if r.ctx.Err() != nil {
		r.err = fmt.Errorf("not kept: %w", context.Cause(r.ctx))
		return nil
	}
	var err error
	if r.changed, err = r.step(ctx, tx); err != nil {
		r.err = kept(w.path, err)
		return nil
	}
	return tx.Commit()
}

// try performs one step, or takes it back. An error is that of the whole
// transaction, which SQLite gives up when the disk is full.
func (w *writer) try(ctx context.Context, tx *sql.Tx, r *request) error {
	if r.ctx.Err() != nil {
		r.err = fmt.Errorf("not kept: %w", context.Cause(r.ctx))
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT step"); err != nil {
		return err
	}
	r.changed, r.err = r.step(ctx, tx)
	end := "RELEASE step"
	if r.err != nil {
		r.err = kept(w.path, r.err)
		end = "ROLLBACK TO step; RELEASE step"
	}
	if _, err := tx.ExecContext(ctx, end); err != nil {
		if r.err != nil {
			return r.err // it came first, and is the reason
		}
		return err
	}
	return nil
}

// renew forgets the connection, because what it has in memory cannot be
// trusted after a failure.
func (w *writer) renew() {
	w.db.SetMaxIdleConns(-1)
	w.db.SetMaxIdleConns(1)
}

// errBusy says that the log beside the file cannot be emptied now.
var errBusy = errors.New("another program is reading it: close that program and try again")

// empty moves everything from the log beside the file into the file and
// empties the log, where deleted words would otherwise lie until it is
// written over. It does not wait for who reads the log: nobody could write meanwhile.
func (w *writer) empty(ctx context.Context) error {
	var busy, frames, moved, patience int
	if err := w.db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&patience); err != nil {
		return kept(w.path, err)
	}
	if _, err := w.db.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return kept(w.path, err)
	}
	err := w.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	_, after := w.db.ExecContext(ctx, "PRAGMA busy_timeout = "+strconv.Itoa(patience))
	if err := errors.Join(err, after); err != nil {
		return kept(w.path, err)
	}
	if busy != 0 {
		return fmt.Errorf("%s: %w", w.path, errBusy)
	}
	return nil
}

// A view is what a decision sees. It takes no notice of an ending context,
// because SQLite interrupts not one query but the whole transaction, which
// belongs to other callers too.
type view struct{ tx *sql.Tx }

func (v view) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return v.tx.QueryContext(context.WithoutCancel(ctx), query, args...)
}

func (v view) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return v.tx.QueryRowContext(context.WithoutCancel(ctx), query, args...)
}
