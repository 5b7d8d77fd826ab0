package unasked

import (
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/reason"
)

// recorded is what the main agent says when a voice is heard for the first time, if that is
// configured. It is said in full, whoever is speaking, because it tells people that they are being
// heard.
const recorded = "I hear somebody new. What is said here is written down."

// A notice is said noticeBurst times to guests who come one after the other, and then only as often
// as people tolerate while a television is on.
const (
	noticeBurst    = 3
	noticeInterval = 10 * time.Minute
)

// AddStranger notes that a voice was heard for the first time, in something that is kept.
func (t *Tracker) AddStranger(e earshot.Event) {
	if len(t.strangers) < conversation.MaxCircles {
		t.strangers = append(t.strangers, e)
	}
}

// NextNotice returns the notice that is due, if somebody can hear it: one for all new voices. If
// there were too many recently, it waits for the first event after another is allowed.
func (t *Tracker) NextNotice(m Moment) (Decision, bool) {
	if len(t.strangers) == 0 {
		return Decision{}, false
	}
	e := t.strangers[len(t.strangers)-1]
	e.From, e.Author, e.To = earshot.Handle{}, "", nil // it answers nobody, and opens no conversation
	c := &Candidate{Kind: VoiceNotice, Event: e, Answers: e.ID, Aloud: true, Words: recorded}
	can := m.Listens && m.Reaches(c)
	if can && !t.notices.AllowN(m.Now, 1) {
		return Decision{}, false
	}
	t.strangers = nil
	return Decision{Candidate: c, Verdict: earshot.Speak, Reasons: []string{reason.NewVoice}}, can
}
