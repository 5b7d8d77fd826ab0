package room

import (
	"cmp"
	"context"

	"earshot"
	"earshot/interrupt"
)

// Replay has something kept that is on record elsewhere, just as it stands there: what
// came of a command, say, when what happened is performed again. What follows from
// it follows. It returns when the event is kept.
func (r *Room) Replay(ctx context.Context, e earshot.Event) error { return r.queued(ctx, e) }

// ReplayCut repeats an interruption. The journal has only that it happened, since keys and
// voices are not kept. An interrupted thought gives way.
func (r *Room) ReplayCut(c earshot.Interruption, from earshot.Handle) {
	s := &interrupt.Signal{Kind: interrupt.Command, From: from, By: c.By, Confidence: 1, At: c.At}
	style := r.floor.CurrentStyle()
	for k := interrupt.Ambient; k <= interrupt.Over; k++ {
		if k.String() == c.Signal && interrupt.Judge(style, k) == interrupt.Cut {
			s.Kind = k
		}
	}
	s.From.Provider = cmp.Or(s.From.Provider, "earshot")
	r.floor.Signal(s)
}

// ReplayYield has the thought that is under way give way, as it did.
func (r *Room) ReplayYield(c earshot.Interruption) {
	r.parkMu.Lock()
	r.mind.Park(c)
	r.parkMu.Unlock()
	r.nudge()
}

// Says reports whether a turn is live.
func (r *Room) Says(turn earshot.TurnID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn != nil && r.activeTurn.turn == turn
}
