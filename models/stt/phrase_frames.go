package stt

import (
	"time"

	"earshot/internal/audio"
)

// phraseFrames is a ring of frames in which phrases are sought. A helper is never more than a
// second behind; after that it is too late to stop anybody.
type phraseFrames struct {
	ring    [50]spot
	first   int // the oldest
	n       int
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
	if q.n == len(q.ring) {
		q.pop()
		q.ring[q.first].fresh = true
		q.dropped++
	}
	off := f.At.Sub(q.next)
	s := &q.ring[(q.first+q.n)%len(q.ring)]
	s.at, s.pcm = f.At, f.PCM
	s.fresh = q.torn || f.Lost > 0 || off > jitter || off < -jitter
	q.n++
	q.next, q.torn = f.At.Add(audio.Time), false
}

// pop takes the oldest frame.
func (q *phraseFrames) pop() spot {
	s := q.ring[q.first]
	q.ring[q.first] = spot{} // what was said is not kept
	q.first, q.n = (q.first+1)%len(q.ring), q.n-1
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
	clear(q.ring[:])
	q.n, q.torn = 0, true
}
