package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/testkit"
	"earshot/satellite"
	"earshot/satellite/pairing"
	"earshot/server/client"
)

// freeAddress returns an address of this machine where nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	address, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// TestPair: a satellite is paired for a room, listed and removed; a mistake is explained with what to
// do.
func TestPair(t *testing.T) {
	h := newHome(t)
	config := h.write("config/earshot/config.yaml", "rooms:\n  - {id: den, name: The Den}\n")
	if r := h.earshot(nil, "pair", "kitchen"); r.code != misused || !strings.Contains(r.err, "bus.listen is not set") || !strings.Contains(r.err, "listen: \":4223\"") {
		t.Errorf("without a bus: %d, %s", r.code, r.err)
	}
	if err := os.WriteFile(config, []byte("bus:\n  listen: \":4223\"\nrooms:\n  - {id: den, name: The Den}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := h.earshot(nil, "pair", "kitchen", "--room", "the den")
	code, err := pairing.Decode(r.out)
	if r.code != 0 || err != nil || code.ID != "kitchen" || len(code.Addresses) == 0 || len(code.Certificate) != 32 || !strings.Contains(r.err, "The Den") {
		t.Fatalf("%d: %+v, %v\n%s", r.code, code, err, r.err)
	}
	for _, a := range code.Addresses {
		if !strings.HasSuffix(a, ":4223") || strings.Contains(a, "127.0.0.1") {
			t.Errorf("it is told to look at %s", a)
		}
	}
	h.env = append(h.env, "EARSHOT_BUS_LISTEN=127.0.0.1:4223")
	r = h.earshot(nil, "pair", "bath", "--json")
	var made struct {
		Room      earshot.RoomID
		Addresses []string
		Code      string
	}
	if err := json.Unmarshal([]byte(r.out), &made); err != nil || made.Room != earshot.Desk || strings.Join(made.Addresses, "") != "127.0.0.1:4223" {
		t.Errorf("%+v, %v: %s", made, err, r.err)
	}
	if other, err := pairing.Decode(made.Code); err != nil || string(other.Certificate) != string(code.Certificate) {
		t.Errorf("%+v, %v", other, err)
	}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"pair kitchen", misused, "earshot pair remove kitchen"},
		{"pair Kitchen", misused, "small letters"},
		{"pair attic --room cellar", notFound, "desk, den"},
		{"pair remove attic", notFound, "earshot pair list"},
		{"pair list", 0, "kitchen  in the room den"},
		{"pair remove kitchen", 0, "Removed."},
		{"pair list --json", 0, `"id": "bath"`},
	} {
		if r := h.earshot(nil, strings.Fields(tt.args)...); r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) {
			t.Errorf("earshot %s: %d, %s%s; want %q", tt.args, r.code, r.out, r.err, tt.want)
		}
	}
}

// TestPairServers: a satellite is told to look for other servers at the addresses that are said, and not where the hub
// finds them; and its code can be read also if there are as many as there may be.
func TestPairServers(t *testing.T) {
	h := newHome(t)
	all := func(host string) string {
		return strings.TrimSuffix(strings.Repeat(host+":4222, ", bus.MaxAddresses), ", ")
	}
	h.write("config/earshot/config.yaml", "bus: {seed: SU, servers: ["+all("inside")+"], addresses: ["+all("outside")+"]}\n")
	r := h.earshot(nil, "pair", "kitchen")
	if code, err := pairing.Decode(r.out); err != nil || strings.Join(code.Addresses, ", ") != all("outside") {
		t.Errorf("%v, %v\n%s", code.Addresses, err, r.err)
	}
	_, key, _ := strings.Cut(r.err, "nkey ")
	key, _, _ = strings.Cut(key, ",")
	if r = h.earshot(nil, "pair", "remove", "kitchen"); key == "" || !strings.Contains(r.err, "Take the nkey "+key+" out of the servers") {
		t.Errorf("after the removal of the key %q: %s", key, r.err)
	}
}

// A farProcess is an "earshot satellite" that runs.
type farProcess struct {
	*exec.Cmd
	out  bytes.Buffer
	done chan struct{}
}

// satellite starts a satellite that is paired by a code, and ends it with the test.
func (h *home) satellite(code string, args ...string) *farProcess {
	h.t.Helper()
	f := &farProcess{Cmd: h.command(append([]string{"satellite"}, args...)...), done: make(chan struct{})}
	f.Stdin, f.Stdout, f.Stderr = strings.NewReader(code+"\n"), &f.out, &f.out
	if err := f.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() { f.Wait(); close(f.done) }()
	h.t.Cleanup(func() {
		f.Process.Signal(syscall.SIGKILL)
		testkit.Receive(h.t, testkit.Patience, "the end of the satellite", f.done)
		if h.t.Failed() {
			h.t.Logf("the satellite said:\n%s", f.out.String())
		}
	})
	return f
}

// satelliteIs waits until a satellite is as ok says.
func (h *home) satelliteIs(what string, ok func(api.Satellite) bool) {
	h.t.Helper()
	testkit.Await(h.t, soon, "a satellite that "+what, func() bool {
		s, err := h.client().State(h.t.Context())
		return err == nil && len(s.Satellites) == 1 && ok(s.Satellites[0])
	})
}

// TestAloudSatellite: a machine that is paired while earshot runs becomes the ears and the mouth of
// another room, by a real bus. What is heard there is understood and answered there, and nowhere else,
// and it is known what was heard of the answer. When the machine goes, that is told, and when it comes
// back it is healed; then it recognises speech itself. Removed, it is let in no more.
func TestAloudSatellite(t *testing.T) {
	talks(t)
	p := newParlour(t, "EARSHOT_PROVIDERS_MICROPHONE_ENABLED=false", "EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED=false", "EARSHOT_BUS_LISTEN="+freeAddress(t))
	helpertest.Build(t, helper.BusProgram)
	p.scripted(talker)
	p.write("config/earshot/config.yaml", "rooms:\n  - {id: den, name: The Den}\n")
	d := p.daemon()
	t.Cleanup(func() {
		if t.Failed() {
			shown := p.earshot(nil, "history", "-n", "100").out
			status := p.earshot(nil, "status").out
			t.Logf("the daemon said:\n%s%s\nand history has\n%s\nand status\n%s", d.out.String(), p.log(), shown, status)
		}
	})
	code := p.earshot(nil, "pair", "kitchen", "--room", "den").out
	other := newHome(t) // of the other machine, which has only its helpers and its sound in common
	other.env = append(other.env, p.card.Env()...)
	for _, e := range p.env {
		if strings.HasPrefix(e, "PATH=") {
			other.env = append(other.env, e)
		}
	}
	f := other.satellite(code)
	hears := func(s api.Satellite) bool { return s.Connected && !s.Muted }
	p.satelliteIs("hears", hears)
	testkit.Await(t, soon, "its ears and its mouth", func() bool {
		in, out, err := p.card.Streams()
		return err == nil && in >= 1 && out >= 1
	})
	recording := p.records()
	p.asks(bob, "earshot, what is the weather like today", recording)
	reply := p.replied(1)[0]
	if reply.Outcome != earshot.Completed || reply.Delivered() != "It is warm and dry today." {
		t.Errorf("the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	rendered(t, "It is warm and dry today.").truthful(t, reply, p.recorded(recording))
	for _, e := range p.journal() {
		if _, said := e.Body.(earshot.Utterance); said && (e.Room != "den" || e.Via != "satellite kitchen" || e.From.Provider != "satellite") {
			t.Errorf("it was heard in %s, via %s, from %+v", e.Room, e.Via, e.From)
		}
	}
	if heard := p.heard(1); wrong(string(heard[len(heard)-1].Text), "earshot what is the weather like today") > 3 {
		t.Errorf("understood was %q", string(heard[len(heard)-1].Text))
	}

	f.Process.Signal(syscall.SIGUSR1)
	p.satelliteIs("is muted", func(s api.Satellite) bool { return s.Muted })
	f.Process.Signal(syscall.SIGUSR1)
	p.satelliteIs("hears again", hears)
	f.Process.Signal(syscall.SIGKILL)
	p.satelliteIs("is gone", func(s api.Satellite) bool { return !s.Connected })
	if shown := p.earshot(nil, "status").out; !strings.Contains(shown, "satellite kitchen, in the room den: not connected since") {
		t.Errorf("status shows\n%s", shown)
	}
	f = other.satellite("", "--recognise")
	p.satelliteIs("is back, and recognises", func(s api.Satellite) bool { return hears(s) && s.Recognises })
	testkit.Await(t, soon, "its ears and its mouth again", func() bool {
		in, out, err := p.card.Streams()
		return err == nil && in >= 1 && out >= 1
	})
	p.asks(bob, "earshot, what is the weather like today", p.records())
	if reply := p.replied(2)[1]; reply.Outcome != earshot.Completed || reply.Delivered() != "It is warm and dry today." {
		t.Errorf("to what was recognised there, the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	if heard := p.heard(2); wrong(string(heard[len(heard)-1].Text), "earshot what is the weather like today") > 3 {
		t.Errorf("there, understood was %q", string(heard[len(heard)-1].Text))
	}
	p.satelliteIs("has recognised it", func(s api.Satellite) bool { return s.Recognises && s.Forged == 0 })
	if r := p.earshot(nil, "pair", "remove", "kitchen"); r.code != 0 {
		t.Error(r.err)
	}
	testkit.Await(t, soon, "the end of it", func() bool {
		s, err := p.client().State(t.Context())
		return err == nil && len(s.Satellites) == 0
	})
	testkit.Await(t, soon, "what the satellite says about it", func() bool { return strings.Contains(f.out.String(), "pair") })
}

// A farEnd is a satellite that the test itself is: it opens what the hub asks for.
type farEnd struct {
	server *helper.Server
	told   chan string // what the hub says, but questions for the time
	ended  chan error
	hangUp func()
	input  uint32 // that is open, of the goroutine that takes what the hub says
}

// connects connects with the bus by a code.
func connects(t *testing.T, code pairing.Code) (*nats.Conn, error) {
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	return nats.Connect(ctx, nats.Config{
		Servers: code.Addresses, Seed: code.Seed, Inbox: satellite.RightsOf(code.ID).Inbox, Certificates: []string{hex.EncodeToString(code.Certificate)},
	})
}

// joins has the test join as a satellite by a code.
func joins(t *testing.T, code pairing.Code) *farEnd {
	t.Helper()
	var conn *nats.Conn
	testkit.Await(t, soon, "the bus", func() (ok bool) { // which learns of it within a second
		var err error
		conn, err = connects(t, code)
		return err == nil
	})
	t.Cleanup(conn.Close)
	var w satellite.Welcome
	testkit.Await(t, soon, "the hub", func() bool { // which may still be opening its own connection
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		answer, err := conn.Request(ctx, satellite.JoinSubject(code.ID), fmt.Appendf(nil, `{"version": %d, "build": "test"}`, satellite.Version))
		return err == nil && json.Unmarshal(answer, &w) == nil && w.Session != 0
	})
	if w.Room != "The Den" || len(w.Names) != 1 {
		t.Errorf("it is welcomed by %+v", w)
	}
	c, err := satellite.Open(t.Context(), conn, code.ID, w.Session, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &farEnd{told: make(chan string, 100), ended: make(chan error, 1), hangUp: c.HangUp}
	go func() {
		f.ended <- helper.Serve(t.Context(), "satellite", c.Conn, func(_ context.Context, s *helper.Server) error {
			f.server = s
			s.Send(sound.SayReady, nil)
			return s.Controls(f.take)
		})
	}()
	t.Cleanup(func() {
		c.HangUp()
		testkit.Receive(t, testkit.Patience, "the end of the satellite", f.ended)
		c.Close()
	})
	return f
}

func (f *farEnd) take(c helper.Control) error {
	var n sound.Open
	switch c.Name {
	case satellite.SayAsk:
		var a satellite.TimeRequest
		c.Decode(&a)
		if f.input > 0 { // asked once a second, it says that it is quiet there
			p := satellite.Packet{Frame: audio.Frame{At: time.Now()}, Opus: []byte{0xf8}, Quiet: true, Level: -60}
			f.server.SendSound(f.input, p.Append(nil))
		}
		return f.server.Send(satellite.SayTime, satellite.TimeReply{Number: a.Number, At: time.Now().UnixNano()})
	case sound.SayOpen:
		c.Decode(&n)
		f.told <- fmt.Sprintf("open %t", n.Output)
		if !n.Output {
			f.input = n.Number
		}
		return f.server.Send(sound.SayOpened, sound.Opened{Number: n.Number, Device: "far"})
	case sound.SayClose:
		c.Decode(&n)
		f.told <- "close"
		return f.server.Send(sound.SayClosed, sound.Stream{Number: n.Number})
	}
	return nil
}

// hears waits until the hub says something.
func (f *farEnd) hears(t *testing.T, want string) {
	t.Helper()
	for {
		if got := testkit.Receive(t, soon, want, f.told); got == want {
			return
		}
	}
}

// TestSatelliteJoins: what is paired while the daemon runs is let in by its own bus, for its room. The
// modes of that room, and muting there, close its microphone, and another room's do not. What is removed
// is disconnected, and its key is good for nothing; so is that of another satellite.
func TestSatelliteJoins(t *testing.T) {
	dir := helpertest.Build(t, helper.BusProgram)
	h := newHome(t, "PATH="+dir, "EARSHOT_BUS_LISTEN="+freeAddress(t))
	h.write("config/earshot/config.yaml", "rooms:\n  - {id: den, name: The Den}\n")
	h.scripted(talker)
	d := h.daemon()
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(h.dir, "state/earshot/earshot.log"))
			t.Logf("the daemon said:\n%s%s", d.out.String(), log)
		}
	})
	code, err := pairing.Decode(h.earshot(nil, "pair", "kitchen", "--room", "den").out)
	if err != nil {
		t.Fatal(err)
	}
	f := joins(t, code)
	h.satelliteIs("is there", func(s api.Satellite) bool { return s.Connected && s.Build == "test" && s.Room == "den" })
	f.hears(t, "open false")
	for _, step := range []struct{ do, want string }{
		{"mute", ""}, {"unmute", ""}, // at the desk, which does not concern it
		{"mute --room den", "close"}, {"unmute --room den", "open false"},
		{"pause --room den", "close"}, {"resume --room den", "open false"},
	} {
		if r := h.earshot(nil, strings.Fields(step.do)...); r.code != 0 {
			t.Fatalf("%s: %s", step.do, r.err)
		}
		if step.want != "" {
			f.hears(t, step.want)
		}
	}
	f.server.Send(satellite.SayState, satellite.State{Muted: true})
	f.hears(t, "close")
	h.satelliteIs("is muted", func(s api.Satellite) bool { return s.Muted })
	f.server.Send(satellite.SayState, satellite.State{})
	f.hears(t, "open false")
	if shown := h.earshot(nil, "status").out; !strings.Contains(shown, "● satellite kitchen, in the room den: connected since") {
		t.Errorf("status shows\n%s", shown)
	}
	f.server.Send(satellite.SayState, satellite.State{Recognises: true})
	testkit.Await(t, soon, "the status says where speech is recognised", func() bool {
		return strings.Contains(h.earshot(nil, "status").out, "recognises speech there")
	})

	f.hangUp() // as if its plug was pulled
	faults := func(want int) {
		t.Helper()
		testkit.Await(t, soon, "what people in its room are told", func() bool {
			s, err := (&client.Client{Socket: h.socket, Room: "den"}).State(t.Context())
			n := 0
			for _, fault := range s.Faults {
				if fault.Key == "satellite kitchen" && strings.Contains(fault.Text, "nothing is heard") && fault.Cure != "" {
					n++
				}
			}
			return err == nil && n == want
		})
	}
	faults(1)
	h.satelliteIs("is gone", func(s api.Satellite) bool { return !s.Connected && !s.Since.IsZero() && s.Lost == 1 })
	f = joins(t, code)
	f.hears(t, "open false")
	faults(0)

	if r := h.earshot(nil, "pair", "remove", "kitchen"); r.code != 0 {
		t.Fatal(r.err)
	}
	testkit.Receive(t, soon, "the end of its session", f.ended)
	f.ended <- nil // for the end of the test
	testkit.Await(t, soon, "that its key is refused", func() bool {
		c, err := connects(t, code)
		if err == nil {
			c.Close()
		}
		return errors.Is(err, bus.ErrRefused)
	})
}
