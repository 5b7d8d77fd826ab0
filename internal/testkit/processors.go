package testkit

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	// enoughShare is the share of the processors that a test in real time needs. If another program
	// computes all the time on each processor, half is left.
	enoughShare = 0.75

	shareSample = 250 * time.Millisecond // long enough for the system's scheduler to divide fairly
)

// patience is how long [NeedProcessors] waits for other programs to finish.
var patience = 20 * time.Second

var skips atomic.Int64

// NeedProcessors skips a test of real-time behaviour, such as talk, if other programs use so much
// of the processors that the test would fail for that reason alone. It waits 20 seconds for them
// first. [Skips] counts such tests.
func NeedProcessors(t testing.TB) {
	t.Helper()
	var share float64
	if !Poll(patience, func() bool { share = processorShare(); return share >= enoughShare }) {
		skips.Add(1)
		t.Skipf("other programs leave %.0f %% of the processors to this one, and real time needs %.0f %%", 100*share, 100*enoughShare)
	}
}

// Skips returns how many tests [NeedProcessors] has skipped in this process.
func Skips() int { return int(skips.Load()) }

// processorShare computes on all processors for a moment, and returns the share of them that it
// was given: 1 if nothing else runs.
func processorShare() float64 {
	var used [2]syscall.Rusage
	began := time.Now()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used[0]) // it cannot fail for the process itself
	var spinning sync.WaitGroup
	processors := runtime.GOMAXPROCS(0)
	for range processors {
		spinning.Go(func() {
			for time.Since(began) < shareSample {
			}
		})
	}
	spinning.Wait()
	took := time.Since(began)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used[1])
	spent := time.Duration(used[1].Utime.Nano() - used[0].Utime.Nano() + used[1].Stime.Nano() - used[0].Stime.Nano())
	return spent.Seconds() / (took.Seconds() * float64(processors))
}

// Need skips the test if EARSHOT_WITHOUT names what it needs, such as voice, or if this is a short
// run. Anything that is not named there must be installed.
func Need(t testing.TB, what string) {
	t.Helper()
	without := strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' })
	if testing.Short() || slices.Contains(without, what) {
		t.Skipf("told to do without %s", what)
	}
}
