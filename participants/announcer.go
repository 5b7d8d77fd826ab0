package participants

import (
	"cmp"
	"slices"
	"time"

	"earshot"
)

const (
	// flapping is how many changes within a while are announced as they happen: two arrivals and
	// two departures, like those of somebody who forgot something. More mean that a connection
	// flaps.
	flapping = 4
	while    = time.Minute

	// steady is how long somebody who flaps must stay in one state before that is announced: longer
	// than a terminal takes to come back, but short enough to still be of interest.
	steady = 20 * time.Second
)

// An Announcement is an arrival or departure to announce.
type Announcement struct {
	Who earshot.ParticipantID
	earshot.Presence
}

// An Announcer decides which arrivals and departures in one room are announced. The zero value is
// ready, with nobody present.
//
// A change is announced at once, unless it is the fifth or later change of the same person within a
// minute. In that case the person flaps, and nothing more is announced about them until their state
// has not changed for 20 s. If their state then differs from the one announced last, it is
// announced once, with the number of unannounced changes. Otherwise nothing is announced, because
// everybody already believes the truth.
//
// So at most four changes of one person in any minute are announced as they happen, and beyond
// these one every 20 s. What was announced last is true again 20 s after the last change at the
// latest.
//
// It has no goroutine and no clock: the caller calls Change when somebody comes or goes, and Steady
// when Next is due. It remembers who is present and who left within the last minute, and nobody
// else.
type Announcer struct {
	people map[earshot.ParticipantID]*presenceHistory
}

// A presenceHistory is what is known about one person.
type presenceHistory struct {
	last   earshot.Presence    // the current state
	told   bool                // announced as present
	at     [flapping]time.Time // the latest changes, newest first
	silent int                 // unannounced changes since the last announcement
	held   bool                // they are flapping
}

// Change takes in that somebody came or went at now, and reports whether this is announced at once.
// It ignores p.Times. The arrival of somebody who is present, or the departure of somebody who is
// not, is no change.
func (a *Announcer) Change(now time.Time, who earshot.ParticipantID, p earshot.Presence) (Announcement, bool) {
	a.forget(now)
	c := a.people[who]
	if c == nil {
		c = new(presenceHistory)
	}
	if c.last.Here == p.Here {
		return Announcement{}, false
	}
	if a.people == nil {
		a.people = make(map[earshot.ParticipantID]*presenceHistory)
	}
	a.people[who] = c
	c.held = c.held || within(now, c.at[flapping-1])
	copy(c.at[1:], c.at[:])
	c.at[0], c.last = now, p
	c.silent++
	if c.held {
		return Announcement{}, false
	}
	return c.tell(who)
}

// Same takes in that some IDs have turned out to be one person, who: whatever was announced about
// any of them counts as announced about who. A second call does nothing.
func (a *Announcer) Same(who earshot.ParticipantID, all []earshot.ParticipantID) {
	for _, id := range all {
		other := a.people[id]
		if other == nil || id == who {
			continue
		}
		delete(a.people, id)
		if c := a.people[who]; c != nil {
			other.told, other.held = other.told || c.told, other.held || c.held
			other.silent += c.silent
			if c.last.Here {
				other.last = c.last
			}
			if c.at[0].After(other.at[0]) {
				other.at = c.at
			}
		}
		a.people[who] = other
	}
}

// Steady returns what to announce at now about people who flapped and have been steady for long
// enough, in the order in which they settled.
func (a *Announcer) Steady(now time.Time) (news []Announcement) {
	var calm []earshot.ParticipantID
	for who, c := range a.people {
		if c.held && !now.Before(c.at[0].Add(steady)) {
			calm = append(calm, who)
		}
	}
	slices.SortFunc(calm, func(x, y earshot.ParticipantID) int {
		return cmp.Or(a.people[x].at[0].Compare(a.people[y].at[0]), cmp.Compare(x, y))
	})
	for _, who := range calm {
		if n, ok := a.people[who].tell(who); ok {
			news = append(news, n)
		}
	}
	a.forget(now)
	return news
}

// Next returns when to call Steady; the zero Time if nobody flaps.
func (a *Announcer) Next() (next time.Time) {
	for _, c := range a.people {
		if at := c.at[0].Add(steady); c.held && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// tell ends the silence about somebody, and reports whether there is anything to announce.
func (c *presenceHistory) tell(who earshot.ParticipantID) (Announcement, bool) {
	n := Announcement{who, c.last}
	n.Times = c.silent / 2
	c.silent, c.held = 0, false
	if c.told == c.last.Here {
		return Announcement{}, false
	}
	c.told = c.last.Here
	return n, true
}

// forget drops those who left more than a minute ago.
func (a *Announcer) forget(now time.Time) {
	for who, c := range a.people {
		if !c.held && !c.last.Here && !within(now, c.at[0]) {
			delete(a.people, who)
		}
	}
}

// within reports whether at was less than a while before now.
func within(now, at time.Time) bool { return now.Sub(at) < while }
