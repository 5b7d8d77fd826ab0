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

// IP discovery: how we are seen from outside is asked of the server that forwards
// packets, since the gateway wants to know. Both are datagrams, so that the question
// is asked again until there is an answer.
const (
	discoveryLen   = 74 // u16 type, u16 length of the rest, u32 SSRC, 64 of address, u16 port
	discoveryTries = 5
	discoveryWait  = time.Second
)

// askAddress is the question.
func askAddress(ssrc uint32) []byte {
	b := make([]byte, discoveryLen)
	binary.BigEndian.PutUint16(b, 1)
	binary.BigEndian.PutUint16(b[2:], discoveryLen-4)
	binary.BigEndian.PutUint32(b[4:], ssrc)
	return b
}

// readAddress reads the answer. That it is one is not sure: packets of sound may come
// before.
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
		for range 1024 { // a bound for errors that do not wait
			n, err := conn.Read(b)
			if errors.Is(err, net.ErrClosed) {
				return netip.AddrPort{}, err
			}
			var slow net.Error
			if errors.As(err, &slow) && slow.Timeout() {
				break
			}
			if err != nil {
				continue // such as that nobody listens there yet, which is told once a question
			}
			if a, err := readAddress(b[:n], ssrc); err == nil {
				return a, conn.SetReadDeadline(time.Time{})
			}
		}
	}
	return netip.AddrPort{}, fmt.Errorf("voice: no answer to IP discovery, asked %d times", discoveryTries)
}
