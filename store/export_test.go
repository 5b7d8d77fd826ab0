package store

import (
	"context"
	"database/sql"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"earshot/internal/testkit"
)

// Path returns where the journal lies.
func (s *Store) Path() string { return s.archive.path }

// Run executes a statement on the connection that writes.
func (s *Store) Run(ctx context.Context, statement string) error {
	return s.write.do(ctx, false, func(ctx context.Context, tx *sql.Tx) (bool, error) {
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

// AwaitCallers waits until n goroutines wait to be taken by the writer.
func AwaitCallers(t testing.TB, n int) {
	t.Helper()
	testkit.Await(t, 10*time.Second, "callers to wait for the writer", func() bool {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		return strings.Count(stacks, "store.(*writer).do(") >= n+1
	})
}
