package codec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// upcoming is how much may be with the helper, or wait for who takes the frames.
const upcoming = 400 * time.Millisecond

var (
	// ErrDropped is the end of an utterance that [Opus.Drop] abandoned.
	ErrDropped = errors.New("it was abandoned")

	errFull = errors.New("the message is full")
	errDone = errors.New("all of it was encoded")
)

// A speaking is the part of an [Opus] that encodes.
type speaking struct {
	some chan struct{} // holds a token when there may be a frame to deliver

	calling sync.Mutex // held while Encoded is called

	mu      sync.Mutex
	link    helper.Link   // nil while there is none
	changed chan struct{} // closed, and made new, when link changes
	number  uint32        // of the last utterance
	now     *utterance    // that is being encoded; nil if none is
	queue   []encoded
	hasten  context.CancelFunc // ends the waiting of Encoded; nil if it is not called
}

// An utterance is what is said until it is over.
type utterance struct {
	number uint32
	link   helper.Link
	room   chan struct{} // holds a token when more may be handed over
	over   chan struct{} // closed at its end
	why    error         // what became of it, once it is over

	// Guarded by the speaking's mutex.
	given       time.Duration // that was handed over
	came, taken int           // frames, from the helper and by Encoded
	flushing    bool          // no more comes
}

// An encoded is a frame of an utterance, or nil at its end.
type encoded struct {
	of   *utterance
	opus []byte
}

func (s *speaking) init() {
	s.some = make(chan struct{}, 1)
	s.changed = make(chan struct{})
}

// Encode hands over mono samples at a rate, 8 to 48 kHz, which are encoded when 20
// ms of them are there. It waits for a helper, and while 400 ms are ahead of Encoded.
// When the helper has died and taken some of the utterance with it, or Drop was
// called meanwhile, that is an error, [helper.ErrGone] or [ErrDropped], and what
// comes next is another utterance. Encode and Flush are for one goroutine at a time.
func (s *speaking) Encode(ctx context.Context, rate int, pcm []int16) error {
	if rate < MinSpeech || rate > MaxSpeech {
		return fmt.Errorf("encoding %d samples a second: from %d to %d are possible", rate, MinSpeech, MaxSpeech)
	}
	u, err := s.current(ctx)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	var message []byte
	for piece := rate / 50; len(pcm) > 0; {
		n := min(piece, len(pcm))
		if err := s.give(ctx, u, time.Duration(n)*time.Second/time.Duration(rate)); err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		message = AppendSpeech(message[:0], rate, pcm[:n])
		if u.link.SendSound(u.number, message) != nil {
			return fmt.Errorf("encoding: %w", s.lost(u))
		}
		pcm = pcm[n:]
	}
	return nil
}

// Flush fills up the last frame with silence, and waits until Encoded has taken it
// and all before it. Errors are those of Encode.
func (s *speaking) Flush(ctx context.Context) error {
	s.mu.Lock()
	u := s.now
	first := u != nil && !u.flushing
	if first {
		u.flushing = true
	}
	s.mu.Unlock()
	if u == nil {
		return nil
	}
	if first && u.link.SendSound(u.number, nil) != nil {
		return fmt.Errorf("encoding: %w", s.lost(u))
	}
	select {
	case <-u.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := s.lost(u); !errors.Is(err, errDone) {
		return fmt.Errorf("encoding: %w", err)
	}
	return nil
}

// Drop gives up what is ahead: when it returns, Encoded is not called with it any
// more. It must not be called from within Encoded.
func (s *speaking) Drop() {
	s.mu.Lock()
	s.giveUp(ErrDropped)
	s.now = nil
	s.mu.Unlock()
	s.calling.Lock() // until the frame that is being taken has been
	defer s.calling.Unlock()
}

// giveUp ends the utterance.
func (s *speaking) giveUp(why error) {
	clear(s.queue)
	s.queue = s.queue[:0]
	if s.now != nil {
		s.now.end(why)
	}
	if s.hasten != nil {
		s.hasten()
	}
}

// end says what became of u, unless that is known already.
func (u *utterance) end(why error) {
	if u.why == nil {
		u.why = why
		close(u.over)
	}
}

// current returns the utterance that is being encoded, or a new one once there is a
// helper.
func (s *speaking) current(ctx context.Context) (*utterance, error) {
	for {
		u, changed := s.utterance()
		if u == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		s.mu.Lock()
		over := u.flushing
		s.mu.Unlock()
		if !over {
			return u, nil
		}
		select { // whoever flushed it did not wait
		case <-u.over:
			s.lost(u)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// utterance returns the one that is being encoded, and makes it if it can; else
// where to wait.
func (s *speaking) utterance() (*utterance, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil && s.link != nil {
		s.number++
		s.now = &utterance{number: s.number, link: s.link, room: make(chan struct{}, 1), over: make(chan struct{})}
	}
	return s.now, s.changed
}

// give waits until there is room for d more of u.
func (s *speaking) give(ctx context.Context, u *utterance, d time.Duration) error {
	for {
		s.mu.Lock()
		over := u.why != nil
		fits := u.given-time.Duration(u.taken)*audio.Time <= upcoming
		if fits {
			u.given += d
		}
		s.mu.Unlock()
		switch {
		case over:
			return s.lost(u)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case fits:
			return nil
		}
		select {
		case <-u.room:
		case <-u.over:
		case <-ctx.Done():
		}
	}
}

// lost returns what became of u, with which nothing can be done any more, and makes
// room for the next one.
func (s *speaking) lost(u *utterance) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.end(helper.ErrGone)
	if s.now == u {
		s.now = nil
	}
	return u.why
}

// begin says that there is a helper, end that there is none.
func (s *speaking) begin(link helper.Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = link
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *speaking) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = nil
	s.giveUp(helper.ErrGone)
}

// take takes a frame of the helper, or the end of an utterance.
func (s *speaking) take(number uint32, opus []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.now
	if u == nil || u.number != number {
		if number > s.number {
			return fmt.Errorf("%w: an utterance that never began", helper.ErrProtocol)
		}
		return nil // of one that was given up
	}
	if len(opus) > MaxOpus || len(opus) == 0 && !u.flushing || u.came > u.owed() {
		return fmt.Errorf("%w: more sound than was to be encoded", helper.ErrProtocol)
	}
	u.came++
	var copied []byte
	if len(opus) > 0 {
		copied = append(copied, opus...)
	}
	s.queue = append(s.queue, encoded{u, copied})
	select {
	case s.some <- struct{}{}:
	default:
	}
	return nil
}

// owed is how many frames u is at most: what is begun is filled up, and the encoder
// holds back a part of one.
func (u *utterance) owed() int { return int(u.given/audio.Time) + 2 }

// deliver calls take with the frames until ctx ends.
func (s *speaking) deliver(ctx context.Context, take func(context.Context, []byte)) {
	for {
		for s.deliverOne(ctx, take) {
		}
		select {
		case <-s.some:
		case <-ctx.Done():
			return
		}
	}
}

// deliverOne delivers the oldest frame, and reports whether there was one.
func (s *speaking) deliverOne(ctx context.Context, take func(context.Context, []byte)) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.calling.Lock()
	defer s.calling.Unlock()
	e, ok := s.oldest(stop)
	if !ok {
		return false
	}
	if e.opus != nil {
		take(ctx, e.opus)
	}
	s.delivered(e)
	return true
}

// oldest takes the oldest frame out of the queue. While it is being delivered,
// hasten ends the waiting.
func (s *speaking) oldest(hasten context.CancelFunc) (encoded, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return encoded{}, false
	}
	e := s.queue[0]
	s.queue = append(s.queue[:0], s.queue[1:]...) // some twenty
	s.hasten = hasten
	return e, true
}

// delivered says that e was taken.
func (s *speaking) delivered(e encoded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasten = nil
	if e.opus == nil {
		e.of.end(errDone)
		return
	}
	e.of.taken++
	select {
	case e.of.room <- struct{}{}:
	default:
	}
}
