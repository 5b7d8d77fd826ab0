package testkit

import (
	"testing"
	"time"
)

const (
	soon   = time.Millisecond      // most processes and devices are ready within a few
	seldom = 50 * time.Millisecond // often enough that nobody notices, too seldom to load the machine
)

// Await waits until ok reports true, and fails the test with what was waited for if that takes
// longer than deadline. It is for real processes, sockets and devices, which can only be polled;
// code within the program is tested in a testing/synctest bubble. It calls ok from the calling
// goroutine, at least once, and must itself be called from the test's own.
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
		time.Sleep(min(wait, left)) // the one sleep of all tests
	}
	return true
}
