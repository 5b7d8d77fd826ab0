package postgres_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/store/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// named returns the values of arguments, each with its name, or its number if that is empty.
func named(args ...any) (all []driver.NamedValue) {
	for i, a := range args {
		v := driver.NamedValue{Ordinal: i + 1, Value: a}
		if n, is := a.(sql.NamedArg); is {
			v.Name, v.Value = n.Name, n.Value
		}
		all = append(all, v)
	}
	return all
}

func TestTranslate(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		args       []driver.NamedValue
		want       string
	}{
		{"in order", "SELECT ?, ? + 1", named("a", int64(2)), "SELECT $1::text, $2::bigint + 1 [0 1]"},
		{"by number", "SELECT ?2, ?1, ?2, ?", named("a", 1.5, []byte{1}), "SELECT $1::double precision, $2::text, $1::double precision, $3::bytea [1 0 2]"},
		{"by name", "SELECT @b, @a, @b", named(sql.Named("a", true), sql.Named("b", "x")), "SELECT $1::text, $2::bigint, $1::text [1 0]"},
		{"nothing", "SELECT ? IS NULL OR ? = 1", named(nil, int64(1)), "SELECT NULL IS NULL OR $1::bigint = 1 [1]"},
		{"several", "DELETE FROM a WHERE x = ?1; DELETE FROM b WHERE y = ?2 AND x = ?1;", named("a", "b"), "DELETE FROM a WHERE x = $1::text [0]; DELETE FROM b WHERE y = $1::text AND x = $2::text [1 0]"},
		{"quoted", `SELECT '?;--', "a?b", 'it''s' -- ?;`, nil, `SELECT '?;--', "a?b", 'it''s' []`},
		{"definitions", "CREATE TABLE a (n INTEGER PRIMARY KEY, b BLOB NOT NULL DEFAULT x'') STRICT, WITHOUT ROWID", nil, "CREATE TABLE a (n BIGINT PRIMARY KEY, b BYTEA NOT NULL DEFAULT '') []"},
		{"hints", "SELECT 1 FROM a NOT INDEXED CROSS JOIN b ON a.n = b.n", nil, "SELECT 1 FROM a JOIN b ON a.n = b.n []"},
		{"operators", "SELECT a @@ ?", named("x"), "SELECT a @@ $1::text [0]"},
		{"too few", "SELECT ?, ?", named("x"), "error: a statement has 1 arguments, and none for ?"},
		{"unknown", "SELECT @b", named(sql.Named("a", "x")), "error: a statement has 1 arguments, and none for @b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, err := postgres.Translate(tt.text, tt.args)
			var got []string
			for _, s := range all {
				got = append(got, fmt.Sprint(s.Text, " ", s.Args))
			}
			if err != nil {
				got = []string{"error: " + err.Error()}
			}
			if text := strings.Join(got, "; "); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

// FuzzTranslate: each parameter that is left stands for an argument, and text in quotes is not changed.
func FuzzTranslate(f *testing.F) {
	f.Add("SELECT ?, 'a?' FROM x WHERE y = @b -- ?\n; SELECT ?2", "it''s")
	f.Add(`CREATE TABLE a (b INTEGER, c BLOB DEFAULT x'') STRICT; SELECT "b?" @@ @b`, "?")
	f.Fuzz(func(t *testing.T, text, quoted string) {
		args := named("a", int64(2), nil, sql.Named("b", true))
		all, err := postgres.Translate(text, args)
		if err != nil {
			return
		}
		for _, s := range all {
			if i := slices.IndexFunc(s.Args, func(n int) bool { return n < 0 || n >= len(args) }); i >= 0 {
				t.Errorf("%q has the argument %d of %d", s.Text, s.Args[i], len(args))
			}
			if strings.TrimSpace(s.Text) == "" {
				t.Errorf("%q has an empty statement", text)
			}
		}
		literal := "SELECT '" + strings.ReplaceAll(quoted, "'", "''") + "'"
		if all, err = postgres.Translate(literal, nil); err != nil || len(all) != 1 || all[0].Text != literal {
			t.Errorf("%q became %v, %v", literal, all, err)
		}
	})
}

// connect returns a connector for a database, with the dialect in it.
func connect(t *testing.T, url string) (*postgres.Connector, *sql.DB) {
	t.Helper()
	c, err := postgres.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	db := c.OpenWriter("")
	t.Cleanup(func() { db.Close() })
	if err := postgres.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return c, db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// one returns the only value of a query.
func one(t *testing.T, from interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, query string, args ...any) (value string) {
	t.Helper()
	if err := from.QueryRowContext(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func TestDialect(t *testing.T) {
	_, db := connect(t, pgtest.Start(t).Database(t))
	for query, want := range map[string]string{
		`SELECT json_extract(?, '$.a.b')`:                                                       "x",
		`SELECT coalesce(json_extract(?, '$.a.c'), 'none')`:                                     "none",
		`SELECT json_array_length(?, '$.to')`:                                                   "2",
		`SELECT coalesce(json_array_length(?, '$.a'), 0)`:                                       "0",
		`SELECT string_agg(value, '+' ORDER BY value) FROM json_each(?, '$.to')`:                "p+q",
		`SELECT string_agg(value, '+') FROM json_each(json_extract(?, '$.a.b', '$.no', '$.n'))`: "x+1",
		`SELECT count(*) FROM json_each('null') WHERE ? <> ''`:                                  "0",
		`SELECT max(1, 2) + min(3, 4) WHERE ? <> ''`:                                            "5",
		`SELECT replace(json_extract(?, '$.zero'), chr(65533), '!')`:                            "a!b",
	} {
		if got := one(t, db, query, `{"a":{"b":"x"},"to":["p","q"],"n":1,"zero":"a\u0000b"}`); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestTransactionFailsAsAWhole: a statement that fails is reported no later than the commit, nothing of the
// transaction is kept, and the connection can be used for the next.
func TestTransactionFailsAsAWhole(t *testing.T) {
	_, db := connect(t, pgtest.Start(t).Database(t))
	exec(t, db, "CREATE TABLE a (n INTEGER PRIMARY KEY)")
	add := func(tx *sql.Tx, n int) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO a (n) VALUES (?)", n)
		return err
	}
	begin := func() *sql.Tx {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	tx := begin()
	if err := errors.Join(add(tx, 1), add(tx, 1)); err == nil {
		err = tx.Commit()
		if err == nil {
			t.Error("a transaction with a failed statement was committed")
		}
	}
	tx = begin()
	if err := errors.Join(add(tx, 2), add(tx, 2)); err != nil {
		t.Error(err)
	}
	if err := tx.QueryRowContext(t.Context(), "SELECT 1").Scan(new(int)); err == nil {
		t.Error("a query after a failed statement succeeded")
	}
	if err := tx.Commit(); err == nil {
		t.Error("a transaction with a failed query was committed")
	}
	for range 2 { // a statement that failed when it was first used can be used again
		if _, err := db.ExecContext(t.Context(), "INSERT INTO a (n) VALUES (?), (?)", 7, 7); err == nil || !strings.Contains(err.Error(), "23505") {
			t.Errorf("the same number twice is the error %v, want 23505", err)
		}
	}
	tx = begin()
	if err := errors.Join(add(tx, 3), tx.Rollback()); err != nil {
		t.Error(err)
	}
	tx = begin() // with a step that is undone
	_, err := tx.ExecContext(t.Context(), "SAVEPOINT step")
	err = errors.Join(err, add(tx, 4))
	_, undone := tx.ExecContext(t.Context(), "ROLLBACK TO step; RELEASE step")
	if err := errors.Join(err, undone, add(tx, 5), tx.Commit()); err != nil {
		t.Error(err)
	}
	if got := one(t, db, "SELECT string_agg(CAST(n AS TEXT), ',') FROM a"); got != "5" {
		t.Errorf("%s was kept, want 5", got)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT n FROM a WHERE n > 9").Scan(new(int)); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no rows is the error %v", err)
	}
}

// TestReadingIsOfOneMoment: a transaction that only reads sees nothing of what is added meanwhile.
func TestReadingIsOfOneMoment(t *testing.T) {
	c, db := connect(t, pgtest.Start(t).Database(t))
	exec(t, db, "CREATE TABLE a (n INTEGER)")
	readers := c.OpenReaders(2)
	defer readers.Close()
	tx, err := readers.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	before := one(t, tx, "SELECT count(*) FROM a")
	exec(t, db, "INSERT INTO a (n) VALUES (1)")
	if after := one(t, tx, "SELECT count(*) FROM a"); before != after {
		t.Errorf("there were %s rows, and then %s", before, after)
	}
	if _, err := tx.ExecContext(t.Context(), "DELETE FROM a"); err == nil && tx.Commit() == nil {
		t.Error("a transaction that only reads has written")
	}
}

// TestOneOwner: whoever writes owns the database until its connection is closed.
func TestOneOwner(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	_, db := connect(t, url)
	other, err := postgres.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	second := other.OpenWriter("")
	defer second.Close()
	if err := second.PingContext(t.Context()); !errors.Is(err, postgres.ErrOwned) {
		t.Errorf("a second daemon gets %v, want ErrOwned", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := second.PingContext(t.Context()); err != nil {
		t.Errorf("when the first has gone, the second gets %v", err)
	}
}

// TestIdleTransaction: one of several who stands still in the middle of a transaction does not keep the others
// waiting for ever.
func TestIdleTransaction(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	var writers [2]*sql.DB
	for i := range writers { // of two daemons, or the second would end the first's connection
		c, err := postgres.NewConnector(url)
		if err != nil {
			t.Fatal(err)
		}
		writers[i] = c.OpenWriter("1")
		defer writers[i].Close()
	}
	stands, goes := writers[0], writers[1]
	tx, err := stands.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()                        // its connection is gone by then
	one(t, tx, "SELECT CAST(pg_advisory_xact_lock(7) AS TEXT)") // a query, which is sent at once
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if _, err := goes.ExecContext(ctx, "SELECT pg_advisory_xact_lock(7)"); err != nil {
		t.Errorf("another waits: %v", err)
	}
}

// TestErrors: each says what to do, and none has the password.
func TestErrors(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	const password = "hunter2"
	for _, tt := range []struct{ name, url, want string }{
		{"no database", strings.Replace(url, "/test", "/none", 1), "createdb"},
		{"nobody there", "postgres://ann:" + password + "@/x?host=" + server.Dir + "-", "does not answer"},
		{"another user", strings.Replace(url, "earshot@", "nobody:"+password+"@", 1), "refuses the user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := postgres.NewConnector(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			db := c.OpenReaders(1)
			defer db.Close()
			ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
			defer cancel()
			if err = db.PingContext(ctx); !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error()+c.Name, password) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		})
	}
	for _, wrong := range []string{"http://" + password, "postgres://ann:" + password + "@host:port/x", "postgres://%" + password, "postgres://ann:" + password + "@h/x?sslmode=maybe"} {
		if _, err := postgres.NewConnector(wrong); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("a wrong URL gives %v", err)
		}
	}
}

// TestEncryption: a server that cannot be trusted, or does not encrypt, is not said to be away.
func TestEncryption(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answering sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		testkit.Finish(t, testkit.Patience, "the last answer", answering.Wait)
	})
	web := httptest.NewTLSServer(nil) // for its certificate, which nobody knows
	defer testkit.Finish(t, testkit.Patience, "the end of the server", web.Close)
	var answer atomic.Value // a string
	answering.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(testkit.Patience))
			_, _ = io.ReadFull(c, make([]byte, 8)) // whether it encrypts
			_, _ = io.WriteString(c, answer.Load().(string))
			_ = tls.Server(c, web.TLS).Handshake()
			c.Close()
		}
	})
	for says, want := range map[string]string{"S": "its certificate is not trusted", "N": "it does not encrypt"} {
		c, err := postgres.NewConnector(fmt.Sprintf("postgres://ann@%s/x?sslmode=verify-full", l.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		answer.Store(says)
		db := c.OpenReaders(1)
		if err := db.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want that %s", err, want)
		}
		db.Close()
	}
}

// TestServerComesBack: what is only read is read when the server is back, without an error.
func TestServerComesBack(t *testing.T) {
	server := pgtest.Start(t)
	c, db := connect(t, server.Database(t))
	readers := c.OpenReaders(2)
	defer readers.Close()
	one(t, readers, "SELECT 1")
	server.Kill(t)
	done := make(chan error, 1)
	go func() { done <- readers.QueryRowContext(t.Context(), "SELECT 1").Scan(new(int)) }()
	server.Resume(t)
	if err := testkit.Receive(t, testkit.Patience, "the answer", done); err != nil {
		t.Error(err)
	}
	testkit.Await(t, testkit.Patience, "the writer has the lock again", func() bool { // it is not said twice what may be done twice
		_, err := db.ExecContext(t.Context(), "SELECT 1")
		return err == nil
	})
}

// TestServerPauses: a server that stands still in the midst of what it is sent is waited for, and its
// connection can be used afterwards.
func TestServerPauses(t *testing.T) {
	server := pgtest.Start(t)
	c, db := connect(t, server.Database(t))
	exec(t, db, "CREATE TABLE a (x TEXT)")
	readers := c.OpenReaders(1)
	defer readers.Close()
	one(t, readers, "SELECT count(*) FROM a")
	goOn := server.Pause(t)
	done := make(chan error, 2)
	long := strings.Repeat("x", 8<<20) // more than lies between
	go func() {
		_, err := db.ExecContext(t.Context(), "INSERT INTO a (x) VALUES (?)", long)
		done <- err
	}()
	go func() { done <- readers.QueryRowContext(t.Context(), "SELECT length(?)", long).Scan(new(int)) }()
	select {
	case err := <-done:
		t.Errorf("a server that stands still has answered: %v", err)
	case <-time.After(200 * time.Millisecond): // then pgconn begins to read while it writes
	}
	goOn()
	for range 2 {
		if err := testkit.Receive(t, testkit.Patience, "the server goes on", done); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		go func() {
			done <- errors.Join(readers.QueryRowContext(t.Context(), "SELECT length(x) FROM a").Scan(new(int)), db.PingContext(t.Context()))
		}()
		if err := testkit.Receive(t, testkit.Patience, "the connections are used again", done); err != nil {
			t.Error(err)
		}
	}
}
