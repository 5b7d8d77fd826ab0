package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/cluster"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/store"
	"earshot/store/postgres"
)

// A sharer is one of several daemons with one journal.
type sharer struct {
	*store.Store
	leases *cluster.Leases

	mu     sync.Mutex
	taken  []earshot.Event
	erased []earshot.EventID
	missed int // how often anything may have been erased
}

// share opens the journal for a daemon that has the leases of some rooms.
func share(t *testing.T, url, name string, rooms ...string) *sharer {
	t.Helper()
	d := new(sharer)
	held := make(map[earshot.RoomID]*cluster.Lease)
	d.Store = open(t, store.Config{URL: field.Secret(url), Followed: []earshot.Kind{earshot.KindMessage}, Fence: func(ctx context.Context, tx *sql.Tx, room earshot.RoomID) error {
		l := held[room]
		if l == nil {
			return store.ErrFenced
		}
		return cluster.CheckFence(ctx, tx, l.Room, l.Owner, l.Fence)
	}})
	c, err := postgres.NewConnector(url)
	must(t, err)
	db := c.OpenReaders(2)
	t.Cleanup(func() { db.Close() })
	d.leases, err = cluster.OpenLeases(t.Context(), db, cluster.NewID(name))
	must(t, err)
	for _, r := range rooms {
		held[earshot.RoomID(r)], err = d.leases.Acquire(t.Context(), r)
		must(t, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	following := make(chan struct{})
	go func() {
		defer close(following)
		d.Follow(ctx, func(events []earshot.Event) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.taken = append(d.taken, events...)
		}, func(ids []earshot.EventID) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.erased = append(d.erased, ids...); ids == nil {
				d.missed++
			}
		})
	}()
	t.Cleanup(func() {
		stop()
		testkit.Receive(t, testkit.Patience, "the end of following", following)
	})
	return d
}

// look calls f while nothing is delivered.
func (d *sharer) look(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// listens waits until it has begun to listen more often than before, and returns how often.
func (d *sharer) listens(t *testing.T, before int) (times int) {
	t.Helper()
	testkit.Await(t, testkit.Patience, "it begins to listen", func() bool {
		d.look(func() { times = d.missed })
		return times > before
	})
	return times
}

// in returns a message in a room.
func in(room earshot.RoomID, text earshot.Text) earshot.Event {
	e := said(text)
	e.Room = room
	return e
}

// TestOtherVersion: the tables are not made anew while daemons of another version use them, and are when those have
// ended. Daemons of one version that start together do not keep each other waiting for that.
func TestOtherVersion(t *testing.T) {
	server := pgtest.Start(t)
	c := store.Config{URL: field.Secret(server.Database(t)), Projections: []earshot.Projection{counter{version: 1}}, Fence: func(context.Context, *sql.Tx, earshot.RoomID) error { return nil }}
	old := open(t, c)
	c.Directory = t.TempDir()
	c.Projections = []earshot.Projection{counter{version: 2}}
	if _, err := store.Open(t.Context(), c); !errors.Is(err, store.ErrOther) || !strings.Contains(err.Error(), "end all daemons") {
		t.Errorf("beside another version: %v", err)
	}
	must(t, old.Close())
	var starting sync.WaitGroup
	for range 3 {
		c := c
		c.Directory = t.TempDir()
		starting.Go(func() {
			s, err := store.Open(t.Context(), c)
			if err != nil {
				t.Errorf("with others of this version: %v", err)
				return
			}
			t.Cleanup(func() { must(t, s.Close()) })
		})
	}
	testkit.Finish(t, testkit.Patience, "three of one version have started", starting.Wait)
	c.Directory = t.TempDir()
	c.Projections = []earshot.Projection{counter{version: 1}}
	if _, err := store.Open(t.Context(), c); !errors.Is(err, store.ErrOther) {
		t.Errorf("the old version again: %v", err)
	}
}

// TestSeveralWriters: several daemons write to one journal at once. Each learns of everything that the
// others add, once and in the order of the journal, and of nothing of its own.
func TestSeveralWriters(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	const daemons, each = 3, 60
	var all []*sharer
	for i := range daemons {
		room := fmt.Sprint("room", i)
		all = append(all, share(t, url, fmt.Sprint("daemon", i), room))
	}
	var writing sync.WaitGroup
	for i, d := range all {
		for w := range 3 {
			writing.Go(func() {
				for n := range each / 3 {
					if _, err := d.Append(t.Context(), in(earshot.RoomID(fmt.Sprint("room", i)), earshot.Text(fmt.Sprint(w, " ", n)))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	testkit.Finish(t, testkit.Patience, "all is written", writing.Wait)
	for i, d := range all {
		must(t, d.CatchUp(t.Context()))
		d.look(func() {
			if len(d.taken) != (daemons-1)*each {
				t.Errorf("daemon %d has learnt of %d events", i, len(d.taken))
			}
			if !slices.IsSortedFunc(d.taken, func(a, b earshot.Event) int { return int(a.Sequence - b.Sequence) }) {
				t.Error("out of order")
			}
			for _, e := range d.taken {
				if e.Room == earshot.RoomID(fmt.Sprint("room", i)) {
					t.Error("it was told what it wrote itself")
				}
			}
		})
	}
}

// TestFence: what a daemon adds to a room of another is refused, also among steps of the same commit that
// are in order; and so is what it adds to one that it has lost. Who there is belongs to no room, and that something
// was forgotten is said whoever has the room.
func TestFence(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	ours, theirs := share(t, url, "ours", "here", "lost"), share(t, url, "theirs", "there")
	for _, held := range ours.leases.Held() {
		if held.Room == "lost" {
			must(t, ours.leases.Release(t.Context(), held))
		}
	}
	_, err := theirs.leases.Acquire(t.Context(), "lost")
	must(t, err)
	if _, err := ours.Append(t.Context(), in("lost", "too late")); !errors.Is(err, store.ErrFenced) {
		t.Errorf("in a room that was lost: %v", err)
	}
	var writing sync.WaitGroup
	for i := range 40 {
		writing.Go(func() {
			room, refused := earshot.RoomID("here"), i%2 == 1
			if refused {
				room = []earshot.RoomID{"there", "lost"}[i/2%2]
			}
			_, err := ours.Append(t.Context(), in(room, "hello"))
			if errors.Is(err, store.ErrFenced) != refused || !refused && err != nil {
				t.Errorf("in the room %s: %v", room, err)
			}
		})
	}
	testkit.Finish(t, testkit.Patience, "all is written", writing.Wait)
	n := 0
	for e, err := range ours.Export(t.Context()) {
		must(t, err)
		if n++; e.Room != "here" {
			t.Errorf("%s has an event", e.Room)
		}
	}
	if n != 20 {
		t.Errorf("%d events were kept", n)
	}
	actor := in(earshot.Desk, "")
	actor.Visibility, actor.Body = earshot.Visibility{Scope: earshot.System}, earshot.Actor{Participant: "zoe", Name: "Zoe"}
	if _, err := ours.Append(t.Context(), actor); err != nil {
		t.Errorf("somebody is added: %v", err)
	}
	forgotten := actor
	forgotten.Room, forgotten.Body = "there", earshot.ErasureRecord{Events: 3}
	if _, err := ours.Append(t.Context(), forgotten); err != nil {
		t.Errorf("something was forgotten: %v", err)
	}
}

// TestRefusedInsert: when the server refuses a row, such as for a full disk, nothing is acknowledged that is not kept:
// it says so only when other steps of the same commit follow.
func TestRefusedInsert(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	d := share(t, url, "ours", "here", "full")
	server.Query(t, nameOf(url), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''full'' USING ERRCODE = ''53100''; END';
		CREATE TRIGGER refuse BEFORE INSERT ON earshot.journal FOR EACH ROW WHEN (NEW.room = 'full') EXECUTE FUNCTION refuse()`)
	kept := make(map[earshot.EventID]bool)
	for range 20 {
		var mu sync.Mutex
		var writing sync.WaitGroup
		for i := range 10 {
			writing.Go(func() {
				room := earshot.RoomID("here")
				if i == 3 {
					room = "full"
				}
				all, err := d.Append(t.Context(), in(room, "hello"))
				switch {
				case err == nil:
					mu.Lock()
					defer mu.Unlock()
					kept[all[0].ID] = true
				case !errors.Is(err, store.ErrFull):
					t.Errorf("in the room %s: %v", room, err)
				}
			})
		}
		testkit.Finish(t, testkit.Patience, "all is written or refused", writing.Wait)
	}
	for e, err := range d.Export(t.Context()) {
		must(t, err)
		if !kept[e.ID] {
			t.Errorf("what was refused is on record: %s", e.ID)
		}
		delete(kept, e.ID)
	}
	if len(kept) > 0 {
		t.Errorf("%d events were acknowledged and are not on record", len(kept))
	}
}

// TestSharedForgetting: what one daemon erases, the others are told.
func TestSharedForgetting(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	a, b := share(t, url, "a", "here"), share(t, url, "b")
	a.listens(t, 0)
	kept, err := a.Append(t.Context(), in("here", "a secret"))
	must(t, err)
	_, err = b.Forget(t.Context(), store.Selection{Events: []earshot.EventID{kept[0].ID}}, nil)
	must(t, err)
	testkit.Await(t, testkit.Patience, "what was erased", func() (told bool) {
		a.look(func() { told = slices.Contains(a.erased, kept[0].ID) })
		return told
	})
	derived := in("here", "about it")
	derived.Sources = []earshot.EventID{kept[0].ID}
	if got, err := a.Append(t.Context(), derived); err != nil || got[0].Body.Kind() != earshot.KindErased {
		t.Errorf("what was made from it afterwards is kept: %v, %v", got, err)
	}
}

// TestSharedErasures: the others are told of everything that loses its content, whatever it was erased for, and
// whatever its ID is like.
func TestSharedErasures(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	a, b := share(t, url, "a", "here"), share(t, url, "b")
	b.listens(t, 0)
	id := func(name string) earshot.EventID {
		return earshot.EventID(name + strings.Repeat(" long", 22))
	}
	events := []earshot.Event{in("here", "a secret"), in("here", "overheard"), in("here", "taken back"), in("here", "revised")}
	for i, name := range []string{"secret", "overheard", "withdrawn", "revised"} {
		events[i].ID = id(name)
	}
	events[1].Body = earshot.Utterance{Text: "overheard"}
	goes := []earshot.EventID{id("secret"), id("overheard"), id("withdrawn"), id("fact")}
	for i := range 300 { // more than one notification can name
		e := in("here", "about it")
		e.ID, e.Sources = id(fmt.Sprint("about ", i)), []earshot.EventID{id("secret")}
		events, goes = append(events, e), append(goes, e.ID)
	}
	fact := in("here", "")
	fact.ID, fact.Sources, fact.Body = id("fact"), []earshot.EventID{id("revised")}, earshot.Fact{Text: "so it is"}
	_, err := a.Append(t.Context(), append(events, fact)...)
	must(t, err)
	_, err = a.Forget(t.Context(), store.Selection{Events: []earshot.EventID{id("secret")}}, nil)
	must(t, err)
	_, err = a.Lapse(t.Context(), began.Add(time.Hour), nil, nil)
	must(t, err)
	for _, body := range []earshot.Body{earshot.Withdrawal{Of: id("withdrawn")}, earshot.Revision{Of: id("revised"), Text: "otherwise"}} {
		e := in("here", "")
		e.Body = body
		_, err = a.Append(t.Context(), e)
		must(t, err)
	}
	var left []earshot.EventID
	if !testkit.Poll(testkit.Patience, func() bool {
		b.look(func() {
			left = slices.DeleteFunc(slices.Clone(goes), func(id earshot.EventID) bool { return slices.Contains(b.erased, id) })
		})
		return len(left) == 0
	}) {
		t.Errorf("the other was not told of %d of %d, such as %q", len(left), len(goes), left[0])
	}
}

// TestUnheardErasures: a daemon learns whenever it begins to listen that something may have been erased before,
// and hears of everything that is erased from then on.
func TestUnheardErasures(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	a, b := share(t, url, "a", "here"), share(t, url, "b")
	times := 0
	for range 3 {
		times = b.listens(t, times)
		kept, err := a.Append(t.Context(), in("here", "a secret"))
		must(t, err)
		_, err = a.Forget(t.Context(), store.Selection{Events: []earshot.EventID{kept[0].ID}}, nil)
		must(t, err)
		testkit.Await(t, testkit.Patience, "what was erased", func() (told bool) {
			b.look(func() { told = slices.Contains(b.erased, kept[0].ID) })
			return told
		})
		server.Query(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN earshot'")
	}
}

// TestSharedLost: when the connections of a daemon are cut, it writes on, learns of everything once, and
// knows that it may have missed something.
func TestSharedLost(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	a, b := share(t, url, "a", "here"), share(t, url, "b", "there")
	const each = 30
	var writing sync.WaitGroup
	for room, d := range map[earshot.RoomID]*sharer{"here": a, "there": b} {
		writing.Go(func() {
			for n := range each {
				e := in(room, "hello")
				e.ID = earshot.EventID(fmt.Sprint(room, n))
				_, err := d.Append(t.Context(), e)
				for range 5 { // it may be cut off again at each attempt
					if err != nil {
						_, err = d.Append(t.Context(), e)
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		server.Query(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'earshot %'")
	}
	testkit.Finish(t, testkit.Patience, "all is written", writing.Wait)
	for _, d := range []*sharer{a, b} {
		must(t, d.CatchUp(t.Context()))
		d.look(func() {
			if len(d.taken) != each {
				t.Errorf("it has learnt of %d events", len(d.taken))
			}
		})
	}
}

// TestOwnedOrShared: a daemon that owns a database alone and daemons that share it exclude each other.
func TestOwnedOrShared(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	shared := share(t, url, "a")
	_, err := store.Open(t.Context(), store.Config{Directory: t.TempDir(), URL: field.Secret(url)})
	if _, is := errors.AsType[*store.ErrLocked](err); !is {
		t.Errorf("it can be owned while it is shared: %v", err)
	}
	must(t, shared.Close())
	open(t, store.Config{URL: field.Secret(url)})
	_, err = store.Open(t.Context(), store.Config{Directory: t.TempDir(), URL: field.Secret(url), Fence: func(context.Context, *sql.Tx, earshot.RoomID) error { return nil }})
	if _, is := errors.AsType[*store.ErrLocked](err); !is {
		t.Errorf("it can be shared while it is owned: %v", err)
	}
}
