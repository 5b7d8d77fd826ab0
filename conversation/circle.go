package conversation

import (
	"slices"
	"strings"

	"earshot"
)

// A Circle identifies one conversation of a room: the public one, by the empty Circle, or a private
// one, by its members.
type Circle string

// MaxCircles is how many conversations of a room are kept apart, counting the public one. It bounds
// what waits for an agent, and what is remembered of each conversation.
const MaxCircles = 16

// CircleOf returns the conversation in which something of visibility v was said.
func CircleOf(v earshot.Visibility) Circle {
	if v.Scope != earshot.Private {
		return ""
	}
	var b strings.Builder
	for _, m := range v.Members {
		b.WriteString(string(m))
		b.WriteByte('\n')
	}
	return Circle(b.String())
}

// SameCircle reports whether two things belong to the same conversation of a room.
func SameCircle(v, w earshot.Visibility) bool {
	if v.Scope != earshot.Private || w.Scope != earshot.Private {
		return v.Scope != earshot.Private && w.Scope != earshot.Private
	}
	return slices.Equal(v.Members, w.Members)
}
