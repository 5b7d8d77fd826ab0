// Package hearing determines who says something aloud in a room, for which agents it is, and which
// earlier words it continues, and remembers what was said recently. Besides its [Listener], it
// keeps the words that are still being said, the words that have cut a reply, the voices that are
// present, and the signs by which an agent shows that it is listening. It knows neither room nor
// journal: a [Host] provides what it needs of the room, and the room shows and keeps the results.
package hearing

import (
	"maps"
	"slices"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/echo"
	"earshot/internal/lockorder"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/speakers"
)

// A Host is what a [Listener] needs of its room. All fields must be set, except that Voices may be
// nil. Its functions return at once and are safe for concurrent use.
type Host struct {
	People   *participants.Registry
	Voices   Voices
	Echo     *echo.Reference
	Activity *activity.Tracker
	Settings func() executive.Config
	Agents   func() []agents.Record                                  // the main agent first
	Turn     func() (asked earshot.Event, by agents.Record, ok bool) // of the turn in progress, if there is one: its message and agent
	Now      func() time.Time
}

// A Listener knows what was recently said aloud in a room, and to whom. It is safe for concurrent
// use. Use [New].
type Listener struct {
	Host

	mu        lockorder.Mutex[lockorder.Leaf]
	answered  map[counterpart]lastExchange // when somebody was last answered aloud
	sentences map[earshot.Handle]sentence  // what a voice has recently said to agents
	aside     remark                       // what was last said to somebody else
	spoken    spokenReply                  // the last reply that was heard
	records   []Record                     // what was said aloud, newest last
}

// New returns a listener that has heard nothing.
func New(h Host) *Listener {
	return &Listener{Host: h, answered: make(map[counterpart]lastExchange), sentences: make(map[earshot.Handle]sentence)}
}

// Forget removes what was said by events that are erased.
func (l *Listener) Forget(is func(earshot.EventID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = slices.DeleteFunc(l.records, func(s Record) bool { return is(s.Event) })
	maps.DeleteFunc(l.sentences, func(_ earshot.Handle, s sentence) bool { return is(s.last.ID) || slices.ContainsFunc(s.parts, is) })
	l.spoken = spokenReply{}
}

// ForgetPeople removes what is known about people besides what is in the journal.
func (l *Listener) ForgetPeople(is func(earshot.ParticipantID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.answered, func(_ counterpart, t lastExchange) bool { return is(t.with) })
	l.records = slices.DeleteFunc(l.records, func(s Record) bool { return is(s.By) })
}

// maxSaid is how many utterances are remembered by their start time, in case their speaker becomes
// known later: a few minutes of a lively conversation.
const maxSaid = 256

// A Record is something that was said aloud.
type Record struct {
	Event      earshot.EventID
	Began      time.Time
	By         earshot.ParticipantID
	Visibility earshot.Visibility
}

// Remember takes in an utterance that is on record, or the record of whose utterance it turned out
// to be.
func (l *Listener) Remember(e earshot.Event) {
	w, later := e.Body.(earshot.Attribution)
	if !later && e.Body.Kind() != earshot.KindUtterance {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if later {
		for i := range l.records {
			if l.records[i].Event == w.Of {
				l.records[i].By = w.Author
			}
		}
		return
	}
	l.records = append(l.records, Record{e.ID, e.At, e.Author, e.Visibility})
	l.records = slices.Delete(l.records, 0, max(0, len(l.records)-maxSaid))
}

// SaidLast returns what anybody except who last said aloud, within the last [remembersWhose].
func (l *Listener) SaidLast(who earshot.ParticipantID) (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range slices.Backward(l.records) {
		if l.People.Current(s.By) != who {
			return s, l.Now().Sub(s.Began) <= remembersWhose
		}
	}
	return Record{}, false
}

// remembersWhose is how long after something was said "that was Bob" can be about it.
const remembersWhose = 5 * time.Minute

// Reattributed returns the utterances that a change of the owner of a voice attributes to somebody
// else, and the new attribution.
func (l *Listener) Reattributed(c speakers.Change) (all []Record, w earshot.Attribution) {
	h := c.Voice
	if c.Act == speakers.Divided {
		h = c.Other
	}
	if c.Act == speakers.Forgotten || h.ID == "" && c.Act != speakers.Taught {
		return nil, w
	}
	w = earshot.Attribution{Sure: 1, By: c.Said.By} // nobody's, if the voice had no name before it was taught
	if _, known := l.Voices.Speaker(h); known {
		w.Speaker, w.Author = h, l.Meet(h).Reader()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, began := range c.Moved {
		if i := slices.IndexFunc(l.records, func(s Record) bool { return s.Began.Equal(began) }); i >= 0 {
			all = append(all, l.records[i])
		}
	}
	return all, w
}
