package terminal

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// WatchReader calls gone when nobody reads a pipe any more, which a write would only find out
// when there is something to write. It looks once a second.
func WatchReader(ctx context.Context, f *os.File, gone func()) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		over := false
		err := conn.Control(func(fd uintptr) {
			at := []unix.PollFd{{Fd: int32(fd)}}
			n, err := unix.Poll(at, 0)
			over = err == nil && n > 0 && at[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		})
		if err != nil || over {
			gone()
			return
		}
	}
}

// ASCII reports whether a terminal shows ASCII alone, by the environment.
func ASCII(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}
