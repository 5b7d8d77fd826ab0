package audio

import (
	"math"
	"slices"
)

// How an Echo judges, in dB and in steps of one frame.
const (
	// late is for how many frames an echo may be on its way unknown to anybody:
	// 300 ms.
	late = 15

	// faint is the level of own sound that nobody hears any more, and faintBand
	// that of a part of it.
	faint     = -55
	faintBand = -65

	// decay is how fast a sound dies away in a room: one of 300 ms to -60 dB.
	decay = 4

	// sureFar is how loud own sound must be to learn from it, and sureFor for how
	// many frames: by then its echo has come, if there is one.
	sureFar = -50
	sureFor = 8

	// overFloor is how far above the noise of the room something must be to be
	// more than noise.
	overFloor = 3

	// none is a coupling of no echo at all.
	none = -70

	// unknown is what is believed before anything was learned, that of a
	// loudspeaker close to the microphone: whose first words the agent would else
	// take for somebody's.
	unknown = 0

	// surprise is the most that one frame may contradict what was learned.
	surprise = 12

	// allowance is what an echo may be louder than was learned and still be one:
	// the learned coupling is the lower edge of what was seen.
	allowance = 8
)

// The speeds of learning, as parts of the difference. A coupling that is too
// high makes us deaf to who speaks over us, so it falls fast and rises slowly.
const (
	falling  = 0.1
	rising   = 0.1
	remember = 0.02 // of the correlation: about a second
)

// An Echo estimates how much of what is captured is the sound of our own
// loudspeaker, from levels alone: it learns how much softer that arrives, octave
// by octave, and takes what is no louder for echo. It cannot tell two voices of
// one loudness apart, and removes nothing. It has no clock; the zero value is
// ready, and it is for one goroutine at a time.
type Echo struct {
	far   float64 // envelope of our own sound, dB
	bands [octaves]band
	begun bool
}

// Captured judges the next frame of a microphone, or what is left of it, while
// our own sound was far. It returns whether that was audible, and the part of
// the frame's energy that it is taken to be, 0 to 1.
func (e *Echo) Captured(far, near []int16) (own bool, ratio float32) {
	fars, nears := split(far), split(near)
	if !e.begun {
		e.far, e.begun = Silence, true
		for i := range e.bands {
			e.bands[i] = band{far: Silence, near: Silence, floor: nears[i], coupled: unknown}
		}
	}
	e.far = max(Level(far), e.far-decay)
	var all, ours float64
	for i := range e.bands {
		echo := e.bands[i].step(fars[i], nears[i])
		all, ours = all+power(nears[i]), ours+echo
	}
	if ours > 0 {
		ratio = float32(min(1, ours/all))
	}
	return e.far >= faint, ratio
}

// A band is an octave of an [Echo].
type band struct {
	far     float64       // envelope of our own sound, dB
	recent  [late]float64 // what it was
	frames  int
	held    float64 // the loudest of those
	near    float64 // envelope of what is captured, dB
	floor   float64 // of the room, while we are silent, dB
	coupled float64 // near to far, dB
	loudFor int     // frames of loud own sound, on end
	still   stillness
	alike   correlation
}

// step takes a frame, and returns the power of echo in it.
func (b *band) step(far, near float64) float64 {
	b.far = max(far, b.far-decay)
	b.near = max(near, b.near-decay)
	b.held = b.hold()
	if most, ok := b.still.add(far, near, near < max(faintBand, b.floor+overFloor)); ok {
		b.coupled = min(b.coupled, max(none, most))
	}
	if b.held < faintBand {
		b.settle(near)
		return 0
	}
	b.learn(far, b.held)
	return b.judge(near, b.held)
}

// hold returns the loudest that our own sound was lately.
func (b *band) hold() float64 {
	b.recent[b.frames%late] = b.far
	b.frames++
	return slices.Max(b.recent[:min(b.frames, late)])
}

// settle follows the noise of the room.
func (b *band) settle(level float64) {
	speed := 0.02
	if level < b.floor {
		speed = 0.2
	}
	b.floor += speed * (level - b.floor)
}

// learn takes in how loud our own sound arrives.
func (b *band) learn(now, held float64) {
	sure := b.alike.add(held, b.near)
	b.loudFor++
	if now < sureFar || now < b.far-decay {
		b.loudFor = 0
	}
	if b.loudFor < sureFor {
		return
	}
	seen := b.near - held
	if b.near < b.floor+overFloor {
		seen = none
	}
	wrong, speed := seen-b.coupled, falling
	if wrong > 0 {
		speed = rising * sure
	}
	b.coupled += speed * max(-surprise, min(wrong, surprise))
}

// judge returns how much of a frame of that level the expected echo is.
func (b *band) judge(level, held float64) float64 {
	if level < max(faintBand, b.floor+overFloor) { // nothing is heard
		return 0
	}
	return power(min(level, b.coupled+allowance+held))
}

// A stillness is for how long nothing was heard: what was said in it, and would
// have come back by now however late, does not come back.
type stillness struct {
	recent [late]float64 // how loud our own sound was, dB
	frames int
	near   float64 // the most that was captured meanwhile, dB
	far    float64 // the loudest of our own sound that would be back, dB
}

// add takes in a frame, in which nothing is heard or something, and returns how
// loud at most our own sound comes back, near to far, if that shows it.
func (s *stillness) add(far, near float64, nothing bool) (most float64, shown bool) {
	if !nothing {
		s.frames = 0
		return 0, false
	}
	if s.frames == 0 {
		s.near, s.far = near, Silence
	}
	s.near = max(s.near, near)
	if s.frames >= late {
		s.far = max(s.far, s.recent[s.frames%late])
	}
	s.recent[s.frames%late] = far
	s.frames++
	return s.near - s.far, s.far >= sureFar
}

// octaves is how many parts sound is split in: above 4, 2 and 1 kHz, and below.
const octaves = 4

// split returns the levels of the octaves of pcm, each at least [Silence].
func split(pcm []int16) (levels [octaves]float64) {
	var low [Samples]float64
	n := min(len(pcm), Samples)
	for i, s := range pcm[:n] {
		low[i] = float64(s)
	}
	for i := range octaves - 1 {
		energy := 0.0
		n = n/2 - 1
		for j := range n {
			x := low[2*j : 2*j+4 : 2*j+4]
			high := daub[3]*x[0] - daub[2]*x[1] + daub[1]*x[2] - daub[0]*x[3]
			low[j] = daub[0]*x[0] + daub[1]*x[1] + daub[2]*x[2] + daub[3]*x[3]
			energy += high * high
		}
		levels[i] = mean(energy, len(pcm))
	}
	energy := 0.0
	for _, s := range low[:n] {
		energy += s * s
	}
	levels[octaves-1] = mean(energy, len(pcm))
	return levels
}

// daub are the weights of the shortest wavelet of Daubechies that does not take
// the slope of a low sound for a high one.
var daub = [4]float64{0.48296291314453414, 0.8365163037378079, 0.2241438680420134, -0.12940952255126037}

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
