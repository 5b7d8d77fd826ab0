package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"earshot"
	"earshot/store"
)

// A disk fails from some write on, like one that is pulled out: all later requests of SQLite have
// no effect. It sits between SQLite and the file system of the process.
type disk struct {
	left    atomic.Int64 // writes left before it fails; negative: it never fails
	methods sync.Map     // by the address of our methods for a file, the address of the system's methods
	base    uintptr      // the address of the process's file system
}

// broken is the only disk of the test process, because SQLite calls functions, not closures.
var broken disk

// install puts the disk in front of the file system, for good. It does nothing until it is told to
// fail.
var install = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	broken.left.Store(-1)
	broken.base = sqlite3.Xsqlite3_vfs_find(tls, 0)
	shim := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	vfs := at[sqlite3.Tsqlite3_vfs](shim)
	*vfs = *at[sqlite3.Tsqlite3_vfs](broken.base)
	name, err := libc.CString("broken")
	if err != nil {
		panic(err)
	}
	vfs.FzName, vfs.FpNext = name, 0
	vfs.FxOpen, vfs.FxDelete = address(openFile), address(deleteFile)
	if code := sqlite3.Xsqlite3_vfs_register(tls, shim, 1); code != sqlite3.SQLITE_OK {
		panic(fmt.Sprint("registering a file system: ", code))
	}
})

// at returns a pointer to memory outside Go's heap.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// address returns the address of a function, as SQLite's code expects it.
func address(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// function returns the function at an address.
func function[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ uintptr }{address}))
}

// fails reports whether the next write fails.
func (d *disk) fails() bool {
	for {
		left := d.left.Load()
		if left <= 0 {
			return left == 0
		}
		if d.left.CompareAndSwap(left, left-1) {
			return false
		}
	}
}

func openFile(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	open := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](broken.base).FxOpen)
	code := open(tls, broken.base, name, file, flags, out)
	had := *at[uintptr](file)
	if code != sqlite3.SQLITE_OK || had == 0 {
		return code
	}
	mine, ok := broken.methods.Load(^had) // made for an earlier file
	if !ok {
		m := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		methods := at[sqlite3.Tsqlite3_io_methods](m)
		*methods = *at[sqlite3.Tsqlite3_io_methods](had)
		methods.FxWrite, methods.FxTruncate, methods.FxSync = address(writeFile), address(truncateFile), address(syncFile)
		broken.methods.Store(m, had)
		broken.methods.Store(^had, m)
		mine = m
	}
	*at[uintptr](file) = mine.(uintptr)
	return code
}

// system returns the system's own methods for a file.
func system(file uintptr) *sqlite3.Tsqlite3_io_methods {
	had, _ := broken.methods.Load(*at[uintptr](file))
	return at[sqlite3.Tsqlite3_io_methods](had.(uintptr))
}

func writeFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	if broken.fails() {
		return sqlite3.SQLITE_IOERR | 3<<8 // SQLITE_IOERR_WRITE
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](system(file).FxWrite)(tls, file, data, n, offset)
}

func truncateFile(tls *libc.TLS, file uintptr, size int64) int32 {
	if broken.fails() {
		return sqlite3.SQLITE_IOERR | 6<<8
	}
	return function[func(*libc.TLS, uintptr, int64) int32](system(file).FxTruncate)(tls, file, size)
}

func syncFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	if broken.fails() {
		return sqlite3.SQLITE_IOERR | 4<<8
	}
	return function[func(*libc.TLS, uintptr, int32) int32](system(file).FxSync)(tls, file, flags)
}

func deleteFile(tls *libc.TLS, _, name uintptr, sync int32) int32 {
	if broken.fails() {
		return sqlite3.SQLITE_IOERR | 10<<8
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](broken.base).FxDelete)(tls, broken.base, name, sync)
}

// failing calls do on a disk that fails from the first write on, then on one that fails after each
// more writes, and so on, until do ends before the failure. After each call it calls then, on a
// disk that works.
func failing(t *testing.T, each int, do func() error, then func(n int, err error)) (writes int) {
	t.Helper()
	install()
	defer broken.left.Store(-1)
	for n := 0; n < 100_000; n += each {
		broken.left.Store(int64(n))
		err := do()
		unheard := broken.left.Swap(-1) > 0
		then(n, err)
		if err == nil && unheard {
			return n
		}
	}
	t.Fatal("there is no end of writes")
	return 0
}

// TestImportFails: if any write of an import fails, and all after it, either nothing of the import
// is there or all of it, and it can be tried again.
func TestImportFails(t *testing.T) {
	from := fresh(t, filepath.Join(t.TempDir(), "a"))
	add(t, from, numbered(60)...)
	_, err := from.Delete(t.Context(), everything(t, from)[7].ID)
	must(t, err)
	export := exported(t, from)
	want := "mine|" + texts(everything(t, from))
	directory := ""
	failing(t, 1, func() error {
		left := broken.left.Swap(-1)
		directory = t.TempDir()
		s, err := store.Open(t.Context(), store.Config{Directory: directory})
		must(t, err)
		add(t, s, said("mine"))
		broken.left.Store(left)
		_, err = s.Import(t.Context(), bytes.NewReader(export), false)
		s.Close() // may fail, too
		return err
	}, func(n int, err error) {
		s, again := store.Open(t.Context(), store.Config{Directory: directory})
		if again != nil {
			t.Fatalf("after %d writes it is not opened: %v", n, again)
		}
		switch got := texts(everything(t, s)); {
		case err != nil && !errors.Is(err, store.ErrFull):
			t.Fatalf("after %d writes: %v", n, err)
		case got != want && (err == nil || got != "mine"):
			t.Fatalf("after %d writes (%v) there is %s", n, err, got)
		}
		if _, err := s.Import(t.Context(), bytes.NewReader(export), false); err != nil || texts(everything(t, s)) != want {
			t.Fatalf("after %d writes it is not imported: %v", n, err)
		}
		must(t, s.Close())
		must(t, os.RemoveAll(directory))
	})
}

// TestBackupFails: if any write of a backup fails, no backup is left, and the journal goes on.
func TestBackupFails(t *testing.T) {
	s := fresh(t, filepath.Join(t.TempDir(), "a"))
	add(t, s, numbered(20)...)
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: filepath.Dir(s.Path())})
	must(t, err)
	defer archive.Close()
	path := filepath.Join(t.TempDir(), "backup")
	failing(t, 1, func() error { return archive.Backup(context.WithoutCancel(t.Context()), path) }, func(n int, err error) {
		_, there := os.Stat(path)
		if (err == nil) != (there == nil) {
			t.Fatalf("after %d writes: %v, %v", n, err, there)
		}
		if left, _ := filepath.Glob(path + "*"); err != nil && len(left) > 0 {
			t.Fatalf("after %d writes there is %s", n, left)
		}
		os.Remove(path)
	})
	add(t, s, said("and on"))
}

// TestRestoreFails: if any write of a restore fails, and all after it, the journal is the old one
// or the restored one, complete and without what was erased since the backup. The restore can be
// tried again.
func TestRestoreFails(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a")
	s, err := store.Open(t.Context(), store.Config{Directory: a})
	must(t, err)
	add(t, s, numbered(20)...)
	add(t, s, by("ann", "ann", earshot.Message{Text: "xylophone"}))
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: a})
	must(t, err)
	backup := filepath.Join(t.TempDir(), "backup")
	must(t, archive.Backup(t.Context(), backup))
	must(t, archive.Close())
	_, err = s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{"ann"}}, nil)
	must(t, err)
	add(t, s, said("since"))
	before := texts(everything(t, s))
	must(t, s.Close())
	whole, err := os.ReadFile(filepath.Join(a, "earshot.db"))
	must(t, err)
	after := strings.TrimSuffix(before, "|since")

	c := store.Config{}
	failing(t, 1, func() error {
		c.Directory = t.TempDir()
		must(t, os.WriteFile(filepath.Join(c.Directory, "earshot.db"), whole, 0o600))
		_, err := store.Restore(t.Context(), c, backup, true)
		return err
	}, func(n int, err error) {
		s, again := store.Open(t.Context(), c)
		if again != nil {
			t.Fatalf("after %d writes it is not opened: %v", n, again)
		}
		if got := texts(everything(t, s)); got != after && (err == nil || got != before) {
			t.Fatalf("after %d writes (%v) there is %s", n, err, got)
		}
		if found, err := s.For(everybody).Search(t.Context(), "xylophone", 9); err != nil || len(found) > 0 {
			t.Fatalf("after %d writes the search finds %s, %v", n, texts(found), err)
		}
		must(t, s.Close())
		if _, err := store.Restore(t.Context(), c, backup, true); err != nil {
			t.Fatalf("after %d writes it is not restored: %v", n, err)
		}
		must(t, os.RemoveAll(c.Directory))
	})
}

// TestSalvageFails: if any write of a salvage fails, and all after it, the next start has
// everything that can be read.
func TestSalvageFails(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a")
	s, err := store.Open(t.Context(), store.Config{Directory: a})
	must(t, err)
	add(t, s, numbered(20)...)
	want := texts(everything(t, s))
	must(t, s.Close())
	whole, err := os.ReadFile(filepath.Join(a, "earshot.db"))
	must(t, err)
	copy(whole, "no journal at all")

	directory := ""
	failing(t, 1, func() error {
		directory = t.TempDir()
		must(t, os.WriteFile(filepath.Join(directory, "earshot.db"), whole, 0o600))
		s, err := store.Open(t.Context(), store.Config{Directory: directory})
		if err == nil {
			err = s.Close()
		}
		return err
	}, func(n int, _ error) {
		s, err := store.Open(t.Context(), store.Config{Directory: directory})
		if err != nil {
			t.Fatalf("after %d writes it is not opened: %v", n, err)
		}
		if got := texts(everything(t, s)); got != want {
			t.Fatalf("after %d writes there is %q", n, got)
		}
		must(t, s.Close())
		must(t, os.RemoveAll(directory))
	})
}

// TestCleanFails: the file is replaced by a copy without traces. If any write of that fails, and
// all after it, everything else that was said is still there, and the next start removes the
// traces.
func TestCleanFails(t *testing.T) {
	directory := ""
	writes := failing(t, 1, func() error {
		left := broken.left.Swap(-1)
		directory = t.TempDir()
		s, err := store.Open(t.Context(), store.Config{Directory: directory})
		must(t, err)
		add(t, s, numbered(20)...)
		add(t, s, by("ann", "ann", earshot.Message{Text: "xylophone"}))
		_, err = s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{"ann"}}, nil)
		must(t, err)
		broken.left.Store(left)
		err = s.Clean(t.Context())
		broken.left.CompareAndSwap(0, -1)
		if err != nil { // now on a working disk
			add(t, s, said("and on"))
		}
		s.Close()
		return err
	}, func(n int, err error) {
		s, again := store.Open(t.Context(), store.Config{Directory: directory})
		if again != nil {
			t.Fatalf("after %d writes it is not opened: %v", n, again)
		}
		got := texts(everything(t, s))
		if want := texts(numbered(20)) + "|erased"; strings.TrimSuffix(got, "|and on") != want || (err != nil) != strings.HasSuffix(got, "|and on") {
			t.Fatalf("after %d writes (%v) there is %s", n, err, got)
		}
		must(t, s.Clean(t.Context()))
		if found := traces(t, directory, []string{"xylophone"}); len(found) > 0 {
			t.Fatalf("after %d writes there are traces: %s", n, found)
		}
		must(t, s.Close())
		must(t, os.RemoveAll(directory))
	})
	if writes < 10 {
		t.Errorf("there were only %d writes", writes)
	}
}
