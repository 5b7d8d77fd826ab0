package discordtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"earshot/internal/discord/davetest"
)

// A caller is a voice client driven by hand; it keeps what it is told.
type caller struct {
	t        *testing.T
	s        *Server
	user     User
	line     *Line
	states   chan [2]string // each as channel and session
	servers  chan [2]string // each as token and endpoint
	session  string
	token    string
	endpoint string

	ws     *websocket.Conn
	seq    int
	server *net.UDPAddr
	udp    *net.UDPConn
	own    string // its own address, as it was discovered
	port   int
	transport
	said int
}

// An event is what a caller was told: JSON, or the body of a binary message.
type event struct {
	op   int
	seq  int // -1 if it has none
	d    map[string]any
	body []byte
}

// newCaller lets a user join a channel, and returns when it knows where the call is.
func newCaller(t *testing.T, s *Server, u User, channel uint64) *caller {
	t.Helper()
	c := &caller{t: t, s: s, user: u, states: make(chan [2]string, 100), servers: make(chan [2]string, 100)}
	c.line = s.Line(u, func(channel uint64, session string) { c.states <- [2]string{id(channel), session} },
		func(token, endpoint string) { c.servers <- [2]string{token, endpoint} })
	if err := c.line.Move(t.Context(), s.Guild().ID, channel, false, false); err != nil {
		t.Fatal(err)
	}
	c.where()
	return c
}

func receive[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
	}
	return v
}

// where waits until the caller knows where the call is.
func (c *caller) where() {
	c.t.Helper()
	c.session = receive(c.t, "a voice state", c.states)[1]
	for c.endpoint = ""; c.endpoint == ""; {
		server := receive(c.t, "a voice server", c.servers)
		c.token, c.endpoint = server[0], server[1]
	}
}

// dial opens the voice gateway, and reads its hello.
func (c *caller) dial() {
	c.t.Helper()
	ws, _, err := websocket.Dial(c.t.Context(), "wss://"+c.endpoint+"/?v=8", &websocket.DialOptions{HTTPClient: c.s.HTTP()})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = ws.CloseNow() })
	c.ws = ws
	if e := c.next(); e.op != voiceHello || e.d["heartbeat_interval"] == nil {
		c.t.Fatalf("was greeted with %+v", e)
	}
}

// read reads a message, or returns the code with which the connection was closed.
func (c *caller) read() (e event, code int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	kind, data, err := c.ws.Read(ctx)
	if err != nil {
		return e, int(websocket.CloseStatus(err))
	}
	if kind == websocket.MessageBinary {
		e = event{op: int(data[2]), seq: int(binary.BigEndian.Uint16(data)), body: data[3:]}
	} else {
		var m struct {
			Op  int
			Seq *int
			D   json.RawMessage
		}
		if err := json.Unmarshal(data, &m); err != nil {
			c.t.Fatal(err)
		}
		e = event{op: m.Op, seq: -1}
		if m.Seq != nil {
			e.seq = *m.Seq
		}
		_ = json.Unmarshal(m.D, &e.d)
	}
	if e.seq >= 0 {
		c.seq = e.seq
	}
	return e, 0
}

func (c *caller) next() event {
	c.t.Helper()
	e, code := c.read()
	if code != 0 {
		c.t.Fatalf("closed with %d", code)
	}
	return e
}

// until reads until a message with the opcode comes.
func (c *caller) until(op int) event {
	c.t.Helper()
	for {
		if e := c.next(); e.op == op {
			return e
		}
	}
}

// closed reads until the connection is closed, and checks the code.
func (c *caller) closed(want int) {
	c.t.Helper()
	for {
		if _, code := c.read(); code != 0 {
			if code != want {
				c.t.Errorf("closed with %d, want %d", code, want)
			}
			return
		}
	}
}

func (c *caller) send(op int, d any) {
	c.t.Helper()
	b, _ := json.Marshal(object{"op": op, "d": d})
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) identify(change object) {
	d := object{"server_id": id(c.s.Guild().ID), "user_id": id(c.user.ID), "session_id": c.session, "token": c.token, "max_dave_protocol_version": 1}
	for k, v := range change {
		d[k] = v
	}
	c.send(voiceIdentify, d)
}

// discover identifies, and asks for the caller's own address.
func (c *caller) discover() {
	c.t.Helper()
	c.identify(nil)
	ready := c.until(voiceReady)
	c.ssrc = uint32(ready.d["ssrc"].(float64))
	c.server = &net.UDPAddr{IP: net.ParseIP(ready.d["ip"].(string)), Port: int(ready.d["port"].(float64))}
	udp, err := net.DialUDP("udp4", nil, c.server)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { udp.Close() })
	c.udp = udp
	question := make([]byte, 74)
	binary.BigEndian.PutUint16(question, 1)
	binary.BigEndian.PutUint16(question[2:], 70)
	binary.BigEndian.PutUint32(question[4:], c.ssrc)
	var answer []byte
	for answer == nil { // asks again if question or answer is lost
		c.write(question)
		answer = c.datagram(200 * time.Millisecond)
	}
	if len(answer) != 74 || binary.BigEndian.Uint16(answer) != 2 || binary.BigEndian.Uint32(answer[4:]) != c.ssrc {
		c.t.Fatalf("discovered % x", answer)
	}
	c.own = string(answer[8:][:bytes.IndexByte(answer[8:], 0)])
	c.port = int(binary.BigEndian.Uint16(answer[72:]))
}

func (c *caller) write(p []byte) {
	c.t.Helper()
	if _, err := c.udp.Write(p); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) datagram(within time.Duration) []byte {
	b := make([]byte, 2048)
	_ = c.udp.SetReadDeadline(time.Now().Add(within))
	n, err := c.udp.Read(b)
	if err != nil {
		return nil
	}
	return b[:n]
}

// choose selects a mode, and uses the key for it.
func (c *caller) choose(mode string) {
	c.t.Helper()
	c.send(voiceSelect, object{"protocol": "udp", "data": object{"address": c.own, "port": c.port, "mode": mode}})
	d := c.until(voiceDescription)
	var key [32]byte
	for i, b := range d.d["secret_key"].([]any) {
		key[i] = byte(b.(float64))
	}
	if err := c.Use(mode, key); err != nil {
		c.t.Fatal(err)
	}
}

// enter joins a call completely.
func enter(t *testing.T, s *Server, u User, channel uint64) *caller {
	t.Helper()
	c := newCaller(t, s, u, channel)
	c.dial()
	c.discover()
	c.choose(ModeAES)
	return c
}

// speak announces that the caller speaks.
func (c *caller) speak() {
	c.send(voiceSpeaking, object{"speaking": 1, "delay": 0, "ssrc": c.ssrc})
}

// say sends a frame.
func (c *caller) say(frame string) {
	c.said++
	var header [12]byte
	header[0], header[1] = 0x80, 0x78
	binary.BigEndian.PutUint16(header[2:], uint16(c.said))
	binary.BigEndian.PutUint32(header[4:], uint32(960*c.said))
	binary.BigEndian.PutUint32(header[8:], c.ssrc)
	c.write(c.Seal(header, []byte(frame), false, false))
}

// hear returns the next frame, and the number of its stream.
func (c *caller) hear() (frame string, ssrc uint32) {
	c.t.Helper()
	p := c.datagram(patience)
	if p == nil {
		c.t.Fatal("nothing to be heard")
	}
	b, err := c.Open(p)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b), binary.BigEndian.Uint32(p[8:])
}

func TestCall(t *testing.T) {
	for _, mode := range []string{ModeAES, ModeXChaCha20} {
		t.Run(mode, func(t *testing.T) {
			s := New(t, Config{FirstSeq: 65530})
			s.Pad(0.5)
			voice := s.Channel("voice").ID
			ann := enter(t, s, s.Bot("ann"), voice)
			bob := newCaller(t, s, s.Bot("bob"), voice)
			bob.dial()
			s.DropDiscovery(bob.user.ID, 2)
			bob.discover()
			bob.choose(mode)
			if e := ann.until(voiceConnect); fmt.Sprint(e.d["user_ids"]) != "["+id(bob.user.ID)+"]" {
				t.Errorf("ann was told %+v", e)
			}
			if e := bob.until(voiceConnect); fmt.Sprint(e.d["user_ids"]) != "["+id(ann.user.ID)+"]" {
				t.Errorf("bob was told %+v", e)
			}
			if e := bob.until(davetest.OpExternalSender); len(e.body) < 70 {
				t.Errorf("an external sender is %d bytes", len(e.body))
			}
			bob.say("frame 0")
			await(t, "the first packet", func() bool { return s.Traffic(bob.user.ID).Unannounced == 1 })
			if n := s.Traffic(ann.user.ID).Out; n != 0 {
				t.Error("somebody was heard who has not said that it speaks")
			}
			bob.speak()
			if e := ann.until(voiceSpeaking); e.d["user_id"] != id(bob.user.ID) || e.d["ssrc"] != float64(bob.ssrc) {
				t.Errorf("ann was told %+v", e)
			}
			for i := range 20 {
				if i > 0 {
					bob.say(fmt.Sprint("frame ", i))
				}
				frame, ssrc := ann.hear()
				if want := fmt.Sprint("frame ", i); frame != want || ssrc != bob.ssrc {
					t.Errorf("heard %q in stream %d, want %q in %d", frame, ssrc, want, bob.ssrc)
				}
			}
			if n := len(s.Plain(bob.user.ID)); n != 20 {
				t.Errorf("noticed %d frames that were not encrypted, want 20", n)
			}
			got := s.Traffic(bob.user.ID)
			if got.In != 20 || got.Unannounced != 1 || s.Traffic(ann.user.ID).Out != 20 {
				t.Errorf("counted %+v of bob and %+v of ann", got, s.Traffic(ann.user.ID))
			}
			bob.send(voiceHeartbeat, object{"t": 17, "seq_ack": bob.seq})
			if e := bob.until(voiceHeartbeatAck); e.d["t"] != float64(17) {
				t.Errorf("a heartbeat was answered with %+v", e)
			}
			_ = bob.ws.Close(websocket.StatusNormalClosure, "")
			if e := ann.until(voiceDisconnect); e.d["user_id"] != id(bob.user.ID) {
				t.Errorf("ann was told %+v", e)
			}
			if got := s.InCall(voice); !slices.Equal(got, []uint64{ann.user.ID}) {
				t.Errorf("in the call are %v", got)
			}
		})
	}
}

// TestVoiceResume: a resumed call gets the messages that it missed, even when their numbers wrap
// around.
func TestVoiceResume(t *testing.T) {
	s := New(t, Config{FirstSeq: 65533})
	voice := s.Channel("voice").ID
	ann := enter(t, s, s.Bot("ann"), voice)
	ann.until(davetest.OpExternalSender)
	heard := ann.seq
	s.Kick(ann.user.ID, 4015)
	ann.closed(4015)
	bob := enter(t, s, s.Bot("bob"), voice)
	bob.speak()
	await(t, "bob to be announced", func() bool { return announced(s, bob.user.ID) })

	resume := object{"server_id": id(s.Guild().ID), "session_id": ann.session, "token": ann.token, "seq_ack": heard}
	s.RefuseResume(ann.user.ID, 1)
	ann.dial()
	ann.send(voiceResume, resume)
	ann.closed(4006)
	ann.dial()
	ann.send(voiceResume, resume)
	if e := ann.next(); e.op != voiceResumed || e.seq != -1 {
		t.Errorf("resuming was answered with %+v", e)
	}
	var got []string
	for len(got) < 3 {
		e := ann.next()
		got = append(got, fmt.Sprint(e.seq, ":", e.op))
	}
	if s := strings.Join(got, " "); s != "65535:11 0:20 1:5" && s != "0:11 1:20 2:5" {
		t.Errorf("was told %s after %d", s, heard)
	}
	ann.send(voiceHeartbeat, object{"t": 1, "seq_ack": ann.seq})
	ann.until(voiceHeartbeatAck)
	if s.VoiceResumed(ann.user.ID) != 1 {
		t.Error("not counted as resumed")
	}
}

func announced(s *Server, user uint64) (yes bool) {
	s.memberOf(user, func(m *member) { yes = m.announced })
	return yes
}

// TestVoiceRefuses: what Discord closes a connection for, and with which code.
func TestVoiceRefuses(t *testing.T) {
	s := New(t, Config{VoiceHeartbeat: time.Minute})
	voice := s.Channel("voice").ID
	for name, tt := range map[string]struct {
		do   func(c *caller)
		code int
	}{
		"not identified":    {func(c *caller) { c.send(voiceSpeaking, nil) }, 4003},
		"nonsense":          {func(c *caller) { _ = c.ws.Write(c.t.Context(), websocket.MessageText, []byte("{")) }, 4002},
		"no such token":     {func(c *caller) { c.identify(object{"token": "x"}) }, 4004},
		"another session":   {func(c *caller) { c.identify(object{"session_id": "x"}) }, 4006},
		"another guild":     {func(c *caller) { c.identify(object{"server_id": "1"}) }, 4011},
		"no encryption":     {func(c *caller) { c.identify(object{"max_dave_protocol_version": 0}) }, 4017},
		"as a test wants":   {func(c *caller) { s.Refuse(c.user.ID, 4021); c.identify(nil) }, 4021},
		"twice":             {func(c *caller) { c.identify(nil); c.identify(nil) }, 4005},
		"strange":           {func(c *caller) { c.identify(nil); c.send(99, nil) }, 4001},
		"heart without seq": {func(c *caller) { c.send(voiceHeartbeat, object{"t": 1}) }, 4020},
		"unknown mode": {func(c *caller) {
			c.discover()
			c.send(voiceSelect, object{"protocol": "udp", "data": object{"address": c.own, "port": c.port, "mode": "xsalsa20_poly1305"}})
		}, 4016},
		"another address": {func(c *caller) {
			c.discover()
			c.send(voiceSelect, object{"protocol": "udp", "data": object{"address": "10.0.0.1", "port": c.port, "mode": ModeAES}})
		}, 4020},
		"another stream": {func(c *caller) {
			c.discover()
			c.choose(ModeAES)
			c.send(voiceSpeaking, object{"speaking": 1, "ssrc": c.ssrc + 1})
		}, 4020},
		"no key package": {func(c *caller) {
			c.discover()
			c.choose(ModeAES)
			_ = c.ws.Write(c.t.Context(), websocket.MessageBinary, []byte{davetest.OpKeyPackage, 1, 2, 3})
		}, 4020},
		"moved":    {func(c *caller) { c.discover(); c.choose(ModeAES); s.Move(c.user.ID, s.Channel("other").ID) }, 4014},
		"kicked":   {func(c *caller) { c.discover(); c.choose(ModeAES); s.Disconnect(c.user.ID) }, 4014},
		"released": {func(c *caller) { c.identify(nil); c.until(voiceReady); s.Kick(c.user.ID, 4006) }, 4006},
		"left": {func(c *caller) {
			c.identify(nil)
			c.until(voiceReady)
			_ = c.line.Move(c.t.Context(), s.Guild().ID, 0, false, false)
		}, 4014},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, s, s.Bot(name), voice)
			c.dial()
			tt.do(c)
			c.closed(tt.code)
		})
	}
}

// TestPlaces: what the main gateway says about a call that moves to another server or channel.
func TestPlaces(t *testing.T) {
	s := New(t, Config{})
	voice, other := s.Channel("voice").ID, s.Channel("other").ID
	c := enter(t, s, s.Bot("ann"), voice)

	before := c.endpoint
	if err := s.Region(voice); err != nil {
		t.Fatal(err)
	}
	c.closed(4014)
	if server := receive(t, "no endpoint", c.servers); server[1] != "" {
		t.Errorf("was told of %q, want nothing yet", server[1])
	}
	server := receive(t, "an endpoint", c.servers)
	if c.token, c.endpoint = server[0], server[1]; c.endpoint == before {
		t.Error("is where it was")
	}
	c.dial()
	c.discover()
	c.choose(ModeXChaCha20)

	s.Move(c.user.ID, other)
	c.closed(4014)
	c.where()
	c.dial()
	c.discover()
	c.choose(ModeAES)
	if got := s.InCall(other); !slices.Equal(got, []uint64{c.user.ID}) {
		t.Errorf("in the call are %v", got)
	}

	s.Disconnect(c.user.ID)
	c.closed(4014)
	if state := receive(t, "a voice state", c.states); state[0] != "0" {
		t.Errorf("is in %s, want nowhere", state[0])
	}
	full := s.AddChannel(Channel{Kind: VoiceChannel, Name: "small", Limit: 1})
	enter(t, s, s.Bot("bob"), full.ID)
	s.Deny(voice, c.user.ID, Connect)
	for _, closed := range []uint64{full.ID, voice, s.Channel("general").ID, 17} {
		if err := c.line.Move(t.Context(), s.Guild().ID, closed, false, false); err != nil {
			t.Fatal(err)
		}
	}
	if at, there := s.Voices()[c.user.ID]; there {
		t.Errorf("came into %d", at)
	}
}

// TestStage: nobody is heard on a stage who is in its audience.
func TestStage(t *testing.T) {
	s := New(t, Config{})
	stage := s.Channel("stage").ID
	ann := newCaller(t, s, s.Bot("ann"), stage)
	ann.dial()
	ann.discover()
	ann.choose(ModeAES)
	bob := enter(t, s, s.Bot("bob"), stage)
	ann.speak()
	bob.until(voiceSpeaking)
	ann.say("may I?")
	await(t, "the packet", func() bool { return knows(s, ann.user.ID, 1) })
	if n := s.Traffic(ann.user.ID).In; n != 0 {
		t.Errorf("%d packets were passed on", n)
	}
	if n := len(s.Plain(ann.user.ID)); n != 0 {
		t.Errorf("%d frames should have been encrypted", n)
	}
}

// knows reports whether at least n packets of a user have come.
func knows(s *Server, user uint64, n int) (yes bool) {
	s.memberOf(user, func(m *member) { yes = len(m.Nonces) >= n })
	return yes
}

// TestNetwork: packets are lost, reordered and repeated by dice that fall the same way each time.
func TestNetwork(t *testing.T) {
	s := New(t, Config{Seed: 7})
	voice := s.Channel("voice").ID
	ann, bob := enter(t, s, s.Bot("ann"), voice), enter(t, s, s.Bot("bob"), voice)
	bob.speak()
	ann.until(voiceSpeaking)
	s.Loss(0.3)
	s.Duplicate(0.3)
	s.Reorder(0.3)
	for i := range 100 {
		bob.say(fmt.Sprint(i))
	}
	await(t, "all packets", func() bool { return s.Traffic(bob.user.ID).In == 100 })
	await(t, "the late ones", func() bool { return s.Traffic(ann.user.ID).Late == 0 })
	got := s.Traffic(ann.user.ID)
	if got.Lost < 15 || got.Lost > 45 || got.Out <= 100-got.Lost {
		t.Errorf("of 100 were lost %d and came %d", got.Lost, got.Out)
	}
	seen, last, late := make(map[string]int), -1, 0
	for range got.Out {
		frame, _ := ann.hear()
		seen[frame]++
		var n int
		fmt.Sscan(frame, &n)
		if n < last {
			late++
		}
		last = max(last, n)
	}
	if len(seen) != 100-got.Lost || late == 0 {
		t.Errorf("heard %d different ones, %d late", len(seen), late)
	}
	s.Loss(0)
	s.Reorder(0)
	s.Duplicate(0)
}
