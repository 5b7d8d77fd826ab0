package interrupt

import (
	"time"

	"earshot"
)

const (
	// maxSources bounds the demands: more sources than a room has people are a
	// fault, or an attack, and those beyond it cannot hold anybody back.
	maxSources = 256

	// patience is how long a voice holds an agent back of which no words come: who
	// speaks to it has said some long before. It is music, or a machine. A recogniser
	// has its first word 200 to 700 ms after the onset, on a machine that is busy.
	patience = 2500 * time.Millisecond

	// longPatience is the same of a voice that says words, of which nobody can tell
	// what they are: it may be long before that, in a sentence that is addressed to
	// the agent by somebody who is hard to know by their voice.
	longPatience = 10 * time.Second

	// idle voices have held the agent back so many times for nothing, each within so
	// long of the last. Whoever coughs once, and speaks then, still pauses it.
	idleTimes  = 3
	idleWithin = 30 * time.Second
)

// A source is somebody at one connection: what he does at another terminal
// takes nothing back that he did at this.
type source struct {
	who earshot.Handle
	via string
}

// A demand is what a source asks for at present, and what came of what it asked
// for before.
type demand struct {
	earshot.Control           // Duck or Pause; Resume if nothing
	sound           bool      // it is a voice, which what is only read does not disturb
	since           time.Time // when it began to pause
	expired         bool      // it has paused for long enough
	speaks          bool      // it says words

	times int       // it has paused for nothing
	last  time.Time // when it did so last
}

// demands are those of all sources.
type demands map[source]*demand

// of returns the demand of a source, nil if there are too many.
func (d *demands) of(from source) *demand {
	if *d == nil {
		*d = make(demands)
	}
	if one, known := (*d)[from]; known || len(*d) >= maxSources && !d.forget() {
		return one
	}
	one := new(demand)
	(*d)[from] = one
	return one
}

// forget makes room for a source, and reports whether there is any.
func (d *demands) forget() bool {
	for from, one := range *d {
		if one.Control == earshot.Resume {
			delete(*d, from)
			return true
		}
	}
	return false
}

// add notes what a source asks for.
func (d *demands) add(from source, c earshot.Control, s *Signal) {
	one := d.of(from)
	if one == nil {
		return
	}
	if c == earshot.Pause && one.expired {
		c = earshot.Duck
	}
	if c == earshot.Pause && one.Control != earshot.Pause {
		one.since = s.At
	}
	one.Control, one.sound = c, s.Kind.sounds()
}

// speaks notes that a source says words.
func (d *demands) speaks(from source) {
	if one := (*d)[from]; one != nil && one.Control == earshot.Pause {
		one.speaks = true
	}
}

// patience is how long one may last.
func (d *demand) patience() time.Duration {
	if d.speaks {
		return longPatience
	}
	return patience
}

// meant takes back what a source asked for, which has spoken.
func (d *demands) meant(from source) { delete(*d, from) }

// vain takes back what a source asked for if nothing followed by at.
func (d *demands) vain(from source, at time.Time) {
	one := (*d)[from]
	if one == nil || one.Control == earshot.Resume {
		return
	}
	if one.sound && (one.Control == earshot.Pause || one.expired || one.times >= idleTimes) {
		if at.Sub(one.last) > idleWithin {
			one.times = 0
		}
		one.times, one.last = one.times+1, at
	}
	one.Control, one.expired, one.speaks = earshot.Resume, false, false
	if one.times == 0 {
		delete(*d, from)
	}
}

// idle reports whether a source has paused for nothing over and over until at.
func (d *demands) idle(from source, at time.Time) bool {
	one := (*d)[from]
	return one != nil && one.times >= idleTimes && at.Sub(one.last) <= idleWithin
}

// tire lowers the demands of voices that have lasted too long at now, and returns
// when the next will have.
func (d *demands) tire(now time.Time) (next time.Time) {
	for _, one := range *d {
		if one.Control != earshot.Pause || !one.sound {
			continue
		}
		if end := one.since.Add(one.patience()); !now.Before(end) {
			one.Control, one.expired = earshot.Duck, true
		} else if next.IsZero() || end.Before(next) {
			next = end
		}
	}
	return next
}

// most returns what all of them ask for together of somebody who speaks aloud or
// does not.
func (d *demands) most(aloud bool) (c earshot.Control) {
	for _, one := range *d {
		if aloud || !one.sound {
			c = max(c, one.Control)
		}
	}
	return c
}
