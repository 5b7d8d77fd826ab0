package journal

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// maxStatements is how many prepared statements a connection keeps. The store has fewer that do not
// depend on what is asked.
const maxStatements = 128

// A connector opens connections that keep their prepared statements. To prepare one takes longer
// than to run it, and database/sql would prepare each anew for each call.
type connector struct {
	driver driver.Driver
	name   string // of the data source
}

// openDB returns what [sql.Open] would, with such connections.
func openDB(name string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", name) // errors.go imports the driver
	if err != nil {
		return nil, err
	}
	defer db.Close() // it has no connection
	return sql.OpenDB(connector{db.Driver(), name}), nil
}

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c.driver }

// Connect implements [driver.Connector].
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	return &keepingConn{sqliteConn: conn.(sqliteConn), kept: make(map[string]statement)}, nil
}

// A sqliteConn is what a connection of the driver can do that database/sql makes use of.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// A statement is one of the driver's. It can be run again once its rows are closed.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A keepingConn is a connection that keeps its statements. Like each connection, it is used by one
// goroutine at a time.
type keepingConn struct {
	sqliteConn
	kept map[string]statement // by their text; not one that is running
}

// take returns a statement that nobody else has until it is put back.
func (c *keepingConn) take(ctx context.Context, text string) (statement, error) {
	if s, ok := c.kept[text]; ok {
		delete(c.kept, text)
		return s, nil
	}
	s, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.(statement), nil
}

// put keeps a statement for the next time, if it has not failed. It returns why it has.
func (c *keepingConn) put(text string, s statement, failed error) error {
	if failed != nil {
		s.Close() // which may fail as the statement did
		return failed
	}
	if _, there := c.kept[text]; there || len(c.kept) >= maxStatements {
		return s.Close()
	}
	c.kept[text] = s
	return nil
}

// ExecContext implements [driver.ExecerContext].
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	r, err := s.ExecContext(ctx, args)
	return r, c.put(text, s, err)
}

// QueryContext implements [driver.QueryerContext].
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	r, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, c.put(text, s, err)
	}
	return &keptRows{Rows: r, conn: c, text: text, statement: s}, nil
}

// Close implements [driver.Conn].
func (c *keepingConn) Close() error {
	var err error
	for _, s := range c.kept {
		err = errors.Join(err, s.Close())
	}
	clear(c.kept)
	return errors.Join(err, c.sqliteConn.Close())
}

// keptRows are the rows of a statement that is kept.
type keptRows struct {
	driver.Rows
	conn      *keepingConn
	text      string
	statement statement
}

// Close implements [driver.Rows].
func (r *keptRows) Close() error {
	return r.conn.put(r.text, r.statement, r.Rows.Close())
}
