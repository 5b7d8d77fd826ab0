package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/store"
)

// A cutter forwards connections to a server, and cuts one when it is told to.
type cutter struct {
	to      string // the socket of the server
	listen  net.Listener
	running sync.WaitGroup

	request atomic.Bool // cut before the next commit arrives at the server
	answer  atomic.Bool // cut before the next commit is acknowledged
}

// between returns a cutter in front of a server, and the URL of a database through it.
func between(t *testing.T, server *pgtest.Server, url string) (*cutter, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cut")
	must(t, err)
	const socket = ".s.PGSQL.5432"
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	must(t, err)
	c := &cutter{to: filepath.Join(server.Dir, socket), listen: l}
	c.running.Go(c.accept)
	t.Cleanup(func() {
		l.Close()
		testkit.Finish(t, testkit.Patience, "the connections end", c.running.Wait)
		os.RemoveAll(dir)
	})
	return c, strings.Replace(url, filepath.Base(server.Dir), filepath.Base(dir), 1)
}

func (c *cutter) accept() {
	for {
		near, err := c.listen.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", c.to)
		if err != nil {
			near.Close()
			continue
		}
		both := func() { near.Close(); far.Close() }
		// A commit is the last of what is sent together, so it arrives with the sync that follows it.
		c.running.Go(func() {
			defer both()
			forward(far, near, func(some []byte) bool { return c.request.CompareAndSwap(true, false) })
		})
		c.running.Go(func() {
			defer both()
			forward(near, far, func(some []byte) bool {
				return bytes.Contains(some, []byte("COMMIT\x00")) && c.answer.CompareAndSwap(true, false)
			})
		})
	}
}

// forward copies until it is to cut.
func forward(to io.Writer, from io.Reader, cut func([]byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || cut(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// same fails the test unless the journal has exactly these texts, in this order.
func same(t *testing.T, s *store.Store, want []string) {
	t.Helper()
	if got := texts(everything(t, s)); got != strings.Join(want, "|") {
		t.Errorf("the journal has\n%s, want\n%s", got, strings.Join(want, "|"))
	}
}

// TestLostCommit: an event whose commit was or was not done when the connection broke is there once.
func TestLostCommit(t *testing.T) {
	server := pgtest.Start(t)
	c, url := between(t, server, server.Database(t))
	s := open(t, store.Config{URL: field.Secret(url)})
	var want []string
	for i := range 12 {
		switch i % 4 {
		case 1:
			c.answer.Store(true)
		case 3:
			c.request.Store(true)
		}
		text := fmt.Sprint("message ", i)
		want = append(want, text)
		add(t, s, said(earshot.Text(text)))
	}
	if c.answer.Load() || c.request.Load() {
		t.Error("no connection was cut")
	}
	same(t, s, want)
	last, err := s.For(everybody).Last(t.Context(), nil, 1)
	if err != nil || len(last) != 1 || last[0].Sequence != int64(len(want)) {
		t.Errorf("the last event is %v, %v, want number %d", last, err, len(want))
	}
}

// TestLostDecision: who decides learns for certain whether that was kept.
func TestLostDecision(t *testing.T) {
	server := pgtest.Start(t)
	c, url := between(t, server, server.Database(t))
	s := open(t, store.Config{URL: field.Secret(url)})
	add(t, s, said("first"))
	decide := func(text earshot.Text) error {
		_, err := s.Do(t.Context(), func(earshot.View) ([]earshot.Event, error) { return []earshot.Event{said(text)}, nil })
		return err
	}
	c.answer.Store(true)
	if err := decide("kept"); err != nil {
		t.Errorf("a decision that was kept has the error %v", err)
	}
	c.request.Store(true)
	if err := decide("not kept"); !errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrInDoubt) {
		t.Errorf("a decision that was not kept has the error %v", err)
	}
	same(t, s, []string{"first", "kept"})
}

// TestFailover: when the server dies in the midst of what is said, and its standby takes over, nothing that
// was acknowledged is lost, and nothing is there twice, also what was said again with the same ID.
func TestFailover(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	standby := server.Standby(t)
	s := open(t, store.Config{URL: field.Secret(pgtest.URL(nameOf(url), server, standby))})
	const rooms, enough = 4, 40
	var running sync.WaitGroup
	var told atomic.Int64
	acknowledged := make([][]earshot.EventID, rooms)
	id := store.NewIDs()
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	for room := range rooms {
		running.Go(func() {
			for n := 0; stop.Err() == nil; n++ {
				e := said(earshot.Text(fmt.Sprintf("%d of room %d", n, room)))
				e.ID, e.Room = id(), earshot.RoomID(fmt.Sprint("room ", room))
				for {
					if _, err := s.Append(t.Context(), e); err == nil {
						break
					} else if !errors.Is(err, store.ErrFull) {
						t.Errorf("the error is %v", err)
						return
					}
				}
				acknowledged[room] = append(acknowledged[room], e.ID)
				told.Add(1)
			}
		})
	}
	testkit.Await(t, testkit.Patience, "something is said", func() bool { return told.Load() > enough })
	server.Kill(t)
	before := told.Load()
	standby.Promote(t)
	testkit.Await(t, testkit.Patience, "it goes on with the standby", func() bool { return told.Load() > before+enough })
	cancel()
	testkit.Finish(t, testkit.Patience, "everybody is told", running.Wait)
	var last int64
	kept := map[earshot.RoomID][]earshot.EventID{}
	for _, e := range everything(t, s) {
		if e.Sequence != last+1 {
			t.Errorf("after %d comes %d", last, e.Sequence)
		}
		last = e.Sequence
		kept[e.Room] = append(kept[e.Room], e.ID)
	}
	for room, ids := range acknowledged {
		if got := kept[earshot.RoomID(fmt.Sprint("room ", room))]; !slices.Equal(got, ids) {
			t.Errorf("room %d has %d events, and %d were acknowledged, or their order is another", room, len(got), len(ids))
		}
	}
}
