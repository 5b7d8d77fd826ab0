// Package terminaltest is a real terminal to test with: a pseudo-terminal, and
// an [Emulator] at its other end instead of a person. Only tests import it.
package terminaltest

import (
	"os"
	"sync"
	"testing"

	"github.com/creack/pty"

	"earshot/internal/terminal"
)

// A Window is a terminal on a pseudo-terminal, and what can be seen in it.
type Window struct {
	*terminal.Terminal

	t        testing.TB
	user     *os.File // the person's end
	Slave    *os.File
	reading  sync.WaitGroup
	mu       sync.Mutex
	open     *sync.Cond
	stopped  bool
	emulator *Emulator
	raw      []byte
}

// Open opens a window, which is closed when the test ends.
func Open(t testing.TB, width, height int) *Window {
	t.Helper()
	user, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	w := &Window{t: t, user: user, Slave: slave, emulator: NewEmulator(width, height)}
	w.open = sync.NewCond(&w.mu)
	w.size(width, height)
	w.reading.Go(w.read)
	t.Cleanup(w.shut)
	if w.Terminal, err = terminal.Open(slave, slave, slave); err != nil {
		t.Fatal(err)
	}
	return w
}

// Type types.
func (w *Window) Type(keys string) {
	w.t.Helper()
	if _, err := w.user.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// Screen returns what can be seen, with | for the cursor.
func (w *Window) Screen() string { return look(w, w.emulator.Screen) }

// All returns what can be seen, and what has scrolled away.
func (w *Window) All() string { return look(w, w.emulator.All) }

// Faults returns what should not have been sent.
func (w *Window) Faults() []string { return look(w, w.emulator.Faults) }

// Apart makes it a terminal that shows each part of an emoji beside the one before.
func (w *Window) Apart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.emulator.Apart = true
}

// Bells returns how often the bell rang.
func (w *Window) Bells() int { return look(w, w.emulator.Bells) }

// Raw returns every byte that was sent.
func (w *Window) Raw() string { return look(w, func() string { return string(w.raw) }) }

// Stop makes the window take nothing more, and Go makes it go on.
func (w *Window) Stop() { w.stop(true) }

// Go makes a stopped window go on.
func (w *Window) Go() { w.stop(false) }

// Vanish closes the person's end, as when a connection is lost. Nothing can be
// seen any more that was not.
func (w *Window) Vanish() {
	w.user.Close()
	w.Go()
	w.reading.Wait()
}

// Resize changes the window's size.
func (w *Window) Resize(width, height int) {
	w.mu.Lock()
	w.emulator.Resize(width, height)
	w.mu.Unlock()
	w.size(width, height)
}

func (w *Window) size(width, height int) {
	if err := pty.Setsize(w.user, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *Window) stop(stopped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = stopped
	w.open.Broadcast()
}

// read shows what is sent until the other end is closed.
func (w *Window) read() {
	buf := make([]byte, 1<<10)
	for {
		n, err := w.user.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		for w.stopped {
			w.open.Wait()
		}
		w.raw = append(w.raw, buf[:n]...)
		w.emulator.Write(buf[:n])
		w.mu.Unlock()
	}
}

func (w *Window) shut() {
	w.Go()
	if w.Terminal != nil {
		w.Terminal.Close()
	}
	w.Slave.Close()
	w.user.Close()
	w.reading.Wait()
	for _, fault := range w.Faults() {
		w.t.Errorf("the terminal was sent a %s", fault)
	}
}

func look[T any](w *Window, at func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return at()
}
