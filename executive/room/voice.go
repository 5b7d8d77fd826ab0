package room

import (
	"maps"
	"math"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/reflex"
	"earshot/interrupt"
)

// maxUtterance is the longest utterance in bytes: nobody says more than that in
// the half minute that an ear listens to at once.
const maxUtterance = 4 << 10

// utterance returns u as a room keeps it: a sense may send anything.
func utterance(u earshot.Utterance) (earshot.Utterance, error) {
	text, err := wording(u.Text, maxUtterance)
	u.Text = text
	u.Confidence, u.Own = share(u.Confidence), share(u.Own)
	u.Lasted = min(max(u.Lasted, 0), time.Hour)
	return u, err
}

// speech is the same for words that are still being said.
func speech(s earshot.Speech) earshot.Speech {
	s.Words = s.Words[:min(len(s.Words), maxUtterance)]
	s.Words = earshot.Text(strings.ToValidUTF8(string(s.Words), "\uFFFD"))
	s.Confidence = share(s.Confidence)
	return s
}

// share returns v as a share of one.
func share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}

// address says whom e is for, if it was said aloud.
func (r *Room) address(e earshot.Event) conversation.Address {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return r.listener().Address(body, e.At, r.attention(e.From, e.At, e.At.Add(body.Lasted)))
	case earshot.Speech:
		switch body.Stage {
		case earshot.VoiceWords:
			return r.listener().Words(body, e.At, r.attention(e.From, e.At, r.cfg.Now()))
		case earshot.VoiceCalls:
			return r.listener().Calls(body, r.attention(e.From, e.At, e.At))
		}
	}
	return ""
}

// listener is how this room's agent listens.
func (r *Room) listener() conversation.Listener {
	set := r.cfg.Settings()
	return conversation.Listener{
		Name: set.Name, As: append(conversation.Spellings(set.Name), set.Speech.HeardAs...),
		After: set.Speech.FollowUp.Duration(), Sure: set.Speech.LeastConfidence,
	}
}

// attention is what the agent was doing from one time to another, as far as it
// concerns a voice.
func (r *Room) attention(from earshot.Handle, begin, end time.Time) conversation.Attention {
	saying := r.aloud.between(begin, end)
	r.mu.Lock()
	defer r.mu.Unlock()
	a := conversation.Attention{Saying: saying, Talking: r.live != "" && r.with.From == from}
	if t, ok := r.answered[from]; ok {
		a.Answered, a.Since = t.ended, t.asked
	}
	if a.Talking {
		a.Since = r.with.At
	}
	return a
}

// voiced returns what speech is to the floor.
func voiced(s *interrupt.Signal, body earshot.Speech, to conversation.Address, agent string) *interrupt.Signal {
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
		case reflex.Recognise(body.Words, agent).Cuts():
			s.Kind = interrupt.Command
		default:
			s.Kind = interrupt.Addressed
		}
	case earshot.VoiceWords:
		return worded(s, to)
	default:
		return nil
	}
	return s
}

// worded returns what words that are still being said are to the floor.
func worded(s *interrupt.Signal, to conversation.Address) *interrupt.Signal {
	switch to {
	case conversation.Called:
		s.Kind = interrupt.Addressed
	case conversation.Following:
		s.Kind = interrupt.Words
	case conversation.Own:
		s.Kind = interrupt.Echo
	case conversation.Aside:
		s.Kind = interrupt.Bystanders
	default:
		return nil // what it paused stays paused until one knows more
	}
	return s
}

// uttered returns what an utterance is to the floor. A command word that is
// said while the agent speaks is for it, whoever it is said to.
func uttered(s *interrupt.Signal, body earshot.Utterance, to conversation.Address, sounding bool, agent string) *interrupt.Signal {
	s.Words, s.Confidence = body.Text, body.Confidence
	cuts := reflex.Recognise(body.Text, agent).Cuts()
	switch {
	case to == conversation.Own:
		s.Kind = interrupt.Echo
	case cuts && (to.ForAgent() || sounding):
		s.Kind = interrupt.Command
	case to.ForAgent():
		s.Kind = interrupt.Addressed
	case to == conversation.Aside:
		s.Kind = interrupt.Bystanders
	default:
		s.Kind = interrupt.Over
	}
	return s
}

// A talk is when a voice was last answered.
type talk struct{ asked, ended time.Time }

// maxAnswered is how many voices the room remembers having answered: more than
// one can talk with at a time.
const maxAnswered = 64

// talked notes that the agent has answered a voice.
func (r *Room) talked(question earshot.Event, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answered) >= maxAnswered {
		maps.DeleteFunc(r.answered, func(_ earshot.Handle, t talk) bool { return at.Sub(t.ended) > time.Minute })
	}
	if len(r.answered) < maxAnswered {
		r.answered[question.From] = talk{question.At, at}
	}
}
