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

	"earshot"
	"earshot/store/index"
	"earshot/store/journal"
)

// A step changes the journal, and reports whether it did. It runs on the writer's goroutine, in a
// transaction that it shares with the steps of other callers.
type step func(ctx context.Context, tx *sql.Tx) (changed bool, err error)

// A request is a step on its way through the writer.
type request struct {
	ctx  context.Context // the caller's, checked before the step runs
	step step
	then func(context.Context) error // done after the commit, before anything else; may be nil
	adds []earshot.Event             // by the step, as far as is known before it runs

	changed bool
	err     error
	done    chan error // receives once
}

// most is how many steps share a commit. With more, the first would wait long for the last.
const most = 128

// heavy is how much work the steps of a commit may have caused for another step still to join it.
// The longest text causes that much without its terms, and at most three times as much with them;
// the commit then takes 35 ms.
const heavy = index.MaxTerms / 2

// A writer is the only goroutine that changes the file. Callers that arrive while it commits share
// the next commit, each with its own savepoint, so that the error of one does not affect the
// others.
//
// Requests are handed over without a buffer: a caller whose request was not taken yet can leave,
// and knows that nothing happened.
type writer struct {
	db       *sql.DB // one connection
	path     string
	explain  func(error) error // says what to do about an error
	requests chan *request
	broken   chan error   // has the reason when the file needs mending
	waiting  atomic.Int64 // callers whose requests are not taken yet
	quit     chan struct{}

	// work returns how much work there was so far, in terms that were added to the index or removed
	// from it. These are most of the cost of a long message.
	work func() int

	// doubt is called when a commit begins and when it ends.
	doubt func(bool)

	// mend replaces the file by a new one with what can be read of it.
	mend func(ctx context.Context, why error)

	// owes reports whether there is work that no caller waits for. owed does a little of it, or
	// fails and leaves it undone.
	owes func() bool
	owed step

	// begin and end are called at the beginning and the end of each transaction; nil if nobody else writes.
	begin func(ctx context.Context, tx *sql.Tx, batch []*request) error
	end   func(ctx context.Context, tx *sql.Tx, changed bool) error

	// took receives how long each transaction took, or why it failed.
	took func(time.Duration, error)

	// ended is called after each commit and each failure, before the callers learn of it. It
	// receives whether the journal has grown, and the error of each caller that failed.
	ended func(changed bool, errs []error)
}

// do performs the step, and waits until it is on the disk or ctx ends. If ctx ends, the step may
// still be running. A step that shares memory with its caller uses [writer.whole].
func (w *writer) do(ctx context.Context, s step, adds ...earshot.Event) error {
	r, err := w.ask(ctx, s, nil, adds...)
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

// whole is like do, for a caller that must know the result of the step: once the step is taken,
// whole waits for its end even if ctx ends.
func (w *writer) whole(ctx context.Context, s step) error {
	r, err := w.ask(ctx, s, nil)
	if err != nil {
		return err
	}
	return <-r.done
}

// between calls f on the writer's goroutine, between two commits, and waits for its end even if ctx
// ends.
func (w *writer) between(ctx context.Context, f func(context.Context) error) error {
	nothing := func(context.Context, *sql.Tx) (bool, error) { return false, nil }
	r, err := w.ask(ctx, nothing, f)
	if err != nil {
		return err
	}
	return <-r.done
}

// ask hands the step to the writer.
func (w *writer) ask(ctx context.Context, s step, then func(context.Context) error, adds ...earshot.Event) (*request, error) {
	r := &request{ctx: ctx, step: s, then: then, adds: adds, done: make(chan error, 1)}
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
		return nil // the writer has subtracted it
	case <-w.quit:
		w.waiting.Add(-1)
		return ErrClosed
	case <-ctx.Done():
		w.waiting.Add(-1)
		return fmt.Errorf("not kept: %w", context.Cause(ctx))
	}
}

// taken subtracts r from the waiting callers, before any step runs. If r's caller did that,
// possibly later, r would seem to wait for itself.
func (w *writer) taken(r *request) *request {
	w.waiting.Add(-1)
	return r
}

// run commits until the store closes. Its ctx does not end: every request that was taken is
// finished.
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

// mendFirst mends the file if needed, before anything else is done with it.
func (w *writer) mendFirst(ctx context.Context) {
	select {
	case why := <-w.broken:
		w.mend(ctx, why)
	default:
	}
}

// tend does the work that steps have left undone, each piece in its own transaction.
func (w *writer) tend(ctx context.Context) {
	for w.owes() {
		w.commit(ctx, []*request{{ctx: ctx, step: w.owed, done: make(chan error, 1)}})
	}
}

// gather returns first and the requests that wait with it.
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

// commit performs the first steps of a batch, gives each caller its result, and returns how many
// there were.
func (w *writer) commit(ctx context.Context, batch []*request) int {
	began := time.Now()
	w.doubt(true)
	n, err := w.transact(ctx, batch)
	w.took(time.Since(began), err)
	batch = batch[:n]
	if err != nil {
		if journal.Code(err) != sqlite3.SQLITE_FULL { // which SQLite rolls back by itself
			w.renew()
		}
		err = w.explain(err)
		for _, r := range batch {
			r.err = err
		}
	}
	w.ended(summary(batch))
	for _, r := range batch {
		if r.then != nil && r.err == nil {
			r.err = r.then(ctx)
		}
	}
	w.doubt(false)
	for _, r := range batch {
		r.done <- r.err
	}
	return len(batch)
}

// summary returns whether any step of batch changed the journal, and the errors of those that
// failed.
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
// returns how many it performed. An error applies to all of them.
func (w *writer) transact(ctx context.Context, batch []*request) (n int, err error) {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return len(batch), err
	}
	defer tx.Rollback()
	if w.begin != nil {
		if err := w.begin(ctx, tx, batch); err != nil {
			return len(batch), err
		}
	}
	if len(batch) == 1 {
		return 1, w.alone(ctx, tx, batch[0])
	}
	for began := w.work(); n < len(batch) && (n == 0 || w.work()-began < heavy); n++ {
		if err := w.try(ctx, tx, batch[n], fmt.Sprintf("step%d", n)); err != nil {
			return len(batch), err
		}
	}
	return n, w.finish(ctx, tx, batch[:n])
}

// finish commits a transaction with some steps.
func (w *writer) finish(ctx context.Context, tx *sql.Tx, batch []*request) error {
	if w.end != nil {
		changed, _ := summary(batch)
		if err := w.end(ctx, tx, changed); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// alone performs the only step of a transaction. It needs no savepoint, because there is nothing
// else to lose if it fails.
func (w *writer) alone(ctx context.Context, tx *sql.Tx, r *request) error {
	if r.ctx.Err() != nil {
		r.err = fmt.Errorf("not kept: %w", context.Cause(r.ctx))
		return nil
	}
	var err error
	if r.changed, err = r.step(ctx, tx); err != nil {
		r.err = w.explain(err)
		return nil
	}
	return w.finish(ctx, tx, []*request{r})
}

// try performs one step, or rolls it back. An error applies to the whole transaction, which SQLite
// rolls back when the disk is full. The name of the savepoint is that of this step alone: a server may refuse what
// an earlier step did only now, and then there is no such savepoint, and the transaction fails.
func (w *writer) try(ctx context.Context, tx *sql.Tx, r *request, name string) error {
	if r.ctx.Err() != nil {
		r.err = fmt.Errorf("not kept: %w", context.Cause(r.ctx))
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	r.changed, r.err = r.step(ctx, tx)
	end := "RELEASE " + name
	if r.err != nil {
		r.err = w.explain(r.err)
		end = "ROLLBACK TO " + name + "; RELEASE " + name
	}
	if _, err := tx.ExecContext(ctx, end); err != nil {
		if r.err != nil {
			return r.err // this error came first, and is the cause
		}
		return err
	}
	return nil
}

// renew drops the connection, because its cached state cannot be trusted after a failure.
func (w *writer) renew() {
	w.db.SetMaxIdleConns(-1)
	w.db.SetMaxIdleConns(1)
}

// errBusy says that the log beside the file cannot be emptied now.
var errBusy = errors.New("another program, or a long query, is reading it: try again when that has ended")

// empty moves everything from the log beside the file into the file and empties the log, where
// deleted words would otherwise remain until it is overwritten. It does not wait for readers of the
// log, because nobody could write meanwhile.
func (w *writer) empty(ctx context.Context) error {
	var busy, frames, moved, patience int
	if err := w.db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&patience); err != nil {
		return journal.Explain(w.path, err)
	}
	if _, err := w.db.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return journal.Explain(w.path, err)
	}
	err := w.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	_, after := w.db.ExecContext(ctx, "PRAGMA busy_timeout = "+strconv.Itoa(patience))
	if err := errors.Join(err, after); err != nil {
		return journal.Explain(w.path, err)
	}
	if busy != 0 {
		return fmt.Errorf("%s: %w", w.path, errBusy)
	}
	return nil
}

// A view is what a decision can read. It ignores the end of ctx, because SQLite would interrupt not
// just one query but the whole transaction, which belongs to other callers too.
type view struct{ tx *sql.Tx }

func (v view) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return v.tx.QueryContext(context.WithoutCancel(ctx), query, args...)
}

func (v view) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return v.tx.QueryRowContext(context.WithoutCancel(ctx), query, args...)
}
