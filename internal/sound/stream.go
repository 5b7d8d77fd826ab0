package sound

import (
	"fmt"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

const (
	// kept is how many captured frames wait for a slow reader: more than anybody waits for a
	// processor, since late frames are still recognised, and lost ones tear a sentence in two.
	kept = int(Late / audio.Time)

	// settling is how long a helper keeps the first frames of a capture to itself; until then none
	// count as missing.
	settling = 500 * time.Millisecond

	// ahead is how many frames may come beyond what the elapsed time allows: a device that was held
	// up catches up.
	ahead = 2 * kept
)

// A stream is one capture or playback on one connection, from the request to the end.
type stream struct {
	line   *connection
	output bool
	number uint32
	opened chan struct{} // closed when it is open
	lost   chan struct{} // closed when it is over
	closed chan struct{} // closed when the helper has closed it
	ring   *audio.Ring   // the frames of a capture

	mu    sync.Mutex
	err   error     // why it is over
	since time.Time // when it was opened
	got   int       // frames
	seen  int       // at the last check
	looks int       // since a frame came, or the first was due
	next  audio.Frame
}

func newStream(l *connection, o Open) *stream {
	s := &stream{line: l, output: o.Output, number: o.Number,
		opened: make(chan struct{}), lost: make(chan struct{}), closed: make(chan struct{})}
	if !o.Output {
		s.ring = audio.NewRing(kept)
	}
	return s
}

// open records that the stream is open since now.
func (s *stream) open(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since, s.looks = now, -int(settling/glance)
		close(s.opened)
	}
}

// lose ends the stream with a reason. Only the first call counts.
func (s *stream) lose(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	if s.ring != nil {
		s.ring.Close(err)
	}
	close(s.lost)
}

// close records that the helper has closed it.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
}

// frame handles a frame.
func (s *stream) frame(b []byte, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.next.Decode(b); err != nil {
		return fmt.Errorf("%w: %w", helper.ErrProtocol, err)
	}
	if s.got++; s.got > ahead+int(now.Sub(s.since)/audio.Time) {
		return fmt.Errorf("%w: it captures faster than time passes", helper.ErrProtocol)
	}
	s.ring.Put(&s.next)
	return nil
}

// deaf reports whether the stream is open and yet nothing comes.
func (s *stream) deaf() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() || s.err != nil {
		return false
	}
	if s.looks++; s.got > s.seen {
		s.seen, s.looks = s.got, 0
	}
	return s.looks >= deaf
}
