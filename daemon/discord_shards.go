package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/cluster"
	"earshot/daemon/roomset"
	"earshot/executive"
	"earshot/internal/discord/bot"
	"earshot/internal/discord/gateway"
	"earshot/internal/supervise"
	"earshot/internal/wait"
)

// identifyEvery is how far apart sessions identify that may not do so at the same time.
const identifyEvery = 5 * time.Second

// A discordShards is the bot of several daemons, whose shards are where their leases are. A session begins
// anew when its shard changes hands, and not with what the last owner had: what a session was told of guilds
// and calls is in the memory of that owner, and Discord does not repeat it to who resumes. What was written
// meanwhile is read from the channels, as after a start.
type discordShards struct {
	*clusterMember
	bot    *bot.Bot
	hears  bool
	atOnce int // how many may identify at the same time
	ended  <-chan struct{}
}

// run has this daemon take part in the bot until ctx ends.
func (s *discordShards) run(ctx context.Context) error {
	wanted, atOnce, err := s.bot.Shards(ctx)
	if err != nil {
		return err
	}
	s.atOnce, s.ended = atOnce, ctx.Done()
	defer func() {
		if s.discord.CompareAndSwap(s, nil) {
			s.SetShards(0)
		}
	}()
	for ; ctx.Err() == nil; wait.For(ctx, identifyEvery) {
		of, err := s.Leases.Highest(ctx, "discord shards", wanted)
		if err != nil {
			continue // how the database is says the cluster
		}
		if err := s.bot.ReadRefusals(); err != nil {
			return err // nobody may be heard then
		}
		s.discord.Store(s)
		s.SetShards(int64(of))
	}
	return nil
}

// serveShard runs a shard of the bot for as long as its lease holds, and then ends the rooms that were
// opened for it, which are for its next owner.
func (c *clusterMember) serveShard(ctx context.Context, lease *cluster.Lease, n, of int) {
	s, d := c.discord.Load(), c.daemon
	if s == nil {
		wait.For(ctx, retryCluster)
		return
	}
	ended := s.ended
	rooms := &shardRooms{discordRooms: discordRooms{d}}
	b, err := s.bot.NewShard(ctx, gateway.Shard{Number: n, Of: of, Turn: func(ctx context.Context) (time.Time, error) {
		return c.Leases.AwaitTurn(ctx, fmt.Sprintf("identify/%d", n%s.atOnce), identifyEvery)
	}}, rooms)
	if c.Began(lease.Room, err, ctx.Err() == nil); err != nil {
		wait.For(ctx, retryCluster)
		return
	}
	d.log.Info("a shard of Discord is here now", "shard", lease.Room, "fence", lease.Fence)
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running sync.WaitGroup
	for part, run := range map[string]func(context.Context) error{"discord": b.Run, "recognition of calls": b.Recognise} {
		if part == "discord" || s.hears {
			restarts := d.options.Restarts
			restarts.Report = d.report
			running.Go(func() {
				if err := supervise.Run(inner, part, run, restarts); err != nil {
					d.log.Error("a part cannot run", "part", part, "err", err)
				}
			})
		}
	}
	select {
	case <-ctx.Done():
	case <-ended: // it was configured anew
	}
	if !errors.Is(context.Cause(ctx), cluster.ErrLost) {
		wait.Until(inner, longestHandover, func() bool { return rooms.still() || !lease.Valid() || c.ending() })
	}
	if c.ending() && lease.Valid() {
		d.rooms.AwaitSilence(inner)
	}
	stop()
	running.Wait()
	if !c.ending() { // or all rooms end together
		for _, r := range rooms.opened() {
			r.Room.Leave()
			wait.Until(context.WithoutCancel(ctx), roomset.LastWords, func() bool { return !r.Room.Speaking() || !lease.Valid() })
			d.rooms.Remove(r)
		}
	}
	d.log.Info("a shard of Discord is here no more", "shard", lease.Room, "why", context.Cause(ctx))
}

// A shardRooms is the rooms of the daemon, and knows which of them were opened for a shard.
type shardRooms struct {
	discordRooms
	mu  sync.Mutex
	ids []earshot.RoomID
}

// Open implements [bot.Rooms].
func (s *shardRooms) Open(ctx context.Context, is executive.Room) (bot.Room, error) {
	s.mu.Lock()
	if !slices.Contains(s.ids, is.ID) {
		s.ids = append(s.ids, is.ID)
	}
	s.mu.Unlock()
	return s.discordRooms.Open(ctx, is)
}

// opened returns the rooms that are open.
func (s *shardRooms) opened() (all []roomEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.ids {
		if r, ok := s.daemon.rooms.Find(id); ok && r.Shut() != nil {
			all = append(all, r)
		}
	}
	return all
}

// still reports whether nothing is said or thought in them.
func (s *shardRooms) still() bool {
	return !slices.ContainsFunc(s.opened(), func(r roomEntry) bool { return !r.Room.Still() })
}
