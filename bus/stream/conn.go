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

// A conn is an end of a connection. It implements [net.Conn]. What comes goes to the reader through a pipe,
// whose deadlines are those of reading; what is written is published at once, if the peer has room for it.
type conn struct {
	bus      bus.Bus
	from, to string        // the subjects
	ignored  *atomic.Int64 // messages
	in       net.Conn      // the reader's end of the pipe
	toReader net.Conn      // its other end
	waits    chan []byte   // what came and is not in the pipe yet; closed when nothing more comes
	over     chan struct{} // closed with err
	running  sync.WaitGroup
	writing  sync.Mutex  // held while something is written
	late     *time.Timer // for expires

	mu      sync.Mutex
	changed *sync.Cond // what await looks at
	err     error      // why it is over
	heard   time.Time  // when something came last

	next  uint64 // the number of the message that comes next
	ended bool   // waits is closed
	read  uint64 // messages of data

	number  uint64    // of the message that goes next
	sent    uint64    // messages of data
	acked   uint64    // of these, what the peer has read
	shut    bool      // nothing more is written
	expires time.Time // when nobody waits to write any more; zero is never
}

func newConn(b bus.Bus, from, to string, ignored *atomic.Int64) *conn {
	c := &conn{bus: b, from: from, to: to, ignored: ignored, waits: make(chan []byte, window), over: make(chan struct{}), heard: time.Now()}
	c.in, c.toReader = net.Pipe()
	c.changed = sync.NewCond(&c.mu)
	c.late = time.AfterFunc(0, c.changed.Broadcast)
	return c
}

// start starts what a connection does by itself. When it is over, it stops the subscription and calls left.
func (c *conn) start(stop, left func()) {
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
		switch {
		case !on && away:
			c.fail(errBus)
		case time.Since(c.heard) > silence:
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
	case time.Since(c.heard) > silence: // this process stood still, and the peer has given the connection up
		c.fail(errSilent)
		return
	case m.number > c.next, m.kind == kindData && (c.ended || len(c.waits) == window):
		c.fail(errGap)
		return
	}
	c.next++
	c.acked = m.read
	c.changed.Broadcast()
	c.heard = time.Now()
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
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == io.ErrClosedPipe:
		err = c.fault("read", net.ErrClosed)
	case err == io.EOF && c.err != nil && !errors.Is(c.err, errPeer):
		err = c.fault("read", c.err)
	}
	return n, err
}

// Write implements [net.Conn]. It waits while the peer does not read.
func (c *conn) Write(p []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for n < len(p) {
		if err := c.await(); err != nil {
			return n, c.fault("write", err)
		}
		part := p[n:min(len(p), n+mostData)]
		c.offer(kindData, part)
		n += len(part)
	}
	return n, nil
}

// await waits until the peer has room for more, or returns why nothing can be written.
func (c *conn) await() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.err != nil:
			return c.err
		case c.shut:
			return net.ErrClosed
		case !c.expires.IsZero() && time.Until(c.expires) <= 0:
			return os.ErrDeadlineExceeded
		case c.sent-c.acked < window:
			return nil
		}
		c.changed.Wait()
	}
}

// fault returns an error as those of package net are.
func (c *conn) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: "bus", Source: addr(c.from), Addr: addr(c.to), Err: err}
}

// CloseWrite says that nothing more will be written. The peer reads what was, and then the end.
func (c *conn) CloseWrite() error {
	c.mu.Lock()
	c.shut = true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.writing.Lock() // until whoever writes has noticed
	defer c.writing.Unlock()
	c.offer(kindEnd, nil)
	return nil
}

// Close implements [net.Conn]. Whoever reads or writes gets an error. The peer reads what was written.
func (c *conn) Close() error {
	c.in.Close()
	_ = c.CloseWrite() // which has no error
	c.offer(kindClose, nil)
	c.mu.Lock()
	c.finish(net.ErrClosed)
	c.mu.Unlock()
	c.late.Stop()
	c.running.Wait()
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return addr(c.from) }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return addr(c.to) }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error { return c.in.SetReadDeadline(t) }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expires = t
	c.late.Reset(time.Until(t))
	return nil
}
