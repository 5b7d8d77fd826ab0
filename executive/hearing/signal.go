package hearing

import (
	"earshot"
	"earshot/conversation"
	"earshot/interrupt"
)

// SpeechSignal returns the signal of speech to the floor; cuts says that the words are a command
// word.
func SpeechSignal(s *interrupt.Signal, body earshot.Speech, to conversation.Address, cuts bool) *interrupt.Signal {
	s.Words, s.Confidence = body.Words, body.Confidence
	switch body.Stage {
	case earshot.VoiceBegan:
		s.Kind = interrupt.Onset
	case earshot.VoiceLasts:
		s.Kind = interrupt.Voice
	case earshot.VoiceOver:
		s.Kind = interrupt.Over
	case earshot.VoiceCalls:
		switch {
		case to == conversation.Own:
			return nil
		case cuts:
			s.Kind = interrupt.Command
		default:
			s.Kind = interrupt.Addressed
		}
	case earshot.VoiceWords:
		return wordsSignal(s, to)
	default:
		return nil
	}
	return s
}

// wordsSignal returns the signal to the floor of words that are still being said.
func wordsSignal(s *interrupt.Signal, to conversation.Address) *interrupt.Signal {
	switch to {
	case conversation.Called, conversation.Pressed:
		s.Kind = interrupt.Addressed
	case conversation.Following:
		s.Kind = interrupt.Words
	case conversation.Own:
		s.Kind = interrupt.Echo
	case conversation.Aside:
		s.Kind = interrupt.Bystanders
	case conversation.Backchannel:
		s.Kind = interrupt.Backchannel
	default:
		s.Kind = interrupt.Unclear
	}
	return s
}

// UtteranceSignal returns the signal of an utterance to the floor. A command word that is said
// while the agent speaks is for the agent, whomever it addresses.
func UtteranceSignal(s *interrupt.Signal, body earshot.Utterance, to conversation.Address, sounding, cuts bool) *interrupt.Signal {
	s.Words, s.Confidence = body.Text, body.Confidence
	switch {
	case to == conversation.Own:
		s.Kind = interrupt.Echo
	case cuts && (to.ForAgent() || sounding):
		s.Kind = interrupt.Command
	case to.ForAgent():
		s.Kind = interrupt.Addressed
	case to == conversation.Backchannel:
		s.Kind = interrupt.Backchannel
	case to == conversation.Aside:
		s.Kind = interrupt.Bystanders
	default:
		s.Kind = interrupt.Over
	}
	return s
}
