package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/providers"
	"earshot/server"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/token"
	"earshot/server/wire"
)

// byName believes everybody's name and room.
func byName(_ earshot.Handle, c server.Claim) (server.Principal, error) {
	id := earshot.ParticipantID(c.Name)
	return server.Principal{
		Participant: participants.Participant{ID: id, Name: c.Name},
		Audience:    earshot.Audience{Room: c.Room, Members: []earshot.ParticipantID{id}},
	}, nil
}

// TestClientSaysWhoItIs: whatever a client's name is, the house gets it unchanged with every kind
// of request.
func TestClientSaysWhoItIs(t *testing.T) {
	for _, want := range []server.Claim{
		{},
		{Name: "Zoë"},
		{Name: "Anna Bell", Room: "parlour", Token: "earshot_abc"},
		{Name: "100%/..?#:;,\"'<>\\ +&=", Room: "a/b c"},
		{Name: "王小明", Room: "客厅"},
		{Name: strings.Repeat("é", 128)},
	} {
		h := newHouse()
		at, stop := serve(t, h)
		c := &client.Client{Socket: at, Identity: want.Name, Room: want.Room, Token: want.Token}
		_, posted := c.Post(t.Context(), "", "x")
		_, stated := c.State(t.Context())
		attached := c.Attach(t.Context(), sense(func(context.Context, providers.Emit) error { return nil }), &testkit.Voice{}, new(attach.Names))
		var read error
		for _, err := range c.Events(t.Context(), 0) {
			read = err
			break
		}
		if err := errors.Join(posted, stated, attached, read); err != nil {
			t.Errorf("%v: %v", want, err)
		}
		stop()
		if len(h.claims) < 4 {
			t.Errorf("%v: asked %d times", want, len(h.claims))
		}
		speaks := 0
		for _, got := range h.claims {
			if got.New { // a client that says something may be new
				speaks++
			}
			if got.New = false; got != want {
				t.Errorf("said to be %+v, want %+v", got, want)
			}
		}
		if speaks != 2 {
			t.Errorf("%+v may be somebody new at %d of them, want where something is posted and said", want, speaks)
		}
	}
}

// TestHostileClaims: malformed headers are refused with a reason before the house is asked. Odd but
// valid ones are for the house to judge.
func TestHostileClaims(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	for _, tt := range []struct {
		name, headers string
		status        int
		text          string
	}{
		{"none", "", 200, ""},
		{"plain", "Earshot-Identity: ann\r\n", 200, ""},
		{"another case", "earshot-identity: ann\r\n", 200, ""},
		{"two names", "Earshot-Identity: ann\r\nEarshot-Identity: ann\r\n", 400, "appears 2 times"},
		{"two names, cased", "Earshot-Identity: ann\r\nEARSHOT-IDENTITY: bob\r\n", 400, "appears 2 times"},
		{"two rooms", "Earshot-Room: a\r\nEarshot-Room: b\r\n", 400, "appears 2 times"},
		{"two tokens", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", 400, "appears 2 times"},
		{"an empty name", "Earshot-Identity:\r\n", 400, "is empty"},
		{"an empty room", "Earshot-Room: \r\n", 400, "is empty"},
		{"an empty token", "Authorization:\r\n", 400, "is empty"},
		{"not encoded", "Earshot-Identity: 100%\r\n", 400, "not percent-encoded"},
		{"half encoded", "Earshot-Identity: a%4\r\n", 400, "not percent-encoded"},
		{"wrongly encoded", "Earshot-Identity: %zz\r\n", 400, "not percent-encoded"},
		{"half a rune", "Earshot-Identity: %c3\r\n", 400, "not text"},
		{"bytes", "Earshot-Identity: \xff\xfe\r\n", 400, "not text"},
		{"a surrogate", "Earshot-Identity: %ED%A0%80\r\n", 400, "not text"},
		{"a zero", "Earshot-Identity: a%00b\r\n", 400, "not text"},
		{"a line", "Earshot-Identity: a%0D%0AX:%20b\r\n", 400, "not text"},
		{"an escape", "Earshot-Identity: %1b[2J\r\n", 400, "not text"},
		{"a C1 control", "Earshot-Room: %C2%9B\r\n", 400, "not text"},
		{"a long name", "Earshot-Identity: " + strings.Repeat("a", 257) + "\r\n", 400, "has 257 bytes; at most 256 are possible"},
		{"a huge name", "Earshot-Identity: " + strings.Repeat("a", 1<<16) + "\r\n", 431, ""},
		{"a long room", "Earshot-Room: " + strings.Repeat("%20", 257) + "\r\n", 400, "has 257 bytes"},
		{"a long token", "Authorization: Bearer " + strings.Repeat("a", 257) + "\r\n", 400, "and a token"},
		{"no bearer", "Authorization: earshot_x\r\n", 400, "and a token"},
		{"basic", "Authorization: Basic YTpi\r\n", 400, "and a token"},
		{"bearer of nothing", "Authorization: Bearer\r\n", 400, "and a token"},
		{"bearer of two", "Authorization: Bearer a b\r\n", 400, "and a token"},
		{"bearer of noise", "Authorization: Bearer \x80\xff\r\n", 400, "and a token"},
		{"bearer of cases", "Authorization: Bearer ABC\r\n", 400, "and a token"},
		{"a folded header", "Earshot-Identity: ann\r\n bob\r\n", 200, ""}, // one value to HTTP: "ann bob"
		{"no header at all", "Earshot-Identity\r\n", 400, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.mu.Lock()
			h.claims = nil
			h.mu.Unlock()
			resp := get(t, "unix", at, "GET /v1/state HTTP/1.1\r\nHost: x\r\n"+tt.headers+"\r\n")
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.text) {
				t.Errorf("%s: %s", resp.Status, body)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if (len(h.claims) == 1) != (tt.status == 200) {
				t.Errorf("the house was asked %d times: %+v", len(h.claims), h.claims)
			}
		})
	}
}

// FuzzClaim: whatever the headers contain, a claim that is accepted is text within its bounds, and
// survives being sent by a client again.
func FuzzClaim(f *testing.F) {
	f.Add("ann", "desk", "Bearer earshot_x")
	f.Add("%C3%A9", "%", "Bearer ")
	f.Add("", "%00", "bearer x")
	f.Fuzz(func(t *testing.T, name, room, secret string) {
		c, err := server.ClaimOf(http.Header{"Earshot-Identity": {name}, "Earshot-Room": {room}, "Authorization": {secret}})
		if err != nil {
			if c != (server.Claim{}) && c.Token != "" {
				t.Errorf("%v, and still %+v", err, c)
			}
			return
		}
		if len(c.Name) > 256 || len(c.Room) > 256 || len(c.Token) > 256 || strings.ContainsAny(c.Name+string(c.Room)+c.Token.Reveal(), "\x00\n\r\x1b") {
			t.Errorf("understood %q, %q, %q", c.Name, c.Room, c.Token.Reveal())
		}
		req := &http.Request{Header: make(http.Header), URL: new(url.URL)}
		(&client.Client{Identity: c.Name, Room: c.Room, Token: c.Token}).Sign(req)
		if again, err := server.ClaimOf(req.Header); err != nil || again != c {
			t.Errorf("%+v was understood as %+v, %v", c, again, err)
		}
	})
}

// guarded is the error for somebody who is not let in by a name alone.
type guarded struct{ error }

func (guarded) Cure() string    { return "set EARSHOT_TOKEN" }
func (g guarded) Unwrap() error { return g.error }

// TestIdentityIsRefused: each refusal has its status, its text and its cure.
func TestIdentityIsRefused(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		asks   string
		want   wire.Refusal
	}{
		{guarded{fmt.Errorf("to be ann: %w", participants.ErrToken)}, 401, "Bearer", wire.Refusal{Problem: "to be ann: " + participants.ErrToken.Error(), Mend: "set EARSHOT_TOKEN"}},
		{participants.ErrReserved, 403, "", wire.Refusal{Problem: participants.ErrReserved.Error()}},
		{fmt.Errorf("who is that? %w", participants.ErrUnknown), 403, "", wire.Refusal{Problem: "who is that? " + participants.ErrUnknown.Error()}},
	} {
		h := newHouse()
		h.who = func(earshot.Handle, server.Claim) (server.Principal, error) { return server.Principal{}, tt.err }
		at, _ := serve(t, h)
		for _, r := range append(server.Routes(), [2]string{"GET", "/nowhere"}) {
			resp := get(t, "unix", at, r[0]+" "+r[1]+" HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
			if resp.StatusCode != tt.status || resp.Header.Get("WWW-Authenticate") != tt.asks {
				t.Errorf("%s %s: %s, asks for %q", r[0], r[1], resp.Status, resp.Header.Get("WWW-Authenticate"))
			}
		}
		c := &client.Client{Socket: at, Identity: "ann"}
		_, stated := c.State(t.Context())
		attached := c.Attach(t.Context(), sense(nil), &testkit.Voice{}, new(attach.Names))
		for _, err := range []error{stated, attached} {
			if r, ok := errors.AsType[*wire.Refusal](err); !ok || *r != tt.want {
				t.Errorf("refused with %v, want %v", err, &tt.want)
			}
		}
	}
}

// TestEachIsThemselves: if two people act at once, each acts in their own name and room, and reads
// what they may read.
func TestEachIsThemselves(t *testing.T) {
	h := newHouse()
	h.who = byName
	at, stop := serve(t, h)
	const same = "01J00000000000000000000001"
	h.refuse = func(_ context.Context, e earshot.Event) error { // the journal does this
		for _, k := range h.all() {
			if k.ID == e.ID && k.From != e.From {
				return errors.New("the ID belongs to another event")
			}
		}
		return nil
	}
	people := []struct {
		c    *client.Client
		text earshot.Text
		want string
	}{
		{&client.Client{Socket: at, Identity: "ann", Room: "parlour"}, "from ann", ""},
		{&client.Client{Socket: at, Identity: "bob", Room: "kitchen"}, "from bob", "the ID belongs to another event"},
		{&client.Client{Socket: at, Identity: "ann", Room: "parlour"}, "from ann", ""}, // repeats the first one
	}
	for _, p := range people {
		_, err := p.c.Post(t.Context(), same, p.text)
		if got := ""; err != nil && err.Error() != p.want || err == nil && got != p.want {
			t.Errorf("%s posted with %v, want %q", p.c.Identity, err, p.want)
		}
	}
	if _, err := people[1].c.Post(t.Context(), "", "another"); err != nil {
		t.Error(err)
	}
	for i, want := range []earshot.Text{"from ann", "another"} {
		for e, err := range people[i].c.Events(t.Context(), 0) {
			if err != nil || e.Body.(earshot.Message).Text != want || e.From != handleOf(self(), earshot.ParticipantID(people[i].c.Identity)) {
				t.Errorf("%s reads %v, %v", people[i].c.Identity, e, err)
			}
			break
		}
	}
	stop()
	for _, s := range h.sessions {
		if s.Connection != "post" || s.Outlet != "" || s.ID == "" || s.Account != self() || s.Since.IsZero() {
			t.Errorf("a post was the session %+v", s)
		}
	}
}

// keeper lets in everybody by name, but ann only with her token.
func keeper(s *token.Store) func(earshot.Handle, server.Claim) (server.Principal, error) {
	return func(h earshot.Handle, c server.Claim) (server.Principal, error) {
		p, err := byName(h, c)
		if p.RequiresAuth = c.Name == "ann"; !p.RequiresAuth {
			return p, err
		}
		if of, err := s.Check(c.Token); err != nil || of != p.ID {
			return server.Principal{}, fmt.Errorf("%w: %w", participants.ErrToken, err)
		}
		return p, nil
	}
}

// TestRevoked: a terminal that came in by a token is told and ends when the token is revoked, and
// new requests with it are refused. Others are not affected.
func TestRevoked(t *testing.T) {
	tokens := &token.Store{Path: filepath.Join(t.TempDir(), "tokens.json")}
	made, secret, err := tokens.Create("ann", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse()
	h.who = keeper(tokens)
	at, stop := serve(t, h)
	ann := &client.Client{Socket: at, Identity: "ann", Token: secret}
	bob := &client.Client{Socket: at, Identity: "bob", Token: secret}
	for _, c := range []*client.Client{ann, bob} {
		said := make(chan error, 1)
		revoked := make(chan struct{})
		attached := make(chan error, 1)
		go func() {
			attached <- c.Attach(t.Context(), sense(func(ctx context.Context, emit providers.Emit) error {
				if err := emit(ctx, earshot.Event{Body: earshot.Message{Text: "before"}}); err != nil {
					t.Error(err)
				}
				said <- nil
				<-revoked
				said <- emit(ctx, earshot.Event{Body: earshot.Message{Text: "after"}})
				return ctx.Err()
			}), &testkit.Voice{}, new(attach.Names))
		}()
		testkit.Receive(t, testkit.Patience, "what the first one says", said)
		if c == ann {
			if err := tokens.Revoke(made.ID); err != nil {
				t.Fatal(err)
			}
		}
		close(revoked)
		told, ended := testkit.Receive(t, testkit.Patience, "what became of whoever was revoked", said), testkit.Receive(t, testkit.Patience, "what became of whoever was revoked", attached)
		r, ok := errors.AsType[*wire.Refusal](ended)
		if c == ann && (told == nil || !ok || !strings.Contains(r.Problem, token.ErrUnknown.Error())) || c == bob && (told != nil || ended != nil) {
			t.Errorf("%s was told %v, and the terminal ended with %v", c.Identity, told, ended)
		}
	}
	if _, err := ann.State(t.Context()); err == nil {
		t.Error("the token still lets in")
	}
	stop()
	var kept []string
	for _, e := range h.all() {
		if m, ok := e.Body.(earshot.Message); ok {
			kept = append(kept, e.From.ID[strings.Index(e.From.ID, "/")+1:]+" "+string(m.Text))
		}
	}
	if got := strings.Join(kept, ", "); got != "ann before, bob before, bob after" {
		t.Errorf("kept %s", got)
	}
}

// TestRevokedReader: a stream yields nothing more once the reader's token has been revoked.
func TestRevokedReader(t *testing.T) {
	tokens := &token.Store{Path: filepath.Join(t.TempDir(), "tokens.json")}
	made, secret, err := tokens.Create("ann", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse()
	h.who = keeper(tokens)
	at, _ := serve(t, h)
	fill(t, h, 1)
	n := 0
	var last error
	for _, err := range (&client.Client{Socket: at, Identity: "ann", Token: secret}).Events(t.Context(), 0) {
		if last = err; err != nil {
			break
		}
		n++
		if err := tokens.Revoke(made.ID); err != nil {
			t.Fatal(err)
		}
		fill(t, h, 1)
	}
	if n != 1 || last == nil {
		t.Errorf("%d events were read, then %v", n, last)
	}
	for _, err := range (&client.Client{Socket: at, Identity: "ann", Token: field.Secret("earshot_no")}).Events(t.Context(), 0) {
		if last = err; err == nil {
			t.Error("somebody reads with another token")
		}
	}
	if _, ok := errors.AsType[*wire.Refusal](last); !ok {
		t.Errorf("told %v", last)
	}
}
