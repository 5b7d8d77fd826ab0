package attention

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/language"
)

const (
	// forgets is the half-life of familiarity: somebody who comes back after a night is news,
	// somebody who comes back from a coffee is not.
	forgets = 2 * time.Hour

	// settles is the half-life of what is usual: a lively conversation becomes usual within a few
	// minutes, and so does silence.
	settles = 2 * time.Minute

	// calms is the half-life of the level.
	calms = 5 * time.Minute

	// blend is the weight of the newest weighing in what is usual.
	blend = 0.2

	// wakes is the level from which something new is worth a thought. Below it, something new only
	// raises the level.
	wakes = 0.5

	// crumbs is the least surprise that counts: that of two or three words. Where silence is usual,
	// anything would be news otherwise.
	crumbs = 0.4

	// stirs is the share of any surprise, however usual, that raises the level: a lively
	// conversation is checked again after a minute or two, even if nothing in it is unusual.
	stirs = 0.1

	// A check-in comes between soonest and latest after the weighing that called for it.
	soonest = 30 * time.Second
	latest  = time.Hour

	// maxFamiliar is how many familiar things are remembered: the words of some hours of
	// conversation.
	maxFamiliar = 4096
)

// The most that each part of an occurrence counts when it is new. A sentence of five words that
// nobody has said recently counts about as much as a new voice.
const (
	newcomer = 0.8
	newField = 0.8
	newWord  = 0.15
	newGuest = 0.8
)

// misses is the absence after which somebody who comes counts half as much as a newcomer can at
// most: after a coffee they hardly count, after lunch somewhat, and in the morning fully.
const misses = 45 * time.Minute

// A NoveltyTracker tracks how much of what happens in a room is new, compared with what has
// recently been usual there. It has no goroutine and no clock: its caller steps it at the times
// that Next returns. Nothing is due if nothing has happened. The zero value weighs everything at
// once; see Every.
type NoveltyTracker struct {
	// Every is the least time between two weighings.
	Every time.Duration

	known   map[string]familiarity
	pending float64 // the surprise of what has happened since the last weighing
	waits   bool    // something has happened since then
	left    float64 // the surprise of what was weighed but not thought about
	weighed time.Time

	usual, spread float64 // the mean of the weighings, and their deviation from it
	level         float64 // 0 to 1, at the time of the last weighing
	checkIn       time.Time
}

// A familiarity says how familiar something was, and when.
type familiarity struct {
	times float64
	at    time.Time
}

// An Occurrence is what can be new about something that happened.
type Occurrence struct {
	At   time.Time
	Who  string // the voice or the person; empty if none
	What string // its kind, such as a field of the scene
	Text earshot.Text

	// Absence is how long nobody had been noticed before an arrival.
	Absence time.Duration
}

// Take takes in an occurrence.
func (w *NoveltyTracker) Take(g Occurrence) {
	if g.Who != "" {
		w.pending += newcomer * w.newness("who "+g.Who, g.At)
	}
	if g.What != "" {
		w.pending += newField * w.newness("what "+g.What, g.At)
	}
	if g.Absence > 0 {
		w.pending += newGuest * (1 - left(g.Absence, misses))
	}
	told := make(map[string]bool)
	for _, word := range language.Plain(string(g.Text)) {
		if key := stem(word); !told[key] && !common[word] {
			told[key] = true
			w.pending += newWord * w.newness("word "+key, g.At)
		}
	}
	w.waits = true
	w.forget(g.At)
}

// stem returns the beginning that a word shares with its forms.
func stem(word string) string {
	runes := []rune(word)
	return string(runes[:min(len(runes), 6)])
}

// newness returns how new something is at a time, 0 to 1, and makes it more familiar.
func (w *NoveltyTracker) newness(key string, at time.Time) float64 {
	if w.known == nil {
		w.known = make(map[string]familiarity)
	}
	had := w.known[key].fade(at)
	w.known[key] = familiarity{had + 1, at}
	return 1 / ((1 + had) * (1 + had))
}

// fade returns how familiar something still is at a time.
func (t familiarity) fade(at time.Time) float64 { return t.times * left(at.Sub(t.at), forgets) }

// left returns what is left of 1 after a time, for a given half-life.
func left(after, half time.Duration) float64 {
	return math.Exp2(-max(0, after.Seconds()) / half.Seconds())
}

// forget keeps the familiar things within their bound by dropping the least familiar half.
func (w *NoveltyTracker) forget(at time.Time) {
	if len(w.known) <= maxFamiliar {
		return
	}
	keys := slices.SortedFunc(maps.Keys(w.known), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.known[a].fade(at), w.known[b].fade(at)), cmp.Compare(a, b))
	})
	for _, key := range keys[:len(keys)/2] {
		delete(w.known, key)
	}
}

// Next returns when Weigh has something to do; the zero Time if it has nothing until something
// happens.
func (w *NoveltyTracker) Next() time.Time {
	next := w.checkIn
	if w.waits {
		if at := w.weighed.Add(w.Every); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// Weigh weighs what has happened. It reports whether that is worth a thought, and why. It does
// nothing before the time that Next returns.
func (w *NoveltyTracker) Weigh(now time.Time) (cause earshot.Cause, worth bool) {
	if next := w.Next(); next.IsZero() || now.Before(next) {
		return "", false
	}
	if w.waits && !now.Before(w.weighed.Add(w.Every)) && w.weigh(now) {
		return earshot.ByNovelty, true
	}
	if !w.checkIn.IsZero() && !now.Before(w.checkIn) {
		w.checkIn = time.Time{}
		return earshot.ByCheckIn, true
	}
	return "", false
}

// weigh reports whether what has happened is new enough for a thought.
func (w *NoveltyTracker) weigh(now time.Time) bool {
	since := now.Sub(w.weighed)
	w.usual *= left(since, settles) // nothing happened meanwhile
	w.spread *= left(since, settles)
	w.level *= left(since, calms)
	surprise := w.pending
	excess := surprise - (crumbs + w.usual + w.spread)
	w.usual, w.spread = w.usual+blend*(surprise-w.usual), w.spread+blend*(math.Abs(surprise-w.usual)-w.spread)
	w.left += surprise
	w.pending, w.waits, w.weighed = 0, false, now
	w.level += (1 - w.level) * (1 - math.Exp(-max(0, excess)-stirs*surprise))
	if w.checkIn.IsZero() && w.left > crumbs {
		w.checkIn = now.Add(w.patience())
	}
	return excess > 0 && w.level >= wakes
}

// patience returns the time to the next check: the less happens, the longer.
func (w *NoveltyTracker) patience() time.Duration {
	calm := 1 - w.level
	return soonest + time.Duration(float64(latest-soonest)*calm*calm)
}

// Thinks notes that a thought has begun, and that it knows everything that has happened. So no
// check-in is due, and nothing is left to weigh.
func (w *NoveltyTracker) Thinks() {
	w.left, w.checkIn = 0, time.Time{}
	w.pending, w.waits = 0, false
}

// Level returns how much is going on at now, 0 to 1.
func (w *NoveltyTracker) Level(now time.Time) float64 {
	return w.level * left(now.Sub(w.weighed), calms)
}

// common are words that say nothing new, whoever says them.
var common = language.Set(`a an and are as at be been but by can could did do does dont for from get go going got had has have he her
	here him his how i if im in is it its just know like me my no not now of oh ok okay on one or our out really right say
	see she should so some than thanks that thats the their them then there they think this to too up us was we well were
	what when where which who why will with would yeah yes you your`)
