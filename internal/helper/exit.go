package helper

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child process has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	const byNumber = 1 // P_PID, which not every system defines
	var about [16]uint64
	for {
		_, _, err := unix.Syscall6(unix.SYS_WAITID, byNumber, uintptr(pid), uintptr(unsafe.Pointer(&about)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		if err != unix.EINTR {
			return
		}
	}
}
