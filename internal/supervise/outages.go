package supervise

import (
	"fmt"
	"slices"
	"time"

	"earshot"
)

const (
	// hold is how long what was lost must have been back before that is told: longer than
	// what comes back every few seconds stays, short enough to be news.
	hold = 10 * time.Second

	// longestHold is how long it is held at most. Each time that something is lost again
	// soon after its return was told, it must stay for twice as long.
	longestHold = 5 * time.Minute

	// soon is how long after its return something is lost again, rather than anew.
	soon = 5 * time.Minute

	// mostOutages is how many things are known that were lost, more than there are in a
	// house, and mostReasons how many reasons of one outage are told.
	mostOutages = 256
	mostReasons = 4
)

// Outages decides what people are told of things that are lost and come back, whoever finds
// that out. The zero value is ready, with nothing lost.
//
// A loss is told at once, and so is another reason for it, up to four. Its end is told when
// it has lasted for ten seconds; whatever is lost meanwhile again is counted, and told with
// the end: what comes and goes every few seconds is told once when it begins, and once, with
// how often, when it is steady. What is lost again within five minutes of that must be
// steady for twice as long, and so on up to five minutes.
//
// It has no goroutine and no clock: the caller steps it with Change when something is lost or
// back, and with Steady when Next has come.
type Outages struct {
	by map[string]*outage
}

// An outage is what is known of one thing.
type outage struct {
	reasons []string // that were told; none if it is steady
	began   time.Time
	times   int            // that it was lost
	back    time.Time      // since when it is back; zero if it is not
	over    earshot.Notice // what is to be told of that
	hold    time.Duration
	told    time.Time // when its end was told last
}

// Change takes in a notice of a loss or of its end at now, and reports whether it is told at
// once. One without a key always is, and so is the end of what nobody was told was lost.
func (o *Outages) Change(now time.Time, n earshot.Notice) bool {
	is := o.by[n.Key]
	switch {
	case n.Key == "":
		return true
	case n.Over && (is == nil || len(is.reasons) == 0):
		return true
	case n.Over:
		is.over = n
		if is.back.IsZero() {
			is.back = now
		}
		return false
	case is == nil:
		is = &outage{hold: hold}
		o.add(n.Key, is)
	case len(is.reasons) == 0 && now.Sub(is.told) < soon:
		is.hold = min(2*is.hold, longestHold)
	case len(is.reasons) == 0:
		is.hold = hold
	}
	if len(is.reasons) == 0 {
		is.began, is.times, is.back = now, 0, time.Time{}
	}
	if is.times == 0 || !is.back.IsZero() {
		is.times++
	}
	is.back = time.Time{}
	if slices.Contains(is.reasons, n.Text) || len(is.reasons) == mostReasons {
		return false
	}
	is.reasons = append(is.reasons, n.Text)
	return true
}

// add notes something that is lost for the first time. If there are too many, the one is
// forgotten that has been steady for longest, or else any.
func (o *Outages) add(key string, is *outage) {
	if o.by == nil {
		o.by = make(map[string]*outage)
	}
	if len(o.by) >= mostOutages {
		oldest := ""
		for k, other := range o.by {
			if was := o.by[oldest]; was == nil || len(other.reasons) == 0 && (len(was.reasons) > 0 || other.told.Before(was.told)) {
				oldest = k
			}
		}
		delete(o.by, oldest)
	}
	o.by[key] = is
}

// Forget forgets that something was lost: there is another in its place.
func (o *Outages) Forget(key string) { delete(o.by, key) }

// Steady returns what is told at now: what has been back for long enough, the first at the
// front, with how often it was lost if that was more than once.
func (o *Outages) Steady(now time.Time) (over []earshot.Notice) {
	var all []*outage
	for _, is := range o.by {
		if !is.back.IsZero() && !now.Before(is.back.Add(is.hold)) {
			all = append(all, is)
		}
	}
	slices.SortFunc(all, func(a, b *outage) int { return a.back.Compare(b.back) })
	for _, is := range all {
		n := is.over
		if is.times > 1 {
			n.Text += fmt.Sprintf(", after it was lost %d times within %v", is.times, is.back.Sub(is.began).Round(time.Second))
		}
		is.reasons, is.back, is.told = nil, time.Time{}, now
		over = append(over, n)
	}
	return over
}

// Next returns when to call Steady; the zero Time if there is nothing to tell.
func (o *Outages) Next() (next time.Time) {
	for _, is := range o.by {
		if at := is.back.Add(is.hold); !is.back.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
