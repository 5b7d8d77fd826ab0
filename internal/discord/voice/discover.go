package voice

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// IP discovery: the gateway needs our external address, which the server that forwards packets
// returns. Both messages are datagrams, so the request is repeated until there is an answer.
const (
	discoveryLen   = 74 // u16 type, u16 length of the rest, u32 SSRC, 64 of address, u16 port
	discoveryTries = 5
	discoveryWait  = time.Second
)

// askAddress is the request.
func askAddress(ssrc uint32) []byte {
	b := make([]byte, discoveryLen)
	binary.BigEndian.PutUint16(b, 1)
	binary.BigEndian.PutUint16(b[2:], discoveryLen-4)
	binary.BigEndian.PutUint32(b[4:], ssrc)
	return b
}

// readAddress parses the answer. It may not be one: packets of sound may come first.
func readAddress(b []byte, ssrc uint32) (netip.AddrPort, error) {
	if len(b) != discoveryLen || binary.BigEndian.Uint16(b) != 2 || binary.BigEndian.Uint32(b[4:]) != ssrc {
		return netip.AddrPort{}, errors.New("voice: not an answer to IP discovery")
	}
	text, _, _ := bytes.Cut(b[8:72], []byte{0})
	ip, err := netip.ParseAddr(string(text))
	if err != nil {
		return netip.AddrPort{}, errors.New("voice: IP discovery: not an address")
	}
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[72:])), nil
}

// discover asks on a socket until the answer comes.
func discover(conn net.Conn, ssrc uint32) (netip.AddrPort, error) {
	question, b := askAddress(ssrc), make([]byte, 2048)
	for range discoveryTries {
		if _, err := conn.Write(question); errors.Is(err, net.ErrClosed) {
			return netip.AddrPort{}, err
		}
		if err := conn.SetReadDeadline(time.Now().Add(discoveryWait)); err != nil {
			return netip.AddrPort{}, err
		}
		for range 1024 { // bounds errors that come at once
			n, err := conn.Read(b)
			if errors.Is(err, net.ErrClosed) {
				return netip.AddrPort{}, err
			}
			var slow net.Error
			if errors.As(err, &slow) && slow.Timeout() {
				break
			}
			if err != nil {
				continue // such as that nobody listens there yet, reported once per request
			}
			if a, err := readAddress(b[:n], ssrc); err == nil {
				return a, conn.SetReadDeadline(time.Time{})
			}
		}
	}
	return netip.AddrPort{}, fmt.Errorf("voice: no answer to IP discovery, asked %d times", discoveryTries)
}
