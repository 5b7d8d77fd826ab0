package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"earshot/config"
	"earshot/internal/testkit"
)

// soon is how long a machine that is busy may take.
const soon = 30 * time.Second

// A watched file is read whenever it is said to have changed.
type watched struct {
	t     *testing.T
	path  string
	level atomic.Value // as it was read last; "faulty" if it could not be
	reads atomic.Int64
}

// watch watches path until the test ends.
func watch(t *testing.T, path string) *watched {
	w := &watched{t: t, path: path}
	w.read()
	ctx, stop := context.WithCancel(t.Context())
	var life sync.WaitGroup
	life.Go(func() {
		if err := config.Watch(ctx, path, w.read); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of the watch", life.Wait)
	})
	// It is not known from outside since when it is watched.
	testkit.Await(t, soon, "the first look", func() bool {
		if w.reads.Load() > 1 {
			return true
		}
		_ = os.Chtimes(path, time.Now(), time.Now())
		return false
	})
	return w
}

func (w *watched) read() {
	level := "faulty"
	if c, err := config.Load(w.path); err == nil {
		level = c.Log.Level
	}
	w.level.Store(level)
	w.reads.Add(1)
}

func (w *watched) is(level string) {
	w.t.Helper()
	testkit.Await(w.t, soon, "the level "+level, func() bool { return w.level.Load() == level })
}

// level writes a file with that level of the log.
func level(t *testing.T, path, is string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("log:\n  level: "+is+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWatch: a file is written over, replaced as editors do, removed, and comes again.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	level(t, path, "info")
	w := watch(t, path)
	level(t, path, "warn")
	w.is("warn")

	beside := filepath.Join(dir, ".config.yaml.swp")
	level(t, beside, "error")
	must(t, os.Rename(beside, path))
	w.is("error")

	must(t, os.Rename(path, path+"~")) // moved aside, and written anew
	level(t, path, "debug")
	w.is("debug")

	must(t, os.Remove(path))
	w.is("faulty")
	level(t, path, "info")
	w.is("info")

	must(t, os.RemoveAll(dir))
	w.is("faulty")
	must(t, os.MkdirAll(dir, 0o700))
	level(t, path, "warn")
	w.is("warn")
}

// TestWatchMounted: a configuration that is mounted is a link into a folder that is a
// link, too, and which is exchanged as a whole.
func TestWatchMounted(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "..1"), 0o700))
	level(t, filepath.Join(dir, "..1", "config.yaml"), "info")
	must(t, os.Symlink("..1", filepath.Join(dir, "..data")))
	must(t, os.Symlink(filepath.Join("..data", "config.yaml"), filepath.Join(dir, "config.yaml")))
	w := watch(t, filepath.Join(dir, "config.yaml"))
	for n, is := range []string{"warn", "error", "debug"} {
		folder := fmt.Sprintf("..%d", n+2)
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
		level(t, filepath.Join(dir, folder, "config.yaml"), is)
		must(t, os.Symlink(folder, filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		must(t, os.RemoveAll(filepath.Join(dir, fmt.Sprintf("..%d", n+1))))
		w.is(is)
	}
}

// TestWatchLinked: the file that a link leads to is in another folder, and is written
// there; then the link leads elsewhere.
func TestWatchLinked(t *testing.T) {
	dir, one, other := t.TempDir(), t.TempDir(), t.TempDir()
	level(t, filepath.Join(one, "my.yaml"), "info")
	level(t, filepath.Join(other, "my.yaml"), "error")
	path := filepath.Join(dir, "config.yaml")
	must(t, os.Symlink(filepath.Join(one, "my.yaml"), path))
	w := watch(t, path)
	level(t, filepath.Join(one, "my.yaml"), "warn")
	w.is("warn")
	must(t, os.Symlink(filepath.Join(other, "my.yaml"), path+".new"))
	must(t, os.Rename(path+".new", path))
	w.is("error")
	level(t, filepath.Join(other, "my.yaml"), "debug")
	w.is("debug")
}

// TestWatchEdits: of a hundred edits in a row, some of them faulty, the last one holds.
func TestWatchEdits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	level(t, path, "info")
	w := watch(t, path)
	for round := range 5 {
		for edit := range 99 {
			level(t, path, []string{"debug", "no level", "warn", ""}[edit%4])
		}
		last := []string{"error", "info"}[round%2]
		level(t, path, last)
		w.is(last)
	}
}
