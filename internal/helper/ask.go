package helper

import (
	"bytes"
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
	mark, answer, reason := newBrand(), new(answer), new(reason)
	defer mark.kill()
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(environment(os.Environ(), false), string(mark))
	c.Stdout, c.Stderr = answer, reason
	c.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		defer mark.kill()
		return unix.Kill(-c.Process.Pid, unix.SIGKILL) // it is waited for only afterwards, so the process ID is still its own
	}
	c.WaitDelay = 100 * time.Millisecond // in case another process holds its output open
	err := c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		exit.Stderr = reason.said
	}
	return answer.said.Bytes(), err
}

// A reason is the beginning of what a helper says of itself.
type reason struct{ said []byte }

// Write implements [io.Writer].
func (r *reason) Write(p []byte) (int, error) {
	r.said = append(r.said, p[:min(len(p), maxReason-len(r.said))]...)
	return len(p), nil
}

// An answer is what a helper has printed.
type answer struct{ said bytes.Buffer }

// Write implements [io.Writer].
func (a *answer) Write(p []byte) (int, error) {
	if a.said.Len()+len(p) > maxAnswer {
		return 0, errAnswer
	}
	return a.said.Write(p)
}
