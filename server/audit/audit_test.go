package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/server/audit"
)

// start is the time at which the tests begin.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// open opens a log in a folder of its own.
func open(t *testing.T, report func(error)) (*audit.Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a", "audit.log")
	l, err := audit.Open(path, report)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

func every(audit.Entry) bool { return true }

func TestLog(t *testing.T) {
	l, path := open(t, nil)
	done := audit.Entry{At: start, Who: "ann", From: "uid1000", Method: "POST", Route: "/v1/messages", Status: 200, Changed: "message"}
	refused := audit.Entry{At: start, From: "127.0.0.1", Method: "GET", Status: 401}
	l.Write(done)
	l.Write(refused)
	all, err := audit.Last(path, 10, every)
	if err != nil || len(all) != 2 || all[0] != done || all[1] != refused {
		t.Errorf("written are %+v, %v", all, err)
	}
	if all, err = audit.Last(path, 1, audit.Entry.Refused); err != nil || len(all) != 1 || all[0] != refused {
		t.Errorf("refused are %+v, %v", all, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if all, err = audit.Last(path+"x", 1, every); len(all) != 0 || err != nil {
		t.Errorf("of no file: %v, %v", all, err)
	}
}

// TestABoundOfFiles: however much is written, the files together stay within a bound, and have the
// newest entries in order.
func TestABoundOfFiles(t *testing.T) {
	l, path := open(t, nil)
	const many = 60_000
	for n := range many {
		l.Write(audit.Entry{At: start.Add(time.Duration(n)), Who: "ann", From: "uid1000", Method: "POST", Route: "/v1/messages", Status: 200, Changed: "message"})
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 5 {
		t.Fatalf("there are %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > 1<<20 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes, %v", f, info.Size(), err)
		}
	}
	all, err := audit.Last(path, 1<<30, every)
	if err != nil || len(all) < 20_000 {
		t.Fatalf("%d are left, %v", len(all), err)
	}
	for i, e := range all {
		if want := start.Add(time.Duration(many - len(all) + i)); !e.At.Equal(want) {
			t.Fatalf("entry %d is of %v, want %v", i, e.At, want)
		}
	}
}

// TestAFlood: a flood of refused requests does not push out what was written before, and their
// number is recorded.
func TestAFlood(t *testing.T) {
	l, path := open(t, nil)
	l.Write(audit.Entry{At: start, Who: "ann", From: "uid1000", Method: "POST", Status: 200, Changed: "message"})
	const many = 100_000
	for n := range many {
		l.Write(audit.Entry{At: start.Add(time.Duration(n) * 100 * time.Microsecond), From: "127.0.0.1", Method: "GET", Status: 401})
	}
	l.Write(audit.Entry{At: start.Add(time.Hour), Who: "ann", From: "uid1000", Method: "POST", Status: 200, Changed: "message"})
	all, err := audit.Last(path, 1<<30, every)
	if err != nil || len(all) > 200 || all[0].Changed != "message" {
		t.Fatalf("%d are written, %v", len(all), err)
	}
	counted := 0
	for _, e := range all {
		counted += 1 + e.Missing
	}
	if counted != many+2 {
		t.Errorf("%d are accounted for", counted)
	}
}

// TestReadsThroughDamage: lines damaged by a crash or by somebody else hide no other entry.
func TestReadsThroughDamage(t *testing.T) {
	l, path := open(t, nil)
	l.Write(audit.Entry{At: start, From: "uid1", Status: 200, Changed: "x"})
	l.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "{\"time\":\nnull\n[]\n\x00\xff\n{}\n", strings.Repeat("y", 1000), "\n")
	f.Close()
	again, err := audit.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Write(audit.Entry{At: start, From: "uid2", Status: 200, Changed: "x"})
	all, err := audit.Last(path, 10, every)
	if err != nil || len(all) != 2 || all[1].From != "uid2" {
		t.Errorf("read %+v, %v", all, err)
	}
}

// TestItIsSaidOnce: a log that cannot be written reports that once, and writes again as soon as it
// can.
func TestItIsSaidOnce(t *testing.T) {
	var said []error
	l, path := open(t, func(err error) { said = append(said, err) })
	l.Close()
	dir := filepath.Dir(path)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	e := audit.Entry{At: start, From: "uid1", Status: 200, Changed: "x"}
	l.Write(e)
	l.Write(e)
	if len(said) != 1 {
		t.Errorf("said %v", said)
	}
	if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	l.Write(e)
	if all, err := audit.Last(path, 10, every); len(all) != 1 || err != nil || len(said) != 1 {
		t.Errorf("written are %v, %v; said %v", all, err, said)
	}
}

func TestManyAtOnce(t *testing.T) {
	l, path := open(t, nil)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 200 {
				l.Write(audit.Entry{At: start, From: fmt.Sprint("uid", n), Status: 200, Changed: "x"})
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "the entries", all.Wait)
	if some, err := audit.Last(path, 1<<30, every); err != nil || len(some) != 1600 {
		t.Errorf("%d are written, %v", len(some), err)
	}
}

// TestMove: the log goes on in the new place, or stays in the old one if the new one does not work.
func TestMove(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "audit.log"), filepath.Join(t.TempDir(), "more", "audit.log")
	l, err := audit.Open(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, step := range []struct {
		to   string
		ok   bool
		many map[string]int
	}{
		{first, true, map[string]int{first: 1}},
		{second, true, map[string]int{first: 1, second: 1}},
		{filepath.Join(second, "below"), false, map[string]int{first: 1, second: 2}},
		{first, true, map[string]int{first: 2, second: 2}},
	} {
		if err := l.Move(step.to); (err == nil) != step.ok {
			t.Errorf("moved to %s: %v", step.to, err)
		}
		l.Write(audit.Entry{At: time.Now(), From: "uid1", Method: "POST", Status: 200, Changed: "a message"})
		for path, want := range step.many {
			if all, err := audit.Last(path, 10, func(audit.Entry) bool { return true }); err != nil || len(all) != want {
				t.Errorf("after %s, %s has %d entries, want %d (%v)", step.to, path, len(all), want, err)
			}
		}
	}
}
