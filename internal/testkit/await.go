package testkit

import (
	"testing"
	"time"
)

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
