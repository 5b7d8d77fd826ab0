package sdnotify

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the time by which a manager tells the signal that it sent from the
// answer: that of CLOCK_MONOTONIC, which Go has and does not show.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
