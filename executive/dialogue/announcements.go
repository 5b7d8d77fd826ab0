package dialogue

import (
	"fmt"
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
		for i := range h.Lines {
			if h.Lines[i].Announces {
				h.remove(i)
				break
			}
		}
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
	kind, about := noun(p.Type), participants.OneLine(p.Description)
	switch {
	case about == "":
		about = kind
	case !strings.Contains(strings.ToLower(about), strings.ToLower(kind)):
		about = kind + ", " + about
	}
	fmt.Fprintf(b, "%s (%s)", p.Name, about)
}

// noun returns the word for type t.
func noun(t participants.Type) string {
	switch t {
	case participants.Human:
		return "human user"
	case participants.AIAssistant:
		return "AI assistant"
	case participants.ExternalAgent:
		return "external agent"
	case participants.Group:
		return "group of people"
	case participants.Internal:
		return "agent"
	}
	return "other system"
}
