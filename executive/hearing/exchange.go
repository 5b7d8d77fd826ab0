package hearing

import (
	"maps"
	"time"

	"earshot"
	"earshot/executive/reflex"
)

// A counterpart is the other side of a conversation with an agent: a person or, if the person is
// unknown, the device that hears them. A voice like the agent's own is a separate counterpart.
type counterpart struct {
	who  earshot.ParticipantID
	by   earshot.Handle
	like bool
}

// LikeAgent reports whether something was said by somebody who sounds like the agent.
func LikeAgent(e earshot.Event) bool {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return body.LikeAgent
	case earshot.Speech:
		return body.LikeAgent
	}
	return false
}

// counterpart returns who has said something aloud.
func (l *Listener) counterpart(e earshot.Event) counterpart {
	if e.Author != "" {
		return counterpart{who: l.People.Current(e.Author)}
	}
	return counterpart{by: e.From, like: LikeAgent(e)}
}

// same reports whether two utterances may be by the same person. If the author of one is unknown,
// they may be if they were heard through the same device.
func (l *Listener) same(a, b earshot.Event) bool {
	if a.Author != "" && b.Author != "" {
		return l.People.Current(a.Author) == l.People.Current(b.Author)
	}
	return a.From == b.From && !(LikeAgent(a) && b.Author != "" || LikeAgent(b) && a.Author != "")
}

// lastTalk returns the last exchange with the speaker of e. A voice of which too little was heard
// may belong to anybody who is heard through the same device, so it continues the last exchange
// there. A known person, and somebody who sounds like the agent, continue the exchange of such a
// voice. l.mu must be held.
func (l *Listener) lastTalk(e earshot.Event, p counterpart) lastExchange {
	t, through := l.answered[p], l.answered[counterpart{by: e.From}]
	if (p.who != "" || p.like) && through.with == "" && (!through.like || p.like) && through.ended.After(t.ended) {
		return through
	}
	return t
}

// A lastExchange says when an agent last answered somebody, and which agent did.
type lastExchange struct {
	asked, ended time.Time
	by           earshot.ParticipantID
	with         earshot.ParticipantID // empty if unknown
	like         bool                  // it answered somebody who sounds like the agent
	asksBack     bool                  // the agent had not understood
}

// maxAnswered is for how many people and devices the room remembers the last exchange: more than
// can take part in conversations at one time.
const maxAnswered = 64

// An Answer is that an agent has answered somebody aloud.
type Answer struct {
	Message  earshot.Event // what it answered
	By       earshot.ParticipantID
	Follows  bool // the message continued a conversation, and called nobody
	AsksBack bool // it had not understood
}

// Talked notes an answer at a time. If the next words through the same device have an unknown speaker,
// they count as that person's.
func (l *Listener) Talked(a Answer, at time.Time) {
	p, through := l.counterpart(a.Message), counterpart{by: a.Message.From}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.who == "" && !p.like && a.Follows {
		p.who = l.answered[through].with // the person whose conversation it continued
	}
	t := lastExchange{a.Message.At, at, a.By, p.who, p.like, a.AsksBack}
	if had := l.answered[through]; had.ended.After(at) && had.by == t.by {
		t.ended = had.ended // somebody had asked the agent for a moment
	}
	if p.who != "" {
		p.by = earshot.Handle{}
	}
	if len(l.answered) >= maxAnswered {
		maps.DeleteFunc(l.answered, func(_ counterpart, t lastExchange) bool { return at.Sub(t.ended) > time.Minute })
	}
	if len(l.answered) < maxAnswered {
		l.answered[p] = t
		l.answered[through] = t
	}
}

// waitExtension is the additional time within which somebody who has asked for a moment need not
// call the agent again.
const waitExtension = 20 * time.Second

// noteWaitRequest notes if somebody who is talking with an agent asks it, by e, for a moment. The
// agent then waits in silence, and they are still talking with it when they continue.
func (l *Listener) noteWaitRequest(e earshot.Event) {
	u, aloud := e.Body.(earshot.Utterance)
	if !aloud || !l.wants(u.Text, func(k reflex.Kind) bool { return k == reflex.Moment }) {
		return
	}
	p, until := l.counterpart(e), l.Now().Add(waitExtension)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, by := range []counterpart{p, {by: e.From}} {
		if t, ok := l.answered[by]; ok {
			t.ended = until
			l.answered[by] = t
		}
	}
}

// A spokenReply is how the last heard reply ended.
type spokenReply struct {
	text earshot.Text
	at   time.Time
}

// SaidAloud notes the end of a reply that was heard in full.
func (l *Listener) SaidAloud(said earshot.Text) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spoken = spokenReply{said[max(0, len(said)-maxAsked):], l.Now()}
}

// maxAsked is how many bytes of what an agent said are kept: a question, and the end of what
// precedes it.
const maxAsked = 300

// Asked returns the end of what an agent has just said aloud and nobody has answered yet; empty if
// there is nothing. It lets a recogniser expect what people may say. It returns at once, and is
// safe for concurrent use.
func (l *Listener) Asked() earshot.Text {
	followUp := l.Settings().Speech.FollowUp.Duration()
	now := l.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.spoken.at) > followUp+longestAnswer {
		return ""
	}
	return l.spoken.text
}

// longestAnswer is the longest answer during which Asked is called.
const longestAnswer = 30 * time.Second

// replies is how soon people answer each other, from the end of one person's words to the beginning
// of the other's. Most answers in a conversation come within half a second; after a longer time
// than this, the speaker may have turned to the agent.
const replies = 1500 * time.Millisecond

// A remark is the last thing that was said to somebody else, judging by the voices.
type remark struct {
	from earshot.Handle
	end  time.Time
}

// overhear notes that something was said to somebody else, if it was said by a voice other than
// that of the agent's counterpart. If the next words through the same microphone have an unknown
// speaker, they answer that voice, and not the agent. unlike says that the voice is unlike any
// known one.
func (l *Listener) overhear(e earshot.Event, unlike bool) {
	u, is := e.Body.(earshot.Utterance)
	if !is || !attributed(e) && !unlike {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aside = remark{e.From, e.At.Add(u.Lasted)}
}

// answersBystander reports whether e may answer what somebody said to somebody else. l.mu must be
// held.
func (l *Listener) answersBystander(e earshot.Event) bool {
	last := l.aside
	return last.from == e.From && !last.end.IsZero() && e.At.Sub(last.end) <= replies
}

// differentSpeakers reports whether a and b are known to be by two different people.
func (l *Listener) differentSpeakers(a, b earshot.Event) bool {
	return attributed(a) && attributed(b) && a.From == b.From && !l.same(a, b)
}

// attributed reports whether the speaker is known, or known to sound like the agent.
func attributed(e earshot.Event) bool { return e.Author != "" || LikeAgent(e) }
