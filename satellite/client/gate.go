package client

import (
	"time"

	"earshot/internal/audio"
	"earshot/satellite"
)

// How much is sent, in frames. Frames are counted, and not time, since a clock may be set.
const (
	before = int(300 * time.Millisecond / audio.Time) // a voice: words begin with consonants that no detector hears
	after  = int(600 * time.Millisecond / audio.Time) // it: longer than the pauses in which the hub waits for more
	quiet  = int(satellite.QuietEvery / audio.Time)

	// recent is how much of what was said before a name was noticed is sent with it, and asked is for
	// how long after it a voice may begin.
	recent = int(3 * time.Second / audio.Time)
	asked  = int(5 * time.Second / audio.Time)

	// mostAsked bounds for how long the hub may let voices through without a name.
	mostAsked = int(time.Minute / audio.Time)
)

// A gate chooses the frames that are sent: those around a voice, and around the agent's own sound, so
// that the hub can decide who may be heard beside it. If it waits for a name, voices are held back
// until [gate.open]. It has no clock; it is for one goroutine.
type gate struct {
	waits bool // for a name

	held  []audio.Frame // the last ones, at most before
	left  int           // frames until the sound has ended
	level float64       // of the background, in dB; 0 is unknown
	still int           // frames until a quiet packet is due

	back    []audio.Frame // around voices, at most recent, that wait for a name
	may     int           // frames for which voices are let through without a name
	passing bool          // what is heard now is let through
}

// A choice is what becomes of a frame.
type choice struct {
	near  []audio.Frame // around a voice: where a name may be; until the next step
	send  []audio.Frame // those that are sent; until the next step
	ends  bool          // with the last one sent
	quiet bool          // a quiet packet is due
}

// step takes the next frame.
func (g *gate) step(f *audio.Frame) (c choice) {
	passed := g.passing
	c.near = g.around(f)
	if c.send = c.near; g.waits {
		c.send = g.admitted(c.near, f.At)
	}
	g.passing = g.left > 0 && (len(c.send) > 0 || passed)
	c.ends = (passed || len(c.send) > 0) && !g.passing
	switch {
	case len(c.send) > 0 && !c.ends:
		g.still = 0 // what follows is quiet at once
	case g.still > 0:
		g.still--
	case !c.ends:
		c.quiet, g.still = true, quiet-1
	}
	return c
}

// around returns the frames up to f that are near a voice or own sound, and holds f if it is not.
func (g *gate) around(f *audio.Frame) []audio.Frame {
	if f.Voiced || f.Own {
		g.left = after + 1
	}
	near := append(g.held, *f)
	if g.left > 0 {
		g.left--
		g.held = near[:0]
		return near
	}
	level := audio.Level(f.PCM[:])
	if g.level == 0 {
		g.level = level
	}
	g.level += (level - g.level) / float64(quiet)
	g.held = near
	if len(near) > before {
		g.held = near[:copy(near, near[1:])]
	}
	return nil
}

// admitted returns what of the frames is let through, with those that were held back before, and
// holds back the others.
func (g *gate) admitted(near []audio.Frame, now time.Time) []audio.Frame {
	if g.may > 0 {
		g.may--
	}
	if g.may == 0 && !g.passing {
		g.back = append(g.back, near...)
		old := max(0, len(g.back)-recent)
		for old < len(g.back) && now.Sub(g.back[old].At) > time.Duration(recent)*audio.Time {
			old++
		}
		g.back = g.back[:copy(g.back, g.back[old:])]
		return nil
	}
	if len(g.back) > 0 {
		near = append(g.back, near...)
		g.back = near[:0] // the next step does not append to it while it is let through
	}
	return near
}

// open lets voices through that begin within n frames, and the rest of what is heard now.
func (g *gate) open(n int) { g.may = max(g.may, min(n, mostAsked)) }

// background returns the level of the background in dB. Nothing is said about a room in which nobody
// has said a name.
func (g *gate) background() int8 {
	if g.waits {
		return audio.Silence
	}
	return int8(max(audio.Silence, min(0, g.level)))
}
