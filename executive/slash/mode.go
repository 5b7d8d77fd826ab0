package slash

import (
	"context"
	"fmt"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/command"
	"earshot/participants"
)

// changes returns the command that sets mode m.
func (h *Commands) changes(m earshot.Mode) func(context.Context, command.Call) (string, error) {
	return func(ctx context.Context, c command.Call) (string, error) {
		if !h.concerns(c.By) {
			return "", fmt.Errorf("only somebody in the room can change what it takes in; it is %s", h.Mode())
		}
		if wants, opened := h.Wants(); wants == m && !opened {
			return fmt.Sprintf("The room is already %s: %s.", m, m.Means()), nil
		}
		return "", h.SetMode(ctx, c.By.ID, m)
	}
}

// unmute is the command that ends the muted mode, and nothing stricter.
func (h *Commands) unmute(ctx context.Context, c command.Call) (string, error) {
	if m, _ := h.Wants(); m.Stricter(earshot.Muted) {
		return "", fmt.Errorf("the room is %s; /resume ends that", m)
	}
	return h.changes(earshot.Live)(ctx, c)
}

// concerns reports whether p is in the room, or operates the program.
func (h *Commands) concerns(p participants.Participant) bool {
	return p.Can(participants.Operate) || addressing.IsAmong(h.People.Here(h.Room), p.ID)
}
