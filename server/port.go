package server

import (
	"context"
	"errors"
	"net"
	"reflect"
	"sync"
)

// A Port serves the API at a port beside the socket, if the configuration says so. It runs as long
// as the daemon, and waits while it is not to listen.
type Port struct {
	front *Server

	mu      sync.Mutex
	cfg     Config
	changed chan struct{} // closed when cfg changes
	ready   net.Listener  // opened before it runs
	at      net.Addr      // its address; nil if it does not listen
}

// NewPort returns the port of front, which listens as cfg says once Run is called. Its methods may
// be called from many goroutines.
func NewPort(front *Server, cfg Config) *Port {
	return &Port{front: front, cfg: cfg, changed: make(chan struct{})}
}

// Set changes the settings. If they differ from the last ones, all clients have to connect again.
func (p *Port) Set(cfg Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cfg.Socket = p.cfg.Socket; reflect.DeepEqual(cfg, p.cfg) {
		return
	}
	p.cfg = cfg
	if p.ready != nil { // it may have another address
		p.ready.Close()
		p.ready, p.at = nil, nil
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Open opens the port before Run, so that a failure is known early.
func (p *Port) Open(ctx context.Context) error {
	cfg, _ := p.settings()
	l, err := p.listener(ctx, cfg)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = l
	return err
}

// settings returns the settings, and a channel that is closed when they change.
func (p *Port) settings() (Config, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cfg, p.changed
}

// URL returns the address at which it listens, such as http://127.0.0.1:8765, or "" if it does
// not.
func (p *Port) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		return ""
	}
	return "http://" + p.at.String()
}

// Run listens until ctx ends or listening fails.
func (p *Port) Run(ctx context.Context) error {
	defer p.close()
	for ctx.Err() == nil {
		cfg, changed := p.settings()
		if err := p.listen(ctx, cfg, changed); err != nil {
			return err
		}
	}
	return nil
}

// listen listens until the settings change.
func (p *Port) listen(ctx context.Context, cfg Config, changed <-chan struct{}) error {
	l, err := p.listener(ctx, cfg)
	if err != nil {
		return err
	}
	if l == nil {
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return nil
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	defer p.setAddress(nil)
	done := make(chan error, 1)
	go func() { done <- p.front.ServeLoopback(within, l, cfg) }()
	select {
	case <-changed:
	case <-ctx.Done():
	case err := <-done:
		return errors.Join(errors.New("the port was closed"), err)
	}
	stop()
	return <-done
}

// listener returns the listener that Open opened, or a new one; nil if none is wanted.
func (p *Port) listener(ctx context.Context, cfg Config) (net.Listener, error) {
	p.mu.Lock()
	l := p.ready
	p.ready = nil
	p.mu.Unlock()
	if l != nil || cfg.Listen == "" {
		return l, nil
	}
	l, err := ListenLoopback(ctx, cfg.Listen)
	if err != nil {
		return nil, err
	}
	p.setAddress(l.Addr())
	return l, nil
}

// setAddress records the address at which it listens.
func (p *Port) setAddress(at net.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
}

// close closes a listener that was opened and not used.
func (p *Port) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready != nil {
		p.ready.Close()
		p.ready = nil
	}
	p.at = nil
}
