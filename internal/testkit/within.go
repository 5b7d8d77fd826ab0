package testkit

import (
	"context"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Patience is how long a test waits for something that should happen at once. No process, device or
// connection of a test takes that long, however busy the machine is, and it is the longest that
// anybody has to wait to learn that something hangs.
const Patience = time.Minute

// Receive returns a value from ch, or the zero value if ch is closed. If that takes longer than
// deadline, it fails the test with what was waited for, and the stacks of all goroutines. Without
// it, the test would hang until somebody ends it, without saying why.
func Receive[T any](t testing.TB, deadline time.Duration, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(deadline):
		t.Fatalf("waited %v in vain: %s\n%s", deadline, what, everybody())
		panic("unreachable")
	}
}

// Finish returns when wait does, such as the Wait of a [sync.WaitGroup] or of a process. It fails
// the test as [Receive] does.
func Finish(t testing.TB, deadline time.Duration, what string, wait func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { // only a failed test leaves this goroutine behind
		defer close(done)
		wait()
	}()
	Receive(t, deadline, what, done)
}

// everybody returns the stacks of all goroutines, shortened to a readable length.
func everybody() []byte {
	stacks := make([]byte, 64<<10)
	return stacks[:runtime.Stack(stacks, true)]
}

// Command returns a program that is killed, and fails the test, if it takes longer than any should.
// It is for programs that are run to their end, as by [exec.Cmd.Run].
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	ctx, stop := context.WithTimeout(context.Background(), 5*Patience) // also during cleanup
	t.Cleanup(stop)
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error {
		t.Errorf("waited %v in vain: the end of %s", 5*Patience, name)
		return c.Process.Kill()
	}
	c.WaitDelay = time.Second // for children that hold its output open
	return c
}
