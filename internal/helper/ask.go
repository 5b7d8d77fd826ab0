package helper

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxAnswer is the longest answer of a helper that is asked, in bytes; ours have a few hundred.
	maxAnswer = 1 << 20

	// mostReading is how long the end of what it has printed takes to be read, on a machine that does
	// much else.
	mostReading = 10 * time.Second

	// maxReason is how much is kept of what it says before it dies, in bytes. The first lines are the
	// library's, and pages of stacks follow.
	maxReason = 4 << 10
)

// errAnswer is the error of a helper that prints without end.
var errAnswer = errors.New("it prints too much")

// Ask runs the helper at path without the protocol, and returns what it prints. When ctx ends, or
// the helper has, it and everything it has started are killed. If it fails, the error is an
// [exec.ExitError] with the beginning of its standard error.
func Ask(ctx context.Context, path string, args ...string) ([]byte, error) {
	mark := newBrand()
	answer, reason := &output{most: maxAnswer, full: errAnswer}, &output{most: maxReason}
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(environment(os.Environ(), false), string(mark))
	c.Stdout, c.Stderr = answer, reason
	c.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		return unix.Kill(-c.Process.Pid, unix.SIGKILL) // it is waited for only afterwards, so the process ID is still its own
	}
	c.WaitDelay = mostReading
	if err := c.Start(); err != nil {
		return nil, err
	}
	alone := make(chan struct{})
	go func() { // what it has started may hold its output open
		defer close(alone)
		awaitExit(c.Process.Pid)
		mark.kill()
	}()
	err := c.Wait()
	<-alone
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		exit.Stderr = reason.said
	}
	return answer.said, err
}

// An output is the beginning of what a helper prints.
type output struct {
	said []byte
	most int   // bytes of it
	full error // of what is printed then; nil drops it
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	n := min(len(p), o.most-len(o.said))
	o.said = append(o.said, p[:n]...)
	if n < len(p) && o.full != nil {
		return n, o.full
	}
	return len(p), nil
}
