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

// A conn is an end of a connection. It implements [net.Conn].
type conn struct {
	bus      bus.Bus
	from, to string    // the subjects
	listener *listener // nil at the end that dialled
	ignored  atomic.Int64
	over     chan struct{} // closed when nothing more comes or goes
	running  sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // anything of what follows
	err     error      // why it has failed; net.ErrClosed if it was closed here
	heard   time.Time  // when the peer was

	// What comes.
	next    uint64   // the number of the next message
	waits   [][]byte // what has not been read, of each message the rest
	came    uint64   // bytes, with overhead
	read    uint64   // of these
	told    uint64   // of these, what the peer knows of
	ended   bool     // nothing more comes
	reading deadline

	// What goes.
	number  uint64 // of the next message
	sent    uint64 // bytes, with overhead
	acked   uint64 // of these, what the peer has read
	writes  bool   // somebody is writing
	shut    bool   // nothing more goes
	writing deadline
}

// A deadline is a time after which nobody waits any more.
type deadline struct {
	timer  *time.Timer // nil if there is none
	passed bool
}

func newConn(b bus.Bus, from, to string) *conn {
	c := &conn{bus: b, from: from, to: to, over: make(chan struct{})}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// start watches over the connection until it is over. Then it stops the subscription, and calls left.
func (c *conn) start(stop, left func()) {
	c.mu.Lock()
	c.heard = time.Now()
	c.mu.Unlock()
	c.running.Go(func() {
		defer left()
		defer stop()
		c.watch()
	})
}

// watch says that this end is there, and finds out whether the peer is, until the connection is over.
func (c *conn) watch() {
	tick := time.NewTicker(alive)
	defer tick.Stop()
	for {
		on, change := c.bus.Connected()
		var lost <-chan time.Time
		if !on {
			lost = time.After(moment)
		}
	same:
		for {
			select {
			case <-c.over:
				return
			case <-change:
				break same
			case <-lost:
				c.fail(errBus)
			case <-tick.C:
				c.mu.Lock()
				silent := time.Since(c.heard) >= silence
				if c.err == nil && !silent {
					_ = c.send(kindAlive, nil) // one that finds no room is made up for by the next
				}
				c.mu.Unlock()
				if silent {
					c.fail(errSilent)
				}
			}
		}
	}
}

// fail ends the connection with an error, and tells the peer.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		_ = c.send(kindAbort, nil)
	}
	c.finish(err)
}

// finish ends the connection. The caller holds the lock.
func (c *conn) finish(err error) {
	if c.err == nil {
		c.err = err
		close(c.over)
	}
	c.changed.Broadcast()
}

// send publishes a message. The caller holds the lock, so that what is published has the order of its
// numbers.
func (c *conn) send(k kind, data []byte) error {
	err := c.bus.Publish(c.to, message{k, c.number, c.read, data}.encode())
	if err == nil {
		c.number++
		c.told = c.read
	}
	return err
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
		if c.listener != nil {
			c.listener.ignored.Add(1)
		}
		return
	case m.number > c.next, m.kind == kindData && (c.ended || c.came-c.read+cost(m.data) > window):
		_ = c.send(kindAbort, nil)
		c.finish(errGap)
		return
	}
	c.next++
	c.acked = m.read
	c.heard = time.Now()
	switch m.kind {
	case kindData:
		c.came += cost(m.data)
		c.waits = append(c.waits, slices.Clone(m.data))
	case kindEnd:
		c.ended = true
	case kindClose:
		c.ended = true
		c.finish(errPeer)
	case kindAbort:
		c.finish(io.ErrUnexpectedEOF)
	}
	c.changed.Broadcast()
}

// cost is what the data of a message takes of the window.
func cost(data []byte) uint64 { return uint64(overhead + len(data)) }

// Read implements [net.Conn]. What came before the connection failed is lost, but not what came before
// it was closed.
func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.err != nil && !errors.Is(c.err, errPeer):
			return 0, c.fault("read", c.err)
		case c.reading.passed:
			return 0, c.fault("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			return 0, nil
		case len(c.waits) > 0:
			n := copy(p, c.waits[0])
			if c.waits[0] = c.waits[0][n:]; len(c.waits[0]) == 0 {
				c.waits = c.waits[1:]
				c.read += overhead
			}
			if c.read += uint64(n); c.err == nil && c.read-c.told >= window/4 {
				_ = c.send(kindAlive, nil) // if it finds no room, the next one says it
			}
			return n, nil
		case c.ended:
			return 0, io.EOF
		}
		c.changed.Wait()
	}
}

// Write implements [net.Conn]. It waits while the peer does not read.
func (c *conn) Write(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.writes && c.cannotWrite() == nil {
		c.changed.Wait()
	}
	if err := c.cannotWrite(); err != nil {
		return 0, c.fault("write", err)
	}
	c.writes = true
	defer func() {
		c.writes = false
		c.changed.Broadcast()
	}()
	for len(p) > 0 {
		part := p[:min(len(p), mostData)]
		if err := c.offer(kindData, part); err != nil {
			return n, c.fault("write", err)
		}
		n += len(part)
		p = p[len(part):]
	}
	return n, nil
}

// cannotWrite says why nothing can be written. The caller holds the lock.
func (c *conn) cannotWrite() error {
	switch {
	case c.err != nil:
		return c.err
	case c.shut:
		return net.ErrClosed
	case c.writing.passed:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// offer sends a message as soon as the window and the bus take it. The caller holds the lock, which is
// released meanwhile.
func (c *conn) offer(k kind, data []byte) error {
	for {
		if err := c.cannotWrite(); err != nil {
			return err
		}
		if len(data) > 0 && c.sent-c.acked+cost(data) > window {
			c.changed.Wait()
			continue
		}
		err := c.send(k, data)
		if err == nil && len(data) > 0 {
			c.sent += cost(data)
		}
		if !errors.Is(err, bus.ErrFull) {
			return err
		}
		c.pause()
	}
}

// pause waits until the bus may take something again. The caller holds the lock, which is released
// meanwhile.
func (c *conn) pause() {
	time.AfterFunc(again, c.changed.Broadcast)
	c.changed.Wait()
}

// CloseWrite says that nothing more will be written. The peer reads what was, and then the end.
func (c *conn) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.offer(kindEnd, nil); err != nil {
		return c.fault("close", err)
	}
	c.shut = true
	c.changed.Broadcast()
	return nil
}

// Close implements [net.Conn]. Whoever reads or writes gets an error. The peer reads what was written.
func (c *conn) Close() error {
	c.mu.Lock()
	for range moment / again { // or the peer finds out by the silence
		if c.err != nil || !errors.Is(c.send(kindClose, nil), bus.ErrFull) {
			break
		}
		c.pause()
	}
	closed := errors.Is(c.err, net.ErrClosed)
	c.finish(net.ErrClosed)
	c.err = net.ErrClosed
	c.waits = nil
	c.set(&c.reading, time.Time{})
	c.set(&c.writing, time.Time{})
	c.mu.Unlock()
	c.running.Wait()
	if closed {
		return c.fault("close", net.ErrClosed)
	}
	return nil
}

// fault returns an error as those of package net are.
func (c *conn) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: "bus", Source: addr(c.from), Addr: addr(c.to), Err: err}
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return addr(c.from) }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return addr(c.to) }

// Ignored returns how many messages were ignored.
func (c *conn) Ignored() int64 { return c.ignored.Load() }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error { return c.setOpen(&c.reading, t) }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error { return c.setOpen(&c.writing, t) }

func (c *conn) setOpen(d *deadline, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, net.ErrClosed) {
		return c.fault("set", net.ErrClosed)
	}
	c.set(d, t)
	return nil
}

// set sets a deadline. The caller holds the lock.
func (c *conn) set(d *deadline, t time.Time) {
	if d.timer != nil {
		d.timer.Stop()
	}
	left := time.Until(t)
	*d = deadline{passed: !t.IsZero() && left <= 0}
	if !t.IsZero() && left > 0 {
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if d.timer == timer { // it was not set again
				d.passed = true
				c.changed.Broadcast()
			}
		})
		d.timer = timer
	}
	c.changed.Broadcast()
}
