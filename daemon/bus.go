package daemon

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/nats-io/nkeys"

	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/natsserver"
	"earshot/config"
	"earshot/executive/record"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/satellite/pairing"
)

// A busLink is the daemon's connection with the bus, and the server of its own if it has one. What is not
// guarded belongs to the goroutine of the section.
type busLink struct {
	daemon *Daemon
	made   *bus.Config // what the parts are made of; nil without a bus
	is     sectionBuild

	mu      sync.Mutex
	server  *natsserver.Server // nil if there are servers already
	users   []natsserver.User
	seed    field.Secret  // of the key by which daemons use it
	conn    bus.Bus       // nil while there is none
	changed chan struct{} // closed and replaced when there is another
}

// installBus gives the daemon its bus, if there is to be one.
func (d *Daemon) installBus(ctx context.Context) {
	d.bus.daemon, d.bus.conn, d.bus.changed = d, d.options.bus, make(chan struct{})
	d.show(d.install(ctx, &section{name: busSection, outlasts: true, build: d.bus.build}))
}

// BusCertificate returns the certificate of the bus of a configuration. It is made when it is needed
// first.
func BusCertificate(cfg *config.Config) (natsserver.Certificate, error) {
	return natsserver.LoadCertificate(filepath.Join(cfg.Store.Directory, pairing.CertificateFile))
}

// build returns the parts of the bus. Unless its configuration has changed, they go on.
func (b *busLink) build(context.Context) sectionBuild {
	cfg := b.daemon.Config()
	if b.made != nil && reflect.DeepEqual(*b.made, cfg.Bus) {
		return b.is
	}
	b.made, b.is = nil, sectionBuild{}
	b.mu.Lock()
	b.server = nil
	b.mu.Unlock()
	if !cfg.Bus.Enabled() {
		return b.is
	}
	if err := b.open(cfg); err != nil {
		return sectionBuild{findings: []probe.Finding{busFault("bus", err)}}
	}
	b.made = new(cfg.Bus)
	return b.is
}

// open makes the parts of the bus.
func (b *busLink) open(cfg *config.Config) error {
	d := b.daemon
	connection := nats.Config{
		Name: "earshot", Servers: cfg.Bus.Servers, Seed: cfg.Bus.Seed, Dropped: d.countDrops("satellites"),
		Problem: func(err error) { d.log.Warn("the bus has a problem", "err", err) },
	}
	var server *natsserver.Server
	if cfg.Bus.Listen != "" {
		certificate, err := BusCertificate(cfg)
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
		server = natsserver.New(helper.NewDialer(d.log, helper.BusProgram), c)
		b.is.parts = append(b.is.parts, part{name: "bus", run: server.Run, as: cfg.Bus})
	}
	b.is.parts = append(b.is.parts, part{name: "connection with the bus", run: func(ctx context.Context) error { return b.connect(ctx, server, connection) }, as: cfg.Bus})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seed = connection.Seed
	if b.server = server; server != nil {
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

// sealer returns what makes receipts by a lease with a fence, and reads those of all daemons that use the bus
// by the same key; nil without a key.
func (b *busLink) sealer(fence int64) *record.Sealer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seed == "" {
		return nil
	}
	return record.NewSealer([]byte("earshot receipts\n"+b.seed.Reveal()), fence)
}

// connect connects with the bus until ctx ends.
func (b *busLink) connect(ctx context.Context, server *natsserver.Server, c nats.Config) error {
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
	b.set(conn)
	defer b.set(nil) // before it is closed, so that whoever uses it has ended
	<-ctx.Done()
	return nil
}

func (b *busLink) set(conn bus.Bus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn = conn
	close(b.changed)
	b.changed = make(chan struct{})
}

// current returns the connection, or nil if there is none.
func (b *busLink) current() bus.Bus {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conn
}

// setUsers says who besides daemons may use the server that the daemon has, if it has one.
func (b *busLink) setUsers(users []natsserver.User) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users = users
	if b.server == nil {
		return nil
	}
	return b.server.SetUsers(users)
}

// keep does what use does, and after an error, which is logged with what failed, begins again.
func (b *busLink) keep(ctx context.Context, failed string, run func(context.Context, bus.Bus) error) {
	for ctx.Err() == nil {
		if err := b.use(ctx, run); err != nil {
			b.daemon.log.Warn(failed, "err", err)
			pause(ctx, retryCluster)
		}
	}
}

// use runs something with the connection whenever there is one, until ctx ends or it returns an error.
func (b *busLink) use(ctx context.Context, run func(context.Context, bus.Bus) error) error {
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
