package discordtest

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"earshot/internal/discord/davetest"
	"earshot/internal/discord/discordtest/wire"
)

// The opcodes of the voice gateway.
const (
	voiceIdentify     = 0
	voiceSelect       = 1
	voiceReady        = 2
	voiceHeartbeat    = 3
	voiceDescription  = 4
	voiceSpeaking     = 5
	voiceHeartbeatAck = 6
	voiceResume       = 7
	voiceHello        = 8
	voiceResumed      = 9
	voiceConnect      = 11
	voiceVideo        = 12
	voiceDisconnect   = 13
	voiceSinkWants    = 15
	voiceBackend      = 16
	voicePlatform     = 20
)

// unnumbered are the messages without a sequence number, since they answer something that a new
// connection requests again.
var unnumbered = []int{voiceReady, voiceDescription, voiceHeartbeatAck, voiceHello, voiceResumed}

// A member is a user in a call, from identifying until it has left for good.
type member struct {
	call    *call
	account *account
	session string
	token   string
	link    *wire.Link // nil while the connection is lost and may be resumed

	seq  uint16
	sent []numbered // can be sent again, the oldest first

	selected bool // has had its session description
	transport
}

type numbered struct {
	seq uint16
	m   wire.Message
}

// json sends a message to the member. A numbered message is kept for a resume.
func (m *member) json(op int, d any) {
	o := object{"op": op, "d": d}
	if slices.Contains(unnumbered, op) {
		if m.link != nil {
			m.link.SendJSON(o)
		}
		return
	}
	m.seq++
	o["seq"] = m.seq
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // ours
	}
	m.keep(wire.Message{Kind: websocket.MessageText, Data: b})
}

func (m *member) binary(op byte, body []byte) {
	m.seq++
	b := append(binary.BigEndian.AppendUint16(nil, m.seq), op)
	m.keep(wire.Message{Kind: websocket.MessageBinary, Data: append(b, body...)})
}

func (m *member) keep(out wire.Message) {
	if m.sent = append(m.sent, numbered{m.seq, out}); len(m.sent) > wire.Backlog {
		m.sent = m.sent[1:]
	}
	if m.link != nil {
		m.link.Send(out)
	}
}

// A voiceLink is one connection to a voice gateway.
type voiceLink struct {
	*Server
	region *region
	member *member // nil before it has identified
	beaten time.Time
}

func (s *Server) voiceGateway(r *region) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("v") != "8" {
			s.accept(w, req, refusal{4012, "Unknown protocol."})
			return
		}
		s.accept(w, req, &voiceLink{Server: s, region: r})
	})
}

func (v *voiceLink) Opened(l *wire.Link) {
	l.SendJSON(object{"op": voiceHello, "d": object{"v": 8, "heartbeat_interval": v.cfg.VoiceHeartbeat.Milliseconds()}})
	v.expectBeats(l, v.cfg.VoiceHeartbeat, &v.beaten)
}

func (v *voiceLink) Message(l *wire.Link, kind websocket.MessageType, data []byte) {
	if kind == websocket.MessageBinary {
		v.binary(l, data)
		return
	}
	var m struct {
		Op *int
		D  json.RawMessage
	}
	if json.Unmarshal(data, &m) != nil || m.Op == nil {
		l.Close(4002, "Failed to decode payload.")
		return
	}
	switch *m.Op {
	case voiceIdentify:
		v.identify(l, m.D)
	case voiceResume:
		v.resume(l, m.D)
	case voiceHeartbeat:
		v.heartbeat(l, m.D)
	default:
		if v.member == nil {
			l.Close(4003, "Not authenticated.")
			return
		}
		v.json(l, *m.Op, m.D)
	}
}

func (v *voiceLink) json(l *wire.Link, op int, data json.RawMessage) {
	switch op {
	case voiceSelect:
		v.choose(l, data)
	case voiceSpeaking:
		v.speaking(l, data)
	case davetest.OpReady, davetest.OpInvalid:
		var d struct {
			Transition *uint16 `json:"transition_id"`
		}
		switch {
		case json.Unmarshal(data, &d) != nil || d.Transition == nil || !v.member.selected:
			l.Close(4020, "Bad request.")
		case op == davetest.OpReady:
			v.member.call.delivery.TakeReady(v.member.account.user.ID, *d.Transition)
		default:
			v.member.call.delivery.TakeInvalid(v.member.account.user.ID)
		}
	case voiceVideo, voiceSinkWants, voiceBackend:
	default:
		l.Close(4001, "Unknown opcode.")
	}
}

func (v *voiceLink) binary(l *wire.Link, data []byte) {
	switch {
	case v.member == nil:
		l.Close(4003, "Not authenticated.")
	case len(data) == 0 || !v.member.selected:
		l.Close(4020, "Bad request.")
	case data[0] == davetest.OpKeyPackage:
		if v.member.call.delivery.TakeKeyPackage(v.member.account.user.ID, data[1:]) != nil {
			l.Close(4020, "Bad request.")
		}
	case data[0] == davetest.OpCommitWelcome:
		_ = v.member.call.delivery.TakeCommit(v.member.account.user.ID, data[1:]) // one that is not valid is ignored
	default:
		l.Close(4001, "Unknown opcode.")
	}
}

func (v *voiceLink) identify(l *wire.Link, data json.RawMessage) {
	var d struct {
		ServerID  string `json:"server_id"`
		UserID    string `json:"user_id"`
		SessionID string `json:"session_id"`
		Token     string
		Dave      int `json:"max_dave_protocol_version"`
	}
	switch {
	case v.member != nil:
		l.Close(4005, "Already authenticated.")
		return
	case json.Unmarshal(data, &d) != nil:
		l.Close(4002, "Failed to decode payload.")
		return
	case number(d.ServerID) != v.guild.ID:
		l.Close(4011, "Server not found.")
		return
	}
	a := v.accounts[number(d.UserID)]
	switch {
	case a == nil || !a.tokens[d.Token]:
		l.Close(4004, "Authentication failed.")
		return
	case a.voice == 0 || a.session != d.SessionID || a.token != d.Token || a.region != v.region:
		l.Close(4006, "Session is no longer valid.")
		return
	}
	c := v.callIn(a.voice)
	if a.refuse != 0 {
		l.Close(a.refuse, "As a test wants it.")
		a.refuse = 0
		return
	}
	if d.Dave < 1 && c.channel.Kind != StageChannel {
		l.Close(4017, "E2EE/DAVE protocol required.")
		return
	}
	if old := c.members[a.user.ID]; old != nil {
		c.leave(old, 4006, "Session is no longer valid.")
	}
	m := &member{call: c, account: a, session: d.SessionID, token: d.Token, link: l, seq: v.cfg.FirstSeq}
	m.ssrc = rand.Uint32N(1<<30) + 1
	m.Nonces = make(map[uint32]bool)
	v.member, c.members[a.user.ID] = m, m
	here := c.address()
	m.json(voiceReady, object{
		"ssrc": m.ssrc, "ip": here.Addr().String(), "port": here.Port(), "modes": v.faults.modes, "experiments": []string{},
		"streams": []any{},
	})
	if v.faults.early && c.encrypted() {
		m.binary(davetest.OpExternalSender, c.delivery.ExternalSender())
	}
}

func (v *voiceLink) resume(l *wire.Link, data json.RawMessage) {
	var d struct {
		ServerID  string `json:"server_id"`
		SessionID string `json:"session_id"`
		Token     string
		Ack       *int `json:"seq_ack"`
	}
	switch {
	case v.member != nil:
		l.Close(4005, "Already authenticated.")
		return
	case json.Unmarshal(data, &d) != nil:
		l.Close(4002, "Failed to decode payload.")
		return
	}
	m := v.lost(d.SessionID, d.Token)
	if m == nil || number(d.ServerID) != v.guild.ID || m.call.region != v.region || m.account.take(refuseResume) {
		l.Close(4006, "Session is no longer valid.")
		return
	}
	missed := 0 // messages, from the end
	if d.Ack != nil && *d.Ack >= 0 {
		missed = int(m.seq - uint16(*d.Ack))
	} else {
		missed = len(m.sent)
	}
	if missed > len(m.sent) {
		l.Close(4006, "Session is no longer valid.")
		return
	}
	if m.link != nil {
		m.link.Drop()
	}
	v.member, m.link = m, l
	m.account.voiceResumed++
	m.json(voiceResumed, nil)
	for _, n := range m.sent[len(m.sent)-missed:] {
		l.Send(n.m)
	}
}

// lost finds the member that a resuming client claims to be.
func (s *Server) lost(session, token string) *member {
	for _, c := range s.calls {
		for _, m := range c.members {
			if m.session == session && m.token == token && m.account.token == token {
				return m
			}
		}
	}
	return nil
}

func (v *voiceLink) heartbeat(l *wire.Link, data json.RawMessage) {
	var d struct {
		T   json.Number
		Ack *int `json:"seq_ack"`
	}
	if json.Unmarshal(data, &d) != nil || d.Ack == nil {
		l.Close(4020, "Bad request.")
		return
	}
	v.beaten = time.Now()
	if v.member == nil || !v.member.account.heldVoice {
		l.SendJSON(object{"op": voiceHeartbeatAck, "d": object{"t": d.T}})
	}
}

// choose handles the client's choice of an address and a mode.
func (v *voiceLink) choose(l *wire.Link, data json.RawMessage) {
	var d struct {
		Protocol string
		Data     struct {
			Address string
			Port    uint16
			Mode    string
		}
	}
	m := v.member
	switch {
	case json.Unmarshal(data, &d) != nil:
		l.Close(4002, "Failed to decode payload.")
		return
	case d.Protocol != "udp":
		l.Close(4012, "Unknown protocol.")
		return
	case !slices.Contains(v.faults.modes, d.Data.Mode) || m.Choose(d.Data.Mode) != nil:
		l.Close(4016, "Unknown encryption mode.")
		return
	case m.discovered.IsValid() && d.Data.Address != m.discovered.Addr().String() || m.discovered.IsValid() && d.Data.Port != m.discovered.Port():
		l.Close(4020, "Bad request.") // not what discovery has told it
		return
	}
	c := m.call
	key := make([]int, len(m.Key))
	for i, b := range m.Key {
		key[i] = int(b)
	}
	v.secrets = append(v.secrets, Printed("the key of a call", m.Key[:])...)
	again := m.selected
	m.selected = true
	m.json(voiceDescription, object{
		"mode": m.Mode, "secret_key": key, "audio_codec": "opus", "video_codec": nil,
		"media_session_id": v.secret("the session of a stream"), "dave_protocol_version": c.delivery.Version(),
	})
	if again {
		return
	}
	var others []string
	for _, o := range c.sorted() {
		if o != m && o.selected {
			others = append(others, id(o.account.user.ID))
			o.json(voiceConnect, object{"user_ids": []string{id(m.account.user.ID)}})
			o.json(voicePlatform, object{"user_id": id(m.account.user.ID), "platform": nil})
		}
	}
	if len(others) > 0 {
		m.json(voiceConnect, object{"user_ids": others})
	}
	m.json(voiceSinkWants, object{"any": 100})
	for _, o := range c.sorted() {
		if o != m && o.announced {
			v.announce(o, m, 0)
		}
	}
	if c.encrypted() {
		if !v.faults.early {
			m.binary(davetest.OpExternalSender, c.delivery.ExternalSender())
		}
		c.delivery.Connect(m.account.user.ID)
	}
}

func (v *voiceLink) speaking(l *wire.Link, data json.RawMessage) {
	var d struct {
		Speaking int
		SSRC     *uint32
	}
	m := v.member
	if json.Unmarshal(data, &d) != nil || d.SSRC == nil || *d.SSRC != m.ssrc || !m.selected {
		l.Close(4020, "Bad request.")
		return
	}
	m.announced = true
	for _, o := range m.call.sorted() {
		if o != m && o.selected {
			v.announce(m, o, d.Speaking)
		}
	}
	for _, p := range m.early {
		m.call.passOn(m, p)
	}
	m.early = nil
}

// announce tells one member that another speaks, now, later or never.
func (s *Server) announce(who, to *member, speaking int) {
	tell := func() {
		if who.call.members[who.account.user.ID] == who && to.call.members[to.account.user.ID] == to {
			user := cmp.Or(who.account.mistakenAs, who.account.user.ID)
			to.json(voiceSpeaking, object{"user_id": id(user), "ssrc": who.ssrc, "speaking": speaking})
		}
	}
	switch late := s.faults.speaking; {
	case late < 0:
	case late == 0:
		tell()
	default:
		s.after(late, tell)
	}
}

func (v *voiceLink) Ended(l *wire.Link, code websocket.StatusCode) {
	m := v.member
	if m == nil || m.link != l {
		return // gone already, or resumed elsewhere
	}
	m.link = nil
	byClient := l.Closing == 0 && (code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway)
	if byClient || l.Closing >= 4000 && l.Closing != 4015 {
		m.call.leave(m, 0, "")
		return
	}
	v.after(v.cfg.Hold, func() {
		if m.link == nil {
			m.call.leave(m, 0, "")
		}
	})
}
