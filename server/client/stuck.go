package client

import (
	"context"
	"errors"
	"time"

	"earshot/api"
)

// Answering is how long a daemon may take to say how everything is: far longer than one
// that lives needs, also where the machine is busy.
const Answering = 30 * time.Second

// ErrStuck says that a daemon is there, and does nothing.
var ErrStuck = errors.New("earshot is running but does not answer\n  → earshot doctor says more; if this persists, stop the process and start earshot again")

// StateWithin is State of a daemon that is given so long; see [ErrStuck].
func (c *Client) StateWithin(ctx context.Context, most time.Duration) (api.Status, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, ErrStuck)
	defer cancel()
	s, err := c.State(ctx)
	if err != nil && context.Cause(ctx) == ErrStuck {
		return s, ErrStuck
	}
	return s, err
}
