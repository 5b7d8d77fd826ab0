package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"earshot"
	"earshot/store"
)

// line returns a message as people write them.
func line(i int) earshot.Event {
	return said(earshot.Text(fmt.Sprintf("message %d says that the tide number %d comes in at the harbour, and goes out again", i, i%977)))
}

// BenchmarkBareCommit is the baseline for the others: it commits one small row, forced to the disk
// with the same pragmas.
func BenchmarkBareCommit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bare.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=secure_delete(1)")
	must(b, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(b.Context(), "CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT)")
	must(b, err)
	insert, err := db.PrepareContext(b.Context(), "INSERT INTO bare (text) VALUES (?)")
	must(b, err)
	text := strings.Repeat("a", 300)
	for b.Loop() {
		_, err := insert.ExecContext(b.Context(), text)
		must(b, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, store.Config{})
	i := 0
	for b.Loop() {
		i++
		add(b, s, line(i))
	}
}

func BenchmarkAppend16Writers(b *testing.B) {
	s := open(b, store.Config{})
	var i atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Append(b.Context(), line(int(i.Add(1)))); err != nil {
				b.Error(err)
			}
		}
	})
}

// filled returns a store with 100,000 messages in it.
func filled(b *testing.B) *store.Store {
	const messages = 100_000
	s := open(b, store.Config{})
	for from := 0; from < messages; from += 1000 {
		events := make([]earshot.Event, 1000)
		for i := range events {
			events[i] = line(from + i)
		}
		add(b, s, events...)
	}
	return s
}

func BenchmarkRead(b *testing.B) {
	s := filled(b)
	r := s.For(everybody)
	for _, bb := range []struct {
		name string
		ask  func() ([]earshot.Event, error)
	}{
		{"Events", func() ([]earshot.Event, error) { return r.Events(b.Context(), 50_000, 50) }},
		{"Last", func() ([]earshot.Event, error) {
			return r.Last(b.Context(), []earshot.Kind{earshot.KindMessage, earshot.KindReply}, 50)
		}},
		{"SearchRareWord", func() ([]earshot.Event, error) { return r.Search(b.Context(), "54321", 20) }},
		{"SearchWord", func() ([]earshot.Event, error) { return r.Search(b.Context(), "321", 20) }},
		{"SearchCommonWord", func() ([]earshot.Event, error) { return r.Search(b.Context(), "tide", 20) }},
		{"SearchCommonWords", func() ([]earshot.Event, error) { return r.Search(b.Context(), "harbour tide again", 20) }},
		{"DeleteOne", func() ([]earshot.Event, error) {
			last, err := r.Last(b.Context(), []earshot.Kind{earshot.KindMessage}, 1)
			must(b, err)
			_, err = s.Delete(b.Context(), last[0].ID)
			return last, err
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if got, err := bb.ask(); err != nil || len(got) == 0 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}

// BenchmarkOpenAfterKill checks a whole file of 100,000 messages.
func BenchmarkOpenAfterKill(b *testing.B) {
	s := filled(b)
	directory := filepath.Dir(s.Path())
	must(b, s.Close())
	for b.Loop() {
		s, err := store.Open(b.Context(), store.Config{Directory: directory})
		must(b, err)
		s.Distrust()
		must(b, s.Close())
	}
}
