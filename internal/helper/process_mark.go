package helper

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A processMark is a variable in the environment of a helper, different for each. Everything that
// the helper starts inherits it, and can be found by it even if nothing else leads to it any more:
// it may have a group and a session of its own, and a parent that is gone.
type processMark string

// branding begins every mark.
const branding = "EARSHOT_HELPER="

var brands atomic.Int64

// newBrand returns a new mark.
func newBrand() processMark {
	return processMark(fmt.Sprintf("%s%d-%d-%d", branding, os.Getpid(), time.Now().UnixNano(), brands.Add(1)))
}

// How often processes with a mark are searched for at most, and the time in between: until a
// search finds none that has it or may have it. A process that ends may just have started another,
// whose environment cannot be seen before it runs.
const (
	looks = 60
	apart = 5 * time.Millisecond
)

// kill kills all processes with the mark. It finds them in /proc.
func (b processMark) kill() {
	for range looks {
		if !b.killSome() {
			return
		}
		time.Sleep(apart)
	}
}

// killSome kills those that exist now, and reports whether there may be more.
func (b processMark) killSome() (more bool) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && pid != os.Getpid() {
			more = b.killOne(pid) || more
		}
	}
	return more
}

// killOne kills a process if it has the mark, and reports whether it has or may have it. It holds
// the process by a descriptor meanwhile, since its ID may be reused.
func (b processMark) killOne(pid int) bool {
	if is, may := b.on(pid); !is {
		return may
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	is, _ := b.on(pid)
	return is && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// on reports whether a process has the mark, and whether it may have it, or may have had it until
// just now and left another process. Processes of other users are not ours.
func (b processMark) on(pid int) (is, may bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	environ, err := os.ReadFile(filepath.Join(dir, "environ"))
	if errors.Is(err, fs.ErrPermission) {
		return false, false
	}
	if err != nil || len(environ) == 0 { // it is starting, or has ended, or is a kernel thread
		return false, fresh(dir)
	}
	return bytes.Contains(append(append([]byte{0}, environ...), 0), []byte("\x00"+string(b)+"\x00")), false
}

// beginning is how long a process may take until its program runs, on a busy machine. An older one
// without an environment has none.
const beginning = 2 * time.Second

// fresh reports whether the process in a directory of /proc is that young, or is gone.
func fresh(dir string) bool {
	const ticks = time.Second / 100 // the kernel's unit, on every machine
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return true
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name may hold anything
	var now unix.Timespec
	if len(fields) < 20 || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return false
	}
	began, err := strconv.ParseInt(string(fields[19]), 10, 64)
	return err == nil && time.Duration(now.Nano())-time.Duration(began)*ticks < beginning
}
