package interrupt

import (
	"time"

	"earshot"
)

const (
	// maxSources bounds the demands: more sources than a room has people are a
	// fault, or an attack, and those beyond it cannot hold anybody back.
	maxSources = 256

	// patience is how long a voice holds a polite agent back that has not cut it: with
	// the time until somebody acts on it less than 0.4 s, in which people at a table notice
	// no gap. Whoever speaks to the agent cuts it by words, also while it goes on, lowered;
	// what does not is a television, other people's talk, or a "yeah".
	patience = 350 * time.Millisecond

	// A passive agent waits longer: passivePatience for a voice without words, since who speaks
	// to it has said some by then; passiveToWords for a voice whose words nobody can place.
	passivePatience = 2500 * time.Millisecond
	passiveToWords  = 10 * time.Second

	// idle voices have just held the agent back for nothing, or so many times, each within
	// so long of the last. Whoever coughs once, and speaks a while later, still pauses it.
	idleAfter  = 4 * time.Second
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
	since           time.Time // when it was first seen to pause; zero until then
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
		one.since = time.Time{}
	}
	one.Control, one.sound = c, s.Kind.sounds()
}

// speaks notes that a source says words.
func (d *demands) speaks(from source) {
	if one := (*d)[from]; one != nil && one.Control == earshot.Pause {
		one.speaks = true
	}
}

// patience is how long one may last in a style.
func (d *demand) patience(style Style) time.Duration {
	switch {
	case style != Passive:
		return patience
	case d.speaks:
		return passiveToWords
	}
	return passivePatience
}

// meant takes back what a source asked for, which has spoken.
func (d *demands) meant(from source) { delete(*d, from) }

// vain takes back what a source asked for if nothing followed by at.
func (d *demands) vain(from source, at time.Time) {
	one := (*d)[from]
	if one == nil || one.Control == earshot.Resume {
		return
	}
	switch {
	case !one.sound:
	case one.Control == earshot.Pause || one.expired || one.times >= idleTimes:
		if at.Sub(one.last) > idleWithin {
			one.times = 0
		}
		one.times++
		one.last = later(one.last, at)
	case one.times > 0: // it goes on, in pieces
		one.last = later(one.last, at)
	}
	one.Control, one.expired, one.speaks = earshot.Resume, false, false
	if one.times == 0 {
		delete(*d, from)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// idle reports whether a source has just paused for nothing at at, or has over and over.
func (d *demands) idle(from source, at time.Time) bool {
	one := (*d)[from]
	if one == nil || one.times == 0 {
		return false
	}
	ago := at.Sub(one.last)
	return ago <= idleAfter || one.times >= idleTimes && ago <= idleWithin
}

// tire lowers the demands of voices that have lasted too long at now in a style, and
// returns when the next will have.
func (d *demands) tire(now time.Time, style Style) (next time.Time) {
	for _, one := range *d {
		if one.Control != earshot.Pause || !one.sound {
			continue
		}
		if one.since.IsZero() {
			one.since = now
		}
		if end := one.since.Add(one.patience(style)); !now.Before(end) {
			one.Control, one.expired, one.last = earshot.Duck, true, now
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
