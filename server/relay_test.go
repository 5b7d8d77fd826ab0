package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/bus"
	"earshot/bus/stream"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/providers"
	"earshot/server"
	"earshot/server/attach"
	"earshot/server/audit"
	"earshot/server/client"
	"earshot/server/reconnect"
	"earshot/server/socket"
	"earshot/server/wire"
)

// kitchen is the account of a satellite.
var kitchen = earshot.Handle{Provider: participants.BySatellite, ID: "kitchen"}

// A pairOfServers are two servers, one of which has the rooms, or neither.
type pairOfServers struct {
	bus    bus.Local
	houses map[string]*house
	at     map[string]string // the sockets
	ports  map[string]string

	mu     sync.Mutex
	audits map[string][]audit.Entry
	owner  string
	left   chan struct{}
	lies   bool // each says that the other has the room
}

func (p *pairOfServers) locate(self string) (server.Location, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.lies:
		return server.Location{Owner: map[string]string{"a.1": "b.2", "b.2": "a.1"}[self]}, nil
	case p.owner == "":
		return server.Location{}, wire.ErrMoved
	case p.owner == self:
		return server.Location{Left: p.left}, nil
	}
	return server.Location{Owner: p.owner}, nil
}

// move gives the rooms to another server, or to none.
func (p *pairOfServers) move(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owner = owner
	close(p.left)
	p.left = make(chan struct{})
}

// serveTwo serves until the end of the test. The rooms are at b.2.
func serveTwo(t testing.TB) *pairOfServers {
	t.Helper()
	p := &pairOfServers{
		houses: map[string]*house{}, at: map[string]string{}, ports: map[string]string{}, audits: map[string][]audit.Entry{}, owner: "b.2", left: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		testkit.Finish(t, testkit.Patience, "the servers end", all.Wait)
	})
	for _, self := range []string{"a.1", "b.2"} {
		h := newHouse()
		h.refuse = func(context.Context, earshot.Event) error {
			if at, err := p.locate(self); err != nil || at.Owner != "" {
				return wire.ErrMoved
			}
			return nil
		}
		h.vouch = func(c server.Claim) (server.Principal, error) {
			if c.Token.Reveal() == "earshot_good" {
				return ann, nil
			}
			return server.Principal{}, participants.ErrToken
		}
		s := serverOf(h)
		s.Audit = func(e audit.Entry) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.audits[self] = append(p.audits[self], e)
		}
		s.Relay = &server.Relay{
			Locate: func(earshot.RoomID) (server.Location, error) { return p.locate(self) },
			Dial: func(ctx context.Context, owner string) (net.Conn, error) {
				return stream.Dial(ctx, &p.bus, "relay."+owner)
			},
		}
		p.houses[self] = h
		p.at[self] = testSocket(t)
		l, err := socket.Listen(p.at[self])
		if err != nil {
			t.Fatal(err)
		}
		relayed, err := stream.Listen(ctx, &p.bus, "relay."+self, 512)
		if err != nil {
			t.Fatal(err)
		}
		port, err := server.ListenLoopback(ctx, "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.ports[self] = "http://" + port.Addr().String()
		terminals, err := stream.Listen(ctx, &p.bus, "kitchen."+self, 512)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { s.ServeTerminals(ctx, terminals, kitchen) })
		all.Go(func() { s.Serve(ctx, l) })
		all.Go(func() { s.ServeRelayed(ctx, relayed) })
		all.Go(func() { s.ServeLoopback(ctx, port, server.Config{RequestsPerSecond: 1000}) })
	}
	return p
}

func testSocket(t testing.TB) string {
	dir, err := os.MkdirTemp("", "es")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir + "/earshot/s"
}

// ask sends a request to the socket of a server, and returns the answer once it begins.
func (p *pairOfServers) ask(t *testing.T, self, method, path, body string, header http.Header) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	t.Cleanup(cancel)
	conn, err := net.Dial("unix", p.at[self])
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	req, err := http.NewRequestWithContext(ctx, method, "http://earshot"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestSites: each route is answered by the daemon that it belongs to, and every route belongs to one.
func TestSites(t *testing.T) {
	p := serveTwo(t)
	boss := ann
	boss.Capabilities = []participants.Capability{participants.Operate, participants.SendMessages}
	for _, h := range p.houses {
		h.who = func(earshot.Handle, server.Claim) (server.Principal, error) { return boss, nil }
		h.hold = func(server.Principal) (func(), error) { return func() {}, nil }
	}
	b := p.houses["b.2"]
	for route, site := range server.Sites() {
		if site == "" {
			t.Errorf("%s is answered by nobody: give it a site in routes", route)
			continue
		}
		method, path, _ := strings.Cut(route, " ")
		h := http.Header{}
		if path == wire.AttachPath {
			h = http.Header{"Connection": {"Upgrade"}, "Upgrade": {wire.Protocol}}
		}
		b.mu.Lock()
		before := len(b.asked)
		b.mu.Unlock()
		resp := p.ask(t, "a.1", method, path, "", h)
		resp.Body.Close()
		b.mu.Lock()
		passed := len(b.asked) > before
		b.mu.Unlock()
		if passed != (site != "any") || resp.StatusCode == http.StatusServiceUnavailable && path != "/readyz" {
			t.Errorf("%s: passed on is %v, and its site %s; %s", route, passed, site, resp.Status)
		}
		if got := resp.Header["Cache-Control"]; len(got) != 1 {
			t.Errorf("%s: Cache-Control %q", route, got)
		}
	}
}

// TestRelay: what is said at one server is said at the other, by the same person, and recorded there.
func TestRelay(t *testing.T) {
	p := serveTwo(t)
	for name, c := range map[string]*client.Client{
		"the socket": {Socket: p.at["a.1"]},
		"the port":   {URL: p.ports["a.1"], Token: "earshot_good"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := c.Post(t.Context(), "", "hello")
			if err != nil {
				t.Fatal(err)
			}
			b := p.houses["b.2"]
			if all := b.all(); len(p.houses["a.1"].all()) != 0 || !slices.ContainsFunc(all, func(e earshot.Event) bool { return e.ID == id }) {
				t.Errorf("kept: %v", all)
			}
			account, from := self(), self().ID
			if c.URL != "" {
				account, from = earshot.Handle{Provider: "token", ID: "ann"}, "127.0.0.1"
			}
			b.mu.Lock()
			asked, session := b.asked[len(b.asked)-1], b.sessions[len(b.sessions)-1]
			b.mu.Unlock()
			if asked != account || session.Participant != "ann" || (session.Address != "") != (c.URL != "") {
				t.Errorf("asked as %v, session %+v", asked, session)
			}
			testkit.Await(t, testkit.Patience, "the audit entry", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return len(p.audits["a.1"]) == 0 && slices.ContainsFunc(p.audits["b.2"], func(e audit.Entry) bool {
					return e.Who == "ann" && e.From == from && e.Changed == "message" && e.Status == 200
				})
			})
		})
	}
	p.move("")
	time.AfterFunc(100*time.Millisecond, func() { p.move("a.1") })
	if _, err := (&client.Client{Socket: p.at["a.1"]}).Post(t.Context(), "", "meanwhile"); err != nil || len(p.houses["a.1"].all()) != 1 {
		t.Errorf("posted while the room moves: %v", err)
	}
	c := &client.Client{URL: p.ports["a.1"], Token: "earshot_bad"}
	if _, err := c.Post(t.Context(), "", "hello"); !strings.Contains(fmt.Sprint(err), "token") {
		t.Errorf("with a wrong token: %v", err)
	}
}

// TestRelayRefuses: what cannot be answered now is refused in a way that says so.
func TestRelayRefuses(t *testing.T) {
	for name, set := range map[string]func(*pairOfServers){
		"nobody has the room":          func(p *pairOfServers) { p.move("") },
		"each says that the other has": func(p *pairOfServers) { p.lies = true },
		"the owner is gone":            func(p *pairOfServers) { p.move("c.3") },
		"the other knows somebody else": func(p *pairOfServers) {
			p.houses["b.2"].who = func(earshot.Handle, server.Claim) (server.Principal, error) {
				other := ann
				other.ID = "zed"
				return other, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := serveTwo(t)
			set(p)
			resp := p.ask(t, "a.1", "POST", "/v1/messages", `{"text":"hello"}`, nil)
			var r wire.Refusal
			if err := json.NewDecoder(resp.Body).Decode(&r); err != nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" || r.Mend == "" {
				t.Errorf("%s, %v, %+v, %v", resp.Status, resp.Header, r, err)
			}
			if n := len(p.houses["a.1"].all()) + len(p.houses["b.2"].all()); n != 0 {
				t.Errorf("%d messages were kept", n)
			}
		})
	}
}

// TestRelayBreaks: when the connection with the owner breaks after the request was sent, a request that may
// be done twice without harm can be asked again, and of another it is said that it may have been done. The
// same holds where the room leaves meanwhile.
func TestRelayBreaks(t *testing.T) {
	p := serveTwo(t)
	for _, h := range p.houses {
		boss := ann
		boss.Capabilities = []participants.Capability{participants.Operate}
		h.who = func(earshot.Handle, server.Claim) (server.Principal, error) { return boss, nil }
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, err := stream.Listen(ctx, &p.bus, "relay.c.3", 512)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "whoever closes connections ends", serving.Wait)
	defer l.Close()
	asked := make(chan string, 10)
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				_, err = io.ReadAll(r.Body)
			}
			if err != nil {
				t.Error(err)
			}
			conn.Close()
			asked <- r.URL.Path
		}
	})
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/state", "", 503},
		{"POST", "/v1/messages", `{"text":"hello","id":"01JZZZZZZZZZZZZZZZZZZZZZZZ"}`, 503},
		{"POST", "/v1/messages", `{"text":"hello"}`, 502},
		{"POST", "/v1/commands", `{"name":"who"}`, 502},
		{"POST", "/v1/agents", `{}`, 502},
	} {
		p.move("c.3")
		resp := p.ask(t, "a.1", tt.method, tt.path, tt.body, nil)
		var r wire.Refusal
		if err := json.NewDecoder(resp.Body).Decode(&r); err != nil || resp.StatusCode != tt.status || (resp.Header.Get("Retry-After") != "") != (tt.status == 503) || r.Mend == "" {
			t.Errorf("%s %s: %s, %+v, %v", tt.method, tt.path, resp.Status, r, err)
		}
		if got := testkit.Receive(t, testkit.Patience, "the request", asked); got != tt.path {
			t.Errorf("%s was asked for", got)
		}
		if len(asked) > 0 {
			t.Errorf("%s %s was asked for twice", tt.method, tt.path)
		}
	}
	b := p.houses["b.2"]
	b.do = func(ctx context.Context) error {
		p.move("c.3")
		<-ctx.Done()
		return context.Cause(ctx)
	}
	p.move("b.2")
	if resp := p.ask(t, "a.1", "POST", "/v1/commands", `{"name":"who"}`, nil); resp.StatusCode != 502 {
		t.Errorf("a command while the room leaves: %s", resp.Status)
	}
}

// TestPrincipalHeader: a client cannot say who it is in the header of the daemons.
func TestPrincipalHeader(t *testing.T) {
	p := serveTwo(t)
	forged := http.Header{wire.PrincipalHeader: {`{"id":"zed","account":{"provider":"console","id":"uid0"},"own":false,"from":"nowhere"}`}}
	for _, owner := range []string{"a.1", "b.2"} {
		p.move(owner)
		resp := p.ask(t, "a.1", "POST", "/v1/messages", `{"text":"hello"}`, forged)
		h := p.houses[owner]
		h.mu.Lock()
		if asked := h.asked[len(h.asked)-1]; resp.StatusCode != 200 || asked != self() {
			t.Errorf("%s as %v", resp.Status, asked)
		}
		h.mu.Unlock()
	}
	conn, err := stream.Dial(t.Context(), &p.bus, "relay.b.2")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	io.WriteString(conn, "GET /v1/state HTTP/1.1\r\nHost: earshot\r\nConnection: close\r\n\r\n")
	if answer, err := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("without a header: %q, %v", answer, err)
	}
}

// TestServeTerminals: where only terminals are served, one is attached with the account of the place, also if
// another server has the room; every route else is refused, and a frame that is too long ends the terminal.
func TestServeTerminals(t *testing.T) {
	p := serveTwo(t)
	c := &client.Client{Dial: func(ctx context.Context) (net.Conn, error) { return stream.Dial(ctx, &p.bus, "kitchen.a.1") }}
	for _, h := range p.houses {
		h.who = func(account earshot.Handle, _ server.Claim) (server.Principal, error) {
			if account != kitchen {
				return ann, nil
			}
			is := participants.Participant{ID: participants.AtSatellite("kitchen"), Capabilities: []participants.Capability{participants.Operate, participants.SendMessages}}
			return server.Principal{Participant: is, Present: true, Audience: earshot.Audience{Room: earshot.Desk, Unknown: true}}, nil
		}
	}
	for _, owner := range []string{"b.2", "a.1"} {
		p.move(owner)
		s := &script{ids: []earshot.EventID{earshot.EventID(ulid.Make().String())}, after: func(int) {}}
		if err := c.Attach(t.Context(), s, &testkit.Voice{Called: "screen"}, new(attach.Names)); err != nil {
			t.Fatal(err)
		}
		all := p.houses[owner].all()
		if !slices.ContainsFunc(all, func(e earshot.Event) bool {
			return e.ID == s.ids[0] && e.From == handleOf(kitchen, "satellite_kitchen")
		}) {
			t.Errorf("%s has %+v", owner, all)
		}
	}
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx) }}
	defer tr.CloseIdleConnections()
	for route := range server.Sites() {
		method, path, _ := strings.Cut(route, " ")
		if path == wire.AttachPath {
			continue
		}
		for _, header := range []http.Header{{}, {wire.TokenHeader: {"Bearer earshot_good"}, wire.IdentityHeader: {"ann"}}} {
			req, err := http.NewRequestWithContext(t.Context(), method, "http://earshot"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = header
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s", route, resp.Status)
			}
		}
	}
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: earshot\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n{\"hello\":{}}\n", wire.AttachPath, wire.Protocol)
	go conn.Write([]byte(strings.Repeat("x", wire.MaxUp+1)))
	if answer, _ := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 101") {
		t.Errorf("%.40q", answer)
	}
	for _, h := range p.houses {
		testkit.Await(t, testkit.Patience, "the end of the terminals", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.inside == 0
		})
	}
}

// A script is an input that says something, again and again.
type script struct {
	ids   []earshot.EventID
	after func(i int)
}

func (s *script) Name() string { return "script" }

func (s *script) Run(ctx context.Context, emit providers.Emit) error {
	for i, id := range s.ids {
		if err := emit(ctx, earshot.Event{ID: id, At: time.Now(), Body: earshot.Message{Text: earshot.Text(fmt.Sprint("message ", i))}}); err != nil {
			return err
		}
		s.after(i)
	}
	return nil
}

// TestAttachedAsRoomMoves: a terminal comes back wherever its room goes, and everything that is said
// there is kept.
func TestAttachedAsRoomMoves(t *testing.T) {
	p := serveTwo(t)
	s := &script{}
	for range 40 {
		s.ids = append(s.ids, earshot.EventID(ulid.Make().String()))
	}
	s.after = func(i int) {
		switch i % 8 {
		case 1:
			p.move("a.1")
		case 3:
			p.move("")
			time.AfterFunc(50*time.Millisecond, func() { p.move("b.2") })
		case 5:
			p.move("c.3") // which is not there
			time.AfterFunc(50*time.Millisecond, func() { p.move("b.2") })
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*testkit.Patience)
	defer cancel()
	var losses int
	err := reconnect.Attach(ctx, &client.Client{Socket: p.at["a.1"]}, s, nopOutlet{}, new(attach.Names), func(error) { losses++ })
	if err != nil || ctx.Err() != nil {
		t.Fatalf("attached: %v, %v", err, ctx.Err())
	}
	kept := make(map[earshot.EventID]bool)
	for _, h := range p.houses {
		for _, e := range h.all() {
			kept[e.ID] = true
		}
	}
	for i, id := range s.ids {
		if !kept[id] {
			t.Errorf("message %d is lost", i)
		}
	}
	if losses == 0 {
		t.Error("the terminal was never told that the room moves")
	}
}

// TestAttachesAsRoomMoves: a terminal that comes while its room is nowhere waits for it, and says so once;
// one whose room stays away is refused.
func TestAttachesAsRoomMoves(t *testing.T) {
	p := serveTwo(t)
	p.move("")
	s := &script{after: func(int) {}, ids: []earshot.EventID{earshot.EventID(ulid.Make().String())}}
	var told []error
	tell := func(lost error) {
		if told = append(told, lost); len(told) == 1 {
			p.move("b.2")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if err := reconnect.Attach(ctx, &client.Client{Socket: p.at["a.1"]}, s, nopOutlet{}, new(attach.Names), tell); err != nil {
		t.Error(err)
	}
	kept := slices.ContainsFunc(p.houses["b.2"].all(), func(e earshot.Event) bool { return e.ID == s.ids[0] })
	if len(told) != 2 || !client.Moving(told[0]) || told[1] != nil || !kept {
		t.Errorf("the terminal was told %v, and its message was kept: %t", told, kept)
	}
	p.move("")
	err := reconnect.Attach(ctx, &client.Client{Socket: p.at["a.1"]}, s, nopOutlet{}, new(attach.Names), func(error) {})
	if !client.Moving(err) {
		t.Errorf("a room that stays away: %v", err)
	}
}

// TestStreamsAsRoomMoves: who follows a room is told its end where it was, and finds it where it is.
func TestStreamsAsRoomMoves(t *testing.T) {
	p := serveTwo(t)
	for _, owner := range []string{"b.2", "a.1"} {
		p.move(owner)
		resp := p.ask(t, "a.1", "GET", "/v1/events", "", nil)
		if err := p.houses[owner].Admit(t.Context(), earshot.Event{ID: "e1", Room: earshot.Desk, Body: earshot.Message{Text: "hello"}}); err != nil {
			t.Fatal(err)
		}
		begun := make([]byte, 10)
		if _, err := io.ReadFull(resp.Body, begun); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, resp.Body)
			ended <- err
		}()
		p.move("c.3")
		if err := testkit.Receive(t, testkit.Patience, "the end of the stream", ended); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}
}

// nopOutlet shows nothing.
type nopOutlet struct{}

func (nopOutlet) Name() string { return "nothing" }

func (nopOutlet) Open(context.Context, earshot.Opening, func(earshot.Heard)) (earshot.Speaking, error) {
	return nil, errors.New("it shows nothing")
}

// FuzzAssertion: whatever a header says, reading it ends, and what was understood says somebody.
func FuzzAssertion(f *testing.F) {
	for _, s := range []string{"", "{}", "%7B%7D", `{"id":"ann","account":{"provider":"console","id":"uid1"},"own":true,"from":"uid1"}`, `{"id":"ann","addr":"127.0.0.1"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text, err := server.CheckEvidence(http.Header{wire.PrincipalHeader: {value}})
		if err != nil {
			return
		}
		if again, err := server.CheckEvidence(http.Header{wire.PrincipalHeader: {text}}); err != nil || again != text {
			t.Errorf("%q becomes %q and then %q, %v", value, text, again, err)
		}
	})
}

// BenchmarkRelay measures how long a request takes, of the owner and through another daemon.
func BenchmarkRelay(b *testing.B) {
	p := serveTwo(b)
	for _, h := range p.houses { // each may ask only so often
		h.who = func(_ earshot.Handle, c server.Claim) (server.Principal, error) {
			who := ann
			who.ID = earshot.ParticipantID(c.Name)
			return who, nil
		}
	}
	n := 0
	for _, owner := range []string{"a.1", "b.2"} {
		p.move(owner)
		b.Run(map[string]string{"a.1": "direct", "b.2": "relayed"}[owner], func(b *testing.B) {
			for b.Loop() {
				n++
				c := &client.Client{Socket: p.at["a.1"], Identity: fmt.Sprint("person", n%500)}
				if _, err := c.State(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
