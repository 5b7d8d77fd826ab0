package calls

import "time"

const (
	// lonely is how long the agent stays in an empty channel: long enough for a person to reload a
	// client, or to be called away for a moment.
	lonely = time.Minute

	// After a call that ended unexpectedly the agent rejoins no sooner than this, doubled each time
	// up to the longest.
	firstRest   = time.Minute
	longestRest = 15 * time.Minute

	// settled is how long a call must have lasted for the next rest to be the shortest again.
	settled = 5 * time.Minute
)

// A place is a voice channel in the form that the policy uses.
type place struct {
	channel uint64
	people  int    // who may talk with the agent there
	why     string // why the agent cannot join it, with the cure; "" if it can
}

// A membership decides in which voice channel of one guild the agent is. It has no clock: time is
// an argument.
type membership struct {
	people bool // it joins by itself where people are

	in      uint64 // where the agent is, or is about to be; 0 is nowhere
	since   time.Time
	empty   time.Time // since when nobody else is there; zero if somebody is
	shunned map[uint64]bool
	rest    time.Time // it does not join by itself before that
	fails   int       // calls in a row that ended unexpectedly
}

// A move is what a membership wants.
type move struct {
	leave bool
	wait  time.Duration // when to step again even if nothing happens; 0 is never
}

// step decides what to do at now. Places are the voice channels of the guild.
func (a *membership) step(now time.Time, places []place) move {
	for _, p := range places {
		if p.people == 0 {
			delete(a.shunned, p.channel) // the person who sent it away has gone
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
	return move{}
}

// stay decides whether to stay.
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

// joins records that the agent is about to join a channel: by itself, or because somebody asked.
func (a *membership) joins(now time.Time, channel uint64) {
	a.in, a.since, a.empty = channel, now, time.Time{}
	delete(a.shunned, channel)
}

// moved records that somebody has moved the agent.
func (a *membership) moved(channel uint64) { a.in, a.empty = channel, time.Time{} }

// sent records that somebody has sent the agent away: it does not come back by itself while the
// people who did are there.
func (a *membership) sent() {
	if a.shunned == nil {
		a.shunned = make(map[uint64]bool)
	}
	a.shunned[a.in] = true
	a.in, a.fails = 0, 0
}

// ended records that the call ended at now: because a moderator disconnected the agent, or for
// another reason.
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
