package gateway_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"earshot/internal/discord/gateway"
)

// TestBackground: at most sixteen requests run, and two guilds are queried, at once. What does not
// fit is refused, and what waits gives up with its context.
func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := gateway.NewBackground(3, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		var work, guilds, busy atomic.Int32
		wait := func(n *atomic.Int32) func() {
			return func() {
				n.Add(1)
				<-ctx.Done()
			}
		}
		refuse := func() { busy.Add(1) }
		for range 20 {
			b.Run(wait(&work), refuse)
		}
		for range 5 {
			b.RunGuild(ctx, wait(&guilds), refuse)
		}
		synctest.Wait()
		if work.Load() != 16 || guilds.Load() != 2 || busy.Load() != 4+2 {
			t.Errorf("%d requests run, %d guilds are queried, %d are too much", work.Load(), guilds.Load(), busy.Load())
		}
		stop()
		b.Wait()
	})
}
