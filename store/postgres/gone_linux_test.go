package postgres_test

import (
	"database/sql"
	neturl "net/url"
	"strings"
	"testing"

	"earshot/internal/testkit"
	"earshot/internal/testkit/netlab"
	"earshot/internal/testkit/pgtest"
	"earshot/store/postgres"
)

// TestGoneHost: when the host of a daemon is gone without a word, its locks are free soon, and not after the two
// hours that a server waits by itself.
func TestGoneHost(t *testing.T) {
	l := netlab.New(t, "database", "daemon")
	server := pgtest.StartOn(t, pgtest.Host{Address: l.Addr("database"), In: func(start func()) { l.In("database", start) }})
	url := server.Database(t)
	first, err := postgres.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	gone := first.OpenWriter("")
	defer gone.Close()
	var owner *sql.Conn
	l.In("daemon", func() { owner, err = gone.Conn(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	l.Links().Cut()
	second, err := postgres.NewConnector(strings.Replace(url, neturl.QueryEscape(l.Addr("database")), neturl.QueryEscape(server.Dir), 1))
	if err != nil {
		t.Fatal(err)
	}
	next := second.OpenWriter("")
	defer next.Close()
	testkit.Await(t, testkit.Patience, "the database is free", func() bool { return next.PingContext(t.Context()) == nil })
}
