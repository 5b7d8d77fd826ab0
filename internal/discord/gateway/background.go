package gateway

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"
)

const (
	// mostAtOnce is how many requests, or commands, run at once.
	mostAtOnce = 16

	// mostGuildsAtOnce is how many guilds are queried at once, when a session begins.
	mostGuildsAtOnce = 2
)

// A Background runs requests beside the goroutine that takes the events of a session, which must
// not wait for them. Its methods may be called from many goroutines.
type Background struct {
	log   *slog.Logger
	work  errgroup.Group
	slow  errgroup.Group // of whole guilds
	turns chan struct{}  // held while a whole guild is queried
}

// NewBackground returns one in which the requests of at most waiting guilds wait for their turn.
func NewBackground(waiting int, log *slog.Logger) *Background {
	b := &Background{log: log, turns: make(chan struct{}, mostGuildsAtOnce)}
	b.work.SetLimit(mostAtOnce)
	b.slow.SetLimit(waiting)
	return b
}

// Run runs do, or calls busy at once if too much is running already.
func (b *Background) Run(do, busy func()) {
	if !b.work.TryGo(func() error { do(); return nil }) {
		busy()
	}
}

// RunGuild runs do, which queries a whole guild, when its turn has come, or calls busy at once if
// too many wait.
func (b *Background) RunGuild(ctx context.Context, do, busy func()) {
	started := b.slow.TryGo(func() error {
		select {
		case b.turns <- struct{}{}:
			defer func() { <-b.turns }()
			do()
		case <-ctx.Done():
		}
		return nil
	})
	if !started {
		busy()
	}
}

// LogFailure logs that something could not be done, unless ctx has ended.
func (b *Background) LogFailure(ctx context.Context, doing string, err error) {
	if ctx.Err() == nil {
		b.log.Info("discord: "+doing+" failed", "err", err)
	}
}

// Wait waits for everything that runs.
func (b *Background) Wait() {
	_ = b.work.Wait() // neither has an error of its own
	_ = b.slow.Wait()
}
