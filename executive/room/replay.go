package room

import (
	"cmp"
	"context"

	"earshot"
	"earshot/interrupt"
)

// Replay keeps an event that is on record elsewhere, exactly as it stands there: for example the
// result of a command, when a day is replayed. Its consequences follow. It returns when the event
// is kept.
func (r *Room) Replay(ctx context.Context, e earshot.Event) error { return r.entries.Keep(ctx, e) }

// ReplayCut repeats an interruption. The journal only has that it happened, since keys and voices
// are not kept. An interrupted thought gives way.
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

// ReplayYield makes the thought under way give way, as it did.
func (r *Room) ReplayYield(c earshot.Interruption) {
	r.mind.Park(c)
	r.owner.Wake()
}

// Says reports whether a turn is live.
func (r *Room) Says(turn earshot.TurnID) bool {
	live, _ := r.live.question()
	return live != nil && live.Turn == turn
}
