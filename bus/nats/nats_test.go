package nats_test

import (
	"os"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"earshot/bus/bustest"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/helper/helpertest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

func TestBus(t *testing.T) {
	s := natstest.Start(t, natsserver.Config{})
	bustest.Run(t, func(t *testing.T) bustest.Pair {
		var dropped atomic.Int64
		cfg := s.Config()
		cfg.Dropped = func(n int) { dropped.Add(int64(n)) }
		return bustest.Pair{A: natstest.Connect(t, cfg), B: natstest.Connect(t, cfg), Dropped: dropped.Load}
	})
}
