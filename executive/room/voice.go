package room

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/echo"
	"earshot/executive/reflex"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/participants/agents"
)

// maxUtterance is the longest utterance in bytes: nobody says more in the half minute that is
// transcribed at once.
const maxUtterance = 4 << 10

// utterance returns u in the form in which a room keeps it: a sense may send anything.
func utterance(u earshot.Utterance) (earshot.Utterance, error) {
	text, err := wording(u.Text, maxUtterance)
	u.Text = text
	u.Continues, u.LikeAgent = "", false
	u.Confidence, u.Own = share(u.Confidence), share(u.Own)
	u.Lasted = min(max(u.Lasted, 0), time.Hour)
	return u, err
}

// speech does the same for words that are still being said.
func speech(s earshot.Speech) earshot.Speech {
	s.Words = s.Words[:min(len(s.Words), maxUtterance)]
	s.Words = earshot.Text(strings.ToValidUTF8(string(s.Words), "\uFFFD"))
	s.Confidence, s.LikeAgent = share(s.Confidence), false
	return s
}

// share returns v limited to the range from 0 to 1.
func share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}

// address says for whom e is, if it was said aloud: for which agents, and by what evidence. Several
// can be called at once; somebody who calls none continues with the agent with which they are
// talking. unlike says that the voice is unlike any known one.
func (r *Room) address(e earshot.Event, unlike bool) (to conversation.Address, whom []earshot.ParticipantID) {
	about, with := r.attention(e, unlike)
	for _, a := range r.agents() {
		if r.hears(a, e, about) == conversation.Called {
			whom = append(whom, a.ID)
		}
	}
	if len(whom) > 0 {
		return conversation.Called, whom
	}
	if to = r.hears(with, e, about); to.ForAgent() || to == conversation.Mumbled {
		whom = []earshot.ParticipantID{with.ID}
	}
	return to, whom
}

// hears returns what something said aloud means to one agent.
func (r *Room) hears(a agents.Record, e earshot.Event, about conversation.SpeechContext) conversation.Address {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return r.listener(a).Address(body, e.At, about)
	case earshot.Speech:
		switch body.Stage {
		case earshot.VoiceWords:
			return r.listener(a).Words(body, e.At, about)
		case earshot.VoiceCalls:
			return r.listener(a).Calls(body, about)
		}
	}
	return ""
}

// listener returns the classifier by which an agent listens.
func (r *Room) listener(a agents.Record) conversation.AddressClassifier {
	set := r.cfg.Settings().Speech
	l := conversation.AddressClassifier{Name: a.Name, As: conversation.Spellings(a.Name), After: set.FollowUp.Duration(), Sure: set.LeastConfidence, Asks: set.AskBack}
	if a.ID == participants.Agent {
		l.As = append(l.As, set.HeardAs...)
	}
	return l
}

// correct returns text with the names of agents in their correct spelling.
func (r *Room) correct(text earshot.Text) earshot.Text {
	for _, a := range r.agents() {
		text = r.listener(a).Correct(text)
	}
	return text
}

// attention returns what the agents were doing while e was said, as far as it concerns the speaker,
// and with which of them the speaker is talking: the agent that is answering them, or did last; the
// main one if none did.
func (r *Room) attention(e earshot.Event, unlike bool) (conversation.SpeechContext, agents.Record) {
	all, by := r.agents(), r.counterpart(e)
	a := conversation.SpeechContext{
		Saying:   r.echoReference.Between(e.At, r.ends(e)),
		Said:     r.echoReference.Between(e.At.Add(-echo.MaxDelay), r.ends(e)),
		Sounding: r.echoReference.Sounds(e.At, r.ends(e)),
		Echoing:  r.echoReference.Echoes(e.At, r.ends(e)),
		Asked:    r.echoReference.Asked(e.At, r.ends(e)),
		Commands: r.orders(e.Body),
		Rested:   r.activity.Rested(e.At),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, with := r.lastTalk(e, by), -1
	find := func(id earshot.ParticipantID) int {
		return slices.IndexFunc(all, func(a agents.Record) bool { return a.ID == id })
	}
	if with = find(t.by); with >= 0 {
		a.Answered, a.Since, a.AskedBack = t.ended, t.asked, t.asksBack
	}
	a.Stranger = e.Author == "" && t.with != ""
	if r.activeTurn != nil && r.same(r.activeTurn.message, e) {
		a.Stranger = e.Author == "" && r.activeTurn.message.Author != ""
		a.Talking, a.Since, with = true, r.activeTurn.message.At, find(r.activeTurn.seat.ID)
	}
	a.Other = a.Talking && a.Stranger && (unlike || r.answersBystander(e)) || r.activeTurn != nil && r.differentSpeakers(r.activeTurn.message, e)
	return a, all[max(0, with)]
}

// orders reports whether the words are an order that an agent carries out at once.
func (r *Room) orders(b earshot.Body) bool {
	text := earshot.Text("")
	switch body := b.(type) {
	case earshot.Utterance:
		text = body.Text
	case earshot.Speech:
		text = body.Words
	}
	return text != "" && slices.ContainsFunc(r.agents(), func(a agents.Record) bool { return reflex.Recognise(text, a.Name) != reflex.None })
}

// misheard returns e with the phrase that silences an agent, if a recogniser wrote something that
// sounds like it while an agent was speaking: at that time nothing else is said so often.
func (r *Room) misheard(e earshot.Event) earshot.Event {
	u, whole := e.Body.(earshot.Utterance)
	if !whole || !(u.Own > 0 || r.echoReference.Sounds(e.At, r.ends(e))) {
		return e
	}
	for _, a := range r.agents() {
		if phrase := reflex.Misheard(u.Text, a.Name); phrase != "" {
			u.Text = phrase
			e.Body = u
			break
		}
	}
	return e
}

// correctName returns e with the correct name of an agent that was called, if a recogniser wrote
// something else.
func (r *Room) correctName(e earshot.Event, unlike bool) earshot.Event {
	u, whole := e.Body.(earshot.Utterance)
	if !whole {
		return e
	}
	about, _ := r.attention(e, unlike)
	for _, a := range r.agents() {
		u.Text = r.listener(a).CorrectMisheard(u.Text, about)
	}
	e.Body = u
	return e
}

// ends returns when the words of e ended; words that are still being said end now.
func (r *Room) ends(e earshot.Event) time.Time {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return e.At.Add(body.Lasted)
	case earshot.Speech:
		if body.Stage == earshot.VoiceWords {
			return r.cfg.Now()
		}
	}
	return e.At
}

// voiced returns the signal of speech for the floor; cuts says that it is a command word.
func voiced(s *interrupt.Signal, body earshot.Speech, to conversation.Address, cuts bool) *interrupt.Signal {
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
		return worded(s, to)
	default:
		return nil
	}
	return s
}

// worded returns the signal for the floor of words that are still being said.
func worded(s *interrupt.Signal, to conversation.Address) *interrupt.Signal {
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

// uttered returns the signal of an utterance for the floor. A command word that is said while the
// agent speaks is for the agent, whomever it addresses.
func uttered(s *interrupt.Signal, body earshot.Utterance, to conversation.Address, sounding, cuts bool) *interrupt.Signal {
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

// nextTiredVoice returns when a voice without words has held the agent back for long enough.
func (r *Room) nextTiredVoice() time.Time { return r.floor.ExpireVoices(r.cfg.Now()) }

// A lastExchange says when somebody was last answered, and by which agent.
type lastExchange struct {
	asked, ended time.Time
	by           earshot.ParticipantID
	with         earshot.ParticipantID // empty if unknown
	like         bool                  // the agent answered somebody who sounds like it
	asksBack     bool                  // the agent had not understood
}

// maxAnswered is for how many people, and devices through which they were heard, the room remembers
// the last exchange: more than one can talk with at a time.
const maxAnswered = 64

// talked notes that an agent has answered somebody. Words that are heard next through the same
// device, and whose speaker is unknown, are taken for theirs.
func (r *Room) talked(q question, at time.Time) {
	p, through := r.counterpart(q.message), counterpart{by: q.message.From}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.who == "" && !p.like && q.follows {
		p.who = r.answered[through].with // the conversation that it continued
	}
	t := lastExchange{q.message.At, at, q.seat.ID, p.who, p.like, q.asksBack}
	if had := r.answered[through]; had.ended.After(at) && had.by == t.by {
		t.ended = had.ended // the agent had asked for a moment
	}
	if p.who != "" {
		p.by = earshot.Handle{}
	}
	if len(r.answered) >= maxAnswered {
		maps.DeleteFunc(r.answered, func(_ counterpart, t lastExchange) bool { return at.Sub(t.ended) > time.Minute })
	}
	if len(r.answered) < maxAnswered {
		r.answered[p] = t
		r.answered[through] = t
	}
}
