package daemon

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/cluster"
	"earshot/daemon/access"
	"earshot/daemon/membership"
	"earshot/daemon/roomset"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/discord/bot"
	"earshot/internal/wait"
	"earshot/store"
)

const (
	// longestHandover is how long a room stays for what is being said there: longer than most replies.
	longestHandover = 30 * time.Second

	// longestOpening is how long a room may take to begin that somebody waits for.
	longestOpening = 10 * time.Second

	// retryOpening is how often it is asked meanwhile whether it can begin.
	retryOpening = 100 * time.Millisecond

	// retryCluster is how long to wait when something that a cluster needs is not there.
	retryCluster = time.Second
)

// A clusterMember is this daemon as one of several, each of which runs the rooms that it has a lease of.
type clusterMember struct {
	*membership.Membership
	daemon  *Daemon
	ends    func() error                  // an error when the program ends
	discord atomic.Pointer[discordShards] // nil while this daemon has no part in the bot

	mu   sync.Mutex
	desk chan struct{} // closed when the desk comes or goes
}

// openCluster makes this daemon one of several, if it is to be, once the journal is open.
func (d *Daemon) openCluster(ctx context.Context) error {
	cfg := d.Config()
	if cfg.Cluster.Name == "" {
		return nil
	}
	c := &clusterMember{daemon: d, desk: make(chan struct{})}
	var err error
	c.Membership, err = membership.Open(ctx, membership.Config{
		Settings: d.Config, Version: d.options.Version, Log: d.log, Metrics: d.counts, Costs: &d.costs, Report: d.report, Serve: c.serve,
		Merge: map[string]func(_, _ []byte) ([]byte, error){bot.OptOutsFile: bot.MergeOptOuts},
	})
	if err != nil {
		return err
	}
	d.cluster, d.server.Relay, d.sections.DeskHere, d.server.Daemons = c, c.relay(), c.deskMode, c.Present
	return nil
}

// hasDesk reports whether this daemon does what is done once for all, as the one that has the desk does.
func (d *Daemon) hasDesk() bool {
	_, here := d.rooms.Now().Find(earshot.Desk)
	return here || d.cluster == nil
}

// deskRoom returns the room of this machine. While another daemon has it, that is one that does nothing:
// what is reported there goes to the log.
func (d *Daemon) deskRoom() *room.Room {
	if c, here := d.rooms.Now().Find(earshot.Desk); here {
		return c.Room
	}
	return d.desk
}

// listRooms returns the rooms that there are, here and at other daemons, the desk first.
func (d *Daemon) listRooms() []executive.Room {
	here := d.rooms.List()
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
	r, here := d.rooms.Now().Find(id)
	return r.Is, here
}

// fence implements [store.Config.Fence].
func (d *Daemon) fence(ctx context.Context, tx *sql.Tx, room earshot.RoomID) error {
	if d.cluster == nil { // the journal is being opened
		return store.ErrFenced
	}
	lease := d.cluster.Lease(string(room))
	if lease == nil {
		return store.ErrFenced
	}
	return cluster.CheckFence(ctx, tx, lease.Room, lease.Owner, lease.Fence)
}

// run takes part in the cluster until ctx ends and all rooms have ended.
func (c *clusterMember) run(ctx context.Context) {
	c.ends = ctx.Err
	c.Run(ctx, c.daemon.bus)
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

// open returns the room of a channel, which becomes this daemon's. It waits while the room comes to its end, here
// or at its last owner: whoever wants it open has something that would be lost.
func (c *clusterMember) open(ctx context.Context, is executive.Room) (r roomEntry, err error) {
	open := false
	for began := time.Now(); !open; {
		_, err := c.Take(ctx, string(is.ID))
		passed := time.Since(began)
		switch _, held := errors.AsType[*cluster.HeldError](err); {
		case err == nil && (ctx.Err() != nil || passed >= longestOpening):
			err = errors.New("it does not begin")
		case held && passed < cluster.TTL:
			err = nil
		}
		if err != nil {
			return r, fmt.Errorf("opening the room of %s: %w", is.Name, err)
		}
		open = wait.Until(ctx, retryOpening, func() (found bool) { r, found = c.daemon.rooms.Find(is.ID); return found })
	}
	r.Is.Name = is.Name
	c.daemon.rooms.Update(r.Is)
	return r, nil
}

// A leasedJournal is that of a room which may be another daemon's by now. On record, times are those of the
// database's clock, or the next owner of the room could not tell how old something is.
type leasedJournal struct {
	room.Journal
	lease *cluster.Lease
	ahead func() time.Duration // of the database's clock
	lost  func()

	fenced func() // counts appends that were refused
}

// Append implements [room.Journal].
func (j leasedJournal) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	if !j.lease.Valid() {
		j.fenced()
		return nil, store.ErrFenced
	}
	ahead := j.ahead()
	kept, err := j.Journal.Append(ctx, shiftTimes(events, ahead)...)
	if errors.Is(err, store.ErrFenced) {
		j.fenced()
		j.lost()
	}
	return shiftTimes(kept, -ahead), err
}

// shiftTimes returns events that happened later by some time.
func shiftTimes(events []earshot.Event, by time.Duration) []earshot.Event {
	if by == 0 {
		return events
	}
	events = slices.Clone(events)
	for i, e := range events {
		if !e.At.IsZero() {
			events[i].At = e.At.Add(by)
		}
	}
	return events
}

// serve implements [cluster.Member.Serve]: it runs a room.
func (c *clusterMember) serve(ctx context.Context, lease *cluster.Lease) {
	if n, of, is := membership.ParseShard(lease.Room); is {
		c.serveShard(ctx, lease, n, of)
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
	if err == nil && !wait.Until(ctx, retryCluster, func() bool { return len(d.agents.In(is.ID)) > 0 }) {
		err = errors.New("whoever has the desk has not made the agents yet")
	}
	d.beginning.RLock()
	if err == nil {
		r, err = d.newRoomEntry(ctx, is, leasedJournal{d.store, lease, c.Leases.Ahead, func() { end(cluster.ErrLost) }, c.Counts.Fenced})
	}
	if err == nil {
		r.Run = roomset.NewRun(!configured)
		err = d.rooms.Add(r)
	}
	d.beginning.RUnlock()
	if c.Began(lease.Room, err, ctx.Err() == nil); err != nil {
		wait.For(ctx, retryCluster)
		return
	}
	d.log.Info("a room is here now", "room", lease.Room, "fence", lease.Fence)
	d.tasks.Wake()
	d.schedules.Wake()
	d.sections.Rebuild(satellitesSection) // which join where their room is
	defer d.sections.Rebuild(satellitesSection)
	if is.ID == earshot.Desk {
		moveFaults(d.desk, r.Room, d.Audience())
		c.deskMoved()
		defer c.deskMoved()
	}
	select {
	case <-ctx.Done():
	case <-r.Shut():
	}
	switch cause := context.Cause(ctx); {
	case cause == nil: // it was closed
	case errors.Is(cause, cluster.ErrLost):
		c.Counts.LeaseLost()
		d.rooms.Remove(r)
	case errors.Is(cause, cluster.ErrHandover) || !c.ending(): // another has it next, or the bus is another
		wait.Until(context.WithoutCancel(ctx), longestHandover, func() bool { return r.Room.Still() || !lease.Valid() || c.ending() })
		r.Room.Leave()
		wait.Until(context.WithoutCancel(ctx), roomset.LastWords, func() bool { return !r.Room.Speaking() || !lease.Valid() })
		d.rooms.Remove(r)
	default: // all rooms end together
		<-r.Shut()
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
	return c.ends() != nil
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
		Commands: d.commandsIn(executive.Room{ID: earshot.Desk}), // a shard of the bot here offers them
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
	if len(d.cluster.Members()) == 1 { // or they may work for a room elsewhere
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
