// Package participants knows who exists and who is here: people, agents, other
// systems, and the handles by which providers know them.
//
// Everybody has an ID that never changes and a name that nobody else may have
// or come close to, see [CheckName]. Whoever is not known is unknown, and
// unknown is never the operator. What changes in the registry at run time is
// recorded as [earshot.Actor] events; the registry is made again from them.
//
// There is no table of who exists. The configuration says who there is, and the journal what
// has changed since; a table would have to be rebuilt with every change of the configuration.
// Who is here is in memory only.
package participants

import (
	"slices"

	"earshot"
)

// The two participants that there are from the beginning. Their IDs stay when
// their names change.
const (
	Owner earshot.ParticipantID = "owner" // whose account started the daemon
	Agent earshot.ParticipantID = "agent" // the main agent
)

// Generic is somebody who writes where there is no terminal, and said no name:
// a script, mostly. It may be answered, and nothing else.
const Generic earshot.ParticipantID = "user"

// A Type says what a participant is.
type Type string

// The types. All but the last are external actors: they are answered directly.
const (
	Human         Type = "human"
	AIAssistant   Type = "ai_assistant"
	ExternalAgent Type = "external_agent"
	Other         Type = "other"
	Group         Type = "group" // several people who share a handle, such as a channel
	Internal      Type = "internal_agent"
)

// externals are the types of those who come from outside.
var externals = []Type{Human, AIAssistant, ExternalAgent, Other, Group}

// external reports whether t is that of somebody from outside.
func (t Type) external() bool { return slices.Contains(externals, t) }

// Machine reports whether t is that of an agent or of another system: whoever is
// answered by it may be answered for ever.
func (t Type) Machine() bool {
	return t == Internal || t == AIAssistant || t == ExternalAgent || t == Other
}

// A Capability is something that a participant may do.
type Capability string

// The capabilities. Everybody who is known has the first.
const (
	SendMessages Capability = "send_messages"
	UseTools     Capability = "use_tools"
	ReadMemory   Capability = "read_memory"
	Operate      Capability = "operate" // the daemon
)

// capable are all capabilities.
var capable = []Capability{SendMessages, UseTools, ReadMemory, Operate}

// A Participant is somebody who can say something. The zero Participant is
// somebody unknown.
type Participant struct {
	ID           earshot.ParticipantID `json:"id"`
	Name         string                `json:"name"`
	Type         Type                  `json:"type"`
	Description  string                `json:"description,omitempty"`
	Capabilities []Capability          `json:"capabilities,omitempty"`
	RequiresAuth bool                  `json:"requires_auth,omitempty"` // a name alone does not do

	// ByVoice says that they have said something aloud, and that nothing else says that
	// it was they: see [Participant.Aloud].
	ByVoice bool `json:"by_voice,omitempty"`

	// Through is the participant whose handle or name led here, if that turned out to be the same
	// person: see [Registry.Merge].
	Through earshot.ParticipantID `json:"through,omitempty"`
}

// Reader returns as whom p sees what is private: a handle that came by a merger
// sees what it saw before, and what has been addressed to the person since.
func (p Participant) Reader() earshot.ParticipantID {
	if p.Through != "" {
		return p.Through
	}
	return p.ID
}

// Aloud returns p as somebody who says something aloud: a recording of them, or whoever
// holds their telephone, may say the same, so they may have nothing done that takes more
// than to send messages.
func (p Participant) Aloud() Participant {
	p.ByVoice = true
	p.Capabilities = slices.DeleteFunc(slices.Clone(p.Capabilities), func(c Capability) bool { return c != SendMessages })
	return p
}

// Can reports whether p has the capability.
func (p Participant) Can(c Capability) bool { return slices.Contains(p.Capabilities, c) }

// Person reports whether p is a person, or several.
func (p Participant) Person() bool { return p.Type == Human || p.Type == Group }

// capabilities returns those that everybody has, and more.
func capabilities(more ...Capability) []Capability {
	may := []Capability{SendMessages}
	for _, c := range more {
		if !slices.Contains(may, c) {
			may = append(may, c)
		}
	}
	return may
}
