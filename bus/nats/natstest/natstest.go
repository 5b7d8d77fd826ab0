// Package natstest runs real servers, which are processes, for tests of what is on the bus.
package natstest

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nats-io/nkeys"

	"earshot/bus/nats"
	"earshot/bus/natsserver"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/satellite"
)

// NewKey returns a user's key: its seed, and what is public of it.
func NewKey(t testing.TB) (seed field.Secret, public string) {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	s, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = key.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return field.Secret(s), public
}

// A Server is a server that runs until the test is over, and the key of its hub.
type Server struct {
	*natsserver.Server
	Seed        field.Secret // of the hub
	Certificate natsserver.Certificate
	natsserver.Started

	pid  atomic.Int64
	died chan error
}

// Kill kills the server, which cannot do anything about it, and waits for its end.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(int(s.pid.Load()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := testkit.Receive(t, testkit.Patience, "the server is gone", s.died); !errors.Is(err, helper.ErrDied) {
		t.Fatalf("the server ended with %v", err)
	}
}

// Start starts a server at a free port, which cfg may change. The caller must call
// [helpertest.Remove] when all tests are over.
func Start(t testing.TB, cfg natsserver.Config) *Server {
	t.Helper()
	return StartIn(t, func(start func()) { start() }, cfg)
}

// StartIn starts a server as [Start] does. It calls in with a function that starts its process, which
// in must call, such as from another network namespace.
func StartIn(t testing.TB, in func(start func()), cfg natsserver.Config) *Server {
	t.Helper()
	s := &Server{Certificate: cfg.Certificate, died: make(chan error, 9)}
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if cfg.Hub == "" {
		s.Seed, cfg.Hub = NewKey(t)
	}
	if cfg.Certificate.PEM == nil {
		s.Certificate = NewCertificate(t)
		cfg.Certificate = s.Certificate
	}
	path := filepath.Join(helpertest.Build(t, helper.BusProgram), helper.BusProgram)
	s.Server = natsserver.New(func() (_ helper.Link, err error) {
		var p *helper.Process
		in(func() {
			p, err = helper.Start(helper.Command{Name: helper.BusProgram, Path: path, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		})
		if err != nil {
			return nil, err
		}
		s.pid.Store(int64(p.Pid()))
		return p, nil
	}, cfg)
	s.Begin(t)
	return s
}

// Begin starts the server once more, after it has ended.
func (s *Server) Begin(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.died <- s.Run(ctx) })
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the server ends", running.Wait)
	})
	within, done := context.WithTimeout(t.Context(), testkit.Patience)
	defer done()
	var err error
	if s.Started, err = s.Await(within); err != nil {
		t.Fatal(err)
	}
}

// NewCertificate returns a certificate.
func NewCertificate(t testing.TB) natsserver.Certificate {
	t.Helper()
	c, err := natsserver.LoadCertificate(filepath.Join(t.TempDir(), "bus.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Config returns how the hub connects to the server.
func (s *Server) Config() nats.Config {
	return nats.Config{Servers: []string{s.Address}, Seed: s.Seed, Certificates: []string{s.Certificate.SHA256()}}
}

// UserConfig returns how somebody with a key and rights connects.
func (s *Server) UserConfig(seed field.Secret, rights satellite.Rights) nats.Config {
	cfg := s.Config()
	cfg.Seed, cfg.Inbox = seed, rights.Inbox
	return cfg
}

// Connect connects until the test is over.
func Connect(t testing.TB, cfg nats.Config) *nats.Conn {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), testkit.Patience)
	defer done()
	c, err := nats.Connect(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
