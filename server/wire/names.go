package wire

import "earshot"

// Names are the names of some participants.
type Names map[earshot.ParticipantID]string

// NamesIn returns the names of everybody whom e mentions, so that it can be shown to a reader who
// has not met them.
func NamesIn(e earshot.Event, name func(earshot.ParticipantID) string) Names {
	return NamesOf(name, []earshot.ParticipantID{e.Author}, e.To, e.Visibility.Members, e.Visibility.Agents, in(e.Body))
}

// NamesOf returns the names of the participants in some lists.
func NamesOf(name func(earshot.ParticipantID) string, lists ...[]earshot.ParticipantID) Names {
	names := make(Names)
	for _, some := range lists {
		for _, id := range some {
			if id != "" {
				names[id] = name(id)
			}
		}
	}
	return names
}

// in returns the participants whom a body mentions.
func in(b earshot.Body) []earshot.ParticipantID {
	switch b := b.(type) {
	case earshot.Decision:
		return []earshot.ParticipantID{b.Agent}
	case earshot.Reply:
		return inReply(b)
	case earshot.Actor:
		return []earshot.ParticipantID{b.Participant, b.Into}
	case earshot.Agent:
		return []earshot.ParticipantID{b.ID}
	case earshot.Attribution:
		return []earshot.ParticipantID{b.Author, b.By}
	}
	return nil
}

// inReply returns who cut a reply off, and to whom it hands over.
func inReply(r earshot.Reply) (some []earshot.ParticipantID) {
	if r.Cut != nil {
		some = append(some, r.Cut.By)
	}
	if r.Handover != nil {
		some = append(some, r.Handover.To)
	}
	return some
}
