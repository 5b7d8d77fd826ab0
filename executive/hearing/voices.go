package hearing

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

// A VoiceRegistry is a [Voices] that can be told whose voices they are. Its methods are safe for
// concurrent use; those that keep something wait for a disk. They do not check the caller's rights,
// which is up to the room.
type VoiceRegistry interface {
	Voices
	Known() []speakers.Speaker
	Name(h earshot.Handle, who earshot.ParticipantID, said speakers.Attestation) (speakers.Change, error)
	Enrol(who earshot.ParticipantID, consent speakers.Attestation, voices ...earshot.Handle) (speakers.Change, error)
	Teach(began time.Time, who earshot.ParticipantID, said speakers.Attestation) (speakers.Change, error)
	Forget(h earshot.Handle, said speakers.Attestation) (speakers.Change, error)
}

var _ VoiceRegistry = (*speakers.Registry)(nil)

// ConsentTerms are the terms to which somebody agrees before their voice is kept.
const ConsentTerms = "I keep what your voice sounds like, as some numbers, in a file on this machine, so that I know it again after a restart. It holds no sound and no words, it lets nobody do or see anything, and it is erased when you say so."

// agreesWithin is how long after the end of the explanation somebody may say yes: giving the
// explanation takes a third of that, and a later yes answers something else.
const agreesWithin = time.Minute

// A Consent records who was asked whether their voice may be kept, and when. The zero value has
// asked nobody. It is not safe for concurrent use.
type Consent struct {
	voice earshot.ParticipantID
	asked time.Time
}

// rememberMe are the words by which somebody asks to be known by their voice, and yeses are those
// by which they agree.
var (
	rememberMe = []string{"remember my voice", "keep my voice", "learn my voice", "remember what i sound like", "know me by my voice"}
	yeses      = []string{"yes", "yes please", "yes i do", "yes i agree", "i agree", "please do", "sure", "of course", "yes remember it", "yes remember my voice"}
)

// Answer returns what an agent says to somebody who asks aloud, by e, that it remember their voice,
// or who agrees to that. end is when e ended. Answer returns an empty text if e does neither, or if
// no voice can be kept here. Only the person to whom a known person has attributed the voice can
// ask, and only the same voice can agree. How a model understands the words makes no difference.
// failed says why a voice could not be kept.
func (c *Consent) Answer(voices Voices, e earshot.Event, who participants.Participant, text earshot.Text, agent string, end time.Time) (answer string, failed error) {
	book, ok := voices.(VoiceRegistry)
	if !ok || !who.Voice() {
		return "", nil
	}
	words := plainly(text, agent)
	was, voice := *c, who.Reader()
	*c = Consent{}
	switch {
	case slices.Contains(yeses, words) && was.voice == voice && e.At.Sub(was.asked) <= agreesWithin:
		if _, err := book.Enrol(who.ID, speakers.Attestation{By: who.ID, At: e.At}, e.Body.(earshot.Utterance).Speaker); err != nil {
			return "I have not heard enough of you yet. Ask me again when we have talked some more.", err
		}
		return "Thank you, " + who.Name + ". I know your voice from now on.", nil
	case !slices.Contains(rememberMe, words) && words != "this is "+strings.ToLower(who.Name)+" speaking":
		return "", nil
	case who.Nameless():
		return "I do not know who you are. Somebody whom I know otherwise than by a voice has to tell me, in writing: slash voice name.", nil
	}
	*c = Consent{voice, end}
	return ConsentTerms + " Do you agree?", nil
}

var unpunctuated = strings.NewReplacer(",", "", ".", "", "!", "", "?", "", ";", "", ":", "")

// plainly returns the words without the agent's name and without punctuation.
func plainly(text earshot.Text, agent string) string {
	words := strings.Fields(strings.ToLower(unpunctuated.Replace(string(text))))
	words = slices.DeleteFunc(words, func(w string) bool { return w == strings.ToLower(agent) || w == "please" && len(words) > 2 })
	return strings.Join(words, " ")
}
