package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver, for the bare commit

	"earshot"
	"earshot/executive"
)

const (
	turns = 300 // of history in the journal
	// recall is how much of it the daemon goes on from, as in cmd/earshot.
	recall = 256
)

// overhead measures B4, from a message to the first byte of its answer at the
// outlet, with a model that takes no time and a past. The message and what was
// decided about it are on the disk by then. The bare thing is one small row
// committed by SQLite with the same pragmas in the same directory.
func overhead(ctx context.Context, b bench) ([]Row, error) {
	memory, err := b.answer(ctx, "in memory", sink{})
	if err != nil {
		return nil, err
	}
	s, err := openScreen()
	if err != nil {
		return memory, err
	}
	console, err := b.answer(ctx, "console on a pty", s)
	return append(memory, console...), errors.Join(err, s.Close())
}

// answer measures one outlet.
func (b bench) answer(ctx context.Context, name string, o earshot.Outlet) (rows []Row, err error) {
	directory := "overhead-" + o.Name()
	s, err := b.openStore(ctx, directory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := live(ctx, s, turns); err != nil {
		return nil, err
	}
	past, err := s.For(around).Last(ctx, nil, recall)
	if err != nil {
		return nil, err
	}
	bare, err := openBare(filepath.Join(b.dir, directory, "bare.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	h := open(ctx, furniture{model: ladder(&engine{pieces: 1}), journal: s, outlet: o, past: past, settings: executive.DefaultConfig()})
	defer h.leave()

	ours, commit, err := b.compare(
		func() ([]float64, error) { return firstByte(ctx, h) },
		func() ([]float64, error) { return commitBare(ctx, bare) })
	if err != nil {
		return nil, err
	}
	beyond := Spread{ours.P50 - commit.P50, ours.P99 - commit.P99, ours.Max - commit.Max}
	return []Row{
		row("B4 text → first output, "+name, "µs", ours, commit, ""),
		Row{Name: "B4 beyond the commit, " + name, Unit: "µs", Ours: beyond}.goal("p50", beyond.P50, 500),
	}, nil
}

// firstByte asks something, and returns when its answer begins to be heard. It
// leaves the house still.
func firstByte(ctx context.Context, h *house) ([]float64, error) {
	at, err := h.say(ctx, "when does the tide come in at the harbour tomorrow?")
	if err != nil {
		return nil, err
	}
	first, err := await("the first of a speech is out", h.first)
	if err != nil {
		return nil, err
	}
	if _, err := await("the speech goes on", h.going); err != nil {
		return nil, err
	}
	return []float64{micros(first.Sub(at))}, h.over()
}

// openBare opens a file of SQLite as the store opens its own.
func openBare(path string) (*sql.DB, error) {
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"temp_store(MEMORY)", "busy_timeout(5000)", "trusted_schema(0)",
		"journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)", "journal_size_limit(33554432)",
	}}
	address := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// commitBare commits one row.
func commitBare(ctx context.Context, db *sql.DB) ([]float64, error) {
	at := time.Now()
	_, err := db.ExecContext(ctx, "INSERT INTO bare (text) VALUES (?)", bareText)
	return []float64{micros(time.Since(at))}, err
}

// bareText is as long as a message is in the journal, with all that belongs to it.
var bareText = strings.Repeat("a", 300)
