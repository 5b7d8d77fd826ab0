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
)

// A Turn is the reply that is being given.
type Turn struct {
	Message earshot.Event // what is answered
	Agent   earshot.ParticipantID
}

// A Host is what a [Listener] needs of its room. All fields must be set, except that Voices may be
// nil. Its functions return at once and are safe for concurrent use.
type Host struct {
	People   *participants.Registry
	Voices   Voices
	Echo     *echo.Reference
	Activity *activity.Tracker
	Settings func() executive.Config
	Agents   func() []agents.Record // the main agent first
	Turn     func() (Turn, bool)    // the turn in progress
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
