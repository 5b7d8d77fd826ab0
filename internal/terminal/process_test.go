package terminal_test

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"earshot/internal/terminal"
	"earshot/internal/testkit"
)

// asChild is the environment variable that makes the test program the child of [startChild].
const asChild = "EARSHOT_TEST_TERMINAL"

// TestAsChild is no test but a program on a terminal of its own. It ends on q or on a signal, and
// panics on p.
func TestAsChild(t *testing.T) {
	if os.Getenv(asChild) == "" {
		t.Skip("only as a child of the other tests")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	w, err := terminal.Open(os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Prompt("", 0)
	for k := range w.Keys(ctx) {
		switch {
		case k.Does == terminal.Suspend:
			w.Sleep()
		case k.Text == "q":
			return
		case k.Text == "p":
			panic("on purpose")
		}
		w.Prompt(k.Text, len(k.Text))
	}
}

// A child is a process on a terminal.
type child struct {
	cmd    *exec.Cmd
	user   *os.File
	before term.State

	reading sync.WaitGroup
	mu      sync.Mutex
	out     strings.Builder
}

func startChild(t *testing.T) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run=^TestAsChild$")}
	c.cmd.Env = append(os.Environ(), asChild+"=1", "TERM=xterm")
	user, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	c.user = user
	c.before = c.state(t)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.reading.Go(c.read)
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		testkit.Finish(t, testkit.Patience, "the end of the child", func() { c.cmd.Wait() })
		c.user.Close()
		testkit.Finish(t, testkit.Patience, "the last of what it shows", c.reading.Wait)
	})
	c.await(t, "> ", 1)
	return c
}

func (c *child) read() {
	buf := make([]byte, 1<<10)
	for {
		n, err := c.user.Read(buf)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.out.Write(buf[:n])
		c.mu.Unlock()
	}
}

// await waits until text was sent n times.
func (c *child) await(t *testing.T, text string, n int) {
	t.Helper()
	testkit.Await(t, patience, "the child to send "+text, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return strings.Count(c.out.String(), text) >= n
	})
}

// state returns the settings of the terminal.
func (c *child) state(t *testing.T) term.State {
	t.Helper()
	conn, err := c.user.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var state *term.State
	conn.Control(func(fd uintptr) { state, err = term.GetState(int(fd)) })
	if err != nil {
		t.Fatal(err)
	}
	return *state
}

// TestProcessGivesTheTerminalBack: the terminal is as before, however the program ends.
func TestProcessGivesTheTerminalBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(c *child)
	}{
		{"by a key", func(c *child) { c.user.WriteString("q") }},
		{"by a panic", func(c *child) { c.user.WriteString("p") }},
		{"by a signal", func(c *child) { c.cmd.Process.Signal(syscall.SIGTERM) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := startChild(t)
			if c.state(t) == c.before {
				t.Fatal("the terminal was never taken over")
			}
			tt.end(c)
			testkit.Await(t, patience, "the terminal as it was", func() bool { return c.state(t) == c.before })
			c.await(t, "\x1b[?2004l", 1)
		})
	}
}

// TestSuspend: ^Z gives the terminal back while the program sleeps. In a session of its own nobody
// could wake the program, so here it takes the terminal again by itself.
func TestSuspend(t *testing.T) {
	c := startChild(t)
	c.user.WriteString("\x1a")
	testkit.Await(t, patience, "the terminal as it was", func() bool { return c.state(t) == c.before })
	c.await(t, "\x1b[?2004l", 1)
	c.await(t, "\x1b[?2004h", 2)
	testkit.Await(t, patience, "the terminal taken again", func() bool { return c.state(t) != c.before })
	c.user.WriteString("q")
	testkit.Await(t, patience, "the terminal as it was", func() bool { return c.state(t) == c.before })
}

// TestContinued: a program that was stopped from outside takes the terminal again when it is
// continued, even if the shell has changed the terminal's settings meanwhile.
func TestContinued(t *testing.T) {
	c := startChild(t)
	taken := c.state(t)
	c.cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the child is not stopped: %v", err)
	}
	conn, err := c.user.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	conn.Control(func(fd uintptr) { err = term.Restore(int(fd), &c.before) })
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Process.Signal(syscall.SIGCONT)
	testkit.Await(t, patience, "the terminal taken again", func() bool { return c.state(t) == taken })
	c.user.WriteString("x")
	c.await(t, "> x", 1)
}
