package helper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// The patience of the daemon with a helper.
const (
	// patience is how long a helper may be without a sign of life: six beats,
	// so that a machine under load is not taken for a hung helper.
	patience = 6 * Beat

	// startup is how long a helper may take to say hello. Loading some hundred
	// shared libraries from a cold disk takes seconds.
	startup = 20 * time.Second

	// grace is how long a helper may take to end by itself when its input has
	// closed.
	grace = 500 * time.Millisecond

	// maxLine is the longest line of a helper's log, in bytes, and maxLines how
	// many a second are kept: a library that shouts must not fill a disk.
	maxLine  = 4 << 10
	maxLines = 20
)

// A Command is a helper to be started.
type Command struct {
	Name string   // of the program; found by [Find]
	Path string   // instead of finding it; may be empty
	Args []string // such as its role
	Env  []string // added to the daemon's own
	Log  *slog.Logger
}

// A Handler is what a client does with what its helper says. Both functions
// are called in order, each from a goroutine of its own; control must be taken
// at once. An error is a fault of the helper, which is killed for it. What a
// Sound holds is valid until the function returns.
type Handler struct {
	Control func(Control) error
	Sound   func(Sound) error
}

// A Link is a helper as its client sees it: a [Process], or a fake one in a
// test.
type Link interface {
	// Send sends control, SendSound sound; see [Conn].
	Send(name string, body any) error
	SendSound(stream uint32, data []byte) error

	// Run hands what the helper says to h until the helper ends, which is a
	// *[DeathError], or ctx ends, which is no error: the helper is then ended
	// too. It is called once. When it returns, nothing of the helper is left.
	Run(ctx context.Context, h Handler) error
}

// A Dialer starts a helper.
type Dialer func() (Link, error)

// A Process is a helper that runs.
type Process struct {
	*Conn
	command Command
	cmd     *exec.Cmd
	log     *slog.Logger
	ours    []io.Closer // our ends of the pipes
	stderr  io.Reader

	mu    sync.Mutex
	said  bool      // hello
	beat  time.Time // its last sign of life
	fault error     // what it is killed for
}

// A DeathError is a helper that is no more.
type DeathError struct {
	Name string
	Err  error // how
}

// Error says how the helper ended.
func (e *DeathError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

// Unwrap returns how it ended.
func (e *DeathError) Unwrap() error { return e.Err }

// Errors that a helper is killed for, beside [ErrProtocol].
var (
	ErrHung = errors.New("it hung, and was killed")
	ErrDied = errors.New("it ended by itself")
)

// Start starts a helper. The caller calls [Process.Run], which ends it.
func Start(c Command) (*Process, error) {
	path := c.Path
	if path == "" {
		var err error
		if path, err = Find(c.Name); err != nil {
			return nil, err
		}
	}
	p := &Process{command: c, log: c.Log.With("helper", c.Name), beat: time.Now()}
	p.cmd = exec.Command(path, c.Args...)
	p.cmd.Env = append(os.Environ(), c.Env...)
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	return p, nil
}

// start makes the pipes and the process.
func (p *Process) start() (err error) {
	var theirs []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	soundR, soundW := pipe() // ours to theirs
	backR, backW := pipe()   // theirs to ours
	controlR, controlW := pipe()
	replyR, replyW := pipe()
	errR, errW := pipe()
	theirs = []*os.File{soundR, backW, controlR, replyW, errW}
	p.ours = []io.Closer{soundW, backR, controlW, replyR, errR}
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			p.close()
		}
	}()
	if err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = soundR, backW, errW
	p.cmd.ExtraFiles = []*os.File{controlR, replyW}
	p.Conn = NewConn(replyR, controlW, backR, soundW)
	p.stderr = errR
	return p.cmd.Start()
}

func (p *Process) close() {
	for _, c := range p.ours {
		c.Close()
	}
}

// Pid returns the process's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Run implements [Link].
func (p *Process) Run(ctx context.Context, h Handler) error {
	var parts sync.WaitGroup
	gone := make(chan struct{})
	parts.Go(func() { p.fail(p.Controls(func(c Control) error { return p.control(c, h.Control) })) })
	parts.Go(func() { p.fail(p.Sounds(h.Sound)) })
	parts.Go(func() { p.logged() })
	parts.Go(func() { p.watch(ctx, gone) })
	status := p.cmd.Wait() // all pipes are files, so it waits for nothing else
	close(gone)
	p.close()
	parts.Wait()
	if ctx.Err() != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.fault != nil:
		return &DeathError{p.command.Name, p.fault}
	case status != nil:
		return &DeathError{p.command.Name, status}
	}
	return &DeathError{p.command.Name, ErrDied}
}

// control takes what every helper says, and hands on the rest.
func (p *Process) control(c Control, take func(Control) error) error {
	p.mu.Lock()
	p.beat = time.Now()
	said := p.said
	p.said = true
	p.mu.Unlock()
	switch {
	case !said:
		var h hello
		if c.Name != "hello" || c.Decode(&h) != nil {
			return fmt.Errorf("%w: it did not say hello", ErrProtocol)
		}
		if h.Version != Version {
			return fmt.Errorf("%w: it is of version %d and earshot of version %d; build both with make build", ErrProtocol, h.Version, Version)
		}
		return nil
	case c.Name == "beat":
		return nil
	}
	return take(c)
}

// fail notes the helper's fault, the first one, and kills it. Ends of pipes are
// none.
func (p *Process) fail(err error) {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return
	}
	p.mu.Lock()
	if p.fault == nil {
		p.fault = err
	}
	p.mu.Unlock()
	p.cmd.Process.Kill()
}

// watch ends the helper when ctx ends, and kills it when it hangs.
func (p *Process) watch(ctx context.Context, gone <-chan struct{}) {
	look := time.NewTicker(Beat)
	defer look.Stop()
	for {
		select {
		case <-gone:
			return
		case <-ctx.Done():
			p.end(gone)
			return
		case now := <-look.C:
			p.mu.Lock()
			limit := patience
			if !p.said {
				limit = startup
			}
			hung := now.Sub(p.beat) > limit
			p.mu.Unlock()
			if hung {
				p.fail(ErrHung)
			}
		}
	}
}

// end closes the helper's input and, if that does not help, kills it.
func (p *Process) end(gone <-chan struct{}) {
	p.ours[0].Close()
	p.ours[2].Close()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-gone:
	case <-t.C:
		p.cmd.Process.Kill()
	}
}

// logged puts the helper's standard error into the log, as far as it may go.
// Such lines are written by libraries, and never hold what was said.
func (p *Process) logged() {
	lines := bufio.NewReaderSize(p.stderr, maxLine)
	var second time.Time
	kept, dropped := 0, 0
	for {
		line, long, err := lines.ReadLine()
		if err != nil {
			return
		}
		for long && err == nil { // the rest of a line that is too long
			_, long, err = lines.ReadLine()
		}
		if now := time.Now(); now.Sub(second) >= time.Second {
			if dropped > 0 {
				p.log.Info("the helper's log is too much; some of it was left out", "lines", dropped)
			}
			second, kept, dropped = now, 0, 0
		}
		if kept++; kept > maxLines {
			dropped++
			continue
		}
		p.log.Info("helper", "line", strings.ToValidUTF8(string(line), "\uFFFD"))
	}
}
