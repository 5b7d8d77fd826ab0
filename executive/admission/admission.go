// Package admission takes events into a room. A [Resolver] determines, once and for all, who an event
// is from, whom it is for, who may see it, and what it means for the floor and for the work of the
// agents: it changes nothing but what a listener remembers of the voices. A [Queue] is the way of the
// resolved event into the journal. What an event then does to the room is done by the room.
//
// A [SpeechHandler] handles what is said aloud, besides what it means: the words that are being said,
// the words that cut a reply and were never completed, the voices that come and go, whose an utterance
// turned out to be, and the sounds by which an agent shows that it listens.
package admission

import (
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/hearing"
	"earshot/executive/intake"
	"earshot/executive/midturn"
	"earshot/executive/question"
	"earshot/interrupt"
	"earshot/participants"
)

// Errors of an admission.
var (
	ErrClosed = errors.New("the room is closed: earshot is stopping")
	ErrBusy   = errors.New("the room is busy: too much arrived at once; try again in a moment")

	// ErrTaken says that an event was not kept because another event has its ID.
	ErrTaken = errors.New("the ID belongs to another event, so this one was not kept; send it with a new ID")

	errOffRecord = errors.New("the room is off the record, but this would be kept; /resume first")
)

// An Input is an event whose author, addressees and audience are known.
type Input struct {
	Event       earshot.Event
	Who         participants.Participant
	Address     conversation.Address  // of what was said aloud: why it is for an agent
	Addressees  addressing.Addressees // for which agents it is
	Heeded      bool                  // an agent may answer its author
	NewVoice    bool                  // it is the first that was heard of a voice
	OwnVoice    bool                  // it is the agent's own voice, come back
	Late        bool                  // it was written so long ago that nobody waits for an answer
	UnlikeVoice bool                  // its voice is unlike all known ones
	SideTalk    midturn.SideTalk      // what it means for the work of the agent that it calls
	Signal      *interrupt.Signal     // nil if it is none
	Received    time.Time             // when the room received it
	Said        earshot.Text          // its words, before a name in them is corrected
	Change      Change                // what it does to a message that was admitted before
	Before      earshot.Text          // the words before it that it continues
	Continues   bool                  // it continues what was said before, as far as anybody can tell
}

// A Change is what an event does to a message that was admitted before.
type Change struct {
	Of    earshot.EventID
	Again *question.Question // the question that is being answered, and is asked again
}

// BeginsTyping reports whether somebody begins to type.
func (in *Input) BeginsTyping() bool {
	typing, _ := in.Event.Body.(earshot.Typing)
	return typing.Began
}

// Begins reports whether in is the beginning of something that may be answered.
func (in *Input) Begins() bool {
	switch body := in.Event.Body.(type) {
	case earshot.Typing:
		return body.Began
	case earshot.Speech:
		return body.Stage != earshot.VoiceOver && in.Address != conversation.Own && in.Address != conversation.Aside && in.Address != conversation.Backchannel && in.Signal != nil
	case earshot.Message:
		return in.Addressees.Mine
	case earshot.Utterance:
		return in.Address.ForAgent()
	}
	return false
}

// Asker returns the author of something, as somebody who asks for something by it.
func (in *Input) Asker() participants.Participant {
	if in.Event.Body.Kind() == earshot.KindUtterance {
		return in.Who.Aloud()
	}
	return in.Who
}

// Machine reports whether something is from a machine, as far as that is known: two machines with
// one voice must not talk for ever.
func (in *Input) Machine() bool { return in.Who.Type.Machine() || hearing.LikeAgent(in.Event) }

// Rank is how urgent it is. A message to the agent is as urgent if it cuts nothing.
func (in *Input) Rank() int {
	s := *in.Signal
	if in.Addressees.Mine && s.Kind == interrupt.Over {
		s.Kind = interrupt.Addressed
	}
	return s.Rank()
}

// holdBack returns the signal s of words that continue a sentence: they hold back the answer until
// their meaning is known.
func (in *Input) holdBack(s *interrupt.Signal) *interrupt.Signal {
	if in.Continues && s != nil && s.Kind != interrupt.Command {
		s.Kind = interrupt.Voice
	}
	return s
}

// Sent is the signal of a line that means nothing else to the speakers: it is no longer being
// typed.
func Sent(e earshot.Event) *interrupt.Signal {
	return &interrupt.Signal{Kind: interrupt.Over, From: e.From, Via: e.Via, By: e.Author, Confidence: 1, At: e.At}
}

// Interrupts reports whether the user wants to be able to interrupt by the connection through which
// somebody is present.
func Interrupts(set *executive.Config, who earshot.Handle) bool {
	return set.Interruption.Enabled && slices.Contains(set.Interruption.Sources, intake.Source(who))
}
