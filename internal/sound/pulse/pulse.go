// Package pulse asks a PulseAudio server, or PipeWire in its place, what PortAudio cannot tell:
// the devices with stable names, where the streams of a process really end, and whether the server
// is alive.
//
// What happens when a reader is slow: of the server's events, a channel of one keeps only that
// there was one; requests are answered within [Patience] or the server counts as dead.
package pulse

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// Patience is how long the server may take for an answer. A healthy one takes
// less than a millisecond; on a machine under load, more than a second.
const Patience = 3 * time.Second

// Errors of a server, besides those in its answers.
var (
	// ErrNone says that there is no server here, and none is expected.
	ErrNone = errors.New("no PulseAudio or PipeWire here")

	// ErrSilent says that there is, or was, a server that does not answer.
	ErrSilent = errors.New("the sound system does not respond") // as sound.Card says it: one fault is told once
)

// A Server is a connection to the server. Its methods may be called from many
// goroutines.
type Server struct {
	client  *proto.Client
	conn    net.Conn
	changed chan struct{}
}

// Dial connects to the server that the environment names, or to the usual one. If there is no sign
// of any, it returns [ErrNone].
func Dial() (*Server, error) {
	network, address := address(os.Getenv)
	if address == "" {
		return nil, ErrNone
	}
	conn, err := net.DialTimeout(network, address, Patience)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("PULSE_SERVER") == "" {
		return nil, ErrNone
	}
	if err != nil {
		return nil, ErrSilent
	}
	s := &Server{client: new(proto.Client), conn: conn, changed: make(chan struct{}, 1)}
	s.client.Callback = s.event // before Open: it is also called when the connection ends
	s.client.SetTimeout(Patience)
	s.client.Open(conn)
	if err := s.greet(); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// ask sends a request, and distinguishes the server's own errors from the lack of an answer.
func (s *Server) ask(what proto.RequestArgs, reply proto.Reply) error {
	err := s.client.Request(what, reply)
	if answer, ok := err.(proto.Error); ok {
		return fmt.Errorf("the sound server refuses: %w", answer)
	}
	if err != nil {
		return ErrSilent
	}
	return nil
}

// greet sends our name, and subscribes to changes.
func (s *Server) greet() error {
	var auth proto.AuthReply
	if err := s.ask(&proto.Auth{Version: s.client.Version(), Cookie: cookie(os.Getenv)}, &auth); err != nil {
		return err
	}
	s.client.SetVersion(auth.Version)
	name := proto.PropList{"application.name": proto.PropListString("earshot")}
	if err := s.ask(&proto.SetClientName{Props: name}, &proto.SetClientNameReply{}); err != nil {
		return err
	}
	const streamsAndDevices = proto.SubscriptionMaskSink | proto.SubscriptionMaskSource |
		proto.SubscriptionMaskSinkInput | proto.SubscriptionMaskSourceInput
	return s.ask(&proto.Subscribe{Mask: streamsAndDevices}, nil)
}

// event records that something changed.
func (s *Server) event(any) {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Changed receives a value when devices or streams may have changed, or when the server is gone.
func (s *Server) Changed() <-chan struct{} { return s.changed }

// Close ends the connection.
func (s *Server) Close() error { return s.conn.Close() }

// address returns the address of the server by the rules of its own library, as far as they name a
// socket on this machine or a host; "" if there is none.
func address(env func(string) string) (network, address string) {
	for server := range strings.FieldsSeq(env("PULSE_SERVER")) {
		if _, rest, ok := strings.Cut(server, "}"); ok && server[0] == '{' {
			server = rest
		}
		switch {
		case strings.HasPrefix(server, "/"):
			return "unix", server
		case strings.HasPrefix(server, "unix:"):
			return "unix", server[len("unix:"):]
		case strings.HasPrefix(server, "tcp:"), strings.HasPrefix(server, "tcp4:"), strings.HasPrefix(server, "tcp6:"):
			network, address, _ = strings.Cut(server, ":")
			return network, withPort(address)
		}
	}
	if dir := env("PULSE_RUNTIME_PATH"); dir != "" {
		return "unix", filepath.Join(dir, "native")
	}
	if dir := env("XDG_RUNTIME_DIR"); dir != "" {
		return "unix", filepath.Join(dir, "pulse", "native")
	}
	return "", ""
}

// withPort adds the port that a server listens on by default.
func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(4713))
}

// cookieSize is the length of the secret that proves to the server that we may read this account's
// files. A server that needs none accepts zeros.
const cookieSize = 256

// cookie returns that secret.
func cookie(env func(string) string) []byte {
	path := env("PULSE_COOKIE")
	if path == "" {
		path = filepath.Join(env("HOME"), ".config", "pulse", "cookie")
	}
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		b := make([]byte, cookieSize)
		if n, _ := f.Read(b); n == cookieSize {
			return b
		}
	}
	return make([]byte, cookieSize)
}
