package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"earshot"
)

// handleOf returns as whom a user of this machine speaks: the daemon's own and
// the superuser have a name each, anybody else has none. Whether a name has any
// right is the house's to say.
func handleOf(uid, own int) (h earshot.Handle, ok bool) {
	if uid != own && uid != 0 {
		return earshot.Handle{}, false
	}
	return earshot.Handle{Provider: "console", ID: "uid" + strconv.Itoa(uid)}, true
}

// peer returns the user who opened the other end of conn.
func peer(conn net.Conn) (uid int, err error) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return 0, errors.New("asking who is there: not a socket")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("asking who is there: %w", err)
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = peerOf(int(fd)) }); err != nil {
		return 0, fmt.Errorf("asking who is there: %w", err)
	}
	if asked != nil {
		return 0, fmt.Errorf("asking who is there: %w", asked)
	}
	return uid, nil
}

// A visitor is a connection of somebody who was looked at.
type visitor struct {
	net.Conn
	handle earshot.Handle
	known  bool

	once  sync.Once
	leave func()
}

// Close closes the connection and makes room for another.
func (v *visitor) Close() error {
	v.once.Do(v.leave)
	return v.Conn.Close()
}

// moment is how long one who is turned away may take to hear it. Nobody else is
// let in meanwhile, but then there was no place anyway.
const moment = 100 * time.Millisecond

// A door is a listener that lets in a bounded number of visitors at a time.
type door struct {
	net.Listener
	places chan struct{} // holds one for each visitor
}

// turnedAway is what somebody hears for whom there is no place.
const turnedAway = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" +
	`{"error":"too many are connected to earshot","cure":"close a terminal"}` + "\n"

// Accept returns the next visitor for whom there is a place.
func (d *door) Accept() (net.Conn, error) {
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

func (d *door) admit(c net.Conn) *visitor {
	v := &visitor{Conn: c, leave: func() { <-d.places }}
	if uid, err := peer(c); err == nil {
		v.handle, v.known = handleOf(uid, os.Getuid())
	}
	return v
}
