package sound

import (
	"context"
	"errors"
	"time"

	"earshot/internal/helper"
)

// listing is how long a list may take, with the start of a helper from a cold disk.
const listing = 10 * time.Second

// errListed ends the helper that was started for a list.
var errListed = errors.New("listed")

// List starts a helper of its own and asks it for the devices. An error says why there are none,
// with the cure if it is known.
func List(ctx context.Context, dial helper.Dialer) (Devices, error) {
	link, err := dial()
	if err != nil {
		return Devices{}, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, listing, frozen)
	defer stop()
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	var d Devices
	take := func(c helper.Control) error {
		switch c.Name {
		case SayReady:
			return link.Send(SayDevices, nil)
		case SayListed:
			if err := c.Decode(&d); err != nil {
				return err
			}
			done(errListed)
			return nil
		case SayDown:
			f := new(Fault)
			if err := c.Decode(f); err != nil {
				return err
			}
			return f
		}
		return nil
	}
	err = link.Run(ctx, helper.Handler{Control: take, Sound: func(helper.Sound) error { return nil }})
	switch cause := context.Cause(ctx); {
	case cause == errListed:
		return d, nil
	case err == nil:
		return Devices{}, cause
	}
	return Devices{}, err
}
