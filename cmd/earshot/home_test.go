package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/client"
)

// soon is how long a test waits for something that takes milliseconds on a machine with nothing
// else to do.
const soon = 3 * time.Minute

// A home is the home of one user of earshot, isolated from this machine's files and settings.
type home struct {
	t      testing.TB
	name   string // of the program
	dir    string
	socket string
	env    []string
	start  func(*exec.Cmd) error // starts a daemon, such as in another network
}

// newHome returns an empty home. Environ is added to its environment.
func newHome(t testing.TB, environ ...string) *home {
	t.Helper()
	h := &home{t: t, name: "earshot", dir: t.TempDir(), start: (*exec.Cmd).Start}
	runtime, err := os.MkdirTemp("", "es") // short, because the path of a socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	h.socket = filepath.Join(runtime, "earshot", "earshot.sock")
	h.env = append(surroundings(h.dir, runtime), environ...)
	return h
}

// silent is the environment of an earshot that neither hears, sees nor speaks.
var silent = []string{"EARSHOT_PROVIDERS_MICROPHONE_ENABLED=false", "EARSHOT_PROVIDERS_WEBCAM_ENABLED=false", "EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED=false"}

// surroundings is the environment of a user whose home is dir.
func surroundings(dir, runtime string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "TZ=UTC", "LC_ALL=C.UTF-8",
		"HOME=" + dir, "TMPDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=10", // by default a second for each command
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_DATA_HOME=" + filepath.Join(dir, "data"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"XDG_RUNTIME_DIR=" + runtime,
	}
	env = append(env, silent...)
	env = append(env, "EARSHOT_EXECUTIVE_PARALLEL_REASONING_CONTINUOUS=true")        // the user has allowed it
	env = append(env, "EARSHOT_EXECUTIVE_MEMORY_ENABLED=false")                      // and been asked about this,
	env = append(env, "EARSHOT_STORE_RETENTION_OVERHEARD_HOURS=24")                  // and about this
	env = append(env, "EARSHOT_EXECUTIVE_PARALLEL_REASONING_RESTS_ON_BATTERY=false") // whatever power this machine runs on
	env = append(env, "EARSHOT_EXECUTIVE_SPEECH_FILLER_AFTER_SECONDS=0")             // sound is compared with replies, also on a slow machine
	env = append(env, "EARSHOT_EXECUTIVE_LLM_SLOW_NOTICE_SECONDS=0")                 // screens are compared, and a real server may be late
	if cover := os.Getenv("GOCOVERDIR"); cover != "" {
		env = append(env, "GOCOVERDIR="+cover)
	}
	return env
}

// write writes a file below the home, and returns its path.
func (h *home) write(name, text string) string {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return file
}

// read returns the content of a file below the home.
func (h *home) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// scripted makes the scripted model answer, following script.
func (h *home) scripted(script string) {
	h.t.Helper()
	h.env = append(h.env, "EARSHOT_EXECUTIVE_LLM_PROVIDER=script", "EARSHOT_EXECUTIVE_LLM_SCRIPT="+h.write("model.yaml", script))
}

// asleep is the environment of a daemon without a console.
var asleep = []string{"EARSHOT_PROVIDERS_CONSOLE_ENABLED=false", "EARSHOT_OUTLETS_CONSOLE_ENABLED=false"}

// command returns a command that runs earshot with args as the user of h.
func (h *home) command(args ...string) *exec.Cmd {
	c := exec.Command(h.name, args...)
	c.Env, c.Dir = h.env, h.dir
	return c
}

// A result is the outcome of a command.
type result struct {
	out, err string
	code     int
}

// earshot runs earshot with args to its end, with in as its standard input.
func (h *home) earshot(in io.Reader, args ...string) result {
	h.t.Helper()
	var out, errs bytes.Buffer
	c := h.command(args...)
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = in, &out, &errs, testkit.Patience
	err := c.Start()
	if err == nil {
		defer c.Process.Kill() // if it hangs
		testkit.Finish(h.t, 5*testkit.Patience, "the end of earshot "+strings.Join(args, " "), func() { err = c.Wait() })
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		h.t.Fatal(err)
	}
	return result{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

// ask runs earshot in a pipe with questions, one a line.
func (h *home) ask(questions ...string) result {
	h.t.Helper()
	return h.earshot(strings.NewReader(strings.Join(questions, "\n")+"\n"), "run")
}

// history returns the last messages and replies.
func (h *home) history() (events []earshot.Event) {
	h.t.Helper()
	r := h.earshot(nil, "history", "--json", "-n", "10000")
	if r.code == notFound {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(r.out))
	for d.More() {
		var e earshot.Event
		if err := d.Decode(&e); err != nil {
			h.t.Fatalf("history --json: %v", err)
		}
		events = append(events, e)
	}
	return events
}

// replies returns the last replies.
func (h *home) replies() (replies []earshot.Reply) {
	h.t.Helper()
	for _, e := range h.history() {
		if r, ok := e.Body.(earshot.Reply); ok {
			replies = append(replies, r)
		}
	}
	return replies
}

// client returns a client of the daemon that runs in h.
func (h *home) client() *client.Client { return &client.Client{Socket: h.socket} }

// A process is a running daemon.
type process struct {
	*exec.Cmd
	t    testing.TB
	out  bytes.Buffer
	done chan struct{}
}

// daemon starts a daemon without a console, and returns when it answers.
func (h *home) daemon(args ...string) *process {
	h.t.Helper()
	p := &process{Cmd: h.command(append([]string{"run"}, args...)...), t: h.t, done: make(chan struct{})}
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], asleep...)
	p.Stdout, p.Stderr = &p.out, &p.out
	if err := h.start(p.Cmd); err != nil {
		h.t.Fatal(err)
	}
	go func() { p.Wait(); close(p.done) }()
	h.t.Cleanup(func() { p.end(syscall.SIGKILL) })
	testkit.Await(h.t, soon, "the daemon", func() bool {
		select {
		case <-p.done:
			h.t.Fatalf("it ended with %v:\n%s", p.ProcessState, p.out.String())
		default:
		}
		_, err := h.client().State(h.t.Context())
		if err != nil {
			_, err = h.client().Cluster(h.t.Context()) // which answers wherever the desk is
		}
		return err == nil
	})
	return p
}

// end sends a signal, and waits until the daemon is gone.
func (p *process) end(s syscall.Signal) {
	p.Process.Signal(s)
	testkit.Receive(p.t, testkit.Patience, "the end of the daemon", p.done)
}
