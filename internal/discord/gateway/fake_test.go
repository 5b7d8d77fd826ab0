package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// token is the secret that must appear nowhere.
const token = "canary-MTk4NjIy.token"

// A gateway is a Discord in a bubble of virtual time, whose connections are pipes. Package
// discordtest has real sockets and behaves more like Discord; this one follows a script.
type gateway struct {
	t     *testing.T
	conns chan net.Conn
	heart time.Duration
	flags int                              // of the application
	bot   func(w http.ResponseWriter) bool // answers GET /gateway/bot, unless it returns false
	plot  func(n int, g *gateway, c *peer) // plays connection n, from 0, once it has introduced itself

	mu       sync.Mutex
	seq      int64
	session  int // number of the current session; 0 if it has ended
	sessions int
	sent     [][]byte // in the current session
	intros   string   // I (identify) or R (resume) for each introduction
	at       []time.Time
	moves    []string // the op 4 received
	closes   []websocket.StatusCode
	shards   []string // of the identifies; "" if it says none
}

// A peer is one connection, seen from the gateway.
type peer struct {
	g    *gateway
	ws   *websocket.Conn
	ctx  context.Context
	deaf atomic.Bool // heartbeats are not acknowledged
}

func newGateway(t *testing.T, plot func(n int, g *gateway, c *peer)) *gateway {
	g := &gateway{t: t, conns: make(chan net.Conn), heart: 40 * time.Second, plot: plot}
	server := &http.Server{Handler: g}
	go server.Serve(g)
	t.Cleanup(func() { server.Close() })
	return g
}

func (g *gateway) Accept() (net.Conn, error) {
	c, ok := <-g.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (g *gateway) Close() error   { close(g.conns); return nil }
func (g *gateway) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// config returns what a session needs to find g.
func (g *gateway) config(events func(any)) Config {
	return Config{
		Token: token, Intents: 1<<0 | 1<<15, Base: "http://discord.test/", Events: events,
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			select {
			case g.conns <- theirs:
				return ours, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}},
	}
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.Host, "gateway."):
		g.serve(w, r)
	case r.Header.Get("Authorization") != "Bot "+token:
		http.Error(w, `{"message":"401: Unauthorized"}`, http.StatusUnauthorized)
	case r.URL.Path == "/api/v9/applications/@me":
		fmt.Fprintf(w, `{"id":"1","flags":%d}`, g.flags)
	case r.URL.Path == "/api/v9/gateway/bot":
		if g.bot == nil || !g.bot(w) {
			fmt.Fprint(w, `{"url":"ws://gateway.test","shards":1,"session_start_limit":{"total":1000,"remaining":999,"reset_after":1000,"max_concurrency":1}}`)
		}
	default:
		http.NotFound(w, r)
	}
}

func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := &peer{g: g, ws: ws, ctx: ctx}
	c.write(10, map[string]any{"heartbeat_interval": g.heart.Milliseconds()})
	resume, ok := c.introduced()
	if !ok {
		return
	}
	g.mu.Lock()
	n := len(g.intros)
	g.intros += map[bool]string{true: "R", false: "I"}[resume]
	g.at = append(g.at, time.Now())
	g.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); c.hear(stop) }()
	g.plot(n, g, c)
	ws.CloseNow()
	<-done
}

// introduced reads until op 2 or 6.
func (c *peer) introduced() (resume, ok bool) {
	for {
		op, d, err := c.read()
		if err != nil {
			return false, false
		}
		if op == 2 || op == 6 {
			if !strings.Contains(string(d), token) {
				c.g.t.Error("introduced without the token")
			}
			if op == 2 {
				var is struct{ Shard json.RawMessage }
				_ = json.Unmarshal(d, &is)
				c.g.mu.Lock()
				c.g.shards = append(c.g.shards, string(is.Shard))
				c.g.mu.Unlock()
			}
			return op == 6, true
		}
	}
}

// hear answers heartbeats until the connection ends.
func (c *peer) hear(stop func()) {
	defer stop()
	for {
		op, d, err := c.read()
		if err != nil {
			c.g.mu.Lock()
			c.g.closes = append(c.g.closes, websocket.CloseStatus(err))
			c.g.mu.Unlock()
			return
		}
		switch op {
		case 1:
			if !c.deaf.Load() {
				c.write(11, nil)
			}
		case 4:
			c.g.mu.Lock()
			c.g.moves = append(c.g.moves, string(d))
			c.g.mu.Unlock()
		}
	}
}

func (c *peer) read() (int, json.RawMessage, error) {
	_, data, err := c.ws.Read(context.Background())
	var m struct {
		Op int
		D  json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m.Op, m.D, err
}

func (c *peer) write(op int, d any) {
	text, _ := json.Marshal(map[string]any{"op": op, "d": d, "s": nil, "t": nil})
	c.ws.Write(context.Background(), websocket.MessageText, text)
}

// ready begins a session, or resumes the last one with the events after number from.
func (c *peer) ready(resume bool, from int64) {
	g := c.g
	if resume {
		g.mu.Lock()
		again := g.sent[min(max(from, 0), int64(len(g.sent))):]
		g.mu.Unlock()
		for _, text := range again {
			c.ws.Write(context.Background(), websocket.MessageText, text)
		}
		c.event("RESUMED", map[string]any{})
		return
	}
	g.mu.Lock()
	g.sessions++
	g.session, g.seq, g.sent = g.sessions, 0, nil
	g.mu.Unlock()
	c.event("READY", map[string]any{"v": 9, "user": map[string]any{"id": "42"}, "session_id": fmt.Sprint("session", g.session), "resume_gateway_url": "ws://gateway.test/resume"})
	c.event("GUILD_CREATE", map[string]any{"id": "7"})
}

// event sends an event in the current session.
func (c *peer) event(kind string, d any) {
	g := c.g
	g.mu.Lock()
	g.seq++
	text, _ := json.Marshal(map[string]any{"op": 0, "d": d, "s": g.seq, "t": kind})
	g.sent = append(g.sent, text)
	g.mu.Unlock()
	c.ws.Write(context.Background(), websocket.MessageText, text)
}

// message sends a message that somebody wrote.
func (c *peer) message(id int) {
	c.event("MESSAGE_CREATE", map[string]any{"id": fmt.Sprint(id), "content": "what somebody wrote", "author": map[string]any{"id": "5"}})
}

// stay keeps the connection open until the other side ends it.
func (c *peer) stay() { <-c.ctx.Done() }

// resumes reports whether introduction n was a resume.
func (g *gateway) resumes(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.intros[n] == 'R'
}
