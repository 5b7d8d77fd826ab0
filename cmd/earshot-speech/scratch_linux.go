//go:build cgo

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// scratch returns a file, the path by which this process opens it, and a function to call when it
// is no longer needed. The file is in memory: nothing of it is left if the library dies.
func scratch() (file *os.File, path string, done func(), err error) {
	fd, err := unix.MemfdCreate("earshot", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, "", nil, err
	}
	path = fmt.Sprintf("/proc/self/fd/%d", fd)
	file = os.NewFile(uintptr(fd), path)
	return file, path, func() { file.Close() }, nil
}
