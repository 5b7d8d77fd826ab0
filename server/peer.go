package server

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

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
		return 0, errors.New("identifying the peer: not a socket")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("identifying the peer: %w", err)
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = peerOf(int(fd)) }); err != nil {
		return 0, fmt.Errorf("identifying the peer: %w", err)
	}
	if asked != nil {
		return 0, fmt.Errorf("identifying the peer: %w", asked)
	}
	return uid, nil
}
