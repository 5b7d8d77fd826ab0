package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"earshot/internal/testkit"
)

const patience = 10 * time.Second

// A detour sends requests for Discord to a test server.
type detour struct{ s *Server }

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	to, _ := url.Parse(d.s.Base())
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
	return d.s.http.Transport.RoundTrip(r)
}

// A log is the events that discordgo handed over.
type log struct {
	mu     sync.Mutex
	events []any
}

func (l *log) add(_ *discordgo.Session, e any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func count[T any](l *log) (list []T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e, ok := e.(T); ok {
			list = append(list, e)
		}
	}
	return list
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testkit.Await(t, patience, what, ok)
}

// client returns discordgo, logged in as a user.
func client(t *testing.T, s *Server, token string) (*discordgo.Session, *log) {
	t.Helper()
	d, err := discordgo.New("Bot " + token)
	if err != nil {
		t.Fatal(err)
	}
	d.Client = &http.Client{Transport: detour{s}}
	d.SyncEvents = true
	d.Identify.Intents = discordgo.IntentsAll
	d.ShouldReconnectOnError = false // its reconnecting has data races; package discord tests that with our own client
	l := new(log)
	d.AddHandler(l.add)
	return d, l
}

func open(t *testing.T, s *Server, u User) (*discordgo.Session, *log) {
	t.Helper()
	d, l := client(t, s, u.Token)
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Close()
	})
	await(t, "the guild", func() bool { return len(count[*discordgo.GuildCreate](l)) > 0 })
	return d, l
}

func TestDiscordgo(t *testing.T) {
	s := New(t, Config{})
	bob := s.Bot("bob")
	ann := s.AddUser(User{Name: "ann", Human: true})
	d, l := open(t, s, bob)
	text, voice := s.Channel("general"), s.Channel("voice")

	if me, err := d.User("@me"); err != nil || me.ID != id(bob.ID) || me.Username != "bob" {
		t.Errorf("who I am: %v, %v", me, err)
	}
	if g := count[*discordgo.GuildCreate](l)[0]; g.ID != id(s.Guild().ID) || len(g.Channels) != 4 || len(g.Members) != 3 {
		t.Errorf("the guild is %+v", g.Guild)
	}
	said := s.Say(ann.ID, text.ID, "what time is it?")
	await(t, "the message", func() bool { return len(count[*discordgo.MessageCreate](l)) == 1 })
	if m := count[*discordgo.MessageCreate](l)[0]; m.Content != "what time is it?" || m.Author.Bot || m.GuildID == "" {
		t.Errorf("heard %+v", m.Message)
	}

	sent, err := d.ChannelMessageSendComplex(id(text.ID), &discordgo.MessageSend{
		Content:         "noon",
		AllowedMentions: &discordgo.MessageAllowedMentions{},
		Reference:       &discordgo.MessageReference{MessageID: id(said.ID), ChannelID: id(text.ID)},
		Files:           []*discordgo.File{{Name: "clock.txt", ContentType: "text/plain", Reader: strings.NewReader("12:00")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Messages(text.ID)[1]
	if m.Content != "noon" || m.ReplyTo != said.ID || len(m.Files) != 1 || !bytes.Equal(m.Files[0].Data, []byte("12:00")) ||
		!strings.Contains(string(m.Allowed), `"parse"`) || id(m.ID) != sent.ID {
		t.Errorf("sent %+v", m)
	}
	if _, err := d.ChannelMessageEdit(id(text.ID), sent.ID, "one"); err != nil || s.Messages(text.ID)[1].Content != "one" {
		t.Errorf("editing: %v", err)
	}
	if list, err := d.ChannelMessages(id(text.ID), 10, "", "", ""); err != nil || len(list) != 2 || list[0].Content != "one" {
		t.Errorf("history: %v, %v", list, err)
	}
	if err := d.ChannelTyping(id(text.ID)); err != nil {
		t.Error(err)
	}
	if err := d.ChannelMessageDelete(id(text.ID), sent.ID); err != nil {
		t.Error(err)
	}
	if _, err := d.ApplicationCommandBulkOverwrite(id(bob.ID), id(s.Guild().ID), []*discordgo.ApplicationCommand{{Name: "join", Description: "Come."}}); err != nil {
		t.Error(err)
	}

	if err := d.ChannelVoiceJoinManual(id(s.Guild().ID), id(voice.ID), false, false); err != nil {
		t.Fatal(err)
	}
	await(t, "where the call is", func() bool { return len(count[*discordgo.VoiceServerUpdate](l)) == 1 })
	state, call := count[*discordgo.VoiceStateUpdate](l)[0], count[*discordgo.VoiceServerUpdate](l)[0]
	if state.ChannelID != id(voice.ID) || state.UserID != id(bob.ID) || state.SessionID == "" || call.Token == "" || !strings.HasPrefix(call.Endpoint, "localhost:") {
		t.Errorf("joined by %+v, %+v", state.VoiceState, call)
	}
	s.Move(bob.ID, s.Channel("other").ID)
	await(t, "to be moved", func() bool { return len(count[*discordgo.VoiceServerUpdate](l)) == 2 })
	s.Disconnect(bob.ID)
	await(t, "to be thrown out", func() bool { return len(count[*discordgo.VoiceStateUpdate](l)) == 3 })
}

func TestREST(t *testing.T) {
	s := New(t, Config{})
	bob := s.Bot("bob")
	d, _ := client(t, s, bob.Token)
	d.ShouldRetryOnRateLimit = false
	text := s.Channel("general")
	status := func(err error) int {
		if e := new(discordgo.RESTError); errors.As(err, &e) {
			return e.Response.StatusCode
		}
		return 0
	}
	send := func(content string) error {
		_, err := d.ChannelMessageSend(id(text.ID), content)
		return err
	}
	stranger, _ := client(t, s, "nobody")
	if _, err := stranger.User("@me"); status(err) != http.StatusUnauthorized {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := d.Channel("17"); status(err) != http.StatusNotFound {
		t.Errorf("a channel that there is not: %v", err)
	}
	if err := send(strings.Repeat("é", 2001)); status(err) != http.StatusBadRequest {
		t.Errorf("too long: %v", err)
	}
	if err := send(strings.Repeat("é", 2000)); err != nil {
		t.Errorf("as long as may be: %v", err)
	}
	if err := send(" "); status(err) != http.StatusBadRequest {
		t.Errorf("empty: %v", err)
	}
	s.RateLimit(time.Millisecond)
	limited := new(discordgo.RateLimitError)
	if err := send("again"); !errors.As(err, &limited) || limited.RetryAfter != time.Millisecond {
		t.Errorf("too often: %v", err)
	}
	s.Deny(text.ID, bob.ID, SendMessages)
	if err := send("may I?"); status(err) != http.StatusForbidden {
		t.Errorf("not allowed: %v", err)
	}
}

// TestSessions: who is let in at the main gateway.
func TestSessions(t *testing.T) {
	closed := func(code int) func(*testing.T, *Server, *discordgo.Session, User, *log) {
		return func(t *testing.T, s *Server, d *discordgo.Session, u User, _ *log) {
			if err := d.Open(); !websocket.IsCloseError(err, code) {
				t.Errorf("opened: %v, want to be closed with %d", err, code)
			}
		}
	}
	for name, tt := range map[string]struct {
		user User
		cfg  Config
		do   func(*testing.T, *Server, *discordgo.Session, User, *log)
	}{
		"bad token":  {user: User{Name: "x", Token: "right"}, do: closed(4004)},
		"no intents": {user: User{Name: "bob"}, do: closed(4014)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(t, tt.cfg)
			u := s.AddUser(tt.user)
			token := u.Token
			if name == "bad token" {
				token = "wrong"
			}
			d, l := client(t, s, token)
			t.Cleanup(func() { _ = d.Close() })
			tt.do(t, s, d, u, l)
		})
	}
}

// raw returns a connection to the main gateway that has received hello.
func raw(t *testing.T, s *Server) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial(s.gatewayURL()+"/?v=10&encoding=json", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	if hello := next(t, ws); hello.Op != 10 {
		t.Fatalf("was greeted with %+v", hello)
	}
	return ws
}

type payload struct {
	Op int             `json:"op"`
	S  int             `json:"s,omitempty"`
	T  string          `json:"t,omitempty"`
	D  json.RawMessage `json:"d"`
}

// next reads a message, or returns the code with which the connection was closed.
func next(t *testing.T, ws *websocket.Conn) (p payload) {
	t.Helper()
	_ = ws.SetReadDeadline(time.Now().Add(patience))
	err := ws.ReadJSON(&p)
	if closed := new(websocket.CloseError); errors.As(err, &closed) {
		return payload{Op: closed.Code}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func send(t *testing.T, ws *websocket.Conn, op int, d any) {
	t.Helper()
	if err := ws.WriteJSON(object{"op": op, "d": d}); err != nil {
		t.Fatal(err)
	}
}

func TestGatewayRefuses(t *testing.T) {
	s := New(t, Config{IdentifyEvery: time.Hour})
	bob := s.Bot("bob")
	identify := object{"token": bob.Token, "intents": 1, "properties": object{}}
	s.ReconnectInsteadOfReady(bob.ID, 1)
	ws := raw(t, s)
	send(t, ws, 2, identify)
	if p := next(t, ws); p.Op != 7 {
		t.Errorf("in place of READY came %+v", p)
	}
	send(t, ws, 2, identify)
	if p := next(t, ws); p.Op != 9 || string(p.D) != "false" {
		t.Errorf("who identifies too soon got %+v", p)
	}
	for name, tt := range map[string]struct {
		op   int
		d    any
		want int
	}{
		"not identified":   {3, nil, 4003},
		"no such session":  {6, object{"token": bob.Token, "session_id": "x", "seq": 1}, 9},
		"another's token":  {6, object{"token": "x", "session_id": "x", "seq": 1}, 4004},
		"strange intents":  {2, object{"token": bob.Token, "intents": 1 << 30, "properties": object{}}, 4013},
		"another shard":    {2, object{"token": bob.Token, "intents": 1, "properties": object{}, "shard": []int{1, 2}}, 4010},
		"nothing in it":    {2, 7, 4002},
		"heart, not asked": {1, nil, 11},
	} {
		t.Run(name, func(t *testing.T) {
			ws := raw(t, s)
			send(t, ws, tt.op, tt.d)
			if p := next(t, ws); p.Op != tt.want {
				t.Errorf("got %+v, want %d", p, tt.want)
			}
		})
	}
}

// TestReplay: a resumed session gets what it missed; a session that is over cannot be resumed.
func TestReplay(t *testing.T) {
	s := New(t, Config{})
	bob := s.Bot("bob")
	ws := raw(t, s)
	send(t, ws, 2, object{"token": bob.Token, "intents": intentGuilds | intentMessages, "properties": object{}})
	ready := next(t, ws)
	var d struct {
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal(ready.D, &d); err != nil || ready.T != "READY" || ready.S != 1 {
		t.Fatalf("got %+v, %v", ready, err)
	}
	if p := next(t, ws); p.T != "GUILD_CREATE" {
		t.Fatalf("got %+v", p)
	}
	s.Drop(bob.ID)
	await(t, "to be cut", func() bool { return !s.Connected(bob.ID) })
	for range 3 {
		s.Say(s.Guild().Owner, s.Channel("general").ID, "hear!")
	}
	resume := object{"token": bob.Token, "session_id": d.Session, "seq": 3}
	ws = raw(t, s)
	send(t, ws, 6, resume)
	for _, want := range []string{"4 MESSAGE_CREATE", "5 MESSAGE_CREATE", "6 RESUMED"} {
		p := next(t, ws)
		if got := fmt.Sprint(p.S, " ", p.T); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if strings.Contains(string(p.D), "hear!") {
			t.Error("who has no intent for content has read it")
		}
	}
	resume["seq"] = 99
	ws = raw(t, s)
	send(t, ws, 6, resume)
	if p := next(t, ws); p.Op != 4007 {
		t.Errorf("a number from the future got %+v", p)
	}
	s.Forget(bob.ID)
	ws = raw(t, s)
	send(t, ws, 6, resume)
	if p := next(t, ws); p.Op != 9 {
		t.Errorf("a session that is over got %+v", p)
	}
}
