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
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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
	Servers []string     // HOST:PORT; nothing is sent without TLS
	Seed    field.Secret // of the nkey that the server knows; empty for a server that asks for none
	Inbox   string       // what the subjects of answers begin with, as the server allows: _INBOX. and more; may be empty
	Name    string       // for people who look at the server

	// Certificates are SHA-256, in hexadecimal, one of which is that of the server's certificate; such
	// a server speaks TLS from the first byte, as that of earshot does. If there are none, the
	// system must trust the certificate.
	Certificates []string

	// Renew is what a person does about a key or a certificate that is not known (any more); by default, to pair
	// this machine again.
	Renew string

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
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			return o, errors.New("the address of a NATS server is HOST:PORT")
		}
		o.Servers = append(o.Servers, "tls://"+s)
	}
	if len(o.Servers) == 0 {
		return o, errors.New("there is no address of a NATS server")
	}
	if c.Inbox != "" && !strings.HasPrefix(c.Inbox, inboxes) {
		return o, fmt.Errorf("the subjects of answers begin with %q", inboxes)
	}
	var err error
	if c.Seed != "" {
		if o.Nkey, o.SignatureCB, err = c.key(); err != nil {
			return o, err
		}
	}
	o.Secure, o.TLSConfig = true, &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.Certificates) > 0 {
		o.TLSHandshakeFirst, o.TLSConfig = true, c.pinned(problem)
	}
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

// key returns the public key of the seed, and how to sign with it.
func (c *Config) key() (public string, sign func([]byte) ([]byte, error), err error) {
	key, err := nkeys.FromSeed([]byte(c.Seed.Reveal()))
	if err == nil {
		public, err = key.PublicKey()
	}
	if err != nil || !nkeys.IsValidPublicUserKey(public) {
		return "", nil, errors.New("the key for the bus is not the seed of a user's nkey; pair this machine again, or correct bus.seed, which begins with SU")
	}
	return public, key.Sign, nil
}

// pinned returns how the server's certificate is checked if it must be one of Certificates.
func (c *Config) pinned(problem func(error)) *tls.Config {
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
	}
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
		return fmt.Errorf("the server at %s is not the one that is expected: %w; if it was set up anew, %s", where, errCertificate, cmp.Or(c.Renew, "pair this machine again: earshot pair"))
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of the server at %s is not trusted: %w; renew it, or have this machine trust who has issued it", where, unknown.Err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthRevoked):
		cure := cmp.Or(c.Renew, "pair it again: earshot pair")
		if public, _, err := c.key(); len(c.Certificates) == 0 && err == nil { // it is not a server of earshot
			cure = "give it a user with the nkey " + public
		}
		return fmt.Errorf("the server at %s does not know the key of this machine, or no longer: %w; %s", where, ErrKey, cure)
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
