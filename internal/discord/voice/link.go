package voice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"earshot/internal/discord/dave"
)

const (
	dialWithin  = 10 * time.Second
	readyWithin = 15 * time.Second // from the connection to the key, or to being resumed
	writeWithin = 5 * time.Second
	closeWithin = 500 * time.Millisecond
	beatsMissed = 2 // heartbeats without an answer, after which the connection is dead
	queued      = 64
)

var (
	errMute = errors.New("voice gateway: no answer to heartbeats")
	errSlow = errors.New("voice gateway: it does not accept messages")
	errLate = errors.New("voice gateway: not ready in time")
)

// A closed connection was closed by the gateway, with a code. The reason text is not trusted,
// since it could repeat the token; the codes are known.
type closed struct{ code int }

func (c *closed) Error() string { return fmt.Sprintf("voice gateway: closed with %d", c.code) }

// A link is one websocket of a session, from opening to closing.
type link struct {
	place  Place
	ticket ticket
	media  *media
	resume bool
	http   *http.Client
	log    *slog.Logger

	encrypted bool // end-to-end encryption is required

	// up is called once, when the session is open or resumed, and changed when something that a
	// status shows may have changed. Neither blocks.
	up      func()
	changed func()
	speaks  func(user uint64, on bool) // a speaking event

	out   chan outgoing
	beat  chan time.Duration
	fault chan error
	skip  int64        // when resumed: the last number received; -1 for none
	seq   atomic.Int64 // the last number received; -1 for none

	beats struct {
		sync.Mutex
		sent   time.Time
		number int64
		missed int
		trip   time.Duration
	}
}

func newLink(place Place, t ticket, m *media, seq int64, resume bool) *link {
	l := &link{
		place: place, ticket: t, media: m, resume: resume, skip: seq,
		out: make(chan outgoing, queued), beat: make(chan time.Duration, 1), fault: make(chan error, 1),
	}
	l.seq.Store(seq)
	return l
}

type outgoing struct {
	kind websocket.MessageType
	data []byte
}

// text and binary queue a message. They do not block: a gateway that accepts nothing is given up.
func (l *link) text(op byte, d any) { l.send(outgoing{websocket.MessageText, writeText(op, d)}) }

func (l *link) binary(op byte, body []byte) {
	l.send(outgoing{websocket.MessageBinary, writeBinary(op, body)})
}

func (l *link) send(o outgoing) {
	select {
	case l.out <- o:
	default:
		l.fail(errSlow)
	}
}

// fail ends the link with a fault, unless it has one.
func (l *link) fail(err error) {
	select {
	case l.fault <- err:
	default:
	}
}

// address is where a ticket leads.
func (t ticket) address() (string, error) {
	u := url.URL{Scheme: "wss", Host: t.endpoint, Path: "/", RawQuery: "v=8"}
	if p, err := url.Parse(u.String()); err != nil || p.Host != t.endpoint || p.Hostname() == "" {
		return "", errors.New("voice gateway: its endpoint is not an address")
	}
	return u.String(), nil
}

// run opens the websocket and stays until it ends, which is always an error: a [*closed] if the
// gateway has closed it, ctx's own if ctx has ended, and then the session is left.
func (l *link) run(ctx context.Context) error {
	address, err := l.ticket.address()
	if err != nil {
		return err
	}
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	ws, _, err := websocket.Dial(dialing, address, &websocket.DialOptions{HTTPClient: l.http})
	cancel()
	if err != nil {
		return err
	}
	ws.SetReadLimit(most)

	// The connection outlives ctx by a moment, to be closed properly.
	reading, cut := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { l.fail(l.read(ctx, reading, ws)) })
	loops.Go(func() { l.fail(l.write(reading, ws)) })
	if l.resume {
		l.text(opResume, resume{snowflake(l.place.Guild), l.ticket.session, l.ticket.token, int(l.seq.Load())})
	} else {
		l.text(opIdentify, identify{snowflake(l.place.Guild), snowflake(l.place.Self), l.ticket.session, l.ticket.token, dave.Version})
	}
	select {
	case <-ctx.Done():
		err = ctx.Err()
		loops.Go(func() { ws.Close(websocket.StatusNormalClosure, "") })
		select {
		case <-l.fault: // such as that the gateway has closed it, too
		case <-time.After(closeWithin):
		}
	case err = <-l.fault:
	}
	cut()
	ws.CloseNow()
	loops.Wait()
	return err
}

// read handles the messages of the gateway, until the connection ends. It does not wait for ever
// for a session.
func (l *link) read(ctx, reading context.Context, ws *websocket.Conn) error {
	late := time.AfterFunc(readyWithin, func() { l.fail(errLate) })
	defer late.Stop()
	for {
		kind, b, err := ws.Read(reading)
		if err != nil {
			var c websocket.CloseError
			if errors.As(err, &c) {
				return &closed{int(c.Code)}
			}
			return err
		}
		var m message
		if kind == websocket.MessageBinary {
			m, err = readBinary(b)
		} else {
			m, err = readText(b)
		}
		if err != nil {
			return err
		}
		if m.seq >= 0 {
			if l.repeated(m.seq) {
				continue
			}
			l.seq.Store(int64(m.seq))
		}
		up, err := l.take(ctx, m)
		if err != nil {
			return err
		}
		if up {
			late.Stop()
			l.up()
		}
	}
}

// repeated reports whether a message is repeated although we had received it before the session
// was resumed. It compares with the last new one, since numbers have 16 bits: after half of them,
// all would seem to be old.
func (l *link) repeated(seq int) bool {
	if !l.resume || l.skip < 0 {
		return false
	}
	if int16(uint16(seq)-uint16(l.skip)) <= 0 {
		return true
	}
	l.skip = int64(seq)
	return false
}

// take handles a message, and reports whether it opens the session.
func (l *link) take(ctx context.Context, m message) (up bool, err error) {
	now := time.Now()
	d := l.media.dave
	switch m.op {
	case opHello:
		select {
		case l.beat <- m.beat:
		default:
		}
	case opAck:
		l.ack(now, m.acks)
	case opReady:
		return false, l.connect(ctx, m)
	case opDescription:
		if l.media.conn == nil || l.media.ready.Load() {
			return false, errors.New("voice gateway: a session description out of turn")
		}
		if l.plain(m) {
			clear(m.key)
			return false, errPlain
		}
		if err := l.media.begin(m.mode, m.key); err != nil {
			return false, err
		}
		clear(m.key)
		l.answer(d.Select(m.version, now))
		l.text(opSpeaking, speaking{0, 0, l.media.ssrc}) // packets of an unannounced stream are dropped
		l.changed()
		return true, nil
	case opResumed:
		return l.resume, nil
	case opSpeaking:
		if m.users[0] != 0 {
			l.media.speaking(now, m.ssrc, m.users[0])
			l.speaks(m.users[0], m.speaking)
		}
	case dave.OpConnect:
		l.media.arrived(m.users...)
		d.Connected(m.users...)
		l.changed()
	case dave.OpDisconnect:
		l.media.left(m.users[0])
		d.Disconnected(m.users[0])
		l.changed()
	case dave.OpPrepare:
		if l.plain(m) { // from when it is executed, which nobody waits for
			return false, errPlain
		}
		l.answer(d.Prepare(m.transition, m.version, now))
		l.changed()
	case dave.OpExecute:
		l.answer(d.Execute(m.transition, now))
		l.changed()
	case dave.OpEpoch:
		if l.plain(m) {
			return false, errPlain
		}
		l.answer(d.Epoch(m.epoch, m.version, now))
		l.changed()
	case dave.OpExternalSender, dave.OpProposals, dave.OpAnnounceCommit, dave.OpWelcome:
		answers, err := d.Binary(m.op, m.body, now)
		if err != nil {
			l.log.Warn("encryption of the call: a message could not be followed", "opcode", m.op, "err", err)
		}
		l.answer(answers)
		l.changed()
	}
	return false, nil
}

// plain reports whether a message leaves the call without a known end-to-end encryption although
// it is required.
func (l *link) plain(m message) bool {
	return l.encrypted && (m.version < 1 || m.version > dave.Version)
}

// answer sends the answers of the encryption.
func (l *link) answer(answers []dave.Answer) {
	for _, a := range answers {
		switch a.Op {
		case dave.OpKeyPackage, dave.OpCommitWelcome:
			l.binary(a.Op, a.Body)
		default:
			l.text(a.Op, transition{a.Transition})
		}
	}
}

// connect opens the path for sound, and chooses its encryption.
func (l *link) connect(ctx context.Context, m message) error {
	if l.media.conn != nil {
		return errors.New("voice gateway: ready out of turn")
	}
	mode := pick(m.modes)
	if mode == "" {
		return &closed{4016} // no mode in common
	}
	ip, err := netip.ParseAddr(m.ip)
	if err != nil || m.port == 0 {
		return errors.New("voice gateway: not an address for sound")
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", netip.AddrPortFrom(ip, m.port).String())
	if err != nil {
		return err
	}
	l.media.conn, l.media.ssrc = conn, m.ssrc
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	we, err := discover(conn, m.ssrc)
	if err != nil {
		return err
	}
	l.text(opSelect, choose{"udp", chosenSocket{we.Addr().String(), we.Port(), mode}})
	return nil
}

// write writes the queued messages, and the heartbeats.
func (l *link) write(ctx context.Context, ws *websocket.Conn) error {
	var beat <-chan time.Time
	for {
		var o outgoing
		select {
		case <-ctx.Done():
			return ctx.Err()
		case every := <-l.beat:
			if beat == nil {
				beat = time.Tick(every)
			}
			continue
		case now := <-beat:
			number, alive := l.pulse(now)
			if !alive {
				return errMute
			}
			o = outgoing{websocket.MessageText, writeText(opHeartbeat, heartbeat{number, int(l.seq.Load())})}
		case o = <-l.out:
		}
		within, cancel := context.WithTimeout(ctx, writeWithin)
		err := ws.Write(within, o.kind, o.data)
		cancel()
		if err != nil && websocket.CloseStatus(err) < 0 && ctx.Err() == nil {
			// The reader may know more: that it was closed, and with which code.
			select {
			case <-ctx.Done():
			case <-time.After(closeWithin):
			}
		}
		if err != nil {
			return err
		}
	}
}

// pulse numbers a heartbeat, and returns false if too many had no answer.
func (l *link) pulse(now time.Time) (number int64, alive bool) {
	b := &l.beats
	b.Lock()
	defer b.Unlock()
	if b.missed >= beatsMissed {
		return 0, false
	}
	b.missed++
	b.number = max(b.number+1, now.UnixMilli())
	b.sent = now
	return b.number, true
}

func (l *link) ack(now time.Time, number int64) {
	b := &l.beats
	b.Lock()
	defer b.Unlock()
	b.missed = 0
	if number == b.number {
		b.trip = now.Sub(b.sent)
	}
}

// roundTrip returns the round trip of the last heartbeat, 0 before the first.
func (l *link) roundTrip() time.Duration {
	l.beats.Lock()
	defer l.beats.Unlock()
	return l.beats.trip
}
