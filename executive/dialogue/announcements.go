package dialogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/participants"
)

// keepAnnounced is how many announcements the dialogue holds: more than a model needs to know how
// the people present came to be here.
const keepAnnounced = 8

// announced takes an announcement into the dialogue. In an unbroken run of them only the last one
// of each person is kept.
func (h *History) announced(l Line) {
	for i := len(h.Lines) - 1; i >= 0 && h.Lines[i].Announces; i-- {
		if h.Lines[i].Author == l.Author {
			h.remove(i)
			break
		}
	}
	h.Add(l)
	if h.announcements() > keepAnnounced {
		h.remove(slices.IndexFunc(h.Lines, func(l Line) bool { return l.Announces }))
	}
}

// announcements returns how many announcements the dialogue has.
func (h *History) announcements() (n int) {
	for _, l := range h.Lines {
		if l.Announces {
			n++
		}
	}
	return n
}

// EndPresence removes from the dialogue the arrivals of people whose departure was not announced.
// Nobody is here when a program begins, and the previous program did not see them leave.
func (h *History) EndPresence() {
	gone := make(map[earshot.ParticipantID]bool)
	for i := len(h.Lines) - 1; i >= 0; i-- {
		l := h.Lines[i]
		if !l.Announces || gone[l.Author] {
			continue
		}
		gone[l.Author] = true
		if l.comes {
			h.remove(i)
		}
	}
}

// announcement says who has come or left.
func announcement(people *participants.Registry, id earshot.ParticipantID, p earshot.Presence) string {
	var b strings.Builder
	if who, known := people.Get(id); known && p.Here {
		Describe(&b, who)
	} else {
		b.WriteString(people.Name(id))
	}
	b.WriteString(map[bool]string{true: " has joined the conversation", false: " has left the conversation"}[p.Here])
	switch {
	case p.Times == 1:
		b.WriteString(", having come and gone once more meanwhile")
	case p.Times > 1:
		fmt.Fprintf(&b, ", having come and gone %d times meanwhile", p.Times)
	}
	return b.String()
}

// Describe writes the name, type and description of somebody. It writes the type only if the
// description does not contain it.
func Describe(b *strings.Builder, p participants.Participant) {
	kind, about := cmp.Or(nouns[p.Type], "other system"), participants.OneLine(p.Description)
	switch {
	case about == "":
		about = kind
	case !strings.Contains(strings.ToLower(about), strings.ToLower(kind)):
		about = kind + ", " + about
	}
	fmt.Fprintf(b, "%s (%s)", p.Name, about)
}

// nouns are the words for the types.
var nouns = map[participants.Type]string{
	participants.Human:         "human user",
	participants.AIAssistant:   "AI assistant",
	participants.ExternalAgent: "external agent",
	participants.Group:         "group of people",
	participants.Internal:      "agent",
}
