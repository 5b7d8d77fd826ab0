package logfile

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"earshot/internal/testkit"
)

// bounded opens a log of at most so many bytes in a folder of its own, and returns its path.
func bounded(t *testing.T, most int64, had string) (b *File, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "earshot.log")
	if had != "" {
		if err := os.WriteFile(path, []byte(had), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, b, err := Open(Config{File: path, Level: "info"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	b.most = most
	b.mu.Lock()
	b.writes(b.file)
	b.mu.Unlock()
	return b, path
}

// logged returns the contents of a log, and of the one before it.
func logged(t *testing.T, path string) (now, before string) {
	t.Helper()
	for name, into := range map[string]*string{path: &now, path + ".1": &before} {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		*into = string(data)
	}
	return now, before
}

// TestLogIsBounded: a full log is put aside with whole lines, and replaces the one before. There
// are never more than these two.
func TestLogIsBounded(t *testing.T) {
	b, path := bounded(t, 1000, "")
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for range 250 {
				fmt.Fprintf(b, "%s\n", strings.Repeat("x", 39))
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "the end of what is written", writing.Wait)
	now, before := logged(t, path)
	if len(now) == 0 || len(now) > 1000 || len(before) != 1000 {
		t.Errorf("there are %d bytes, and %d before", len(now), len(before))
	}
	for _, line := range strings.Split(strings.TrimSpace(before+now), "\n") {
		if line != strings.Repeat("x", 39) {
			t.Fatalf("a line is %q", line)
		}
	}
	there, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(there) != 2 {
		t.Errorf("there are %v, %v", there, err)
	}
	for _, f := range there {
		if about, err := f.Info(); err != nil || about.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", f.Name(), about.Mode(), err)
		}
	}
}

// TestFullLog: what happens to a full log.
func TestFullLog(t *testing.T) {
	full := strings.Repeat("o", 99) + "\n"
	write := func(t *testing.T, b *File, line string) {
		t.Helper()
		if _, err := io.WriteString(b, line); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("from before", func(t *testing.T) {
		b, path := bounded(t, 100, full)
		write(t, b, "new\n")
		if now, before := logged(t, path); now != "new\n" || before != full {
			t.Errorf("there are %q and %q", now, before)
		}
	})
	t.Run("a line that is longer", func(t *testing.T) {
		b, path := bounded(t, 50, "")
		write(t, b, full)
		write(t, b, "new\n")
		if now, before := logged(t, path); now != "new\n" || before != full {
			t.Errorf("there are %q and %q", now, before)
		}
	})
	t.Run("put aside by somebody else", func(t *testing.T) {
		b, path := bounded(t, 100, full)
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("theirs\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, b, "new\n")
		if now, before := logged(t, path); now != "theirs\nnew\n" || before != "" {
			t.Errorf("there are %q and %q", now, before)
		}
	})
	t.Run("that a link leads to", func(t *testing.T) {
		b, path := bounded(t, 100, full)
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		move, err := b.MoveTo(Config{File: link, Level: "info"})
		if err != nil {
			t.Fatal(err)
		}
		move()
		write(t, b, "new\n")
		if now, before := logged(t, path); now != "new\n" || before != full {
			t.Errorf("there are %q and %q", now, before)
		}
		if there, err := os.Readlink(link); err != nil || there != path {
			t.Errorf("the link leads to %q, %v", there, err)
		}
	})
	t.Run("that cannot be put aside", func(t *testing.T) {
		b, path := bounded(t, 100, full)
		if err := os.MkdirAll(filepath.Join(path+".1", "taken"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, b, "new\n")
		write(t, b, "newer\n")
		if data, err := os.ReadFile(path); err != nil || string(data) != full+"new\nnewer\n" {
			t.Errorf("there is %q, %v", data, err)
		}
	})
	t.Run("the standard error", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		log, b, err := Open(Config{File: "-", Level: "info"}, out)
		if err != nil {
			t.Fatal(err)
		}
		b.most = 10
		log.Info("one", slog.Int("n", 1))
		log.Info("two")
		if now, before := logged(t, path); strings.Count(now, "\n") != 2 || before != "" {
			t.Errorf("there are %q and %q", now, before)
		}
	})
}

// TestNoPlaceForALog: a place where writing would wait for others is refused at once, and the log
// goes on where it was.
func TestNoPlaceForALog(t *testing.T) {
	fifo := func(t *testing.T, path string) {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name  string
		place func(t *testing.T, path string)
		want  string // a part of the error; empty if it is a place
	}{
		{"a pipe that nobody reads", fifo, "is a named pipe"},
		{"a pipe that somebody reads", func(t *testing.T, path string) {
			fifo(t, path)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
		}, "is a named pipe"},
		{"a link to a pipe", func(t *testing.T, path string) {
			fifo(t, path+".pipe")
			if err := os.Symlink(path+".pipe", path); err != nil {
				t.Fatal(err)
			}
		}, "is a named pipe"},
		{"a socket", func(t *testing.T, path string) {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, "is a socket"},
		{"a directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
		{"a device", func(t *testing.T, path string) {
			if err := os.Symlink(os.DevNull, path); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, path := bounded(t, 1000, "")
			is := filepath.Join(filepath.Dir(path), "is") // the path of a socket must be short
			t.Chdir(filepath.Dir(path))
			tt.place(t, "is")
			move, err := b.MoveTo(Config{File: is, Level: "info"})
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				move()
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), is) {
				t.Fatalf("it says %v, want %q", err, tt.want)
			}
			if no, ok := errors.AsType[*PlaceError](err); !ok || !strings.Contains(no.Cure(), "log.file") {
				t.Errorf("it is a %T: %[1]v", err)
			}
			fmt.Fprintln(b, "still here")
			if now, _ := logged(t, path); now != "still here\n" {
				t.Errorf("the log is %q", now)
			}
		})
	}
}
