package daemon

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/cluster"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/metrics"
	"earshot/satellite/pairing"
	"earshot/store"
	"earshot/store/postgres"
)

const (
	// leaseConnections is how many connections to the database are for leases, and for what daemons decide
	// together: what is appended must not keep them waiting.
	leaseConnections = 6

	// longestHandover is how long a room stays for what is being said there: longer than most replies.
	longestHandover = 30 * time.Second

	// retryCluster is how long to wait when something that a cluster needs is not there.
	retryCluster = time.Second
)

// A clusterMember is this daemon as one of several, each of which runs the rooms that it has a lease of.
type clusterMember struct {
	daemon *Daemon
	member cluster.Member
	db     *sql.DB // of the leases and the files
	files  cluster.Files
	counts *metrics.Cluster
	ends   <-chan struct{} // closed when the program ends

	discord   atomic.Pointer[discordShards] // nil while this daemon has no part in the bot
	present   atomic.Int64                  // how many members there are, this one among them; 0 before that is known
	costs     []byte                        // as they were written last
	elsewhere map[string]api.UsageDay       // what others have spent today, by member

	mu       sync.Mutex
	desk     chan struct{}             // closed when the desk comes or goes
	problems map[string]earshot.Notice // by their keys
}

// openCluster makes this daemon one of several, if it is to be, once the journal is open.
func (d *Daemon) openCluster(ctx context.Context) error {
	cfg := d.Config()
	if cfg.Cluster.Name == "" {
		return nil
	}
	server, err := postgres.NewConnector(cfg.Store.URL.Reveal())
	if err != nil {
		return err
	}
	c := &clusterMember{daemon: d, db: server.OpenReaders(leaseConnections), desk: make(chan struct{})}
	leases, err := cluster.OpenLeases(ctx, c.db, cluster.NewID(cfg.Cluster.Name))
	if err != nil {
		return errors.Join(err, c.db.Close())
	}
	c.files = cluster.Files{DB: c.db, Dir: cfg.Store.Directory, Names: []string{pairing.CertificateFile, pairing.File, "tokens.json"}, Log: d.log}
	if err = c.files.Sync(ctx); err == nil && cfg.Bus.Listen != "" {
		if _, err = BusCertificate(cfg); err == nil { // which the first daemon makes, and the others get
			err = c.files.Sync(ctx)
		}
	}
	if err != nil {
		return errors.Join(err, c.db.Close())
	}
	c.counts = d.counts.Cluster(func() float64 { return float64(len(leases.Held())) }, func() float64 { return float64(len(c.member.Members())) })
	c.member = cluster.Member{Leases: leases, Build: d.options.Version, Log: d.log, Status: c.status, Serve: c.serve, TakenOver: c.counts.TakenOver}
	d.cluster, d.server.Relay = c, c.relay()
	d.server.Daemons = func() int { return int(c.present.Load()) }
	return nil
}

// hasDesk reports whether this daemon does what is done once for all, as the one that has the desk does.
func (d *Daemon) hasDesk() bool {
	_, here := d.rooms.now().find(earshot.Desk)
	return here || d.cluster == nil
}

// deskRoom returns the room of this machine. While another daemon has it, that is one that does nothing:
// what is reported there goes to the log.
func (d *Daemon) deskRoom() *room.Room {
	if c, here := d.rooms.now().find(earshot.Desk); here {
		return c.Room
	}
	return d.desk
}

// listRooms returns the rooms that there are, here and at other daemons, the desk first.
func (d *Daemon) listRooms() []executive.Room {
	here := d.rooms.list()
	if d.cluster == nil {
		return here
	}
	all, have := d.Config().Rooms.All(), make(map[earshot.RoomID]bool)
	for _, is := range all {
		have[is.ID] = true
	}
	return append(all, slices.DeleteFunc(here, func(is executive.Room) bool { return have[is.ID] })...)
}

// findRoom returns one of the rooms that listRooms returns, of which there may be many.
func (d *Daemon) findRoom(id earshot.RoomID) (executive.Room, bool) {
	if d.cluster != nil {
		if is, found := d.Config().Rooms.Find(id); found {
			return is, true
		}
	}
	r, here := d.rooms.now().find(id)
	return r.is, here
}

// fence implements [store.Config.Fence].
func (d *Daemon) fence(ctx context.Context, tx *sql.Tx, room earshot.RoomID) error {
	if d.cluster == nil { // the journal is being opened
		return store.ErrFenced
	}
	lease := d.cluster.member.Lease(string(room))
	if lease == nil {
		return store.ErrFenced
	}
	err := cluster.CheckFence(ctx, tx, lease.Room, lease.Owner, lease.Fence)
	if cluster.IsFenced(err) {
		return store.ErrFenced
	}
	return err
}

// run takes part in the cluster until ctx ends and all rooms have ended.
func (c *clusterMember) run(ctx context.Context) {
	c.ends = ctx.Done()
	var sharing sync.WaitGroup
	defer sharing.Wait()
	sharing.Go(func() { c.files.Run(ctx) })
	sharing.Go(func() { c.shareCosts(ctx) })
	sharing.Go(func() { c.watch(ctx) })
	c.daemon.bus.keep(ctx, "other daemons cannot be heard of", func(ctx context.Context, b bus.Bus) error {
		c.member.Bus = b
		return c.member.Run(ctx)
	})
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// status implements [cluster.Member.Status].
func (c *clusterMember) status() cluster.Status {
	cfg := c.daemon.Config()
	s := cluster.Status{Senses: map[string]int{string(earshot.Desk): devicesOf(cfg)}, Load: machineLoad()}
	for _, is := range cfg.Rooms.All() {
		s.Rooms = append(s.Rooms, string(is.ID))
	}
	if shards := c.discord.Load(); shards != nil {
		for n := range shards.of.Load() {
			s.Rooms = append(s.Rooms, shardName(n, shards.of.Load()))
			s.Senses[shardName(n, shards.of.Load())] = 1 // where there is no bot, no shard may go
		}
	}
	return s
}

// devicesOf returns how many devices of this machine a configuration has at the desk.
func devicesOf(cfg *config.Config) (n int) {
	for _, has := range []bool{cfg.Providers.Microphone.Enabled, cfg.Outlets.Loudspeaker.Enabled} {
		if has {
			n++
		}
	}
	return n + len(cfg.Providers.Webcam.List())
}

// machineLoad returns how much of the processors has been wanted in the last minute, from 0 to 1; 0 if
// that is not known.
func machineLoad() (load float64) {
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(data), &load)
	}
	return min(load/float64(runtime.NumCPU()), 1)
}

// deskMode returns a mode that says whether the desk is here, and a channel that is closed when that
// changes.
func (c *clusterMember) deskMode() (earshot.Mode, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.daemon.hasDesk() {
		return earshot.Live, c.desk
	}
	return earshot.Paused, c.desk
}

// deskMoved has the parts that are at the desk follow it.
func (c *clusterMember) deskMoved() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.desk)
	c.desk = make(chan struct{})
}

// open returns the room of a channel, which becomes this daemon's.
func (c *clusterMember) open(ctx context.Context, is executive.Room) (r roomEntry, err error) {
	if _, err := c.member.Take(ctx, string(is.ID)); err != nil {
		return r, fmt.Errorf("opening the room of %s: %w", is.Name, err)
	}
	open := false
	await(ctx, longestRest, func() bool {
		r, open = c.daemon.rooms.find(is.ID)
		return open
	})
	if !open {
		return r, fmt.Errorf("opening the room of %s: it does not begin", is.Name)
	}
	r.is.Name = is.Name
	c.daemon.rooms.update(r.is)
	return r, nil
}

// A leasedJournal is that of a room which may be another daemon's by now.
type leasedJournal struct {
	room.Journal
	lease *cluster.Lease
	lost  func()

	fenced func() // counts appends that were refused
}

// Append implements [room.Journal].
func (j leasedJournal) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	if !j.lease.Valid() {
		j.fenced()
		return nil, store.ErrFenced
	}
	kept, err := j.Journal.Append(ctx, events...)
	if errors.Is(err, store.ErrFenced) {
		j.fenced()
		j.lost()
	}
	return kept, err
}

// serve implements [cluster.Member.Serve]: it runs a room.
func (c *clusterMember) serve(ctx context.Context, lease *cluster.Lease) {
	if strings.HasPrefix(lease.Room, shardPrefix) {
		c.serveShard(ctx, lease)
		return
	}
	d := c.daemon
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	is, configured := d.configuredRoom(earshot.RoomID(lease.Room))
	d.catchUp(ctx)
	r, err := roomEntry{}, error(nil)
	if is.ID == earshot.Desk {
		err = d.takeDesk(ctx)
	}
	if err == nil && !await(ctx, retryCluster, func() bool { return len(d.agents.In(is.ID)) > 0 }) {
		err = errors.New("whoever has the desk has not made the agents yet")
	}
	if err == nil {
		r, err = d.newRoomEntry(ctx, is, leasedJournal{d.store, lease, func() { end(cluster.ErrLost) }, c.counts.Fenced})
	}
	if err == nil {
		r.roomRun = &roomRun{opened: !configured, shut: make(chan struct{})}
		r.touch()
		err = d.rooms.add(r)
	}
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("a room cannot begin here", "room", lease.Room, "err", err)
		}
		pause(ctx, retryCluster)
		return
	}
	d.log.Info("a room is here now", "room", lease.Room, "fence", lease.Fence)
	d.tasks.Wake()
	d.schedules.Wake()
	d.rebuild(satellitesSection) // which join where their room is
	defer d.rebuild(satellitesSection)
	if is.ID == earshot.Desk {
		moveFaults(d.desk, r.Room, d.Audience())
		c.deskMoved()
		defer c.deskMoved()
	}
	select {
	case <-ctx.Done():
	case <-r.shut():
	}
	switch cause := context.Cause(ctx); {
	case cause == nil: // it was closed
	case errors.Is(cause, cluster.ErrLost):
		c.counts.LeaseLost()
		d.rooms.remove(r)
	case errors.Is(cause, cluster.ErrHandover) || !c.ending(): // another has it next, or the bus is another
		await(context.WithoutCancel(ctx), longestHandover, func() bool { return r.Still() || !lease.Valid() || c.ending() })
		r.Leave()
		await(context.WithoutCancel(ctx), lastWords, func() bool { return !r.Speaking() || !lease.Valid() })
		d.rooms.remove(r)
	default: // all rooms end together
		<-r.shut()
	}
	if is.ID == earshot.Desk {
		moveFaults(r.Room, d.desk, d.Audience())
	}
	d.memory.Load(is.ID, nil, time.Now())
	d.tasks.Wake()
	d.log.Info("a room is here no more", "room", lease.Room, "why", context.Cause(ctx))
}

// catchUp returns when it is known here what other daemons had on record, such as who the people of a
// room are. A room does not wait for that for long.
func (d *Daemon) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, retryCluster)
	defer cancel()
	if err := d.store.CatchUp(ctx); err != nil {
		d.log.Warn("a room begins before it is known what other daemons have written", "err", err)
	}
}

// ending reports whether the program ends.
func (c *clusterMember) ending() bool {
	select {
	case <-c.ends:
		return true
	default:
		return false
	}
}

// configuredRoom returns a room of the configuration, or else that of a channel.
func (d *Daemon) configuredRoom(id earshot.RoomID) (is executive.Room, configured bool) {
	if is, configured = d.Config().Rooms.Find(id); !configured {
		is, _ = d.gate.Channel(id)
	}
	return is, configured
}

// newParkedDesk returns a room that stands in for the desk while another daemon has it.
func (d *Daemon) newParkedDesk() *room.Room {
	return room.New(room.Config{
		ID: earshot.Desk, Settings: d.settings, People: d.people, Journal: d.store, Now: time.Now, NewID: d.id, Log: d.log.With("room", "desk elsewhere"),
	})
}

// takeDesk does what is done once for all daemons, when the desk comes here.
func (d *Daemon) takeDesk(ctx context.Context) error {
	if err := d.agents.Reconfigure(ctx, access.AgentSetup(d.Config(), true)); err != nil {
		return err
	}
	if err := d.reconfigurePeople(ctx, d.Config()); err != nil {
		return err
	}
	if len(d.cluster.member.Members()) == 1 { // or they may work for a room elsewhere
		if err := d.agents.Clear(ctx); err != nil {
			return fmt.Errorf("ending the agents of interrupted tasks: %w", err)
		}
	}
	return d.agents.EnsureSystem(ctx)
}

// moveFaults has another room know the faults of one that nobody looks at any more.
func moveFaults(from, to *room.Room, a earshot.Audience) {
	for _, n := range from.State(a).Faults {
		to.Know(n)
		from.Know(earshot.Notice{Key: n.Key, Over: true})
	}
}
