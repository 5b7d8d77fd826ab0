// Package natsserver runs the NATS server of a daemon, which is a helper program, earshot-bus: the
// daemon does not have the server in itself, and one that needs none does not pay for it.
//
// Whoever connects has an nkey and uses TLS. The hub may publish and subscribe to everything, and each
// user only to what its rights say. Nothing is stored, and there is no monitoring, no JetStream and no
// system account.
package natsserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nkeys"

	"earshot/internal/helper"
	"earshot/internal/mailbox"
	"earshot/satellite"
)

// MaxUsers is how many users a server may have.
const MaxUsers = 256

// MaxSubscriptions is how many subscriptions a connection may have: more than a daemon needs for as many satellites as
// can be paired, with their consoles, and for what it passes on to other daemons and they to it. A user may have fewer.
const MaxSubscriptions = 4096

// A User is somebody other than the hub who may connect.
type User struct {
	Key    string           `json:"key"` // the public nkey
	Rights satellite.Rights `json:"rights"`
}

// A Config says what the server is like.
type Config struct {
	Listen      string      `json:"listen"` // HOST:PORT, such as :4223; port 0 takes a free one
	Certificate Certificate `json:"-"`      // its own, also for the other servers of a cluster
	Hub         string      `json:"hub"`    // the public nkey of those who may do everything
	Users       []User      `json:"users"`
	Cluster     *Cluster    `json:"cluster,omitempty"` // nil without one
}

// A Cluster is several servers that pass on to each other what is published. Whoever has one of the
// certificates belongs to it.
type Cluster struct {
	Name         string   `json:"name"`
	Listen       string   `json:"listen"`       // HOST:PORT
	Servers      []string `json:"servers"`      // HOST:PORT of the others, or of all
	Certificates []string `json:"certificates"` // SHA-256, in hexadecimal, of each server's
}

// The control messages of the helper.
const (
	SayStart   = "start"   // to it, once and first, with a [Start]
	SayUsers   = "users"   // to it, with all the []User there are from now on
	SayStarted = "started" // from it, with a [Started]
	SayFault   = "fault"   // from it, with a [helper.Fault]; it ends
)

// A Start says what the server is like. It must not be printed, since it has the private key.
type Start struct {
	Config
	PEM, Key string // of the certificate
}

// Started says where the server listens, as HOST:PORT.
type Started struct {
	Address string `json:"address"`
	Cluster string `json:"cluster,omitempty"` // for the others of a cluster
}

// A Server is the server as the daemon sees it. Its methods may be called from many goroutines.
type Server struct {
	dial   helper.Dialer
	cfg    Config
	change mailbox.Notifier

	sending sync.Mutex // one after the other, so that the last users are those that the server has
	users   []User
	link    helper.Link // nil while it does not run

	mu      sync.Mutex
	started Started
}

// New returns a server that a dialer of [helper.BusProgram] starts.
func New(dial helper.Dialer, cfg Config) *Server {
	return &Server{dial: dial, cfg: cfg, users: cfg.Users}
}

// Run starts the server and returns when it ends, which is an error, or ctx does. It may be called
// again then, but not twice at a time.
func (s *Server) Run(ctx context.Context) error {
	if err := checkUsers(s.cfg.Users); err != nil {
		return err
	}
	link, err := s.dial()
	if err != nil {
		return err
	}
	var starting sync.WaitGroup
	starting.Go(func() { s.start(link) })
	err = link.Run(ctx, helper.Handler{Control: s.take})
	starting.Wait()
	s.sending.Lock()
	s.link = nil
	s.sending.Unlock()
	s.set(Started{})
	return err
}

// start says what the server is to be like. If it ends meanwhile, Run says why.
func (s *Server) start(link helper.Link) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.link = link
	start := Start{s.cfg, string(s.cfg.Certificate.PEM), s.cfg.Certificate.Key.Reveal()}
	start.Users = s.users
	link.Send(SayStart, start)
}

// take takes a message of the helper.
func (s *Server) take(c helper.Control) error {
	switch c.Name {
	case SayStarted:
		var started Started
		if err := c.Decode(&started); err != nil {
			return err
		}
		s.set(started)
		return nil
	case SayFault:
		return helper.DecodeFault(c)
	}
	return fmt.Errorf("%w: %q from the bus", helper.ErrProtocol, c.Name)
}

func (s *Server) set(started Started) {
	s.mu.Lock()
	s.started = started
	s.mu.Unlock()
	s.change.Notify()
}

// Await waits until the server listens, and returns where, or why ctx ended.
func (s *Server) Await(ctx context.Context) (Started, error) {
	for {
		changed := s.change.Changed()
		s.mu.Lock()
		started := s.started
		s.mu.Unlock()
		if started != (Started{}) {
			return started, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Started{}, fmt.Errorf("waiting for the bus: %w", context.Cause(ctx))
		}
	}
}

// SetUsers says which users there are from now on. Those who are not among them any more are
// disconnected at once, and the others notice nothing.
func (s *Server) SetUsers(users []User) error {
	if err := checkUsers(users); err != nil {
		return err
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	s.users = slices.Clone(users)
	if s.link == nil {
		return nil
	}
	if err := s.link.Send(SayUsers, users); !errors.Is(err, helper.ErrGone) { // then the next one begins with them
		return err
	}
	return nil
}

func checkUsers(users []User) error {
	if len(users) > MaxUsers {
		return fmt.Errorf("there are %d users of the bus; at most %d", len(users), MaxUsers)
	}
	for _, u := range users {
		if !nkeys.IsValidPublicUserKey(u.Key) {
			return fmt.Errorf("the key of a user of the bus, %q, is not the public nkey of a user; pair that satellite again", u.Key)
		}
	}
	return nil
}
