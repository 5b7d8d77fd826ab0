package audio

import (
	"math"
	"time"
)

// How an Echo judges, in dB and in steps of one frame.
const (
	// faint is the level of own sound that nobody hears any more.
	faint = -55

	// decay is how fast a sound dies away in a room: one of 300 ms to -60 dB.
	decay = 4

	// sureFar is how loud own sound must be to learn from it, and sureFor for how
	// many frames: by then its echo has come, if there is one.
	sureFar = -45
	sureFor = 8

	// overFloor is how far above the noise of the room something must be to be
	// more than noise.
	overFloor = 3

	// none is a coupling of no echo at all.
	none = -70

	// unknown is what is believed before anything was learned, that of a
	// loudspeaker beside the microphone: whose first words the agent would else
	// take for somebody's.
	unknown = -15

	// surprise is the most that one frame may contradict what was learned.
	surprise = 12

	// allowance is what an echo may be louder than was learned and still be one:
	// the learned coupling is the lower edge of what was seen.
	allowance = 5
)

// The speeds of learning, as parts of the difference. A coupling that is too
// high makes us deaf to who speaks over us, so it falls fast and rises slowly.
const (
	falling  = 0.1
	rising   = 0.1
	remember = 0.02 // of the correlation: about a second
)

// history is how many pieces of own sound are remembered: two and a half seconds
// of 10 ms, more than any wireless loudspeaker holds back.
const history = 256

// An Echo estimates how much of what a microphone captures is the sound of our
// own loudspeaker, from levels alone: it learns how much softer that arrives,
// and takes what is no louder for echo. It cannot tell two voices of one
// loudness apart, and removes nothing. It has no clock; the zero value is ready,
// and it is for one goroutine at a time.
type Echo struct {
	played  [history]piece
	newest  int
	far     float64 // envelope of our own sound, dB
	near    float64 // envelope of what is captured, dB
	floor   float64 // of the room, while we are silent, dB
	coupled float64 // near to far, dB
	begun   bool
	loudFor int // frames of loud own sound, on end
	alike   correlation
}

// A piece is own sound of one level.
type piece struct {
	from, to time.Time
	level    float64
}

// Played says that own sound of a level, in dB, comes out of the loudspeaker
// from one time to another. Times only go forward.
func (e *Echo) Played(from, to time.Time, level float64) {
	e.newest = (e.newest + 1) % history
	e.played[e.newest] = piece{from, to, level}
}

// Captured judges a frame that was captured from at on, of a level in dB. It
// returns whether own sound was audible then, and the part of the frame's
// energy that it is taken to be, 0 to 1.
func (e *Echo) Captured(at time.Time, level float64) (own bool, ratio float32) {
	if !e.begun {
		e.far, e.near, e.floor, e.coupled, e.begun = Silence, Silence, level, unknown, true
	}
	now := e.farAt(at)
	e.far = max(now, e.far-decay)
	e.near = max(level, e.near-decay)
	if e.far < faint {
		e.settle(level)
		return false, 0
	}
	e.learn(now)
	return true, e.judge(level)
}

// farAt returns the level of own sound around the frame from at on.
func (e *Echo) farAt(at time.Time) float64 {
	loudest, until := Silence, at.Add(Time)
	for _, p := range e.played {
		if p.from.Before(until) && p.to.After(at) {
			loudest = max(loudest, p.level)
		}
	}
	return loudest
}

// settle follows the noise of the room.
func (e *Echo) settle(level float64) {
	speed := 0.02
	if level < e.floor {
		speed = 0.2
	}
	e.floor += speed * (level - e.floor)
}

// learn takes in how loud our own sound arrives.
func (e *Echo) learn(now float64) {
	sure := e.alike.add(e.far, e.near)
	e.loudFor++
	if now < sureFar || now < e.far-decay {
		e.loudFor = 0
	}
	if e.loudFor < sureFor {
		return
	}
	seen := e.near - e.far
	if e.near < e.floor+overFloor {
		seen = none
	}
	wrong, speed := seen-e.coupled, falling
	if wrong > 0 {
		speed = rising * sure
	}
	e.coupled += speed * max(-surprise, min(wrong, surprise))
}

// judge returns which part of a frame of that level the expected echo is.
func (e *Echo) judge(level float64) float32 {
	if level < max(faint, e.floor+overFloor) { // nothing is heard
		return 0
	}
	over := e.coupled + allowance + e.far - level
	return float32(min(1, math.Pow(10, over/10)))
}

// A correlation tells whether two levels go up and down together: what is not
// our own sound does not follow it.
type correlation struct {
	x, y, xx, yy, xy float64
	begun            bool
}

// add takes in a pair, and returns the correlation of the last second, 0 to 1.
func (c *correlation) add(x, y float64) float64 {
	if !c.begun {
		c.x, c.y, c.begun = x, y, true
	}
	dx, dy := x-c.x, y-c.y
	c.x += remember * dx
	c.y += remember * dy
	c.xx += remember * (dx*dx - c.xx)
	c.yy += remember * (dy*dy - c.yy)
	c.xy += remember * (dx*dy - c.xy)
	if c.xx <= 1 || c.yy <= 1 { // nothing goes up or down
		return 0.2
	}
	return max(0, min(1, c.xy/math.Sqrt(c.xx*c.yy)))
}
