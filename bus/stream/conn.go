package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot/bus"
)

// A conn is an end of a connection. It implements [net.Conn] by two pipes, one for each direction. Deadlines
// and what may be called at once are theirs.
type conn struct {
	bus        bus.Bus
	from, to   string        // the subjects
	ignored    *atomic.Int64 // messages
	in, out    net.Conn      // where it is read and written
	toReader   net.Conn      // the other end of in
	fromWriter net.Conn      // the other end of out
	waits      chan []byte   // what came and nobody has read; closed when nothing more comes
	over       chan struct{} // closed with err
	sending    sync.WaitGroup
	running    sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // err, closing or acked
	err     error      // why it is over
	closing bool
	quiet   int // ticks since something came

	next  uint64 // the number of the message that comes next
	ended bool   // waits is closed
	read  uint64 // messages of data

	number uint64 // of the message that goes next
	sent   uint64 // messages of data
	acked  uint64 // of these, what the peer has read
}

func newConn(b bus.Bus, from, to string, ignored *atomic.Int64) *conn {
	c := &conn{bus: b, from: from, to: to, ignored: ignored, waits: make(chan []byte, window), over: make(chan struct{})}
	c.changed = sync.NewCond(&c.mu)
	c.in, c.toReader = net.Pipe()
	c.out, c.fromWriter = net.Pipe()
	return c
}

// start starts what a connection does by itself. When it is over, it stops the subscription and calls left.
func (c *conn) start(stop, left func()) {
	c.sending.Go(c.send)
	c.running.Go(c.deliver)
	c.running.Go(func() {
		defer left()
		defer stop()
		c.watch()
	})
}

// watch says that this end is there, and finds out whether the peer and the bus are, until the
// connection is over.
func (c *conn) watch() {
	tick := time.NewTicker(alive)
	defer tick.Stop()
	away := false
	for {
		select {
		case <-c.over:
			return
		case <-tick.C:
		}
		on, _ := c.bus.Connected()
		c.mu.Lock()
		c.quiet++
		switch {
		case !on && away:
			c.fail(errBus)
		case c.quiet > int(silence/alive):
			c.fail(errSilent)
		case c.err == nil:
			c.publish(kindAlive, nil) // one that finds no room is made up for by the next
		}
		c.mu.Unlock()
		away = !on
	}
}

// take takes what comes from the peer.
func (c *conn) take(b bus.Message) {
	m, ok := parse(b.Data)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return
	case !ok || m.number < c.next || m.read < c.acked || m.read > c.sent:
		c.ignored.Add(1)
		return
	case m.number > c.next, m.kind == kindData && (c.ended || len(c.waits) == window):
		c.fail(errGap)
		return
	}
	c.next++
	c.acked = m.read
	c.changed.Broadcast()
	c.quiet = 0
	switch m.kind {
	case kindData:
		c.waits <- slices.Clone(m.data)
	case kindEnd:
		c.end()
	case kindClose:
		if c.ended {
			c.finish(errPeer)
		} else {
			c.finish(io.ErrUnexpectedEOF)
		}
	}
}

// deliver passes what came on to whoever reads.
func (c *conn) deliver() {
	defer c.toReader.Close()
	for data := range c.waits {
		if _, err := c.toReader.Write(data); err != nil {
			return
		}
		c.mu.Lock()
		if c.read++; c.err == nil && c.read%(window/4) == 0 {
			c.publish(kindAlive, nil) // if it finds no room, the next one says it
		}
		c.mu.Unlock()
	}
}

// send sends what is written, each time when the peer has room for it.
func (c *conn) send() {
	data := make([]byte, mostData)
	for c.mayWrite() {
		n, err := c.fromWriter.Read(data)
		if err != nil {
			break
		}
		if n > 0 {
			c.offer(kindData, data[:n])
		}
	}
	c.offer(kindEnd, nil)
}

// mayWrite waits until the peer has room, and reports whether more may be written.
func (c *conn) mayWrite() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.sent-c.acked >= window && !c.closing && c.err == nil {
		c.changed.Wait()
	}
	return c.sent-c.acked < window && c.err == nil
}

// offer publishes a message as soon as the bus takes it.
func (c *conn) offer(k kind, data []byte) {
	for {
		c.mu.Lock()
		done := c.err != nil || c.publish(k, data)
		c.mu.Unlock()
		if done {
			return
		}
		select {
		case <-c.over:
		case <-time.After(again):
		}
	}
}

// publish publishes a message, and returns false if it must be tried again. The caller holds the lock, so
// that what is published has the order of its numbers.
func (c *conn) publish(k kind, data []byte) (done bool) {
	switch err := c.bus.Publish(c.to, message{k, c.number, c.read, data}.encode()); {
	case errors.Is(err, bus.ErrFull):
		return false
	case err != nil:
		c.finish(err)
		return true
	}
	c.number++
	if k == kindData {
		c.sent++
	}
	return true
}

// fail ends the connection with an error, and tells the peer. The caller holds the lock.
func (c *conn) fail(err error) {
	if c.err == nil {
		c.finish(err)
		c.publish(kindClose, nil)
	}
}

// finish ends the connection. What came before it failed is lost, but not what came before the peer
// closed it. The caller holds the lock.
func (c *conn) finish(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	close(c.over)
	c.changed.Broadcast()
	c.end()
	c.fromWriter.Close()
	if !errors.Is(err, errPeer) {
		c.toReader.Close()
	}
}

// end records that nothing more comes. The caller holds the lock.
func (c *conn) end() {
	if !c.ended {
		c.ended = true
		close(c.waits)
	}
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	return n, c.explain("read", err)
}

// Write implements [net.Conn]. It waits while the peer does not read.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	return n, c.explain("write", err)
}

// explain returns an error of a pipe as those of package net are: why the pipe is closed.
func (c *conn) explain(op string, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case err == io.EOF && (c.err == nil || errors.Is(c.err, errPeer)):
		return io.EOF
	case c.closing || c.err == nil:
		err = net.ErrClosed
	default:
		err = c.err
	}
	return &net.OpError{Op: op, Net: "bus", Source: addr(c.from), Addr: addr(c.to), Err: err}
}

// CloseWrite says that nothing more will be written. The peer reads what was, and then the end.
func (c *conn) CloseWrite() error { return c.out.Close() }

// Close implements [net.Conn]. Whoever reads or writes gets an error. The peer reads what was written.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closing = true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.in.Close()
	c.out.Close()
	c.sending.Wait()
	c.offer(kindClose, nil)
	c.mu.Lock()
	c.finish(net.ErrClosed)
	c.mu.Unlock()
	c.running.Wait()
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return addr(c.from) }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return addr(c.to) }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetDeadline(t), c.out.SetDeadline(t))
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error { return c.in.SetReadDeadline(t) }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error { return c.out.SetWriteDeadline(t) }
