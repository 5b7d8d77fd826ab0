package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"earshot"
	"earshot/internal/search"
	"earshot/internal/testkit"
	"earshot/store/index"
	"earshot/store/journal"
	"earshot/store/transfer"
)

// Checked waits for the end of a check in the background, and reports whether there was one.
func (s *Store) Checked() bool {
	s.check.all.Wait()
	return s.check.stop != nil
}

// Path returns the path of the journal.
func (s *Store) Path() string { return s.archive.path }

// Run executes a statement on the writer's connection.
func (s *Store) Run(ctx context.Context, statement string) error {
	return s.write.do(ctx, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		_, err := tx.ExecContext(ctx, statement)
		return false, err
	})
}

// CountCommits counts the transactions of s from now on.
func (s *Store) CountCommits() *atomic.Int64 {
	n := new(atomic.Int64)
	old := s.write.ended
	s.write.ended = func(changed bool, errs []error) { n.Add(1); old(changed, errs) }
	return n
}

// CountChanges counts the transactions of s that change the journal, from now on. It does not count
// those that only merge parts of the index.
func (s *Store) CountChanges() *atomic.Int64 {
	n := new(atomic.Int64)
	old := s.write.ended
	s.write.ended = func(changed bool, errs []error) {
		if changed {
			n.Add(1)
		}
		old(changed, errs)
	}
	return n
}

// Waiting returns how many callers the writer has not yet taken.
func (s *Store) Waiting() int64 { return s.write.waiting.Load() }

// AwaitCallers waits until n goroutines are blocked on the channel from which the writer takes
// callers. A goroutine that is only on its way there would be taken with the next group.
func AwaitCallers(t testing.TB, n int) {
	t.Helper()
	testkit.Await(t, testkit.Patience, "callers to wait for the writer", func() bool {
		buf := make([]byte, 1<<20)
		waiting := 0
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			state, _, _ := strings.Cut(stack, "\n")
			if strings.Contains(state, "[select") && strings.Contains(stack, "store.(*writer).hand(") {
				waiting++
			}
		}
		return waiting >= n
	})
}

// AfterSweep calls do once the next deletion and the first sweep after it have been committed,
// while the log still has the traces.
func (s *Store) AfterSweep(do func()) { s.AfterCommit(2, do) }

// AfterCommit makes the writer call do after n more commits.
func (s *Store) AfterCommit(n int, do func()) {
	old, commits := s.write.ended, 0
	s.write.ended = func(changed bool, errs []error) {
		old(changed, errs)
		if commits++; commits == n {
			do()
		}
	}
}

// Marked reports whether the next start will look for traces of deleted content.
func (s *Store) Marked(ctx context.Context) (bool, error) {
	mark, err := journal.TraceMark(ctx, s.archive.db())
	return mark > 0, err
}

func (s *Store) strings(ctx context.Context, query string) (all []string, err error) {
	rows, err := s.archive.db().QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		all = append(all, line)
	}
	return all, rows.Err()
}

// Distrust makes the next start check the whole file.
func (s *Store) Distrust() { s.suspect.Store(true) }

// Indexed returns c with an index in which so many sequences share a tag.
func Indexed(c Config, partition int64) Config {
	c.partition = partition
	return c
}

// Rows returns the first column of the result of a query.
func (s *Store) Rows(ctx context.Context, query string) ([]string, error) {
	return s.strings(ctx, query)
}

// End returns the last line of an export that consists of these lines.
func End(lines string) string {
	sum := sha256.Sum256([]byte(lines))
	end, err := json.Marshal(transfer.Trailer{End: transfer.Format, Events: strings.Count("\n"+lines, "\n{\"id\":"), Sum: hex.EncodeToString(sum[:])})
	if err != nil {
		panic(err)
	}
	return string(end) + "\n"
}

// Delete erases events as Forget does, and then removes the last traces at once.
func (s *Store) Delete(ctx context.Context, ids ...earshot.EventID) (n int, err error) {
	for len(ids) > 0 {
		all := make([]SelectedEvent, len(ids))
		for i, id := range ids {
			all[i].ID = id
		}
		gone, taken, err := s.forgetSome(ctx, all, time.Hour) // in one step, unless others wait
		if err != nil {
			return n, err
		}
		n, ids = n+len(gone), ids[taken:]
	}
	return n, s.purge(ctx)
}

// HoldTidier keeps the last traces of deleted content from being removed until the returned
// function is called.
func (s *Store) HoldTidier() (resume func()) {
	s.cleaner.purging <- struct{}{}
	return func() { <-s.cleaner.purging }
}

// Asks returns the query to the index for the part around a sequence, in the language of FTS5.
func (r *Reader) Asks(query string, sequence int64) (string, error) {
	q, err := search.Parse(query, time.Now())
	return r.archive.index.Expression(index.Query{Audience: r.who, Words: q}, sequence), err
}

// Parts returns how many parts the index of words has.
func (s *Store) Parts(t testing.TB) (n int) {
	t.Helper()
	if err := s.archive.db().QueryRowContext(t.Context(), "SELECT count(DISTINCT segid) FROM terms_idx").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Turns returns the newest replies, in the order in which they ended.
func (r *Reader) Turns(ctx context.Context, limit int) ([]earshot.Event, error) {
	return r.Last(ctx, []earshot.Kind{earshot.KindReply}, limit)
}
