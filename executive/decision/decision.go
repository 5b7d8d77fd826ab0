// Package decision answers "shall I speak?" about something that was said or written in a room, and
// holds every reason for a decision that the room itself gives, as it stands in the journal. What an
// agent says although nobody asked is decided in package attention. All of it is pure, and knows no
// room.
package decision

import (
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/executive/reflex"
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

// Decide says whether to speak, and why: by the first of its rules that applies. It is pure.
func Decide(in Input) (earshot.Verdict, []string) {
	named := in.Addressees.Named || in.To == conversation.Called || in.To == conversation.Pressed
	for _, rule := range []struct {
		applies bool
		verdict earshot.Verdict
		reason  string
	}{
		{!in.Enabled, earshot.Silent, reason.Disabled},
		{in.Mode == earshot.Paused, earshot.Silent, reason.OnHold},
		{in.Mode == earshot.OffRecord, earshot.Silent, reason.Unheard}, // it was admitted before that
		{in.Late, earshot.Silent, reason.Late},
		{!in.Known && in.To == "", earshot.Silent, reason.Stranger}, // a voice need not be known to be answered
		{in.Cut, earshot.Silent, reason.Commanded},                  // whomever it was said to
		{in.To == conversation.Aside, earshot.Silent, reason.Overheard},
		{in.To == conversation.Backchannel, earshot.Silent, reason.Murmured},
		{in.To == conversation.Own, earshot.Silent, reason.Echoed}, // it is only kept if it has cut a reply
		{in.To == conversation.Unsure, earshot.Silent, reason.Unclear},
		{in.To == conversation.Mumbled && (in.Quiet || !in.Heeded), earshot.Silent, reason.Unclear},
		{in.To == conversation.Mumbled, earshot.Speak, reason.AsksBack},
		{in.Want.Cuts(), earshot.Silent, reason.Commanded},
		{in.To == "" && !in.Addressees.Mine, earshot.Silent, in.Addressees.Why},
		{!in.Heeded, earshot.Silent, reason.Unheeded},
		{in.Refuses, earshot.Silent, attention.ToldNo},
		{in.Quiet && !named && in.Want != reflex.Wake, earshot.Silent, reason.Hushed},
		{in.To == conversation.Called, earshot.Speak, addressing.Named},
		{in.To == conversation.Following, earshot.Speak, reason.Follows},
		{in.To == conversation.Pressed, earshot.Speak, reason.Pressed},
	} {
		if rule.applies {
			return rule.verdict, []string{rule.reason}
		}
	}
	return earshot.Speak, []string{in.Addressees.Why}
}

// AsksModel reports whether a model is asked for the answer.
func (in Input) AsksModel() bool {
	verdict, _ := Decide(in)
	return verdict == earshot.Speak && in.Want == reflex.None
}

// own are the reasons that have nothing to do with what agents say unasked.
var own = []string{
	addressing.Alone, addressing.Named, addressing.Everybody, addressing.Whispered, addressing.ToOthers, addressing.Misses, addressing.Elsewhere, reason.Unheeded, reason.Follows, reason.Pressed, reason.Overheard, reason.Murmured, reason.Unclear, reason.AsksBack, reason.Echoed, reason.Stranger,
	reason.Hushed, reason.Commanded, reason.Disabled, reason.OnHold, reason.Unheard, reason.Due, reason.Late, reason.NewVoice, reason.Replied, reason.Reworded, reason.Confirmed, reason.OwnWords,
	reason.HandedTo, reason.Overtaken, reason.Broadcast, reason.Enough, reason.Again, reason.Passing, reason.Foreign,
	reason.HowFar, reason.Meanwhile, reason.Afterwards, reason.Replaces, reason.Steers, reason.Considers, reason.Thinks,
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
