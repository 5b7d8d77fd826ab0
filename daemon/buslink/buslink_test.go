package buslink_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"earshot/bus"
	"earshot/daemon/buslink"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestKeep: what uses the bus begins again with another one, and its end with the last is no failure.
func TestKeep(t *testing.T) {
	var log strings.Builder
	link := buslink.New(slog.New(slog.NewTextHandler(&log, nil)), nil, new(bus.Local))
	ctx, stop := context.WithCancel(t.Context())
	used := make(chan bus.Bus)
	var running sync.WaitGroup
	running.Go(func() {
		link.Keep(ctx, "it does not work", func(ctx context.Context, b bus.Bus) error {
			used <- b
			<-ctx.Done()
			return context.Cause(ctx)
		})
	})
	testkit.Receive(t, testkit.Patience, "the first use", used)
	link.Set(nil)
	next := new(bus.Local)
	link.Set(next)
	if b := testkit.Receive(t, testkit.Patience, "the second use", used); b != bus.Bus(next) {
		t.Error("the second use is that of another bus")
	}
	stop()
	testkit.Finish(t, testkit.Patience, "the end", running.Wait)
	if log.Len() > 0 {
		t.Errorf("it was logged: %s", log.String())
	}
}
