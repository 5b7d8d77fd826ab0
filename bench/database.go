package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/store"
	"earshot/store/postgres"
)

// A database is a server of PostgreSQL with an empty database, which commits to the disk.
type database struct {
	url    string
	db     *sql.DB
	server process
}

// withoutPostgres returns the row of a figure if there is no PostgreSQL here.
func withoutPostgres(name string) []Row {
	if unwanted("postgres") {
		return []Row{{Name: name, Note: "not measured: EARSHOT_WITHOUT has postgres"}}
	}
	if postgresPrograms() == "" {
		return []Row{{Name: name, Note: "not measured: there is no PostgreSQL; scripts/setup test says how to get it"}}
	}
	return nil
}

// postgresPrograms returns where Debian has the newest PostgreSQL, or "".
func postgresPrograms() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// startPostgres starts a server, and returns when it answers.
func startPostgres(ctx context.Context) (d *database, err error) {
	dir, err := os.MkdirTemp("", "pg") // where also another user may go; TMPDIR should be on a disk
	if err != nil {
		return nil, err
	}
	data, as := filepath.Join(dir, "data"), &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // as whom it refuses to run
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(postgresPrograms(), name), args...)
		c.Dir, c.SysProcAttr = dir, as
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGQUIT) }
		return c
	}
	if out, err := command("initdb", "--pgdata", data, "--username", "earshot", "--auth", "trust", "--locale", "C", "--encoding", "UTF8").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	d = &database{url: "postgres://earshot@/postgres?host=" + url.QueryEscape(dir), server: process{command("postgres", "-D", data, "-k", dir, "-h", "")}}
	connector, err := postgres.NewConnector(d.url)
	if err != nil {
		return nil, err
	}
	if err := d.server.Start(); err != nil {
		return nil, err
	}
	d.db = connector.OpenReaders(len(members))
	if err := awaitThat(ctx, "PostgreSQL", func() bool { return d.db.PingContext(ctx) == nil }); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

// stop ends the server, and removes what it has kept.
func (d *database) stop() error {
	return errors.Join(d.db.Close(), d.server.Process.Signal(syscall.SIGINT), d.server.Wait(), os.RemoveAll(d.server.Dir))
}

// bareRow inserts the row of a message into a table like that of the journal.
const bareRow = `INSERT INTO bare (sequence, id, at, room, kind, author, scope, payload, sum) VALUES (@n, @id, @at, 'desk', 'message', 'ann', 'public',
	'{"id":"01KB4EZ1234567890123456789","at":"2026-02-03T04:05:06.123456789Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"message","body":{"text":"the tide comes in"}}', 1)`

// inDatabase measures a message that is kept in PostgreSQL, beside an insert of the same row into a table
// with the same indexes, each committed by itself.
func inDatabase(ctx context.Context, b bench) (rows []Row, err error) {
	const name = "append in PostgreSQL"
	if rows := withoutPostgres(name); rows != nil {
		return rows, nil
	}
	d, err := startPostgres(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	s, err := store.Open(ctx, store.Config{Directory: b.dir, URL: field.Secret(d.url), Log: silent})
	if err != nil {
		return nil, err
	}
	o, p, err := b.besideInsert(ctx, s, d.db)
	return []Row{row(name, "ms", o, p, "with its index of words; the bare one is the row alone").goal("p50", o.P50, 1.5*p.P50)}, errors.Join(err, s.Close())
}

// besideInsert measures both.
func (b bench) besideInsert(ctx context.Context, s *store.Store, db *sql.DB) (o, p Spread, err error) {
	if _, err := db.ExecContext(ctx, "CREATE TABLE bare (LIKE journal INCLUDING ALL)"); err != nil {
		return o, p, err
	}
	n := 0
	ours := func() ([]float64, error) {
		n++
		began := time.Now()
		_, err := s.Append(ctx, earshot.Event{ID: newID(), Room: earshot.Desk, From: ann, Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "the tide comes in"}})
		return []float64{inMillis(time.Since(began))}, err
	}
	bare := func() ([]float64, error) {
		n++
		began := time.Now()
		_, err := db.ExecContext(ctx, bareRow, sql.Named("n", n), sql.Named("id", newID()), sql.Named("at", began.UnixMilli()))
		return []float64{inMillis(time.Since(began))}, err
	}
	return b.compare(ours, bare)
}
