package hearing

import (
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/echo"
	"earshot/executive/reflex"
	"earshot/participants"
	"earshot/participants/agents"
)

// Address determines for which agents e is, if it was said aloud, and by what evidence. Several
// agents can be called at once. Somebody who calls none continues with the agent with which they
// are talking. unlike says that the voice is unlike any known one.
func (l *Listener) Address(e earshot.Event, unlike bool) (to conversation.Address, whom []earshot.ParticipantID) {
	about, with := l.attention(e, unlike)
	for _, a := range l.Agents() {
		if l.hears(a, e, about) == conversation.Called {
			whom = append(whom, a.ID)
		}
	}
	if len(whom) > 0 {
		return conversation.Called, whom
	}
	if to = l.hears(with, e, about); to.ForAgent() || to == conversation.Mumbled {
		whom = []earshot.ParticipantID{with.ID}
	}
	return to, whom
}

// hears returns what something that was said aloud means to one agent.
func (l *Listener) hears(a agents.Record, e earshot.Event, about conversation.SpeechContext) conversation.Address {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return l.classifier(a).Address(body, e.At, about)
	case earshot.Speech:
		switch body.Stage {
		case earshot.VoiceWords:
			return l.classifier(a).Words(body, e.At, about)
		case earshot.VoiceCalls:
			return l.classifier(a).Calls(body, about)
		}
	}
	return ""
}

// classifier returns the classifier that determines whether an agent is addressed.
func (l *Listener) classifier(a agents.Record) conversation.AddressClassifier {
	set := l.Settings().Speech
	c := conversation.AddressClassifier{Name: a.Name, As: conversation.Spellings(a.Name), After: set.FollowUp.Duration(), Sure: set.LeastConfidence, Asks: set.AskBack}
	if a.ID == participants.Agent {
		c.As = append(c.As, set.HeardAs...)
	}
	for _, other := range l.Agents() {
		if other.ID != a.ID {
			c.Others = append(c.Others, other.Name)
		}
	}
	return c
}

// Correct returns text with the names of agents spelt correctly.
func (l *Listener) Correct(text earshot.Text) earshot.Text {
	for _, a := range l.Agents() {
		text = l.classifier(a).Correct(text)
	}
	return text
}

// attention returns what the agents were doing while e was said, where that concerns the speaker,
// and the agent with which the speaker is talking. This is the agent that is answering the speaker,
// or was the last to do so; if there is none, it is the main one.
func (l *Listener) attention(e earshot.Event, unlike bool) (conversation.SpeechContext, agents.Record) {
	all, by := l.Agents(), l.counterpart(e)
	a := conversation.SpeechContext{
		Saying:   l.Echo.Between(e.At, l.End(e)),
		Said:     l.Echo.Between(e.At.Add(-echo.MaxDelay), l.End(e)),
		Sounding: l.Echo.Sounds(e.At, l.End(e)),
		Echoing:  l.Echo.Echoes(e.At, l.End(e)),
		Asked:    l.Echo.Asked(e.At, l.End(e)),
		Commands: l.orders(e.Body),
		Rested:   l.Activity.Rested(e.At),
	}
	asked, answering, talks := l.Turn()
	l.mu.Lock()
	defer l.mu.Unlock()
	t, with := l.lastTalk(e, by), -1
	find := func(id earshot.ParticipantID) int {
		return slices.IndexFunc(all, func(a agents.Record) bool { return a.ID == id })
	}
	if with = find(t.by); with >= 0 {
		a.Answered, a.Since, a.AskedBack = t.ended, t.asked, t.asksBack
	}
	a.Stranger = e.Author == "" && t.with != ""
	if talks && l.same(asked, e) {
		a.Stranger = e.Author == "" && asked.Author != ""
		a.Talking, a.Since, with = true, asked.At, find(answering.ID)
	}
	a.Other = a.Talking && a.Stranger && (unlike || l.answersBystander(e)) || talks && l.differentSpeakers(asked, e)
	return a, all[max(0, with)]
}

// orders reports whether the words are an order that an agent carries out at once.
func (l *Listener) orders(b earshot.Body) bool {
	text := earshot.Text("")
	switch body := b.(type) {
	case earshot.Utterance:
		text = body.Text
	case earshot.Speech:
		text = body.Words
	}
	return text != "" && l.wants(text, func(k reflex.Kind) bool { return k != reflex.None })
}

// CorrectOrder returns e with the phrase that silences an agent, if a recogniser wrote something
// that sounds like that phrase while an agent was speaking. No other phrase is as common at such a
// time.
func (l *Listener) CorrectOrder(e earshot.Event) earshot.Event {
	u, whole := e.Body.(earshot.Utterance)
	if !whole || !(u.Own > 0 || l.Echo.Sounds(e.At, l.End(e))) {
		return e
	}
	for _, a := range l.Agents() {
		if phrase := reflex.Misheard(u.Text, a.Name); phrase != "" {
			u.Text = phrase
			e.Body = u
			break
		}
	}
	return e
}

// CorrectName returns e with the correct name of the agent that was called, if a recogniser wrote
// something else.
func (l *Listener) CorrectName(e earshot.Event, unlike bool) earshot.Event {
	u, whole := e.Body.(earshot.Utterance)
	if !whole {
		return e
	}
	about, _ := l.attention(e, unlike)
	for _, a := range l.Agents() {
		u.Text = l.classifier(a).CorrectMisheard(u.Text, about)
	}
	e.Body = u
	return e
}

// End returns when the words of e ended; words that are still being said end now.
func (l *Listener) End(e earshot.Event) time.Time {
	if s, speaks := e.Body.(earshot.Speech); speaks && s.Stage == earshot.VoiceWords {
		return l.Now()
	}
	return e.End()
}

// Cuts reports whether text is a command word for any agent.
func (l *Listener) Cuts(text earshot.Text) bool { return l.wants(text, reflex.Kind.Cuts) }

// wants reports whether text wants something of that kind of any agent.
func (l *Listener) wants(text earshot.Text, is func(reflex.Kind) bool) bool {
	return slices.ContainsFunc(l.Agents(), func(a agents.Record) bool { return is(reflex.Recognise(text, a.Name)) })
}
