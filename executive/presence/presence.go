// Package presence estimates who is probably here from what is seen, heard and typed, and keeps the
// evidence for that.
//
// Cameras count people and name nobody: a camera reports how many people are in view, and no more.
// Voices and handles give names, but do not count well: a voice may be mistaken for another, a
// loudspeaker has one too, and a terminal stays open when nobody sits in front of it. An
// [api.PresenceEstimate] combines them, states the evidence for each guess, and lists what
// contradicts it. None of it is certain, and it gives nobody rights: who may see or do something is
// decided elsewhere, and never by this. [Arrivals] has what is certain: who is in a room by a
// session.
//
// The estimate is pure: the time is an argument, and what comes in at one time may come in any
// order. How sure a guess is depends on the sum of its evidence, which fades; see the table of
// rules.
package presence

import (
	"cmp"
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

// A rule says how much one kind of evidence counts.
type rule struct {
	sure float64       // how sure it makes a guess at first, 0 to 1
	half time.Duration // half-life of the evidence; zero for what is seen, which counts in full as long as it lasts
}

// rules are the weights of evidence. They are estimates. The tests say what they must achieve, and
// each has its reason:
//
//   - A voice that is attributed to somebody is theirs nineteen times in twenty at most. People at one
//     table are sometimes silent for five minutes; after that, less than a third of the evidence is left.
//   - Somebody who types at a person's terminal is usually that person. They leave without a word as
//     often as people at a table fall silent.
//   - An open terminal shows that somebody was there at some time. It stays open over lunch.
//   - Somebody in view says little about who it is. It supports the people for whom there is other
//     evidence: the fewer they are, the more.
var rules = map[api.EvidenceKind]rule{
	Heard: {0.9, 3 * time.Minute},
	Typed: {0.9, 3 * time.Minute},
	Came:  {0.6, 10 * time.Minute},
	Seen:  {sure: 0.3},
}

const (
	// certain is the most that any guess can be sure.
	certain = 0.95

	// comes is how sure a guess must have been for somebody to be listed as here, and stays how
	// sure it must remain for them to stay listed. The gap keeps people from appearing and
	// disappearing repeatedly.
	comes = 0.5
	stays = 0.3

	// hints is how sure a guess must be to count as possible at all, and to be supported by
	// somebody being in view.
	hints = 0.15

	// fresh is how old the last look of a camera may be for it to count as seeing. window is the
	// time over which its looks are combined, and is no shorter: one look in ten may see nobody, or
	// two people for one. Somebody who comes is counted after half of it.
	fresh  = 5 * time.Second
	window = 5 * time.Second

	// mostLooks is how many looks of one camera are kept: those of the window, for a camera that
	// looks several times a second.
	mostLooks = 64

	// mostCameras and mostPeople bound for how many something is kept. Beyond that, those who were
	// noticed longest ago are forgotten.
	mostCameras = 16
	mostPeople  = 64

	// believable is how sure a camera must be of the people it sees for them to count.
	believable = 0.3

	// unseen is how long a camera must have seen nobody for that to count against somebody who was
	// noticed before, and absent is the share of their evidence that it leaves: a camera sees only
	// a part of a room.
	unseen = 30 * time.Second
	absent = 0.7

	// talk is how recent voices must be to count as one conversation: of two people, one who has
	// been silent for longer may have left.
	talk = 30 * time.Second
)

// A Look is what a camera saw at one moment.
type Look struct {
	Camera string
	At     time.Time
	People int
	Sure   float64 // 0 to 1
	Eyes   earshot.Eyesight
}

// A Voice says that somebody was heard.
type Voice struct {
	Who   earshot.ParticipantID // empty if the voice cannot be distinguished from others
	Named bool                  // the voice belongs to a known person; otherwise it is only known to be one voice
	At    time.Time             // when it ended
	Sure  float64               // that it is theirs, 0 to 1
}

// A Tracker tracks who is probably here. Its zero value knows of nobody. It is not safe for
// concurrent use.
type Tracker struct {
	looks map[string][]Look // by camera, in order of time; at most one for each moment
	told  map[evidenceKey]latestEvidence
	went  map[earshot.ParticipantID]time.Time

	watched time.Time     // when a camera that can see last looked
	noticed time.Time     // when anybody was last noticed, or could first have been
	gap     time.Duration // how long nobody was noticed before somebody was again
	again   time.Time     // when somebody was noticed again
}

// An evidenceKey says for whom there is evidence, and of what kind. An empty ID stands for a voice
// that cannot be distinguished from others.
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
	if same {
		all[i] = better(all[i], l)
	} else {
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

// lapse is how long no camera may look before it is no longer known that nobody was there: somebody
// who could not be seen was not away.
const lapse = time.Minute

// watches notes that a camera is looking, perhaps again after a while.
func (c *Tracker) watches(l Look) {
	if l.Eyes != earshot.Clear && l.Eyes != earshot.Dark {
		return
	}
	if c.watched.IsZero() || l.At.Sub(c.watched) > lapse {
		c.gap, c.again = 0, time.Time{}
		c.noticed = later(c.noticed, l.At)
	}
	c.watched = later(c.watched, l.At)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// better returns which of two looks of one camera at the same moment counts: the one that can see,
// or else the one that sees more people.
func better(a, b Look) Look {
	clear := func(l Look) int {
		if l.Eyes == earshot.Clear {
			return 1
		}
		return 0
	}
	if cmp.Or(clear(a)-clear(b), a.People-b.People, cmp.Compare(a.Sure, b.Sure), cmp.Compare(b.Eyes, a.Eyes)) > 0 {
		return a
	}
	return b
}

// inARow is how many consecutive looks must see somebody for it to be believed: one or two may be
// wrong.
const inARow = 3

// steady reports whether the last few looks up to a time all saw somebody.
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

// sees reports whether the camera could see, and is sure enough of the people it saw.
func (l Look) sees() bool { return l.Eyes == earshot.Clear && (l.People == 0 || l.Sure >= believable) }

// boundCameras forgets the cameras that have not reported for longest.
func (c *Tracker) boundCameras() {
	for len(c.looks) > mostCameras {
		last := func(name string) time.Time { return c.looks[name][len(c.looks[name])-1].At }
		names := slices.Sorted(maps.Keys(c.looks))
		delete(c.looks, slices.MinFunc(names, func(a, b string) int { return last(a).Compare(last(b)) }))
	}
}

// boundPeople forgets the people who were noticed longest ago.
func (c *Tracker) boundPeople() {
	for people := c.people(); len(people) > mostPeople; people = c.people() {
		first := slices.MinFunc(people, func(a, b earshot.ParticipantID) int { return c.last(a).Compare(c.last(b)) })
		maps.DeleteFunc(c.told, func(of evidenceKey, _ latestEvidence) bool { return of.who == first })
		delete(c.went, first)
	}
}

// people returns the people of whom something is known, in order of their IDs.
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

// last returns when somebody was last noticed.
func (c *Tracker) last(who earshot.ParticipantID) (at time.Time) {
	for of, f := range c.told {
		if of.who == who {
			at = later(at, f.at)
		}
	}
	return later(at, c.went[who])
}

// AddVoice takes in that a voice was heard.
func (c *Tracker) AddVoice(v Voice) {
	c.tell(evidenceKey{v.Who, Heard}, latestEvidence{v.At, share(v.Sure), v.Named})
}

// AddTyping takes in that somebody is typing at a terminal of this machine.
func (c *Tracker) AddTyping(who earshot.ParticipantID, at time.Time) {
	if who != "" {
		c.tell(evidenceKey{who, Typed}, latestEvidence{at, 1, true})
	}
}

// OpenTerminal takes in that somebody has opened a terminal of this machine.
func (c *Tracker) OpenTerminal(who earshot.ParticipantID, at time.Time) {
	if who != "" {
		c.tell(evidenceKey{who, Came}, latestEvidence{at, 1, true})
	}
}

// CloseTerminal takes in that somebody has closed their terminal of this machine. What they did at
// it before is no longer evidence.
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

// Same merges the evidence of people who turn out to be somebody else, such as a voice that turns
// out to be a known person's. is returns who each of them is now, and whether that person has a
// name.
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

// tell keeps the newest evidence of each kind; if two are equally new, the stronger counts.
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

// pause is too short for an absence: nobody is noticed all the time.
const pause = time.Second

// settles is how long somebody who was noticed again still counts as having just come: a camera
// looks twice before it reports them, and somebody who was heard at the door is seen later.
const settles = 30 * time.Second

// notices notes that somebody was noticed.
func (c *Tracker) notices(at time.Time) {
	gap, just := at.Sub(c.noticed), !c.again.IsZero() && at.Sub(c.again) <= settles
	if !c.noticed.IsZero() && gap >= pause && !(just && c.gap > gap) {
		c.gap, c.again = gap, at
	}
	c.noticed = later(c.noticed, at)
}

// Absence returns for how long nobody had been noticed before the people who are here at a time
// came, or would have come. A time at which nobody could have been noticed, because no camera
// looked, counts as if somebody had been.
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
