package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/providers"
	"earshot/server"
	"earshot/server/attach"
	"earshot/server/audit"
	"earshot/server/client"
)

// Tokens for the tests below, which look like real ones.
var (
	annsToken    = "earshot_" + strings.Repeat("a", 52)
	kimsToken    = "earshot_" + strings.Repeat("k", 52) // kim is an operator
	revokedToken = "earshot_" + strings.Repeat("z", 52)
)

// kim is an operator of the house.
var kim = server.Principal{
	Participant: participants.Participant{ID: "kim", Name: "Kim", Capabilities: []participants.Capability{participants.SendMessages, participants.Operate}},
	Audience:    earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"kim"}},
}

// bearers lets ann and kim in by their tokens.
func bearers(c server.Claim) (server.Principal, error) {
	who, known := map[string]server.Principal{annsToken: ann, kimsToken: kim}[c.Token.Reveal()]
	switch {
	case !known:
		return who, fmt.Errorf("%w: this token is unknown here", participants.ErrToken)
	case c.Room != "" && c.Room != earshot.Desk:
		return who, errors.New("there is no room of that name")
	}
	return who, nil
}

// A port is a server at a port, with its logs.
type port struct {
	*house
	at   string // host and port
	stop func()

	mu    sync.Mutex
	trail []audit.Entry
	log   bytes.Buffer
}

// Write adds to the log.
func (p *port) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// written returns the audit entries since the last call.
func (p *port) written() []audit.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.trail
	p.trail = nil
	return all
}

// listen serves a house at a port of this machine until the end of the test.
func listen(t *testing.T, c server.Config) *port {
	t.Helper()
	p := &port{house: newHouse()}
	p.vouch = bearers
	p.order = func(participants.Participant, agents.Order) (api.AgentInfo, error) { return api.AgentInfo{}, nil }
	p.tell = func(participants.Participant, api.VoiceRequest) (api.VoiceChange, error) {
		return api.VoiceChange{}, nil
	}
	p.see = func(server.Principal, api.LookRequest) (api.CameraView, error) { return api.CameraView{}, nil }
	p.hold = func(server.Principal) (func(), error) { return nil, errors.New("the room is paused") }
	l, err := server.ListenLoopback(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.at = l.Addr().String()
	s := serverOf(p.house)
	s.Log = slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.Audit = func(e audit.Entry) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.trail = append(p.trail, e)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.ServeLoopback(ctx, l, c) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := testkit.Receive(t, testkit.Patience, "the end of the server", done); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

// bytesOf returns the bytes of a request. In raw, HOST stands for host and port, PORT for the
// port's number, ANN and KIM for the header with her token, REVOKED for that with a revoked token,
// and TOKEN for ann's token itself.
func (p *port) bytesOf(raw string) string {
	_, number, _ := net.SplitHostPort(p.at)
	return strings.NewReplacer("HOST", p.at, "PORT", number, "ANN", "Authorization: Bearer "+annsToken, "KIM", "Authorization: Bearer "+kimsToken,
		"REVOKED", "Authorization: Bearer "+revokedToken, "TOKEN", annsToken, "\n", "\r\n").Replace(raw)
}

// send sends the bytes of a request and returns the response, or nil if there is none.
func (p *port) send(t *testing.T, raw string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", p.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, raw) // an early answer may come before all of it is read
	method, _, _ := strings.Cut(raw, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return nil, ""
	}
	if resp.Header.Get("Content-Type") == "application/x-ndjson" {
		return resp, "" // it is endless, and closing it would wait for its end
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return resp, string(body)
}

// refusals are requests, each with the status by which it is refused. They are sent to a port that
// is also called earshot.example, and that pages from http://good.example:3000 may use.
var refusals = []struct {
	name, raw string
	status    int
}{
	// hosts, and names that somebody has pointed at this machine
	{"another's name", "GET /v1/state HTTP/1.1\nHost: evil.example\nANN\n\n", 403},
	{"another's name with our port", "GET /v1/state HTTP/1.1\nHost: evil.example:PORT\nANN\n\n", 403},
	{"a name that begins like ours", "GET /v1/state HTTP/1.1\nHost: localhost.evil.example:PORT\nANN\n\n", 403},
	{"a name that ends like ours", "GET /v1/state HTTP/1.1\nHost: evil-localhost:PORT\nANN\n\n", 403},
	{"an address in a name", "GET /v1/state HTTP/1.1\nHost: 127.0.0.1.nip.example:PORT\nANN\n\n", 403},
	{"another address", "GET /v1/state HTTP/1.1\nHost: 192.168.1.7:PORT\nANN\n\n", 403},
	{"every address", "GET /v1/state HTTP/1.1\nHost: 0.0.0.0:PORT\nANN\n\n", 403},
	{"our address as a number", "GET /v1/state HTTP/1.1\nHost: 2130706433:PORT\nANN\n\n", 403},
	{"our address, short", "GET /v1/state HTTP/1.1\nHost: 127.1:PORT\nANN\n\n", 403},
	{"our address within another kind", "GET /v1/state HTTP/1.1\nHost: [::ffff:127.0.0.1]:PORT\nANN\n\n", 403},
	{"our address with a zone", "GET /v1/state HTTP/1.1\nHost: [::1%25lo]:PORT\nANN\n\n", 403},
	{"somebody before our name", "GET /v1/state HTTP/1.1\nHost: evil@127.0.0.1:PORT\nANN\n\n", 400},
	{"our name with a dot", "GET /v1/state HTTP/1.1\nHost: localhost.:PORT\nANN\n\n", 403},
	{"the name that only the socket has", "GET /v1/state HTTP/1.1\nHost: earshot\nANN\n\n", 403},
	{"no host", "GET /v1/state HTTP/1.1\nANN\n\n", 400},
	{"an empty host", "GET /v1/state HTTP/1.1\nHost:\nANN\n\n", 403},
	{"two hosts", "GET /v1/state HTTP/1.1\nHost: HOST\nHost: HOST\nANN\n\n", 400},
	{"HTTP/1.0 without a host", "GET /v1/state HTTP/1.0\nANN\n\n", 403},
	{"a whole address of another", "GET http://evil.example/v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"a whole address of ours", "GET http://HOST/v1/state HTTP/1.1\nHost: evil.example\nANN\n\n", 400},

	// pages in a browser
	{"another's page", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nANN\n\n", 403},
	{"another's page posts", "POST /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nContent-Type: application/json\nANN\nContent-Length: 12\n\n{\"text\":\"x\"}", 403},
	{"another's page posts a form", "POST /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nContent-Type: text/plain\nANN\nContent-Length: 12\n\n{\"text\":\"x\"}", 403},
	{"a page from nowhere", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: null\nANN\n\n", 403},
	{"our own origin", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://HOST\nANN\n\n", 403},
	{"the page that may, by another protocol", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: https://good.example:3000\nANN\n\n", 403},
	{"the page that may, at another port", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3001\nANN\n\n", 403},
	{"a page that begins like it", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000.evil.example\nANN\n\n", 403},
	{"two origins", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nOrigin: http://evil.example\nANN\n\n", 400},
	{"an empty origin", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin:\nANN\n\n", 400},
	{"a picture of another's page", "GET /v1/state HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nANN\n\n", 403},
	{"a page of a neighbour", "GET /v1/state HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-site\nANN\n\n", 403},
	{"a post of another's page without origin", "POST /v1/messages HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nContent-Type: application/json\nANN\nContent-Length: 12\n\n{\"text\":\"x\"}", 403},
	{"another's page wants to know", "OPTIONS /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nAccess-Control-Request-Method: POST\n\n", 403},
	{"the page that may wants to delete", "OPTIONS /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nAccess-Control-Request-Method: DELETE\n\n", 403},
	{"the page that may sends a header", "OPTIONS /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: x-evil\n\n", 403},
	{"the page that may, without a token", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\n\n", 401},

	// tokens
	{"no token", "GET /v1/state HTTP/1.1\nHost: HOST\n\n", 401},
	{"a token that was revoked", "GET /v1/state HTTP/1.1\nHost: HOST\nREVOKED\n\n", 401},
	{"a token of nothing", "GET /v1/state HTTP/1.1\nHost: HOST\nAuthorization: Bearer\n\n", 400},
	{"two tokens", "GET /v1/state HTTP/1.1\nHost: HOST\nANN\nKIM\n\n", 400},
	{"a name and a password", "GET /v1/state HTTP/1.1\nHost: HOST\nAuthorization: Basic YW5uOmFubg==\n\n", 400},
	{"a token in the address", "GET /v1/state?token=TOKEN HTTP/1.1\nHost: HOST\n\n", 400},
	{"a token in the address, and rightly", "GET /v1/state?access_token=x HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"a token in a parameter", "GET /v1/search?q=TOKEN HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"a token, encoded", "GET /v1/search?q=%65arshot_" + strings.Repeat("a", 52) + " HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"a token in the path", "GET /TOKEN HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"a token in a cookie", "GET /v1/state HTTP/1.1\nHost: HOST\nCookie: token=TOKEN\n\n", 401},
	{"somebody by name", "GET /v1/state HTTP/1.1\nHost: HOST\nEarshot-Identity: ann\n\n", 401},
	{"a room that is not theirs", "GET /v1/state HTTP/1.1\nHost: HOST\nEarshot-Room: attic\nANN\n\n", 403},

	// methods, protocols, bodies
	{"HEAD", "HEAD /v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 405},
	{"OPTIONS", "OPTIONS /v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 405},
	{"OPTIONS of everything", "OPTIONS * HTTP/1.1\nHost: HOST\n\n", 401},
	{"TRACE", "TRACE /v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 405},
	{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"PUT", "PUT /v1/messages HTTP/1.1\nHost: HOST\nANN\nContent-Length: 0\n\n", 405},
	{"a method of their own", "get /v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 405},
	{"h2c known before", "PRI * HTTP/2.0\n\nSM\n\n", 505},
	{"h2c asked for", "GET /v1/state HTTP/1.1\nHost: HOST\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAAP__\nANN\n\n", 400},
	{"a websocket", "GET /v1/events HTTP/1.1\nHost: HOST\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nANN\n\n", 400},
	{"a form", "POST /v1/messages HTTP/1.1\nHost: HOST\nContent-Type: application/x-www-form-urlencoded\nANN\nContent-Length: 12\n\n{\"text\":\"x\"}", 415},
	{"no content type", "POST /v1/messages HTTP/1.1\nHost: HOST\nANN\nContent-Length: 12\n\n{\"text\":\"x\"}", 415},
	{"two content types", "POST /v1/messages HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Type: text/plain\nANN\nContent-Length: 12\n\n{\"text\":\"x\"}", 400},
	{"a GET with a body", "GET /v1/state HTTP/1.1\nHost: HOST\nANN\nContent-Type: application/json\nContent-Length: 2\n\n{}", 400},
	{"a huge body", "POST /v1/messages HTTP/1.1\nHost: HOST\nContent-Type: application/json\nANN\nContent-Length: 600000\n\n{\"text\":\"" + strings.Repeat("x", 599989) + "\"}", 413},
	{"a huge body in pieces", "POST /v1/messages HTTP/1.1\nHost: HOST\nContent-Type: application/json\nANN\nTransfer-Encoding: chunked\n\n" + strings.Repeat("10000\n"+strings.Repeat(" ", 1<<16)+"\n", 8) + "0\n\n", 413},
	{"two lengths", "POST /v1/messages HTTP/1.1\nHost: HOST\nContent-Type: application/json\nANN\nContent-Length: 12\nContent-Length: 13\n\n{\"text\":\"x\"}", 400},
	{"another encoding", "POST /v1/messages HTTP/1.1\nHost: HOST\nContent-Type: application/json\nANN\nTransfer-Encoding: gzip\n\n{\"text\":\"x\"}", 501},
	{"huge headers", "GET /v1/state HTTP/1.1\nHost: HOST\nANN\nX: " + strings.Repeat("x", 1<<16) + "\n\n", 431},
	{"many headers", "GET /v1/state HTTP/1.1\nHost: HOST\nANN\n" + strings.Repeat("X: x\n", 10_000) + "\n", 431},

	// paths and parameters
	{"two slashes", "GET //v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a path, encoded", "GET /v1/%73tate HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a dot, encoded", "GET /v1/x/%2e%2e/state HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a way around", "GET /v1/../v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a slash, encoded", "GET /v1%2fstate HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"another case", "GET /V1/State HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a slash behind", "GET /v1/state/ HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"something behind a semicolon", "GET /v1/state;x HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a backslash", "GET /v1\\state HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"a zero", "GET /v1/state%00 HTTP/1.1\nHost: HOST\nANN\n\n", 404},
	{"no slash", "GET v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 400},
	{"a parameter that is none", "GET /v1/state?x=1 HTTP/1.1\nHost: HOST\nANN\n\n", 400},

	// things that belong to somebody else
	{"who may not", "GET /v1/agents HTTP/1.1\nHost: HOST\nANN\n\n", 403},
	{"the camera, from elsewhere", "POST /v1/look HTTP/1.1\nHost: HOST\nContent-Type: application/json\nANN\nContent-Length: 2\n\n{}", 403},
}

// TestRefusals sends each of the refusals to a real port, as bytes. The status is the expected one
// and is in the audit log, the house hears of none of them, and no token is repeated.
func TestRefusals(t *testing.T) {
	p := listen(t, server.Config{AllowedOrigins: []string{"http://good.example:3000"}, AllowedHosts: []string{"earshot.example"}})
	if len(refusals) < 40 {
		t.Fatalf("there are %d", len(refusals))
	}
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			p.written()
			resp, body := p.send(t, p.bytesOf(tt.raw))
			if resp == nil || resp.StatusCode != tt.status {
				t.Fatalf("answered %v, %s; want %d", resp, body, tt.status)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" && !strings.Contains(tt.raw, "good.example:3000\n") {
				t.Error("a page may read that")
			}
			if (tt.status == 401) != (resp.Header.Get("WWW-Authenticate") == "Bearer") || (tt.status == 405) != (resp.Header.Get("Allow") != "") {
				t.Errorf("the headers are %v", resp.Header)
			}
			// Requests that net/http refuses by itself are not in the audit log.
			if all := p.written(); strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && tt.raw[:4] != "HEAD" &&
				(len(all) != 1 || all[0].Status != tt.status || all[0].From != "127.0.0.1" || all[0].Changed != "") {
				t.Errorf("written down is %+v", all)
			}
			if strings.Contains(body, "earshot_a") {
				t.Errorf("told %s", body)
			}
		})
	}
	if kept := p.all(); len(kept) != 0 {
		t.Errorf("the house has heard %v", kept)
	}
	p.stop()
	if log := p.log.String(); strings.Contains(log, "earshot_a") || !strings.Contains(log, "refused a request") {
		t.Errorf("the log: %s", log)
	}
}

// TestWelcome: a valid request is answered, in every permitted spelling.
func TestWelcome(t *testing.T) {
	p := listen(t, server.Config{AllowedOrigins: []string{"http://Good.example:3000"}, AllowedHosts: []string{"Earshot.example", "other.example:8000"}})
	post := "Content-Type: application/json\nContent-Length: 12\n\n{\"text\":\"x\"}"
	for _, tt := range []struct {
		name, raw string
		status    int
		header    string
	}{
		{"by its address", "GET /v1/state HTTP/1.1\nHost: HOST\nANN\n\n", 200, ""},
		{"by its name", "GET /v1/state HTTP/1.1\nHost: localhost:PORT\nANN\n\n", 200, ""},
		{"in capitals", "GET /v1/state HTTP/1.1\nHost: LocalHost\nANN\n\n", 200, ""},
		{"through another port", "GET /v1/state HTTP/1.1\nHost: localhost:9000\nANN\n\n", 200, ""},
		{"by the other address", "GET /v1/state HTTP/1.1\nHost: [::1]:PORT\nANN\n\n", 200, ""},
		{"without a port", "GET /v1/state HTTP/1.1\nHost: [::1]\nANN\n\n", 200, ""},
		{"by a name of theirs", "GET /v1/state HTTP/1.1\nHost: earshot.example\nANN\n\n", 200, ""},
		{"by a name of theirs, at any port", "GET /v1/state HTTP/1.1\nHost: EARSHOT.example:1\nANN\n\n", 200, ""},
		{"by a name of theirs with a port", "GET /v1/state HTTP/1.1\nHost: other.example:8000\nANN\n\n", 200, ""},
		{"HTTP/1.0", "GET /v1/state HTTP/1.0\nHost: HOST\nANN\n\n", 200, ""},
		{"a message", "POST /v1/messages HTTP/1.1\nHost: HOST\nANN\n" + post, 200, ""},
		{"a message of a character set", "POST /v1/messages HTTP/1.1\nHost: HOST\nANN\n" + strings.Replace(post, "json", "json; charset=utf-8", 1), 200, ""},
		{"a message in pieces", "POST /v1/messages HTTP/1.1\nHost: HOST\nANN\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n6\n{\"text\n6\n\":\"x\"}\n0\n\n", 200, ""},
		{"a page that may", "POST /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nSec-Fetch-Site: cross-site\nANN\n" + post, 200, "http://good.example:3000"},
		{"a page that may reads", "GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nSec-Fetch-Site: same-site\nANN\n\n", 200, "http://good.example:3000"},
		{"a page that may wants to know", "OPTIONS /v1/messages HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: authorization,content-type\n\n", 204, "http://good.example:3000"},
		{"who operates it", "GET /v1/agents HTTP/1.1\nHost: HOST\nKIM\n\n", 200, ""},
		{"the camera", "POST /v1/look HTTP/1.1\nHost: HOST\nKIM\nContent-Type: application/json\nContent-Length: 2\n\n{}", 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.written()
			resp, body := p.send(t, p.bytesOf(tt.raw))
			if resp == nil || resp.StatusCode != tt.status || resp.Header.Get("Access-Control-Allow-Origin") != tt.header {
				t.Fatalf("answered %v, %s; want %d", resp, body, tt.status)
			}
			if resp.Header.Get("Vary") != "Origin" || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("the headers are %v", resp.Header)
			}
			all := p.written()
			if changes := strings.Contains(tt.raw, "POST /"); changes != (len(all) == 1) {
				t.Fatalf("written down is %+v", all)
			}
			if len(all) == 1 && (all[0].Who == "" || all[0].Changed == "" || all[0].Route == "" || all[0].From != "127.0.0.1") {
				t.Errorf("written down is %+v", all)
			}
		})
	}
	for _, s := range p.sessions {
		if s.Address != "127.0.0.1" || s.Account.Provider != "token" {
			t.Errorf("a session is %+v", s)
		}
	}
}

// TestNoOriginIsWelcome: if no page may use the port, none is told anything.
func TestNoOriginIsWelcome(t *testing.T) {
	p := listen(t, server.Config{})
	for _, raw := range []string{
		"OPTIONS /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nAccess-Control-Request-Method: GET\n\n",
		"GET /v1/state HTTP/1.1\nHost: HOST\nOrigin: http://good.example:3000\nANN\n\n",
	} {
		resp, _ := p.send(t, p.bytesOf(raw))
		if resp == nil || resp.StatusCode != 403 || resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get("Vary") != "" {
			t.Errorf("answered %v", resp)
		}
	}
}

// TestEveryRouteTakesAToken: a request without a token, with a wrong one, or by somebody who lacks
// the right, gets nothing from any route but the fact that the process is alive.
func TestEveryRouteTakesAToken(t *testing.T) {
	post := "Content-Type: application/json\nContent-Length: 2\n\n{}"
	for _, r := range server.AllRoutes() {
		p := listen(t, server.Config{}) // a new port, which has seen no wrong token yet
		ask := func(headers string) int {
			end := "\n"
			if r.Method == "POST" {
				end = post
			}
			resp, _ := p.send(t, p.bytesOf(r.Method+" "+r.Path+" HTTP/1.1\nHost: HOST\nConnection: close\n"+headers+end))
			if resp == nil {
				t.Fatalf("%s %s is not answered", r.Method, r.Path)
			}
			return resp.StatusCode
		}
		if r.Right == "anybody" {
			if r.Path != "/livez" || r.Method != "GET" {
				t.Errorf("%s %s is for anybody", r.Method, r.Path)
			}
			continue
		}
		if got := ask(""); got != 401 {
			t.Errorf("%s %s without a token: %d", r.Method, r.Path, got)
		}
		if got := ask("REVOKED\n"); got != 401 {
			t.Errorf("%s %s with a wrong token: %d", r.Method, r.Path, got)
		}
		switch got := ask("ANN\n"); {
		case (r.Right != "resident") != (got == 403):
			t.Errorf("%s %s of %s, as somebody who may not operate: %d", r.Method, r.Path, r.Right, got)
		case r.Right == "nobody":
			t.Errorf("%s %s is for nobody", r.Method, r.Path)
		}
		if got := ask("KIM\n"); got == 401 || got == 403 || got == 429 {
			t.Errorf("%s %s, as somebody who may: %d", r.Method, r.Path, got)
		}
	}
}

// TestClientAtAPort does at a port what a client does at the socket.
func TestClientAtAPort(t *testing.T) {
	p := listen(t, server.Config{})
	c := &client.Client{URL: "http://" + p.at, Token: "earshot_nothing"}
	if _, err := c.State(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown here") {
		t.Errorf("with a wrong token: %v", err)
	}
	c.Token = ""
	if _, err := c.State(t.Context()); err == nil || !strings.Contains(err.Error(), "earshot token create") {
		t.Errorf("without a token: %v", err)
	}
	c.Token = field.Secret(annsToken)
	if _, err := c.State(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Post(t.Context(), "", "hello"); err != nil {
		t.Error(err)
	}
	for e, err := range c.Events(t.Context(), 0) {
		if err != nil || e.Sequence != 1 {
			t.Errorf("event %d, %v", e.Sequence, err)
		}
		break
	}
	leaves := sense(func(context.Context, providers.Emit) error { return nil })
	if err := c.Attach(t.Context(), leaves, &testkit.Voice{Called: "console"}, new(attach.Names)); err != nil {
		t.Errorf("attached: %v", err)
	}
	for _, url := range []string{"http://192.0.2.1:80", "https://127.0.0.1:1", "ftp://localhost", "http://x@localhost", "http://localhost/x", "localhost:80", "http://localhost?x", "http://"} {
		c := &client.Client{URL: url, Token: field.Secret(annsToken)}
		if _, err := c.State(t.Context()); err == nil || strings.Contains(err.Error(), annsToken) {
			t.Errorf("%s: %v", url, err)
		}
	}
	p.stop()
	if _, err := c.State(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestListenLoopback(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:0":       "",
		"localhost:0":       "",
		"127.9.9.9:0":       "",
		"0.0.0.0:0":         "which other machines can reach",
		"[::]:0":            "which other machines can reach",
		":0":                "must be a host of this machine",
		"192.0.2.1:0":       "which other machines can reach",
		"127.0.0.1":         "must be a host of this machine",
		"127.0.0.1:http":    "the port must be a number",
		"127.0.0.1:65536":   "the port must be a number",
		"nowhere.invalid:0": "finding out where",
	} {
		l, err := server.ListenLoopback(t.Context(), address)
		if err == nil {
			l.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	l, err := server.ListenLoopback(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := server.ListenLoopback(t.Context(), l.Addr().String()); err == nil || !strings.Contains(err.Error(), "another program already listens") {
		t.Errorf("the port is taken: %v", err)
	}
}

func TestConfigOfThePort(t *testing.T) {
	for _, tt := range []struct {
		c    server.Config
		want string
	}{
		{server.Config{Listen: "127.0.0.1:8765", AllowedHosts: []string{"a.example", "b.example:1", "a-b"}, AllowedOrigins: []string{"http://localhost:3000", "https://a.example"}}, ""},
		{server.Config{Listen: "x"}, "listen: is"},
		{server.Config{Listen: "10.0.0.1:1"}, "listen: is"},
		{server.Config{AllowedHosts: []string{"*"}}, "allowed_hosts[0]: is"},
		{server.Config{AllowedHosts: []string{"a", "10.0.0.1"}}, "allowed_hosts[1]: is"},
		{server.Config{AllowedHosts: []string{"a.example/x"}}, "allowed_hosts[0]: is"},
		{server.Config{AllowedOrigins: []string{"*"}}, "allowed_origins[0]: is"},
		{server.Config{AllowedOrigins: []string{"null"}}, "allowed_origins[0]: is"},
		{server.Config{AllowedOrigins: []string{"http://a.example/"}}, "allowed_origins[0]: is"},
		{server.Config{AllowedOrigins: []string{"http://a@b"}}, "allowed_origins[0]: is"},
		{server.Config{RequestsPerSecond: -1}, "requests_per_second: is -1"},
	} {
		err := tt.c.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.c, err)
		}
	}
}
