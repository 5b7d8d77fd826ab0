package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// spoil returns a function that changes a closed journal by SQL statements.
func spoil(statements ...string) func(t *testing.T, directory string) {
	return func(t *testing.T, directory string) {
		t.Helper()
		db, err := sql.Open("sqlite", filepath.Join(directory, "earshot.db"))
		must(t, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		for _, s := range statements {
			_, err := db.ExecContext(t.Context(), s)
			must(t, err)
		}
	}
}

// altered returns a function that changes the bytes of a file of a journal.
func altered(name string, do func([]byte) []byte) func(t *testing.T, directory string) {
	return func(t *testing.T, directory string) {
		t.Helper()
		path := filepath.Join(directory, name)
		data, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, do(data), 0o600))
	}
}

// pageWith returns a function that zeroes the page with a word, or only the second half of that
// page.
func pageWith(word string, half bool) func([]byte) []byte {
	return func(data []byte) []byte {
		at := bytes.Index(data, []byte(word)) / page * page
		if half {
			clear(data[at+page/2 : at+page])
		} else {
			clear(data[at : at+page])
		}
		return data
	}
}

// damages lists ways to damage a journal, with how many of the sample's events may be lost by each.
var damages = []struct {
	name string
	do   func(t *testing.T, directory string)
	most int
	log  bool // applies to the killed sample, which has a log
}{
	{"truncated", altered("earshot.db", func(d []byte) []byte { return d[:len(d)*3/4/page*page] }), 160, false},
	{"truncated within a page", altered("earshot.db", func(d []byte) []byte { return d[:len(d)-page/3] }), 30, false},
	{"torn page", altered("earshot.db", pageWith(`"word45 `, true)), 15, false},
	{"zeroed page", altered("earshot.db", pageWith(`"word45 `, false)), 15, false},
	{"one flipped bit", altered("earshot.db", func(d []byte) []byte { d[bytes.Index(d, []byte(`"word45 `))+2] ^= 4; return d }), 1, false},
	{"header", altered("earshot.db", func(d []byte) []byte { clear(d[:100]); return d }), 15, false},
	{"pages of the index of words", spoil("UPDATE terms_data SET block = zeroblob(length(block)) WHERE id > 10"), 0, false},
	{"structure of the index of words", spoil("UPDATE terms_data SET block = x'00' WHERE id = 10"), 0, false},
	{"rows of the index of words are missing", spoil("DELETE FROM terms_data WHERE id > 10"), 0, false},
	{"index of words is missing", spoil("DROP TABLE terms"), 0, false},
	{"part of the index of words is missing", spoil("DROP TABLE terms_idx"), 0, false},
	{"index is missing", spoil("DROP INDEX journal_room"), 0, false},
	{"table beside the journal is missing", spoil("DROP TABLE members"), 0, false},
	{"view is missing", spoil("DROP TABLE turns"), 0, false},
	{"log torn", altered("earshot.db-wal", func(d []byte) []byte { return d[:len(d)-page/2] }), 160, true},
	{"log zeroed", altered("earshot.db-wal", func(d []byte) []byte { clear(d[len(d)/2:]); return d }), 160, true},
}

// TestMendedByTheStartThatFindsIt: however a journal was damaged and however its last owner ended,
// one start is enough to mend it. Every read meanwhile is right, or an error. Then everything that
// was saved can be read and found, new events can be written, and the next start finds no damage.
func TestMendedByTheStartThatFindsIt(t *testing.T) {
	orderly, killed := take(t, true), take(t, false)
	for _, d := range damages {
		for _, lock := range []string{"closed\n", "1\n", "1\n!"} {
			if d.log && lock == "closed\n" {
				continue
			}
			t.Run(d.name+" "+lock, func(t *testing.T) {
				s := orderly
				if d.log {
					s = killed
				}
				directory := s.lay(t, "lock", []byte(lock))
				d.do(t, directory)
				heard := new(listener)
				st, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
				must(t, err)
				st.Checked()
				n := 0
				testkit.Await(t, 30*time.Second, "all of it to be read, found and written", func() bool {
					n, err = s.use(t, st)
					if err != nil && !errors.Is(err, store.ErrDamaged) {
						t.Fatalf("using it: %v", err)
					}
					return err == nil
				})
				if lost := len(s.events) - n; lost > d.most {
					t.Errorf("%d events were lost", lost)
				}
				must(t, st.Close())
				if said := heard.heard(); strings.Contains(said, "store.damaged") || strings.Count(said, "store.salvaged") > 1 {
					t.Errorf("it said %q", said)
				}
				before := asides(t, directory)
				if (len(before) > 0) != strings.Contains(heard.heard(), "store.salvaged") {
					t.Errorf("set aside %v and said %q", before, heard.heard())
				}
				must(t, os.WriteFile(filepath.Join(directory, "lock"), []byte("1\n!"), 0o600)) // makes the start check everything
				again := open(t, store.Config{Directory: directory, Report: heard.report})
				if _, err := s.use(t, again); err != nil || len(asides(t, directory)) != len(before) {
					t.Errorf("the next start: %v, set aside %v after %v", err, asides(t, directory), before)
				}
			})
		}
	}
}

// asides returns the journals in a directory that were set aside.
func asides(t *testing.T, directory string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(directory, "*.damaged-????????T??????Z*"))
	must(t, err)
	var files []string
	for _, name := range all {
		if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			files = append(files, name)
		}
	}
	return files
}

// use reads, searches and writes, and returns how many of the sample's events are there.
func (s sample) use(t *testing.T, st *store.Store) (n int, err error) {
	t.Helper()
	for e, err := range st.Export(t.Context()) {
		if err != nil {
			return n, err
		}
		if !later(e) {
			n++
			s.compare(t, e)
		}
	}
	for _, word := range []string{"word7", "word45", "filler", "fill*"} {
		found, err := st.For(everybody).Search(t.Context(), word, 500)
		if err != nil {
			return n, err
		}
		for _, e := range found {
			if !later(e) {
				s.compare(t, e)
			}
		}
	}
	if _, err := st.For(everybody).Events(t.Context(), 0, 500); err != nil {
		return n, err
	}
	if _, err := st.Forget(t.Context(), store.Selection{Events: []earshot.EventID{"nobody"}}, nil); err != nil {
		return n, err
	}
	for i := range 40 { // enough for parts of the index to be joined
		e := said(earshot.Text(fmt.Sprintf("and on %d", i)))
		if i%2 == 0 {
			e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}
		}
		if _, err := st.Append(t.Context(), e); err != nil {
			return n, err
		}
	}
	return n, nil
}

// later reports whether an event was written after the damage, perhaps in place of a lost one.
func later(e earshot.Event) bool {
	m, is := e.Body.(earshot.Message)
	return is && strings.HasPrefix(string(m.Text), "and on")
}

// TestWrittenWhileMended: a damaged journal is mended after a read has found the damage. Writers
// and readers lose nothing meanwhile: each message is kept once, after the earlier ones.
func TestWrittenWhileMended(t *testing.T) {
	s := take(t, true)
	directory := s.lay(t, "earshot.db", pageWith(`"word45 `, false)(bytes.Clone(s.files["earshot.db"])))
	heard := new(listener)
	st, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
	must(t, err)
	defer func() { must(t, st.Close()) }()
	before := add(t, st, said("before"))[0].Sequence
	reading, err := st.For(everybody).Events(t.Context(), 0, 3)
	must(t, err)
	if len(reading) != 3 {
		t.Fatalf("%d events", len(reading))
	}
	done := make(chan error, 1)
	go func() {
		var last int64 = before
		for i := range 200 {
			kept, err := st.Append(context.WithoutCancel(t.Context()), said(earshot.Text(fmt.Sprintf("meanwhile%d", i))))
			if err == nil && kept[0].Sequence <= last {
				err = fmt.Errorf("event %d came after %d", kept[0].Sequence, last)
			}
			if err != nil {
				done <- err
				return
			}
			last = kept[0].Sequence
		}
		done <- nil
	}()
	if err := errorOf(st); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("reading everything: %v", err)
	}
	testkit.Await(t, 30*time.Second, "the journal to be mended", func() bool { return strings.Contains(heard.heard(), "store.salvaged") })
	must(t, errorOf(st))
	must(t, testkit.Receive(t, 30*time.Second, "the writer to end", done))
	for i := range 200 {
		if found, err := st.For(everybody).Search(t.Context(), fmt.Sprintf("meanwhile%d", i), 9); err != nil || len(found) != 1 {
			t.Fatalf("meanwhile%d is found %d times, %v", i, len(found), err)
		}
	}
	if said := heard.heard(); said != "store.salvaged" {
		t.Errorf("it said %q", said)
	}
}

// errorOf reads everything, and returns the first error.
func errorOf(st *store.Store) error {
	for _, err := range st.Export(context.Background()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestSequencesAreNotUsedAgain: after the newest events were lost, new events do not get their
// sequences, which connected readers have already seen.
func TestSequencesAreNotUsedAgain(t *testing.T) {
	s := take(t, true)
	directory := s.lay(t, "earshot.db", s.files["earshot.db"])
	st, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	defer func() { must(t, st.Close()) }()
	last := add(t, st, said("the newest"))[0].Sequence
	must(t, st.Run(t.Context(), fmt.Sprintf("UPDATE journal SET payload = replace(payload, 'newest', 'oldest') WHERE sequence = %d", last)))
	if err := errorOf(st); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("reading everything: %v", err)
	}
	if next := add(t, st, said("the next"))[0].Sequence; next != last+1 {
		t.Errorf("the next event has the sequence %d, want %d", next, last+1)
	}
}

// TestMendedOnce: a disk that keeps damaging the journal does not get filled with copies. The
// second damage in a run is reported, with what to do, and left to the next start.
func TestMendedOnce(t *testing.T) {
	heard := new(listener)
	st, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(t.TempDir(), "state"), Report: heard.report})
	must(t, err)
	for range 3 {
		e := add(t, st, said("the tide"), said("the ebb"))[0]
		must(t, st.Run(t.Context(), fmt.Sprintf("UPDATE journal SET payload = 'x' WHERE sequence = %d", e.Sequence)))
		if err := errorOf(st); !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("reading everything: %v", err)
		}
		add(t, st, said("on"))
	}
	testkit.Await(t, 30*time.Second, "the new file to be looked through", func() bool { return strings.Contains(heard.heard(), "store.damaged") })
	must(t, st.Close())
	if said, n := heard.heard(), len(asides(t, filepath.Dir(st.Path()))); said != "store.salvaged, store.damaged" || n != 1 {
		t.Errorf("it said %q and set aside %d files", said, n)
	}
}

// TestCheckedInTheBackground: after a crash between two commits, the start does not wait for the
// check of the file. After a crash within a commit, or after damage was seen, it does.
func TestCheckedInTheBackground(t *testing.T) {
	s := take(t, true)
	for _, tt := range []struct {
		lock string
		want bool
	}{{"closed\n", false}, {"1\n", true}, {"4711\n ", true}, {"1\n!", false}} {
		directory := s.lay(t, "lock", []byte(tt.lock))
		st, err := store.Open(t.Context(), store.Config{Directory: directory})
		must(t, err)
		if was := st.Checked(); was != tt.want {
			t.Errorf("after %q it is looked through in the background: %v", tt.lock, was)
		}
		if _, is := st.Checking(); is {
			t.Errorf("after %q it is looked through when that is over", tt.lock)
		}
		must(t, st.Close())
	}
}

// TestKilledBetweenCommits: the lock of a killed daemon says whether it was killed within a commit.
func TestKilledBetweenCommits(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	lock := func() string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(directory, "lock"))
		must(t, err)
		return strings.TrimLeft(string(data), "0123456789")
	}
	st, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	if got := lock(); got != "\n " {
		t.Errorf("after the start the lock says %q", got)
	}
	_, err = st.Do(t.Context(), func(earshot.View) ([]earshot.Event, error) {
		if got := lock(); got != "\n!" {
			t.Errorf("within a commit the lock says %q", got)
		}
		return []earshot.Event{said("the tide")}, nil
	})
	must(t, err)
	if got := lock(); got != "\n " {
		t.Errorf("after a commit the lock says %q", got)
	}
	must(t, st.Close())
	if got := lock(); got != "closed\n" {
		t.Errorf("after the end the lock says %q", got)
	}
}
