//go:build cgo

package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// The patience with a source; variables, so that tests can shorten it.
var (
	// opening is how long opening a source and getting its first picture may take.
	opening = 15 * time.Second

	// silence is how long no picture may come.
	silence = 5 * time.Second

	// stuck is by how much a library may overrun that before it counts as hung, which only killing
	// the process cures.
	stuck = 5 * time.Second
)

// memory is how much memory of its own the process may have, in bytes: an address that leads to a
// picture of a billion pixels must not exhaust the machine. The largest accepted picture needs a
// quarter of it, in all its copies.
const memory = 1 << 30

// bound sets limits on what the libraries may take.
func bound() error {
	limit := unix.Rlimit{Cur: memory, Max: memory}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("limiting the memory: %w", err)
	}
	return nil
}

// configure makes OpenCV, which reads this from the environment first, work in one thread, without
// a GPU.
func configure() {
	for name, value := range map[string]string{
		"OPENCV_FOR_THREADS_NUM":            "1",
		"OPENCV_OPENCL_RUNTIME":             "disabled",
		"OPENCV_LOG_LEVEL":                  "SILENT",
		"OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT": fmt.Sprint(int(silence.Seconds())),
	} {
		os.Setenv(name, value)
	}
}

// silenced discards what libraries print: it repeats addresses, which contain passwords. It
// returns the original standard error; a crash of Go is still reported there.
func silenced() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(unix.Stderr), unix.F_DUPFD_CLOEXEC, 5) // 3 and 4 are the protocol's
	if err != nil {
		return nil, err
	}
	said := os.NewFile(uintptr(fd), "stderr")
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer nothing.Close()
	if err := debug.SetCrashOutput(said, debug.CrashOptions{}); err != nil {
		return nil, err
	}
	return said, unix.Dup2(int(nothing.Fd()), unix.Stderr)
}
