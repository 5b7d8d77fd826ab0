package conversation

import (
	"strings"

	"earshot"
	"earshot/participants"
)

// Sections tell a model who is there: what the difference between people and
// agents is, and who of them is in the room (seed 000). Self is the agent whose
// prompt it is.
func Sections(r *participants.Roster, self earshot.ParticipantID) string {
	var b strings.Builder
	b.WriteString("=== CURRENT PARTICIPANTS ===\nExternal:")
	for _, p := range r.External {
		b.WriteString(" " + participants.OneLine(p.Name) + ";")
	}
	return b.String() + "\n"
}
