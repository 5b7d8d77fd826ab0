package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/cluster"
	"earshot/config"
	"earshot/daemon/section"
	"earshot/executive"
	"earshot/internal/discord/bot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/internal/usage"
	"earshot/llm"
	"earshot/models/voiceprint"
	"earshot/participants"
	srv "earshot/server"
	"earshot/server/socket"
	"earshot/speakers"
)

// A relay is one daemon's way to the database. It can be cut.
type relay struct {
	dir, to string

	mu       sync.Mutex
	listener net.Listener // nil while it is cut
	open     map[net.Conn]bool
	running  sync.WaitGroup
}

func newRelay(t *testing.T, server *pgtest.Server) *relay {
	dir, err := os.MkdirTemp("", "relay")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{dir: dir, to: filepath.Join(server.Dir, ".s.PGSQL.5432"), open: make(map[net.Conn]bool)}
	r.resume(t)
	t.Cleanup(func() {
		r.cut()
		testkit.Finish(t, testkit.Patience, "the connections", r.running.Wait)
		os.RemoveAll(dir)
	})
	return r
}

func (r *relay) resume(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(r.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener = l
	r.running.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			r.running.Go(func() { r.pass(from) })
		}
	})
}

func (r *relay) pass(from net.Conn) {
	to, err := net.Dial("unix", r.to)
	if err != nil {
		from.Close()
		return
	}
	r.mu.Lock()
	if r.open[from], r.open[to] = true, true; r.listener == nil {
		from.Close()
		to.Close()
	}
	r.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			from.Close()
			to.Close()
		})
	}
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, from)
	delete(r.open, to)
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		r.listener.Close()
		r.listener = nil
	}
	for c := range r.open {
		c.Close()
	}
}

// A line is one daemon's way to the bus.
type line struct {
	bus.Bus
	cut atomic.Bool
}

func (l *line) Publish(subject string, data []byte) error {
	if l.cut.Load() {
		return bus.ErrFull
	}
	return l.Bus.Publish(subject, data)
}

func (l *line) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if l.cut.Load() {
		return nil, bus.ErrNobody
	}
	return l.Bus.Request(ctx, subject, data)
}

// A sharer is one of several daemons.
type sharer struct {
	*Daemon
	t      *testing.T
	relay  *relay
	line   line
	atDesk atomic.Bool // a part that is at the desk runs
	socket string      // where clients connect
	stop   context.CancelFunc
	ended  chan struct{}
}

// counts is a script for a model that says something long.
const counts = "reply: \"All is well.\"\nrules:\n- {when: count, reply: \"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty\"}\n"

// A sharedHouse is daemons that share a database and a bus.
type sharedHouse struct {
	t      *testing.T
	server *pgtest.Server
	url    string
	bus    bus.Local

	discord, token string // where the bot is, if there is one

	log io.Writer // nil for that of the test
}

// join starts a daemon.
func (h *sharedHouse) join(name string) *sharer {
	h.t.Helper()
	dir := h.t.TempDir()
	s := &sharer{t: h.t, relay: newRelay(h.t, h.server), ended: make(chan struct{})}
	s.line.Bus = &h.bus
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(dir, "journal")
	cfg.Store.URL = field.Secret(pgtest.URL(databaseOf(h.url), &pgtest.Server{Dir: s.relay.dir}))
	cfg.Cluster.Name = name
	cfg.Rooms = executive.Rooms{{ID: "kitchen"}, {ID: "parlour"}}
	cfg.Providers.Microphone.Enabled, cfg.Outlets.Loudspeaker.Enabled = false, false
	cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
	if err := os.WriteFile(cfg.Executive.LLM.Script, []byte(counts), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if h.token != "" {
		cfg.Providers.Discord.Enabled, cfg.Providers.Discord.Token, cfg.Providers.Discord.Base = true, field.Secret(h.token), h.discord
	}
	var err error
	if s.Daemon, err = Open(h.t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: fmt.Sprint("uid", os.Getuid())}, Name: "ann", Log: slog.New(slog.NewTextHandler(cmp.Or(h.log, h.t.Output()), nil)).With("daemon", name), bus: &s.line}); err != nil {
		h.t.Fatal(err)
	}
	s.sections.Install(h.t.Context(), &section.Section{Name: "device", AtDesk: true, Is: section.Build{Parts: []section.Part{{Name: "device", Run: func(ctx context.Context) error {
		s.atDesk.Store(true)
		defer s.atDesk.Store(false)
		<-ctx.Done()
		return nil
	}}}}})
	s.socket = filepath.Join(s.relay.dir, "api", "socket")
	clients, err := socket.Listen(s.socket)
	if err != nil {
		h.t.Fatal(err)
	}
	s.InstallDiscord(h.t.Context(), false)
	ctx, stop := context.WithCancel(h.t.Context())
	s.stop = stop
	go func() {
		defer close(s.ended)
		if err := s.Run(ctx, clients); err != nil {
			h.t.Error(err)
		}
	}()
	h.t.Cleanup(s.end)
	return s
}

// databaseOf returns the name of the database of a URL.
func databaseOf(url string) string {
	return url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
}

// end ends a daemon in good order.
func (s *sharer) end() {
	s.t.Helper()
	s.stop()
	testkit.Receive(s.t, testkit.Patience, "the end of a daemon", s.ended)
	_ = s.Close()
}

// drain has a daemon give its rooms away, as an operator asks for.
func (s *sharer) drain(name string) {
	s.t.Helper()
	if _, err := s.Backend().Drain(s.t.Context(), api.DrainRequest{Member: name, Drains: true}); err != nil {
		s.t.Error(err)
	}
}

// kill ends a daemon as if its process was killed: it says nothing more, and writes nothing.
func (s *sharer) kill() {
	s.line.cut.Store(true)
	s.relay.cut()
	s.stop()
}

// owns waits until a daemon runs all rooms.
func (s *sharer) owns() {
	s.t.Helper()
	testkit.Await(s.t, testkit.Patience, "a daemon has all rooms", func() bool { return len(s.rooms.Now()) == 3 })
}

// enters has somebody read what is said in the kitchen, until they leave.
func (s *sharer) enters(every time.Duration) (v *testkit.Voice, leave func()) {
	s.t.Helper()
	r, here := s.rooms.Find("kitchen")
	if !here {
		s.t.Fatal("the kitchen is not here")
	}
	v = &testkit.Voice{Called: "console", Every: every}
	return v, r.Room.Enter(v, earshot.Audience{Room: "kitchen", Members: []earshot.ParticipantID{s.owner.ID}})
}

// comes has whoever asks in the kitchen come there and read, until they leave.
func (s *sharer) comes() (v *testkit.Voice, leave func()) {
	s.t.Helper()
	v = &testkit.Voice{Called: "console"}
	handle, leave := s.Backend().Join(participants.Session{
		ID: "s", Room: "kitchen", Participant: s.owner.ID, Account: s.options.Account, Outlet: "console", Connection: "console", Since: time.Now(),
	}, v, earshot.Audience{Room: "kitchen", Members: []earshot.ParticipantID{s.owner.ID}})
	if err := s.Admit(s.t.Context(), earshot.Event{ID: s.id(), Room: "kitchen", From: handle(), Body: earshot.Presence{Session: "s", Here: true}}); err != nil {
		s.t.Fatal(err)
	}
	return v, leave
}

func (s *sharer) asks(text string) error {
	return s.Admit(s.t.Context(), earshot.Event{ID: s.id(), Room: "kitchen", From: s.options.Account, Body: earshot.Message{Text: earshot.Text(text)}})
}

// kept returns what is on record in the kitchen.
func (s *sharer) kept(kind earshot.Kind) []earshot.Event {
	s.t.Helper()
	found, err := s.store.Lately(s.t.Context(), "kitchen", kind, 100, earshot.Audience{Room: "kitchen", Members: []earshot.ParticipantID{participants.Owner}})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// replies returns the outcomes of all replies, with what was heard.
func (s *sharer) replies() (all []string) {
	s.t.Helper()
	for _, e := range s.kept(earshot.KindReply) {
		r := e.Body.(earshot.Reply)
		all = append(all, string(r.Outcome)+":"+string(r.Delivered()))
	}
	return all
}

// answers checks that a question in the kitchen is answered once.
func (s *sharer) answers() {
	s.t.Helper()
	const well = "completed:All is well."
	before := strings.Count(strings.Join(s.replies(), " "), well)
	v, leave := s.enters(0)
	defer leave()
	if err := s.asks("how is it?"); err != nil {
		s.t.Fatal(err)
	}
	testkit.Await(s.t, testkit.Patience, "an answer is on record", func() bool { return strings.Count(strings.Join(s.replies(), " "), well) > before })
	if v.Played() != "All is well." {
		s.t.Errorf("as an answer %q was read", v.Played())
	}
}

// counting asks for something long, and waits until some of it was read.
func (s *sharer) counting() *testkit.Voice {
	s.t.Helper()
	v, _ := s.enters(20 * time.Millisecond)
	if err := s.asks("count"); err != nil {
		s.t.Fatal(err)
	}
	testkit.Await(s.t, testkit.Patience, "the answer begins", func() bool { return strings.Contains(v.Played(), "two") })
	return v
}

// TestCluster: of several daemons with one database, each room runs at one.
func TestCluster(t *testing.T) {
	server := pgtest.Start(t)
	house := func(t *testing.T) (h *sharedHouse, a, b *sharer) {
		h = &sharedHouse{t: t, server: server, url: server.Database(t)}
		a = h.join("a")
		a.owns()
		return h, a, h.join("b")
	}
	elsewhere := func(t *testing.T, s *sharer) {
		t.Helper()
		if err := s.asks("how is it?"); err == nil || s.hasDesk() || len(s.rooms.Now()) > 0 {
			t.Errorf("it is asked where the room is not: %v; home: %v, rooms: %d", err, s.hasDesk(), len(s.rooms.Now()))
		}
		if _, err := s.store.Append(t.Context(), earshot.Event{ID: s.id(), At: time.Now(), Room: "kitchen", From: s.options.Account, Author: participants.Owner, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "too late"}}); err == nil {
			t.Error("something is put on record where the room is not")
		}
	}

	t.Run("killed", func(t *testing.T) {
		_, a, b := house(t)
		a.answers()
		elsewhere(t, b)
		testkit.Await(t, testkit.Patience, "the other knows who has the room", func() bool {
			id, here := b.cluster.Owner("kitchen")
			return strings.HasPrefix(id, "a.") && !here
		})
		a.counting()
		killed := time.Now()
		a.kill()
		b.owns()
		t.Logf("taken over after %v", time.Since(killed))
		again, leave := b.enters(0)
		testkit.Await(t, testkit.Patience, "what was being said is said again, to its end", func() bool { return strings.HasSuffix(again.Played(), "twenty") })
		leave()
		b.answers()
		want := []string{"completed:All is well.", "failed:", "completed:" + again.Played(), "completed:All is well."}
		a.relay.resume(t) // what it may still have in hand comes too late
		a.end()
		if got := b.replies(); !slices.Equal(got, want) {
			t.Errorf("on record are %q, want %q", got, want)
		}
		if n := len(b.kept(earshot.KindMessage)); n != 3 || !b.hasDesk() {
			t.Errorf("%d messages are on record, of 3; the other is home: %v", n, b.hasDesk())
		}
	})
	t.Run("handed over", func(t *testing.T) {
		_, a, b := house(t)
		v := a.counting()
		b.report(earshot.Notice{Key: "device", Text: "it is broken"})
		at := func(s *sharer, here bool) {
			t.Helper()
			testkit.Await(t, testkit.Patience, "what is at the desk follows it", func() bool {
				return s.atDesk.Load() == here && s.hasDesk() == here && (here || len(s.deskRoom().State(s.Audience()).Faults) > 0)
			})
		}
		at(b, false)
		b.drain("a")
		b.owns()
		at(b, true)
		if faults := b.deskRoom().State(b.Audience()).Faults; len(faults) != 1 || faults[0].Key != "device" {
			t.Errorf("at the desk is known %v", faults)
		}
		testkit.Await(t, testkit.Patience, "what was at the desk has ended", func() bool { return !a.atDesk.Load() })
		got := b.replies()
		if len(got) != 1 || got[0] != "completed:"+v.Played() || !strings.Contains(got[0], "twenty") {
			t.Errorf("on record is %q, of %q that was read", got, v.Played())
		}
		elsewhere(t, a)
		b.answers()
	})
	t.Run("ended before the first word", func(t *testing.T) {
		_, a, b := house(t)
		a.enters(time.Hour)
		if err := a.asks("how is it?"); err != nil {
			t.Fatal(err)
		}
		r, _ := a.rooms.Find("kitchen")
		testkit.Await(t, testkit.Patience, "the answer begins", r.Room.Speaking)
		a.end()
		b.owns()
		_, leave := b.comes()
		defer leave()
		want := []string{"interrupted:", "completed:All is well."}
		testkit.Await(t, testkit.Patience, "the question is answered where the room is now", func() bool { return len(b.replies()) > 1 })
		b.answers()
		if got := b.replies(); !slices.Equal(got[:2], want) || len(got) != 3 || len(b.kept(earshot.KindMessage)) != 2 {
			t.Errorf("on record are %q, and %d messages", got, len(b.kept(earshot.KindMessage)))
		}
	})
	t.Run("drained", func(t *testing.T) {
		h, a, b := house(t)
		knows := func(s *sharer, what string, is func(api.Cluster) bool) {
			t.Helper()
			var last api.Cluster
			defer func() {
				if t.Failed() {
					t.Logf("it is known %+v", last)
				}
			}()
			testkit.Await(t, testkit.Patience, what, func() bool {
				var err error
				last, err = s.Backend().Cluster(t.Context())
				return err == nil && is(last)
			})
		}
		knows(b, "where the rooms are", func(s api.Cluster) bool {
			return s.Name == "b" && len(s.Members) == 2 && len(s.Members[0].Rooms) == 3 && s.Members[0].Rooms[0].Fence > 0 && len(s.Nobodys) == 0
		})
		kitchen := executive.Room{ID: "kitchen"}
		if a.elsewhere(kitchen) != "" || b.elsewhere(kitchen) != "a" {
			t.Errorf("the kitchen is at %q and %q", a.elsewhere(kitchen), b.elsewhere(kitchen))
		}
		if _, err := b.Backend().Drain(t.Context(), api.DrainRequest{Member: "nobody", Drains: true}); err == nil || !strings.Contains(err.Error(), "there are: a, b") {
			t.Errorf("nobody is drained: %v", err)
		}
		b.drain("a")
		b.owns()
		a.end()
		knows(b, "who is away and drained", func(s api.Cluster) bool { return len(s.Members) == 2 && !s.Members[0].Present && s.Members[0].Drains })
		a = h.join("a")
		knows(a, "that it drains after a restart, too", func(s api.Cluster) bool {
			return len(s.Members) == 2 && s.Members[0].Age >= 3 && s.Members[0].Drains && len(s.Members[0].Rooms) == 0 && len(s.Members[1].Rooms) == 3
		})
		if counted, err := b.counts.Values(); err != nil || counted["cluster_leases"] != 3 || counted["cluster_members"] != 2 || counted["cluster_takeover_seconds count"] != 3 {
			t.Errorf("counted are %v, %v", counted, err)
		}
		if s, err := b.Backend().Drain(t.Context(), api.DrainRequest{Member: "a"}); err != nil || s.Name != "b" {
			t.Errorf("draining is undone: %v, %v", s, err)
		}
		knows(a, "that it drains no more", func(s api.Cluster) bool { return !s.Members[0].Drains })

		problem := func(s *sharer, key string) {
			t.Helper()
			knows(s, "a problem", func(s api.Cluster) bool {
				if key == "" {
					return len(s.Problems) == 0
				}
				return slices.ContainsFunc(s.Problems, func(p api.Obstacle) bool { return p.Part == key && p.Cure != "" })
			})
			unready := slices.ContainsFunc(s.Backend().Ready(t.Context()).Obstacles, func(o api.Obstacle) bool { return o.Part == key })
			if want := key == "cluster bus" || key == "cluster database"; unready != want {
				t.Errorf("with %q it is not ready: %v", key, unready)
			}
		}
		problem(a, "")
		a.line.cut.Store(true)
		problem(a, "cluster bus")
		a.line.cut.Store(false)
		problem(a, "")
		a.relay.cut()
		problem(a, "cluster database")
		began := time.Now()
		if _, err := a.Backend().Drain(t.Context(), api.DrainRequest{Member: "b", Drains: true}); err == nil || !strings.Contains(err.Error(), "the database that the daemons share does not answer") || time.Since(began) > cluster.TTL+testkit.Patience {
			t.Errorf("draining without the database: %v, after %v", err, time.Since(began))
		}
		a.relay.resume(t)
		problem(a, "")
		h.join("b")
		problem(b, "cluster name")
		problem(a, "cluster name")
	})
	t.Run("opened", func(t *testing.T) {
		_, a, b := house(t)
		next := *a.Config()
		next.Rooms = append(slices.Clone(next.Rooms), executive.Room{ID: "attic"})
		a.current.Store(&next) // as a reload does
		testkit.Await(t, testkit.Patience, "a new room is open", func() bool { _, here := a.rooms.Find("attic"); return here })

		offers := func(s *sharer) (names []string) { // on Discord
			for _, c := range (discordRooms{s.Daemon}).Commands() {
				names = append(names, c.Name)
			}
			return names
		}
		if there := offers(b); b.hasDesk() || !slices.Equal(there, offers(a)) || !slices.Contains(there, "forget") {
			t.Errorf("without the desk it offers the commands %q", there)
		}
		channel := executive.Room{ID: "discord-12345678901234567", Name: "general"}
		r, err := a.openRoom(t.Context(), channel)
		if err != nil || r.Is.Name != "general" || !r.Opened || a.cluster.Lease(string(channel.ID)) == nil {
			t.Fatalf("a channel is opened: %+v, %v", r.Is, err)
		}
		testkit.Await(t, testkit.Patience, "the other knows who has the channel", func() bool {
			id, here := b.cluster.Owner(string(channel.ID))
			return strings.HasPrefix(id, "a.") && !here
		})
		if _, err := b.openRoom(t.Context(), channel); !isHeld(err) {
			t.Errorf("a channel is opened that another has: %v", err)
		}
		a.rooms.Remove(r)
		if r, err = a.openRoom(t.Context(), channel); err != nil {
			t.Errorf("a channel is opened again that is just being closed: %v", err)
		}
		a.rooms.Remove(r)
		if _, err := b.openRoom(t.Context(), channel); err != nil {
			t.Errorf("the other opens a channel that is just being closed: %v", err)
		}
	})
	t.Run("another bus", func(t *testing.T) {
		_, a, b := house(t)
		v := a.counting()
		a.bus.Set(nil)
		b.owns()
		if got := b.replies(); len(got) != 1 || got[0] != "completed:"+v.Played() {
			t.Errorf("on record is %q, of %q that was read", got, v.Played())
		}
		a.bus.Set(&a.line)
		b.answers()
		a.drain("b")
		a.owns()
		a.answers()
	})
	t.Run("ended", func(t *testing.T) {
		_, a, b := house(t)
		v := a.counting()
		began := time.Now()
		a.end()
		b.owns()
		t.Logf("taken over after %v", time.Since(began))
		if got := b.replies(); len(got) != 1 || got[0] != "interrupted:"+v.Played() {
			t.Errorf("on record is %q, of %q that was read", got, v.Played())
		}
		b.answers()
	})
	t.Run("lost", func(t *testing.T) {
		_, a, b := house(t)
		v := a.counting()
		lease := a.cluster.Lease("kitchen")
		a.relay.cut()
		testkit.Receive(t, testkit.Patience, "the loss of the lease", lease.Lost())
		lost, heard := time.Now(), v.Played()
		silent := lost
		testkit.Await(t, testkit.Patience, "another has the room", func() bool {
			if b.cluster.Lease("kitchen") != nil {
				return true
			}
			if now := v.Played(); now != heard {
				heard, silent = now, time.Now()
			}
			return false
		})
		t.Logf("silent %v after the loss, and taken over after %v", silent.Sub(lost), time.Since(lost))
		b.owns()
		testkit.Await(t, testkit.Patience, "the rooms have ended where they were lost", func() bool { return len(a.rooms.Now()) == 0 })
		if now := v.Played(); now != heard || strings.Contains(now, "twenty") {
			t.Errorf("a daemon that has lost the room goes on from %q to %q", heard, now)
		}
		b.answers()
		if got := b.replies(); got[0] != "failed:" || slices.ContainsFunc(got[1:], func(r string) bool { return !strings.HasPrefix(r, "completed:") }) {
			t.Errorf("on record are %q", got) // what was cut off may be answered again by now
		}
		a.relay.resume(t)
		testkit.Await(t, testkit.Patience, "the other is well again", func() bool {
			return slices.ContainsFunc(b.cluster.Members(), func(m cluster.Heartbeat) bool { return m.Name() == "a" && !m.Drains })
		})
		a.drain("b")
		a.owns()
		a.answers()
		if _, err := b.cluster.Take(t.Context(), "kitchen"); !isHeld(err) {
			t.Errorf("a room that another has is taken: %v", err)
		}
	})
}

func isHeld(err error) bool {
	_, is := errors.AsType[*cluster.HeldError](err)
	return is
}

// TestRoomCannotBegin: what keeps a room from beginning is logged once, and if it lasts, the state of the
// cluster and of the daemon say so, until the room begins, or somebody else has it.
func TestRoomCannotBegin(t *testing.T) {
	server := pgtest.Start(t)
	var log strings.Builder
	h := &sharedHouse{t: t, server: server, url: server.Database(t), log: &log}
	a := h.join("a")
	a.owns()
	shown := func() (cluster, state int) {
		s, err := a.Backend().State(t.Context(), srv.Principal{Participant: participants.Participant{ID: a.owner.ID}, Audience: earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{a.owner.ID}}})
		if err != nil {
			t.Fatal(err)
		}
		is := func(key, text string) bool {
			return key == "room den" && strings.Contains(text, "cannot begin") && strings.Contains(text, "no agents")
		}
		for _, p := range a.cluster.State().Problems {
			if is(p.Part, p.Text) && p.Cure != "" {
				cluster++
			}
		}
		for _, n := range s.Faults {
			if is(n.Key, n.Text) && n.Cure != "" {
				state++
			}
		}
		return cluster, state
	}
	for _, mends := range []func(){func() { a.cluster.Began("den", nil, true) }, func() {}} {
		a.cluster.Began("den", errors.New("there are no agents"), true)
		if c, s := shown(); c+s > 0 {
			t.Errorf("it is told at once: %d, %d", c, s)
		}
		testkit.Await(t, testkit.Patience, "the state says it", func() bool {
			a.cluster.Began("den", errors.New("there are no agents"), true)
			c, s := shown()
			return c == 1 && s == 1
		})
		mends()
		testkit.Await(t, testkit.Patience, "the state says it no more", func() bool {
			c, s := shown()
			return c+s == 0
		})
	}
	a.cluster.Began("den", errors.New("there are no agents"), false) // as it ends
	a.end()
	if n := strings.Count(log.String(), "a room cannot begin here"); n != 2 {
		t.Errorf("it was logged %d times:\n%s", n, log.String())
	}
}

// TestClusterPeople: whoever one daemon comes to know, the others know, too; of two that meet somebody at the
// same time one makes them known; and so it is with agents.
func TestClusterPeople(t *testing.T) {
	server := pgtest.Start(t)
	h := &sharedHouse{t: t, server: server, url: server.Database(t)}
	a := h.join("a")
	a.owns()
	b := h.join("b")
	var arriving sync.WaitGroup
	for n := range 10 {
		for _, s := range []*sharer{a, b} {
			arriving.Go(func() {
				if _, err := s.people.Arrive(t.Context(), earshot.Handle{Provider: "discord", ID: fmt.Sprint(100 + n)}, participants.Newcomer{Names: []string{fmt.Sprint("Guest ", n)}}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	testkit.Finish(t, testkit.Patience, "all arrive", arriving.Wait)
	names := func(s *sharer) (all []string) {
		for _, p := range s.people.Everybody() {
			all = append(all, p.Name)
		}
		slices.Sort(all)
		return all
	}
	for _, s := range []*sharer{a, b} {
		if err := s.store.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(names(a), names(b)) {
		t.Errorf("one knows %q, the other %q", names(a), names(b))
	}
	created := 0
	for e, err := range a.store.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if body, is := e.Body.(earshot.Actor); is && body.Act == earshot.Created {
			created++
		}
	}
	if created != 10 {
		t.Errorf("10 people were made known %d times", created)
	}

	// While another daemon decides, and stands still in the middle of it, those who wait do not keep a lease from
	// being renewed.
	held, err := b.cluster.DB.Conn(t.Context())
	if err == nil {
		_, err = held.ExecContext(t.Context(), "SELECT pg_advisory_lock(?)", int64(0x70656f706c65))
	}
	if err != nil {
		t.Fatal(err)
	}
	lease := a.cluster.Lease("kitchen")
	for n := range 20 {
		arriving.Go(func() {
			if _, err := a.people.Arrive(t.Context(), earshot.Handle{Provider: "discord", ID: fmt.Sprint(200 + n)}, participants.Newcomer{Names: []string{fmt.Sprint("Late ", n)}}); err == nil {
				t.Error("two daemons decide at the same time")
			}
		})
	}
	testkit.Finish(t, testkit.Patience, "all give up", arriving.Wait)
	if !lease.Valid() {
		t.Error("a lease was lost because many wanted to be known")
	}
	if _, err = held.ExecContext(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Error(err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.people.Arrive(t.Context(), earshot.Handle{Provider: "discord", ID: "300"}, participants.Newcomer{Names: []string{"Last"}}); err != nil {
		t.Error(err)
	}

	refusals := func(s *sharer) *bot.OptOuts {
		t.Helper()
		o, err := bot.OpenOptOuts(s.Config().Store.Directory)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if err := errors.Join(refusals(a).Set(1, true), refusals(b).Set(2, true)); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, testkit.Patience, "who refuses to be heard at one does so at all", func() bool {
		return !slices.ContainsFunc([]*sharer{a, b}, func(s *sharer) bool { o := refusals(s); return !o.Out(1) || !o.Out(2) })
	})
}

// TestClusterCosts: a budget is that of all daemons together, whatever has become of a record or a
// connection.
func TestClusterCosts(t *testing.T) {
	server := pgtest.Start(t)
	h := &sharedHouse{t: t, server: server, url: server.Database(t)}
	a := h.join("a")
	b := h.join("b")
	spend := func(s *sharer, tokens int) {
		s.costs.CountRequest(llm.Usage{Priority: llm.Reasoning, Origin: llm.Origin{Unasked: true}, PromptTokens: tokens})
	}
	knows := func(s *sharer, tokens int64) {
		t.Helper()
		testkit.Await(t, testkit.Patience, "a daemon knows what all have spent", func() bool { return s.costs.UnaskedToday() == tokens })
		if got := usage.Sum(s.costs.Today(), usage.Unasked).Tokens(); got != tokens {
			t.Errorf("%d tokens are shown, want %d", got, tokens)
		}
	}
	next := *b.Config()
	next.Executive.Parallel.ReasoningContinuous, next.Executive.Parallel.TokensPerDay = true, 100
	b.current.Store(&next)
	spend(b, 40)
	knows(a, 40)
	if why := b.restReason(); why != "" {
		t.Errorf("it rests early: %s", why)
	}
	spend(a, 60)
	knows(b, 100)
	if b.restReason() == "" {
		t.Error("all is spent, and it does not rest")
	}
	if got := usage.Sum(b.costs.Here(), nil).Tokens(); got != 40 {
		t.Errorf("it takes what others have spent for its own: %d", got)
	}
	testkit.Await(t, testkit.Patience, "both are counted", func() bool { return a.server.Daemons() == 2 && b.server.Daemons() == 2 })

	for _, content := range []string{"'x'", "repeat('x', 1000000)::bytea"} { // until there is something new
		if _, err := a.cluster.DB.ExecContext(t.Context(), "UPDATE model_costs SET content = "+content+" WHERE member = 'a'"); err != nil {
			t.Fatal(err)
		}
		before := b.costs.UnaskedToday()
		bounded, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		if err := b.cluster.SyncCosts(bounded); err == nil || b.costs.UnaskedToday() != before {
			t.Errorf("a record with damage: %v; %d tokens, want %d", err, b.costs.UnaskedToday(), before)
		}
		cancel()
		spend(a, 1)
		knows(b, before+1)
	}
	b.relay.cut()
	spend(a, 7)
	spend(b, 1)
	knows(a, 109)
	b.relay.resume(t)
	knows(b, 110)
	knows(a, 110)
	knows(h.join("c"), 110)
}

// TestClusterForget: what one daemon forgets, the others have forgotten when that is confirmed, and after a
// while even if they could not be told.
func TestClusterForget(t *testing.T) {
	server := pgtest.Start(t)
	h := &sharedHouse{t: t, server: server, url: server.Database(t)}
	a := h.join("a")
	a.owns()
	b := h.join("b")
	testkit.Await(t, testkit.Patience, "each hears the other", func() bool { return len(a.cluster.Members()) == 2 && len(b.cluster.Members()) == 2 })
	operator, _ := b.people.Get(b.owner.ID)
	forgets := func(f api.EraseRequest) {
		t.Helper()
		p, err := b.eraser.Preview(t.Context(), operator, f)
		if err != nil {
			t.Fatal(err)
		}
		f.Digest = p.Digest
		if p, err = b.eraser.Erase(t.Context(), operator, f); err != nil || !p.Done || p.Events == 0 {
			t.Fatalf("forgotten is %+v, %v", p, err)
		}
	}
	kitchen, _ := a.rooms.Find("kitchen")
	learns := func(text string) earshot.EventID {
		t.Helper()
		e := earshot.Event{
			ID: a.id(), At: time.Now(), Room: "kitchen", From: earshot.Handle{Provider: "earshot", ID: "fact"}, Author: participants.Agent,
			Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Fact{Text: earshot.Text(text), Confidence: 1, Since: time.Now()},
		}
		if err := kitchen.Room.Keep(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	remembers := func() int {
		return len(a.memory.All(earshot.Audience{Room: "kitchen", Members: []earshot.ParticipantID{a.owner.ID}}, time.Now(), true))
	}
	arrives := func(id, name string) {
		t.Helper()
		if _, err := a.people.Arrive(t.Context(), earshot.Handle{Provider: "discord", ID: id}, participants.Newcomer{Names: []string{name}}); err != nil {
			t.Fatal(err)
		}
		if err := b.store.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, known := b.people.Find(name); !known {
			t.Fatal("the other does not know somebody")
		}
	}
	knows := func(name string) bool { _, known := a.people.Find(name); return known }

	keeps := learns("the cat is called Tom")
	goes := learns("the key is under the mat")
	if n := remembers(); n != 2 {
		t.Fatalf("%d facts are remembered", n)
	}
	a.beginning.RLock() // as while a room reads what is on record, before it can be told
	again := learns("the key is in the shed")
	forgets(api.EraseRequest{Events: []earshot.EventID{again}})
	if n := remembers(); n != 3 {
		t.Errorf("%d facts are remembered: a room that begins was not waited for", n)
	}
	a.beginning.RUnlock()
	testkit.Await(t, testkit.Patience, "the room hears what was forgotten as it began", func() bool { return remembers() == 2 })
	forgets(api.EraseRequest{Events: []earshot.EventID{goes}})
	if n := remembers(); n != 1 {
		t.Errorf("%d facts are remembered once it is confirmed that one of two is forgotten", n)
	}
	testkit.Await(t, testkit.Patience, "it is on record that something was forgotten", func() bool { return len(a.kept(earshot.KindForgotten)) == 2 })
	arrives("4711", "Zebedee")
	forgets(api.EraseRequest{Who: "Zebedee"})
	if knows("Zebedee") {
		t.Error("somebody is known once it is confirmed that they are forgotten")
	}

	arrives("4712", "Dougal")
	dougal, _ := a.people.Find("Dougal")
	spoke, voice := time.Now(), &earshot.Voice{Print: make([]float32, voiceprint.Size), Heard: time.Minute}
	voice.Print[0] = 1
	a.voices.Registry.Whose(voice, spoke)
	if _, err := a.voices.Registry.Teach(spoke, dougal.ID, speakers.Attestation{By: a.owner.ID, At: spoke}); err != nil {
		t.Fatal(err)
	}
	b.line.cut.Store(true)
	forgets(api.EraseRequest{Events: []earshot.EventID{keeps}})
	if n := len(a.kept(earshot.KindForgotten)); n != 3 {
		t.Errorf("it is on record %d times that something was forgotten, want 3 times, also while the bus is away", n)
	}
	testkit.Await(t, testkit.Patience, "the other hears from the database what is forgotten", func() bool { return remembers() == 0 })
	forgets(api.EraseRequest{Who: "Dougal"})
	testkit.Await(t, testkit.Patience, "the other hears from the database who is forgotten", func() bool { return !knows("Dougal") })
	testkit.Await(t, testkit.Patience, "and forgets their voice", func() bool { return len(a.voices.Registry.Known()) == 0 })
}
