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
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxQueued is how many statements of a transaction wait to be sent.
	maxQueued = 256

	// longestTrip is how long one round trip may take. A server that does not answer for so long counts
	// as lost.
	longestTrip = time.Minute

	// maxTranslations is how many translations a connection keeps. The store has fewer statements that do
	// not depend on what is asked.
	maxTranslations = 1024
)

//go:embed dialect.sql
var dialect string

// Install makes the schema, and the functions of the dialect in it.
func Install(ctx context.Context, db *sql.DB) error { return direct(ctx, db, dialect) }

// Vacuum writes all tables of the database anew, without what was deleted from them. Nobody can use a
// table meanwhile.
func Vacuum(ctx context.Context, db *sql.DB) error { return direct(ctx, db, "VACUUM FULL") }

// direct executes statements of PostgreSQL, for as long as it takes.
func direct(ctx context.Context, db *sql.DB, text string) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(raw any) error {
		c := raw.(*conn)
		_, err := c.pg.Exec(ctx, text).ReadAll()
		return c.explain(ctx, err)
	})
}

// A conn is a connection. Like each, it is used by one goroutine at a time.
type conn struct {
	pg     *pgconn.PgConn
	ctx    context.Context         // does not end; database/sql ends a transaction and a connection without one
	kept   map[string][]*statement // translations, by the types of the arguments and the text
	inside bool                    // a transaction
	begun  bool                    // the server knows of it
	queue  []request               // what the server does not know of yet
}

// A request is a statement to be executed with some values.
type request struct {
	*statement
	values [][]byte
	parsed bool // the server is asked to prepare it first
}

// enqueue translates statements, each once, and has them sent with the next ones.
func (c *conn) enqueue(text string, args ...driver.NamedValue) error {
	values, types := make([][]byte, len(args)), make([]string, len(args))
	for i, a := range args {
		values[i], types[i] = encode(a.Value)
	}
	key := strings.Join(types, ",") + " " + text
	all, ok := c.kept[key]
	if !ok {
		var err error
		if all, err = translate(text, args, types); err != nil {
			return err
		}
		if len(c.kept) < maxTranslations {
			for i, s := range all {
				s.name = fmt.Sprintf("s%d_%d", len(c.kept), i)
			}
			c.kept[key] = all
		}
	}
	if !c.inside {
		c.queue = nil
	}
	for _, s := range all {
		r := request{statement: s}
		for _, at := range s.args {
			r.values = append(r.values, values[at])
		}
		c.queue = append(c.queue, r)
	}
	return nil
}

// Prepare implements [driver.Conn]. Statements are kept by their text anyway.
func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }

// Begin implements [driver.Conn].
func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(c.ctx, driver.TxOptions{}) }

// BeginTx implements [driver.ConnBeginTx]. A transaction that only reads sees everything as of one moment.
func (c *conn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.inside, c.begun, c.queue = true, false, nil
	begin := "BEGIN"
	if o.ReadOnly {
		begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	}
	return (*transaction)(c), c.enqueue(begin)
}

// Close implements [driver.Conn].
func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(c.ctx, time.Second) // to say goodbye
	defer cancel()
	return c.pg.Close(ctx)
}

// ResetSession implements [driver.SessionResetter]. It finds out without a round trip whether the server has
// ended the connection meanwhile: then there is something to read, its farewell or the end.
func (c *conn) ResetSession(context.Context) error {
	nc := c.pg.Conn()
	if t, is := nc.(interface{ NetConn() net.Conn }); is { // TLS
		nc = t.NetConn()
	}
	quiet := !c.pg.IsClosed()
	if s, is := nc.(syscall.Conn); is && quiet {
		raw, err := s.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { // Read would wait for a reader that pgconn leaves behind after a slow write
				_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
				quiet = errors.Is(err, syscall.EAGAIN)
			})
		}
		quiet = quiet && err == nil
	}
	if !quiet {
		return driver.ErrBadConn
	}
	return nil
}

// IsValid implements [driver.Validator].
func (c *conn) IsValid() bool { return !c.pg.IsClosed() && !c.inside }

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.enqueue(text, args...); err != nil {
		return nil, err
	}
	if c.inside && len(c.queue) < maxQueued {
		return driver.ResultNoRows, nil
	}
	_, err := c.flush(ctx)
	return driver.ResultNoRows, err
}

// flush sends what is queued, waits until it is done, and returns what the server says of the last.
func (c *conn) flush(ctx context.Context) (last string, err error) {
	bounded, cancel := context.WithTimeout(ctx, longestTrip)
	defer cancel()
	d := c.send(bounded)
	for len(d.left) > 0 && err == nil {
		var r *pgconn.ResultReader
		if r, err = d.next(); err == nil {
			var tag pgconn.CommandTag
			tag, err = r.Close()
			last = tag.String()
		}
	}
	return last, c.explain(ctx, d.end(err))
}

// A delivery is what was sent together.
type delivery struct {
	*pgconn.Pipeline
	left []request // those whose results were not read yet
}

// binaryFormat asks for all columns of a result as bytes.
var binaryFormat = []int16{1}

// send sends what is queued. A statement that the server does not know yet is prepared in between.
func (c *conn) send(ctx context.Context) *delivery {
	d := &delivery{c.pg.StartPipeline(ctx), c.queue}
	for i, r := range d.left {
		if !r.known {
			d.SendPrepare(r.name, r.text, nil)
			d.left[i].parsed, r.known = true, r.name != "" // until it turns out otherwise
		}
		d.SendQueryPrepared(r.name, r.values, nil, binaryFormat)
	}
	_ = d.Sync() // the first result has its error
	c.queue, c.begun = nil, c.inside
	return d
}

// next returns the result of the next statement.
func (d *delivery) next() (*pgconn.ResultReader, error) {
	if d.left[0].parsed {
		if _, err := d.GetResults(); err != nil {
			return nil, err
		}
		d.left[0].parsed = false // the server has it, whatever becomes of the rest
	}
	result, err := d.GetResults()
	if err != nil {
		return nil, err
	}
	d.left = d.left[1:]
	r, is := result.(*pgconn.ResultReader)
	if !is {
		return nil, errors.New("the result is none of a statement")
	}
	return r, nil
}

// end ends a delivery, which may have failed.
func (d *delivery) end(err error) error {
	closing := d.Close()
	for _, r := range d.left { // the server may not have come to prepare them
		r.known = r.known && !r.parsed
	}
	if err == nil {
		err = closing
	}
	return err
}

func (c *conn) explain(ctx context.Context, err error) error {
	return explain(ctx, err, c.pg.IsClosed())
}

// QueryContext implements [driver.QueryerContext]. database/sql tries again what was only to be read, on
// another connection.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.enqueue(text, args...); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, longestTrip)
	r := &rows{delivery: c.send(bounded), explain: func(err error) error { return c.explain(ctx, err) }, cancel: cancel}
	var err error
	for len(r.delivery.left) > 0 && err == nil {
		if r.result != nil {
			_, err = r.result.Close()
		}
		if err == nil {
			r.result, err = r.delivery.next()
		}
	}
	if err == nil { // an error of the query is an error now
		if err = r.advance(); err == nil {
			r.ahead = !r.ended
			return r, nil
		}
	}
	err = r.delivery.end(err)
	cancel()
	if err = r.explain(err); !c.inside && errors.Is(err, ErrLost) {
		err = driver.ErrBadConn
	}
	return nil, err
}

// rows are the result of a query.
type rows struct {
	delivery *delivery
	result   *pgconn.ResultReader
	explain  func(error) error
	cancel   context.CancelFunc
	ahead    bool // a row was read that was not handed out yet
	ended    bool
}

// advance reads a row, or the end.
func (r *rows) advance() (err error) {
	if r.ended = !r.result.NextRow(); r.ended {
		_, err = r.result.Close()
	}
	return err
}

// Columns implements [driver.Rows].
func (r *rows) Columns() (all []string) {
	for _, f := range r.result.FieldDescriptions() {
		all = append(all, f.Name)
	}
	return all
}

// Next implements [driver.Rows].
func (r *rows) Next(to []driver.Value) (err error) {
	if !r.ahead && !r.ended {
		if err := r.advance(); err != nil {
			return r.explain(err)
		}
	}
	if r.ahead = false; r.ended {
		return io.EOF
	}
	values := r.result.Values()
	for i, f := range r.result.FieldDescriptions() {
		if to[i], err = decode(f.DataTypeOID, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [driver.Rows].
func (r *rows) Close() error {
	_, err := r.result.Close()
	err = r.delivery.end(err)
	r.cancel()
	return r.explain(err)
}

// A transaction is that of a connection.
type transaction conn

// Commit implements [driver.Tx].
func (t *transaction) Commit() error {
	c := (*conn)(t)
	c.inside = false
	if !c.begun && len(c.queue) == 1 { // nothing was done
		return nil
	}
	if err := t.end("COMMIT"); err != nil { // an [ErrLost] also if it took too long
		return errors.Join(err, t.Rollback())
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
	c.queue = nil
	return t.end("ROLLBACK")
}

// end sends what is queued, and how the transaction ends.
func (t *transaction) end(how string) error {
	c := (*conn)(t)
	c.inside = true // what is queued stays
	err := c.enqueue(how)
	c.inside = false
	if err != nil {
		return err
	}
	begun := c.begun
	as, err := c.flush(c.ctx)
	c.begun = begun || err != nil
	if err == nil && as != how {
		err = errors.New("the transaction had failed before")
	}
	return err
}
