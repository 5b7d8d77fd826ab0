// Package decision answers "shall I speak?" about something that was said or written in a room, and
// holds every reason for a decision that the room itself gives, as it stands in the journal. What an
// agent says although nobody asked is decided in package attention. All of it is pure, and knows no
// room.
package decision

import (
	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reflex"
	"earshot/executive/unasked"
)

// An Input is what "shall I speak?" is decided from.
type Input struct {
	Enabled    bool
	Mode       earshot.Mode // of the room
	Want       reflex.Kind
	Quiet      bool                  // somebody asked for silence
	Late       bool                  // nobody waits for an answer any more
	Known      bool                  // the author is known
	Heeded     bool                  // the agent may answer the author
	Cut        bool                  // it has cut the agent off, by a command word
	Refuses    bool                  // it says that the agent must not speak
	To         conversation.Address  // of a spoken event; empty for a written one
	Addressees addressing.Addressees // of a written event
}

// Decide says whether to speak, and why. It is pure.
func Decide(in Input) (earshot.Verdict, []string) {
	named := in.Addressees.Named || in.To == conversation.Called || in.To == conversation.Pressed
	switch {
	case !in.Enabled:
		return earshot.Silent, []string{Disabled}
	case in.Mode == earshot.Paused:
		return earshot.Silent, []string{unasked.OnHold}
	case in.Mode == earshot.OffRecord: // it was admitted before that
		return earshot.Silent, []string{Unheard}
	case in.Late:
		return earshot.Silent, []string{Late}
	case !in.Known && in.To == "": // a voice need not be known to be answered
		return earshot.Silent, []string{Stranger}
	case in.Cut: // whomever it was said to
		return earshot.Silent, []string{Commanded}
	case in.To == conversation.Aside:
		return earshot.Silent, []string{Overheard}
	case in.To == conversation.Backchannel:
		return earshot.Silent, []string{Murmured}
	case in.To == conversation.Own: // it is only kept if it has cut a reply
		return earshot.Silent, []string{Echoed}
	case in.To == conversation.Unsure, in.To == conversation.Mumbled && (in.Quiet || !in.Heeded):
		return earshot.Silent, []string{Unclear}
	case in.To == conversation.Mumbled:
		return earshot.Speak, []string{AsksBack}
	case in.Want.Cuts():
		return earshot.Silent, []string{Commanded}
	case in.To == "" && !in.Addressees.Mine:
		return earshot.Silent, []string{in.Addressees.Why}
	case !in.Heeded:
		return earshot.Silent, []string{Unheeded}
	case in.Refuses:
		return earshot.Silent, []string{attention.ToldNo}
	case in.Quiet && !named && in.Want != reflex.Wake:
		return earshot.Silent, []string{Hushed}
	case in.To == conversation.Called:
		return earshot.Speak, []string{addressing.Named}
	case in.To == conversation.Following:
		return earshot.Speak, []string{Follows}
	case in.To == conversation.Pressed:
		return earshot.Speak, []string{Pressed}
	}
	return earshot.Speak, []string{in.Addressees.Why}
}

// AsksModel reports whether a model is asked for the answer.
func (in Input) AsksModel() bool {
	verdict, _ := Decide(in)
	return verdict == earshot.Speak && in.Want == reflex.None
}
