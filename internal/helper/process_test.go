package helper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// slack is how late things may be on a loaded machine.
const slack = 5 * time.Second

// family is the environment variable by which a test finds every process that its helper has
// started.
const family = "EARSHOT_TEST_FAMILY"

// start starts a helper of the given kind. log may be nil.
func start(kind string, log io.Writer) (*helper.Process, error) {
	return startOf(os.Getenv(family), kind, log)
}

// startOf is start for a helper of the named family.
func startOf(name, kind string, log io.Writer) (*helper.Process, error) {
	if log == nil {
		log = io.Discard
	}
	return helper.Start(helper.Command{
		Name: "rough",
		Path: os.Args[0],
		Env:  []string{as + "=" + kind, ready + "=" + os.Getenv(ready), family + "=" + name},
		Log:  slog.New(slog.NewTextHandler(log, nil)),
	})
}

// families counts the families so far.
var families atomic.Int64

// newFamily returns a name that no other family has, not even one of an earlier run.
func newFamily() string { return fmt.Sprintf("%d-%d", os.Getpid(), families.Add(1)) }

// members returns the running processes of a family.
func members(t *testing.T, name string) (all []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, environ := range environs {
		if b, err := os.ReadFile(environ); err == nil && bytes.Contains(b, []byte(family+"="+name+"\x00")) {
			all = append(all, filepath.Base(filepath.Dir(environ)))
		}
	}
	return all
}

// A tape records what a client heard.
type tape struct {
	mu    sync.Mutex
	heard []string
}

func (h *tape) handler() helper.Handler {
	return helper.Handler{
		Control: func(c helper.Control) error {
			h.add(c.Name)
			return nil
		},
		Sound: func(s helper.Sound) error {
			h.add(fmt.Sprintf("%d:%s", s.Stream, s.Data))
			return nil
		},
	}
}

func (h *tape) add(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.heard) < 100 {
		h.heard = append(h.heard, what)
	}
}

func (h *tape) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.heard, " ")
}

// exists reports whether the process exists, be it as a zombie that nobody has waited for yet.
func exists(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }

// TestDeaths: however a helper misbehaves, Run says in time what it did, and leaves no process and
// no open file behind.
func TestDeaths(t *testing.T) {
	if err := run(t, "dies at once", new(tape)); err == nil { // opens what the runtime keeps open
		t.Fatal("no error")
	}
	before := descriptors(t)
	t.Run("kinds", func(t *testing.T) {
		for _, tt := range []struct {
			kind   string
			within time.Duration
			want   error
			text   string
		}{
			{"never says hello", helper.HastyStartup(), helper.ErrHung, ""},
			{"beats before hello", 0, helper.ErrProtocol, "did not say hello"},
			{"is of another version", 0, helper.ErrProtocol, "has version 2"},
			{"dies at once", 0, helper.ErrDied, "exit status 3"},
			{"ends at once", 0, helper.ErrDied, "rough: it ended by itself"},
			{"is killed", 0, helper.ErrDied, "signal: killed"},
			{"dies within a message", 0, helper.ErrDied, "exit status 4"},
			{"dies within a length", 0, helper.ErrDied, "exit status 5"},
			{"falls silent", helper.HastyPatience(), helper.ErrHung, ""},
			{"is stopped", helper.HastyPatience(), helper.ErrHung, ""},
			{"stuck", 200 * time.Millisecond, helper.ErrHung, ""},
			{"sends too much control", 0, helper.ErrProtocol, "at most 262144"},
			{"sends too much sound", 0, helper.ErrProtocol, "at most 65540"},
			{"sends no JSON", 0, helper.ErrProtocol, "an invalid control message"},
			{"sends a name without end", 0, helper.ErrProtocol, "an invalid control message"},
			{"sends sound of no stream", 0, helper.ErrProtocol, "without a stream"},
			{"floods control", time.Second, helper.ErrProtocol, "control messages without end"},
			{"floods sound", time.Second, helper.ErrProtocol, "sends sound without end"},
			{"closes its sound", helper.HastyGrace(), helper.ErrProtocol, "closed a pipe"},
			{"closes its control", helper.HastyGrace(), helper.ErrProtocol, "closed a pipe"},
			{"closes within a message", helper.HastyGrace(), helper.ErrProtocol, "closed a pipe"},
			{"leaves a child behind", 0, helper.ErrDied, "exit status 6"},
			{"leaves a child that fled", helper.HastyGrace(), helper.ErrDied, "exit status 6"},
			{"leaves a grandchild", helper.HastyGrace(), helper.ErrDied, "exit status 6"},
			{"hangs beside children", helper.HastyPatience() + helper.HastyGrace(), helper.ErrHung, ""},
		} {
			t.Run(tt.kind, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				err := run(t, tt.kind, new(tape))
				death, ok := errors.AsType[*helper.DeathError](err)
				if !ok || death.Name != "rough" || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("error %v, want %v with %q", err, tt.want, tt.text)
				}
				if took := time.Since(began); took > tt.within+slack {
					t.Errorf("took %v, want %v", took, tt.within)
				}
			})
		}
	})
	testkit.Await(t, slack, "all descriptors to be closed", func() bool { return descriptors(t) <= before })
}

// run runs a helper to its end, and checks that nothing is left of it.
func run(t *testing.T, kind string, h *tape) error {
	t.Helper()
	name := newFamily()
	p, err := startOf(name, kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(t.Context(), h.handler())
	if exists(p.Pid()) {
		t.Errorf("the process is still there")
	}
	testkit.Await(t, slack, "what it has started to be gone", func() bool { return len(members(t, name)) == 0 })
	return err
}

// gone reports whether a process that is not our child has ended. It stays a zombie where no init
// process reaps orphans.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

// descriptors returns how many files are open.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// running runs a helper until the returned function is called, which returns the error of Run.
func running(t *testing.T, p *helper.Process, h helper.Handler) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx, h) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return testkit.Receive(t, testkit.Patience, "the end of the helper", done)
	})
	t.Cleanup(func() { stop() })
	return stop
}

func TestEcho(t *testing.T) {
	p, err := start("echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	if group, err := unix.Getpgid(p.Pid()); err != nil || group != p.Pid() {
		t.Errorf("it is in the group %d, %v: a ^C would end it before the daemon does", group, err)
	}
	var h tape
	stop := running(t, p, h.handler())
	if err := errors.Join(p.Send("one", nil), p.SendSound(5, []byte("two"))); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, slack, "the echo", func() bool { return len(h.String()) == len("one 5:two") })
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > slack {
		t.Errorf("took %v to stop", took)
	}
	if err := p.Send("late", nil); !errors.Is(err, helper.ErrGone) {
		t.Errorf("sending to nobody: %v", err)
	}
	if err := p.SendSound(0, nil); !errors.Is(err, helper.ErrGone) {
		t.Errorf("sending sound to nobody: %v", err)
	}
}

// TestLastWords: what a helper says just before it ends is still heard.
func TestLastWords(t *testing.T) {
	var log bytes.Buffer
	p, err := start("last words", &log)
	if err != nil {
		t.Fatal(err)
	}
	var h tape
	err = p.Run(t.Context(), h.handler())
	if !errors.Is(err, helper.ErrDied) || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("error %v", err)
	}
	if got := h.String(); got != "last 7:last" && got != "7:last last" {
		t.Errorf("heard %q", got)
	}
	if got := log.String(); !strings.Contains(got, "last line") || !strings.Contains(got, "out of order") {
		t.Errorf("log %q", got)
	}
}

func TestStandardOutputIsNoPipe(t *testing.T) {
	var log bytes.Buffer
	p, err := start("prints on standard output", &log)
	if err != nil {
		t.Fatal(err)
	}
	var h tape
	if err := p.Run(t.Context(), h.handler()); !errors.Is(err, helper.ErrDied) {
		t.Errorf("error %v", err)
	}
	if h.String() != "1:sound" || !strings.Contains(log.String(), "a library says") {
		t.Errorf("heard %q, log %q", h.String(), log.String())
	}
}

func TestLogIsBounded(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		lines int // at most
		text  string
	}{
		{"shouts", 130, "lines=9"}, // the log's minute may end during the test
		{"prints anything", 4, "half a line"},
		{"prints anything", 4, "lines=0 bytes=98976"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			var log bytes.Buffer
			p, err := start(tt.kind, &log)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context(), new(tape).handler()); !errors.Is(err, helper.ErrDied) {
				t.Errorf("error %v", err)
			}
			lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
			if len(lines) > tt.lines || !strings.Contains(log.String(), tt.text) {
				t.Errorf("%d lines, the last: %.200s", len(lines), lines[len(lines)-1])
			}
			for _, line := range lines {
				if len(line) > 2<<10 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
		})
	}
}

// TestLogIsBoundedOverRestarts: a helper that dies again and again may log no more than one that
// keeps running, and the lines that were left out are counted.
func TestLogIsBoundedOverRestarts(t *testing.T) {
	var log bytes.Buffer
	said := new(helper.LogLimit)
	const starts, printed = 5, 10_000
	for range starts {
		p, err := helper.Start(helper.Command{
			Name: "rough", Path: os.Args[0], Env: []string{as + "=shouts"}, Said: said,
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), new(tape).handler()); !errors.Is(err, helper.ErrDied) {
			t.Errorf("error %v", err)
		}
	}
	kept := strings.Count(log.String(), "again and again")
	left := 0
	for line := range strings.Lines(log.String()) {
		if _, n, ok := strings.Cut(line, "lines="); ok {
			var lines int
			fmt.Sscan(n, &lines)
			left += lines
		}
	}
	if kept > 130 || kept+left != starts*printed { // the log's minute may end during the test
		t.Errorf("%d lines are kept and %d left out; %d were printed", kept, left, starts*printed)
	}
}

// TestAsk: whatever a helper does when it is asked something, Ask returns in time, and no process
// is left behind.
func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		kind    string
		answers bool
	}{
		{"never answers", false},
		{"prints without end", false},
		{"answers, leaves a child", true},
		{"answers, and children flee", true},
		{"dies at once", false},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Setenv("LC_KIND", tt.kind) // a helper gets the variables that begin with LC_
			name := newFamily()
			t.Setenv("LC_FAMILY", name)
			script := filepath.Join(t.TempDir(), "helper")
			text := "#!/bin/sh\n" + as + `="$LC_KIND" ` + family + `="$LC_FAMILY" exec "$1"` + "\n"
			if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			long := time.Second
			if tt.answers { // which takes as long as the machine is busy
				long = testkit.Patience
			}
			ctx, stop := context.WithTimeout(t.Context(), long)
			defer stop()
			began := time.Now()
			said, err := helper.Ask(ctx, script, os.Args[0])
			took := time.Since(began)
			if tt.answers != strings.HasPrefix(string(said), "an answer") || tt.answers != (err == nil) {
				t.Errorf("it said %.20q, %v", said, err)
			}
			if took > long+slack || len(said) > 1<<20 {
				t.Errorf("it said %d bytes in %v", len(said), took)
			}
			testkit.Await(t, slack, "what it has started to be gone", func() bool { return len(members(t, name)) == 0 })
		})
	}
}

// TestLeaving: when Run is told to stop, the helper and all its processes end, whatever it does
// about that.
func TestLeaving(t *testing.T) {
	for _, kind := range []string{
		"echo", "ignores the end", "stuck", "never says hello", "is stopped", "falls silent",
		"reads sound only", "reads control only", "closes its control", "closes what it should read",
		"hangs beside children",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			name := newFamily()
			p, err := startOf(name, kind, nil)
			if err != nil {
				t.Fatal(err)
			}
			var sending sync.WaitGroup
			defer testkit.Finish(t, testkit.Patience, "who sends", sending.Wait)
			sending.Go(func() {
				for p.SendSound(0, make([]byte, 1000)) == nil {
				}
			})
			stop := running(t, p, helper.Handler{Sound: func(helper.Sound) error { return nil }})
			began := time.Now()
			if err := stop(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > helper.HastyGrace()+slack {
				t.Errorf("took %v", took)
			}
			if exists(p.Pid()) {
				t.Error("the process is still there")
			}
			testkit.Await(t, slack, "what it has started to be gone", func() bool { return len(members(t, name)) == 0 })
		})
	}
}

func TestLeavingBeforeItBegan(t *testing.T) {
	p, err := start("echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Run(ctx, new(tape).handler()); err != nil || exists(p.Pid()) {
		t.Errorf("error %v, there: %v", err, exists(p.Pid()))
	}
}

// TestDeafHelper: a helper that does not read its control messages counts as hung, even if it sends
// beats.
func TestDeafHelper(t *testing.T) {
	p, err := start("reads sound only", nil)
	if err != nil {
		t.Fatal(err)
	}
	var sending sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "who sends", sending.Wait)
	sending.Go(func() {
		var err error
		for err == nil {
			err = p.Send("listen", strings.Repeat("x", 1000))
		}
		if !errors.Is(err, helper.ErrGone) {
			t.Errorf("sending: %v", err)
		}
	})
	began := time.Now()
	err = p.Run(t.Context(), new(tape).handler())
	if took := time.Since(began); !errors.Is(err, helper.ErrHung) || took > helper.HastyPatience()+slack {
		t.Errorf("after %v: %v", took, err)
	}
}

// TestControlOvertakesSound: a cut never waits behind sound.
func TestControlOvertakesSound(t *testing.T) {
	p, err := start("reads control only", nil)
	if err != nil {
		t.Fatal(err)
	}
	var h tape
	stop := running(t, p, h.handler())
	var sending sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "who sends", sending.Wait)
	defer stop()
	sending.Go(func() {
		for p.SendSound(0, make([]byte, helper.MaxSound)) == nil {
		}
	})
	if err := p.Send("cut", nil); err != nil {
		t.Error(err)
	}
	testkit.Await(t, slack, "the cut", func() bool { return h.String() == "cut" })
}

func TestWhatClientsRefuse(t *testing.T) {
	wrong := errors.New("wrong")
	for _, tt := range []struct {
		name string
		h    helper.Handler
		want error
	}{
		{"control", helper.Handler{Control: func(helper.Control) error { return wrong }}, wrong},
		{"sound", helper.Handler{Control: func(helper.Control) error { return nil }, Sound: func(helper.Sound) error { return wrong }}, wrong},
		{"any control", helper.Handler{Sound: func(helper.Sound) error { return nil }}, helper.ErrProtocol},
		{"any sound", helper.Handler{Control: func(helper.Control) error { return nil }}, helper.ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := start("echo", nil)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.name, "control") {
				err = p.Send("listen", nil)
			} else {
				err = p.SendSound(0, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context(), tt.h); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// startDaemon starts a daemon with one helper of the named family, and returns the helper's process
// number too.
func startDaemon(t *testing.T, kind, name string) (daemon *exec.Cmd, helper int) {
	t.Helper()
	daemon = exec.Command(os.Args[0])
	daemon.Env = append(os.Environ(), as+"=is a daemon", family+"="+name)
	daemon.Stdin = strings.NewReader(kind)
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		daemon.Process.Kill()
		testkit.Finish(t, testkit.Patience, "the end of the daemon", func() { daemon.Wait() })
	})
	defer time.AfterFunc(testkit.Patience, func() { daemon.Process.Kill() }).Stop()
	if _, err := fmt.Fscan(out, &helper); err != nil {
		t.Fatalf("waited in vain: the number of the helper: %v", err)
	}
	return daemon, helper
}

// TestDaemonDies: if the daemon is killed, the helper ends, even if its work does not, and so does
// every process that it has started.
func TestDaemonDies(t *testing.T) {
	for _, kind := range []string{"echo", "ignores the end", "reads sound only", "stuck", "echo beside a child", "ignores all beside a child"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			name := newFamily()
			daemon, pid := startDaemon(t, kind, name)
			daemon.Process.Kill()
			began := time.Now()
			testkit.Await(t, time.Second+slack, "the helper to end", func() bool { return gone(pid) && len(members(t, name)) == 0 })
			t.Logf("gone after %v", time.Since(began).Round(time.Millisecond))
		})
	}
}

// TestDaemonStandsStill: a helper is not killed because the daemon itself was stopped for a while,
// as by ^Z.
func TestDaemonStandsStill(t *testing.T) {
	t.Parallel()
	daemon, pid := startDaemon(t, "echo", newFamily())
	pass := func() {
		began := time.Now()
		testkit.Await(t, time.Minute, "a helper's patience to pass", func() bool {
			return time.Since(began) > helper.HastyPatience()+helper.HastyBeat()
		})
	}
	for _, signal := range []unix.Signal{unix.SIGSTOP, unix.SIGCONT} {
		if err := daemon.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		pass()
	}
	if gone(pid) {
		t.Error("the helper was killed for it")
	}
}

func TestNotThere(t *testing.T) {
	before := descriptors(t)
	_, err := helper.Start(helper.Command{Name: "earshot-nowhere", Log: slog.New(slog.DiscardHandler)})
	missing, ok := errors.AsType[*helper.MissingError](err)
	if !ok || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(missing.Cure(), "earshot-nowhere") {
		t.Errorf("error %v", err)
	}
	_, err = helper.Start(helper.Command{Name: "x", Path: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.HasPrefix(err.Error(), "starting x: ") {
		t.Errorf("error %v", err)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func TestStartedByHand(t *testing.T) {
	cmd := testkit.Command(t, os.Args[0])
	cmd.Env = append(os.Environ(), as+"=echo")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "does not run alone") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestEnvironment: a helper gets what its libraries need, and no secrets.
func TestEnvironment(t *testing.T) {
	for _, set := range []string{"LC_TIME=C", "PULSE_SERVER=here", "EARSHOT_TOKEN=secret", "PULSE=no", "LANGUAGE=no", "https_proxy=p", "NO_PROXY=q"} {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	for _, net := range []bool{false, true} {
		p, err := helper.Start(helper.Command{
			Name: "rough", Path: os.Args[0], Net: net, Log: slog.New(slog.DiscardHandler),
			Env: []string{as + "=tells its environment", "OWN=own"},
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		p.Run(t.Context(), helper.Handler{Control: func(c helper.Control) error { return c.Decode(&got) }})
		for entry, want := range map[string]bool{
			"LC_TIME=C": true, "PULSE_SERVER=here": true, "OWN=own": true, "HOME=" + os.Getenv("HOME"): true,
			"EARSHOT_TOKEN=secret": false, "PULSE=no": false, "LANGUAGE=no": false,
			"https_proxy=p": net, "NO_PROXY=q": net,
		} {
			if slices.Contains(got, entry) != want {
				t.Errorf("it has %s: %v, want %v", entry, !want, want)
			}
		}
	}
}
