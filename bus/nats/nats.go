// Package nats is a [bus.Bus] over NATS: a connection to one of several servers, which it looks for
// again, for ever, when it loses one.
//
// It has a connection for each lane: what is written to one never waits for the other, neither here
// nor at the server. What is published waits in a queue for its connection. While that is away,
// publishing is [bus.ErrFull], and nothing is kept for later: sound would come too late, and control
// after a gap ends a session anyway.
//
// Whoever has no key, or another certificate than the one expected, is told so when they connect. What
// the server refuses later is known only afterwards: see [Config].
package nats

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"earshot/bus"
	"earshot/internal/field"
)

const (
	// timeout is how long a server may take to let somebody in, or to take what is written.
	timeout = 5 * time.Second

	// ping is how often each side asks whether the other is still there; twice without an answer, and
	// it is not.
	ping = 2 * time.Second

	// The pause before another attempt, doubled each time, of which up to half is random.
	firstPause = 250 * time.Millisecond
	mostPause  = 5 * time.Second

	// mostMessages may wait for a subscriber, if they are empty; see [bus.MaxPending].
	mostMessages = bus.MaxPending / overhead
	overhead     = 128

	// mostProblems is how many problems are told until they are mended.
	mostProblems = 100

	// inboxes is what every subject of an answer begins with.
	inboxes = "_INBOX."
)

// A Config says where the servers are, and who connects. The functions may be nil, are called from
// many goroutines and must not wait.
type Config struct {
	Servers []string     // HOST:PORT, with TLS; or URLs, of which nats:// is without, on this machine only
	Seed    field.Secret // of the nkey that the server knows; empty for a server that asks for none
	Inbox   string       // what the subjects of answers begin with, as the server allows: _INBOX. and more; may be empty
	Name    string       // for people who look at the server

	// Certificates are SHA-256, in hexadecimal, one of which is that of the server's certificate; such
	// a server speaks TLS from the first byte, as that of earshot does. If there are none, the
	// certificate is checked with CA, in PEM, or what the system trusts.
	Certificates []string
	CA           []byte

	// Dropped receives how many messages were lost here, because somebody was slow or the connection
	// went away.
	Dropped func(n int)

	// Problem receives what goes wrong after Connect, each thing once until it is mended: why there is
	// no connection, and what the server refuses, which is [bus.ErrRefused]. One that is [bus.ErrClosed]
	// does not end by itself: the server took this client for broken.
	Problem func(error)
}

// ErrKey is the error of a server that does not know the key of whoever connects. It is a [bus.ErrRefused].
var ErrKey = fmt.Errorf("without it, %w", bus.ErrRefused)

// errCertificate is the error of a server with a certificate that was not expected.
var errCertificate = errors.New("it has another certificate than this machine was told")

// where returns the addresses of the servers, for people.
func (c *Config) where() string { return strings.Join(c.Servers, ", ") }

// options returns how nats.go connects. The dialer ends what it has dialled with ctx. Problem receives
// that a server has the wrong certificate, which nats.go does not say of one that was connected before.
func (c *Config) options(ctx context.Context, problem func(error)) (nats.Options, error) {
	o := nats.GetDefaultOptions()
	for _, s := range c.Servers {
		u, err := c.server(s)
		if err != nil {
			return o, err
		}
		o.Servers = append(o.Servers, u)
	}
	if len(o.Servers) == 0 {
		return o, errors.New("there is no address of a NATS server")
	}
	if c.Inbox != "" && !strings.HasPrefix(c.Inbox, inboxes) {
		return o, fmt.Errorf("the subjects of answers begin with %q", inboxes)
	}
	if c.Seed != "" {
		key, err := nkeys.FromSeed([]byte(c.Seed.Reveal()))
		if err == nil {
			o.Nkey, err = key.PublicKey()
		}
		if err != nil || !nkeys.IsValidPublicUserKey(o.Nkey) {
			return o, errors.New("the key for the bus is not the seed of a user's nkey; pair this machine again")
		}
		o.SignatureCB = key.Sign
	}
	var err error
	if o.TLSConfig, err = c.tls(problem); err != nil {
		return o, err
	}
	o.TLSHandshakeFirst = len(c.Certificates) > 0
	o.Secure = o.TLSConfig != nil
	o.Name, o.InboxPrefix = c.Name, c.Inbox
	o.Timeout, o.FlusherTimeout, o.ReconnectOnFlusherError = timeout, timeout, true
	o.PingInterval, o.MaxPingsOut = ping, 2
	o.MaxReconnect, o.CustomReconnectDelayCB, o.IgnoreAuthErrorAbort = -1, pause, true
	o.ReconnectBufSize = -1 // none
	o.IgnoreDiscoveredServers, o.NoCallbacksAfterClientClose = true, true
	o.SubChanLen = 1        // a request has one answer
	o.SkipHostLookup = true // the dialer does that
	o.CustomDialer = dialer(func(network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{Timeout: timeout}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &registeredConn{c, context.AfterFunc(ctx, func() { c.Close() })}, nil
	})
	return o, nil
}

// server returns the URL of a server.
func (c *Config) server(s string) (string, error) {
	if !strings.Contains(s, "://") {
		s = "tls://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Port() == "" || u.Hostname() == "" || u.Path != "" || u.Scheme != "tls" && u.Scheme != "nats" {
		return "", errors.New("the address of a NATS server is HOST:PORT, tls://HOST:PORT or nats://HOST:PORT")
	}
	if u.User != nil {
		return "", errors.New("the address of a NATS server has a user in it; earshot connects with the seed of an nkey")
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	if u.Scheme == "nats" && len(c.Certificates) == 0 && len(c.CA) == 0 && u.Hostname() != "localhost" && !ip.IsLoopback() {
		return "", fmt.Errorf("%s is on another machine, to which nothing is sent without TLS; use tls://%s", s, u.Host)
	}
	return s, nil
}

// tls returns how the server's certificate is checked, or nil for a server without TLS.
func (c *Config) tls(problem func(error)) (*tls.Config, error) {
	if len(c.Certificates) > 0 {
		return &tls.Config{
			MinVersion:         tls.VersionTLS13,
			InsecureSkipVerify: true, // by names and issuers; instead:
			VerifyConnection: func(s tls.ConnectionState) error {
				sum := sha256.Sum256(s.PeerCertificates[0].Raw)
				if !slices.ContainsFunc(c.Certificates, func(pin string) bool { return strings.EqualFold(pin, hex.EncodeToString(sum[:])) }) {
					problem(c.explain(errCertificate))
					return errCertificate
				}
				return nil
			},
		}, nil
	}
	if len(c.CA) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CA) {
		return nil, errors.New("the file that says which certificates to trust has none in PEM")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}, nil
}

// A dialer implements [nats.CustomDialer].
type dialer func(network, address string) (net.Conn, error)

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// A registeredConn is a connection that ends with its context, which forgets it when it is closed.
type registeredConn struct {
	net.Conn
	forget func() bool
}

// Close implements [net.Conn].
func (d *registeredConn) Close() error {
	d.forget()
	return d.Conn.Close()
}

// pause returns how long to wait after so many attempts.
func pause(attempts int) time.Duration {
	most := min(firstPause<<min(attempts, 8), mostPause)
	return most/2 + rand.N(most/2)
}

// explain says why there is no connection, and what to do.
func (c *Config) explain(err error) error {
	where := c.where()
	var record tls.RecordHeaderError
	var network *net.OpError
	var unknown *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errCertificate):
		return fmt.Errorf("the server at %s is not the one that is expected: %w; if it was set up anew, pair this machine again: earshot pair", where, errCertificate)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of the server at %s is not trusted: %w", where, unknown.Err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthRevoked):
		return fmt.Errorf("the server at %s does not know the key of this machine, or no longer: %w; pair it again: earshot pair", where, ErrKey)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("the server at %s has no TLS, without which nothing is sent to it", where)
	case errors.Is(err, nats.ErrNkeysNotSupported):
		return fmt.Errorf("the server at %s does not ask for keys, so that anybody could listen there; give it users with nkeys", where)
	case errors.As(err, &record), errors.Is(err, nats.ErrNoInfoReceived):
		return fmt.Errorf("what answers at %s is not a NATS server; see that the address and the port are right", where)
	case errors.Is(err, nats.ErrNoServers), errors.As(err, &network):
		return fmt.Errorf("nobody answers at %s; see that earshot runs there, that the address is right, and that no firewall is between", where)
	}
	return fmt.Errorf("connecting to %s: %w", where, err)
}
