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
	// connections is how many may be connected at once, each way in by itself: a thousand
	// that follow what happens, and those that ask something meanwhile.
	connections = 1280

	// strangers is how many of them may be there of whom nobody knows yet who they are.
	// Where more come, the one that has waited longest goes.
	strangers = 64

	// spare is how many of the files that a process may have open are for other things
	// than connections.
	spare = 256
)

// A visitor is a connection of somebody who was looked at.
type visitor struct {
	net.Conn
	handle earshot.Handle // at the socket, whose account it is
	known  bool           // at the socket, it is one that may come in
	from   string         // the account or the address, for the audit log
	addr   netip.Addr     // at the port

	once  sync.Once
	leave func()
	met   func() // it is no stranger any more
	gone  func() // for who takes the connection from the server of HTTP: it has ended
}

// Close closes the connection and makes room for another.
func (v *visitor) Close() error {
	v.once.Do(v.leave)
	return v.Conn.Close()
}

// moment is how long one who is turned away may take to hear it. Nobody else is
// let in meanwhile, but then there was no place anyway.
const moment = 100 * time.Millisecond

// A connectionLimiter is a listener that lets in a bounded number of visitors at a time.
type connectionLimiter struct {
	net.Listener
	by     *rules
	places chan struct{} // holds one for each visitor

	mu   sync.Mutex
	none list.List // the visitors whom nobody knows yet, who came first in front
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

// turnedAway is what somebody hears for whom there is no place.
const turnedAway = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Type: application/json\r\n\r\n" +
	`{"error":"too many are connected to earshot","cure":"close a terminal"}` + "\n"

// Accept returns the next visitor for whom there is a place.
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

// turnAway says that there is no place. It listens before, since an answer to
// what was not asked yet is none in HTTP, and after, since one that is still
// writing when the connection breaks would not read why.
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

// admit looks at who has come.
func (d *connectionLimiter) admit(c net.Conn) *visitor {
	v := &visitor{Conn: c, leave: func() { <-d.places }, met: func() {}}
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

// meet notes that nobody knows yet who v is, and lets go of who has waited longest if
// there are too many of them.
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
		d.none.Remove(at) // which does nothing if it was let go
	})
	left := v.leave
	v.leave = func() { v.met(); left() }
	if oldest != nil {
		oldest.Close()
	}
}
