package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"earshot/internal/discord/discordtest/wire"
)

// The intents that matter here, Discord's bits.
const (
	intentGuilds         = 1 << 0
	intentMembers        = 1 << 1
	intentVoiceStates    = 1 << 7
	intentPresences      = 1 << 8
	intentMessages       = 1 << 9
	intentTyping         = 1 << 11
	intentDirect         = 1 << 12
	intentDirectTyping   = 1 << 14
	intentMessageContent = 1 << 15

	privileged = intentMembers | intentPresences | intentMessageContent
	known      = 1<<26 - 1
)

// remembered is how many events a session keeps for a resume.
const remembered = 1 << 14

// A gatewaySession is what a client can resume: the events sent to it, by number.
type gatewaySession struct {
	account *account
	id      string
	intents int
	seq     int        // of the last event
	events  [][]byte   // the last ones up to seq
	link    *wire.Link // nil while it is not connected
	line    *Line      // or it has no websocket
	gone    bool       // cannot be resumed
	held    bool       // its heartbeats are not acknowledged
	empty   bool       // its shard has no guild
}

func (g *gatewaySession) end() {
	g.gone = true
	if g.line != nil {
		g.line.end()
	}
}

// tell appends an event, and sends it if the client is connected.
func (g *gatewaySession) tell(event string, data any) {
	if g.gone || g.empty && event != "READY" {
		return
	}
	if g.line != nil {
		g.line.tell(event, data)
		return
	}
	g.seq++
	b, err := json.Marshal(object{"op": 0, "s": g.seq, "t": event, "d": data})
	if err != nil {
		panic(err) // ours
	}
	if g.events = append(g.events, b); len(g.events) > remembered {
		g.events = g.events[1:]
	}
	if g.link != nil {
		g.link.Send(wire.Message{Kind: websocket.MessageText, Data: b})
	}
}

// wants reports whether it has requested events of an intent.
func (g *gatewaySession) wants(intent int) bool { return intent == 0 || g.intents&intent != 0 }

// broadcast sends an event to everybody who wants it.
func (s *Server) broadcast(event string, data any, intent int) {
	for _, g := range s.sessions {
		if g.wants(intent) {
			g.tell(event, data)
		}
	}
}

// tellUser sends an event to one user, whatever it has requested.
func (s *Server) tellUser(user uint64, event string, data any) {
	for _, g := range s.sessions {
		if g.account.user.ID == user {
			g.tell(event, data)
		}
	}
}

// A gateway is one connection to the main gateway.
type gateway struct {
	*Server
	session *gatewaySession
	beaten  time.Time
}

// gatewayURL is the address of the main gateway.
func (s *Server) gatewayURL() string { return "ws://" + s.rest.Addr().String() + "/gateway" }

func (s *Server) openGateway(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("compress") != "" {
		http.Error(w, "no transport compression here", http.StatusBadRequest)
		return
	}
	g := &gateway{Server: s}
	if v := q.Get("v"); v != "9" && v != "10" || q.Get("encoding") != "json" {
		s.accept(w, r, refusal{4012, "Invalid API version"})
		return
	}
	s.accept(w, r, g)
}

// accept upgrades a request to a link, and serves it until it is closed. The gateway is called
// with the mutex held.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, gateway wire.Listener) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()
	if ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}); err == nil {
		wire.Serve(s.ctx, &s.mu, ws, gateway)
	}
}

// A refusal closes a connection as soon as it is open.
type refusal struct {
	code   int
	reason string
}

func (x refusal) Opened(l *wire.Link)                             { l.Close(x.code, x.reason) }
func (refusal) Message(*wire.Link, websocket.MessageType, []byte) {}
func (refusal) Ended(l *wire.Link, code websocket.StatusCode)     {}

func (g *gateway) Opened(l *wire.Link) {
	l.SendJSON(object{"op": 10, "s": nil, "t": nil, "d": object{"heartbeat_interval": g.cfg.Heartbeat.Milliseconds(), "_trace": []string{"[\"here\"]"}}})
	g.expectBeats(l, g.cfg.Heartbeat, &g.beaten)
}

// expectBeats closes a connection without heartbeats, each of which sets the time of the last.
func (s *Server) expectBeats(l *wire.Link, every time.Duration, last *time.Time) {
	*last = time.Now()
	var check func()
	check = func() {
		switch {
		case l.Closing != 0:
		case time.Since(*last) >= 2*every:
			l.Close(4009, "Session timed out.")
		default:
			s.after(2*every, check)
		}
	}
	s.after(2*every, check)
}

func (g *gateway) Message(l *wire.Link, kind websocket.MessageType, data []byte) {
	var m struct {
		Op *int
		D  json.RawMessage
	}
	if kind != websocket.MessageText || json.Unmarshal(data, &m) != nil || m.Op == nil {
		l.Close(4002, "Error while decoding payload.")
		return
	}
	if old := g.session; old != nil && old.gone { // after op 9
		old.link, g.session = nil, nil
		g.forget(old)
	}
	switch *m.Op {
	case 1:
		g.beaten = time.Now()
		if g.session == nil || !g.session.held {
			l.SendJSON(object{"op": 11, "s": nil, "t": nil, "d": nil})
		}
		return
	case 2:
		g.identify(l, m.D)
		return
	case 6:
		g.resume(l, m.D)
		return
	}
	if g.session == nil {
		l.Close(4003, "Not authenticated.")
		return
	}
	switch *m.Op {
	case 3: // presence
	case 4:
		g.voice(l, m.D)
	case 8:
		g.members(l, m.D)
	default:
		l.Close(4001, "Unknown opcode.")
	}
}

func (g *gateway) identify(l *wire.Link, data json.RawMessage) {
	var d struct {
		Token      string
		Intents    *int
		Shard      []int
		Properties map[string]any
	}
	switch {
	case g.session != nil:
		l.Close(4005, "Already authenticated.")
		return
	case json.Unmarshal(data, &d) != nil || d.Properties == nil:
		l.Close(4002, "Error while decoding payload.")
		return
	}
	user := g.userByToken(strings.TrimPrefix(d.Token, "Bot "))
	switch {
	case user == nil:
		l.Close(4004, "Authentication failed.")
		return
	case len(d.Shard) == 0 && g.cfg.Shards > 1:
		l.Close(4011, "Sharding required.")
		return
	case len(d.Shard) != 0 && (len(d.Shard) != 2 || d.Shard[0] < 0 || d.Shard[0] >= d.Shard[1] || d.Shard[1] != g.cfg.Shards):
		l.Close(4010, "Invalid shard.")
		return
	case d.Intents == nil || *d.Intents&^known != 0:
		l.Close(4013, "Invalid intent(s).")
		return
	case *d.Intents&privileged != 0 && !user.Privileged:
		l.Close(4014, "Disallowed intent(s).")
		return
	}
	account := g.accounts[user.ID]
	last, now := account.identified, time.Now()
	account.identified = append(last, now)
	switch {
	case g.cfg.IdentifyEvery > 0 && len(last) > 0 && now.Sub(last[len(last)-1]) < g.cfg.IdentifyEvery:
		l.SendJSON(object{"op": 9, "d": false})
		return
	case account.take(insteadOfReady):
		l.SendJSON(object{"op": 7, "d": nil})
		return
	}
	g.session = g.newSession(user, *d.Intents)
	g.session.link = l
	if len(d.Shard) == 0 {
		d.Shard = []int{0, 1}
	}
	g.session.empty = d.Shard[0] != d.Shard[1]-1
	g.session.tell("READY", object{
		"v": 10, "user": user.object(), "session_type": "normal", "session_id": g.session.id,
		"guilds":             []object{{"id": id(g.guild.ID), "unavailable": true}},
		"resume_gateway_url": g.gatewayURL(), "shard": d.Shard,
		"application":      object{"id": id(user.ID), "flags": 0},
		"private_channels": []any{}, "relationships": []any{}, "_trace": []any{},
	})
	if *d.Intents&intentGuilds != 0 {
		g.session.tell("GUILD_CREATE", g.guildCreate())
	}
}

// newSession makes a session. It does not end an older one of the same user.
func (s *Server) newSession(user *User, intents int) *gatewaySession {
	g := &gatewaySession{account: s.accounts[user.ID], id: s.secret("a session"), intents: intents}
	s.sessions = append(s.sessions, g)
	return g
}

func (g *gateway) resume(l *wire.Link, data json.RawMessage) {
	var d struct {
		Token     string
		SessionID string `json:"session_id"`
		Seq       *int
	}
	if json.Unmarshal(data, &d) != nil || d.Seq == nil {
		l.Close(4002, "Error while decoding payload.")
		return
	}
	user := g.userByToken(strings.TrimPrefix(d.Token, "Bot "))
	if user == nil {
		l.Close(4004, "Authentication failed.")
		return
	}
	g.accounts[user.ID].resumed++
	for _, old := range g.sessions {
		if old.id != d.SessionID || old.account.user != user || old.gone || old.line != nil {
			continue
		}
		first := old.seq - len(old.events) // the number before the first kept one
		switch {
		case *d.Seq > old.seq:
			l.Close(4007, "Invalid seq.")
			return
		case *d.Seq < first:
			g.forget(old)
			l.SendJSON(object{"op": 9, "d": false})
			return
		}
		if old.link != nil {
			old.link.Drop()
		}
		g.session, old.link = old, l
		for _, event := range old.events[*d.Seq-first:] {
			l.Send(wire.Message{Kind: websocket.MessageText, Data: event})
		}
		old.tell("RESUMED", object{"_trace": []any{}})
		return
	}
	l.SendJSON(object{"op": 9, "d": false})
}

// forget ends a session: it cannot be resumed, and its user is in no call by it. It gets no more
// events, but its connection stays open until somebody closes it.
func (s *Server) forget(g *gatewaySession) {
	g.end()
	if a := g.account; a.voice != 0 && a.session == g.id {
		s.place(a, g.id, 0)
	}
	if g.link == nil {
		s.sessions = slices.DeleteFunc(s.sessions, func(other *gatewaySession) bool { return other == g })
	}
}

func (g *gateway) Ended(l *wire.Link, code websocket.StatusCode) {
	old := g.session
	if old == nil || old.link != l {
		return // resumed on another connection
	}
	old.link = nil
	byClient := l.Closing == 0 && (code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway)
	if old.gone || byClient || slices.Contains(final, int(l.Closing)) {
		g.forget(old)
	}
}

// final are the codes after which nothing can be resumed.
var final = []int{4003, 4004, 4005, 4007, 4009, 4010, 4011, 4012, 4013, 4014}

func (g *gateway) voice(l *wire.Link, data json.RawMessage) {
	var d struct {
		GuildID   string  `json:"guild_id"`
		ChannelID *string `json:"channel_id"`
		Mute      bool    `json:"self_mute"`
		Deaf      bool    `json:"self_deaf"`
	}
	if json.Unmarshal(data, &d) != nil || number(d.GuildID) != g.guild.ID {
		l.Close(4002, "Error while decoding payload.")
		return
	}
	var channel uint64
	if d.ChannelID != nil {
		channel = number(*d.ChannelID)
	}
	g.join(g.session, channel, d.Mute, d.Deaf)
}

func (g *gateway) members(l *wire.Link, data json.RawMessage) {
	var d struct {
		Nonce any
	}
	if json.Unmarshal(data, &d) != nil {
		l.Close(4002, "Error while decoding payload.")
		return
	}
	g.session.tell("GUILD_MEMBERS_CHUNK", object{
		"guild_id": id(g.guild.ID), "members": g.memberObjects(), "chunk_index": 0, "chunk_count": 1,
		"not_found": []any{}, "nonce": d.Nonce,
	})
}
