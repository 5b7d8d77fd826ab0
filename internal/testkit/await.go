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

const (
	soon   = time.Millisecond      // most processes and devices are ready within a few milliseconds
	seldom = 50 * time.Millisecond // often enough that nobody notices, too seldom to load the machine
)

// Await waits until ok reports true. If that takes longer than deadline, it fails the test, saying
// what was waited for. It is for real processes, sockets and devices, which can only be polled;
// code within the program is tested in a testing/synctest bubble. Await calls ok at least once,
// from the calling goroutine, and must be called from the goroutine of the test.
func Await(t testing.TB, deadline time.Duration, what string, ok func() bool) {
	t.Helper()
	if !Poll(deadline, ok) {
		t.Fatalf("waited %v in vain: %s", deadline, what)
	}
}

// Poll calls ok, at least once, until it reports true or the deadline has passed, and returns its
// last result.
func Poll(deadline time.Duration, ok func() bool) bool {
	end := time.Now().Add(deadline)
	for wait := soon; !ok(); wait = min(2*wait, seldom) {
		left := time.Until(end)
		if left <= 0 {
			return false
		}
		time.Sleep(min(wait, left)) // no other test code sleeps
	}
	return true
}

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
