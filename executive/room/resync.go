package room

import (
	"context"
	"errors"
	"slices"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/perception"
	"earshot/executive/record"
	"earshot/executive/seat"
	"earshot/participants"
)

// newPerceiver returns what keeps the scene in step with the journal.
func (r *Room) newPerceiver() perception.Perceiver {
	p := perception.Perceiver{
		Scene: r.scene, Recent: r.entries.Recent, Tell: r.Mention, Log: r.cfg.Log,
		Perceivable: func(e earshot.Event) bool {
			return slices.ContainsFunc(r.seats, func(s *seat.Seat) bool { return e.Visibility.AllowsAgent(s.ID) })
		},
	}
	if r.cfg.Scenery != nil {
		p.Scenery = func(ctx context.Context) ([]earshot.Event, error) {
			ctx, cancel := record.Outlive(ctx)
			defer cancel()
			return r.cfg.Scenery(ctx)
		}
	}
	return p
}

// contextResync answers /context resync.
func (r *Room) contextResync(ctx context.Context, c command.Call) (string, error) {
	if c.By.ID == "" || c.By.ID == participants.Generic {
		return "", errors.New("say who you are first, with --identity NAME")
	}
	var differed bool
	var failed error
	lost := r.owner.Do(ctx, func(ctx context.Context) { differed, failed = r.perceiver.Resync(ctx) })
	if err := errors.Join(failed, lost); err != nil {
		return "", err
	}
	return perception.Answer(differed), nil
}
