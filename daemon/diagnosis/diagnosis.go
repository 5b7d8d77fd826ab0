// Package diagnosis makes a bug report that people may send to others: what runs, what is wrong,
// and the end of the log, without anybody's name or words.
package diagnosis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"earshot/api"
	"earshot/config"
)

// Started is when this program started.
var Started = time.Now()

// New returns what is known without a running daemon, from the configuration.
func New(cfg *config.Config, version string, s Redactor) api.Diagnosis {
	d := api.Diagnosis{
		Made: time.Now().UTC(), Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Machine: machineOf(), Configuration: cfg.Disclosed(), Sizes: map[string]int64{"journal": int64(SizeOf(cfg.Store.Directory))},
	}
	var err error
	if d.Log, err = tailOf(cfg.Log, s); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Missing = append(d.Missing, "the log: "+s.File(err.Error()))
	}
	return d
}

// machineOf describes the machine.
func machineOf() map[string]string {
	is := map[string]string{"processors": fmt.Sprint(runtime.NumCPU())}
	for name, file := range map[string]string{"kernel": "/proc/sys/kernel/osrelease", "memory": "/proc/meminfo", "system": "/etc/os-release"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch {
			case name == "kernel", name == "memory" && strings.HasPrefix(line, "MemTotal:"):
				is[name] = line
			case strings.HasPrefix(line, "PRETTY_NAME="):
				is[name] = strings.Trim(strings.TrimPrefix(line, "PRETTY_NAME="), `"`)
			}
		}
	}
	return is
}

// KeepTurns is how many turns a diagnosis lists.
const KeepTurns = 50

// FaultKeys returns the keys of the faults in a room, without their texts: those may come from a
// server, which may quote a request.
func FaultKeys(s api.RoomState) (keys []string) {
	for _, n := range s.Faults {
		keys = append(keys, n.Key)
	}
	return keys
}

// Memory returns the memory statistics of the program, in bytes or in numbers.
func Memory() map[string]int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	is := map[string]int64{"heap": int64(m.HeapAlloc), "memory": int64(m.Sys), "goroutines": int64(runtime.NumGoroutine())}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		is["open files"] = int64(len(open))
	}
	return is
}

// Goroutines returns the stack of each goroutine: function names and positions, without arguments.
func Goroutines() string {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return err.Error()
	}
	root := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		root = info.Main.Path
	}
	var short strings.Builder
	for line := range strings.Lines(b.String()) {
		fields := strings.Split(line, "\t") // of a frame: #, its address, its function, its file
		if at := strings.LastIndexByte(line, '/'); len(fields) > 2 && fields[0] == "#" && at >= 0 {
			line = strings.Join(fields[:len(fields)-1], "\t") + "\t" + line[at+1:]
		}
		short.WriteString(line)
	}
	return root + " " + short.String()
}

// Scrub returns d with all names removed from its texts.
func Scrub(d api.Diagnosis, s Redactor) (clean api.Diagnosis, err error) {
	text, err := json.Marshal(d)
	if err != nil {
		return clean, err
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return clean, err
	}
	if text, err = json.Marshal(s.value(v)); err != nil {
		return clean, err
	}
	return clean, json.Unmarshal(text, &clean)
}

// SizeOf returns how large the files in a directory are, in bytes.
func SizeOf(dir string) (all float64) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, f := range list {
		if about, err := os.Stat(filepath.Join(dir, f.Name())); err == nil && about.Mode().IsRegular() {
			all += float64(about.Size())
		}
	}
	return all
}
