package cluster_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/cluster"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/store/postgres"
)

// TestMain is also the beginning of the members that are processes of their own.
func TestMain(m *testing.M) {
	runChild()
	goleak.VerifyTestMain(m)
}

// open opens a database with the schema that the store makes.
func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	c, err := postgres.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	db := c.OpenReaders(8)
	t.Cleanup(func() { db.Close() })
	if err := postgres.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// leases opens the leases of some owners.
func leases(t testing.TB, db *sql.DB, owners ...string) (all []*cluster.Leases) {
	t.Helper()
	for _, owner := range owners {
		l, err := cluster.OpenLeases(t.Context(), db, owner)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { // so that no timer is left
			for _, h := range l.Held() {
				_ = l.Release(context.Background(), h)
			}
		})
		all = append(all, l)
	}
	return all
}

func acquire(t testing.TB, l *cluster.Leases, room string) *cluster.Lease {
	t.Helper()
	got, err := l.Acquire(t.Context(), room)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// refused checks that a room cannot be acquired because of its owner.
func refused(t testing.TB, l *cluster.Leases, room, owner string) {
	t.Helper()
	_, err := l.Acquire(t.Context(), room)
	held, is := errors.AsType[*cluster.HeldError](err)
	if !is || held.Owner != owner || held.Room != room || held.Left < 0 || held.Left > cluster.TTL {
		t.Errorf("acquiring %s gives %v, want that %q has it", room, err, owner)
	}
}

// TestDatabase has what needs a server, one after the other, so that there is one.
func TestDatabase(t *testing.T) {
	server := pgtest.Start(t)
	t.Run("Leases", func(t *testing.T) { testLeases(t, server) })
	t.Run("CheckFence", func(t *testing.T) { testCheckFence(t, server) })
	t.Run("Turn", func(t *testing.T) { testTurn(t, server) })
	t.Run("Renew", func(t *testing.T) { testRenew(t, server) })
}

// testLeases: one owner at a time, and a fence that only grows.
func testLeases(t *testing.T, server *pgtest.Server) {
	db := open(t, server.Database(t))
	all := leases(t, db, "a.1", "b.1", "c.1")
	a, b, c := all[0], all[1], all[2]

	first := acquire(t, a, "parlour")
	refused(t, b, "parlour", "a.1")
	again := acquire(t, a, "parlour")
	if first.Valid() || !again.Valid() || again.Fence <= first.Fence {
		t.Errorf("a lease is taken anew: the first holds: %v, with fences %d and %d", first.Valid(), first.Fence, again.Fence)
	}
	testkit.Receive(t, testkit.Patience, "the loss of the first lease", first.Lost())
	if err := a.Release(t.Context(), first); err != nil || !again.Valid() {
		t.Errorf("releasing a lost lease: %v; the new one holds: %v", err, again.Valid())
	}

	if err := a.Release(t.Context(), again); err != nil || again.Valid() {
		t.Fatalf("giving up: %v; it still holds: %v", err, again.Valid())
	}
	if free := acquire(t, c, "parlour"); free.Fence <= again.Fence {
		t.Errorf("the fence went from %d to %d", again.Fence, free.Fence)
	}
	refused(t, b, "parlour", "c.1")

	// Nothing renews this one.
	left := acquire(t, a, "attic")
	testkit.Receive(t, testkit.Patience, "the end of the lease", left.Lost())
	var next *cluster.Lease
	testkit.Await(t, testkit.Patience, "another has the room", func() (ok bool) {
		var err error
		next, err = b.Acquire(t.Context(), "attic")
		return err == nil
	})
	if left.Valid() || next.Fence <= left.Fence {
		t.Errorf("taken over with fence %d after %d; the old one holds: %v", next.Fence, left.Fence, left.Valid())
	}
	if len(a.Held()) != 0 {
		t.Errorf("a lease that ended is still held: %d", len(a.Held()))
	}
}

// isFenced reports whether a transaction failed because [cluster.CheckFence] refused it.
func isFenced(err error) bool {
	e, is := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	return is && e.SQLState() == "EF001"
}

// testRenew: leases hold for as long as they are renewed, and are lost to whoever took them.
func testRenew(t *testing.T, server *pgtest.Server) {
	url := server.Database(t)
	db := open(t, url)
	all := leases(t, db, "a.1", "b.1")
	a, b := all[0], all[1]
	if err := a.Renew(t.Context()); err != nil {
		t.Errorf("renewing nothing: %v", err)
	}
	if ahead := a.Ahead(); ahead != 0 {
		t.Errorf("the clock of the database on this machine is %v ahead", ahead)
	}
	kept, stolen := acquire(t, a, "parlour"), acquire(t, a, "attic")
	database := url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
	server.Query(t, database, "UPDATE earshot.room_leases SET until = now() WHERE room = 'attic'") // as if the clock had been set
	acquire(t, b, "attic")
	if err := a.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, testkit.Patience, "the loss of the lease", stolen.Lost())
	last, longest, end := time.Now(), time.Duration(0), time.Now().Add(2*cluster.TTL)
	testkit.Await(t, testkit.Patience, "twice the time of a lease has passed", func() bool {
		if err := a.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		longest, last = max(longest, time.Since(last)), time.Now()
		return last.After(end)
	})
	if held := a.Held(); longest < (cluster.TTL-cluster.Margin)/2 && (!kept.Valid() || len(held) != 1 || held[0] != kept) {
		t.Errorf("the lease that is renewed every %v at least holds: %v, and %d are held", longest, kept.Valid(), len(held))
	}
	server.Kill(t)
	ctx, cancel := context.WithTimeout(t.Context(), cluster.Every)
	defer cancel()
	if err := a.Renew(ctx); err == nil {
		t.Error("a lease is renewed without a server")
	}
	testkit.Receive(t, testkit.Patience, "the end of the lease", kept.Lost())
}

// testCheckFence: a room changes hands when what its owner commits is committed, and no later commit of
// that owner succeeds.
func testCheckFence(t *testing.T, server *pgtest.Server) {
	url := server.Database(t)
	db := open(t, url)
	all := leases(t, db, "a.1", "b.1")
	a, b := all[0], all[1]
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE said (room TEXT, fence BIGINT)"); err != nil {
		t.Fatal(err)
	}
	say := func(l *cluster.Lease) (*sql.Tx, error) { // until it is committed
		t.Helper()
		tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() })
		if err := cluster.CheckFence(t.Context(), tx, l.Room, l.Owner, l.Fence); err != nil {
			t.Fatal(err)
		}
		_, err = tx.ExecContext(t.Context(), "INSERT INTO said VALUES (?, ?)", l.Room, l.Fence)
		if err == nil { // which sends it all
			var n int64
			err = tx.QueryRowContext(t.Context(), "SELECT count(*) FROM said").Scan(&n)
		}
		return tx, err
	}

	old := acquire(t, a, "parlour")
	tx, err := say(old)
	if err == nil {
		err = a.Renew(t.Context()) // waits for nothing
	}
	if err != nil {
		t.Fatalf("something is said, and the lease renewed: %v", err)
	}
	taken := make(chan *cluster.Lease, 1)
	go func() {
		_ = a.Release(context.Background(), old)
		l, err := b.Acquire(context.Background(), "parlour")
		if err != nil {
			t.Error(err)
		}
		taken <- l
	}()
	testkit.Await(t, testkit.Patience, "the change of hands waits for the commit", func() bool {
		var n int64
		if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n > 0
	})
	if err := tx.Commit(); err != nil {
		t.Errorf("a commit that was under way: %v", err)
	}
	next := testkit.Receive(t, testkit.Patience, "the lease", taken)
	if _, err := say(old); !isFenced(err) {
		t.Errorf("the old owner says something: %v", err)
	}
	if tx, err = say(next); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Errorf("the new owner says something: %v", err)
	}

	// In a transaction without a query the commit is what fails.
	if tx, err = db.BeginTx(t.Context(), nil); err == nil {
		err = cluster.CheckFence(t.Context(), tx, "parlour", "a.1", old.Fence)
	}
	if err == nil {
		err = tx.Commit()
	}
	if !isFenced(err) {
		t.Errorf("the old owner commits: %v", err)
	}

	// An owner that stands still in a transaction does not keep the room.
	still, err := say(next)
	if err != nil {
		t.Fatal(err)
	}
	acquired := acquire(t, leases(t, open(t, url), "b.1")[0], "parlour")
	if err := still.Commit(); err == nil {
		t.Error("a transaction is committed that stood still while its room was taken")
	}
	if acquired.Fence <= next.Fence {
		t.Errorf("the fence went from %d to %d", next.Fence, acquired.Fence)
	}
}

// testTurn: turns are used by one at a time, with a time between them, also by the same owner.
func testTurn(t *testing.T, server *pgtest.Server) {
	all := leases(t, open(t, server.Database(t)), "a.1", "b.1")
	asked := time.Now()
	until, err := all[0].Turn(t.Context(), "identify", time.Hour)
	if err != nil || until.Before(asked.Add(cluster.TurnFor)) {
		t.Fatalf("a turn until %v after it was asked for: %v", until.Sub(asked), err)
	}
	for _, l := range all {
		_, err := l.Turn(t.Context(), "identify", time.Hour)
		if held, is := errors.AsType[*cluster.HeldError](err); !is || held.Owner != "a.1" || held.Left <= 0 || held.Left > time.Hour+cluster.TurnFor {
			t.Errorf("the next turn: %v", err)
		}
	}
	if _, err := all[1].Turn(t.Context(), "other", 0); err != nil {
		t.Errorf("a turn at something else: %v", err)
	}
}
