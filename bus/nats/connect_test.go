package nats_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/bus"
	"earshot/bus/bustest"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
)

// listener serves whoever connects until the test is over, and returns its address.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			t.Cleanup(func() { c.Close() })
			go serve(c)
		}
	}()
	return l.Addr().String()
}

// TestConnectErrors: whoever cannot connect is told why, where, and what to do.
func TestConnectErrors(t *testing.T) {
	s := natstest.Start(t, natsserver.Config{})
	stranger, _ := natstest.NewKey(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	says := func(what string) string { return listener(t, func(c net.Conn) { io.WriteString(c, what); c.Close() }) }
	web, ssh := says("HTTP/1.1 400 Bad Request\r\n\r\n"), says("SSH-2.0-OpenSSH_9.9\r\n")
	plain, open, small := foreign(t, ""), foreign(t, secure), foreign(t, secure+"max_payload: 65536")
	pair, err := tls.X509KeyPair(trusted.PEM, []byte(trusted.Key.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	old := listener(t, func(c net.Conn) {
		io.WriteString(c, "INFO {\"tls_required\":true,\"max_payload\":1048576}\r\n")
		c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}})
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if lines.Text() == "PING" {
				io.WriteString(c, "PONG\r\n")
			}
		}
	})
	old = strings.Replace(old, "127.0.0.1", "localhost", 1)
	for _, tt := range []struct {
		name   string
		change func(*nats.Config)
		want   string
		is     error
	}{
		{"nobody", func(c *nats.Config) { c.Servers = []string{nobody} }, "nobody answers at " + nobody + "; see that earshot runs there", nil},
		{"nobody at two", func(c *nats.Config) { c.Servers = []string{nobody, nobody} }, "nobody answers at " + nobody + ", " + nobody, nil},
		{"another certificate", func(c *nats.Config) { c.Certificates = []string{strings.Repeat("ab", 32)} }, "is not the one that is expected", nil},
		{"another key", func(c *nats.Config) { c.Seed = stranger }, "pair it again: earshot pair", bus.ErrRefused},
		{"another key, and what is done about it", func(c *nats.Config) { c.Seed, c.Renew = stranger, "ask Ann" }, "the bus refuses it; ask Ann", bus.ErrRefused},
		{"no key", func(c *nats.Config) { c.Seed = "" }, "pair it again: earshot pair", bus.ErrRefused},
		{"a damaged key", func(c *nats.Config) { c.Seed = c.Seed[1:] }, "is not the seed of a user's nkey; pair this machine again", nil},
		{"a web server", func(c *nats.Config) { c.Servers = []string{web} }, "what answers at " + web + " is not a NATS server", nil},
		{"a web server, by names", func(c *nats.Config) { c.Servers, c.Certificates = []string{web}, nil }, "is not a NATS server", nil},
		{"something else, by names", func(c *nats.Config) { c.Servers, c.Certificates = []string{ssh}, nil }, "is not a NATS server", nil},
		{"a server without TLS", func(c *nats.Config) { c.Servers, c.Certificates, c.Seed = []string{plain}, nil, "" }, "has no TLS", nil},
		{"a server without keys", func(c *nats.Config) { c.Servers, c.Certificates = []string{open}, nil }, "does not ask for keys", nil},
		{"an old server", func(c *nats.Config) { c.Servers, c.Certificates, c.Seed = []string{old}, nil, "" }, "must be NATS 2.2 or later", nil},
		{"a server of small messages", func(c *nats.Config) { c.Servers, c.Certificates, c.Seed = []string{small}, nil, "" }, "takes no more than 65536 bytes in a message; set max_payload", nil},
		{"no address", func(c *nats.Config) { c.Servers = nil }, "there is no address", nil},
		{"no port", func(c *nats.Config) { c.Servers = []string{"hub"} }, "is HOST:PORT", nil},
		{"another protocol", func(c *nats.Config) { c.Servers = []string{"https://hub:1"} }, "is HOST:PORT", nil},
		{"a user in it", func(c *nats.Config) { c.Servers = []string{"tls://me:hunter2@hub:1"} }, "is HOST:PORT", nil},
		{"an odd inbox", func(c *nats.Config) { c.Inbox = "answers" }, "begin with \"_INBOX.\"", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := s.Config()
			tt.change(&cfg)
			ctx, done := context.WithTimeout(t.Context(), testkit.Patience)
			defer done()
			c, err := nats.Connect(ctx, cfg)
			if err == nil {
				c.Close()
			}
			if text := fmt.Sprint(err); !strings.Contains(text, tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("it says %v; want %q", err, tt.want)
			} else if secret := cfg.Seed.Reveal(); secret != "" && strings.Contains(text, secret) || strings.Contains(text, "hunter2") {
				t.Error("it shows a secret")
			}
		})
	}
}

// TestConnectEnds: connecting to somebody who says nothing ends with the context.
func TestConnectEnds(t *testing.T) {
	over := errors.New("over")
	ctx, end := context.WithCancelCause(t.Context())
	silent := listener(t, func(net.Conn) { end(over) })
	seed, _ := natstest.NewKey(t)
	if _, err := nats.Connect(ctx, nats.Config{Servers: []string{silent}, Seed: seed}); !errors.Is(err, over) {
		t.Errorf("it returns %v", err)
	}
}

// foreign runs a NATS server as others run it, and returns its address by its name. What it is like is added to its
// configuration.
func foreign(t *testing.T, config string) (address string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(helpertest.Build(t, helper.BusProgram), "nats-server")
	if _, err := os.Stat(program); err != nil {
		if out, err := testkit.Command(t, "go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
			t.Fatalf("building nats-server: %v\n%s", err, out)
		}
	}
	path := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(path, []byte(fmt.Sprintf("listen: 127.0.0.1:-1\nports_file_dir: %q\n%s", dir, config)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := testkit.Command(t, program, "-c", path)
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		testkit.Finish(t, testkit.Patience, "the server ends", func() { c.Wait() })
		if t.Failed() {
			t.Logf("%s", &log)
		}
	})
	testkit.Await(t, testkit.Patience, "the server listens", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("nats-server_%d.ports", c.Process.Pid)))
		var ports struct{ Nats []string }
		if err != nil || json.Unmarshal(b, &ports) != nil || len(ports.Nats) == 0 {
			return false
		}
		_, address, _ = strings.Cut(ports.Nats[0], "://")
		address = strings.Replace(address, "127.0.0.1", "localhost", 1)
		return true
	})
	return address
}

// TestForeignServer: a NATS server that is there will do, with a certificate that the system trusts, and with keys.
func TestForeignServer(t *testing.T) {
	seed, key := natstest.NewKey(t)
	users := fmt.Sprintf("authorization { users = [ { nkey: %s } ] }\n", key)
	address := foreign(t, secure+users)
	c := natstest.Connect(t, nats.Config{Servers: []string{address}, Seed: seed})
	got := bustest.Subscribe(t, c, "a.*")
	bustest.Publish(t, c, "a.b", []byte("hello"))
	if m := testkit.Receive(t, testkit.Patience, "a message", got); string(m.Data) != "hello" {
		t.Errorf("%q came", m.Data)
	}
	other := filepath.Join(t.TempDir(), "bus.pem")
	if _, err := natsserver.LoadCertificate(other); err != nil {
		t.Fatal(err)
	}
	untrusted := foreign(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", other, other)+users)
	stranger, unknown := natstest.NewKey(t)
	for _, tt := range []struct {
		name, address string
		seed          field.Secret
		want          []string
	}{
		{"a certificate that is not trusted", untrusted, seed, []string{"is not trusted", "; renew it, or"}},
		{"another name", strings.Replace(address, "localhost", "127.0.0.1", 1), seed, []string{"is not trusted"}},
		{"another key", address, stranger, []string{"does not know the key", "give it a user with the nkey " + unknown}}, // and not pair it: it may be the hub
		{"no key", address, "", []string{"does not know the key"}},
	} {
		_, err := nats.Connect(t.Context(), nats.Config{Servers: []string{tt.address}, Seed: tt.seed})
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: told %v; want %q", tt.name, err, want)
			}
		}
	}
}

// TestSubscriptions: a daemon may have more subscriptions than its satellites need, since each request that it passes on
// takes one; and if a server grants no more, that is told.
func TestSubscriptions(t *testing.T) {
	problems := make(chan error, 100)
	own := natstest.Start(t, natsserver.Config{}).Config()
	for name, tt := range map[string]struct {
		cfg  nats.Config
		most int
	}{"own": {own, 1500}, "foreign": {nats.Config{Servers: []string{foreign(t, secure+"max_subscriptions: 20")}}, 20}} {
		tt.cfg.Problem = func(err error) { problems <- err }
		c := natstest.Connect(t, tt.cfg)
		var last <-chan bus.Message
		for i := range tt.most {
			last = bustest.Subscribe(t, c, fmt.Sprint("many.", i))
		}
		bustest.Publish(t, c, fmt.Sprint("many.", tt.most-1), nil)
		testkit.Receive(t, testkit.Patience, "a message at the last of them", last)
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, testkit.Receive(t, testkit.Patience, "the problem", problems))
		}
		if name == "foreign" {
			bustest.Subscribe(t, c, "one.more")
			if err := testkit.Receive(t, testkit.Patience, "that there are too many", problems); !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), "max_subscriptions") {
				t.Errorf("told %v", err)
			}
		}
	}
}

// TestReconnect: when the server dies, that is known, and nothing is kept to be sent later. When it is
// back, so are the connections and what was subscribed to.
func TestReconnect(t *testing.T) {
	p := newProxy(t)
	s, _, seeds := pair(t, "kitchen")
	p.to.Store(s.Address)
	problems := make(chan error, 100)
	cfg := s.Config()
	cfg.Servers = []string{p.address}
	cfg.Problem = func(err error) { problems <- err }
	hub := natstest.Connect(t, cfg)
	cfg.Seed = seeds["kitchen"]
	kitchen := natstest.Connect(t, cfg)
	control, sound := bustest.Subscribe(t, hub, "earshot.satellite.kitchen.up.control"), bustest.Subscribe(t, hub, "earshot.satellite.kitchen.up.sound")

	for round := range 3 {
		s.Kill(t)
		awaitConnected(t, hub, false)
		awaitConnected(t, kitchen, false)
		if err := testkit.Receive(t, testkit.Patience, "a reason", problems); !strings.Contains(err.Error(), "the connection to "+p.address+" is lost") {
			t.Errorf("told %v", err)
		}
		testkit.Await(t, testkit.Patience, "both lanes are away", func() bool {
			return errors.Is(kitchen.Publish("earshot.satellite.kitchen.up.sound", []byte("old")), bus.ErrFull) &&
				errors.Is(kitchen.Publish("earshot.satellite.kitchen.up.control", []byte("old")), bus.ErrFull)
		})
		stop, err := hub.Subscribe(t.Context(), "later", func(bus.Message) {})
		if err != nil {
			t.Errorf("subscribing meanwhile: %v", err)
		} else {
			stop()
		}
		s.Begin(t)
		p.to.Store(s.Address)
		awaitConnected(t, hub, true)
		awaitConnected(t, kitchen, true)
		want := fmt.Sprint("round ", round)
		for subject, got := range map[string]<-chan bus.Message{"earshot.satellite.kitchen.up.control": control, "earshot.satellite.kitchen.up.sound": sound} {
			bustest.Publish(t, kitchen, subject, []byte(want))
			if m := testkit.Receive(t, testkit.Patience, "a message", got); string(m.Data) != want {
				t.Errorf("%q came, want %q", m.Data, want)
			}
		}
	}
	p.to.Store(natstest.Start(t, natsserver.Config{}).Address)
	s.Kill(t)
	testkit.Await(t, testkit.Patience, "that another server is there is told", func() bool {
		select {
		case err := <-problems:
			return strings.Contains(err.Error(), "is not the one that is expected")
		default:
			return false
		}
	})
}

// TestPartition: a server that is not heard any more is gone, although no connection ends, and another
// way to it is found.
func TestPartition(t *testing.T) {
	s := natstest.Start(t, natsserver.Config{})
	p := newProxy(t)
	p.to.Store(s.Address)
	cfg := s.Config()
	cfg.Servers = []string{p.address}
	c := natstest.Connect(t, cfg)
	p.stall(0)
	awaitConnected(t, c, false)
	awaitConnected(t, c, true)
	got := bustest.Subscribe(t, c, "a")
	bustest.Publish(t, c, "a", nil)
	testkit.Receive(t, testkit.Patience, "a message", got)
}

// TestClose: after Close nothing works and nobody is called; what was published before has arrived.
func TestClose(t *testing.T) {
	s := natstest.Start(t, natsserver.Config{})
	a, b := natstest.Connect(t, s.Config()), natstest.Connect(t, s.Config())
	got := bustest.Subscribe(t, a, "last.*")
	for _, subject := range []string{"last.control", "last.sound"} {
		bustest.Publish(t, b, subject, nil)
	}
	_, changed := b.Connected()
	testkit.Finish(t, testkit.Patience, "closing", b.Close)
	for range 2 {
		testkit.Receive(t, testkit.Patience, "what was published", got)
	}
	testkit.Receive(t, testkit.Patience, "a change", changed)
	_, asked := b.Request(t.Context(), "a", nil)
	_, subscribed := b.Subscribe(t.Context(), "a", nil)
	for what, err := range map[string]error{"publishing": b.Publish("a", nil), "asking": asked, "subscribing": subscribed} {
		if !errors.Is(err, bus.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if on, _ := b.Connected(); on {
		t.Error("it is connected")
	}
	b.Close() // again
}

// TestStalledSound: when the network takes no more sound, publishing sound says so and does not wait,
// and control goes on both ways, as closing does.
func TestStalledSound(t *testing.T) {
	s, _, seeds := pair(t, "kitchen")
	hub := natstest.Connect(t, s.Config())
	p := newProxy(t)
	p.to.Store(s.Address)
	cfg := s.Config()
	cfg.Servers, cfg.Seed = []string{p.address}, seeds["kitchen"]
	kitchen := natstest.Connect(t, cfg)
	up, down := bustest.Subscribe(t, hub, "earshot.satellite.kitchen.up.control"), bustest.Subscribe(t, kitchen, "earshot.satellite.kitchen.down.control")
	stop, err := kitchen.Subscribe(t.Context(), "earshot.satellite.kitchen.down.sound", func(bus.Message) {})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()

	p.stall(1) // the second connection is that of sound
	full := false
	for range 1000 {
		if err := kitchen.Publish("earshot.satellite.kitchen.up.sound", make([]byte, 64<<10)); errors.Is(err, bus.ErrFull) {
			full = true
			break
		}
		bustest.Publish(t, hub, "earshot.satellite.kitchen.down.sound", make([]byte, 64<<10))
	}
	if !full {
		t.Error("sound is taken without end")
	}
	for i := range 100 {
		want := fmt.Sprint("control ", i)
		bustest.Publish(t, kitchen, "earshot.satellite.kitchen.up.control", []byte(want))
		bustest.Publish(t, hub, "earshot.satellite.kitchen.down.control", []byte(want))
		for _, got := range []<-chan bus.Message{up, down} {
			if m := testkit.Receive(t, testkit.Patience, "control", got); string(m.Data) != want {
				t.Fatalf("%q came, want %q", m.Data, want)
			}
		}
	}
	testkit.Finish(t, testkit.Patience, "closing", kitchen.Close)
}
