package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/redact"
	"earshot/internal/supervise"
	"earshot/llm"
	"earshot/participants"
	"earshot/providers"
	"earshot/server"
	"earshot/store"
)

// recall is how many events the room goes on from: the dialogue of a seat is
// fifty messages, each with a decision and a reply beside it.
const recall = 256

// A daemon is the house with all its rooms, built and not yet running.
type daemon struct {
	cfg   *config.Config
	log   *slog.Logger
	store *store.Store
	llm   *llm.Ladder
	room  *room.Room
	id    func() earshot.EventID
	owner participants.Participant

	*participants.Registry

	parts []part // that run beside the room; not changed while it serves

	mu    sync.Mutex
	works []string
	early []earshot.Notice // reported before there was a room
}

// newDaemon opens what a daemon needs, for the person known by handle, who is
// called name. Its caller closes it.
func newDaemon(ctx context.Context, cfg *config.Config, log *slog.Logger, handle earshot.Handle, name string) (*daemon, error) {
	d := &daemon{cfg: cfg, log: log, id: identifiers(), Registry: participants.New(handle, name, cfg.Executive.Name)}
	d.owner = d.Resolve(handle)
	var err error
	if d.llm, err = ladder(cfg.Executive.LLM, log); err != nil {
		return nil, err
	}
	c := cfg.Store
	c.NewID, c.Log, c.Report = d.id, log, d.report
	if d.store, err = store.Open(ctx, c); err != nil {
		return nil, err
	}
	past, err := d.store.For(d.audience()).Last(ctx, nil, recall)
	if err != nil {
		return nil, errors.Join(err, d.store.Close())
	}
	r := room.New(room.Config{
		ID: earshot.Desk, Settings: func() executive.Config { return cfg.Executive },
		People: d.Registry, Journal: d.store, Model: d.llm, Past: past, Works: d.working,
		Reader: reader, Now: time.Now, NewID: d.id, Log: log.With("room", earshot.Desk),
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = r
	return d, nil
}

// audience is the person who operates earshot, in the room of this machine.
func (d *daemon) audience() earshot.Audience {
	return earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{d.owner.ID}}
}

// serve runs the house until ctx ends or a sense that is the reason to run
// comes to its end. When it returns, nothing is left running. Without a
// listener nobody else is let in.
func (d *daemon) serve(ctx context.Context, l net.Listener, senses ...providers.Provider) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	for _, n := range d.late() {
		d.room.Report(n)
	}
	var g errgroup.Group
	// The room ends last: whoever leaves still says so.
	within, closeRoom := context.WithCancel(context.WithoutCancel(ctx))
	defer closeRoom()
	var rest sync.WaitGroup
	if l != nil {
		rest.Go(func() { d.answer(ctx, l) })
	}
	beside, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	defer stopParts()
	d.background(beside, &rest)
	for _, p := range senses {
		rest.Go(func() {
			defer leave() // somebody who ran earshot in a terminal has left
			err := supervise.Run(ctx, p.Name(), func(ctx context.Context) error { return p.Run(ctx, d.room.Admit) }, supervise.Config{Report: d.report})
			if err != nil {
				d.log.Error("a sense cannot run", "provider", p.Name(), "err", err)
			}
		})
	}
	g.Go(func() error { return d.room.Run(within) })
	g.Go(func() error {
		<-ctx.Done()
		d.room.Leave() // before the outlets go, which would seem to be lost
		stopParts()
		rest.Wait()
		closeRoom()
		return nil
	})
	return g.Wait()
}

// answer lets other processes in until ctx ends.
func (d *daemon) answer(ctx context.Context, l net.Listener) {
	s := &server.Server{House: house{d}, Log: d.log, NewID: d.id}
	if err := s.Serve(ctx, l); err != nil {
		d.report(earshot.Notice{Key: "server", Text: "other commands cannot reach this earshot: " + err.Error(), Cure: "earshot doctor"})
	}
}

// close lets go of everything. The daemon must not be running.
func (d *daemon) close() error { return d.store.Close() }

// report tells the people of a fault, or keeps it until there is a room.
func (d *daemon) report(n earshot.Notice) {
	d.mu.Lock()
	r := d.room
	if r == nil {
		d.early = append(d.early, n)
	}
	d.mu.Unlock()
	if r != nil {
		r.Report(n)
	}
}

// late returns what was reported before there was a room.
func (d *daemon) late() []earshot.Notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	early := d.early
	d.early = nil
	return early
}

// working returns what works, for people.
func (d *daemon) working() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.works)
}

// work notes that something works.
func (d *daemon) work(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.works = append(d.works, what)
}

// A house is the daemon as its server knows it.
type house struct{ *daemon }

// Audience implements [server.House].
func (h house) Audience(who earshot.Handle) (earshot.Audience, error) {
	p := h.Resolve(who)
	if !p.Can(participants.Operate) {
		return earshot.Audience{}, fmt.Errorf("%s is not known here; only the person who started earshot is", who)
	}
	return earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{p.ID}}, nil
}

// Admit implements [server.House].
func (h house) Admit(ctx context.Context, e earshot.Event) error { return h.room.Admit(ctx, e) }

// Enter implements [server.House].
func (h house) Enter(o earshot.Outlet, a earshot.Audience) func() { return h.room.Enter(o, a) }

// Events implements [server.House].
func (h house) Events(ctx context.Context, a earshot.Audience, after int64, limit int) ([]earshot.Event, error) {
	return h.store.For(a).Events(ctx, after, limit)
}

// Grown implements [server.House].
func (h house) Grown() <-chan struct{} { return h.store.Grown() }

// State implements [server.House].
func (h house) State(context.Context) (any, error) { return h.room.State(), nil }

// openLog opens the log that cfg names. What people say cannot get into it.
func openLog(cfg config.Log, standard *os.File) (*slog.Logger, func() error, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, nil, fmt.Errorf("log.level: %w", err)
	}
	file, done := standard, func() error { return nil }
	if cfg.File != "-" {
		if err := os.MkdirAll(filepath.Dir(cfg.File), 0o700); err != nil {
			return nil, nil, fmt.Errorf("making the place of the log: %w", err)
		}
		f, err := os.OpenFile(cfg.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("opening the log: %w", err)
		}
		file, done = f, f.Close
	}
	h := redact.Handler{Next: slog.NewTextHandler(file, &slog.HandlerOptions{Level: level})}
	return slog.New(h), done, nil
}
