package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"earshot/api"
	"earshot/config"
	"earshot/internal/probe"
	"earshot/server"
)

// began is when this program did.
var began = time.Now()

// newDiagnosis returns what is known of any earshot of this configuration.
func newDiagnosis(cfg *config.Config, s scrub) api.Diagnosis {
	d := api.Diagnosis{
		Made: time.Now().UTC(), Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Machine: machineOf(), Configuration: cfg.Disclosed(), Sizes: map[string]int64{"journal": int64(sizeOf(cfg.Store.Directory))},
	}
	var err error
	if d.Log, err = tailOf(cfg.Log, s); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Missing = append(d.Missing, "the log: "+s.file(err.Error()))
	}
	return d
}

// machineOf says what kind of machine this is.
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

// Diagnose implements [server.Admin].
func (h backend) Diagnose(ctx context.Context, e api.DiagnosisRequest) (api.Diagnosis, error) {
	s := h.daemon.scrub()
	d := newDiagnosis(h.daemon.config(), s)
	d.Runs, d.For = true, time.Since(began).Round(time.Second)
	is := h.Ready(ctx)
	d.Ready = &is
	d.Parts = h.daemon.health.List()
	for _, r := range h.daemon.rooms.now() {
		is := r.State(h.daemon.audience())
		d.Rooms = append(d.Rooms, api.RoomCounts{
			Mode: string(is.Mode), People: len(is.Here), Agents: len(is.Agents), Outlets: len(is.Outlets), Waiting: is.Waiting, Dropped: is.Dropped, Faults: faultKeys(is),
		})
		for _, l := range r.Latencies() {
			l.Turn, l.Agent, l.About = "", "", ""
			d.Turns = append(d.Turns, l)
		}
	}
	slices.SortFunc(d.Turns, func(a, b api.Latency) int { return a.At.Compare(b.At) })
	d.Turns = d.Turns[max(0, len(d.Turns)-keepLatencies):]
	var err error
	if d.Counts, err = h.daemon.counts.Values(); err != nil {
		d.Missing = append(d.Missing, "the counters: "+s.file(err.Error()))
	}
	maps.Copy(d.Sizes, inMemory())
	if e.Goroutines {
		d.Goroutines = goroutines()
	}
	return scrubbed(d, s)
}

// keepLatencies is of how many turns a diagnosis tells.
const keepLatencies = 50

// faultKeys returns what is at fault in a room: the words may be a server's, who may repeat
// what it was asked.
func faultKeys(s api.RoomState) (keys []string) {
	for _, n := range s.Faults {
		keys = append(keys, n.Key)
	}
	return keys
}

// inMemory returns what the program holds, in bytes or in numbers.
func inMemory() map[string]int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	is := map[string]int64{"heap": int64(m.HeapAlloc), "memory": int64(m.Sys), "goroutines": int64(runtime.NumGoroutine())}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		is["open files"] = int64(len(open))
	}
	return is
}

// goroutines returns what each goroutine is at: the names of functions and where they
// stand, without arguments.
func goroutines() string {
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

// scrubbed returns d with nobody's name in any of its texts.
func scrubbed(d api.Diagnosis, s scrub) (clean api.Diagnosis, err error) {
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

type diagnosticsCommand struct {
	identityFlags
	Output     string `help:"Write it to this new file instead of printing it." placeholder:"FILE" type:"path"`
	Goroutines bool   `help:"Include the stack of every goroutine."`
}

// Run collects what a report of a fault needs: from the daemon if it runs, and otherwise
// from what it left.
func (c diagnosticsCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	all, err := a.diagnose(cfg, c)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetIndent("", "  ")
	if err := to.Encode(all); err != nil {
		return err
	}
	if c.Output == "" {
		_, err := a.out.Write(b.Bytes())
		return err
	}
	f, err := os.OpenFile(c.Output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the diagnostics: %w", err)
	}
	_, err = f.Write(b.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing the diagnostics: %w", err), os.Remove(c.Output))
	}
	_, err = fmt.Fprintf(a.err, "Written to %s. It contains nobody's words and no names that earshot knows; check it before you send it.\n", config.ShortPath(c.Output))
	return err
}

// diagnose asks the daemon, or looks at what is there.
func (a *app) diagnose(cfg *config.Config, c diagnosticsCommand) (all api.Diagnosis, err error) {
	client, _, err := a.visit(cfg, c.identityFlags, "", a.enterAs(""))
	if err == nil {
		return client.Diagnostics(a.ctx, api.DiagnosisRequest{Goroutines: c.Goroutines})
	}
	if !errors.Is(err, server.ErrNotRunning) {
		return all, err
	}
	s := scrubOf(ofMachine()...)
	d := newDiagnosis(cfg, scrub{}) // nobody says here who is known
	findings := []probe.Finding{probe.Journal(a.ctx, cfg), probe.Disk(cfg), probe.Log(cfg), probe.Daemon(a.ctx, cfg)}
	if a.warned { // in words that may be anybody's
		findings = append(findings, probe.Finding{Thing: "configuration", Text: "is wrong", Cure: "earshot check"})
	}
	findings = append(findings, probe.Senses(a.ctx, cfg)...)
	for _, l := range probe.Engines(a.ctx, cfg.Executive.LLM) {
		findings = append(findings, l.Finding)
	}
	for _, f := range findings {
		f.Text, f.Cure = s.file(f.Text), s.file(f.Cure)
		d.Findings = append(d.Findings, api.Finding(f))
	}
	return scrubbed(d, s)
}
