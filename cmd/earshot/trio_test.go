package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/internal/testkit/history"
	"earshot/internal/testkit/pgtest"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/reconnect"
	"earshot/store"
)

// counts is the script of a model that says something long if it is asked to count.
const counts = "every_seconds: 0.08\nreply: All is well.\nrules:\n- {when: count, reply: one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty}\n"

// A trio is three daemons that share rooms: processes with a server of PostgreSQL, each with a server of
// the bus. It records what clients see.
type trio struct {
	t        *testing.T
	servers  []*pgtest.Server // the first can be written to
	database string
	homes    []*home
	daemons  []*process
	listen   []string // where the servers of their buses listen
	began    time.Time

	mu      sync.Mutex
	records []history.Record
	voices  map[utteranceKey]*utterance
}

// An utteranceKey is a turn at an outlet, which is that of a terminal by a daemon.
type utteranceKey struct {
	turn   earshot.TurnID
	outlet string
}

// An utterance is a turn as it was heard at an outlet: its first word and its last.
type utterance struct {
	room        earshot.RoomID
	first, last time.Duration
}

// noteWriters has the database note of each event under which lease it was written, and from which address.
const noteWriters = `SET search_path = earshot;
CREATE TABLE writers (id TEXT, address TEXT, owner TEXT, fence BIGINT);
CREATE FUNCTION note_writer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO earshot.writers SELECT NEW.id, coalesce(host(inet_client_addr()), ''), owner, fence FROM earshot.room_leases WHERE room = NEW.room;
	RETURN NULL;
END $$;
CREATE TRIGGER note_writer AFTER INSERT ON journal FOR EACH ROW EXECUTE FUNCTION note_writer()`

// A writer is the owner of a room who has written an event.
type writer struct {
	owner string
	fence int64
}

// writers returns who has written the events. One that came from the address of another daemon than the owner is
// that daemon's.
func (c *trio) writers() map[string]writer {
	c.t.Helper()
	all := make(map[string]writer)
	for line := range strings.Lines(c.servers[0].Query(c.t, c.database, "SELECT id, address, owner, fence FROM earshot.writers")) {
		words := strings.Split(strings.TrimSpace(line), "|")
		fence, err := strconv.ParseInt(words[len(words)-1], 10, 64)
		if err != nil || len(words) != 4 {
			c.t.Fatalf("a writer is %q", line)
		}
		w := writer{owner: words[2], fence: fence}
		if i := slices.IndexFunc(c.listen, func(at string) bool { return strings.HasPrefix(at, words[1]+":") }); i >= 0 && !strings.HasPrefix(w.owner, members[i]+".") {
			w.owner = members[i]
		}
		all[words[0]] = w
	}
	return all
}

// members are the names of the daemons.
var members = []string{"a", "b", "c"}

// newTrio starts the daemons. The servers have the same databases, and the first can be written to.
func newTrio(t *testing.T, servers ...*pgtest.Server) *trio {
	t.Helper()
	var listen, routes []string
	for range members {
		listen, routes = append(listen, freeAddress(t)), append(routes, freeAddress(t))
	}
	return newTrioAt(t, listen, routes, nil, servers...)
}

// newTrioAt starts the daemons, whose servers of the bus listen at some addresses. Start, if it is not nil,
// starts the process of a daemon.
func newTrioAt(t *testing.T, listen, routes []string, start func(i int, c *exec.Cmd) error, servers ...*pgtest.Server) *trio {
	t.Helper()
	path := helpertest.Build(t, helper.BusProgram)
	c := &trio{t: t, servers: servers, listen: listen, began: time.Now(), voices: make(map[utteranceKey]*utterance)}
	url := servers[0].Database(t)
	c.database = url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
	url = pgtest.URL(c.database, servers...)
	for i, name := range members {
		h := newHome(t, "PATH="+path, "EARSHOT_STORE_URL="+url, "EARSHOT_CLUSTER_NAME="+name, "EARSHOT_BUS_LISTEN="+listen[i], "EARSHOT_BUS_CLUSTER_LISTEN="+routes[i])
		h.write("config/earshot/config.yaml", "rooms: [{id: kitchen}, {id: parlour}]\nbus: {cluster: {servers: ["+strings.Join(routes, ", ")+"]}}\n")
		h.scripted(counts)
		if start != nil {
			h.start = func(p *exec.Cmd) error { return start(i, p) }
		}
		c.homes = append(c.homes, h)
	}
	c.daemons = make([]*process, len(members))
	t.Cleanup(func() {
		for i, h := range c.homes {
			if log, err := os.ReadFile(h.dir + "/state/earshot/earshot.log"); err == nil && t.Failed() {
				t.Logf("%s said:\n%s", members[i], log[max(0, len(log)-8000):])
			}
		}
	})
	for i := range members {
		c.start(i)
	}
	c.spread()
	c.servers[0].Query(t, c.database, noteWriters)
	return c
}

// start starts a daemon.
func (c *trio) start(i int) {
	c.t.Helper()
	c.daemons[i] = c.homes[i].daemon()
}

// spread waits until each room has an owner.
func (c *trio) spread() {
	c.t.Helper()
	for _, room := range rooms {
		testkit.Await(c.t, testkit.Patience, "an owner of "+string(room), func() bool { return c.owner(room) >= 0 })
	}
}

// rooms are those of the daemons.
var rooms = []earshot.RoomID{earshot.Desk, "kitchen", "parlour"}

// owner returns which daemon has a room, or -1 if nobody has it.
func (c *trio) owner(room earshot.RoomID) int {
	c.t.Helper()
	id := c.servers[0].Query(c.t, c.database, fmt.Sprintf("SELECT owner FROM room_leases WHERE room = '%s' AND until > clock_timestamp()", room))
	name, _, _ := strings.Cut(id, ".")
	return slices.Index(members, name)
}

// kill ends a daemon without asking it.
func (c *trio) kill(i int) { c.daemons[i].end(syscall.SIGKILL) }

// at returns how a client reaches a room by a daemon.
func (c *trio) at(i int, room earshot.RoomID) *client.Client {
	return &client.Client{Socket: c.homes[i%len(members)].socket, Room: room}
}

func (c *trio) record(kind string, room earshot.RoomID, id earshot.EventID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = append(c.records, history.Record{Kind: kind, At: time.Since(c.began), Room: string(room), ID: string(id)})
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// An ear is an outlet that somebody reads in a room.
type ear struct {
	testkit.Voice
	trio *trio
	room earshot.RoomID
	by   string // the daemon
}

// Open implements [earshot.Outlet].
func (e *ear) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return e.Voice.Open(ctx, o, func(at earshot.Heard) {
		if !at.End {
			e.trio.hear(e.room, utteranceKey{o.Turn, e.by})
		}
		heard(at)
	})
}

// hear records that a little of a turn comes out.
func (c *trio) hear(room earshot.RoomID, key utteranceKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Since(c.began)
	u := c.voices[key]
	if u == nil {
		u = &utterance{room: room, first: now}
		c.voices[key] = u
	}
	u.last = now
}

// An attachedTerminal is where somebody reads a room and says something there.
type attachedTerminal struct {
	*ear
	lines chan earshot.Event
	ready chan struct{} // closed once it is attached
	leave func()
}

// Name implements [earshot.Outlet] and [providers.Provider].
func (*attachedTerminal) Name() string { return "console" }

// Run implements [providers.Provider].
func (s *attachedTerminal) Run(ctx context.Context, emit providers.Emit) error {
	close(s.ready)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-s.lines:
			if err := emit(ctx, e); err != nil {
				return err
			}
			s.trio.record(history.Acknowledged, s.room, e.ID)
			s.trio.record(history.Asked, s.room, e.ID)
		}
	}
}

// attaches attaches a terminal to a room by a daemon, as earshot chat does, until the test is over.
func (c *trio) attaches(i int, room earshot.RoomID) *attachedTerminal {
	c.t.Helper()
	s := &attachedTerminal{ear: &ear{Voice: testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true}, trio: c, room: room, by: members[i%len(members)]}, lines: make(chan earshot.Event, 9), ready: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		for {
			err := reconnect.Attach(ctx, c.at(i, room), s, s.ear, new(attach.Names), func(lost error) {
				c.t.Logf("%.1f s: the terminal by %s in %s is away: %v", time.Since(c.began).Seconds(), s.by, room, lost)
			})
			if _, later := errors.AsType[*client.Failure](err); !later {
				ended <- err
				return
			}
			wait(ctx, 100*time.Millisecond)
		}
	}()
	s.leave = sync.OnceFunc(func() {
		stop()
		if err := testkit.Receive(c.t, testkit.Patience, "somebody leaves", ended); err != nil {
			c.t.Errorf("a terminal by %s ended with: %v", members[i%len(members)], err)
		}
	})
	c.t.Cleanup(s.leave)
	testkit.Receive(c.t, testkit.Patience, "the terminal is attached", s.ready)
	return s
}

// asks says something at the terminal, which is sent until it is acknowledged.
func (s *attachedTerminal) asks(text earshot.Text) earshot.EventID {
	id := earshot.EventID(ulid.Make().String())
	s.trio.record(history.Sent, s.room, id)
	s.lines <- earshot.Event{ID: id, Body: earshot.Message{Text: text}}
	return id
}

// acknowledged reports whether something that was sent is.
func (c *trio) acknowledged(id earshot.EventID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.records, func(r history.Record) bool { return r.Kind == history.Acknowledged && r.ID == string(id) })
}

// reads waits until something was read.
func (e *ear) reads(what, text string) {
	e.trio.t.Helper()
	testkit.Await(e.trio.t, testkit.Patience, what, func() bool { return strings.Contains(e.Played(), text) })
}

// journal returns all that is on record.
func (c *trio) journal() (all []earshot.Event) {
	c.t.Helper()
	archive, err := store.OpenReader(c.t.Context(), store.Config{Directory: c.t.TempDir(), URL: field.Secret(pgtest.URL(c.database, &pgtest.Server{Dir: c.servers[0].Dir}))})
	if err != nil {
		c.t.Fatal(err)
	}
	defer archive.Close()
	for e, err := range archive.Export(c.t.Context()) {
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// history returns what was seen, with what stands in the journal in the end.
func (c *trio) history(journal []earshot.Event) []history.Record {
	writers, turns := c.writers(), make(map[earshot.TurnID]writer)
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.records)
	asked := make(map[earshot.EventID]earshot.RoomID)
	for _, r := range all {
		if r.Kind == history.Sent {
			asked[earshot.EventID(r.ID)] = earshot.RoomID(r.Room)
		}
	}
	for _, e := range journal {
		w := writers[string(e.ID)]
		r := history.Record{Room: string(e.Room), Owner: w.owner, Fence: w.fence}
		switch b := e.Body.(type) {
		case earshot.Message:
			if b.Turn != "" {
				continue
			}
			r.Kind, r.ID = history.Read, string(e.ID)
		case earshot.Reply:
			r.ID = string(b.About)
			if r.Kind = history.Told; b.Outcome == earshot.Completed && b.Resumes == "" {
				r.Kind = history.Answered
			}
		case earshot.Decision:
			if b.Turn != "" {
				turns[b.Turn] = w
				continue
			}
			r.Kind, r.ID = history.Told, string(b.About)
		}
		if r.Kind == history.Read || asked[earshot.EventID(r.ID)] != "" {
			all = append(all, r)
		}
	}
	for key, u := range c.voices {
		w := turns[key.turn]
		r := history.Record{Kind: history.Begun, At: u.first, Room: string(u.room), ID: string(key.turn), Outlet: key.outlet, Owner: w.owner, Fence: w.fence}
		all = append(all, r)
		r.Kind, r.At = history.Ended, u.last
		all = append(all, r)
	}
	return all
}

// check waits until every question is answered or told of, and checks what was seen.
func (c *trio) check() {
	c.t.Helper()
	var faults []history.Fault
	testkit.Poll(20*time.Second, func() bool {
		faults = history.Check(c.history(c.journal()))
		return !slices.ContainsFunc(faults, func(f history.Fault) bool { return f.Kind == history.Unanswered })
	})
	for _, f := range faults {
		c.t.Error(f)
	}
}

// quantiles writes what some durations are.
func quantiles(all []time.Duration) string {
	all = slices.Sorted(slices.Values(all))
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(time.Millisecond) }
	return fmt.Sprintf("p50 %v, p99 %v, at most %v", at(50), at(99), at(100))
}

// times returns how often something is done: more often in a proof run.
func times(few, many int) int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return many
	}
	return few
}

// TestClusterKill: somebody reads a reply by one daemon while another, which has the room, is killed in the
// middle of it. Within about five seconds they are answered again, or have an answer to what they say next,
// and nothing that was said is lost. What they had read of the reply is on record once, as cut short, and
// before it the question is not answered again.
func TestClusterKill(t *testing.T) {
	newTrio(t, pgtest.Start(t, settings)).killsOwners(times(2, 50))
}

// killsOwners kills who has the kitchen, in the middle of a reply, some times.
func (c *trio) killsOwners(rounds int) {
	t := c.t
	t.Helper()
	var acknowledged, heard []time.Duration
	for round := range rounds {
		owner := c.owner("kitchen")
		e := c.attaches((owner+1)%len(members), "kitchen")
		first := e.asks("count")
		e.reads("the answer begins", "three")
		killed := time.Now()
		c.kill(owner)
		t.Logf("%.1f s: %s is killed, and a terminal is at %s", killed.Sub(c.began).Seconds(), members[owner], members[(owner+1)%len(members)])
		before := len(e.Played())
		if round%2 == 0 {
			testkit.Await(t, testkit.Patience, "the answer begins again", func() bool { return len(e.Played()) > before })
			heard = append(heard, time.Since(killed))
		} else {
			next := e.asks("how is it?")
			testkit.Await(t, testkit.Patience, "what is said next is acknowledged", func() bool { return c.acknowledged(next) })
			acknowledged = append(acknowledged, time.Since(killed))
			e.reads("the next answer", "All is well.")
			heard = append(heard, time.Since(killed))
		}
		var replies []earshot.Reply
		testkit.Await(t, testkit.Patience, "the question is settled", func() bool {
			replies = c.replies(first)
			return len(replies) > 1
		})
		e.leave()
		for _, r := range replies {
			if !strings.Contains(e.Played(), string(r.Delivered())) {
				t.Errorf("%q is on record as heard, and was not in %q", string(r.Delivered()), e.Played())
			}
		}
		how := make(map[earshot.Outcome]string)
		for _, r := range replies {
			how[r.Outcome] += string(r.Delivered())
		}
		t.Logf("of %q that was read, on record is %q", e.Played(), how)
		if !strings.HasPrefix(how[earshot.Interrupted], "one two ") || strings.Count(how[earshot.Interrupted], "one") != 1 || len(replies) != 2 {
			t.Error("what was heard of the lost reply is not on record once, before the question was settled")
		}
		c.start(owner)
		c.spread()
	}
	t.Logf("after kill -9 what is said next is on record: %s; and an answer is read: %s", quantiles(acknowledged), quantiles(heard))
	if slices.Max(heard) > 30*time.Second { // of which 5 s are wanted, and the rest is for a busy machine
		t.Error("it takes too long")
	}
	c.check()
}

// replies returns the outcomes of a question.
func (c *trio) replies(about earshot.EventID) (all []earshot.Reply) {
	c.t.Helper()
	for _, e := range c.journal() {
		if r, is := e.Body.(earshot.Reply); is && r.About == about {
			all = append(all, r)
		}
	}
	return all
}

// TestClusterDrain: a daemon gives a room away in the middle of a reply, of which no word is lost, and is
// asked again when it has the room back.
func TestClusterDrain(t *testing.T) {
	c := newTrio(t, pgtest.Start(t, settings))
	for range times(1, 20) {
		owner := c.owner("kitchen")
		e := c.attaches((owner+1)%len(members), "kitchen")
		first := e.asks("count")
		e.reads("the answer begins", "three")
		if r := c.homes[(owner+2)%len(members)].earshot(nil, "cluster", "drain", members[owner]); r.code != success {
			t.Fatalf("drain ended with %d: %s", r.code, r.err)
		}
		if now := c.owner("kitchen"); now == owner {
			t.Errorf("%s still has the room", members[now])
		}
		replies := c.replies(first)
		if len(replies) != 1 || replies[0].Outcome != earshot.Completed || string(replies[0].Delivered()) != e.Played() || !strings.HasSuffix(e.Played(), "twenty") {
			t.Errorf("of %q that was read, on record is %+v", e.Played(), replies)
		}
		e.asks("how is it?")
		e.reads("an answer after the drain", "All is well.")
		e.leave()
		if r := c.homes[owner].earshot(nil, "cluster", "drain", members[owner], "--off"); r.code != success {
			t.Fatalf("drain --off ended with %d: %s", r.code, r.err)
		}
		c.spread()
	}
	c.check()
}
