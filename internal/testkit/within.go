package testkit

import (
	"context"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Patience is how long a test waits for what should come at once. No process, device or
// connection of a test takes that long, however busy the machine is, and nobody waits longer
// to learn that something hangs.
const Patience = time.Minute

// Receive returns what comes out of ch, or the zero value when ch is closed. It fails the
// test with what was waited for, and where everybody stands, if that takes longer than
// deadline. A test that waits otherwise hangs until it is ended by hand, and does not say why.
func Receive[T any](t testing.TB, deadline time.Duration, what string, ch <-chan T) T {
	t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	select {
	case v := <-ch:
		return v
	case <-late.C:
		t.Fatalf("waited %v in vain: %s\n%s", deadline, what, everybody())
		panic("unreachable")
	}
}

// Finish returns when wait does, such as that of a [sync.WaitGroup] or of a process, and fails
// the test as [Receive] does.
func Finish(t testing.TB, deadline time.Duration, what string, wait func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { // which is left behind only by a test that has failed
		defer close(done)
		wait()
	}()
	Receive(t, deadline, what, done)
}

// everybody returns where every goroutine stands, as far as anybody reads.
func everybody() []byte {
	stacks := make([]byte, 64<<10)
	return stacks[:runtime.Stack(stacks, true)]
}

// Command returns a program that is ended, and fails the test, when it takes longer than any
// should. It is for what is run to its end, such as by [exec.Cmd.Run].
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	ctx, stop := context.WithTimeout(context.Background(), 5*Patience) // also in what cleans up
	t.Cleanup(stop)
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error {
		t.Errorf("waited %v in vain: the end of %s", 5*Patience, name)
		return c.Process.Kill()
	}
	c.WaitDelay = time.Second // for whoever holds its output open
	return c
}
