package server_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/server"
	"earshot/server/client"
)

// held returns how many bytes this process holds in memory, when nothing is left over.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // for what finalizers let go
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// ways are the ways in, each with somebody who comes there.
var ways = []struct {
	name, header string
	open         func(*testing.T) (h *house, network, at string, c *client.Client)
}{
	{"port", "ANN\r\n", func(t *testing.T) (*house, string, string, *client.Client) {
		p := listen(t, server.Config{})
		return p.house, "tcp", p.at, &client.Client{URL: "http://" + p.at, Token: field.Secret(annsToken)}
	}},
	{"socket", "", func(t *testing.T) (*house, string, string, *client.Client) {
		h := newHouse()
		at, _ := serve(t, h)
		return h, "unix", at, &client.Client{Socket: at}
	}},
}

// follow asks for what happens, and returns when the first of it has come.
func follow(t *testing.T, network, at, header string) net.Conn {
	t.Helper()
	c, err := net.Dial(network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if c, ok := c.(interface{ SetReadBuffer(int) error }); ok {
		_ = c.SetReadBuffer(4 << 10) // so that who does not read is felt soon
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	header = strings.ReplaceAll(header, "ANN", "Authorization: Bearer "+annsToken)
	if _, err := io.WriteString(c, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n"+header+"\r\n"); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 512)
	if _, err := io.ReadFull(c, first[:len("HTTP/1.1 200")]); err != nil || !bytes.HasPrefix(first, []byte("HTTP/1.1 200")) {
		t.Fatalf("answered %q, %v", first, err)
	}
	return c
}

// tells reads until what comes by c holds some text.
func tells(c net.Conn, text string) bool {
	_ = c.SetDeadline(time.Now().Add(patience))
	var all []byte
	some := make([]byte, 512)
	for !bytes.Contains(all, []byte(text)) {
		n, err := c.Read(some)
		if err != nil {
			return false
		}
		all = append(all, some[:n]...)
	}
	return true
}

// perStream is how many bytes a stream may take for which nothing happens, both of its
// ends together. It is about 30 KiB; far less than it would be with a buffer of its own.
const perStream = 96 << 10

// TestAThousandIdleStreams: they take little memory, others are answered beside them, and
// each is told what happens.
func TestAThousandIdleStreams(t *testing.T) {
	const n = 1000
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			h, network, at, c := way.open(t)
			fill(t, h, 1)
			before := held()
			var all []net.Conn
			for range n {
				all = append(all, follow(t, network, at, way.header))
			}
			if each := (held() - before) / n; each > perStream {
				t.Errorf("each takes %d bytes, and may take %d", each, perStream)
			}
			if _, err := c.State(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := c.Post(t.Context(), "", "what all are told"); err != nil {
				t.Error(err)
			}
			for i, c := range all {
				if !tells(c, "what all are told") {
					t.Fatalf("stream %d was told nothing", i+1)
				}
			}
		})
	}
}

// TestStreamsThatNobodyReads: what is kept for those who do not read is bounded, however
// much there is, and others are answered beside them.
func TestStreamsThatNobodyReads(t *testing.T) {
	const n = 12
	big := earshot.Text(strings.Repeat("x", 4<<10))
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			h, network, at, c := way.open(t)
			for range 2000 {
				_ = h.Admit(t.Context(), earshot.Event{Body: earshot.Message{Text: big}})
			}
			before := held()
			for range n {
				follow(t, network, at, way.header)
			}
			for range 2 {
				if _, err := c.Post(t.Context(), "", "hello"); err != nil {
					t.Fatal(err)
				}
				// Eight may just read 64 events, a few times over as they become lines, until
				// nobody takes those.
				took := int64(0)
				testkit.Await(t, patience, "them to take no more than they may", func() bool {
					took = held() - before
					return took <= n*(perStream+256<<10)+4<<20
				})
				t.Logf("%d streams that nobody reads take %d bytes", n, took)
			}
		})
	}
}

// TestBodiesThatDoNotEnd: they are cut off soon, take little memory, and others are
// answered beside them.
func TestBodiesThatDoNotEnd(t *testing.T) {
	const n, most = 32, 32 << 20
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			h, network, at, c := way.open(t)
			before := held()
			var senders sync.WaitGroup
			spaces := bytes.Repeat([]byte(" "), 64<<10)
			for i := range n {
				conn, err := net.Dial(network, at)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(patience))
				senders.Go(func() {
					how := "Content-Length: 1073741824\r\n\r\n"
					if i%2 == 0 {
						how = "Transfer-Encoding: chunked\r\n\r\n40000000\r\n"
					}
					header := strings.ReplaceAll(way.header, "ANN", "Authorization: Bearer "+annsToken)
					_, err := io.WriteString(conn, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+header+how)
					sent := 0
					for err == nil && sent < most {
						var k int
						k, err = conn.Write(spaces)
						sent += k
					}
					if sent >= most {
						t.Errorf("%d bytes of a body were taken", sent)
					}
				})
			}
			for range 5 {
				if _, err := c.Post(t.Context(), "", "hello"); err != nil {
					t.Fatal(err)
				}
			}
			if took := held() - before; took > n*(4*earshot.MaxText+1<<20) {
				t.Errorf("%d bodies take %d bytes", n, took)
			}
			testkit.Finish(t, 5*testkit.Patience, "the end of what is sent", senders.Wait)
			if got := len(h.all()); got != 5 {
				t.Errorf("%d messages were kept", got)
			}
		})
	}
}
