// Package membership makes a daemon one of several that share rooms: it opens the leases and the files that
// they share, adds up what models cost at all of them, and says what is wrong with the cluster. The daemon
// itself runs the rooms.
package membership

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/cluster"
	"earshot/config"
	"earshot/daemon/buslink"
	"earshot/internal/metrics"
	"earshot/satellite/pairing"
	"earshot/store/postgres"
)

// connections is how many connections to the database are for leases, and for what daemons decide together:
// what is appended must not keep them waiting.
const connections = 6

// shardPrefix begins the names by which the shards of a Discord bot have leases, as rooms have.
const shardPrefix = "discord/shard/"

// ShardName returns the name of a shard. It has their number too, so that all of them change when there are
// more.
func ShardName(n, of int64) string { return fmt.Sprintf("%s%d/%d", shardPrefix, n, of) }

// ParseShard returns the number of a shard, and how many there are; ok is false if a name is not that of one.
func ParseShard(name string) (n, of int, ok bool) {
	_, err := fmt.Sscanf(name, shardPrefix+"%d/%d", &n, &of)
	return n, of, err == nil
}

// Costs are what models cost, as [earshot/daemon/health.Costs] counts it.
type Costs interface {
	Here() api.UsageDay
	SetElsewhere([]api.UsageDay)
}

// A Config is what a membership is made of.
type Config struct {
	Settings func() *config.Config // in force
	Version  string
	Log      *slog.Logger
	Metrics  *metrics.Metrics
	Costs    Costs
	Merge    map[string]func(here, there []byte) ([]byte, error) // files to share besides those that say who is let in; see [cluster.Files]
	Report   func(earshot.Notice)                                // is told what is wrong with the cluster
	Serve    func(context.Context, *cluster.Lease)               // see [cluster.Member.Serve]
}

// A Membership is a daemon as one of several. Its methods may be called from many goroutines.
type Membership struct {
	cluster.Member
	DB     *sql.DB // of the leases and the files
	Counts *metrics.Cluster

	with     Config
	files    cluster.Files
	deciding chan struct{} // has room for one who decides who there is
	present  atomic.Int64  // how many members there are, this one among them; 0 before that is known
	shards   atomic.Int64  // how many shards the bot has that this daemon has a part in

	syncing   sync.Mutex              // held while costs are exchanged
	written   []byte                  // the costs, as they were written last
	elsewhere map[string]api.UsageDay // what others have spent today, by member

	mu       sync.Mutex
	problems map[string]earshot.Notice // by their keys
	failed   map[string]failedRoom     // rooms that could not begin here lately
}

// Open makes a daemon one of those that share the database of its configuration. It waits until it has the
// files that they share.
func Open(ctx context.Context, c Config) (*Membership, error) {
	cfg := c.Settings()
	server, err := postgres.NewConnector(cfg.Store.URL.Reveal())
	if err != nil {
		return nil, err
	}
	m := &Membership{with: c, deciding: make(chan struct{}, 1), failed: make(map[string]failedRoom), DB: server.OpenReaders(connections)}
	leases, err := cluster.OpenLeases(ctx, m.DB, cluster.NewID(cfg.Cluster.Name))
	if err != nil {
		return nil, errors.Join(err, m.DB.Close())
	}
	m.files = cluster.Files{DB: m.DB, Dir: cfg.Store.Directory, Log: c.Log, Merge: c.Merge,
		Names: append([]string{pairing.CertificateFile, pairing.File, "tokens.json"}, slices.Sorted(maps.Keys(c.Merge))...)}
	if err = m.files.Sync(ctx); err == nil && cfg.Bus.Listen != "" {
		if _, err = buslink.Certificate(cfg); err == nil { // which the first daemon makes, and the others get
			err = m.files.Sync(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, m.DB.Close())
	}
	m.Counts = c.Metrics.Cluster(func() float64 { return float64(len(leases.Held())) }, func() float64 { return float64(len(m.Members())) })
	m.Member = cluster.Member{Leases: leases, Build: c.Version, Log: c.Log, Status: m.status, Serve: c.Serve, TakenOver: m.Counts.TakenOver}
	return m, nil
}

// Close closes the connections to the database.
func (m *Membership) Close() error { return m.DB.Close() }

// Run takes part in the cluster until ctx ends and all rooms have ended.
func (m *Membership) Run(ctx context.Context, link *buslink.Link) {
	var sharing sync.WaitGroup
	defer sharing.Wait()
	sharing.Go(func() { m.files.Run(ctx) })
	sharing.Go(func() { m.shareCosts(ctx) })
	sharing.Go(func() { m.watch(ctx) })
	link.Keep(ctx, "other daemons cannot be heard of", func(ctx context.Context, b bus.Bus) error {
		m.Bus = b
		return m.Member.Run(ctx)
	})
}

// Names returns the names of the daemons that are present.
func (m *Membership) Names() (names []string) {
	for _, is := range m.Members() {
		names = append(names, is.Name())
	}
	return names
}

// Present returns how many daemons there are, this one among them; 0 before that is known.
func (m *Membership) Present() int { return int(m.present.Load()) }

// SetShards says how many shards the bot has that this daemon has a part in; 0 if it has none.
func (m *Membership) SetShards(n int64) { m.shards.Store(n) }

// status implements [cluster.Member.Status].
func (m *Membership) status() cluster.Status {
	cfg := m.with.Settings()
	s := cluster.Status{Senses: map[string]int{string(earshot.Desk): devicesOf(cfg)}, Load: machineLoad()}
	for _, is := range cfg.Rooms.All() {
		s.Rooms = append(s.Rooms, string(is.ID))
	}
	shards := m.shards.Load()
	for n := range shards {
		s.Rooms = append(s.Rooms, ShardName(n, shards))
		s.Senses[ShardName(n, shards)] = 1 // where there is no bot, no shard may go
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
