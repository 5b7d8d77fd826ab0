package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver, for the bare commit

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/participants"
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
	rows, err := b.answer(ctx, "in memory", sink{}, nil)
	if err != nil {
		return nil, err
	}
	remembering, err := b.answer(ctx, "in memory, with facts", sink{}, b.remember())
	if rows = append(rows, remembering...); err != nil {
		return rows, err
	}
	s, err := openScreen()
	if err != nil {
		return rows, err
	}
	console, err := b.answer(ctx, "console on a pty", s, nil)
	return append(rows, console...), errors.Join(err, s.Close())
}

// remember returns what agents remember of a past, a fact for each ten of its sentences: 100,000 of two
// hundred people, by default.
func (b bench) remember() *memory.Index {
	all, n, is := make([]earshot.Event, 0, b.searched()/10), newPast(1), memory.NewIndex()
	for i := range cap(all) {
		about := earshot.ParticipantID(fmt.Sprint("person", i%200))
		all = append(all, earshot.Event{
			ID: n.id(), Sequence: int64(i + 1), At: n.at, Room: earshot.Desk, Author: participants.Agent, Visibility: earshot.Visibility{Scope: earshot.Public},
			Body: earshot.Fact{Text: n.sentence() + " The tide comes to the harbour.", About: []earshot.ParticipantID{about}, Confidence: 0.9, Since: n.at},
		})
	}
	is.Load(earshot.Desk, all, time.Now())
	return is
}

// answer measures one outlet, of an agent that remembers some facts or nothing.
func (b bench) answer(ctx context.Context, name string, o earshot.Outlet, facts *memory.Index) (rows []Row, err error) {
	directory := "overhead-" + strings.ReplaceAll(name, " ", "-")
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
	h := open(ctx, furniture{model: ladder(&engine{pieces: 1}), journal: s, outlet: o, past: past, settings: executive.DefaultConfig(), memory: facts})
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
