package server

import (
	"container/list"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"earshot"
	"earshot/server/wire"
)

const (
	// connections is how many connections each listener accepts at once: a thousand clients that
	// follow the events, and some that ask meanwhile.
	connections = 1280

	// strangers is how many of these may be unidentified. Beyond that, the one that has waited
	// longest is closed.
	strangers = 64

	// spare is how many of the process's open files are for other things than connections.
	spare = 256
)

// A visitor is an accepted connection.
type visitor struct {
	net.Conn
	handle earshot.Handle // at the socket, the account
	known  bool           // at the socket, the account may come in
	from   string         // the account or the address, for the audit log
	addr   netip.Addr     // at the port

	once  sync.Once
	leave func()
	met   func() // marks it as identified
	gone  func() // for a handler that hijacked the connection: it has ended
}

// Close closes the connection and makes room for another.
func (v *visitor) Close() error {
	v.once.Do(v.leave)
	return v.Conn.Close()
}

// moment is how long a client that is turned away may take to read the answer. Nobody else is
// accepted meanwhile, but there was no room anyway.
const moment = 100 * time.Millisecond

// A connectionLimiter is a listener with a bounded number of visitors at a time.
type connectionLimiter struct {
	net.Listener
	by     *rules
	places chan struct{} // holds one for each visitor

	mu   sync.Mutex
	none list.List // the unidentified visitors, the oldest in front
}

func newDoor(l net.Listener, by *rules) *connectionLimiter {
	return &connectionLimiter{Listener: l, by: by, places: make(chan struct{}, roomFor(connections))}
}

// roomFor returns how many of most connections this process may have open.
func roomFor(most int) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur > uint64(2*most+spare) {
		return most
	}
	return max(16, (int(files.Cur)-spare)/2) // there are two ways in
}

// turnedAway is the answer to a client for whom there is no room.
const turnedAway = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Type: application/json\r\n\r\n" +
	`{"error":"too many are connected to earshot","cure":"close a terminal"}` + "\n"

// Accept returns the next visitor for whom there is room.
func (d *connectionLimiter) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case d.places <- struct{}{}:
			return d.admit(c), nil
		default:
			turnAway(c)
		}
	}
}

// turnAway answers that there is no room. It reads first, since HTTP allows no answer before a
// request, and reads afterwards too, since a client whose connection breaks while it writes would
// not read the answer.
func turnAway(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(moment))
	_, _ = c.Read(make([]byte, headerBytes))
	_ = c.SetDeadline(time.Now().Add(moment))
	_, _ = io.WriteString(c, turnedAway)
	if c, ok := c.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, c, headerBytes)
}

// admit identifies a new connection.
func (d *connectionLimiter) admit(c net.Conn) *visitor {
	v := &visitor{Conn: c, leave: func() { <-d.places }, met: func() {}}
	if h := d.by.account; h != (earshot.Handle{}) {
		v.handle, v.known, v.from = h, true, h.String()
		return v
	}
	if d.by.vouched {
		if uid, err := wire.Peer(c); err == nil {
			v.handle, v.known = handleOf(uid, os.Getuid())
			v.from = "uid" + strconv.Itoa(uid)
		}
		return v
	}
	if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		v.addr = at.AddrPort().Addr().Unmap()
		v.from = v.addr.String()
	}
	d.meet(v)
	return v
}

// meet records v as unidentified. If there are too many of those, it closes the one that has
// waited longest.
func (d *connectionLimiter) meet(v *visitor) {
	d.mu.Lock()
	at := d.none.PushBack(v)
	var oldest *visitor
	if d.none.Len() > strangers {
		oldest, _ = d.none.Remove(d.none.Front()).(*visitor)
	}
	d.mu.Unlock()
	v.met = sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.none.Remove(at) // has no effect if it was closed
	})
	left := v.leave
	v.leave = func() { v.met(); left() }
	if oldest != nil {
		oldest.Close()
	}
}
