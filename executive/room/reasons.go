package room

import (
	"slices"

	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/unasked"
)

// own are the reasons that the room itself gives for a decision.
var own = []string{
	addressing.Alone, addressing.Named, addressing.Everybody, addressing.Whispered, addressing.ToOthers, addressing.Misses, addressing.Elsewhere, Unheeded, Follows, Pressed, Overheard, Murmured, Unclear, AsksBack, Echoed, Stranger,
	Hushed, Commanded, Disabled, unasked.OnHold, Unheard, unasked.Due, Late, unasked.NewVoice, Replied, Reworded, Confirmed, OwnWords,
	HandedTo, Overtaken, Broadcast, Enough, Again, Passing, Foreign,
	HowFar, Meanwhile, Afterwards, Replaces, Steers, Considers, Thinks,
}

// Reasons returns every possible reason for a decision, without duplicates, as it stands in the
// journal.
func Reasons() (all []string) {
	for _, r := range slices.Concat(own, attention.Reasons()) {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}
