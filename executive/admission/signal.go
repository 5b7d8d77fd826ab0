package admission

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/midturn"
	"earshot/executive/reason"
	"earshot/interrupt"
	"earshot/participants"
)

// answerable is for how long after it was written a message is answered. A provider that was cut
// off, for example from a chat room, later brings in what it has missed.
const answerable = 10 * time.Minute

// Stale reports whether nobody waits any more, at now, for an answer to e. It is still kept, and
// cuts nothing.
func Stale(e earshot.Event, now time.Time) bool {
	return e.Body.Kind() == earshot.KindMessage && now.Sub(e.At) > answerable
}

// judge determines what an event means for the work of an agent, and for the floor.
func (r *Resolver) judge(set *executive.Config, in *Input) {
	e := in.Event
	if in.Late = Stale(e, r.Now()); in.Late {
		in.Signal = Sent(e)
		return
	}
	switch body := e.Body.(type) {
	case earshot.Message:
		if in.Heeded && !body.OwnWords { // own words say nothing about the current work
			in.SideTalk = r.sideTalk(set, e, in.Who, in.Addressees.Agents, body.Text)
		}
	case earshot.Utterance:
		if in.Heeded && in.Address.ForAgent() {
			in.SideTalk = r.sideTalk(set, e, in.Who, in.Addressees.Agents, in.Said)
			if k := in.SideTalk.Kind; in.Before != "" && (k == midturn.Side || k == midturn.Task || k == midturn.Steer) {
				in.SideTalk = midturn.SideTalk{} // it continues the question that is being worked on
			}
		}
	case earshot.Speech:
		if in.Heeded && in.Address.ForAgent() {
			in.SideTalk = r.sideTalk(set, e, in.Who, in.Addressees.Agents, "") // nobody knows yet what it will be
			in.SideTalk.Begins = in.SideTalk.Works
		}
	}
	in.Signal = in.holdBack(in.SideTalk.Signal(r.signal(*in)))
}

// signal returns the signal of an event for the floor, or nil if it has none. Only something that
// is for an agent of the room, or a command word, cuts, whichever agent talks.
func (r *Resolver) signal(in Input) *interrupt.Signal {
	e := in.Event
	s := &interrupt.Signal{From: e.From, Via: e.Via, By: e.Author, Operator: in.Who.Can(participants.Operate), Confidence: 1, At: e.At}
	switch body := e.Body.(type) {
	case earshot.Message:
		return r.messageSignal(s, body, in)
	case earshot.Utterance:
		sounding := body.Own > 0 || r.Listener.Echo.Sounds(e.At, e.At.Add(body.Lasted))
		return unheeded(utteranceSignal(s, body, in.Address, sounding, r.Listener.Cuts(body.Text)), in.Heeded)
	case earshot.Speech:
		return unheeded(speechSignal(s, body, in.Address, r.Listener.Cuts(body.Words)), in.Heeded)
	case earshot.Edit, earshot.Sight, earshot.Glance: // nobody speaks
		return nil
	case earshot.Command:
		if !strings.EqualFold(body.Name, "stop") {
			return nil
		}
		s.Kind = interrupt.Command
	case earshot.Typing:
		s.Kind = interrupt.Over
		if body.Began {
			s.Kind = interrupt.Typing
		}
	case earshot.Presence:
		if body.Here {
			return nil
		}
		s.Kind = interrupt.Over
	}
	return s
}

// messageSignal returns the signal of a message for the floor. A private message that is not for an
// agent has none. One that is for an agent cuts a private reply to the same people, and no other:
// what an agent says to everybody is not cut for a reason that they may not know.
func (r *Resolver) messageSignal(s *interrupt.Signal, m earshot.Message, in Input) *interrupt.Signal {
	private := in.Event.Visibility.Scope == earshot.Private
	s.Kind, s.Words = interrupt.Bystanders, m.Text
	switch {
	case private && !in.Addressees.Mine:
		s.Kind, s.Words = interrupt.Over, ""
	case r.Listener.Cuts(m.Text):
		s.Kind = interrupt.Command
	case in.Addressees.Why == reason.Murmured:
		s.Kind = interrupt.Backchannel
	case in.Addressees.Why == addressing.Misses: // the author is told so, and listens on
		s.Kind, s.Words = interrupt.Over, ""
	case !in.Addressees.Mine:
	case private && !r.among(in.Event.Visibility):
		s.Kind = interrupt.Over
	case in.Who.Type.Machine(): // a machine waits its turn; what it was typing is sent
		s.Kind = interrupt.Over
	default:
		s.Kind = interrupt.Addressed
	}
	return unheeded(s, in.Heeded)
}

// among reports whether what an agent is saying now is part of the same conversation as something
// of visibility v.
func (r *Resolver) among(v earshot.Visibility) bool {
	live, _ := r.Turn()
	return live != nil && conversation.SameCircle(live.Message.Visibility, v)
}

// The signals of what is said aloud: by its stage as long as no words are known, and by whom words
// are for.
var (
	stageSignals = map[earshot.Stage]interrupt.Kind{
		earshot.VoiceBegan: interrupt.Onset, earshot.VoiceLasts: interrupt.Voice, earshot.VoiceOver: interrupt.Over,
	}
	wordSignals = map[conversation.Address]interrupt.Kind{
		conversation.Called: interrupt.Addressed, conversation.Pressed: interrupt.Addressed, conversation.Following: interrupt.Words,
		conversation.Own: interrupt.Echo, conversation.Aside: interrupt.Bystanders, conversation.Backchannel: interrupt.Backchannel,
	}
)

// speechSignal returns the signal of speech to the floor; cuts says that the words are a command
// word.
func speechSignal(s *interrupt.Signal, body earshot.Speech, to conversation.Address, cuts bool) *interrupt.Signal {
	s.Words, s.Confidence = body.Words, body.Confidence
	switch stage, known := stageSignals[body.Stage]; {
	case known:
		s.Kind = stage
	case body.Stage == earshot.VoiceWords:
		s.Kind = cmp.Or(wordSignals[to], interrupt.Unclear)
	case body.Stage != earshot.VoiceCalls || to == conversation.Own:
		return nil
	case cuts:
		s.Kind = interrupt.Command
	default:
		s.Kind = interrupt.Addressed
	}
	return s
}

// utteranceSignal returns the signal of an utterance to the floor. A command word that is said while
// the agent speaks is for the agent, whomever it addresses.
func utteranceSignal(s *interrupt.Signal, body earshot.Utterance, to conversation.Address, sounding, cuts bool) *interrupt.Signal {
	s.Words, s.Confidence = body.Text, body.Confidence
	switch {
	case cuts && to != conversation.Own && (to.ForAgent() || sounding):
		s.Kind = interrupt.Command
	case to.ForAgent():
		s.Kind = interrupt.Addressed
	default:
		s.Kind = cmp.Or(wordSignals[to], interrupt.Over)
	}
	return s
}

// unheeded returns s as a signal of somebody whom the agent does not answer.
func unheeded(s *interrupt.Signal, heeded bool) *interrupt.Signal {
	if s != nil && !heeded && (s.Kind == interrupt.Addressed || s.Kind == interrupt.Words) {
		s.Kind = interrupt.Bystanders
	}
	return s
}

// sideTalk determines what a text means that was said to some agents, by somebody whom they answer.
// A turn that talks is cut by anybody who talks to its agent, whatever they say. A turn that works
// silently is only cut if the text is about the work, or the agent waits for another one. Its
// progress can be asked for until the first word has come.
func (r *Resolver) sideTalk(set *executive.Config, e earshot.Event, who participants.Participant, to []earshot.ParticipantID, text earshot.Text) midturn.SideTalk {
	if who.Type.Machine() {
		return midturn.SideTalk{}
	}
	live, agent := r.Turn()
	switch {
	case live == nil:
		main := r.Agents()[0]
		if !slices.Contains(to, main.ID) {
			return midturn.SideTalk{}
		}
		return r.Mind.SideTalk(e, text, r.Now())
	case live.Progress == nil || !conversation.SameCircle(live.Message.Visibility, e.Visibility) || !slices.Contains(to, agent.ID):
		return midturn.SideTalk{}
	}
	a := midturn.SideTalk{Works: true, Progress: live.Progress, Agent: agent}
	a.Kind = midturn.Classify(text, agent.Name, live.Progress.On())
	works, spoken := live.Progress.Quiet()
	if (a.Kind == midturn.Side || a.Kind == midturn.Task) && r.Waits.Any() {
		return midturn.SideTalk{} // a person precedes what agents have to say to each other
	}
	if (a.Kind == midturn.Steer || a.Kind == midturn.Instead) && !Interrupts(set, e.From) {
		return midturn.SideTalk{} // nothing is broken off
	}
	if works || !spoken && (a.Kind == midturn.Status || a.Kind == midturn.Stop) {
		return a
	}
	return midturn.SideTalk{}
}
