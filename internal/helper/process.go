package helper

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Command says how to start a helper.
type Command struct {
	Name string   // of the program; found by [Find]
	Path string   // instead of finding it; may be empty
	Args []string // such as its role
	Env  []string // added to its part of the daemon's; see [Start]
	Net  bool     // it uses the network, and so gets the daemon's proxies
	Log  *slog.Logger

	// Said bounds how much of its output gets into Log, together with earlier processes of its
	// role; nil means a limit of its own.
	Said *LogLimit
}

// A Process is a running helper.
type Process struct {
	*Peer
	child *child
	log   *slog.Logger
	said  *LogLimit
}

// Start starts a helper. The caller calls [Process.Run], which ends it.
//
// The helper has a process group of its own: a ^C at the terminal is for the daemon, which then
// lets its helpers end, and no process of theirs survives them: see [processMark].
//
// Of the daemon's environment it gets what libraries need to find files and sound, and nothing
// else: it reads untrusted bytes, and the daemon may have been given secrets.
func Start(c Command) (*Process, error) {
	path := c.Path
	if path == "" {
		var err error
		if path, err = Find(c.Name); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(path, c.Args...)
	mark := newBrand()
	cmd.Env = append(append(environment(os.Environ(), c.Net), c.Env...), string(mark))
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	child := &child{cmd: cmd, mark: mark}
	if err := child.start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	ours := child.ends
	return &Process{
		Peer:  NewPeer(c.Name, NewConn(ours.reply, ours.control, ours.back, ours.sound), child),
		child: child,
		log:   c.Log.With("helper", c.Name),
		said:  cmp.Or(c.Said, new(LogLimit)),
	}, nil
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.child.cmd.Process.Pid }

// Run implements [Link].
func (p *Process) Run(ctx context.Context, h Handler) error {
	defer p.child.ends.close()
	defer p.child.hunt.Wait()
	var log sync.WaitGroup
	defer log.Wait()
	log.Go(func() { keep(p.log, p.child.ends.log, p.said) })
	return p.Peer.Run(ctx, h)
}

// A child is the process itself.
type child struct {
	cmd  *exec.Cmd
	ends ends
	mark processMark
	hunt sync.WaitGroup // for processes that have left the group

	mu   sync.Mutex
	dead bool
}

func (c *child) start() error {
	ours, theirs, err := pipes()
	if err != nil {
		return err
	}
	defer theirs.close()
	c.ends = ours
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs.sound, theirs.back, theirs.log
	c.cmd.ExtraFiles = []*os.File{theirs.control, theirs.reply}
	if err := c.cmd.Start(); err != nil {
		ours.close()
		return err
	}
	return nil
}

// HangUp implements [Life]. A write in progress returns.
func (c *child) HangUp() {
	c.ends.sound.Close()
	c.ends.control.Close()
}

// Kill implements [Life].
func (c *child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		c.killGroup()
	}
}

// killGroup kills the process and its group.
func (c *child) killGroup() { unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL) }

// Wait implements [Life]. All pipes are files, so it waits only for the process, and not for
// others that hold them open. The group is killed while the process still has its ID, which then
// cannot belong to another process; processes that have left the group are killed after that.
func (c *child) Wait(context.Context) error {
	awaitExit(c.cmd.Process.Pid)
	c.mu.Lock()
	c.killGroup()
	c.dead = true
	c.mu.Unlock()
	err := c.cmd.Wait()
	c.hunt.Go(c.mark.kill)

	c.HangUp()
	until := time.Now().Add(grace) // for its last messages, even if another process keeps the pipes open
	for _, f := range []*os.File{c.ends.reply, c.ends.back, c.ends.log} {
		f.SetReadDeadline(until)
	}
	return err
}

// ends are one side's ends of the pipes.
type ends struct {
	sound, control   *os.File // to the helper
	back, reply, log *os.File // from it: sound, control, standard error
}

func (e ends) close() {
	for _, f := range []*os.File{e.sound, e.control, e.back, e.reply, e.log} {
		f.Close() // even one that was never made
	}
}

// pipes makes all pipes, or none.
func pipes() (ours, theirs ends, err error) {
	for _, p := range []struct{ r, w **os.File }{
		{&theirs.sound, &ours.sound},
		{&theirs.control, &ours.control},
		{&ours.back, &theirs.back},
		{&ours.reply, &theirs.reply},
		{&ours.log, &theirs.log},
	} {
		if *p.r, *p.w, err = os.Pipe(); err != nil {
			ours.close()
			theirs.close()
			return ends{}, ends{}, err
		}
	}
	return ours, theirs, nil
}
