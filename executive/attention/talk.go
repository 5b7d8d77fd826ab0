package attention

import (
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/language"
)

// A Line is something that somebody said or wrote near the agent.
type Line struct {
	At   time.Time
	Who  string // distinguishes voices
	Here bool   // it is somebody in the room, not a loudspeaker

	// Unknown says that the voice is unknown, or may be a loudspeaker's. Of its questions, only
	// those to everybody count.
	Unknown bool
	Text    earshot.Text

	Event earshot.EventID // the event in which it was said
}

// A Talk is what people's last words amount to, judged by the words alone.
type Talk struct {
	Last time.Time // when anybody last said something

	Asked    time.Time // when the room was asked something that anybody might answer; zero if it was not
	Answered bool      // somebody has answered

	Call      bool // somebody is on the telephone
	Tender    bool // grief, a quarrel, love: not for others
	Performed bool // it is read, dictated, sung, played or joked
	Keep      bool // the last words may matter later
	Hushes    bool // the last words tell the agent not to speak
}

const (
	// lingers is how long a performance counts as continuing without further signs: the time of a
	// verse, or of a guess.
	lingers = 30 * time.Second

	// pauses is how long a voice on the telephone listens.
	pauses = time.Minute

	// hangs is how long an unanswered question stays open.
	hangs = 30 * time.Second

	// meets is how long a meeting counts as continuing without further signs.
	meets = 10 * time.Minute
)

// Read reads lines, the oldest first, said among people with these names in the presence of the
// agent with that name. It understands English; in other languages it only notices that people
// talk.
func Read(lines []Line, people []string, agent string) Talk {
	r := reader{agent: said(language.Plain(agent))}
	for _, name := range people {
		r.people = append(r.people, said(language.Plain(name)))
	}
	for _, l := range lines {
		r.read(l)
	}
	return r.talk
}

// A reader is the state of reading.
type reader struct {
	people []string // their names, in the form that said makes
	agent  string

	talk      Talk
	asker     string
	caller    string // who is on the telephone
	called    time.Time
	tender    time.Time // the last sign of it; likewise for the others
	performed time.Time
	meeting   time.Time
}

func (r *reader) read(l Line) {
	text := said(language.Plain(string(l.Text)))
	r.telephone(l, text)
	if says(text, tenderSigns) {
		r.tender = l.At
	}
	if !l.Here || performs(string(l.Text), text) {
		r.performed = l.At
	}
	if says(text, meetingSigns) {
		r.meeting = l.At
	}
	r.talk.Last = l.At
	r.talk.Call = r.caller != ""
	r.talk.Tender = within(l.At, r.tender, tender)
	r.talk.Performed = within(l.At, r.performed, lingers)
	_, refuses := Refusal(l.Text)
	r.talk.Hushes = refuses && strings.Contains(text, r.agent)
	r.questions(l, text)
	r.talk.Keep = r.talk.Asked.IsZero() && keeps(string(l.Text))
}

func within(now, sign time.Time, d time.Duration) bool { return !sign.IsZero() && now.Sub(sign) < d }

// telephone tracks who is on the telephone: from a phrase that is only said there, until a goodbye,
// or until that voice has been silent for long.
func (r *reader) telephone(l Line, text string) {
	switch {
	case says(text, phoneSigns), rings(string(l.Text)):
		r.caller, r.called = l.Who, l.At
	case !within(l.At, r.called, pauses) || r.caller == l.Who && says(text, goodbyes):
		r.caller = ""
	case r.caller == l.Who:
		r.called = l.At
	}
}

// rings reports whether a text begins like somebody who answers a call: "Hello?"
func rings(text string) bool {
	all := sentences(text)
	return len(all) > 0 && all[0].asks && len(all[0].words) == 1 && all[0].words[0] == "hello"
}

// questions tracks what the room was asked, and whether anybody has answered.
func (r *reader) questions(l Line, text string) {
	if r.talk.Answered || !within(l.At, r.talk.Asked, hangs) {
		r.talk.Asked, r.talk.Answered = time.Time{}, false
	}
	switch {
	case r.asksRoom(l):
		r.talk.Asked, r.talk.Answered, r.asker = l.At, false, l.Who
	case r.talk.Asked.IsZero() || says(text, ignorant):
	case l.Who != r.asker:
		r.talk.Answered = true
	default: // the asker has moved on to something else
		r.talk.Asked, r.talk.Answered = time.Time{}, false
	}
}

// asksRoom reports whether a line asks something that anybody who knows might answer.
func (r *reader) asksRoom(l Line) bool {
	text := said(language.Plain(string(l.Text)))
	if strings.Contains(text, r.agent) || r.calls(text) {
		return false // it is about the agent, or for somebody
	}
	for _, s := range sentences(string(l.Text)) {
		switch asks(s) {
		case anybody:
			return true
		case fact:
			if !l.Unknown && !within(l.At, r.meeting, meets) && !r.mentions(said(s.words)) {
				return true
			}
		}
	}
	return false
}

// calls reports whether text calls somebody present: it begins or ends with a name, or contains a
// word for a family member.
func (r *reader) calls(text string) bool {
	return says(text, kin) || slices.ContainsFunc(r.people, func(name string) bool {
		return strings.HasPrefix(text, name) || strings.HasSuffix(text, name)
	})
}

// mentions reports whether text names somebody present.
func (r *reader) mentions(text string) bool {
	return slices.ContainsFunc(r.people, func(name string) bool { return strings.Contains(text, name) })
}

// performs reports whether a line is not meant literally.
func performs(raw, text string) bool {
	return says(text, stageSigns) || strings.ContainsAny(raw, "\"“”") || thrice(strings.Fields(text))
}

// thrice reports whether a word is said three times in a row, as in songs.
func thrice(all []string) bool {
	for i := 2; i < len(all); i++ {
		if all[i] == all[i-1] && all[i] == all[i-2] {
			return true
		}
	}
	return false
}

// keeps reports whether a text says something that may matter later: something that its words mark as
// worth remembering, or a future event with its time.
func keeps(text string) bool {
	for _, s := range sentences(text) {
		if s.asks || len(s.words) < 3 {
			continue
		}
		if text := said(s.words); says(text, keepSigns) || s.words[0] == "remember" || timed(s.words, text) {
			return true
		}
	}
	return false
}

// timed reports whether a sentence says what will happen, and when.
func timed(ws []string, text string) bool {
	return has(ws, coming) && !has(ws, past) && (has(ws, days) || says(text, clockSigns))
}

var (
	days = language.Set(`monday tuesday wednesday thursday friday saturday sunday tomorrow tonight today weekend january february march
		april june july august september october november december oclock pm noon midnight`)

	coming = language.Set(`will ill youll well hell shell theyll itll wont need needs must have has come comes coming is are im its were
		theyre start starts open opens close closes leave leaves leaving arrive arrives due moving move going fly flies flying
		booked meet meets meeting expect expects promise promised should`)

	past = language.Set("was did said spoke had went called fired died yesterday ago last")

	clockSigns = phrases(`half past, quarter past, quarter to, at one, at two, at three, at four, at five, at six,
		at seven, at eight, at nine, at ten, at eleven, at twelve, next week, next month, next year, this evening,
		this afternoon, in the morning, this weekend`)

	keepSigns = phrases(`bear in mind, keep in mind, dont forget, mustnt forget, must not forget, do not forget,
		intolerant, diabetic, cant eat, cant have, doesnt eat, doesnt drink, does not eat, does not drink, allergic,
		vegetarian, vegan, birthday is, deadline, i promise, make a note`)
)
