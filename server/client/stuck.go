package client

import (
	"context"
	"errors"
	"time"

	"earshot/api"
)

// StateTimeout is how long a daemon may take to say how everything is: far longer than a healthy one
// needs, also on a busy machine.
const StateTimeout = 30 * time.Second

// ErrStuck says that a daemon runs and does not answer.
var ErrStuck = errors.New("earshot is running but does not answer\n  → earshot doctor says more; if this persists, stop the process and start earshot again")

// StateWithin is State, which gives up after timeout with [ErrStuck].
func (c *Client) StateWithin(ctx context.Context, timeout time.Duration) (api.Status, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrStuck)
	defer cancel()
	s, err := c.State(ctx)
	if err != nil && context.Cause(ctx) == ErrStuck {
		return s, ErrStuck
	}
	return s, err
}
