package monitor

import (
	"context"

	"earshot/monitor/model"
)

// A Feed is one that is asked for the past anew.
type Feed struct{ is *feed }

// NewFeed returns one from a daemon.
func NewFeed(from Daemon) Feed { return Feed{&feed{from: from, to: newInbox()}} }

// Reload brings the past anew.
func (f Feed) Reload(ctx context.Context) { f.is.reload(ctx) }

// Around brings what stands around an event, and returns that.
func (f Feed) Around(ctx context.Context, at int64) model.Surroundings {
	f.is.around(ctx, at)
	all := f.is.to.take()
	return all[len(all)-1].(model.Surroundings)
}

// Agains returns how often that was done.
func (f Feed) Agains() (n int) {
	for _, what := range f.is.to.take() {
		if _, is := what.(model.Again); is {
			n++
		}
	}
	return n
}
