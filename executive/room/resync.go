package room

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/seat"
	"earshot/participants"
)

// resynced is the notice to the people in a room when the scene differed from the journal.
const resynced = "what I knew about the situation did not match the journal, so I have rebuilt it from the journal"

// resync rebuilds the scene from the journal, and reports whether it differed. It belongs to Run,
// so that nothing is written meanwhile.
func (r *Room) resync(ctx context.Context) (differed bool, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	events, err := r.cfg.Scenery(ctx)
	if err != nil {
		return false, fmt.Errorf("reading the journal: %w", err)
	}
	return r.perceiver.Resync(events, r.perceivable), nil
}

// perceivable reports whether an agent may see e.
func (r *Room) perceivable(e earshot.Event) bool {
	return slices.ContainsFunc(r.seats, func(s *seat.Seat) bool { return e.Visibility.AllowsAgent(s.ID) })
}

// mend compares the scene with the journal, and reports a difference.
func (r *Room) mend(ctx context.Context) {
	if r.cfg.Scenery == nil {
		return
	}
	differed, err := r.resync(ctx)
	switch {
	case err != nil:
		r.cfg.Log.Warn("the scene could not be compared with the journal", "err", err)
	case differed:
		r.cfg.Log.Warn("the scene did not match the journal and was rebuilt")
		r.show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: resynced}))
	}
}

// contextResync answers /context resync.
func (r *Room) contextResync(ctx context.Context, c command.Call) (string, error) {
	if r.cfg.Scenery == nil {
		return "", errors.New("there is no journal to compare with")
	}
	if c.By.ID == "" || c.By.ID == participants.Generic {
		return "", errors.New("say who you are first, with --identity NAME")
	}
	var differed bool
	var failed error
	if err := r.runOnOwner(ctx, func(ctx context.Context) { differed, failed = r.resync(ctx) }); err != nil {
		return "", err
	}
	switch {
	case failed != nil:
		return "", failed
	case differed:
		return "It did not match the journal, so I have rebuilt it from the journal; /context shows it.", nil
	}
	return "It matches the journal.", nil
}
