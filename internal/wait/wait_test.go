package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/wait"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !wait.For(t.Context(), time.Second) || time.Since(began) != time.Second {
			t.Errorf("a second took %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if wait.For(ctx, time.Hour) || time.Since(began) != 2*time.Second {
			t.Errorf("a wait that was cut off after a second ended after %v", time.Since(began)-time.Second)
		}
	})
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		after := func(d time.Duration) func() bool { return func() bool { return time.Since(began) >= d } }
		if !wait.Until(t.Context(), time.Minute, after(0)) || time.Since(began) != 0 {
			t.Error("what holds already was waited for")
		}
		if !wait.Until(t.Context(), time.Minute, after(time.Second)) || time.Since(began) > time.Second+wait.Interval {
			t.Errorf("a second was noticed after %v", time.Since(began))
		}
		if wait.Until(t.Context(), time.Second, after(time.Hour)) {
			t.Error("an hour was over")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if wait.Until(ctx, time.Minute, after(time.Hour)) {
			t.Error("an hour was over")
		}
	})
}
