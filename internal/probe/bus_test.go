package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/internal/testkit"
	"earshot/satellite/pairing"
)

// listener returns a listener of this machine that answers with what answer does, until the test ends.
func listener(t *testing.T, network, at string, answer func(net.Conn)) (address string) {
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer context.AfterFunc(ctx, func() { c.Close() })()
				answer(c)
				<-ctx.Done()
			})
		}
	})
	t.Cleanup(func() {
		end()
		l.Close()
		testkit.Finish(t, testkit.Patience, "the listener ends", running.Wait)
	})
	return l.Addr().String()
}

// lets is a NATS server that lets everybody in.
func lets(c net.Conn) {
	fmt.Fprint(c, "INFO {\"tls_required\":true,\"headers\":true,\"max_payload\":1048576}\r\n")
	c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{trusted}})
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if lines.Text() == "PING" {
			fmt.Fprint(c, "PONG\r\n")
		}
	}
}

// TestSatellites: doctor finds what keeps satellites away, before and while earshot runs.
func TestSatellites(t *testing.T) {
	const local = "127.0.0.1:0"
	silent, open := listener(t, "tcp", local, func(net.Conn) {}), listener(t, "tcp", local, lets)
	runs := func(c *config.Config) {
		dir, err := os.MkdirTemp("", "es") // short, because the path of a socket is
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		c.Server.Socket = listener(t, "unix", filepath.Join(dir, "socket"), func(c net.Conn) { c.Close() })
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	for _, tt := range []struct {
		name    string
		prepare func(*config.Config)
		want    []string
	}{
		{"no bus", func(*config.Config) {}, nil},
		{"somebody else listens", func(c *config.Config) { c.Bus.Listen = silent }, []string{"✗ bus: listen tcp " + silent}},
		{"nobody listens", func(c *config.Config) { c.Bus.Listen = nobody }, []string{"✓ bus: will listen"}},
		{"it listens", func(c *config.Config) { c.Bus.Listen = silent; runs(c) }, []string{"✓ bus: listens"}},
		{"it does not listen", func(c *config.Config) { c.Bus.Listen = nobody; runs(c) }, []string{"✗ bus: the running earshot does not"}},
		{"servers", func(c *config.Config) { c.Bus.Servers = []string{open, silent, nobody} }, []string{"✓ bus: " + open, "✗ bus: " + silent, "✗ bus: "}},
		{"a room is missing", func(c *config.Config) {
			c.Bus.Listen, c.Rooms = nobody, executive.Rooms{{ID: "kitchen"}}
			for _, room := range []string{"kitchen", "cellar"} {
				if _, _, err := pairing.In(c.Store.Directory).Pair("of-"+room, earshot.RoomID(room)); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"✓ bus", "✓ satellites: 2 satellites", "✗ satellite of-cellar: its room cellar"}},
		{"damage", func(c *config.Config) {
			c.Bus.Listen = nobody
			if err := os.WriteFile(filepath.Join(c.Store.Directory, pairing.File), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"✓ bus", "✗ satellites"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Store.Directory = t.TempDir()
			cfg.Server.Socket = filepath.Join(t.TempDir(), "none.sock")
			tt.prepare(cfg)
			got := Satellites(t.Context(), cfg)
			for range 9 { // a busy machine may not answer in time
				if len(got) == 0 || got[0].Works == strings.HasPrefix(tt.want[0], "✓") {
					break
				}
				got = Satellites(t.Context(), cfg)
			}
			for i, f := range got {
				text := map[bool]string{true: "✓ ", false: "✗ "}[f.Works] + f.Thing + ": " + f.Text
				if i >= len(tt.want) || !strings.HasPrefix(text, tt.want[i]) || f.Works != (f.Cure == "") {
					t.Errorf("finding %d: %s → %s", i, text, f.Cure)
				}
			}
			if len(got) != len(tt.want) {
				t.Errorf("%d findings, want %d", len(got), len(tt.want))
			}
		})
	}
}

// TestPortOfAnotherProgram: where another program has the port, and earshot runs, doctor says what earshot says of it.
func TestPortOfAnotherProgram(t *testing.T) {
	dir, err := os.MkdirTemp("", "es") // short, because the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cfg := config.Default()
	cfg.Store.Directory = t.TempDir()
	cfg.Bus.Listen = listener(t, "tcp", "127.0.0.1:0", func(net.Conn) {})
	cfg.Server.Socket = listener(t, "unix", filepath.Join(dir, "socket"), func(c net.Conn) {
		const state = `{"faults":[{"key":"bus","text":"the bus cannot listen"}]}`
		_, _ = bufio.NewReader(c).ReadString('\n')
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(state), state)
		c.Close()
	})
	got := Satellites(t.Context(), cfg)
	for range 9 { // a busy machine may not answer in time
		if len(got) > 0 && !got[0].Works {
			break
		}
		got = Satellites(t.Context(), cfg)
	}
	if len(got) == 0 || got[0].Works || got[0].Text != "the bus cannot listen" || got[0].Cure == "" {
		t.Errorf("%+v", got)
	}
}
