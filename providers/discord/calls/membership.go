package calls

import "time"

const (
	// lonely is how long it stays in a channel in which nobody is: long enough to reload a
	// client, or to be called somewhere for a moment.
	lonely = time.Minute

	// After a call that came to an end by itself it comes back by itself no sooner than
	// this, doubled each time up to the longest.
	firstRest   = time.Minute
	longestRest = 15 * time.Minute

	// settled is how long a call must have lasted for the next rest to be the first again.
	settled = 5 * time.Minute
)

// A place is a voice channel as the policy sees it.
type place struct {
	channel uint64
	people  int    // who may talk with it there
	why     string // it cannot come there, with the cure; "" if it can
}

// A membership decides in which voice channel of one guild it is. It has no clock: time
// is an argument.
type membership struct {
	people bool // it comes by itself where people are

	in      uint64 // where it is, or is about to be; 0 is nowhere
	since   time.Time
	empty   time.Time // since when nobody is there; zero if somebody is
	shunned map[uint64]bool
	rest    time.Time // it does not come by itself before that
	fails   int       // calls in a row that came to an end by themselves
}

// A move is what a membership wants.
type move struct {
	join  uint64 // a channel to come into; 0 is none
	leave bool
	wait  time.Duration // until it may want something though nothing happens; 0 is never
}

// step says what to do at now. Places are the voice channels of the guild.
func (a *membership) step(now time.Time, places []place) move {
	for _, p := range places {
		if p.people == 0 {
			delete(a.shunned, p.channel) // who sent it away has gone
		}
	}
	if a.in != 0 {
		return a.stay(now, places)
	}
	if !a.people {
		return move{}
	}
	best := place{}
	for _, p := range places {
		if p.people > best.people && p.why == "" && !a.shunned[p.channel] {
			best = p
		}
	}
	switch {
	case best.channel == 0:
		return move{}
	case now.Before(a.rest):
		return move{wait: a.rest.Sub(now)}
	}
	a.joins(now, best.channel)
	return move{join: best.channel}
}

// stay says whether to stay where it is.
func (a *membership) stay(now time.Time, places []place) move {
	for _, p := range places {
		if p.channel == a.in && p.people > 0 {
			a.empty = time.Time{}
			return move{}
		}
	}
	if a.empty.IsZero() {
		a.empty = now
	}
	if left := a.empty.Add(lonely).Sub(now); left > 0 {
		return move{wait: left}
	}
	a.in = 0
	return move{leave: true}
}

// joins says that it is about to come into a channel: by itself, or since somebody has
// asked it to.
func (a *membership) joins(now time.Time, channel uint64) {
	a.in, a.since, a.empty = channel, now, time.Time{}
	delete(a.shunned, channel)
}

// moved says that somebody has moved it.
func (a *membership) moved(channel uint64) { a.in, a.empty = channel, time.Time{} }

// sent says that somebody has sent it away: it does not come back by itself while those
// are there who did.
func (a *membership) sent() { a.shun(); a.in, a.fails = 0, 0 }

// ended says that the call has come to an end at now: thrown out by a moderator, or not.
func (a *membership) ended(now time.Time, thrown bool) {
	if a.in == 0 {
		return // it left
	}
	if thrown {
		a.sent()
		return
	}
	if now.Sub(a.since) >= settled {
		a.fails = 0
	}
	a.rest = now.Add(min(longestRest, firstRest<<min(a.fails, 10)))
	a.fails++
	a.in = 0
}

func (a *membership) shun() {
	if a.shunned == nil {
		a.shunned = make(map[uint64]bool)
	}
	if a.in != 0 {
		a.shunned[a.in] = true
	}
}
