package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// patience is how long a connection is tried for again that had been there: longer than a standby
	// takes to become the server that can be written to.
	patience = 20 * time.Second

	// firstDelay and longestDelay are the pauses between two attempts.
	firstDelay   = 50 * time.Millisecond
	longestDelay = time.Second

	// connectTimeout is how long one server may take to accept a connection.
	connectTimeout = 5 * time.Second

	// lockAttempts is how often the lock of the database is tried for: the server needs a moment to end a
	// session.
	lockAttempts = 40

	// mostIdle is after how many milliseconds the server ends a transaction in which nothing happens, of one who
	// shares the database: who was cut off or stands still in the middle of one keeps the others waiting.
	mostIdle = "5000"

	// lockKey is the key of the lock by which a daemon owns the database: "earshot" in ASCII.
	lockKey = 0x65617273686f74

	// listenAgain is how often a listener looks whether its connection is there.
	listenAgain = 5 * time.Second
)

// A Connector makes connections to the database of a URL. It is safe for concurrent use.
type Connector struct {
	Name string // of the database and its hosts, without the password

	config  *pgconn.Config
	lock    string      // the function that takes the lock of the database; empty if it is not taken
	reached atomic.Bool // there was a connection
}

// NewConnector returns a connector for a URL, which begins with postgres:// and may name several hosts:
// connections are made to the one that can be written to. Its errors do not repeat the URL.
func NewConnector(url string) (*Connector, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, errors.New("it does not begin with postgres://")
	}
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, errors.New("it is not the URL of a database, such as postgres://user:password@host/earshot, in which # in a password is %23, and / is %2F")
	}
	hosts := []string{config.Host}
	for _, f := range config.Fallbacks {
		if f.Host != hosts[len(hosts)-1] {
			hosts = append(hosts, f.Host)
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	maps.Copy(config.RuntimeParams, map[string]string{
		"search_path":        "earshot",
		"synchronous_commit": "on", // what is acknowledged is on the disk, whatever the server's default is
		"application_name":   "earshot " + rand.Text(),

		// For a host that is gone, the server keeps locks for ten seconds, and not for hours.
		"tcp_user_timeout": "10000", "tcp_keepalives_idle": "5", "tcp_keepalives_interval": "5",
	})
	return &Connector{Name: fmt.Sprintf("the database %s on %s", config.Database, strings.Join(hosts, ", ")), config: config}, nil
}

// OpenReaders returns the database for at most as many connections.
func (c *Connector) OpenReaders(connections int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// OpenWriter returns the database for the one connection that writes. It has the lock of the database,
// so that whoever can write owns it. Several daemons share it if each says of which version its tables are.
func (c *Connector) OpenWriter(version string) *sql.DB {
	w := &Connector{Name: c.Name, config: c.config, lock: "pg_try_advisory_lock"}
	if version != "" {
		w.lock, w.config = "pg_try_advisory_lock_shared", c.config.Copy()
		w.config.RuntimeParams["idle_in_transaction_session_timeout"] = mostIdle
		w.config.RuntimeParams["application_name"] += " " + version
	}
	return w.OpenReaders(1)
}

// OtherVersions reports whether a daemon with tables of another version than this one's shares the database of a
// writer now.
func OtherVersions(ctx context.Context, writer *sql.DB, version string) (others bool, err error) {
	err = writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ShareLock' AND l.classid::bigint << 32 | l.objid::bigint = ?
		AND a.datname = current_database() AND right(a.application_name, length(?)) <> ?)`, int64(lockKey), version, version).Scan(&others)
	return others, err
}

// Listen calls heard with what is notified on a channel, until the connection is lost or ctx ends. The first call
// is with "": it listens from then on, and what was notified before was missed.
func (c *Connector) Listen(ctx context.Context, channel string, heard func(payload string)) error {
	config := c.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { heard(n.Payload) }
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return explain(ctx, err, true)
	}
	made := &conn{pg: pg, ctx: context.WithoutCancel(ctx)}
	if _, err = pg.Exec(ctx, "LISTEN "+channel).ReadAll(); err == nil {
		heard("")
	}
	for err == nil {
		bounded, cancel := context.WithTimeout(ctx, listenAgain)
		for err == nil {
			err = pg.WaitForNotification(bounded)
		}
		cancel()
		if ctx.Err() == nil && bounded.Err() != nil {
			bounded, cancel := context.WithTimeout(ctx, connectTimeout)
			err = pg.Ping(bounded)
			cancel()
		}
	}
	return errors.Join(explain(ctx, err, true), made.Close())
}

// Driver implements [driver.Connector].
func (c *Connector) Driver() driver.Driver { return nil }

// Connect implements [driver.Connector].
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	end := time.Now().Add(patience)
	for delay := firstDelay; ; delay = min(2*delay, longestDelay) {
		found, err := c.connect(ctx)
		if err == nil {
			c.reached.Store(true)
			return found, nil
		}
		if e, is := errors.AsType[*Error](err); !c.reached.Load() || !is || !e.again || time.Now().After(end) {
			return nil, err
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// connect makes a connection, and takes the lock if it is to have it.
func (c *Connector) connect(ctx context.Context) (driver.Conn, error) {
	found, err := pgconn.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, explain(ctx, err, true)
	}
	made := &conn{pg: found, ctx: context.WithoutCancel(ctx), kept: map[string][]*statement{}}
	if c.lock != "" {
		if err := lock(ctx, found, c.lock); err != nil {
			if !errors.Is(err, ErrOwned) {
				err = explain(ctx, err, true)
			}
			return nil, errors.Join(err, made.Close())
		}
	}
	return made, nil
}

// lock takes the lock of the database by a function. A session of the same daemon whose end the server has not
// noticed is ended first, so that nothing is committed there any more.
func lock(ctx context.Context, c *pgconn.PgConn, function string) error {
	take := fmt.Sprintf("SELECT %s(%d)", function, lockKey)
	const end = `SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND a.datname = current_database() AND a.application_name = current_setting('application_name') AND a.pid <> pg_backend_pid()`
	for range lockAttempts {
		ended := c.ExecParams(ctx, end, nil, nil, nil, nil).Read()
		if ended.Err != nil {
			return ended.Err
		}
		got := c.ExecParams(ctx, take, nil, nil, nil, nil).Read()
		if got.Err != nil || string(got.Rows[0][0]) == "t" {
			return got.Err
		}
		pause := firstDelay
		if len(ended.Rows) > 0 { // it is ours, and ends as soon as the disk of the server answers
			pause = longestDelay / 2
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return ErrOwned
}
