package ollamatest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// children returns the processes whose parent is pid.
func children(pid int) []int {
	var found []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		child, _ := strconv.Atoi(filepath.Base(dir))
		if state, parent := stat(child); state != 'Z' && parent == pid {
			found = append(found, child)
		}
	}
	return found
}

// stat returns the state of a process and its parent; 0 if there is none.
func stat(pid int) (state byte, parent int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	_, rest, _ := bytes.Cut(data[max(0, bytes.LastIndexByte(data, ')')):], []byte(") ")) // the name may hold anything
	fmt.Sscanf(string(rest), "%c %d", &state, &parent)
	return state, parent
}
