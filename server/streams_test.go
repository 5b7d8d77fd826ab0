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

// held returns how many bytes of memory this process uses after a collection.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // for what finalizers release
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// ways lists the ways in, each with a client that uses it.
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

// follow requests the event stream, and returns once the answer has begun.
func follow(t *testing.T, network, at, header string) net.Conn {
	t.Helper()
	c, err := net.Dial(network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if c, ok := c.(interface{ SetReadBuffer(int) error }); ok {
		_ = c.SetReadBuffer(4 << 10) // so that an idle reader is noticed soon
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

// tells reads from c until a text has come.
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

// perStream is how many bytes an idle stream may take, both of its ends together. It takes about
// 30 KiB, far less than with a buffer of its own.
const perStream = 96 << 10

// TestAThousandIdleStreams: a thousand idle streams take little memory, other clients are answered,
// and each stream gets what happens.
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

// TestStreamsThatNobodyReads: the memory for clients that do not read is bounded, however much
// there is to send, and other clients are answered.
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
				// At most eight streams at a time read 64 events, which exist several times while
				// they are turned into lines, until nobody takes those.
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

// TestBodiesThatDoNotEnd: endless request bodies are cut off soon and take little memory, and other
// clients are answered.
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
