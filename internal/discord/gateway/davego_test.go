package gateway_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/disgoorg/godave"
	"github.com/thomas-vilte/dave-go/session"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/peers"
	"earshot/internal/testkit"
)

// A goPeer is a third implementation of the encryption, in a minimal voice client that shares
// nothing with ours. Its defects are known, and kept away from the others: it never commits, since
// nobody accepts its welcome, and it holds op 25 until op 4. It cannot read two proposals in one
// message, so it takes part in no call that batches them.
type goPeer struct {
	h    *house
	user discordtest.User
	line *discordtest.Line

	mu      sync.Mutex
	tickets chan [2]string // each as a token and an endpoint
	name    string         // name of the session
	heard   map[uint64]peers.Heard
	link    *goLink
}

// A goLink is one connection to a voice server, from joining to leaving.
type goLink struct {
	*goPeer
	stop context.CancelFunc
	wg   sync.WaitGroup
	ws   *websocket.Conn
	dave *session.Session
	seq  int

	mu     sync.Mutex // guards what follows, and writing
	udp    *net.UDPConn
	aead   cipher.AEAD
	ssrc   uint32
	users  map[uint32]uint64
	tag    byte // 0 if nothing is played
	nonce  uint32
	early  []byte // an op 25 that came before op 4
	chosen bool
}

func newGoPeer(h *house, user discordtest.User) *goPeer {
	p := &goPeer{h: h, user: user, tickets: make(chan [2]string, 4)}
	p.forget()
	p.line = h.Line(user, func(_ uint64, name string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.name = name
	}, func(token, endpoint string) {
		if endpoint != "" {
			p.tickets <- [2]string{token, endpoint}
		}
	})
	h.t.Cleanup(p.leave)
	return p
}

func (p *goPeer) id() uint64 { return p.user.ID }

func (p *goPeer) join(channel uint64) {
	ctx, stop := context.WithCancel(context.WithoutCancel(p.h.t.Context()))
	l := &goLink{goPeer: p, stop: stop, seq: -1, users: make(map[uint32]uint64)}
	if err := p.line.Move(ctx, p.h.Guild().ID, channel, false, false); err != nil {
		p.h.t.Error(err)
	}
	l.dave = session.New(godave.UserID(strconv.FormatUint(p.user.ID, 10)), l, session.WithLogger(slog.New(slog.DiscardHandler)))
	l.dave.SetChannelID(godave.ChannelID(channel))
	p.mu.Lock()
	p.link = l
	p.mu.Unlock()
	l.wg.Go(func() {
		if err := l.run(ctx); err != nil && ctx.Err() == nil {
			p.h.t.Logf("%s: %v", p.user.Name, err)
		}
	})
}

func (p *goPeer) leave() {
	p.mu.Lock()
	l := p.link
	p.link = nil
	p.mu.Unlock()
	if l == nil {
		return
	}
	_ = p.line.Move(context.Background(), p.h.Guild().ID, 0, false, false)
	l.stop()
	testkit.Finish(p.h.t, testkit.Patience, "the end of a connection", l.wg.Wait)
	_ = l.dave.Close()
	_ = l.dave.WaitShutdown(context.Background())
}

func (p *goPeer) play(tag byte) { p.set(tag) }
func (p *goPeer) stop()         { p.set(0) }

func (p *goPeer) set(tag byte) {
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tag = tag
}

func (p *goPeer) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = make(map[uint64]peers.Heard)
}

func (p *goPeer) state() state {
	p.mu.Lock()
	l := p.link
	s := state{heard: make(map[uint64]peers.Heard)}
	for user, h := range p.heard {
		h.Tags = cloned(h.Tags)
		s.heard[user] = h
	}
	p.mu.Unlock()
	if l != nil && l.dave.Ready() {
		code, err := l.dave.EpochAuthenticatorCode(context.Background())
		s.in, s.code = err == nil, digits(code)
	}
	return s
}

// run handles a connection: what the gateway says, in order.
func (l *goLink) run(ctx context.Context) error {
	var ticket [2]string
	select {
	case <-ctx.Done():
		return nil
	case ticket = <-l.tickets:
	}
	ws, _, err := websocket.Dial(ctx, "wss://"+ticket[1]+"/?v=8", &websocket.DialOptions{HTTPClient: l.h.HTTP()})
	if err != nil {
		return err
	}
	defer ws.CloseNow()
	ws.SetReadLimit(1 << 20)
	l.ws = ws
	l.goPeer.mu.Lock()
	name := l.name
	l.goPeer.mu.Unlock()
	l.say(0, map[string]any{
		"server_id": strconv.FormatUint(l.h.Guild().ID, 10), "user_id": strconv.FormatUint(l.user.ID, 10),
		"session_id": name, "token": ticket[0], "max_dave_protocol_version": 1,
	})
	defer func() {
		if l.udp != nil {
			l.udp.Close()
		}
	}()
	for {
		kind, b, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			l.binary(b)
		} else if err := l.text(ctx, b); err != nil {
			return err
		}
	}
}

func (l *goLink) say(op int, d any) {
	b, _ := json.Marshal(map[string]any{"op": op, "d": d})
	_ = l.ws.Write(context.Background(), websocket.MessageText, b)
}

func (l *goLink) sayBinary(op byte, body []byte) {
	_ = l.ws.Write(context.Background(), websocket.MessageBinary, append([]byte{op}, body...))
}

// These methods send what the session wants to say.

func (l *goLink) SendMLSKeyPackage(b []byte) error  { l.sayBinary(26, b); return nil }
func (l *goLink) SendMLSCommitWelcome([]byte) error { return nil }
func (l *goLink) SendReadyForTransition(id uint16) error {
	l.say(23, map[string]any{"transition_id": id})
	return nil
}

func (l *goLink) SendInvalidCommitWelcome(id uint16) error {
	l.say(31, map[string]any{"transition_id": id})
	return nil
}

func (l *goLink) binary(b []byte) {
	if len(b) < 3 {
		return
	}
	l.seq = int(binary.BigEndian.Uint16(b))
	op, body := b[2], b[3:]
	switch {
	case op == 25 && !l.chosen:
		l.early = bytes.Clone(body)
	case op == 25:
		l.dave.OnDaveMLSExternalSenderPackage(body)
	case op == 27:
		l.dave.OnDaveMLSProposals(body)
	case op == 29 && len(body) > 2:
		l.dave.OnDaveMLSPrepareCommitTransition(binary.BigEndian.Uint16(body), body[2:])
	case op == 30 && len(body) > 2:
		l.dave.OnDaveMLSWelcome(binary.BigEndian.Uint16(body), body[2:])
	}
}

func (l *goLink) text(ctx context.Context, b []byte) error {
	var m struct {
		Op  int
		Seq *int
		D   struct {
			Interval   float64 `json:"heartbeat_interval"`
			SSRC       uint32
			IP         string
			Port       int
			Key        []int    `json:"secret_key"`
			Version    uint16   `json:"dave_protocol_version"`
			UserID     string   `json:"user_id"`
			UserIDs    []string `json:"user_ids"`
			Transition uint16   `json:"transition_id"`
			To         uint16   `json:"protocol_version"`
			Epoch      int
		}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil // a field of another type, in a message that does not matter here
	}
	if m.Seq != nil {
		l.seq = *m.Seq
	}
	d := &m.D
	switch m.Op {
	case 8:
		l.wg.Go(func() { l.beat(ctx, time.Duration(d.Interval)*time.Millisecond) })
	case 2:
		return l.discover(d.SSRC, d.IP, d.Port)
	case 4:
		return l.described(ctx, d.Key, d.Version)
	case 5:
		user, _ := strconv.ParseUint(d.UserID, 10, 64)
		l.mu.Lock()
		l.users[d.SSRC] = user
		l.mu.Unlock()
	case 11:
		for _, id := range d.UserIDs {
			l.dave.AddUser(godave.UserID(id))
		}
	case 13:
		l.dave.RemoveUser(godave.UserID(d.UserID))
	case 21:
		l.dave.OnDavePrepareTransition(d.Transition, d.To)
	case 22:
		l.dave.OnDaveExecuteTransition(d.Transition)
	case 24:
		l.dave.OnDavePrepareEpoch(d.Epoch, d.To)
	}
	return nil
}

func (l *goLink) beat(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.say(3, map[string]any{"t": 1, "seq_ack": l.seq})
		}
	}
}

// discover asks once for the own address: nothing is lost on loopback.
func (l *goLink) discover(ssrc uint32, ip string, port int) error {
	udp, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.ParseIP(ip), Port: port})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.udp, l.ssrc = udp, ssrc
	l.mu.Unlock()
	l.dave.AssignSsrcToCodec(ssrc, godave.CodecOpus)
	p := make([]byte, 74)
	binary.BigEndian.PutUint32(p, 1<<16|70)
	binary.BigEndian.PutUint32(p[4:], ssrc)
	if _, err := udp.Write(p); err != nil {
		return err
	}
	_ = udp.SetReadDeadline(time.Now().Add(within))
	if _, err := udp.Read(p); err != nil {
		return err
	}
	_ = udp.SetReadDeadline(time.Time{})
	address, _, _ := strings.Cut(string(p[8:72]), "\x00")
	l.say(1, map[string]any{"protocol": "udp", "data": map[string]any{
		"address": address, "port": binary.BigEndian.Uint16(p[72:]), "mode": discordtest.ModeAES,
	}})
	return nil
}

func (l *goLink) described(ctx context.Context, key []int, version uint16) error {
	b := make([]byte, len(key))
	for i, k := range key {
		b[i] = byte(k)
	}
	block, err := aes.NewCipher(b)
	if err != nil {
		return fmt.Errorf("the secret key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.aead = aead
	l.mu.Unlock()
	l.dave.OnSelectProtocolAck(version)
	l.chosen = true
	if l.early != nil {
		l.dave.OnDaveMLSExternalSenderPackage(l.early)
	}
	l.say(5, map[string]any{"speaking": 1, "delay": 0, "ssrc": l.ssrc})
	l.wg.Go(l.receive)
	l.wg.Go(func() { l.send(ctx) })
	return nil
}

// receive handles no extension but the test server's, and no padding.
func (l *goLink) receive() {
	buf, out := make([]byte, 2048), make([]byte, 2048)
	for {
		n, err := l.udp.Read(buf)
		if err != nil {
			return
		}
		p := buf[:n]
		if n < 12+4+16+4 || p[1] != 0x78 {
			continue
		}
		head, skip := 12, 0
		if p[0]&0x10 != 0 {
			head, skip = 16, 4*int(binary.BigEndian.Uint16(p[14:]))
		}
		body, err := l.aead.Open(nil, append(bytes.Clone(p[n-4:]), make([]byte, 8)...), p[head:n-4], p[:head])
		if err != nil || len(body) < skip {
			continue
		}
		l.mu.Lock()
		user := l.users[binary.BigEndian.Uint32(p[8:])]
		l.mu.Unlock()
		m, err := l.dave.Decrypt(godave.UserID(strconv.FormatUint(user, 10)), body[skip:], out)
		if err != nil {
			continue
		}
		l.goPeer.mu.Lock()
		h := l.heard[user]
		h.Count(out[:m])
		l.heard[user] = h
		l.goPeer.mu.Unlock()
	}
}

func (l *goLink) send(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := uint32(0); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		if l.tag != 0 && !l.dave.ShouldHoldFrames() {
			l.packet(n, peers.Frame(l.tag, n))
		}
		l.mu.Unlock()
	}
}

func (l *goLink) packet(n uint32, opus []byte) {
	out := make([]byte, l.dave.MaxEncryptedFrameSize(len(opus)))
	size, err := l.dave.Encrypt(l.ssrc, opus, out)
	if err != nil {
		return
	}
	p := binary.BigEndian.AppendUint16([]byte{0x80, 0x78}, uint16(n))
	p = binary.BigEndian.AppendUint32(p, n*960)
	p = binary.BigEndian.AppendUint32(p, l.ssrc)
	l.nonce++
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint32(nonce, l.nonce)
	p = l.aead.Seal(p, nonce, out[:size], p)
	_, _ = l.udp.Write(append(p, nonce[:4]...))
}
