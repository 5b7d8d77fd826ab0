// Package arbiter lets one of several microphones of a room speak for the others: each hears the same
// sentence, and it shall be heard once, from the microphone that is nearest.
//
//   - A voice begins in some of them: their frames are held back for [Window] since the first of them
//     came. Then the best one leads: its frames go on, and none is lost. The best is the one in which
//     the voice stands highest above the background, with little echo and loss. Whoever led last keeps
//     the lead unless another is better by [margin], so that a sentence is not divided between two.
//   - The others are copies: silence takes the place of their frames, [lag] late. They are compared
//     with who leads. One that is something else, since somebody else speaks, leads as well: all that
//     was held back of it follows, late but whole.
//   - A voice that begins later is taken for a copy until it turns out to be somebody else.
//   - Of two that lead and turn out to be the same voice, the lesser becomes a copy.
//   - When nobody was heard for [pause], the lead is free again: that is between words.
//
// Only one microphone at work passes every frame as it is, at once.
//
// A microphone whose frames come later than [Window] after those of the others, because of its
// network, can only win a voice that the others do not hear.
package arbiter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/internal/audio"
)

const (
	// Window is the longest time for which the frames of who leads are held back.
	Window = 80 * time.Millisecond

	// pause is for how many frames a voice is silent between words: 240 ms. Within a word it is for
	// less than 150 ms, before a plosive.
	pause = 12

	// away is after how long without a frame a microphone does not count: no network that carries
	// speech has such a jitter.
	away = 500 * time.Millisecond

	// lately is how long after its voice a microphone still counts as the one that led: longer than a
	// breath between sentences.
	lately = 3 * time.Second

	// margin is by how much another must be better, in dB, to take the lead from who led last: half as
	// far away.
	margin = 6

	// told is how many frames of new speech must have come to tell a copy from somebody else: 480 ms,
	// of which the last 80 are there to find what reaches one later than the other.
	told = (window + shift) / perFrame

	// every is after how many frames a voice is compared again.
	every = 4

	// mostDoubts is how many times in a row the comparison of a copy must fail, since it may by chance, and
	// mostKnownDoubts that of one that has succeeded: the last that a room returns of a voice is little
	// like it. mostAgrees is how many times that of two that lead must succeed: nothing is lost by waiting.
	mostDoubts, mostKnownDoubts, mostAgrees = 2, 3, 3

	// lag is how many frames of a copy are kept, 800 ms: somebody else who begins to speak is known by
	// then, also if the frames of who leads come 200 ms later.
	lag = 40
)

// A state is what becomes of the frames of a source.
type state int

const (
	quiet  state = iota // nobody is heard; they pass
	rival               // a voice begins; they are held back until it is known who leads
	leader              // they pass
	copied              // silence takes their place, unless it turns out to be somebody else
)

// An Arbiter arbitrates between the microphones of one room. The zero value has none. It is safe for
// concurrent use. It is to be told the time when a frame comes, and has no clock and no goroutine.
type Arbiter struct {
	mu      sync.Mutex
	sources []*Source // by ID
	decides time.Time // when the rivals are compared; zero if there are none
	last    *Source   // who led last
}

// Join adds a source. It is one microphone while it is open.
func (a *Arbiter) Join(id string) *Source {
	s := &Source{arbiter: a, id: id, floor: unknownFloor}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sources = append(a.sources, s)
	slices.SortStableFunc(a.sources, func(x, y *Source) int { return strings.Compare(x.id, y.id) })
	return s
}

// Leave removes a source. Its voice, if it leads, is free for others.
func (a *Arbiter) Leave(s *Source) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sources = slices.DeleteFunc(a.sources, func(o *Source) bool { return o == s })
	clear(s.ring[:])
	s.left, s.wave = true, wave{end: s.wave.end}
}

// End says that no frame follows: what is held back of s goes out.
func (a *Arbiter) End(s *Source) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.state == copied && s.doubts > 0 {
		s.until = s.covered()
	}
	s.release(s.kept, s.until)
	s.state = quiet
}

// Step takes the next frame of s, which came at now. Then [Source.Next] returns those that are for its
// listeners.
func (a *Arbiter) Step(s *Source, f *audio.Frame, now time.Time) {
	s.wipe()
	a.mu.Lock()
	s.seen = now
	if a.alone(s, now) {
		if s.state == copied {
			s.until = s.covered()
		}
		if s.state = quiet; s.wave.total > 0 {
			s.wave = wave{}
		}
	} else {
		s.measure(f)
		if !a.decides.IsZero() && !now.Before(a.decides) || s.state == rival && s.kept >= lag { // it was sent faster than it was said
			a.decide()
		}
		a.judge(s, f, now)
	}
	is, until := s.state, s.until
	a.mu.Unlock()
	if s.kept == 0 && is != rival && is != copied {
		s.straight = f
		return
	}
	s.keep(f)
	switch is {
	case rival:
	case copied:
		s.release(s.kept-lag, until)
	default:
		s.release(s.kept, until)
	}
}

// alone reports whether no other microphone is at work.
func (a *Arbiter) alone(s *Source, now time.Time) bool {
	return !slices.ContainsFunc(a.sources, func(o *Source) bool { return o != s && now.Sub(o.seen) < away })
}

// judge changes the state of s after its next frame.
func (a *Arbiter) judge(s *Source, f *audio.Frame, now time.Time) {
	switch {
	case s.state == quiet && f.Voiced:
		if a.leads(s, now) {
			s.state, s.until = copied, always
			break
		}
		if s.state, s.until = rival, (time.Time{}); a.decides.IsZero() {
			a.decides = now.Add(Window - audio.Time) // the next frame of who wins comes within Window
		}
	case s.state == leader && s.still >= pause:
		s.state = quiet
	case s.state == leader || s.state == copied:
		a.compare(s, now)
	}
	if s.state == leader {
		s.led, a.last = now, s
	}
}

// leads reports whether another source than s leads. One in which our own sound is heard beside the
// voice is no copy of one that does not know of that sound.
func (a *Arbiter) leads(s *Source, now time.Time) bool {
	return slices.ContainsFunc(a.sources, func(o *Source) bool {
		return o != s && o.state == leader && now.Sub(o.seen) < away && (o.own || !s.own)
	})
}

// compare compares s, in which a voice is heard, with those that lead or led until just now.
func (a *Arbiter) compare(s *Source, now time.Time) {
	if s.age < told || s.age%every != 0 {
		return
	}
	same := false
	for _, o := range a.sources {
		if o != s && (o.state == leader && (s.state == copied || o.precedes(s)) || s.state == copied && now.Sub(o.led) < time.Second) {
			same = same || s.alike(o)
		}
	}
	switch {
	case s.state == leader && !same:
		s.agrees = 0
	case s.state == leader:
		if s.agrees++; s.agrees == mostAgrees {
			s.state, s.until, s.doubts = copied, always, 0
		}
	case same:
		s.doubts, s.known = 0, true
	case s.speaks():
		if s.doubts++; s.doubts == mostDoubts && !s.known || s.doubts == mostKnownDoubts {
			s.state, s.until, s.agrees = leader, s.covered(), 0
		}
	}
	if s.state == copied && s.doubts == 0 && s.still >= pause {
		s.state = quiet
	}
}

// decide has the best of the rivals lead.
func (a *Arbiter) decide() {
	var best *Source
	for _, s := range a.sources {
		if s.state != rival {
			continue
		}
		s.state, s.until = copied, always
		if best == nil || cmp.Or(cmp.Compare(a.worth(s), a.worth(best)), best.onset.Compare(s.onset)) > 0 {
			best = s
		}
	}
	if best != nil {
		best.state, best.until = leader, time.Time{}
	}
	a.decides = time.Time{}
}

// worth returns the quality of a rival in dB, with the advantage of who led last.
func (a *Arbiter) worth(s *Source) float64 {
	if s == a.last && s.seen.Sub(s.led) < lately {
		return s.quality + margin
	}
	return s.quality
}
