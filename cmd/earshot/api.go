package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"sync"

	"earshot"
	"earshot/config"
	"earshot/internal/probe"
	"earshot/server"
	"earshot/server/audit"
)

// A port is where programs ask besides at the socket, if the configuration says so. It
// runs as long as the daemon, and waits while it is to listen nowhere.
type port struct {
	front *server.Server

	mu      sync.Mutex
	cfg     server.Config
	changed chan struct{} // closed when cfg is another
	ready   net.Listener  // opened before it runs
	at      net.Addr      // where it listens; nil for nowhere
}

func newPort(front *server.Server, cfg server.Config) *port {
	return &port{front: front, cfg: cfg, changed: make(chan struct{})}
}

// set has it listen as cfg says from now on. Whoever is connected has to come again, if that
// is otherwise than before.
func (p *port) set(cfg server.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cfg.Socket = p.cfg.Socket; reflect.DeepEqual(cfg, p.cfg) {
		return
	}
	p.cfg = cfg
	if p.ready != nil { // which is where it was to listen before
		p.ready.Close()
		p.ready, p.at = nil, nil
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// begin opens the port before it runs, so that it is known whether that can be.
func (p *port) begin(ctx context.Context) error {
	cfg, _ := p.is()
	if cfg.Listen == "" {
		return nil
	}
	l, err := server.ListenLoopback(ctx, cfg.Listen)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready, p.at = l, l.Addr()
	return nil
}

// is returns how it is to listen, and what is closed when that changes.
func (p *port) is() (server.Config, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cfg, p.changed
}

// where returns where it listens, such as http://127.0.0.1:8765; empty is nowhere.
func (p *port) where() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		return ""
	}
	return "http://" + p.at.String()
}

// run listens until ctx ends or something is wrong.
func (p *port) run(ctx context.Context) error {
	defer p.close()
	for ctx.Err() == nil {
		cfg, changed := p.is()
		if err := p.serve(ctx, cfg, changed); err != nil {
			return err
		}
	}
	return nil
}

// serve listens until how it is to listen has changed.
func (p *port) serve(ctx context.Context, cfg server.Config, changed <-chan struct{}) error {
	l, err := p.open(ctx, cfg)
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
	defer p.note(nil)
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

// open returns the listener that was opened before, or another; nil if there is to be none.
func (p *port) open(ctx context.Context, cfg server.Config) (net.Listener, error) {
	p.mu.Lock()
	l := p.ready
	p.ready = nil
	p.mu.Unlock()
	if l != nil || cfg.Listen == "" {
		return l, nil
	}
	l, err := server.ListenLoopback(ctx, cfg.Listen)
	if err != nil {
		return nil, err
	}
	p.note(l.Addr())
	return l, nil
}

// note notes where it listens.
func (p *port) note(at net.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
}

// close lets go of what was opened and has not been used.
func (p *port) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready != nil {
		p.ready.Close()
		p.ready = nil
	}
	p.at = nil
}

// entrance opens the port of the daemon, if there is to be one, and says how it stands with
// it. Tell is told who changes something by the server, or is refused.
func (d *daemon) entrance(ctx context.Context, tell func(audit.Entry)) []probe.Finding {
	d.front.Audit = tell
	err := d.port.begin(ctx)
	d.install(ctx, &section{name: theAPI, make: func(context.Context) sectionBuild {
		d.port.set(d.config().Server) // and it goes on as that says
		return sectionBuild{parts: []part{{name: apiPart, run: d.port.run, lost: err != nil, as: apiPart}}}
	}})
	if err != nil {
		f := probe.Finding{Thing: apiPart}
		f.Text, f.Cure = probe.Explain(err)
		d.shows(f.Notice())
		return []probe.Finding{f}
	}
	if at := d.port.where(); at != "" {
		return []probe.Finding{{Thing: apiPart, Works: true, Text: "listens at " + at + "; clients need a token: earshot token create NAME"}}
	}
	return nil
}

// apiPart is what the port is called where it is told how it stands with it.
const apiPart = "API"

// auditFile is where it is written down who has changed something: beside the log, or with
// the journal where the log is no file.
func auditFile(cfg *config.Config) string {
	if cfg.Log.File == "" || cfg.Log.File == "-" {
		return filepath.Join(cfg.Store.Directory, "audit.log")
	}
	return filepath.Join(filepath.Dir(cfg.Log.File), "audit.log")
}

// auditLost tells who operates earshot that nobody writes down any more what is changed.
func (d *daemon) auditLost(err error) {
	d.report(earshot.Notice{Key: "audit", Text: "the audit log cannot be written: " + err.Error(), Cure: "make room on the disk, or fix the permissions of the file"})
}

// lookAtAPI finds something only where the daemon is to listen: whether it does, or could.
func lookAtAPI(ctx context.Context, cfg *config.Config) []probe.Finding {
	if cfg.Server.Listen == "" {
		return nil
	}
	f := probe.Finding{Thing: apiPart}
	ctx, cancel := context.WithTimeout(ctx, probe.AnswerTimeout)
	defer cancel()
	now, err := state(ctx, &server.Client{Socket: cfg.Server.Path()})
	switch {
	case err == nil && now.API != "":
		f.Works, f.Text = true, "listens at "+now.API
	case err == nil:
		f.Text, f.Cure = "the running earshot does not listen at "+cfg.Server.Listen, "see why: earshot status; after a change of the configuration: earshot reload"
	default:
		l, err := server.ListenLoopback(ctx, cfg.Server.Listen)
		if err != nil {
			f.Text, f.Cure = probe.Explain(err)
			break
		}
		l.Close()
		f.Works, f.Text = true, "will listen at "+cfg.Server.Listen+" when earshot runs"
	}
	return []probe.Finding{f}
}
