package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/store"
)

func TestMain(m *testing.M) {
	if directory := os.Getenv(childVariable); directory != "" {
		child(directory)
		return
	}
	goleak.VerifyTestMain(m)
}

// began is the time at which the clock of a test starts.
var began = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// A listener keeps the notices that it gets.
type listener struct {
	mu   sync.Mutex
	told []earshot.Notice
}

func (l *listener) report(n earshot.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, n)
}

// heard returns the notices so far, as "key" or "key over".
func (l *listener) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []string
	for _, n := range l.told {
		key := n.Key
		if n.Over {
			key += " over"
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, ", ")
}

// open opens a store that the test closes, with a clock that never moves.
func open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	if c.Directory == "" {
		c.Directory = filepath.Join(t.TempDir(), "state")
	}
	if c.Now == nil {
		c.Now = func() time.Time { return began }
	}
	s, err := store.Open(t.Context(), store.Indexed(c, 16)) // so few that some events have many tags
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// said returns a public message.
func said(text earshot.Text) earshot.Event {
	return earshot.Event{
		At: began, Room: earshot.Desk, From: earshot.Handle{Provider: "console", ID: "uid1000"}, Author: "ann",
		Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: text},
	}
}

// add appends events and returns them as kept.
func add(t testing.TB, s *store.Store, events ...earshot.Event) []earshot.Event {
	t.Helper()
	kept, err := s.Append(t.Context(), events...)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// everybody is an audience of one at the desk, who sees what is public.
var everybody = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"zoe"}}

// texts returns the texts of messages and replies, and the kinds of other events, in one line.
func texts(events []earshot.Event) string {
	var all []string
	for _, e := range events {
		switch b := e.Body.(type) {
		case earshot.Message:
			all = append(all, string(b.Text))
		case earshot.Reply:
			all = append(all, "reply "+string(b.Delivered()))
		default:
			all = append(all, string(b.Kind()))
		}
	}
	return strings.Join(all, "|")
}

// everything returns the whole journal.
func everything(t testing.TB, s *store.Store) []earshot.Event {
	t.Helper()
	var all []earshot.Event
	for e, err := range s.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// numbered returns n messages with different words.
func numbered(n int) []earshot.Event {
	events := make([]earshot.Event, n)
	for i := range events {
		events[i] = said(earshot.Text(fmt.Sprintf("word%d is the word of message %d", i+1, i+1)))
	}
	return events
}

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// detached returns a context for work that may outlive the test's own.
func detached(t testing.TB) context.Context { return context.WithoutCancel(t.Context()) }
