package seetest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// An RTSP is a camera that serves RTSP (RFC 2326), with its pictures as JPEG over RTP (RFC 2435)
// within the same connection. It shows one picture, again and again.
type RTSP struct {
	listener net.Listener
	picture  parts
	rate     float64
	serving  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when it is over
	mute  bool              // sends nothing more
}

// NewRTSP returns one that sends rate pictures a second. The caller closes it.
func NewRTSP(rate float64, picture []byte) (*RTSP, error) {
	p, err := take(picture)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &RTSP{listener: listener, picture: p, rate: rate, conns: make(map[net.Conn]bool)}
	c.serving.Go(c.accept)
	return c, nil
}

// URL is where it can be seen.
func (c *RTSP) URL() string { return "rtsp://" + c.listener.Addr().String() + "/stream" }

// Mute makes it send nothing more, without closing connections.
func (c *RTSP) Mute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mute = true
}

// Close ends it, and all who look at it.
func (c *RTSP) Close() {
	c.listener.Close()
	c.mu.Lock()
	for conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
	c.mu.Unlock()
	c.serving.Wait()
}

func (c *RTSP) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.conns == nil {
			conn.Close()
		} else {
			c.conns[conn] = true
			c.serving.Go(func() { c.serve(conn) })
		}
		c.mu.Unlock()
	}
}

func (c *RTSP) silent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mute
}

// serve answers whoever looks, and plays when it is told to.
func (c *RTSP) serve(conn net.Conn) {
	defer conn.Close()
	in := textproto.NewReader(bufio.NewReader(conn))
	for {
		request, err := in.ReadLine()
		if err != nil {
			return
		}
		head, err := in.ReadMIMEHeader()
		if err != nil {
			return
		}
		method, _, _ := strings.Cut(request, " ")
		answer, body := "RTSP/1.0 200 OK\r\nCSeq: "+head.Get("CSeq")+"\r\n", ""
		switch method {
		case "OPTIONS":
			answer += "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
		case "DESCRIBE":
			body = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nt=0 0\r\nm=video 0 RTP/AVP 26\r\nc=IN IP4 127.0.0.1\r\na=control:track\r\n"
			answer += fmt.Sprintf("Content-Type: application/sdp\r\nContent-Base: %s/\r\nContent-Length: %d\r\n", c.URL(), len(body))
		case "SETUP":
			answer += "Session: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
		default:
			answer += "Session: 1\r\n"
		}
		if _, err := io.WriteString(conn, answer+"\r\n"+body); err != nil {
			return
		}
		if method == "PLAY" {
			c.play(conn)
			return
		}
	}
}

// play sends pictures until nobody takes them.
func (c *RTSP) play(conn net.Conn) {
	gone := make(chan struct{})
	c.serving.Go(func() {
		defer close(gone)
		io.Copy(io.Discard, conn) // what else is asked
	})
	t := time.NewTicker(time.Duration(float64(time.Second) / c.rate))
	defer t.Stop()
	var sequence uint16
	for n := 0; ; n++ {
		select {
		case <-t.C:
		case <-gone:
			return
		}
		if c.silent() {
			continue
		}
		conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := conn.Write(c.picture.packets(uint32(float64(n)*90_000/c.rate), &sequence)); err != nil {
			return
		}
	}
}

// parts are those of a JPEG that are sent.
type parts struct {
	width, height int
	kind          byte   // of RFC 2435: 0 is 4:2:2, 1 is 4:2:0
	tables        []byte // two for quantization
	data          []byte // of the scan
}

// take takes apart a baseline JPEG with the usual tables, as Go makes them.
func take(jpeg []byte) (p parts, err error) {
	for b := jpeg[min(2, len(jpeg)):]; len(b) > 4 && b[0] == 0xff; {
		n := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if n > len(b) {
			break
		}
		body := b[4:n]
		switch b[1] {
		case 0xdb:
			for ; len(body) >= 65; body = body[65:] {
				p.tables = append(p.tables, body[1:65]...)
			}
		case 0xc0:
			p.height, p.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
			p.kind = 0
			if body[7] == 0x22 {
				p.kind = 1
			}
		case 0xda:
			p.data = bytes.TrimSuffix(b[n:], []byte{0xff, 0xd9})
			if len(p.tables) == 128 && p.width%8 == 0 && p.height%8 == 0 && p.width < 2048 && p.height < 2048 {
				return p, nil
			}
		}
		b = b[n:]
	}
	return p, errors.New("the JPEG cannot be sent by RTP")
}

// packets are those of one picture, each with its frame in the connection.
func (p parts) packets(stamp uint32, sequence *uint16) (all []byte) {
	const most = 1400
	for at := 0; at < len(p.data); {
		head := []byte{0, byte(at >> 16), byte(at >> 8), byte(at), p.kind, 255, byte(p.width / 8), byte(p.height / 8)}
		if at == 0 {
			head = append(append(head, 0, 0, 0, byte(len(p.tables))), p.tables...)
		}
		part := p.data[at:min(at+most, len(p.data))]
		at += len(part)
		last := byte(26)
		if at == len(p.data) {
			last |= 0x80
		}
		packet := binary.BigEndian.AppendUint16([]byte{0x80, last}, *sequence)
		*sequence++
		packet = binary.BigEndian.AppendUint32(packet, stamp)
		packet = binary.BigEndian.AppendUint32(packet, 1) // who sends
		packet = append(append(packet, head...), part...)
		all = append(all, '$', 0)
		all = binary.BigEndian.AppendUint16(all, uint16(len(packet)))
		all = append(all, packet...)
	}
	return all
}
