// Package participants knows who exists and who is here: people, agents, other systems, and the
// handles by which providers know them.
//
// Everybody has an ID that never changes, and a name that nobody else may have or come close to,
// see [CheckName]. Somebody who is not known is never taken for the operator. Changes of the
// registry at run time are recorded as [earshot.Actor] events; the registry is rebuilt from them.
//
// There is no table of who exists. The configuration says who does, and the journal what has
// changed since; a table would have to be rebuilt with every change of the configuration. Who is
// present is only kept in memory.
package participants

import (
	"errors"
	"slices"

	"earshot"
)

// The two participants that exist from the beginning. Their IDs stay when their names change.
const (
	Owner earshot.ParticipantID = "owner" // the person whose account started the daemon
	Agent earshot.ParticipantID = "agent" // the main agent
)

// Generic is somebody who writes from where there is no terminal, and gives no name: usually a
// script. They may be answered, and nothing else.
const Generic earshot.ParticipantID = "user"

// A Type says what a participant is.
type Type string

// The types. All except Internal are external actors: they are answered directly.
const (
	Human         Type = "human"
	AIAssistant   Type = "ai_assistant"
	ExternalAgent Type = "external_agent"
	Other         Type = "other"
	Group         Type = "group" // several people who share a handle, such as a channel
	Internal      Type = "internal_agent"
)

// externals are the types of external actors.
var externals = []Type{Human, AIAssistant, ExternalAgent, Other, Group}

// external reports whether t is the type of an external actor.
func (t Type) external() bool { return slices.Contains(externals, t) }

// Machine reports whether t is the type of an agent or of another system. Once it answers, it may
// go on answering for ever.
func (t Type) Machine() bool {
	return t == Internal || t == AIAssistant || t == ExternalAgent || t == Other
}

// A Capability is something that a participant may do.
type Capability string

// The capabilities. Every known participant has the first.
const (
	SendMessages Capability = "send_messages"
	UseTools     Capability = "use_tools"
	ReadMemory   Capability = "read_memory"
	Operate      Capability = "operate" // the daemon
)

// capable are all capabilities.
var capable = []Capability{SendMessages, UseTools, ReadMemory, Operate}

// A Participant is somebody who can say something. The zero Participant is somebody unknown.
type Participant struct {
	ID           earshot.ParticipantID `json:"id"`
	Name         string                `json:"name"`
	Username     string                `json:"username,omitempty"` // of an agent: see [earshot.Profile]
	Type         Type                  `json:"type"`
	Description  string                `json:"description,omitempty"`
	Capabilities []Capability          `json:"capabilities,omitempty"`
	RequiresAuth bool                  `json:"requires_auth,omitempty"` // giving the name is not enough

	// ByVoice says that they said something aloud, and that nothing else proves their identity: see
	// [Participant.Aloud].
	ByVoice bool `json:"by_voice,omitempty"`

	// Through is the participant whose handle or name led here, if that turned out to be the same
	// person: see [Registry.Merge].
	Through earshot.ParticipantID `json:"through,omitempty"`
}

// names returns the names by which p can be called.
func (p Participant) names() []string {
	if p.Username == "" {
		return []string{p.Name}
	}
	return []string{p.Name, p.Username}
}

// Reader returns the ID under which p sees private events. A handle that was added by a merger sees
// what it saw before, and what has been addressed to the person since.
func (p Participant) Reader() earshot.ParticipantID {
	if p.Through != "" {
		return p.Through
	}
	return p.ID
}

// Aloud returns p as somebody who says something aloud. A recording of them, or somebody who holds
// their telephone, may say the same. So they may only cause what needs no more than the right to
// send messages.
func (p Participant) Aloud() Participant {
	p.ByVoice = true
	p.Capabilities = slices.DeleteFunc(slices.Clone(p.Capabilities), func(c Capability) bool { return c != SendMessages })
	return p
}

// Can reports whether p has the capability.
func (p Participant) Can(c Capability) bool { return slices.Contains(p.Capabilities, c) }

// Person reports whether p is one or several people.
func (p Participant) Person() bool { return p.Type == Human || p.Type == Group }

// capabilities returns the capabilities that everybody has, and these.
func capabilities(more ...Capability) []Capability {
	may := []Capability{SendMessages}
	for _, c := range more {
		if !slices.Contains(may, c) {
			may = append(may, c)
		}
	}
	return may
}

// The errors to branch on. An error of this package that wraps one of them explains to people what
// is wrong, and has a method Cure that says what to do.
var (
	ErrName     = errors.New("the name cannot be used")
	ErrReserved = errors.New("the name belongs to an agent")
	ErrTaken    = errors.New("the name is too similar to another")
	ErrToken    = errors.New("a token is needed")
	ErrUnknown  = errors.New("nobody has that name")
	ErrFull     = errors.New("there are too many")
	ErrNotYours = errors.New("you may not do that")
)

// A refusal explains to people why something is not done.
type refusal struct {
	why           error // one of the errors above
	problem, cure string
}

// Refuse returns an error whose text is the problem, with a method Cure that says what to do about
// it. The error wraps why.
func Refuse(why error, problem, cure string) error { return &refusal{why, problem, cure} }

// Error returns the problem.
func (r *refusal) Error() string { return r.problem }

// Cure returns what to do about it.
func (r *refusal) Cure() string { return r.cure }

// Unwrap returns the error to branch on.
func (r *refusal) Unwrap() error { return r.why }
