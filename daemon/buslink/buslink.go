// Package buslink connects a daemon with its bus, and runs the server of that if the daemon has one of its
// own.
package buslink

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/natsserver"
	"earshot/config"
	"earshot/daemon/section"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/wait"
	"earshot/satellite"
	"earshot/satellite/pairing"
)

// retry is how long to wait before what uses the bus begins again after an error.
const retry = time.Second

// A Link is the daemon's connection with the bus, and the server of its own if it has one. Its methods may
// be called from many goroutines, but for [Link.Build].
type Link struct {
	log     *slog.Logger
	dropped func(int)
	made    *bus.Config // what the parts are made of; nil without a bus
	is      section.Build

	mu      sync.Mutex
	server  *natsserver.Server // nil if there are servers already
	users   []natsserver.User
	seed    field.Secret  // of the key by which daemons use it
	conn    bus.Bus       // nil while there is none
	changed chan struct{} // closed and replaced when there is another
}

// New returns a link without a connection, or with one that is there. Dropped is told how many messages
// were dropped.
func New(log *slog.Logger, dropped func(int), conn bus.Bus) *Link {
	return &Link{log: log, dropped: dropped, conn: conn, changed: make(chan struct{})}
}

// Certificate returns the certificate of the bus of a configuration. It is made when it is needed
// first.
func Certificate(cfg *config.Config) (natsserver.Certificate, error) {
	return natsserver.LoadCertificate(filepath.Join(cfg.Store.Directory, pairing.CertificateFile))
}

// Build returns the parts of the bus. Unless its configuration has changed, they go on.
func (b *Link) Build(cfg *config.Config) section.Build {
	if b.made != nil && reflect.DeepEqual(*b.made, cfg.Bus) {
		return b.is
	}
	b.made, b.is = nil, section.Build{}
	b.mu.Lock()
	b.server = nil
	b.mu.Unlock()
	if !cfg.Bus.Enabled() {
		return b.is
	}
	if err := b.open(cfg); err != nil {
		return section.Build{Findings: []api.CheckResult{Fault("bus", err)}}
	}
	b.made = new(cfg.Bus)
	return b.is
}

// open makes the parts of the bus.
func (b *Link) open(cfg *config.Config) error {
	connection := nats.Config{
		Name: "earshot", Servers: cfg.Bus.Servers, Seed: cfg.Bus.Seed, Dropped: b.dropped,
		Problem: func(err error) { b.log.Warn("the bus has a problem", "err", err) },
	}
	var server *natsserver.Server
	if cfg.Bus.Listen != "" {
		certificate, err := Certificate(cfg)
		if err != nil {
			return err
		}
		seed, public, err := busKey(certificate)
		if err != nil {
			return err
		}
		connection.Seed, connection.Certificates = seed, []string{certificate.SHA256()}
		c := natsserver.Config{Listen: cfg.Bus.Listen, Certificate: certificate, Hub: public}
		if at := cfg.Bus.Cluster; at.Listen != "" {
			c.Cluster = &natsserver.Cluster{Name: "earshot", Listen: at.Listen, Servers: at.Servers, Certificates: connection.Certificates}
		}
		server = natsserver.New(helper.NewDialer(b.log, helper.BusProgram), c)
		b.is.Parts = append(b.is.Parts, section.Part{Name: "bus", Run: server.Run, Key: cfg.Bus})
	}
	b.is.Parts = append(b.is.Parts, section.Part{Name: "connection with the bus", Run: func(ctx context.Context) error { return b.connect(ctx, server, connection) }, Key: cfg.Bus})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seed = connection.Seed
	if b.server = server; server != nil {
		if b.users == nil { // or a satellite would be refused, and tell people to pair it again
			paired, _ := pairing.In(cfg.Store.Directory).List() // an error is reported with the satellites
			b.users = Users(paired)
		}
		return server.SetUsers(b.users)
	}
	return nil
}

// busKey returns the key by which daemons use a bus of their own. Those that share its certificate share
// the key, too.
func busKey(of natsserver.Certificate) (field.Secret, string, error) {
	raw := sha256.Sum256([]byte("earshot daemon\n" + of.Key.Reveal()))
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, raw[:])
	if err != nil {
		return "", "", err
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", "", err
	}
	public, err := pair.PublicKey()
	return field.Secret(seed), public, err
}

// Key returns a key for some use, which all daemons have that use the bus by the same key; nil without one.
func (b *Link) Key(use string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seed == "" {
		return nil
	}
	return []byte("earshot " + use + "\n" + b.seed.Reveal())
}

// connect connects with the bus until ctx ends.
func (b *Link) connect(ctx context.Context, server *natsserver.Server, c nats.Config) error {
	if server != nil {
		started, err := server.Await(ctx)
		if err != nil {
			return err
		}
		c.Servers = []string{started.Address}
	}
	conn, err := nats.Connect(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	b.Set(conn)
	defer b.Set(nil) // before it is closed, so that whoever uses it has ended
	<-ctx.Done()
	return nil
}

// Set replaces the connection; nil stands for none.
func (b *Link) Set(conn bus.Bus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn = conn
	close(b.changed)
	b.changed = make(chan struct{})
}

// Current returns the connection, or nil if there is none.
func (b *Link) Current() bus.Bus {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conn
}

// SetUsers says who besides daemons may use the server that the daemon has, if it has one.
func (b *Link) SetUsers(users []natsserver.User) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users = users
	if b.server == nil {
		return nil
	}
	return b.server.SetUsers(users)
}

// Keep does what [Link.Use] does, and after an error, which is logged with what failed, begins again.
func (b *Link) Keep(ctx context.Context, failed string, run func(context.Context, bus.Bus) error) {
	for ctx.Err() == nil {
		if err := b.Use(ctx, run); err != nil {
			b.log.Warn(failed, "err", err)
			wait.For(ctx, retry)
		}
	}
}

// Use runs something with the connection whenever there is one, until ctx ends or it returns an error.
func (b *Link) Use(ctx context.Context, run func(context.Context, bus.Bus) error) error {
	for ctx.Err() == nil {
		b.mu.Lock()
		conn, changed := b.conn, b.changed
		b.mu.Unlock()
		if conn == nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		inner, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			select {
			case <-changed:
				stop()
			case <-inner.Done():
			}
		}()
		err := run(inner, conn)
		stop()
		<-ended
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// Fault returns why a thing that concerns the bus does not work.
func Fault(thing string, err error) api.CheckResult {
	f := api.CheckResult{Thing: thing}
	f.Text, f.Cure = earshot.Explain(err)
	return f
}

// Users returns who besides daemons may use the bus.
func Users(paired []pairing.Satellite) (users []natsserver.User) {
	for _, p := range paired {
		users = append(users, natsserver.User{Key: p.Key, Rights: satellite.RightsOf(p.ID)})
	}
	return users
}
