package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"earshot/bus"
	"earshot/bus/natsserver"
)

const (
	// handshake is how long somebody may take to prove who they are, and a route to be made.
	handshake = 5 * time.Second

	// mostConnections is how many connections there may be: two for each user, and as many for those
	// who have not yet proved who they are.
	mostConnections = 4 * natsserver.MaxUsers

	// mostPending is how many bytes may wait for a client before it is disconnected. From three quarters of it, NATS
	// slows whoever sends to it; the rest must hold what comes all the same until [server.guard] looks.
	mostPending = 64 << 20

	// starting is how long the server may take to listen.
	starting = 10 * time.Second
)

// A server is a NATS server.
type server struct {
	*nats.Server
	start              natsserver.Start
	clients, neighbour *tls.Config
	log                *logger
	end                context.CancelFunc
	guarding           sync.WaitGroup

	mu     sync.Mutex
	users  []natsserver.User
	barred map[string]time.Time // the keys of those that are kept out, and until when
}

// startServer starts a server. Its log goes to log.
func startServer(start natsserver.Start, log io.Writer) (*server, error) {
	pair, err := tls.X509KeyPair([]byte(start.PEM), []byte(start.Key))
	if err != nil {
		return nil, errors.New("the certificate of the bus and its key do not fit")
	}
	s := &server{
		start: start, clients: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}},
		log: &logger{w: log, failed: make(chan string, 1)}, users: start.Users, barred: make(map[string]time.Time),
	}
	if start.Cluster != nil {
		s.neighbour = mutual(pair, start.Cluster.Certificates)
	}
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	if s.Server, err = nats.NewServer(o); err != nil {
		return nil, err
	}
	s.SetLogger(s.log, false, false)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.Start()
	ready := make(chan bool, 1)
	go func() { ready <- s.ReadyForConnections(starting) }() // ends after that at the latest
	select {
	case problem := <-s.log.failed:
		err = &listenError{problem}
	case ok := <-ready:
		if ok {
			s.guarding.Go(func() { s.guard(ctx) })
			return s, nil
		}
		err = fmt.Errorf("the bus does not listen at %s after %v", start.Listen, starting)
	}
	s.stop()
	return nil, err
}

// A listenError says why the server cannot listen.
type listenError struct{ problem string }

func (e *listenError) Error() string { return "the bus cannot listen: " + e.problem }

// Cure says what to do.
func (e *listenError) Cure() string {
	key := "bus.listen"
	if strings.Contains(e.problem, "router port") { // as NATS calls that of a cluster
		key = "bus.cluster.listen"
	}
	if strings.Contains(e.problem, syscall.EADDRINUSE.Error()) {
		return "end the other program, or set " + key + " to another port"
	}
	return "set " + key + " to an address of this machine and a port from 1024 on, or to such a port alone, such as :4223"
}

// mutual returns how the servers of a cluster know each other, whichever of them connects.
func mutual(pair tls.Certificate, known []string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{pair},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // by names and issuers; instead:
		VerifyConnection: func(c tls.ConnectionState) error {
			sum := sha256.Sum256(c.PeerCertificates[0].Raw)
			if !slices.ContainsFunc(known, func(pin string) bool { return strings.EqualFold(pin, hex.EncodeToString(sum[:])) }) {
				return errors.New("it does not belong to the cluster")
			}
			return nil
		},
	}
}

// options returns what the server is like with its users.
func (s *server) options() (*nats.Options, error) {
	o := &nats.Options{
		NoSigs: true, NoSystemAccount: true, DisableShortFirstPing: true,
		MaxPayload: bus.MaxData, MaxPending: mostPending, MaxSubs: natsserver.MaxSubscriptions, MaxConn: mostConnections,
		PingInterval: 2 * time.Second, MaxPingsOut: 2, WriteDeadline: handshake,
		AuthTimeout: handshake.Seconds(), TLSTimeout: handshake.Seconds(),
		TLSConfig: s.clients, TLSHandshakeFirst: true,
	}
	var err error
	if o.Host, o.Port, err = split(s.start.Listen); err != nil {
		return nil, err
	}
	if !nkeys.IsValidPublicUserKey(s.start.Hub) {
		return nil, errors.New("the key of the hub is not the public nkey of a user")
	}
	o.Nkeys = []*nats.NkeyUser{{Nkey: s.start.Hub}}
	for _, u := range s.users {
		if _, out := s.barred[u.Key]; out {
			continue
		}
		o.Nkeys = append(o.Nkeys, &nats.NkeyUser{Nkey: u.Key, Permissions: &nats.Permissions{
			Publish:   &nats.SubjectPermission{Allow: u.Rights.Publish},
			Subscribe: &nats.SubjectPermission{Allow: u.Rights.Subscribe},
		}})
	}
	if c := s.start.Cluster; c != nil {
		o.ReconnectErrorReports = nats.DEFAULT_CONNECT_ERROR_REPORTS // not at every attempt that another is away
		o.Cluster = nats.ClusterOpts{Name: c.Name, TLSConfig: s.neighbour, TLSTimeout: handshake.Seconds(), NoAdvertise: true}
		if o.Cluster.Host, o.Cluster.Port, err = split(c.Listen); err != nil {
			return nil, err
		}
		for _, address := range c.Servers {
			o.Routes = append(o.Routes, &url.URL{Scheme: "tls", Host: address})
		}
	}
	return o, nil
}

// split takes an address to listen at apart. Port -1 is a free one.
func split(address string) (host string, port int, err error) {
	host, number, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(number)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("the bus listens at HOST:PORT, such as :4223, and not at %q", address)
	}
	if port == 0 {
		port = nats.RANDOM_PORT
	}
	return host, port, nil
}

// started says where the server listens.
func (s *server) started() natsserver.Started {
	started := natsserver.Started{Address: s.Addr().String()}
	if a := s.ClusterAddr(); a != nil {
		started.Cluster = a.String()
	}
	return started
}

// setUsers changes the users, and disconnects those who are gone.
func (s *server) setUsers(users []natsserver.User) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = users
	return s.reload()
}

// reload applies a change of the users. The caller holds the lock.
func (s *server) reload() error {
	o, err := s.options()
	if err != nil {
		return err
	}
	return s.ReloadOptions(o)
}

// stop ends the server, if there is one.
func (s *server) stop() {
	if s != nil && s.Server != nil {
		s.end()
		s.guarding.Wait()
		s.Shutdown()
		s.WaitForShutdown()
	}
}

// A logger writes down what is wrong. It implements [nats.Logger].
type logger struct {
	mu     sync.Mutex
	w      io.Writer
	failed chan string // why the server does not start
}

// Errorf implements [nats.Logger].
func (l *logger) Errorf(format string, v ...any) {
	text, _, _ := strings.Cut(fmt.Sprintf(format, v...), "proto=") // what follows may be what somebody said
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.w, text)
}

// Fatalf implements [nats.Logger].
func (l *logger) Fatalf(format string, v ...any) {
	select {
	case l.failed <- fmt.Sprintf(format, v...):
	default:
	}
}

// Noticef implements [nats.Logger]: a client that is too slow is not an error there.
func (l *logger) Noticef(format string, v ...any) {
	if strings.Contains(format, "Slow Consumer") {
		l.Errorf(format, v...)
	}
}

// Warnf implements [nats.Logger]. The warnings are about what is meant to be so.
func (l *logger) Warnf(string, ...any) {}

// Debugf implements [nats.Logger].
func (l *logger) Debugf(string, ...any) {}

// Tracef implements [nats.Logger].
func (l *logger) Tracef(string, ...any) {}
