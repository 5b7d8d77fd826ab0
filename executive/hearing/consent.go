package hearing

import (
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/speakers"
)

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
	case !slices.Contains(rememberMe, words) && !(strings.HasPrefix(words, "this is ") && words == "this is "+strings.ToLower(who.Name)+" speaking"):
		return "", nil
	case who.Nameless():
		return "I do not know who you are. Somebody whom I know otherwise than by a voice has to tell me, in writing: slash voice name.", nil
	}
	*c = Consent{voice, end}
	return ConsentTerms + " Do you agree?", nil
}

// plainly returns the words without the agent's name and without punctuation.
func plainly(text earshot.Text, agent string) string {
	folded := strings.ToLower(string(text))
	folded = strings.Map(func(c rune) rune {
		if strings.ContainsRune(",.!?;:", c) {
			return -1
		}
		return c
	}, folded)
	words := strings.Fields(folded)
	words = slices.DeleteFunc(words, func(w string) bool { return w == strings.ToLower(agent) || w == "please" && len(words) > 2 })
	return strings.Join(words, " ")
}
