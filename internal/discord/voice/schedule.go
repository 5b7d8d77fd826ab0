package voice

import (
	"bytes"
	"time"
)

const (
	ahead  = 10 // frames that may be queued in advance: 200 ms
	tail   = 5  // frames of silence at the end of speech, so that no decoder goes on
	makeUp = 2  // late frames that are still sent, at once; more would be a burst
)

// silence is a frame of Opus without any sound.
var silence = []byte{0xF8, 0xFF, 0xFE}

// A schedule says which frame leaves when: one in each 20 ms since it began, whatever happened in
// between, so that no delay adds up. RTP timestamps follow this time, even while nothing is said
// or nothing may leave. It has no clock.
type schedule struct {
	zero  time.Time
	done  int64 // slots of 20 ms that are over
	queue [][]byte

	rest int   // frames of silence to come
	sent int64 // frames of speech that have left
}

func newSchedule(zero time.Time) *schedule { return &schedule{zero: zero} }

// say queues a frame, which it copies, and returns false if there is no room.
func (s *schedule) say(opus []byte) bool {
	if len(s.queue) == ahead {
		return false
	}
	s.queue = append(s.queue, bytes.Clone(opus))
	return true
}

// hush drops what is queued.
func (s *schedule) hush() int {
	n := len(s.queue)
	s.queue = nil
	return n
}

// A slot is what one step of the schedule does.
type slot struct {
	opus  []byte // to send; nil if nothing is to be sent
	stamp uint32 // since the schedule began, in samples
	mine  bool   // speech, not the silence after it
	last  bool   // nothing follows
}

// step returns the next slot that is due, and false if there is none; it is called until there is
// none. A frame of speech stays the next one until left reports that it has left. What was due
// long ago is not sent later: the frames wait, and the missed time passes.
func (s *schedule) step(now time.Time) (slot, bool) {
	due := int64(now.Sub(s.zero)/frame) + 1 // slots that have begun
	if s.done >= due {
		return slot{}, false
	}
	if s.done < due-1-makeUp {
		s.done = due - 1
	}
	out := slot{stamp: uint32(s.done * samples)}
	s.done++
	switch {
	case len(s.queue) > 0:
		out.opus, out.mine = s.queue[0], true
	case s.rest > 0:
		out.opus = silence
		s.rest--
		out.last = s.rest == 0
	}
	return out, true
}

// left records that the frame of the last slot has left.
func (s *schedule) left() {
	s.queue = s.queue[1:]
	s.rest = tail
	s.sent++
}
