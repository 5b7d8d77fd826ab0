// Package daemon is a running assistant: its rooms with their agents, the journal, the known
// people, and the inputs and outlets of the configuration. [Open] makes one from a configuration,
// [Daemon.Run] runs it, and [Daemon.Reload] has it follow a changed configuration. cmd/earshot is
// its command line; examples/ has a program that embeds it.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/admin"
	"earshot/daemon/buslink"
	"earshot/daemon/cameras"
	"earshot/daemon/devices"
	"earshot/daemon/engines"
	"earshot/daemon/erase"
	"earshot/daemon/health"
	"earshot/daemon/roomset"
	"earshot/daemon/section"
	"earshot/executive/memory"
	"earshot/executive/room"
	"earshot/executive/schedule"
	"earshot/executive/task"
	"earshot/internal/discord/bot"
	"earshot/internal/logfile"
	"earshot/internal/metrics"
	"earshot/internal/sdnotify"
	"earshot/internal/supervise"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/providers"
	"earshot/providers/microphone"
	"earshot/server"
	"earshot/store"
)

// A Daemon owns all rooms and what they need. Its methods may be called from many goroutines,
// except Run and Close, which are called once.
type Daemon struct {
	current atomic.Pointer[config.Config] // see Config
	options Options
	log     *slog.Logger
	store   *store.Store
	llm     engines.Service
	desk    *room.Room              // of this machine; in a cluster one that never runs, see deskRoom
	rooms   roomset.Set[*room.Room] // all that run here, with the desk
	cluster *clusterMember          // nil if it is alone
	id      func() earshot.EventID

	people *participants.Registry
	gate   access.Gate
	agents *agents.Directory        // of all agents
	voices *admin.Voices            // of all voices
	owner  participants.Participant // the owner of the account that runs it

	server *server.Server // serves other processes
	port   *server.Port   // where they connect besides the socket

	sections section.Runner // of what runs beside the rooms
	reloads  reloads
	health   health.Parts // of its parts
	counts   *metrics.Metrics
	costs    health.Costs // of the models

	peripherals
	forgetting
	background
	openings
	notices
}

// peripherals are the senses and outlets of a daemon, and the bus that leads to some of them.
type peripherals struct {
	discordBot atomic.Pointer[bot.Bot] // on Discord; nil without one
	cameras    cameras.Set             // of this machine, and of satellites
	devices    *devices.Devices        // which hear and speak here
	satellites *devices.Satellites     // the devices of other machines
	bus        *buslink.Link           // to them, and to other daemons
}

// forgetting is what erases.
type forgetting struct {
	eraser *erase.Eraser // erases what is to be forgotten
	forget erase.Command // has it forget what people name
	peers  *erase.Peers  // which forget the same; nil if it is alone
}

// background is what goes on beside the talk.
type background struct {
	memory    *memory.Index    // what the agents remember
	tasks     *task.Runner     // what agents do
	schedules *schedule.Runner // what is done by the clock
}

// openings guard how rooms begin.
type openings struct {
	beginning sync.RWMutex // held for reading from when a room reads what is on record until it is one of rooms
	opening   sync.Mutex   // held while the room of a channel is opened or closed
	crowded   bool         // the last one could not be opened; guarded by opening
}

// notices are what people are told before there is a desk, and when it opens.
type notices struct {
	mu     sync.Mutex // also guards desk while it is opened
	works  []string
	early  []earshot.Notice // reported before the desk was opened
	screen []earshot.Notice // shown on the opening screen
}

// Options are what a daemon is given besides its configuration. The zero value suits a program
// that embeds it.
type Options struct {
	Log *slog.Logger // nil: it logs nothing

	// Account is the person who operates the daemon, and Name is their name. By default that is the
	// user of this process.
	Account earshot.Handle
	Name    string

	Version       string            // the version that it reports
	Notifier      sdnotify.Notifier // the service manager, if there is one
	PowerSupplies string            // such as [power.Supplies]; "" if the power supply does not matter
	Restarts      supervise.Config  // how patiently failed parts are restarted

	// Progress receives how many of all events have been read, if the journal has to be prepared
	// first. It may be nil.
	Progress func(done, all int64)

	// ForgetName removes a name from where it is kept beside the journal. It may be nil.
	ForgetName func(name string) error

	// Load reads the configuration again, whenever File changes or a signal comes from Hangups. If
	// it is nil, the configuration never changes. An empty File means the usual places.
	Load    func() (*config.Config, error)
	File    string
	Hangups <-chan os.Signal

	LogFile *logfile.File // follows the configuration; nil if there is none

	bus bus.Bus
}

// Open opens the journal and makes the rooms of a daemon. Nothing runs before [Daemon.Run]; the
// caller closes it.
func Open(ctx context.Context, cfg *config.Config, o Options) (*Daemon, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Account == (earshot.Handle{}) {
		account, name := access.Self()
		o.Account, o.Name = account, cmp.Or(o.Name, name)
	}
	if o.ForgetName == nil {
		o.ForgetName = func(string) error { return nil }
	}
	log := o.Log
	if cfg.Store.Directory == "" { // other unset paths have their usual places, too
		config.Place(cfg)
	}
	d := &Daemon{log: log, id: store.NewIDs(), options: o, background: background{memory: memory.NewIndex()}}
	d.costs.PowerSupplies = o.PowerSupplies
	d.current.Store(cfg)
	d.measure(cfg)
	d.openSections()
	d.openDevices()
	d.costs.Open(cfg.Store.Directory, log)
	h := backend{d}
	d.server = &server.Server{Backend: h, Journal: h, Admin: h, Metrics: d.counts.Handler(), Log: log, NewID: d.id, Dropped: d.countDrops("terminal")}
	d.port = server.NewPort(d.server, cfg.Server)
	ladder, err := engines.Build(cfg.Executive.LLM, log, nil, d.health.NoteStep, d.costs.CountRequest)
	if err != nil {
		return nil, err
	}
	d.llm.Replace(ladder)
	c := cfg.Journal()
	c.NewID, c.Log, c.Report, c.Meter = d.id, log, d.report, d.counts
	c.Progress = o.Progress
	if cfg.Cluster.Name != "" {
		c.Fence, c.Followed = d.fence, followed
	}
	err = d.openJournal(ctx, c)
	if errors.Is(err, store.ErrDamaged) { // closing the journal repaired it
		err = d.openJournal(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// openJournal opens the journal, and makes the registry and the rooms from it.
func (d *Daemon) openJournal(ctx context.Context, c store.Config) (err error) {
	if d.store, err = store.Open(ctx, c); err != nil {
		return err
	}
	if err := d.loadPeople(ctx); err != nil {
		return errors.Join(err, d.store.Close())
	}
	if err := d.openVoices(ctx); err != nil {
		return errors.Join(err, d.store.Close())
	}
	d.openEraser()
	d.openTasks()
	d.openSchedules()
	if err := d.openCluster(ctx); err != nil {
		return errors.Join(err, d.store.Close())
	}
	d.bus = buslink.New(d.log, d.countDrops("satellites"), d.options.bus)
	d.show(d.sections.Install(ctx, &section.Section{Name: busSection, Outlasts: true, Build: func(context.Context) section.Build { return d.bus.Build(d.Config()) }}))
	if d.cluster != nil {
		d.peers = erase.NewPeers(d.eraser, d.bus, d.Config().Cluster.Name, d.cluster.Names, d.store.CatchUp)
		d.eraser.Tell = d.peers.Tell
	}
	d.openSatellites()
	all, err := d.openRooms(ctx)
	if err != nil {
		return errors.Join(err, d.closeJournal())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rooms.Replace(all)
	if d.cluster != nil {
		d.desk = d.newParkedDesk()
	} else {
		d.desk = all[0].Room
	}
	return nil
}

// Config returns the configuration in force. A reload replaces it and never changes it, so a
// caller that keeps it for longer than a turn may have an old one.
func (d *Daemon) Config() *config.Config { return d.current.Load() }

// The parts of a daemon, each of which may be used from many goroutines.

// People returns the registry of participants, which also knows who is in which room.
func (d *Daemon) People() *participants.Registry { return d.people }

// Agents returns the directory of all agents.
func (d *Daemon) Agents() *agents.Directory { return d.agents }

// Voices returns the known voices and their owners.
func (d *Daemon) Voices() *admin.Voices { return d.voices }

// Store returns the journal.
func (d *Daemon) Store() *store.Store { return d.store }

// Desk returns the room of this machine.
func (d *Daemon) Desk() *room.Room { return d.deskRoom() }

// Models returns the models in force.
func (d *Daemon) Models() *llm.Ladder { return d.llm.Load().Ladder }

// Health returns the state of the parts.
func (d *Daemon) Health() *health.Parts { return &d.health }

// Gate returns the gate, which decides who may enter.
func (d *Daemon) Gate() access.Gate { return d.gate }

// Backend returns the daemon as its server knows it.
func (d *Daemon) Backend() server.Service { return backend{d} }

// Account returns the account that runs the daemon, and Owner its owner.
func (d *Daemon) Account() earshot.Handle         { return d.options.Account }
func (d *Daemon) Owner() participants.Participant { return d.owner }

// AddOutlet adds o as an outlet for replies at the desk, where the operator reads or hears them,
// until remove is called.
func (d *Daemon) AddOutlet(o earshot.Outlet) (remove func()) {
	return d.deskRoom().Enter(o, d.Audience())
}

// Reload reads the configuration again with [Options.Load]. If anything is wrong with it, nothing
// changes.
func (d *Daemon) Reload(ctx context.Context) (api.ReloadResult, error) {
	return d.reload(context.WithoutCancel(ctx), true)
}

// NewID returns a new ID, greater than all before.
func (d *Daemon) NewID() earshot.EventID { return d.id() }

func (d *Daemon) loadPeople(ctx context.Context) error {
	var err error
	if d.agents, err = access.OpenAgents(ctx, d.Config(), d.store, d.id); err != nil {
		return err
	}
	if d.people, err = d.registryBuilder(d.Config()).Build(ctx, d.store.For); err != nil {
		return err
	}
	d.owner = d.people.Resolve(d.options.Account)
	d.agents.Join(d.people, d.owner.ID)
	if d.Config().Cluster.Name == "" { // or whoever has the desk does it
		if err := d.agents.Clear(ctx); err != nil {
			return fmt.Errorf("ending the agents of interrupted tasks: %w", err)
		}
		if err := d.agents.EnsureSystem(ctx); err != nil {
			return fmt.Errorf("making the agents of the program itself: %w", err)
		}
	}
	d.gate = access.NewGate(d.Config(), d.people)
	d.gate.Rooms, d.gate.Find = d.listRooms, d.findRoom
	return nil
}

func (d *Daemon) registryBuilder(cfg *config.Config) access.RegistryBuilder {
	return access.RegistryBuilder{Config: cfg, Account: d.options.Account, Name: d.options.Name, Record: d.record, Exclude: d.exclude, NewID: d.id, Book: d.agents}
}

// record stores a change of the registry.
func (d *Daemon) record(ctx context.Context, by earshot.ParticipantID, a earshot.Actor) error {
	_, err := d.store.Append(ctx, earshot.Event{
		ID: d.id(), At: time.Now(), Room: earshot.Desk, From: earshot.Handle{Provider: "earshot", ID: string(a.Kind())},
		Author: by, Visibility: earshot.Visibility{Scope: earshot.System}, Body: a,
	})
	return err
}

// Audience returns the operator of earshot, in the room of this machine.
func (d *Daemon) Audience() earshot.Audience {
	return earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{d.owner.ID}}
}

// settleTimeout is how long clients wait for the checks of a start: a helper that hangs must not
// keep those from the daemon who do not need it.
const settleTimeout = 900 * time.Millisecond

// Run runs the daemon, with some providers besides those that were installed, until ctx ends or
// one of senses ends. When it returns, nothing is left running. Clients are answered at l; if it
// is nil, there are none.
func (d *Daemon) Run(ctx context.Context, l net.Listener, senses ...providers.Provider) error {
	return d.RunWith(ctx, l, func() []providers.Provider { return senses })
}

// calm is when starting is over, also the first questions to models and devices.
const calm = 5 * time.Second

// RunWith is Run with the providers that settle returns. Settle may take seconds, and installs
// what the configuration wants. Clients are answered when it has returned, or after settleTimeout.
func (d *Daemon) RunWith(ctx context.Context, l net.Listener, settle func() []providers.Provider) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	for _, n := range d.takeEarly() {
		d.deskRoom().Report(n)
	}
	var g errgroup.Group
	// The rooms end last: people who leave still say so.
	within, closeRooms := context.WithCancel(context.WithoutCancel(ctx))
	defer closeRooms()
	var rest sync.WaitGroup
	beside, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	defer stopParts()
	d.rooms.Start(within, &g)
	var last, rooms sync.WaitGroup // the bus, and the leases, which others hear of by it
	under, stopLast := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLast()
	d.sections.Run(under, true, &last)
	settled := make(chan struct{})
	rest.Go(func() {
		senses := settle()
		d.sections.Run(beside, false, &rest)
		d.watchConfig(ctx, &rest)
		for _, p := range senses {
			rest.Go(func() {
				defer leave() // the person who ran earshot in a terminal has left
				err := supervise.Run(beside, p.Name(), func(ctx context.Context) error { return p.Run(ctx, d.Admit) }, supervise.Config{Report: d.report})
				if err != nil {
					d.log.Error("a sense cannot run", "provider", p.Name(), "err", err)
				}
			})
		}
		close(settled)
		select {
		case <-time.After(calm):
			debug.FreeOSMemory() // what starting needed; by itself Go would keep it for minutes
		case <-beside.Done():
		}
	})
	if l != nil {
		rest.Go(func() {
			select {
			case <-settled:
			case <-time.After(settleTimeout):
			case <-beside.Done():
			}
			d.serveClients(beside, l)
		})
	}
	if d.cluster != nil {
		rooms.Go(func() { d.cluster.run(ctx) })
		rest.Go(func() { d.followOthers(beside) })
		rest.Go(func() { d.cluster.serveRelayed(beside) })
	}
	rest.Go(func() { d.expire(ctx) })
	rest.Go(func() { d.keepMemory(ctx) })
	rest.Go(func() { d.indexer().Run(ctx) })
	rest.Go(func() { d.tasks.Run(ctx) })
	rest.Go(func() { d.schedules.Run(ctx) })
	rest.Go(func() { d.writeCosts(ctx) })
	rest.Go(func() { d.watchdog(d.options.Notifier).Run(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		d.rooms.Close() // before the outlets go, or they would seem to be lost
		d.rooms.AwaitSilence(within)
		stopParts()
		rest.Wait()
		closeRooms()
		rooms.Wait()
		stopLast()
		last.Wait()
		return nil
	})
	return g.Wait()
}

func (d *Daemon) serveClients(ctx context.Context, l net.Listener) {
	if err := d.server.Serve(ctx, l); err != nil {
		d.report(earshot.Notice{Key: "server", Text: "other commands cannot reach this earshot: " + err.Error(), Cure: "earshot doctor"})
	}
}

// Close releases everything. The daemon must not be running.
func (d *Daemon) Close() error {
	if d.reloads.done != nil {
		defer d.reloads.done.Close()
	}
	d.costs.Write()
	d.llm.Close()
	return d.closeJournal()
}

func (d *Daemon) closeJournal() (err error) {
	if d.cluster != nil {
		err = d.cluster.Close()
	}
	return errors.Join(err, d.store.Close())
}

// report tells the people at the desk about a fault, or keeps it until there is a desk.
func (d *Daemon) report(n earshot.Notice) {
	d.health.NoteNotice(n)
	d.mu.Lock()
	open := d.desk != nil
	if !open {
		d.early = append(d.early, n)
	}
	d.mu.Unlock()
	if open {
		d.deskRoom().Report(n)
	}
}

// takeEarly returns the notices that were reported before there was a desk.
func (d *Daemon) takeEarly() []earshot.Notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	early := d.early
	d.early = nil
	return early
}

// ShowNotice records a fault that is shown on the opening screen.
func (d *Daemon) ShowNotice(n earshot.Notice) {
	d.deskRoom().Know(n)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.screen = append(d.screen, n)
}

// show records the faults among some findings as shown on the opening screen, and returns all
// findings.
func (d *Daemon) show(findings []api.CheckResult) []api.CheckResult {
	for _, f := range findings {
		if !f.Works {
			d.ShowNotice(f.Notice())
		}
	}
	return findings
}

// Opening returns the faults shown on the opening screen.
func (d *Daemon) Opening() []earshot.Notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.screen
}

// openSections makes what runs sections. Those that are at the desk follow it once there is a cluster.
func (d *Daemon) openSections() {
	d.sections = section.Runner{
		Log: d.log, Restarts: d.options.Restarts, Report: d.report, Starts: d.health.CountStarts,
		DeskMode: func() (earshot.Mode, <-chan struct{}) { return d.deskRoom().Mode() },
		Rebuilt:  d.sectionRebuilt,
	}
}

// openDevices makes what hears and speaks.
func (d *Daemon) openDevices() {
	d.devices = devices.New(devices.Config{
		Settings: d.Config, Log: d.log, Report: d.report, Admit: d.Admit, Dropped: d.countDrops, NoteBy: d.health.NoteBy,
		Learn: func(v *earshot.Voice) { d.voices.Registry.LearnOwn(v) }, Desk: func() devices.Room { return d.deskRoom() },
	})
}

// InstallVoice gives the daemon its microphone and loudspeaker, as far as they are wanted and possible: a
// missing device may still come.
func (d *Daemon) InstallVoice(ctx context.Context) []api.CheckResult {
	d.speechModelsChanged() // from now on
	return d.show(d.devices.Install(ctx, &d.sections, devices.Names{Card: cardSection, Microphone: microphoneSection, Loudspeaker: loudspeakerSection}))
}

// InstallMicrophone adds the recognition of speech in the sound of c, and returns the provider
// that hears it, for [Daemon.Run].
func (d *Daemon) InstallMicrophone(ctx context.Context, c microphone.Capture) *microphone.Provider {
	mic, recognition := d.devices.Microphone(d.Config(), c)
	d.sections.Install(ctx, &section.Section{Name: mic.Name(), AtDesk: true, Is: section.Build{Parts: recognition}})
	return mic
}

// sectionRebuilt implements [section.Runner.Rebuilt].
func (d *Daemon) sectionRebuilt(ended []string, was, now []api.CheckResult) {
	for _, f := range was { // a fault may have been that there was no part at all
		still := func(n api.CheckResult) bool { return n.Thing == f.Thing && !n.Works }
		if !f.Works && !slices.ContainsFunc(now, still) {
			ended = append(ended, f.Thing)
		}
	}
	for _, name := range ended {
		for _, r := range d.rooms.Now() {
			r.Room.Know(earshot.Notice{Key: name, Over: true})
		}
		d.health.Remove(name)
	}
	for _, f := range was {
		d.removeWorking(f.Thing)
		d.health.Remove(f.Thing)
	}
	for _, f := range now {
		d.AddWorking(f.Thing)
		d.health.NoteFinding(f)
		if !f.Works {
			d.report(f.Notice())
		}
	}
}

// working lists what works, for people, the models first.
func (d *Daemon) working() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.health.Working(d.works)
}

// AddWorking records that something works.
func (d *Daemon) AddWorking(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.works = append(d.works, what)
}

// removeWorking removes something from that list.
func (d *Daemon) removeWorking(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.works = slices.DeleteFunc(d.works, func(w string) bool { return w == what })
}
