package store_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/store"
)

// A counter is a view of another package, which copies the texts of messages.
type counter struct {
	version int
	broken  error // the error of Apply for the text "broken"
}

func (counter) Name() string   { return "counter" }
func (c counter) Version() int { return c.version }

func (counter) Create(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "CREATE TABLE counter (sequence INTEGER PRIMARY KEY, text TEXT)")
	return err
}

func (counter) Reset(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS counter")
	return err
}

func (c counter) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	m, ok := e.Body.(earshot.Message)
	if !ok {
		_, err := tx.ExecContext(ctx, "DELETE FROM counter WHERE sequence = ?", e.Sequence)
		return err
	}
	if m.Text == "broken" && c.broken != nil {
		return c.broken
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO counter VALUES (?, ?)", e.Sequence, strings.Repeat(string(m.Text), c.version))
	return err
}

// counted returns the content of the view.
func counted(t *testing.T, s *store.Store) (all string) {
	t.Helper()
	_, err := s.Do(t.Context(), func(v earshot.View) ([]earshot.Event, error) {
		return nil, v.QueryRowContext(t.Context(), "SELECT coalesce(group_concat(text, '|' ORDER BY sequence), '') FROM counter").Scan(&all)
	})
	must(t, err)
	return all
}

// TestProjections: the view of another package is kept in step. It is rebuilt when its version
// changes and when it was missing for a while.
func TestProjections(t *testing.T) {
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state")}
	var log strings.Builder
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	with := func(projections ...earshot.Projection) *store.Store {
		c.Projections = projections
		s, err := store.Open(t.Context(), c)
		must(t, err)
		return s
	}
	s := with(counter{version: 1})
	events := add(t, s, said("a"), said("b"))
	if got := counted(t, s); got != "a|b" {
		t.Errorf("version 1 has %s", got)
	}
	_, err := s.Delete(t.Context(), events[0].ID)
	must(t, err)
	must(t, s.Close())

	s = with(counter{version: 2})
	if got := counted(t, s); got != "bb" {
		t.Errorf("version 2 has %s", got)
	}
	must(t, s.Close())
	if strings.Count(log.String(), "rebuilding the views") != 1 || !strings.Contains(log.String(), "views=counter") {
		t.Errorf("of a view that is made again the log says %q", &log)
	}

	s = with()
	add(t, s, said("c"))
	must(t, s.Close())

	s = with(counter{version: 2})
	if got := counted(t, s); got != "bb|cc" {
		t.Errorf("after it was away it has %s", got)
	}
	must(t, s.Rebuild(t.Context()))
	if got := counted(t, s); got != "bb|cc" {
		t.Errorf("made again it has %s", got)
	}
	must(t, s.Close())

	c.Projections = []earshot.Projection{counter{}, counter{}}
	if _, err := store.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), `two views are called "counter"`) {
		t.Errorf("open with two of one name = %v", err)
	}
}

// TestBrokenProjection: an event that a view rejects is not kept, and harms no other event.
func TestBrokenProjection(t *testing.T) {
	broken := errors.New("no")
	s := open(t, store.Config{Projections: []earshot.Projection{counter{1, broken}}})
	if _, err := s.Append(t.Context(), said("a"), said("broken")); !errors.Is(err, broken) || !strings.Contains(err.Error(), "counter") {
		t.Errorf("append = %v", err)
	}
	add(t, s, said("b"))
	if got := texts(everything(t, s)) + " " + counted(t, s); got != "b b" {
		t.Errorf("kept and counted %s", got)
	}
}

// TestProgress: a caller that waits for views to be rebuilt is told of the progress. Nothing is
// told if no view is rebuilt.
func TestProgress(t *testing.T) {
	var told [][2]int64
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state"), Progress: func(done, all int64) { told = append(told, [2]int64{done, all}) }}
	with := func(version int) *store.Store {
		told = nil
		c.Projections = []earshot.Projection{counter{version: version}}
		s, err := store.Open(t.Context(), c)
		must(t, err)
		return s
	}
	s := with(1)
	if len(told) != 0 {
		t.Errorf("of an empty journal it was told %v", told)
	}
	for range 6 {
		var some []earshot.Event
		for range 100 {
			some = append(some, said("a"))
		}
		add(t, s, some...)
	}
	must(t, s.Rebuild(t.Context())) // reports nothing, since its caller waits anyway
	must(t, s.Close())
	must(t, with(1).Close())
	if len(told) != 0 {
		t.Errorf("where nothing was made again it was told %v", told)
	}
	must(t, with(2).Close())
	if want := [][2]int64{{256, 600}, {512, 600}, {600, 600}}; !slices.Equal(told, want) {
		t.Errorf("it was told %v, want %v", told, want)
	}
}
