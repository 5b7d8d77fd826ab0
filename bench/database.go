package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/store"
	"earshot/store/postgres"
)

// databaseVariable names the URL of an empty database of PostgreSQL, which is left with a journal in it.
const databaseVariable = "EARSHOT_BENCH_POSTGRES"

// bareRow inserts the row of a message into a table like that of the journal.
const bareRow = `INSERT INTO bare (sequence, id, at, room, kind, author, scope, payload, sum) VALUES (@n, @id, @at, 'desk', 'message', 'ann', 'public',
	'{"id":"01KB4EZ1234567890123456789","at":"2026-02-03T04:05:06.123456789Z","room":"desk","from":{"provider":"console","id":"uid1000"},"author":"ann","visibility":{"scope":"public"},"kind":"message","body":{"text":"the tide comes in"}}', 1)`

// inDatabase measures a message that is kept in PostgreSQL, beside an insert of the same row into a table
// with the same indexes, each committed by itself.
func inDatabase(ctx context.Context, b bench) ([]Row, error) {
	const name = "append in PostgreSQL"
	url := os.Getenv(databaseVariable)
	if url == "" {
		return []Row{{Name: name, Unit: "ms", Note: "not measured: " + databaseVariable + " names no database"}}, nil
	}
	s, err := store.Open(ctx, store.Config{Directory: b.dir, URL: field.Secret(url), Log: silent})
	if err != nil {
		return nil, err
	}
	o, p, err := b.besideInsert(ctx, s, url)
	return []Row{row(name, "ms", o, p, "with its index of words; the bare one is the row alone").goal("p50", o.P50, 1.5*p.P50)}, errors.Join(err, s.Close())
}

// besideInsert measures both.
func (b bench) besideInsert(ctx context.Context, s *store.Store, url string) (o, p Spread, err error) {
	server, err := postgres.NewConnector(url)
	if err != nil {
		return o, p, err
	}
	db := server.OpenReaders(1)
	defer db.Close()
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS bare; CREATE TABLE bare (LIKE journal INCLUDING ALL)"); err != nil {
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
