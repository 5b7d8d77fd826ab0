// Package terminal is the place where a person and earshot meet in writing:
// one [Terminal], read by the console's sense and written by its outlet, in
// the daemon and in a client that is attached to it alike.
//
// Nothing reaches a device but through [Safe]; what was typed, names and
// notices no more than replies.
//
// It is one of three things. A terminal that understands escape sequences is
// read key by key ([Decoder], [Editor]) and shows a transcript that scrolls,
// with the reply that is coming and the line that is being typed at its bottom.
// A dumb one (TERM=dumb) is read by lines, and so are pipes and files, where
// replies go to standard output and everything else to standard error.
//
// A terminal that does not take what is written, because somebody stopped it
// or nobody reads the pipe, must hold up neither keys nor a cut. So one
// goroutine writes, and these are the rules of what waits for it:
//
//   - a reply: whoever prints it waits, until it is stopped;
//   - the line that is being typed, and words that are being said: only the latest
//     are kept;
//   - lines of others, notices, what was typed: 256; then the oldest is
//     dropped, and how many were dropped is shown.
//
// The line editor is our own, since none that we looked at has all three:
// steps by graphemes, a paste as one edit, and a reply whose last row has no
// end yet above the prompt. (github.com/ergochat/readline counts runes, does
// not know of bracketed paste, and takes the screen for lines.)
package terminal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// queued bounds the lines that wait for the terminal: some screens full.
	queued = 256

	// piece is how many bytes of a reply go out in one frame, so that a long
	// one is acknowledged as it scrolls by.
	piece = 1 << 10

	// drain is how long Close waits for a terminal that takes nothing.
	drain = 2 * time.Second
)

// ErrClosed is what comes of printing on a terminal that was closed.
var ErrClosed = errors.New("the terminal was closed")

// A Terminal is one terminal, or the pipes in its place. Its methods may be
// called from any goroutine.
type Terminal struct {
	// Answers is what was asked here and has not been answered.
	Answers

	in, out, aside device
	keys           bool
	piped          bool
	raw            raw
	signals        signals

	mu       sync.Mutex
	more     *sync.Cond // something was queued, or closing was set
	queue    []op
	notes    int // in queue
	dropped  int // notes, since this was said
	line     string
	at       int
	typed    bool // line has changed since it was painted
	words    []interim
	heard    bool // words have changed since they were painted
	replying bool
	closing  bool
	expired  bool // nothing is waited for any more
	err      error

	still chan struct{} // closed when the writer has returned

	// The writer's own.
	face renderer
	rest []byte // of a frame that must be completed before the next
}

// A device is one of the three files.
type device struct {
	*os.File
	own bool
}

// An op is one change that waits to be written.
type op struct {
	paint func(renderer) frame
	print *printing
	begin bool // of a reply
	note  bool // may be dropped
}

// An interim is the words of somebody who is saying them.
type interim struct {
	of   string // whose they are, for who replaces them
	line Line
}

// A printing is a piece of a reply on its way. The terminal's mutex guards it.
type printing struct {
	text    string
	stopped bool
	shown   int
	err     error
	over    chan struct{}
}

// Open takes the terminal over. Errs is where what is no reply goes if in and
// out are not both terminals. The files stay the caller's; between Open and
// Close nobody else may read or write them.
func Open(in, out, errs *os.File) (*Terminal, error) {
	t := &Terminal{still: make(chan struct{})}
	t.more = sync.NewCond(&t.mu)
	both := term.IsTerminal(descriptor(in)) && term.IsTerminal(descriptor(out))
	t.keys, t.piped = both && os.Getenv("TERM") != "dumb", !both
	if err := t.reopen(in, out, errs); err != nil {
		t.shut()
		return nil, err
	}
	t.face = &plainRenderer{named: both, apart: !both}
	if t.keys {
		if err := t.raw.enter(descriptor(t.in.File)); err != nil {
			t.shut()
			return nil, fmt.Errorf("reading keys: %w", err)
		}
		width, height := t.size()
		t.face = newScreen(width, height, os.Getenv("NO_COLOR") == "")
		t.queue = append(t.queue, op{paint: func(f renderer) frame { return f.(*screen).enter() }})
		t.signals.watch(t)
	}
	go t.write()
	return t, nil
}

// ByKeys reports whether the terminal is read by keys, and not by lines.
func (t *Terminal) ByKeys() bool { return t.keys }

// Piped reports whether what is read was prepared beforehand, so that the
// next question must wait for the answer to the last.
func (t *Terminal) Piped() bool { return t.piped }

// Close writes what is still waiting, gives the terminal back as it was, and
// returns when nothing of ours is left. It may be called more than once.
func (t *Terminal) Close() error {
	t.signals.stop()
	t.mu.Lock()
	if t.keys && !t.closing {
		t.queue = append(t.queue, op{paint: func(f renderer) frame { return f.(*screen).leave() }})
	}
	t.closing = true
	t.more.Signal()
	t.mu.Unlock()

	late := time.AfterFunc(drain, t.expire)
	<-t.still
	late.Stop()
	err := t.raw.leave()
	t.shut()
	return err
}

// expire gives up whatever is still to be written.
func (t *Terminal) expire() {
	t.mu.Lock()
	t.expired = true
	t.mu.Unlock()
	t.out.SetWriteDeadline(past)
	t.aside.SetWriteDeadline(past)
}

func (t *Terminal) reopen(in, out, errs *os.File) (err error) {
	open := func(d *device, f *os.File, flag int) {
		if err == nil {
			d.File, d.own, err = reopen(f, flag)
		}
	}
	open(&t.in, in, os.O_RDONLY)
	open(&t.out, out, os.O_WRONLY)
	open(&t.aside, errs, os.O_WRONLY)
	return err
}

func (t *Terminal) shut() {
	for _, d := range []*device{&t.in, &t.out, &t.aside} {
		if d.own {
			d.own = false
			d.Close()
		}
	}
}

// size returns the terminal's width and height, zero if it does not say.
func (t *Terminal) size() (width, height int) {
	width, height, err := term.GetSize(descriptor(t.out.File))
	if err != nil {
		return 0, 0
	}
	return width, height
}
