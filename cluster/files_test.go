package cluster_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"earshot/cluster"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
)

// A folder is the data directory of a member.
type folder struct {
	t *testing.T
	cluster.Files
}

func (f *folder) sync() {
	f.t.Helper()
	if err := f.Sync(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// has checks what a file holds; "" means that there is none.
func (f *folder) has(name, want string) {
	f.t.Helper()
	got, err := os.ReadFile(filepath.Join(f.Dir, name))
	if string(got) != want || (err != nil) != (want == "") {
		f.t.Errorf("%s has %q, %v; want %q", name, got, err, want)
	}
	if is, err := os.Stat(filepath.Join(f.Dir, name)); err == nil && is.Mode().Perm()&0o077 != 0 {
		f.t.Errorf("others may read %s", name)
	}
}

// TestFiles: what the first member has is everybody's, a change at one comes to the others, and of two
// changes at the same time one stands.
func TestFiles(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	db := open(t, url)
	leases(t, db, "a.1")
	member := func() *folder {
		return &folder{t, cluster.Files{DB: db, Dir: t.TempDir(), Names: []string{"tokens.json", "bus.pem"}, Log: slog.New(slog.DiscardHandler)}}
	}
	a, b := member(), member()
	a.write("tokens.json", "first")
	b.write("bus.pem", "key")
	a.sync()
	b.write("tokens.json", "another")
	for range 2 {
		b.sync()
		a.sync()
	}
	for _, f := range []*folder{a, b} {
		f.has("tokens.json", "first")
		f.has("bus.pem", "key")
	}
	b.write("tokens.json", "second")
	b.sync()
	a.sync()
	a.has("tokens.json", "second")

	a.write("tokens.json", "of a")
	b.write("tokens.json", "of b")
	a.sync()
	b.sync()
	a.sync()
	a.has("tokens.json", "of a")
	b.has("tokens.json", "of a")

	if err := os.Remove(filepath.Join(b.Dir, "tokens.json")); err != nil { // by mistake
		t.Fatal(err)
	}
	b.sync()
	b.has("tokens.json", "of a")
	late := member()
	late.sync()
	late.has("bus.pem", "key")

	late.write("tokens.json", "of somebody else")
	if err := os.Chmod(filepath.Join(late.Dir, "tokens.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := late.Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "can be changed by others") {
		t.Errorf("a file that others can write: %v", err)
	}
	a.sync()
	a.has("tokens.json", "of a")

	for _, f := range []*folder{a, b} {
		f.Names = append(f.Names, "words")
		f.Merge = map[string]func(here, there []byte) ([]byte, error){"words": func(here, there []byte) ([]byte, error) {
			words := append(strings.Fields(string(here)), strings.Fields(string(there))...)
			slices.Sort(words)
			return []byte(strings.Join(slices.Compact(words), " ")), nil
		}}
	}
	a.write("words", "one two")
	b.write("words", "three two")
	for range 2 {
		a.sync()
		b.sync()
	}
	a.sync()
	for _, f := range []*folder{a, b} {
		f.has("words", "one three two")
	}
	a.write("words", "one")
	a.sync()
	b.sync()
	b.has("words", "one")

	var starting sync.WaitGroup
	all, begin := make([]*folder, 5), make(chan struct{})
	for i := range all { // all have a file that the others do not know, and ask once
		all[i] = member()
		all[i].DB = open(t, url)
		if err := all[i].DB.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		all[i].Names = []string{"new"}
		all[i].write("new", string(rune('a'+i)))
		starting.Go(func() {
			<-begin
			if err := all[i].Sync(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	testkit.Finish(t, testkit.Patience, "all have begun", starting.Wait)
	first, _ := os.ReadFile(filepath.Join(all[0].Dir, "new"))
	for _, f := range all {
		f.has("new", string(first))
	}
}
