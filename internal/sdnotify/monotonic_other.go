//go:build !linux

package sdnotify

import "time"

// monotonic is not asked for where there is no systemd.
func monotonic() time.Duration { return 0 }
