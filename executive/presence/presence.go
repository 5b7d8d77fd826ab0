// Package presence makes up of what is seen, heard and typed who is probably here, and by
// what evidence.
//
// Eyes count and name nobody: a camera tells how many people are in view, and that is all.
// Voices and handles name, and do not count well: a voice may be taken for another, a
// loudspeaker has one too, and a terminal stays open when nobody sits before it. An
// [api.PresenceEstimate] puts them together, says what speaks for each guess, and keeps what
// contradicts: nothing of it is certain, and it gives nobody rights. Who may see or do
// something is decided elsewhere, and never by this. [Arrivals] has what is certain: who is in
// a room by a session.
//
// The estimate is pure: the time is an argument, and what comes in at one time may come in any
// order. How sure a guess is, is a sum of evidence that fades; see the table of rules.
package presence

import (
	"maps"
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/api"
)

// The kinds.
const (
	Heard api.EvidenceKind = "heard" // a voice was
	Typed api.EvidenceKind = "typed" // keys were pressed, or words sent, at a terminal of this machine
	Came  api.EvidenceKind = "came"  // they have a terminal open on this machine
	Seen  api.EvidenceKind = "seen"  // somebody is in view, whoever that is
)

// A rule is how much one kind of evidence says.
type rule struct {
	sure float64       // how sure it makes at most, at once, from 0 to 1
	half time.Duration // after which time it says half as much; what is seen is so as long as it is
}

// rules have the weights of evidence. They are estimates; what they must do is in the
// tests, and each has its reason:
//
//   - A voice that is told to be somebody's is so nineteen times in twenty or less; people at
//     one table say nothing for five minutes now and then, after which less than a third
//     is left.
//   - Whoever presses keys at somebody's terminal is mostly that person. They go away without
//     a word as people at a table fall silent.
//   - An open terminal says that somebody was there once. It is left open over lunch.
//   - That somebody is in view says little about who it is: it makes more likely of whom
//     something else speaks already, the fewer there are of those the more.
var rules = map[api.EvidenceKind]rule{
	Heard: {0.9, 3 * time.Minute},
	Typed: {0.9, 3 * time.Minute},
	Came:  {0.6, 10 * time.Minute},
	Seen:  {sure: 0.3},
}

const (
	// certain is the most that a guess is sure: none is more.
	certain = 0.95

	// comes is how sure one must have been that somebody is here for it to be said, and stays
	// how sure as long as it is: between the two nobody flickers.
	comes = 0.5
	stays = 0.3

	// hints is how sure a guess must be to count for what is possible, and to be supported
	// by somebody being in view.
	hints = 0.15

	// fresh is how old the last look of a camera may be that still sees, and window of how
	// long what it has seen is put together, which is not shorter: one look in ten may see
	// nobody, or two in one; who comes is counted after half of it.
	fresh  = 5 * time.Second
	window = 5 * time.Second

	// mostLooks is how many looks of one camera are kept: those of the window, of a camera that
	// looks some times a second.
	mostLooks = 64

	// mostCameras and mostPeople bound of whom something is kept. Beyond it whoever was
	// noticed longest ago is forgotten.
	mostCameras = 16
	mostPeople  = 64

	// believable is how sure a camera must be of whom it sees for that to be likely.
	believable = 0.3

	// unseen is how long a camera must have seen nobody for that to say something about
	// somebody who was noticed before, and absent is what it leaves of their evidence: a
	// camera sees a part of a room.
	unseen = 30 * time.Second
	absent = 0.7

	// talk is how recent voices are that make up a talk: who of two is silent for longer
	// may as well have gone.
	talk = 30 * time.Second
)

// A Look is what a camera sees at a time.
type Look struct {
	Camera string
	At     time.Time
	People int
	Sure   float64 // 0 to 1
	Eyes   earshot.Eyesight
}

// A Voice is that somebody was heard.
type Voice struct {
	Who   earshot.ParticipantID // empty if nobody can tell the voice from others
	Named bool                  // it is known whose voice it is, and not only that it is one
	At    time.Time             // until when
	Sure  float64               // that it is theirs, 0 to 1
}

// A Tracker knows who is probably here. The zero value knows of nobody. It is not safe
// for several goroutines.
type Tracker struct {
	looks map[string][]Look // by camera, in the order of time, of one time one
	told  map[evidenceKey]latestEvidence
	went  map[earshot.ParticipantID]time.Time

	watched time.Time     // when a camera looked last that could see
	noticed time.Time     // when anybody was noticed last, or one could have been first
	gap     time.Duration // before somebody was noticed again
	again   time.Time     // when that was
}

// An evidenceKey is of whom something is known, and by what. Nobody is a voice that cannot be told
// from others.
type evidenceKey struct {
	who  earshot.ParticipantID
	kind api.EvidenceKind
}

// latestEvidence is the newest evidence of one kind.
type latestEvidence struct {
	at    time.Time
	sure  float64
	named bool
}

// AddLook takes in what a camera sees.
func (c *Tracker) AddLook(l Look) {
	c.watches(l)
	all := c.looks[l.Camera]
	i, same := slices.BinarySearchFunc(all, l.At, func(had Look, at time.Time) int { return had.At.Compare(at) })
	switch {
	case same:
		all[i] = better(all[i], l)
	default:
		all = slices.Insert(all, i, l)
	}
	all = slices.Delete(all, 0, max(0, len(all)-mostLooks))
	if c.looks == nil {
		c.looks = make(map[string][]Look)
	}
	c.looks[l.Camera] = all
	c.boundCameras()
	if steady(c.looks[l.Camera], l.At) {
		c.notices(l.At)
	}
}

// lapse is how long no camera may have looked for it to be known all the same that nobody was
// there: who was not seen since nobody looked was not away.
const lapse = time.Minute

// watches notes that a camera looks, or does again.
func (c *Tracker) watches(l Look) {
	if l.Eyes != earshot.Clear && l.Eyes != earshot.Dark {
		return
	}
	if c.watched.IsZero() || l.At.Sub(c.watched) > lapse {
		c.gap, c.again = 0, time.Time{}
		if l.At.After(c.noticed) {
			c.noticed = l.At
		}
	}
	if l.At.After(c.watched) {
		c.watched = l.At
	}
}

// better returns which of two looks of one camera at one time counts: the one that sees, and
// sees more.
func better(a, b Look) Look {
	switch clear := func(l Look) bool { return l.Eyes == earshot.Clear }; {
	case clear(a) != clear(b):
		if clear(a) {
			return a
		}
		return b
	case a.People != b.People:
		if a.People > b.People {
			return a
		}
		return b
	case a.Sure != b.Sure:
		if a.Sure > b.Sure {
			return a
		}
		return b
	}
	if a.Eyes < b.Eyes {
		return a
	}
	return b
}

// inARow is how many looks one after the other see somebody who is there: one or two may be
// wrong.
const inARow = 3

// steady reports whether the last looks until a time all see somebody.
func steady(looks []Look, until time.Time) bool {
	n := 0
	for _, l := range slices.Backward(looks) {
		switch {
		case l.At.After(until):
		case !l.sees() || l.People == 0 || until.Sub(l.At) > window:
			return false
		default:
			if n++; n == inARow {
				return true
			}
		}
	}
	return false
}

// sees reports whether something can be seen, and so much that it is believed.
func (l Look) sees() bool { return l.Eyes == earshot.Clear && (l.People == 0 || l.Sure >= believable) }

// boundCameras forgets those that nothing was told of for longest.
func (c *Tracker) boundCameras() {
	for len(c.looks) > mostCameras {
		first := ""
		last := func(name string) time.Time { return c.looks[name][len(c.looks[name])-1].At }
		for _, name := range slices.Sorted(maps.Keys(c.looks)) {
			if first == "" || last(name).Before(last(first)) {
				first = name
			}
		}
		delete(c.looks, first)
	}
}

// boundPeople forgets those who were noticed longest ago.
func (c *Tracker) boundPeople() {
	for people := c.people(); len(people) > mostPeople; people = c.people() {
		first := slices.MinFunc(people, func(a, b earshot.ParticipantID) int { return c.last(a).Compare(c.last(b)) })
		maps.DeleteFunc(c.told, func(of evidenceKey, _ latestEvidence) bool { return of.who == first })
		delete(c.went, first)
	}
}

// people returns of whom something is known, in their order.
func (c *Tracker) people() []earshot.ParticipantID {
	all := make(map[earshot.ParticipantID]bool, len(c.told))
	for of := range c.told {
		all[of.who] = true
	}
	for who := range c.went {
		all[who] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// last returns when somebody was noticed last.
func (c *Tracker) last(who earshot.ParticipantID) (at time.Time) {
	for of, f := range c.told {
		if of.who == who && f.at.After(at) {
			at = f.at
		}
	}
	if went := c.went[who]; went.After(at) {
		at = went
	}
	return at
}

// AddVoice takes in that a voice was heard.
func (c *Tracker) AddVoice(v Voice) {
	c.tell(evidenceKey{v.Who, Heard}, latestEvidence{v.At, share(v.Sure), v.Named})
}

// AddTyping takes in that somebody writes at a terminal of this machine.
func (c *Tracker) AddTyping(who earshot.ParticipantID, at time.Time) {
	if who != "" {
		c.tell(evidenceKey{who, Typed}, latestEvidence{at, 1, true})
	}
}

// OpenTerminal takes in that somebody has a terminal of this machine, and CloseTerminal that they have none
// any more: what they wrote before that says nothing from then on.
func (c *Tracker) OpenTerminal(who earshot.ParticipantID, at time.Time) {
	if who != "" {
		c.tell(evidenceKey{who, Came}, latestEvidence{at, 1, true})
	}
}

// CloseTerminal is for who has left; see OpenTerminal.
func (c *Tracker) CloseTerminal(who earshot.ParticipantID, at time.Time) {
	if who == "" || !at.After(c.went[who]) {
		return
	}
	if c.went == nil {
		c.went = make(map[earshot.ParticipantID]time.Time)
	}
	c.went[who] = at
	c.boundPeople()
	c.notices(at)
}

// Forget forgets people.
func (c *Tracker) Forget(who ...earshot.ParticipantID) {
	for _, id := range who {
		for _, k := range []api.EvidenceKind{Heard, Typed, Came} {
			delete(c.told, evidenceKey{id, k})
		}
		delete(c.went, id)
	}
}

// Same takes in who each of those is of whom something is known: that a voice turned out to be
// that of somebody, for one. Is returns it, and whether they have a name.
func (c *Tracker) Same(is func(earshot.ParticipantID) (now earshot.ParticipantID, named bool)) {
	for _, was := range c.people() {
		now, named := is(was)
		if was == "" || now == "" || now == was && !named {
			continue
		}
		for _, k := range []api.EvidenceKind{Heard, Typed, Came} {
			f, ok := c.told[evidenceKey{was, k}]
			if !ok {
				continue
			}
			delete(c.told, evidenceKey{was, k})
			f.named = f.named || named
			c.tell(evidenceKey{now, k}, f)
		}
	}
}

// tell keeps the newest of each kind, of one time the stronger.
func (c *Tracker) tell(of evidenceKey, f latestEvidence) {
	if c.told == nil {
		c.told = make(map[evidenceKey]latestEvidence)
	}
	had, known := c.told[of]
	switch {
	case !known || f.at.After(had.at):
		c.told[of] = f
	case f.at.Equal(had.at):
		c.told[of] = latestEvidence{f.at, max(f.sure, had.sure), f.named || had.named}
	}
	c.boundPeople()
	c.notices(f.at)
}

// pause is what is no absence: nobody is noticed all the time.
const pause = time.Second

// settles is how long after somebody was noticed again it is still said that they have just
// come: a camera looks twice before it says so, and who was heard at the door is seen later.
const settles = 30 * time.Second

// notices notes that somebody was noticed.
func (c *Tracker) notices(at time.Time) {
	gap, just := at.Sub(c.noticed), !c.again.IsZero() && at.Sub(c.again) <= settles
	if !c.noticed.IsZero() && gap >= pause && !(just && c.gap > gap) {
		c.gap, c.again = gap, at
	}
	if at.After(c.noticed) {
		c.noticed = at
	}
}

// Absence returns for how long nobody had been noticed before who is here at a time, or
// comes then. That nobody could have been noticed, since no camera looked, counts as having
// noticed somebody.
func (c *Tracker) Absence(at time.Time) time.Duration {
	switch {
	case c.noticed.IsZero():
		return 0
	case !c.again.IsZero() && at.Sub(c.again) <= settles:
		return c.gap
	}
	return max(0, at.Sub(c.noticed))
}

// Looks reports whether there is any camera.
func (c *Tracker) Looks() bool { return len(c.looks) > 0 }

func share(x float64) float64 {
	if !(x >= 0) {
		return 0
	}
	return math.Min(x, 1)
}
