package section

import (
	"context"

	"earshot"
)

// A Mode returns the mode of a room, and a channel that is closed when it changes, as
// [earshot/executive/room.Room.Mode].
type Mode func() (earshot.Mode, <-chan struct{})

// RunInMode returns a run that runs only while the mode of a room allows it: when the mode forbids
// it, capture ends at the source, and starts again when it is allowed.
func RunInMode(mode Mode, lets func(earshot.Mode) bool, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if m, changed := mode(); !lets(m) {
				select {
				case <-changed:
				case <-ctx.Done():
				}
				continue
			}
			if over, err := runUntilMode(ctx, mode, lets, run); over {
				return err
			}
		}
		return nil
	}
}

// runUntilMode runs run until it ends by itself, when it returns true, or until the mode forbids
// it. If the mode is the same after a change, it was different in between, and may have forbidden
// it: what was captured then is thrown away as well.
func runUntilMode(ctx context.Context, mode Mode, lets func(earshot.Mode) bool, run func(context.Context) error) (bool, error) {
	was, changed := mode()
	if !lets(was) {
		return false, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	for {
		select {
		case err := <-ended:
			return true, err
		case <-changed:
		}
		var is earshot.Mode
		if is, changed = mode(); is == was || !lets(is) {
			stop()
			<-ended
			return false, nil
		}
		was = is
	}
}
