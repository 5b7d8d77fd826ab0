package wire

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Peer returns the user who opened the other end of conn.
func Peer(conn net.Conn) (uid int, err error) {
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
