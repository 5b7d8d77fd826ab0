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
	"earshot/executive/midturn"
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
		{!in.Enabled, earshot.Silent, Disabled},
		{in.Mode == earshot.Paused, earshot.Silent, attention.OnHold},
		{in.Mode == earshot.OffRecord, earshot.Silent, Unheard}, // it was admitted before that
		{in.Late, earshot.Silent, Late},
		{!in.Known && in.To == "", earshot.Silent, Stranger}, // a voice need not be known to be answered
		{in.Cut, earshot.Silent, midturn.Commanded},          // whomever it was said to
		{in.To == conversation.Aside, earshot.Silent, Overheard},
		{in.To == conversation.Backchannel, earshot.Silent, Murmured},
		{in.To == conversation.Own, earshot.Silent, Echoed}, // it is only kept if it has cut a reply
		{in.To == conversation.Unsure, earshot.Silent, Unclear},
		{in.To == conversation.Mumbled && (in.Quiet || !in.Heeded), earshot.Silent, Unclear},
		{in.To == conversation.Mumbled, earshot.Speak, AsksBack},
		{in.Want.Cuts(), earshot.Silent, midturn.Commanded},
		{in.To == "" && !in.Addressees.Mine, earshot.Silent, in.Addressees.Why},
		{!in.Heeded, earshot.Silent, Unheeded},
		{in.Refuses, earshot.Silent, attention.ToldNo},
		{in.Quiet && !named && in.Want != reflex.Wake, earshot.Silent, Hushed},
		{in.To == conversation.Called, earshot.Speak, addressing.Named},
		{in.To == conversation.Following, earshot.Speak, Follows},
		{in.To == conversation.Pressed, earshot.Speak, Pressed},
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

// The reasons for a decision, as they stand in the journal.
const (
	Unheeded  = "several people are here, and executive.multi_party.enabled is false"
	Follows   = "it was said aloud right after my answer"
	Pressed   = "it was said aloud while the talk key was held"
	Overheard = "it was said aloud, and not to me"
	Murmured  = "it only showed that somebody is listening"
	Unclear   = "it was said aloud, and I hardly understood it"
	AsksBack  = "it was said to me, but I hardly understood it, so I ask them to say it again"
	Echoed    = "it is the echo of my own voice, which cut me off"
	Stranger  = "I do not know who said it"
	Hushed    = "I was asked to be quiet"
	Disabled  = "executive.enabled is false"
	Unheard   = "the room is off the record"
	Late      = "it arrived long after it was written"
	Replied   = "it replies to what I wrote"
	Reworded  = "its author changed it while I was answering, so I start again"
	Confirmed = "somebody with the right to do so confirmed a tool call that had been held back"
	OwnWords  = "it was asked with the asker's own words alone"
)

// The reasons for decisions about what agents say to each other.
const (
	HandedTo  = "another agent calls me"
	Overtaken = "a person asked something in the meantime, and people go first"
	Broadcast = "every agent was asked, so their answers call nobody"
	Enough    = "the agents have reached the limit of executive.multi_party.turn_limit messages in a row"
	Again     = "the agents keep repeating themselves"
	Passing   = "an agent passes control to a person"
	Foreign   = "it calls another user's agent, which only people may do"
)

// own are the reasons that have nothing to do with what agents say unasked.
var own = []string{
	addressing.Alone, addressing.Named, addressing.Everybody, addressing.Whispered, addressing.ToOthers, addressing.Misses, addressing.Elsewhere, Unheeded, Follows, Pressed, Overheard, Murmured, Unclear, AsksBack, Echoed, Stranger,
	Hushed, midturn.Commanded, Disabled, attention.OnHold, Unheard, attention.Due, Late, attention.NewVoice, Replied, Reworded, Confirmed, OwnWords,
	HandedTo, Overtaken, Broadcast, Enough, Again, Passing, Foreign,
	midturn.HowFar, midturn.Meanwhile, midturn.Afterwards, midturn.Replaces, midturn.Steers, midturn.Considers, midturn.Thinks,
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
