package room

import (
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/speakers"
)

// agreesWithin is how long after the explanation somebody may say yes: saying it takes a third of
// that, and a later yes answers something else.
const agreesWithin = time.Minute

// A consent is who was asked whether their voice may be kept, and when.
type consent struct {
	voice earshot.ParticipantID
	asked time.Time
}

// rememberMe are the words by which somebody asks to be known by their voice, and yeses those by
// which they agree.
var (
	rememberMe = []string{"remember my voice", "keep my voice", "learn my voice", "remember what i sound like", "know me by my voice"}
	yeses      = []string{"yes", "yes please", "yes i do", "yes i agree", "i agree", "please do", "sure", "of course", "yes remember it", "yes remember my voice"}
)

// keepsVoice returns what the agent says to somebody who asks aloud that it remember their voice,
// or agrees to that; empty if they do neither. Only the person to whom somebody known has
// attributed the voice can ask, and only the same voice can agree: how a model understands the
// words does not matter.
func (r *Room) keepsVoice(e *entry, text earshot.Text, agent string) string {
	book, ok := r.cfg.Voices.(VoiceRegistry)
	if !ok || !e.who.Voice() {
		return ""
	}
	words := r.plainly(text, agent)
	was := r.consent
	r.consent = consent{}
	who, voice := e.who, e.who.Reader()
	switch {
	case slices.Contains(yeses, words) && was.voice == voice && e.event.At.Sub(was.asked) <= agreesWithin:
		return r.enrols(book, e)
	case !slices.Contains(rememberMe, words) && !(strings.HasPrefix(words, "this is ") && words == "this is "+strings.ToLower(who.Name)+" speaking"):
		return ""
	case who.Nameless():
		return "I do not know who you are. Somebody whom I know otherwise than by a voice has to tell me, in writing: slash voice name."
	}
	r.consent = consent{voice, r.listener.End(e.event)}
	return consentTerms + " Do you agree?"
}

// enrols keeps the voice of somebody who has just agreed.
func (r *Room) enrols(book VoiceRegistry, e *entry) string {
	voice := e.event.Body.(earshot.Utterance).Speaker
	if _, err := book.Enrol(e.who.ID, speakers.Attestation{By: e.who.ID, At: e.event.At}, voice); err != nil {
		r.cfg.Log.Info("a voice could not be kept", "err", err)
		return "I have not heard enough of you yet. Ask me again when we have talked some more."
	}
	return "Thank you, " + e.who.Name + ". I know your voice from now on."
}

// plainly returns the words without the name of the agent and without punctuation.
func (r *Room) plainly(text earshot.Text, agent string) string {
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

// thatWas are the beginnings by which people correct who said something.
var thatWas = []string{"that was said by ", "it was said by ", "that was ", "it was ", "this was "}

// spokenBy returns who, according to somebody, said the last words, and whether they say that at
// all.
func (r *Room) spokenBy(by participants.Participant, said earshot.Text) (participants.Participant, bool) {
	text := strings.TrimSpace(strings.ToLower(strings.TrimRight(string(said), ".! ")))
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "no,"), "no "))
	for _, start := range thatWas {
		name, is := strings.CutPrefix(text, start)
		if name, _, _ = strings.Cut(name, ","); !is { // that was me, not Bob
			continue
		}
		if name = strings.TrimSpace(name); name == "me" || name == "i" {
			return by, true
		}
		if p, known := r.addressing.Find(name); known && p.Person() {
			return p, true
		}
	}
	return participants.Participant{}, false
}
