// Package wyoming speaks with the speech servers of Home Assistant over TCP: recognisers, voices and
// listeners for wake words. [Recogniser] and [Voice] are engines of package remote; a [Waker] stands in
// for the helper that seeks names.
//
// Each utterance and each text has a connection of its own, as in Home Assistant itself: a server
// that is restarted in between is not noticed, and closing the connection is what cancels. A listener
// keeps one, so that it is known at once when it goes away.
//
// What happens when a reader is slow: sound waits in the connection, and then in its sender. That for
// a wake word is dropped after a second.
//
// The protocol is that of github.com/OHF-Voice/wyoming, version 1.8.
package wyoming

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"earshot/internal/helper"
	"earshot/models/remote"
)

const (
	// connecting is how long a connection may take. One on the same network takes milliseconds.
	connecting = 3 * time.Second

	// answering is how long a server may take to describe itself.
	answering = 5 * time.Second
)

// A Server is the address of a server, HOST:PORT.
type Server string

// ParseServer returns the server at an address: HOST:PORT, with or without tcp:// before it.
func ParseServer(address string) (Server, error) {
	host := strings.TrimPrefix(strings.TrimPrefix(address, "wyoming://"), "tcp://")
	u, err := url.Parse("tcp://" + host)
	if err != nil || u.Host != host || u.Hostname() == "" || !isPort(u.Port()) {
		return "", fmt.Errorf("%.100q is not the address of a Wyoming server; write HOST:PORT, such as 127.0.0.1:10300", address)
	}
	return Server(host), nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// Local reports whether the server is certainly on this machine.
func (s Server) Local() bool {
	host, _, err := net.SplitHostPort(string(s))
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// A Description is what a server says that it can do.
type Description struct {
	Recognisers []Program `json:"asr"`
	Voices      []Program `json:"tts"`
	Wakers      []Program `json:"wake"`
}

// A Program is a program of a server, or one of its models.
type Program struct {
	Name   string    `json:"name"`
	Models []Program `json:"models"`
}

// Describe asks a server what it can do.
func (s Server) Describe(ctx context.Context) (Description, error) {
	ctx, stop := context.WithTimeoutCause(ctx, answering, fmt.Errorf("the server at %s has not said within %v what it can do", s, answering))
	defer stop()
	c, err := s.dial(ctx)
	if err != nil {
		return Description{}, err
	}
	defer c.close()
	if err := c.write(ctx, "describe", nil, nil); err != nil {
		return Description{}, err
	}
	for {
		e, err := c.read(ctx)
		if err != nil {
			return Description{}, err
		}
		if e.Type == "info" {
			var d Description
			return d, e.decode(&d)
		}
	}
}

// check reports why the server is not what it should be, as far as it says so. Program is one that is.
func (s Server) check(ctx context.Context, wanted, program string, of func(Description) []Program) error {
	d, err := s.Describe(ctx)
	if err == nil && len(of(d)) == 0 {
		err = helper.Fault{
			Text: fmt.Sprintf("the Wyoming server at %s is no %s", s, wanted), Cure: "give the address of one that is, such as " + program, Lasting: true,
		}.Err()
	}
	return err
}

// A conn is a connection to a server. One goroutine may write while another reads.
type conn struct {
	net.Conn
	address string
	stop    func() bool
	in      *bufio.Reader
	out     []byte
}

// dial connects. The connection is closed when ctx ends.
func (s Server) dial(ctx context.Context) (*conn, error) {
	d := net.Dialer{Timeout: connecting}
	c, err := d.DialContext(ctx, "tcp", string(s))
	if err != nil {
		return nil, remote.Explain(ctx, string(s), err)
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	return &conn{Conn: c, address: string(s), stop: stop, in: bufio.NewReaderSize(c, maxHeader)}, nil
}

func (c *conn) close() {
	c.stop()
	c.Close()
}

// write writes a message.
func (c *conn) write(ctx context.Context, kind string, data any, payload []byte) error {
	c.out = appendEvent(c.out[:0], kind, data, payload)
	_, err := c.Write(c.out)
	return remote.Explain(ctx, c.address, err)
}

// read reads the next message. What a server complains about is an error.
func (c *conn) read(ctx context.Context) (event, error) {
	e, err := readEvent(c.in)
	if err == nil && e.Type == "error" {
		var complaint struct{ Text string }
		if err := e.decode(&complaint); err != nil {
			return event{}, err
		}
		err = fmt.Errorf("the server says: %.200q", complaint.Text)
	}
	return e, remote.Explain(ctx, c.address, err)
}
