package wire

import "earshot"

// Names are what some participants are called.
type Names map[earshot.ParticipantID]string

// NamesIn returns what everybody is called whom e speaks of, so that it can be
// shown to somebody who has not met them.
func NamesIn(e earshot.Event, name func(earshot.ParticipantID) string) Names {
	return NamesOf(name, []earshot.ParticipantID{e.Author}, e.To, e.Visibility.Members, e.Visibility.Agents, in(e.Body))
}

// NamesOf returns what the participants in some lists are called.
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

// in returns whom a body speaks of.
func in(b earshot.Body) []earshot.ParticipantID {
	switch b := b.(type) {
	case earshot.Decision:
		return []earshot.ParticipantID{b.Agent}
	case earshot.Reply:
		if b.Cut != nil {
			return []earshot.ParticipantID{b.Cut.By}
		}
	case earshot.Actor:
		return []earshot.ParticipantID{b.Participant, b.Into}
	}
	return nil
}
