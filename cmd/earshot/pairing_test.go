package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/satellite/pairing"
)

// freeAddress returns an address of this machine where nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
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
// back it is healed. Removed, it is let in no more.
func TestAloudSatellite(t *testing.T) {
	talks(t)
	p := newParlour(t, "EARSHOT_PROVIDERS_MICROPHONE_ENABLED=false", "EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED=false", "EARSHOT_BUS_LISTEN="+freeAddress(t))
	helpertest.Build(t, helper.BusProgram)
	p.scripted(talker)
	p.write("config/earshot/config.yaml", "rooms:\n  - {id: den, name: The Den}\n")
	d := p.daemon()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the daemon said:\n%s%s", d.out.String(), p.log())
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
	p.says(bob, "earshot, what is the weather like today")
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
	if said := string(p.heard(1)[0].Text); wrong(said, "earshot what is the weather like today") > 3 {
		t.Errorf("understood was %q", said)
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
	f = other.satellite("")
	p.satelliteIs("is back", hears)
	if r := p.earshot(nil, "pair", "remove", "kitchen"); r.code != 0 {
		t.Error(r.err)
	}
	testkit.Await(t, soon, "the end of it", func() bool {
		s, err := p.client().State(t.Context())
		return err == nil && len(s.Satellites) == 0
	})
	testkit.Await(t, soon, "what the satellite says about it", func() bool { return strings.Contains(f.out.String(), "pair") })
}

