// Package postgres is a driver for database/sql by which the statements of the store, which are
// written for SQLite, run on PostgreSQL. Few of them differ: parameters are numbered and get the types
// of their values, definitions of tables get other types, and a schema has the functions of SQLite
// that are used. So each table has one code for both; see docs/decisions/postgres.md.
//
// What a transaction executes is sent with its next query, or with its commit, so that a step without
// queries takes one round trip. An error of a statement may therefore be that of a later one; the
// transaction has failed either way.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed" // for the dialect
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxQueued is how many statements of a transaction wait to be sent.
	maxQueued = 256

	// longestTrip is how long one round trip may take. A server that does not answer for so long counts
	// as lost.
	longestTrip = time.Minute

	// idleBeforeCheck is for how long a connection may be idle before it is checked when it is used
	// again, which takes a millisecond.
	idleBeforeCheck = time.Second
)

//go:embed dialect.sql
var dialect string

// Install makes the schema, and the functions of the dialect in it.
func Install(ctx context.Context, db *sql.DB) error { return direct(ctx, db, dialect) }

// Vacuum writes all tables of the schema anew, without what was deleted from them. Nobody can use a
// table meanwhile.
func Vacuum(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
	if err != nil {
		return err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, pgx.Identifier{name}.Sanitize())
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, name := range names {
		if err := direct(ctx, db, "VACUUM FULL "+name); err != nil {
			return err
		}
	}
	return nil
}

// direct executes statements of PostgreSQL, for as long as it takes.
func direct(ctx context.Context, db *sql.DB, text string) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(raw any) error {
		_, err := raw.(*conn).pg.PgConn().Exec(ctx, text).ReadAll()
		return err
	})
}

// A conn is a connection. Like each, it is used by one goroutine at a time.
type conn struct {
	pg         *pgx.Conn
	ctx        context.Context // does not end; database/sql ends a transaction and a connection without one
	translator *translator
	inside     bool       // a transaction
	begun      bool       // the server knows of it
	queue      *pgx.Batch // what the server does not know of yet
	used       time.Time
}

// Prepare implements [driver.Conn]. Statements are kept by their text anyway.
func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }

// Begin implements [driver.Conn].
func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(c.ctx, driver.TxOptions{}) }

// BeginTx implements [driver.ConnBeginTx]. A transaction that only reads sees everything as of one moment.
func (c *conn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.inside, c.begun, c.queue = true, false, &pgx.Batch{}
	if o.ReadOnly {
		c.queue.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	} else {
		c.queue.Queue("BEGIN")
	}
	return (*transaction)(c), nil
}

// Close implements [driver.Conn].
func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(c.ctx, time.Second) // to say goodbye
	defer cancel()
	return c.pg.Close(ctx)
}

// ResetSession implements [driver.SessionResetter].
func (c *conn) ResetSession(context.Context) error {
	if c.pg.IsClosed() || time.Since(c.used) > idleBeforeCheck && c.pg.PgConn().CheckConn() != nil {
		return driver.ErrBadConn
	}
	return nil
}

// IsValid implements [driver.Validator].
func (c *conn) IsValid() bool { return !c.pg.IsClosed() && !c.inside }

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	all, err := c.translator.translate(text, args)
	if err != nil {
		return nil, err
	}
	if !c.inside {
		c.queue = &pgx.Batch{}
	}
	for _, s := range all {
		c.queue.Queue(s.text, s.values(args)...)
		// What follows may need a table that is made here, and would not be understood before that.
		if !c.inside || c.queue.Len() >= maxQueued || strings.HasPrefix(s.text, "CREATE") || strings.HasPrefix(s.text, "DROP") {
			if err := c.flush(ctx); err != nil {
				return nil, err
			}
		}
	}
	return driver.ResultNoRows, nil
}

// flush sends what is queued, and waits until it is done.
func (c *conn) flush(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, longestTrip)
	defer cancel()
	_, err := c.send(bounded).finish()
	return c.failed(ctx, err)
}

// A delivery is what was sent together.
type delivery struct {
	pgx.BatchResults
	left int // results that were not read yet
}

// send sends what is queued.
func (c *conn) send(ctx context.Context) delivery {
	d := delivery{c.pg.SendBatch(ctx, c.queue), c.queue.Len()}
	c.queue, c.begun, c.used = &pgx.Batch{}, c.inside, time.Now()
	return d
}

// finish reads the results that are left, and returns the last of them.
func (d delivery) finish() (last pgconn.CommandTag, err error) {
	for ; d.left > 0 && err == nil; d.left-- {
		last, err = d.Exec()
	}
	if closing := d.Close(); err == nil {
		err = closing
	}
	return last, err
}

// failed returns what a caller is to know of an error. database/sql tries again what was only to be
// read, on another connection.
func (c *conn) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.pg.IsClosed():
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	all, err := c.translator.translate(text, args)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("a query has %d statements", len(all))
	}
	if !c.inside {
		c.queue = &pgx.Batch{}
	}
	c.queue.Queue(all[0].text, all[0].values(args)...)
	bounded, cancel := context.WithTimeout(ctx, longestTrip)
	r := &rows{conn: c, outer: func(err error) error { return c.failed(ctx, err) }, cancel: cancel, delivery: c.send(bounded)}
	for ; r.delivery.left > 1 && err == nil; r.delivery.left-- {
		_, err = r.delivery.Exec()
	}
	if err == nil {
		r.Rows, err = r.delivery.Query()
	}
	if err == nil && !r.Rows.Next() { // an error of the query is an error now
		r.ended, err = true, r.Rows.Err()
	}
	if err == nil {
		return r, nil
	}
	_ = r.delivery.Close()
	cancel()
	if err = c.failed(ctx, err); !c.inside && errors.Is(err, ErrLost) {
		err = driver.ErrBadConn
	}
	return nil, err
}

// rows are the result of a query.
type rows struct {
	pgx.Rows
	conn     *conn
	delivery delivery
	outer    func(error) error
	cancel   context.CancelFunc
	begun    bool // the first row was handed out
	ended    bool
}

// Columns implements [driver.Rows].
func (r *rows) Columns() []string {
	var all []string
	for _, f := range r.FieldDescriptions() {
		all = append(all, f.Name)
	}
	return all
}

// Next implements [driver.Rows].
func (r *rows) Next(to []driver.Value) error {
	if !r.ended && r.begun {
		r.ended = !r.Rows.Next()
	}
	if r.begun = true; r.ended {
		if err := r.outer(r.Err()); err != nil {
			return err
		}
		return io.EOF
	}
	values, err := r.Values()
	for i, v := range values {
		if n, is := v.(int32); is { // of PostgreSQL's own tables and literals
			v = int64(n)
		}
		to[i] = v
	}
	return err
}

// Close implements [driver.Rows].
func (r *rows) Close() error {
	r.Rows.Close()
	err := r.delivery.Close()
	r.cancel()
	return r.outer(err)
}

// A transaction is that of a connection.
type transaction conn

// Commit implements [driver.Tx].
func (t *transaction) Commit() error {
	c := (*conn)(t)
	c.inside = false
	if !c.begun && c.queue.Len() == 1 { // nothing was done
		return nil
	}
	c.queue.Queue("COMMIT")
	ctx, cancel := context.WithTimeout(c.ctx, longestTrip)
	defer cancel()
	tag, err := c.send(ctx).finish()
	if err == nil && tag.String() != "COMMIT" {
		return errors.New("the transaction had failed before")
	}
	if err != nil && !c.pg.IsClosed() {
		c.begun = true
		return errors.Join(err, t.Rollback())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// Rollback implements [driver.Tx].
func (t *transaction) Rollback() error {
	c := (*conn)(t)
	c.inside = false
	if !c.begun || c.pg.IsClosed() {
		return nil
	}
	c.queue = &pgx.Batch{}
	c.queue.Queue("ROLLBACK")
	return c.flush(c.ctx)
}
