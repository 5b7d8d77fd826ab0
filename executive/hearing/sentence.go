package hearing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/attention"
	"earshot/executive/dialogue"
)

// maxPause is the longest pause after which somebody still counts as continuing their sentence.
// After a longer one, they have been waiting for an answer.
const maxPause = 1500 * time.Millisecond

// A sentence is what a voice has recently said to agents, and what came of it.
type sentence struct {
	last  earshot.Event     // its last utterance
	parts []earshot.EventID // the earlier ones
	text  earshot.Text      // of all of its utterances
	ends  time.Time
	whom  []earshot.ParticipantID
	heard bool     // something of the answer was heard
	done  []string // the tools that were used for answers to the parts, in order
}

// A Continuation is what somebody said before a pause, after which they continue.
type Continuation struct {
	Of     earshot.EventID // the last utterance before
	Text   earshot.Text    // of all utterances before
	Agents []earshot.ParticipantID
}

// Continued returns what e continues, if anything: words of the same voice that were said to agents a
// moment ago, of whose answer none was heard yet. e is then for the same agents. Its words hold
// back the answer that is on its way, which nobody has heard yet; the answer to the whole sentence
// replaces it. Somebody who calls an agent by its name begins a new sentence, and an order to be
// silent is complete by itself.
func (l *Listener) Continued(e earshot.Event, to conversation.Address) (c Continuation, ok bool) {
	if to == conversation.Called || to == conversation.Own || l.silences(e.Body) {
		return c, false
	}
	l.mu.Lock()
	s, ok := l.sentences[e.From]
	l.mu.Unlock()
	pause := e.At.Sub(s.ends)
	ok = ok && !s.heard && pause >= 0 && pause <= maxPause && l.same(s.last, e)
	return Continuation{Of: s.last.ID, Text: s.text, Agents: s.whom}, ok
}

// silences reports whether the words tell an agent to be silent.
func (l *Listener) silences(b earshot.Body) bool {
	u, aloud := b.(earshot.Utterance)
	_, refuses := attention.Refusal(u.Text)
	return aloud && (refuses || l.Cuts(u.Text))
}

// An Utterance is something that was said aloud, and its meaning to the agents.
type Utterance struct {
	Event  earshot.Event
	Before earshot.Text // the words that it continues
	To     conversation.Address
	Agents []earshot.ParticipantID // the agents for which it is
	Heeded bool                    // they may answer the speaker
	Order  bool                    // an order is carried out at once, or means nothing to the floor: it cannot be continued
	Unlike bool                    // the voice is unlike all known ones
}

// NoteUtterance takes in what was said aloud and is being kept. It may be an answer to the last
// reply.
func (l *Listener) NoteUtterance(u Utterance) {
	l.mu.Lock()
	l.spoken = spokenReply{}
	l.mu.Unlock()
	switch {
	case u.To == conversation.Aside:
		l.overhear(u.Event, u.Unlike)
	case u.To.ForAgent() && u.Heeded:
		if !u.Order {
			l.spokeTo(u.Event, u.Before, u.Agents)
		}
		l.noteWaitRequest(u.Event)
	}
}

// spokeTo notes that something was said to agents, and may be continued. before are the words that
// it continued.
func (l *Listener) spokeTo(e earshot.Event, before earshot.Text, whom []earshot.ParticipantID) {
	u, aloud := e.Body.(earshot.Utterance)
	if !aloud {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now, last := l.Now(), l.sentences[e.From]
	maps.DeleteFunc(l.sentences, func(_ earshot.Handle, s sentence) bool { return now.Sub(s.ends) > time.Minute })
	is := sentence{last: e, text: dialogue.Join(before, u.Text), ends: e.At.Add(u.Lasted), whom: slices.Clone(whom)}
	if u.Continues != "" && u.Continues == last.last.ID {
		is.parts, is.done = append(slices.Clone(last.parts), last.last.ID), last.done
	}
	if len(l.sentences) < maxAnswered {
		l.sentences[e.From] = is
	}
}

// Heard notes that part of the answer to e was heard.
func (l *Listener) Heard(e earshot.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.sentences[e.From]; ok && s.last.ID == e.ID {
		s.heard = true
		l.sentences[e.From] = s
	}
}

// Premature reports whether a reply to e, which was cut off before any of it was heard, answered
// somebody who had only paused. Such a turn is discarded as if it had not begun, but what its tools
// have done is noted.
func (l *Listener) Premature(e earshot.Event, tools func() []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sentences[e.From]
	if !slices.Contains(s.parts, e.ID) {
		return false
	}
	s.done = append(slices.Clip(s.done), tools()...)
	l.sentences[e.From] = s
	return true
}

// DoneBefore returns what tells the model what was already done for the sentence that e ends.
func (l *Listener) DoneBefore(e earshot.Event) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sentences[e.From]
	if s.last.ID != e.ID || len(s.done) == 0 {
		return ""
	}
	return fmt.Sprintf("\nYou had begun to answer the last message before all of it was said, and had used %s for it: what was done by that is done. "+
		"Do what is missing, and change what they want otherwise.", strings.Join(s.done, ", "))
}
