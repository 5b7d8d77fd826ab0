// Package stream carries connections over a [bus.Bus], such as those of HTTP between daemons.
//
// Whoever dials asks under the listener's subject, with a random name, for which each side has a
// subject of its own below that one. Every message is numbered, so that one that is lost ends the
// connection, and says how much of what came has been read: the window keeps what is under way far
// below [bus.MaxPending]. Each side says twice a second that it is there.
//
// Who may send to whom is a matter of the bus and its rights: nothing here is encrypted or signed.
package stream

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot/bus"
)

const (
	// mostData is how many bytes of a stream one message carries.
	mostData = 32 << 10

	// window is how many messages of data may be under way in one direction.
	window = 24

	// mostWaiting is how many connections of a listener there may be that nobody has accepted.
	mostWaiting = 64

	// alive is how often each side says that it is there, and looks whether the bus is: if twice it is not,
	// the connection ends, as it does after silence.
	alive   = 500 * time.Millisecond
	silence = 3 * time.Second

	// again is how long to wait before a message is offered again that the bus did not take.
	again = 5 * time.Millisecond
)

var (
	errFull   = errors.New("the peer takes no more connections at present; try again in a moment")
	errGap    = errors.New("a message of the connection was lost")
	errSilent = errors.New("the peer is silent")
	errBus    = errors.New("the bus is away")
	errPeer   = errors.New("the peer has closed the connection")
)

// accepted is the answer to whoever has dialled; any other is that there is no room.
const accepted = "1"

// An addr is the subject of an end of a connection.
type addr string

func (addr) Network() string  { return "bus" }
func (a addr) String() string { return string(a) }

// Dial connects with the listener at a subject. The end of ctx, or [silence] without an answer, ends
// the attempt, not the connection. The error is [bus.ErrNobody] if nobody listens there.
func Dial(ctx context.Context, b bus.Bus, subject string) (net.Conn, error) {
	if on, _ := b.Connected(); !on { // subscribing might wait until it is
		return nil, fmt.Errorf("connecting to %s: %w", subject, errBus)
	}
	life := context.WithoutCancel(ctx)
	ctx, done := context.WithTimeoutCause(ctx, silence, errSilent)
	defer done()
	name := rand.Text()
	c := newConn(b, subject+"."+name+".down", subject+"."+name+".up", new(atomic.Int64))
	stop, err := b.Subscribe(life, c.from, c.take)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", subject, err)
	}
	answer, err := b.Request(ctx, subject, []byte(name))
	if err == nil && string(answer) != accepted {
		err = errFull
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("connecting to %s: %w", subject, err)
	}
	c.start(stop, func() {})
	return c, nil
}

// A listener implements [net.Listener].
type listener struct {
	bus     bus.Bus
	subject string
	most    int
	conns   chan *conn // that nobody has accepted
	end     func()
	ended   chan struct{}
	ignored atomic.Int64

	mu    sync.Mutex
	names map[string]bool // of the connections that are open
}

// Listen listens at a subject until ctx ends or it is closed, which must be done in any case. What it
// has accepted goes on. It has at most most connections at a time, each of which takes a subscription of the bus. It
// has a method Ignored() int64, which returns how many messages it and its connections have ignored since they were
// malformed or had come before.
func Listen(ctx context.Context, b bus.Bus, subject string, most int) (net.Listener, error) {
	life := context.WithoutCancel(ctx)
	ctx, end := context.WithCancel(ctx)
	l := &listener{bus: b, subject: subject, most: most, conns: make(chan *conn, mostWaiting), end: end, ended: make(chan struct{}), names: make(map[string]bool)}
	stop, err := b.Subscribe(ctx, subject, func(m bus.Message) { l.open(life, m) })
	if err != nil {
		end()
		return nil, fmt.Errorf("listening at %s: %w", subject, err)
	}
	context.AfterFunc(ctx, func() {
		defer close(l.ended)
		stop()
		close(l.conns)
		for c := range l.conns {
			c.Close()
		}
	})
	return l, nil
}

// open opens the listener's end of a connection, which lives longer than the listener's context. It is
// called for one at a time.
func (l *listener) open(life context.Context, m bus.Message) {
	name := string(m.Data)
	l.mu.Lock()
	again, full := l.names[name], len(l.names) >= l.most || len(l.conns) == mostWaiting
	l.mu.Unlock()
	switch {
	case m.Respond == nil, again, len(name) != 26, strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "":
		l.ignored.Add(1)
		return
	case full:
		_ = m.Respond(nil)
		return
	}
	c := newConn(l.bus, l.subject+"."+name+".up", l.subject+"."+name+".down", &l.ignored)
	stop, err := l.bus.Subscribe(life, c.from, c.take)
	if err != nil {
		_ = m.Respond(nil)
		return
	}
	l.mu.Lock()
	l.names[name] = true
	l.mu.Unlock()
	c.start(stop, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.names, name)
	})
	l.conns <- c
	_ = m.Respond([]byte(accepted)) // if it finds no room, nobody comes
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.end()
	<-l.ended
	return nil
}

// Addr implements [net.Listener].
func (l *listener) Addr() net.Addr { return addr(l.subject) }

// Ignored returns how many messages were ignored.
func (l *listener) Ignored() int64 { return l.ignored.Load() }

// A kind says what a message means.
type kind byte

const (
	kindData  kind = iota // bytes of the stream
	kindAlive             // nothing, but for what is read
	kindEnd               // no more bytes of the stream
	kindClose             // neither, nor is anything read; if there was no end before, the connection has failed
	kinds
)

// A message is what is sent on a connection.
type message struct {
	kind   kind
	number uint64 // of the message
	read   uint64 // how many messages of data its sender has read
	data   []byte
}

// header is what a message has before its data.
const header = 1 + 8 + 8

// encode returns a message as it is sent.
func (m message) encode() []byte {
	b := append(make([]byte, 0, header+len(m.data)), byte(m.kind))
	b = binary.LittleEndian.AppendUint64(b, m.number)
	b = binary.LittleEndian.AppendUint64(b, m.read)
	return append(b, m.data...)
}

// parse reads what was sent.
func parse(b []byte) (m message, ok bool) {
	if len(b) < header || kind(b[0]) >= kinds {
		return m, false
	}
	m = message{kind(b[0]), binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint64(b[9:]), b[header:]}
	return m, len(m.data) <= mostData && (m.kind == kindData) == (len(m.data) > 0)
}
