package hearing

import (
	"fmt"
	"math"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/speakers"
)

// Voices knows whose voices these are; a [speakers.Registry] is one. It answers within
// microseconds, and is safe for concurrent use. A voice proves nothing: a person known only by their
// voice has the rights of an unknown person.
//
// A voice like the agent's own is evidence, not proof. While the agent's sound can be heard, or a
// moment later, the voice is that sound coming back, and nobody's words. At any other time it
// belongs to an unknown person who sounds like the agent: a recording of the agent, or another
// machine with the same voice. They are heard like anybody else, but never count as a known person.
type Voices interface {
	// Whose judges whose voice v is, which began at a time, and learns from it.
	Whose(v *earshot.Voice, began time.Time) speakers.Judgement

	// Guess does the same for a voice that is still speaking, without learning from it.
	Guess(v *earshot.Voice, began time.Time) speakers.Judgement

	// Speaker returns what is known about a voice.
	Speaker(earshot.Handle) (speakers.Speaker, bool)
}

// comesBack is the share of an utterance in the agent's own voice that must have coincided with the
// agent's sound, as heard by the sense, for the utterance to be that sound. An echo coincides
// except for its tail, whereas somebody who makes the agent pause talks mostly in silence.
const comesBack = 0.5

// An Attribution says whose voice was heard.
type Attribution struct {
	Who    participants.Participant // the zero value if that is unknown
	New    bool                     // the voice was heard for the first time
	Own    bool                     // it is the agent's own voice coming back
	Unlike bool                     // the voice is unlike all known ones
}

// Attribute determines who has said something aloud, if that is known: who, if the provider knows
// them, or otherwise the owner of the voice. The author of the event is then the ID of the voice,
// even if its owner is known: their name is looked up where it is shown, and their other rights do
// not extend to the voice. The voice data itself is removed from the event.
func (l *Listener) Attribute(e *earshot.Event, who participants.Participant) Attribution {
	a := Attribution{Who: who}
	var j speakers.Judgement
	asks := l.Voices != nil && who.ID == "" && l.Settings().MultiParty.SpeakerAttribution
	switch body := e.Body.(type) {
	case earshot.Utterance:
		switch v := body.Voice; {
		case !asks || v == nil:
		case body.Faint: // it may be noise, from which nothing must be learnt
			j = l.Voices.Guess(v, e.At)
		default:
			j = l.Voices.Whose(v, e.At)
			a.New = j.New
		}
		a.Own = j.Own && (body.Own >= comesBack || l.Echo.Echoes(e.At, l.End(*e)))
		body.LikeAgent = j.Own && !a.Own
		body.Voice, body.Speaker, body.Sure = nil, j.Speaker, Share(j.Sure)
		if j.Speaker.ID == "" {
			body.Sure = 0
		}
		e.Body = body
	case earshot.Speech:
		if v := body.Voice; asks && v != nil {
			j = l.Voices.Guess(v, e.At)
		}
		a.Own = j.Own && l.Echo.Echoes(e.At, l.End(*e))
		body.LikeAgent = j.Own && !a.Own
		body.Voice = nil
		e.Body = body
	}
	a.Unlike = j.Strange
	if !j.Own && j.Speaker.ID != "" {
		a.Who = l.Meet(j.Speaker)
		e.Author = a.Who.Reader()
	}
	return a
}

// Meet returns the participant who has a voice: somebody unknown, if nobody has said whose voice it
// is.
func (l *Listener) Meet(h earshot.Handle) participants.Participant {
	name := "voice"
	if s, known := l.Voices.Speaker(h); known && s.Number > 0 {
		name = fmt.Sprintf("voice %d", s.Number)
	}
	return l.People.Meet(h, name)
}

// Share returns v limited to the range from 0 to 1: a sense may send anything.
func Share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}
