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

	// window is how much may be under way in one direction, in bytes, with overhead for each message: at
	// most what a subscriber's queue counts for one without data.
	window   = 256 << 10
	overhead = 512

	// mostConns is how many connections a listener has at a time, and mostWaiting how many of them nobody
	// has accepted.
	mostConns   = 512
	mostWaiting = 64

	// alive is how often each side says that it is there. After silence without it, it is not.
	alive   = 500 * time.Millisecond
	silence = 3 * time.Second

	// moment is how long the bus may be away before a connection ends, and again how long to wait before
	// a message is offered again that the bus did not take.
	moment = 500 * time.Millisecond
	again  = 5 * time.Millisecond
)

var (
	errFull   = errors.New("the peer takes no more connections at present; try again in a moment")
	errGap    = errors.New("a message of the connection was lost")
	errSilent = errors.New("the peer is silent")
	errBus    = errors.New("the bus is away")
	errPeer   = errors.New("the peer has closed the connection")
)

// The answers to whoever dials.
const (
	accepted = "1"
	refused  = "0"
)

// An addr is the subject of an end of a connection.
type addr string

func (addr) Network() string  { return "bus" }
func (a addr) String() string { return string(a) }

// Dial connects with the listener at a subject. The end of ctx, or [silence] without an answer, ends
// the attempt, not the connection. The error is [bus.ErrNobody] if nobody listens there.
func Dial(ctx context.Context, b bus.Bus, subject string) (net.Conn, error) {
	life := context.WithoutCancel(ctx)
	ctx, done := context.WithTimeoutCause(ctx, silence, errSilent)
	defer done()
	name := rand.Text()
	c := newConn(b, subject+"."+name+".down", subject+"."+name+".up")
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
	subject string
	conns   chan *conn // that nobody has accepted
	closed  chan struct{}
	close   func()
	forget  func() bool // that ctx closes it
	ignored atomic.Int64

	mu    sync.Mutex
	names map[string]bool // of the connections that are open
}

// Listen listens at a subject until ctx ends or it is closed, which must be done in any case. What it
// has accepted goes on. It and its connections have a method Ignored() int64, which returns how many
// messages were ignored since they were malformed or had come before.
func Listen(ctx context.Context, b bus.Bus, subject string) (net.Listener, error) {
	l := &listener{subject: subject, conns: make(chan *conn, mostWaiting), closed: make(chan struct{}), names: make(map[string]bool)}
	life := context.WithoutCancel(ctx)
	opening, giveUp := context.WithCancel(ctx)
	var answering sync.WaitGroup
	stop, err := b.Subscribe(ctx, subject, func(m bus.Message) {
		name := string(m.Data)
		taken, known := l.reserve(name)
		switch {
		case !known || m.Respond == nil:
			l.ignored.Add(1)
		case !taken:
			_ = m.Respond([]byte(refused))
		default:
			answering.Go(func() { l.open(opening, life, b, name, m.Respond) })
		}
	})
	if err != nil {
		giveUp()
		return nil, fmt.Errorf("listening at %s: %w", subject, err)
	}
	l.close = sync.OnceFunc(func() {
		close(l.closed)
		giveUp()
		stop()
		answering.Wait()
		close(l.conns)
		for c := range l.conns {
			c.Close()
		}
	})
	l.forget = context.AfterFunc(ctx, l.close)
	return l, nil
}

// reserve makes room for a connection. It reports whether there was room, and whether the name is one
// that a connection can have.
func (l *listener) reserve(name string) (taken, valid bool) {
	if len(name) != 26 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.names[name]: // again
		return false, false
	case len(l.names) >= mostConns:
		return false, true
	}
	l.names[name] = true
	return true, true
}

func (l *listener) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.names, name)
}

// open opens the listener's end of a connection, which lives longer than the opening.
func (l *listener) open(opening, life context.Context, b bus.Bus, name string, respond func([]byte) error) {
	c := newConn(b, l.subject+"."+name+".up", l.subject+"."+name+".down")
	stop, err := b.Subscribe(life, c.from, c.take)
	if err != nil {
		l.leave(name)
		return
	}
	c.listener = l
	c.start(stop, func() { l.leave(name) })
	answer := accepted
	if opening.Err() != nil {
		answer = refused
	} else {
		select {
		case l.conns <- c:
		default:
			answer = refused
		}
	}
	if respond([]byte(answer)); answer == refused {
		c.Close()
	}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	case c, ok := <-l.conns:
		if !ok {
			return nil, net.ErrClosed
		}
		return c, nil
	}
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.forget()
	l.close()
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
	kindClose             // neither, nor is anything read
	kindAbort             // the connection has failed
	kinds
)

// A message is what is sent on a connection.
type message struct {
	kind   kind
	number uint64 // of the message
	read   uint64 // of the bytes that came, with overhead
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
