package stt

import (
	"slices"
	"time"

	"earshot/internal/audio"
)

// mostSpots is how many frames may wait in which phrases are sought, one second: after that it is
// too late to stop anybody.
const mostSpots = 50

// phraseFrames are the frames in which phrases are sought.
type phraseFrames struct {
	frames  []spot    // the oldest first; of capacity mostSpots
	next    time.Time // when a frame is due that follows the last one
	torn    bool      // a frame before the next is missing
	dropped int       // frames, since that was reported
	told    time.Time // when it was
}

// A spot is one frame of it.
type spot struct {
	at    time.Time
	pcm   [audio.Samples]int16
	fresh bool // it does not follow the one before
}

// jitter is how much the clocks of two frames may deviate for the second to follow the first: half
// a frame.
const jitter = audio.Time / 2

// Spot seeks the phrases in a frame. It does not block.
func (r *Recogniser) Spot(f *audio.Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life == nil {
		r.spots.torn = true
		return
	}
	r.spots.push(f)
	r.life.poke()
}

// push adds a frame, in place of the oldest if there is no room.
func (q *phraseFrames) push(f *audio.Frame) {
	if len(q.frames) == mostSpots {
		q.pop()
		q.frames[0].fresh = true
		q.dropped++
	}
	fresh := q.torn || f.Lost > 0 || f.At.Sub(q.next).Abs() > jitter
	q.frames = append(q.frames, spot{f.At, f.PCM, fresh})
	q.next, q.torn = f.At.Add(audio.Time), false
}

// pop takes the oldest frame. What was said is not kept.
func (q *phraseFrames) pop() spot {
	s := q.frames[0]
	q.frames = slices.Delete(q.frames, 0, 1)
	return s
}

// report returns how many frames were dropped, at most once a second.
func (q *phraseFrames) report(now time.Time) (dropped int) {
	if q.dropped == 0 || now.Sub(q.told) < time.Second {
		return 0
	}
	dropped, q.dropped, q.told = q.dropped, 0, now
	return dropped
}

// clear drops all frames: they were for a helper that has ended.
func (q *phraseFrames) clear() {
	clear(q.frames)
	q.frames, q.torn = q.frames[:0], true
}
