package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
)

// A window is earshot on a terminal of its own, and what was shown there.
type window struct {
	t      testing.TB
	cmd    *exec.Cmd
	user   *os.File // the person's end
	before term.State
	done   chan struct{} // closed when the program has ended
	shown  chan struct{} // closed when all that it wrote is shown

	mu       sync.Mutex
	emulator *terminaltest.Emulator
}

// open runs earshot with args in a window, as the owner of the account.
func (h *home) open(args ...string) *window {
	h.t.Helper()
	w := h.begin(args...)
	w.types("\r") // answers the question who it is
	return w
}

// begin runs earshot with args in a window, and types nothing.
func (h *home) begin(args ...string) *window { return h.beginOn(120, 30, args...) }

// beginOn does what begin does, in a window of the given size.
func (h *home) beginOn(width, height int, args ...string) *window {
	h.t.Helper()
	w := &window{t: h.t, cmd: h.command(args...), done: make(chan struct{}), shown: make(chan struct{}), emulator: terminaltest.NewEmulator(width, height)}
	user, slave, err := pty.Open()
	if err != nil {
		h.t.Fatal(err)
	}
	defer slave.Close()
	w.user = user
	if err := pty.Setsize(user, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		h.t.Fatal(err)
	}
	w.before = w.state()
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = slave, slave, slave
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go w.read()
	go func() { w.cmd.Wait(); close(w.done) }()
	h.t.Cleanup(func() {
		w.cmd.Process.Kill()
		testkit.Receive(h.t, testkit.Patience, "the end of the command in the window", w.done)
		user.Close()
		testkit.Receive(h.t, testkit.Patience, "the last of the screen", w.shown)
		if h.t.Failed() {
			h.t.Logf("the window of %v shows\n%s", args, w.text())
		}
		for _, fault := range w.emulator.Faults() {
			h.t.Errorf("the terminal was sent a %s", fault)
		}
	})
	return w
}

// read shows what the program sends, until the other end is closed.
func (w *window) read() {
	defer close(w.shown)
	buf := make([]byte, 1<<10)
	for {
		n, err := w.user.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.emulator.Write(buf[:n])
		w.mu.Unlock()
	}
}

// types types keys.
func (w *window) types(keys string) {
	w.t.Helper()
	if _, err := w.user.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// says types a line and sends it.
func (w *window) says(line string) {
	w.t.Helper()
	w.types(line + "\r")
}

// text returns everything that was shown, with single spaces between words, however the lines were
// broken.
func (w *window) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(w.emulator.All()), " ")
}

// await waits until text has been shown so many times.
func (w *window) await(text string, times int) {
	w.t.Helper()
	testkit.Await(w.t, soon, "the window to show "+text, func() bool { return strings.Count(w.text(), text) >= times })
}

// awaitModel waits until the start screen says that a model works, or that its server is too busy
// to say so, which is not waited for.
func (w *window) awaitModel(works string) {
	w.t.Helper()
	testkit.Await(w.t, soon, "the window to show "+works, func() bool {
		text := w.text()
		return strings.Contains(text, works) || strings.Contains(text, "has not answered within")
	})
}

// still waits until nothing new has been shown for a while, and returns all that was shown.
func (w *window) still() string {
	w.t.Helper()
	const enough = 25 // looks, 25 ms apart after the first few
	text, same := "", 0
	testkit.Await(w.t, soon, "the window to stand still", func() bool {
		if now := w.text(); now != text {
			text, same = now, 0
		}
		same++
		return same == enough
	})
	return text
}

// state returns the settings of the terminal.
func (w *window) state() term.State {
	w.t.Helper()
	conn, err := w.user.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	var state *term.State
	conn.Control(func(fd uintptr) { state, err = term.GetState(int(fd)) })
	if err != nil {
		w.t.Fatal(err)
	}
	return *state
}

// leaves ends a chat whose daemon has ended, once the chat says so. It discards what is in the
// line.
func (w *window) leaves() {
	w.t.Helper()
	w.await("the connection to earshot was lost", 1)
	w.says("\x15/exit")
	w.ended()
}

// ended waits until the program has ended, checks that the terminal is as it was, and returns the
// exit code.
func (w *window) ended() int {
	w.t.Helper()
	for what, over := range map[string]chan struct{}{"the program to end": w.done, "all that it wrote": w.shown} {
		testkit.Await(w.t, soon, what, func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
	}
	if w.state() != w.before {
		w.t.Error("the terminal is not as it was")
	}
	return w.cmd.ProcessState.ExitCode()
}
