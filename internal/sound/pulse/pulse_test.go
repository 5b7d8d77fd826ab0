package pulse_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/sound/pulse"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const soon = 20 * time.Second

// nowhere clears everything in the environment that leads to a sound server.
func nowhere(t *testing.T) {
	for _, name := range []string{"PULSE_SERVER", "PULSE_RUNTIME_PATH", "XDG_RUNTIME_DIR", "PULSE_COOKIE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
}

// answering starts a server that calls do with each connection, and returns its address.
func answering(t *testing.T, network, address string, do func(net.Conn)) string {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			do(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		testkit.Receive(t, testkit.Patience, "the end of the sound server", over)
	})
	return l.Addr().String()
}

func TestDialNobody(t *testing.T) {
	nowhere(t)
	if _, err := pulse.Dial(); err != pulse.ErrNone {
		t.Errorf("without a trace of a server: %v, want ErrNone", err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if _, err := pulse.Dial(); err != pulse.ErrNone {
		t.Errorf("without a socket: %v, want ErrNone", err)
	}
	for _, server := range []string{"unix:" + dir + "/gone", dir + "/gone", "tcp:127.0.0.1:1", "{x}unix:" + dir + "/gone", "nonsense " + dir + "/gone"} {
		t.Setenv("PULSE_SERVER", server)
		if _, err := pulse.Dial(); err != pulse.ErrSilent {
			t.Errorf("PULSE_SERVER=%s: %v, want that it does not answer", server, err)
		}
	}
}

// TestDialBroken: a server that misbehaves leads to an error, and soon.
func TestDialBroken(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(net.Conn)
	}{
		{"it hangs up", func(c net.Conn) { c.Close() }},
		{"it says nothing", func(c net.Conn) { time.AfterFunc(2*pulse.Patience, func() { c.Close() }) }},
		{"it refuses", func(c net.Conn) {
			defer c.Close()
			c.Read(make([]byte, 1024))
			c.Write([]byte("\x00\x00\x00\x0f\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00L\x00\x00\x00\x00L\x00\x00\x00\x00L\x00\x00\x00\x01"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nowhere(t)
			t.Setenv("PULSE_SERVER", "tcp:"+answering(t, "tcp", "127.0.0.1:0", tt.do))
			began := time.Now()
			if _, err := pulse.Dial(); err == nil || errors.Is(err, pulse.ErrNone) {
				t.Errorf("dialled: %v", err)
			}
			if took := time.Since(began); took > 3*pulse.Patience {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestServer asks a real server.
func TestServer(t *testing.T) {
	testkit.Need(t, "voice")
	server := soundtest.Start(t)
	for _, set := range server.Env() {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	s, err := pulse.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	sources, sinks, err := s.Devices()
	if err != nil || len(sources) != 2 || len(sinks) != 2 {
		t.Fatalf("listed %+v and %+v, %v", sources, sinks, err)
	}
	if in := sources[0]; in.Name != soundtest.Source || !in.Default || in.Monitors != soundtest.Microphone {
		t.Errorf("the first source is %+v", in)
	}
	if r, err := s.Route(os.Getpid()); err != nil || r.Source != nil || r.Sink != nil {
		t.Errorf("without streams the route is %+v, %v", r, err)
	}

	rec, err := server.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, soon, "the capture is seen", func() bool {
		r, err := s.Route(rec.Pid())
		return err == nil && r.Source != nil && r.Source.Name == soundtest.Echo && r.Source.Monitors == soundtest.Speaker && r.Sink == nil
	})
	select {
	case <-s.Changed():
	case <-time.After(soon):
		t.Error("nothing said that a stream began")
	}
	rec.Stop()
	testkit.Await(t, soon, "the capture is gone", func() bool {
		r, err := s.Route(rec.Pid())
		return err == nil && r.Source == nil
	})

	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := s.Route(1); err != pulse.ErrSilent || time.Since(began) > 3*pulse.Patience {
		t.Errorf("a frozen server answered %v after %v", err, time.Since(began))
	}
	server.Kill()
	if _, _, err := s.Devices(); err == nil {
		t.Error("a dead server answers")
	}
	if _, err := pulse.Dial(); err != pulse.ErrSilent {
		t.Errorf("dialling a dead server: %v", err)
	}
}

func TestLooped(t *testing.T) {
	mic := &pulse.Device{Name: "mic"}
	monitor := &pulse.Device{Name: "speaker.monitor", Monitors: "speaker"}
	speaker, other := &pulse.Device{Name: "speaker"}, &pulse.Device{Name: "other"}
	for _, tt := range []struct {
		r    pulse.Route
		want bool
	}{
		{pulse.Route{}, false},
		{pulse.Route{Source: mic, Sink: speaker}, false},
		{pulse.Route{Source: monitor}, false},
		{pulse.Route{Source: monitor, Sink: other}, false},
		{pulse.Route{Source: monitor, Sink: speaker}, true},
	} {
		if got := tt.r.Looped(); got != tt.want {
			t.Errorf("%+v looped: %v", tt.r, got)
		}
	}
}
