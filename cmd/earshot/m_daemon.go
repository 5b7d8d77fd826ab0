package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/admin"
	"earshot/daemon/cameras"
	"earshot/daemon/erase"
	"earshot/daemon/health"
	"earshot/executive/room"
	"earshot/internal/discord/bot"
	"earshot/internal/logfile"
	"earshot/internal/metrics"
	"earshot/internal/probe"
	"earshot/internal/sdnotify"
	"earshot/internal/supervise"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/providers"
	"earshot/server"
	"earshot/store"
)

// A daemon is the house with all its rooms, built and not yet running.
type daemon struct {
	force   atomic.Pointer[config.Config] // see config
	options Options
	log     *slog.Logger
	store   *store.Store
	llm     models
	desk    *room.Room // of this machine: with the microphone, the loudspeaker and the console
	rooms   roomSet    // all, the desk too
	id      func() earshot.EventID
	gate    access.Gate

	book    *agents.Directory        // of all agents
	voices  *admin.Voices            // of all voices
	account earshot.Handle           // that runs it
	name    string                   // what that is called
	owner   participants.Participant // whose account that is

	people *participants.Registry

	discordBot atomic.Pointer[bot.Bot] // on Discord; nil without one
	eyes       cameras.Set             // of this machine
	manager    sdnotify.Notifier       // the service manager, if there is one

	front *server.Server // lets other processes in
	port  *server.Port   // by which they come in, besides at the socket

	reloads reloads

	health health.Parts // of its parts
	counts *metrics.Metrics
	costs  health.Costs  // of the models
	eraser *erase.Eraser // forgets
	shown  previews      // what people were shown that would be forgotten

	mu       sync.Mutex
	works    []string
	early    []earshot.Notice // reported before there was a desk
	opening  []earshot.Notice // on the opening screen
	sections []*section       // that run beside the rooms
}

// Options are what a daemon is given besides its configuration. The zero value serves a program
// that embeds it.
type Options struct {
	Log *slog.Logger // nil: it logs nothing

	// Account is the person who operates the daemon, and Name what they are called. By default
	// that is the user whose process this is.
	Account earshot.Handle
	Name    string

	Version       string            // what it says of itself
	Notifier      sdnotify.Notifier // the service manager, if there is one
	PowerSupplies string            // such as [power.Supplies]; "" if it does not matter what the machine runs on
	Restarts      supervise.Config  // how patiently parts that fail are started again

	// Progress is told how many of all events have been read where the journal has to be made
	// ready first. It may be nil.
	Progress func(done, all int64)

	// ForgetName forgets a name where it is kept beside the journal. It may be nil.
	ForgetName func(name string) error

	// Load reads the configuration again, whenever File changes or something comes from Hangups.
	// If it is nil, the configuration stays as it is. An empty File means the usual places.
	Load    func() (*config.Config, error)
	File    string
	Hangups <-chan os.Signal

	LogFile *logfile.File // follows the configuration; nil: there is none
}

// Open opens the journal and makes the rooms of a daemon. Nothing runs before [daemon.Run]; its
// caller closes it.
func Open(ctx context.Context, cfg *config.Config, o Options) (*daemon, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Account == (earshot.Handle{}) {
		o.Account, o.Name = access.Self()
	}
	if o.ForgetName == nil {
		o.ForgetName = func(string) error { return nil }
	}
	log := o.Log
	d := &daemon{log: log, id: store.NewIDs(), account: o.Account, options: o}
	d.costs.PowerSupplies = o.PowerSupplies
	d.reloads = reloads{load: o.Load, file: o.File, hangups: o.Hangups, log: o.LogFile}
	d.force.Store(cfg)
	d.measure(cfg)
	d.costs.Open(cfg.Store.Directory, log)
	h := backend{d}
	d.front = &server.Server{Backend: h, Journal: h, Admin: h, Metrics: d.counts.Handler(), Log: log, NewID: d.id, Dropped: d.drops("terminal")}
	d.port = server.NewPort(d.front, cfg.Server)
	engines, err := ladder(cfg.Executive.LLM, log, nil, d.health.NoteStep, d.costs.CountRequest)
	if err != nil {
		return nil, err
	}
	d.llm.now.Store(engines)
	c := StoreConfig(cfg)
	c.NewID, c.Log, c.Report, c.Meter = d.id, log, d.report, d.counts
	c.Progress = o.Progress
	err = d.moveIn(ctx, c, o.Name)
	if errors.Is(err, store.ErrDamaged) { // which was mended when the journal was closed
		err = d.moveIn(ctx, c, o.Name)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// moveIn opens the journal, and makes of it who exists and the rooms.
func (d *daemon) moveIn(ctx context.Context, c store.Config, name string) (err error) {
	if d.store, err = store.Open(ctx, c); err != nil {
		return err
	}
	if err := d.loadPeople(ctx, name); err != nil {
		return errors.Join(err, d.store.Close())
	}
	if err := d.openVoices(ctx); err != nil {
		return errors.Join(err, d.store.Close())
	}
	d.forgetful()
	all, err := d.furnish(ctx)
	if err != nil {
		return errors.Join(err, d.store.Close())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rooms.set(all)
	d.desk = all[0].Room
	return nil
}

// config returns the configuration in force, which is never changed, but another: who
// keeps it for longer than a turn does not learn of that.
func (d *daemon) config() *config.Config { return d.force.Load() }

// loadPeople finds out who exists.
func (d *daemon) loadPeople(ctx context.Context, name string) error {
	var err error
	if d.book, err = access.OpenAgents(ctx, d.config(), d.store, d.id); err != nil {
		return err
	}
	d.name = name
	if d.people, err = d.registryBuilder(d.config()).Build(ctx, d.store.For); err != nil {
		return err
	}
	d.owner = d.people.Resolve(d.account)
	d.book.Join(d.people, d.owner.ID)
	if err := d.book.Clear(ctx); err != nil {
		return fmt.Errorf("ending the agents of interrupted tasks: %w", err)
	}
	d.gate = access.NewGate(d.config(), d.people)
	d.gate.Rooms = d.rooms.are
	return nil
}

// registryBuilder finds out who exists by cfg.
func (d *daemon) registryBuilder(cfg *config.Config) access.RegistryBuilder {
	return access.RegistryBuilder{Config: cfg, Account: d.account, Name: d.name, Record: d.record, NewID: d.id, Book: d.book}
}

// record keeps a change of who exists.
func (d *daemon) record(ctx context.Context, by earshot.ParticipantID, a earshot.Actor) error {
	_, err := d.store.Append(ctx, earshot.Event{
		ID: d.id(), At: time.Now(), Room: earshot.Desk, From: earshot.Handle{Provider: "earshot", ID: string(a.Kind())},
		Author: by, Visibility: earshot.Visibility{Scope: earshot.System}, Body: a,
	})
	return err
}

// audience is the person who operates earshot, in the room of this machine.
func (d *daemon) audience() earshot.Audience {
	return earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{d.owner.ID}}
}

// promptness is how long whoever asks at the socket waits for what a start finds out: a helper
// that hangs must not keep from the house who has no need of it.
const promptness = 900 * time.Millisecond

// Run runs the daemon until ctx ends or a sense that is the reason to run
// comes to its end. When it returns, nothing is left running. Without a
// listener nobody else is let in.
func (d *daemon) Run(ctx context.Context, l net.Listener, senses ...providers.Provider) error {
	return d.RunWith(ctx, l, func() []providers.Provider { return senses })
}

// RunWith is Run with senses that come when settle returns, which may take seconds and
// installs sections meanwhile. Others are let in then, or after promptness.
func (d *daemon) RunWith(ctx context.Context, l net.Listener, settle func() []providers.Provider) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	for _, n := range d.late() {
		d.desk.Report(n)
	}
	var g errgroup.Group
	// The rooms end last: whoever leaves still says so.
	within, closeRooms := context.WithCancel(context.WithoutCancel(ctx))
	defer closeRooms()
	var rest sync.WaitGroup
	beside, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	defer stopParts()
	d.rooms.start(within, &g)
	settled := make(chan struct{})
	rest.Go(func() {
		senses := settle()
		d.background(beside, &rest)
		d.rereads(ctx, &rest)
		for _, p := range senses {
			rest.Go(func() {
				defer leave() // somebody who ran earshot in a terminal has left
				err := supervise.Run(beside, p.Name(), func(ctx context.Context) error { return p.Run(ctx, d.Admit) }, supervise.Config{Report: d.report})
				if err != nil {
					d.log.Error("a sense cannot run", "provider", p.Name(), "err", err)
				}
			})
		}
		close(settled)
	})
	if l != nil {
		rest.Go(func() {
			select {
			case <-settled:
			case <-time.After(promptness):
			case <-beside.Done():
			}
			d.answer(beside, l)
		})
	}
	rest.Go(func() { d.keeping(ctx) })
	rest.Go(func() { d.counting(ctx) })
	rest.Go(func() { d.watchdog(d.options.Notifier).Run(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		d.rooms.leave() // before the outlets go, which would seem to be lost
		d.rooms.fallSilent()
		stopParts()
		rest.Wait()
		closeRooms()
		return nil
	})
	return g.Wait()
}

// answer lets other processes in until ctx ends.
func (d *daemon) answer(ctx context.Context, l net.Listener) {
	if err := d.front.Serve(ctx, l); err != nil {
		d.report(earshot.Notice{Key: "server", Text: "other commands cannot reach this earshot: " + err.Error(), Cure: "earshot doctor"})
	}
}

// Close lets go of everything. The daemon must not be running.
func (d *daemon) Close() error {
	if d.reloads.done != nil {
		defer d.reloads.done.Close()
	}
	d.costs.Write()
	d.llm.close()
	return d.store.Close()
}

// report tells the people at the desk of a fault, or keeps it until there is a
// desk.
func (d *daemon) report(n earshot.Notice) {
	d.health.NoteNotice(n)
	d.mu.Lock()
	r := d.desk
	if r == nil {
		d.early = append(d.early, n)
	}
	d.mu.Unlock()
	if r != nil {
		r.Report(n)
	}
}

// late returns what was reported before there was a desk.
func (d *daemon) late() []earshot.Notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	early := d.early
	d.early = nil
	return early
}

// shows notes a fault that is told on the opening screen.
func (d *daemon) shows(n earshot.Notice) {
	d.desk.Know(n)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opening = append(d.opening, n)
}

// show notes what of some findings does not work as told on the opening screen, and returns
// all of them.
func (d *daemon) show(findings []probe.Finding) []probe.Finding {
	for _, f := range findings {
		if !f.Works {
			d.shows(f.Notice())
		}
	}
	return findings
}

// screen returns the faults that the opening screen tells.
func (d *daemon) screen() []earshot.Notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opening
}

// working returns what works, for people, the models first.
func (d *daemon) working() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.health.Working(d.works)
}

// work notes that something works.
func (d *daemon) work(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.works = append(d.works, what)
}

// stops notes that something is no more.
func (d *daemon) stops(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.works = slices.DeleteFunc(d.works, func(w string) bool { return w == what })
}
