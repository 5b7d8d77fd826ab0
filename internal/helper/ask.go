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

// maxAnswer is the longest answer of a helper that is asked, in bytes; ours have a few hundred.
const maxAnswer = 1 << 20

// errAnswer is the error of a helper that prints without end.
var errAnswer = errors.New("it prints too much")

// Ask runs the helper at path without the protocol, and returns what it prints. When ctx ends, or
// the helper has, it and everything it has started are killed.
func Ask(ctx context.Context, path string, args ...string) ([]byte, error) {
	mark, answer := newBrand(), new(answer)
	defer mark.kill()
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(environment(os.Environ(), false), string(mark))
	c.Stdout = answer
	c.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		defer mark.kill()
		return unix.Kill(-c.Process.Pid, unix.SIGKILL) // it is waited for only afterwards, so the process ID is still its own
	}
	c.WaitDelay = 100 * time.Millisecond // in case another process holds its output open
	err := c.Run()
	return answer.said.Bytes(), err
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
