package helper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A brand is a variable in the environment of a helper, another for each. Whatever the helper
// starts inherits it, and is found by it where nothing else leads to it any more: it may have
// a group and a session of its own, and a parent that is gone.
type brand string

// branding begins every brand.
const branding = "EARSHOT_HELPER="

var brands atomic.Int64

// newBrand returns a brand that no other process has.
func newBrand() brand {
	return brand(fmt.Sprintf("%s%d-%d-%d", branding, os.Getpid(), time.Now().UnixNano(), brands.Add(1)))
}

// most is how often it is looked for processes with a brand: one that is killed may just have
// started another.
const most = 10

// kill kills all processes with the brand. It looks for them in /proc.
func (b brand) kill() {
	for range most {
		if b.killSome() == 0 {
			return
		}
	}
}

// killSome kills those that there are now, and returns how many.
func (b brand) killSome() (n int) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && b.killOne(pid) {
			n++
		}
	}
	return n
}

// killOne kills a process if it has the brand. It is held by a descriptor meanwhile, since
// its number may become that of another.
func (b brand) killOne(pid int) bool {
	if !b.on(pid) {
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return b.on(pid) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// on reports whether a process has the brand. One that has ended has none, and nobody sees
// those of other people.
func (b brand) on(pid int) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(append(append([]byte{0}, environ...), 0), []byte("\x00"+string(b)+"\x00"))
}
