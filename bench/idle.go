package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"earshot/server/client"
)

// idleRounds is how many rounds make the ten seconds for which the daemon is
// watched, so that a test with one round does not take so long.
const idleRounds = 60

// idle measures what the daemon needs while nothing happens: the real binary,
// running as a service with a past, beside an empty program in the same
// seconds.
func idle(ctx context.Context, b bench) (rows []Row, err error) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return []Row{{Name: "idle", Note: "not measured: this system has no /proc/self/schedstat"}}, nil
	}
	daemon, err := b.startDaemon(ctx, "idle", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()
	empty, err := b.startEmpty(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, empty.stop()) }()

	watch := time.Duration(min(b.rounds, idleRounds)) * 10 * time.Second / idleRounds
	ours, err := daemon.watch(watch, empty)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("after %v; of it RssAnon %s MB, bare %s MB; the rest is the program's own file, which it shares with the page cache", watch, number(ours[0].anon), number(ours[1].anon))
	same := func(v float64) Spread { return Spread{v, v, v} }
	return []Row{
		row("idle memory of the daemon (VmRSS)", "MB", same(ours[0].rss), same(ours[1].rss), note).goal("", ours[0].rss, 40),
		row("idle CPU of the daemon", "% of a core", same(ours[0].cpu), same(ours[1].cpu), "").goal("", ours[0].cpu, 1),
	}, nil
}

// A process is one that we started.
type process struct{ *exec.Cmd }

// A use is what a process needs.
type use struct {
	rss, anon float64 // MB
	cpu       float64 // % of a core, of late
}

// watch returns what p and another need, over the same time.
func (p process) watch(long time.Duration, other process) (uses [2]use, err error) {
	both := [2]process{p, other}
	var before [2]time.Duration
	for i, p := range both {
		if before[i], err = p.busy(); err != nil {
			return uses, err
		}
	}
	began := time.Now()
	time.Sleep(long)
	for i, p := range both {
		after, err := p.busy()
		if err != nil {
			return uses, err
		}
		uses[i].cpu = 100 * float64(after-before[i]) / float64(time.Since(began))
		if uses[i].rss, uses[i].anon, err = p.memory(); err != nil {
			return uses, err
		}
	}
	return uses, nil
}

// busy returns how long the threads of p have run.
func (p process) busy() (total time.Duration, err error) {
	if total, err = busyOf(p.Process.Pid); err != nil {
		return 0, fmt.Errorf("%s: %w", p.Path, err)
	}
	return total, nil
}

// memory returns what p has in memory, and how much of that is not in a file
// anyway, in MB.
func (p process) memory() (rss, anon float64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kb, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "VmRSS:":
			rss = kb * 1024 / 1e6
		case "RssAnon:":
			anon = kb * 1024 / 1e6
		}
	}
	return rss, anon, lines.Err()
}

// stop ends p as a service is ended.
func (p process) stop() error {
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(patience, func() { p.Process.Kill() })
	defer late.Stop()
	err := p.Wait()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.Sys().(syscall.WaitStatus).Signaled() {
		return nil // an empty program has no other way
	}
	return err
}

// allowed is the environment of somebody who has allowed earshot to listen and to think
// unasked, unless the rest says otherwise.
func allowed() []string {
	return []string{"EARSHOT_PROVIDERS_MICROPHONE_ENABLED=true", "EARSHOT_EXECUTIVE_PARALLEL_REASONING_CONTINUOUS=true"}
}

// startDaemon runs earshot with a past and a configuration, in a
// directory of its own, and returns when it answers.
func (b bench) startDaemon(ctx context.Context, name, config string) (process, error) {
	home := filepath.Join(b.dir, name)
	s, err := b.openStore(ctx, filepath.Join(name, "earshot", "journal"))
	if err != nil {
		return process{}, err
	}
	if err := errors.Join(live(ctx, s, turns), s.Close()); err != nil {
		return process{}, err
	}
	file := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return process{}, err
	}
	env := []string{"EARSHOT_EXECUTIVE_LLM_HOST=http://127.0.0.1:1"} // nobody answers there
	return b.runDaemon(ctx, home, env, "--config", file, "run", "--no-voice")
}

// runDaemon runs earshot in a home of its own, which also has its socket, and returns when it answers.
func (b bench) runDaemon(ctx context.Context, home string, env []string, args ...string) (process, error) {
	binary, err := b.daemon(ctx) // beside which it looks for helpers
	if err == nil {
		err = os.MkdirAll(home, 0o700)
	}
	if err != nil {
		return process{}, err
	}
	p := process{exec.Command(binary, args...)}
	p.Env = slices.Concat(allowed(), env, []string{
		"PATH=" + b.bin() + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_RUNTIME_DIR=" + home,
	})
	if err := p.Start(); err != nil {
		return process{}, err
	}
	again := time.NewTicker(10 * time.Millisecond) // nothing tells when a socket is there
	defer again.Stop()
	late, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for at := (&client.Client{Socket: socketIn(home)}); ; {
		if _, err = at.State(late); err == nil {
			return p, nil
		}
		select {
		case <-again.C:
		case <-late.Done():
			return process{}, errors.Join(err, p.stop())
		}
	}
}

// socketIn returns where a daemon answers that has a home.
func socketIn(home string) string { return filepath.Join(home, "earshot", "earshot.sock") }

// emptyProgram is a program that does nothing for an hour.
const emptyProgram = "package main\n\nimport \"time\"\n\nfunc main() { time.Sleep(time.Hour) }\n"

// startEmpty builds the empty program and runs it.
func (b bench) startEmpty(ctx context.Context) (process, error) {
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte(emptyProgram), 0o600); err != nil {
		return process{}, err
	}
	binary, err := b.build(ctx, "empty", source, "CGO_ENABLED=0")
	if err != nil {
		return process{}, err
	}
	p := process{exec.Command(binary)}
	return p, p.Start()
}
