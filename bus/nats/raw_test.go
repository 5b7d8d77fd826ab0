package nats_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"earshot/bus"
	"earshot/bus/bustest"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/satellite"
)

// A raw is a connection to a server without a client.
type raw struct {
	*tls.Conn
	lines *bufio.Reader
}

// dial connects to a server with TLS. What it reads and writes is bounded in time.
func dial(t *testing.T, s *natstest.Server) *raw {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	ctx, done := context.WithTimeout(t.Context(), testkit.Patience)
	defer done()
	c, err := d.DialContext(ctx, "tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testkit.Patience))
	return &raw{c.(*tls.Conn), bufio.NewReader(c)}
}

func (c *raw) write(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// read returns the next line that begins with one of these words.
func (c *raw) read(t *testing.T, words ...string) string {
	t.Helper()
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %v: %v", words, err)
		}
		for _, w := range words {
			if strings.HasPrefix(line, w) {
				return line
			}
		}
	}
}

// login proves who this is, and returns what it said.
func (c *raw) login(t *testing.T, seed field.Secret) (connect string) {
	t.Helper()
	connect = c.introduce(t, seed)
	c.read(t, "PONG")
	return connect
}

// introduce says who this is, and returns what it said.
func (c *raw) introduce(t *testing.T, seed field.Secret) (connect string) {
	t.Helper()
	var info struct{ Nonce string }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(c.read(t, "INFO"), "INFO ")), &info); err != nil || info.Nonce == "" {
		t.Fatalf("no nonce: %v", err)
	}
	key, err := nkeys.FromSeed([]byte(seed.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.Sign([]byte(info.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	connect = fmt.Sprintf("CONNECT {\"nkey\":%q,\"sig\":%q,\"verbose\":false}\r\n", public, base64.RawURLEncoding.EncodeToString(sig))
	c.write(t, connect+"PING\r\n")
	return connect
}

// ends reports that the server ends the connection, and what it said before.
func (c *raw) ends(t *testing.T) (said string) {
	t.Helper()
	b, err := io.ReadAll(c.lines)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection goes on")
	}
	return string(b)
}

// works checks that a server works.
func works(t *testing.T, s *natstest.Server) {
	t.Helper()
	c := natstest.Connect(t, s.Config())
	got := bustest.Subscribe(t, c, "works")
	bustest.Publish(t, c, "works", nil)
	testkit.Receive(t, testkit.Patience, "a message", got)
}

// TestReplay: what somebody said to prove who they are proves nothing in another connection.
func TestReplay(t *testing.T) {
	s, _, seeds := pair(t, "kitchen")
	said := dial(t, s).login(t, seeds["kitchen"])
	again := dial(t, s)
	again.read(t, "INFO")
	again.write(t, said+"PING\r\n")
	if line := again.read(t, "-ERR", "PONG"); !strings.Contains(line, "Authorization Violation") {
		t.Errorf("the server says %q", line)
	}
	again.ends(t)
}

// TestGarbage: whoever does not speak the protocol is disconnected, and others notice nothing.
func TestGarbage(t *testing.T) {
	s, _, seeds := pair(t, "kitchen")
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "INFO {}\r\n", "CONNECT {}\r\nPING\r\n", "\x16\x03\x01\xff\xff", strings.Repeat("x", 1<<20)} {
		c, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(testkit.Patience))
		io.WriteString(c, text)
		if b, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(b), "INFO") {
			t.Errorf("%.20q is answered %q, %v", text, b, err)
		}
		c.Close()
	}
	for _, text := range []string{
		"FOO\r\n", "PING\r\nPUB a 1\r\nx\r\n", "CONNECT {\r\n", "CONNECT {}\r\nPING\r\n", "SUB > 1\r\n", "\x00\x01\x02",
		"CONNECT {\"user\":\"a\",\"pass\":\"b\"}\r\n", "RS+ $G >\r\n", strings.Repeat("x", 1<<20), "CONNECT " + strings.Repeat("x", 1<<20),
	} {
		c := dial(t, s)
		c.read(t, "INFO")
		io.WriteString(c, text) // which may fail, if it ends before that is all
		if said := c.ends(t); strings.Contains(said, "PONG") && !strings.HasPrefix(text, "PING") {
			t.Errorf("%.20q is answered %q", text, said)
		}
	}
	for _, text := range []string{
		"PUB earshot.satellite.kitchen.up.sound 99999999999999999999\r\n", "PUB earshot.satellite.kitchen.up.sound -1\r\nx\r\n",
		"PUB earshot.satellite.kitchen.up.sound 2\r\nxxxxx\r\n", "SUB\r\n", "RMSG a b 1\r\nx\r\n", "PUB " + strings.Repeat("x", 1<<20),
	} {
		c := dial(t, s)
		c.login(t, seeds["kitchen"])
		io.WriteString(c, text)
		c.ends(t)
	}
	works(t, s)
}

// TestFlood: a satellite that sends more than it may in one message is disconnected each time, and
// nothing of it arrives.
func TestFlood(t *testing.T) {
	s, _, seeds := pair(t, "kitchen")
	hub := natstest.Connect(t, s.Config())
	got := bustest.Subscribe(t, hub, "earshot.satellite.>")
	for range 20 {
		c := dial(t, s)
		c.login(t, seeds["kitchen"])
		c.write(t, fmt.Sprintf("PUB earshot.satellite.kitchen.up.control %d\r\n", bus.MaxData+1))
		io.WriteString(c, strings.Repeat("x", 64<<10))
		if said := c.ends(t); said != "" && !strings.Contains(said, "Maximum Payload") {
			t.Errorf("the server says %q", said)
		}
	}
	bustest.Publish(t, hub, "earshot.satellite.last", nil)
	if m := testkit.Receive(t, testkit.Patience, "a message", got); m.Subject != "earshot.satellite.last" {
		t.Errorf("%d bytes came under %s", len(m.Data), m.Subject)
	}
}

// TestExcess: a satellite that sends, connects or subscribes without end is kept out, and neither the hub nor another
// satellite is disconnected by it.
func TestExcess(t *testing.T) {
	const subject = "earshot.satellite.kitchen.up.control"
	var subscribes string
	for i := range 200 {
		subscribes += fmt.Sprintf("SUB earshot.satellite.kitchen.down.sound %d\r\n", i)
	}
	for _, tt := range []struct {
		name        string
		connections int
		sends       string // each of them
		times       int
	}{
		{"large messages", 2, fmt.Sprintf("PUB %s %d\r\n%s\r\n", subject, bus.MaxData, strings.Repeat("x", bus.MaxData)), 1 << 20},
		{"small messages", 2, strings.Repeat("PUB "+subject+" 0\r\n\r\n", 1000), 1 << 20},
		{"subscriptions", 2, subscribes, 1},
		{"connections", 70, "PING\r\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, seeds := pair(t, "kitchen", "bath")
			hub, bath := natstest.Connect(t, s.Config()), natstest.Connect(t, s.UserConfig(seeds["bath"], satellite.RightsOf("bath")))
			_, hubLost := hub.Connected()
			_, bathLost := bath.Connected()
			stop, err := hub.Subscribe(t.Context(), subject, func(bus.Message) {})
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			got := bustest.Subscribe(t, hub, "earshot.satellite.bath.up.control")
			var all []*raw
			for len(all) < tt.connections { // of the last ones none may be let in any more
				c := dial(t, s)
				if c.introduce(t, seeds["kitchen"]); len(all) < 60 {
					c.read(t, "PONG")
				}
				all = append(all, c)
			}
			var senders sync.WaitGroup
			for _, c := range all {
				senders.Go(func() {
					for range tt.times {
						if _, err := io.WriteString(c, tt.sends); err != nil {
							return
						}
					}
					c.ends(t)
				})
			}
			testkit.Finish(t, testkit.Patience, "it is kept out", senders.Wait)
			cfg := s.UserConfig(seeds["kitchen"], satellite.RightsOf("kitchen"))
			if _, err := nats.Connect(t.Context(), cfg); !errors.Is(err, bus.ErrRefused) {
				t.Errorf("it comes back: %v", err)
			}
			bustest.Publish(t, bath, "earshot.satellite.bath.up.control", nil)
			testkit.Receive(t, testkit.Patience, "a message of another satellite", got)
			select {
			case <-hubLost:
				t.Error("the hub was disconnected")
			case <-bathLost:
				t.Error("another satellite was disconnected")
			default:
			}
		})
	}
}
