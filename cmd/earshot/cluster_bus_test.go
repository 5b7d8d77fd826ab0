package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/satellite"
	far "earshot/satellite/client"
	"earshot/satellite/pairing"
	"earshot/server/client"
)

// A flock is three daemons that share rooms over a bus of several servers, and a satellite in the kitchen.
type flock struct {
	t        *testing.T
	postgres *pgtest.Server
	database string
	homes    []*home
	daemons  []*process
	sound    helper.Dialer // of the satellite's sound card; nil is one that plays nothing

	mu     sync.Mutex
	status far.Status // of the satellite
	since  time.Time  // when it was last connected,
	lost   time.Time  // and when it last was not
}

// newFlock returns daemons that do not run yet. configure returns the environment and the section bus of
// each.
func newFlock(t *testing.T, configure func(i int) (env []string, section string)) *flock {
	f := &flock{t: t, postgres: pgtest.Start(t, "max_connections=200")}
	url := f.postgres.Database(t)
	f.database = url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
	for i, name := range []string{"a", "b", "c"} {
		env, section := configure(i)
		h := newHome(t, append(env, "EARSHOT_STORE_URL="+url, "EARSHOT_CLUSTER_NAME="+name)...)
		h.write("config/earshot/config.yaml", "rooms: [{id: kitchen, name: The Den}]\n"+section)
		h.scripted("reply: All is well.\n")
		f.homes, f.daemons = append(f.homes, h), append(f.daemons, nil)
	}
	t.Cleanup(func() {
		for i, h := range f.homes {
			if log, err := os.ReadFile(filepath.Join(h.dir, "state/earshot/earshot.log")); err == nil && t.Failed() {
				t.Logf("daemon %d said:\n%s", i, log[max(0, len(log)-6000):])
			}
		}
	})
	return f
}

func (f *flock) start() {
	f.t.Helper()
	for i, h := range f.homes {
		if f.daemons[i] == nil {
			f.daemons[i] = h.daemon()
		}
	}
	f.owner()
}

// owner waits until a daemon has the kitchen, and returns which.
func (f *flock) owner() (i int) {
	f.t.Helper()
	testkit.Await(f.t, soon, "an owner of the kitchen", func() bool {
		id := f.postgres.Query(f.t, f.database, "SELECT owner FROM room_leases WHERE room = 'kitchen' AND until > clock_timestamp()")
		name, _, _ := strings.Cut(id, ".")
		i = slices.Index([]string{"a", "b", "c"}, name)
		return i >= 0
	})
	return i
}

// satellite runs a satellite until the test is over.
func (f *flock) satellite(id string, cfg nats.Config) {
	var conn *nats.Conn // of the goroutine that runs
	if f.sound == nil {
		f.sound = helpertest.Dialer(sound.Helper, playsNothing)
	}
	s := far.New(far.Config{
		ID: id, Build: "test", Muted: true, Notice: func(earshot.Notice) {},
		Connect: func(ctx context.Context) (_ bus.Bus, err error) {
			conn, err = nats.Connect(ctx, cfg)
			return conn, err
		},
		Media: helpertest.Dialer("media", idle),
		Sound: f.sound,
		Changed: func(s far.Status) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if s.Connected && !f.status.Connected {
				f.since = time.Now()
			} else if f.status.Connected && !s.Connected {
				f.lost = time.Now()
			}
			f.status = s
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		s.Run(ctx)
		if conn != nil {
			conn.Close()
		}
	})
	f.t.Cleanup(func() {
		stop()
		testkit.Finish(f.t, testkit.Patience, "the satellite ends", running.Wait)
	})
}

func idle(_ context.Context, s *helper.Server) error {
	go s.Sounds(func(helper.Sound) error { return nil })
	return s.Controls(func(helper.Control) error { return nil })
}

// playsNothing is a sound card that opens what it is told to, and neither hears nor plays.
func playsNothing(_ context.Context, s *helper.Server) error {
	go s.Sounds(func(helper.Sound) error { return nil })
	s.Send(sound.SayReady, nil)
	return s.Controls(func(c helper.Control) error {
		var n sound.Open
		c.Decode(&n)
		switch c.Name {
		case sound.SayOpen:
			return s.Send(sound.SayOpened, sound.Opened{Number: n.Number, Device: "far"})
		case sound.SayClose:
			return s.Send(sound.SayClosed, sound.Stream{Number: n.Number})
		}
		return nil
	})
}

// joins waits until the satellite is connected to whoever has the kitchen, since a time at the earliest, and
// returns how long after that time it was.
func (f *flock) joins(what string, after time.Time) (took time.Duration) {
	f.t.Helper()
	testkit.Await(f.t, soon, what, func() bool {
		f.mu.Lock()
		took = f.since.Sub(after)
		connected := f.status.Connected && took > 0
		f.mu.Unlock()
		if !connected {
			return false
		}
		s, err := (&client.Client{Socket: f.homes[f.owner()].socket, Room: "kitchen"}).State(f.t.Context())
		return err == nil && len(s.Satellites) == 1 && s.Satellites[0].Connected
	})
	return took
}

// asks waits until whoever has the kitchen takes a question.
func (f *flock) asks() {
	f.t.Helper()
	testkit.Await(f.t, soon, "a question is taken", func() bool {
		_, err := (&client.Client{Socket: f.homes[f.owner()].socket, Room: "kitchen"}).Post(f.t.Context(), "", "how is it?")
		return err == nil
	})
}

// kills kills who has the kitchen, and returns after how long another has its satellite.
func (f *flock) kills() time.Duration {
	f.t.Helper()
	i := f.owner()
	killed := time.Now()
	f.daemons[i].end(syscall.SIGKILL)
	f.daemons[i] = nil
	took := f.joins("the satellite joins at another daemon", killed)
	f.asks()
	f.daemons[i] = f.homes[i].daemon()
	return took
}

// newNest returns daemons that each have a server of the bus.
func newNest(t *testing.T, path, config string) *flock {
	var listens, routes []string
	for range 3 {
		listens, routes = append(listens, freeAddress(t)), append(routes, freeAddress(t))
	}
	return newFlock(t, func(i int) ([]string, string) {
		return []string{"PATH=" + path}, config + fmt.Sprintf("bus:\n  listen: %s\n  addresses: [%s]\n  cluster: {listen: %q, servers: [%s]}\n", listens[i], strings.Join(listens, ", "), routes[i], strings.Join(routes, ", "))
	})
}

// pairs pairs the satellite at one daemon, and returns its code when it has joined.
func (f *flock) pairs() pairing.Code {
	f.t.Helper()
	code, err := pairing.Decode(f.homes[2].earshot(nil, "pair", "oven", "--room", "kitchen").out)
	if err != nil || len(code.Addresses) != len(f.homes) {
		f.t.Fatalf("the code is for %v, %v", code.Addresses, err)
	}
	f.satellite(code.ID, nats.Config{Servers: code.Addresses, Seed: code.Seed, Inbox: satellite.RightsOf(code.ID).Inbox, Certificates: []string{hex.EncodeToString(code.Certificate)}})
	f.joins("the satellite joins", time.Time{})
	return code
}

// TestClusterSatelliteHeard: while a satellite speaks, the daemon that has its room is killed. What came out of its
// loudspeaker is on record once, as cut short, before the question is answered again.
func TestClusterSatelliteHeard(t *testing.T) {
	path := helpertest.Build(t, helper.BusProgram, helper.SpeechProgram, helper.SoundProgram)
	f := newNest(t, path, "executive: {speech: {answer_typed_aloud: true}}\n")
	room, log := soundtest.Start(t), slog.New(slog.NewTextHandler(t.Output(), nil))
	f.sound = func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: helper.SoundProgram, Path: filepath.Join(path, helper.SoundProgram), Env: room.Env(), Log: log})
	}
	for _, h := range f.homes {
		h.scripted(counts)
	}
	f.start()
	f.pairs()
	replies := func() (all []earshot.Reply) {
		for _, e := range (&trio{t: t, servers: []*pgtest.Server{f.postgres}, database: f.database}).journal() {
			if r, is := e.Body.(earshot.Reply); is {
				all = append(all, r)
			}
		}
		return all
	}
	at := func() *client.Client { return &client.Client{Socket: f.homes[f.owner()].socket, Room: "kitchen"} }
	const outlet = "satellite oven"
	testkit.Await(t, soon, "the satellite speaks", func() bool { // which the loudspeaker may not do at once
		if _, err := at().Post(t.Context(), "", "count"); err != nil {
			return false
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		for view := range at().Live(ctx) {
			for _, r := range view.Replies {
				if slices.ContainsFunc(r.Heard, func(d earshot.Delivery) bool { return d.Outlet == outlet && d.Bytes > len("one two three ") }) {
					return true
				}
			}
		}
		return false
	})
	before, i := len(replies()), f.owner()
	f.daemons[i].end(syscall.SIGKILL)
	var since []earshot.Reply
	testkit.Await(t, testkit.Patience, "the question is answered", func() bool {
		since = replies()[before:]
		return slices.ContainsFunc(since, func(r earshot.Reply) bool { return r.Outcome == earshot.Completed })
	})
	cut := since[0]
	if len(since) != 2 || cut.Outcome != earshot.Interrupted || !strings.HasPrefix(string(cut.Delivered()), "one two three ") || cut.About != since[1].About || len(cut.Heard) != 1 || cut.Heard[0].Outlet != outlet {
		t.Errorf("on record are %+v", since)
	}
	t.Logf("of the lost reply %q was heard", string(cut.Delivered()))
}

// TestClusterSatellite: a satellite that was paired at one of three daemons, each with a server of the bus,
// joins whoever has its room, and so does its console: after that was killed with its server, and when it gives the room away.
func TestClusterSatellite(t *testing.T) {
	f := newNest(t, helpertest.Build(t, helper.BusProgram), "")
	f.start()
	code := f.pairs()
	w := newHome(t).begin("satellite", "chat")
	w.await("The code that", 1)
	w.types(code.Encode().Reveal() + "\r")
	says := func(line string) {
		t.Helper()
		before := strings.Count(w.text(), "All is well.")
		w.says(line)
		testkit.Await(t, soon, "that it is kept: "+line, func() bool {
			return strings.Contains(f.homes[f.owner()].earshot(nil, "history", "--room", "kitchen").out, line)
		})
		w.await("All is well.", before+1)
	}
	w.await(">", 1)
	says("how is the oven?")
	for n := range 2 {
		t.Logf("after kill -9 the satellite is elsewhere after %v", f.kills())
		says(fmt.Sprintf("how is the oven now? %d", n))
	}
	i, began := f.owner(), time.Now()
	if r := f.homes[i].earshot(nil, "cluster", "drain", []string{"a", "b", "c"}[i]); r.code != 0 {
		t.Fatalf("drain: %s%s", r.out, r.err)
	}
	took := f.joins("the satellite follows the room", began)
	t.Logf("after the command to drain the satellite is elsewhere after %v, and was connected to nobody for %v", took, f.since.Sub(f.lost))
	if f.owner() == i {
		t.Error("who was drained has the kitchen")
	}
	f.asks()
	says("how is the oven there?")
}

// A rack is three servers of NATS that are one cluster, as others run them.
type rack struct {
	t         *testing.T
	program   string
	files     []string
	addresses []string
	running   []*process
}

// newRack returns servers that do not run yet. users is how they know who may connect.
func newRack(t *testing.T, cert natsserver.Certificate, users string) *rack {
	t.Helper()
	dir := t.TempDir()
	r := &rack{t: t, program: filepath.Join(helpertest.Build(t, helper.BusProgram), "nats-server"), running: make([]*process, 3)}
	if _, err := os.Stat(r.program); err != nil {
		if out, err := testkit.Command(t, "go", "build", "-o", r.program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
			t.Fatalf("building nats-server: %v\n%s", err, out)
		}
	}
	for name, data := range map[string]string{"cert.pem": string(cert.PEM), "key.pem": cert.Key.Reveal()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var routes []string
	for range 3 {
		routes = append(routes, freeAddress(t))
		r.addresses = append(r.addresses, strings.Replace(freeAddress(t), "127.0.0.1", "localhost", 1))
	}
	for i := range 3 {
		file := filepath.Join(dir, fmt.Sprint(i))
		text := fmt.Sprintf("listen: %q\ntls { cert_file: %q, key_file: %q, handshake_first: auto }\nauthorization { users = [ %s ] }\ncluster { name: rack, listen: %q, routes: [ %s ] }\n",
			r.addresses[i], dir+"/cert.pem", dir+"/key.pem", users, routes[i], "nats://"+strings.Join(routes, ", nats://"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.files = append(r.files, file)
	}
	return r
}

func (r *rack) start(i int) {
	r.t.Helper()
	p := &process{Cmd: testkit.Command(r.t, r.program, "-c", r.files[i]), t: r.t, done: make(chan struct{})}
	p.Stderr = &p.out
	if err := p.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { p.Wait(); close(p.done) }()
	r.t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		if r.t.Failed() {
			r.t.Logf("server %d said:\n%s", i, bytes.TrimSpace(p.out.Bytes()))
		}
	})
	r.running[i] = p
}

// TestClusterForeignServers: three daemons and a satellite use three NATS servers that are there; each of
// these is killed in turn, and is back before the next.
func TestClusterForeignServers(t *testing.T) {
	cert := natstest.NewCertificate(t)
	seed, hub := natstest.NewKey(t)
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, cert.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	var made struct {
		Key    string
		Rights satellite.Rights
		Code   string
	}
	servers := []string{freeAddress(t)} // of the configuration in which the satellite is paired
	section := func() string {
		return fmt.Sprintf("bus:\n  servers: [%s]\n  seed: %s\n", strings.Join(servers, ", "), seed.Reveal())
	}
	f := newFlock(t, func(int) ([]string, string) { return []string{"SSL_CERT_FILE=" + trusted}, section() })
	if out := f.homes[0].earshot(nil, "pair", "oven", "--room", "kitchen", "--json"); json.Unmarshal([]byte(out.out), &made) != nil {
		t.Fatalf("%s%s", out.out, out.err)
	}
	quoted := func(all []string) string { return `["` + strings.Join(all, `", "`) + `"]` }
	r := newRack(t, cert, fmt.Sprintf("{ nkey: %s }, { nkey: %s, permissions: { publish: %s, subscribe: %s } }", hub, made.Key, quoted(made.Rights.Publish), quoted(made.Rights.Subscribe)))
	servers = r.addresses
	for i, h := range f.homes {
		h.write("config/earshot/config.yaml", "rooms: [{id: kitchen, name: The Den}]\n"+section())
		r.start(i)
	}
	code, err := pairing.Decode(made.Code)
	if err != nil {
		t.Fatal(err)
	}
	f.start()
	f.satellite(code.ID, nats.Config{Servers: servers, Seed: code.Seed, Inbox: made.Rights.Inbox, Certificates: []string{cert.SHA256()}})
	f.joins("the satellite joins", time.Time{})
	f.asks()
	for i := range r.running {
		r.running[i].end(syscall.SIGKILL)
		killed := time.Now()
		f.asks()
		testkit.Await(t, soon, "all daemons and the satellite are connected to others", func() bool {
			return f.well() && f.joins("the satellite is there", time.Time{}) > 0
		})
		t.Logf("after server %d was killed all is well after %v", i, time.Since(killed))
		r.start(i)
	}
	t.Logf("after kill -9 of a daemon the satellite is elsewhere after %v", f.kills())
}

// well reports whether each daemon hears the others.
func (f *flock) well() bool {
	for _, h := range f.homes {
		s, err := h.client().Cluster(f.t.Context())
		if err != nil || len(s.Members) != len(f.homes) || slices.ContainsFunc(s.Members, func(m api.ClusterMember) bool { return !m.Present }) {
			return false
		}
	}
	return true
}
