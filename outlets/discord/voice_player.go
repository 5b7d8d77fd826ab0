package discord

import (
	"context"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/playback"
	"earshot/internal/sound"
)

// patience is how long sound may wait to leave: while a connection is lost for a moment, it waits,
// and is said afterwards. Later nobody remembers what it was about.
const patience = 5 * time.Second

// lull is how long a voice may make no sound before what it has made is encoded to its end, in the
// middle of a frame: it is between two clauses then.
const lull = 2 * audio.Time

// again is how long a failing encoder is left alone.
const again = 100 * time.Millisecond

// errStuck is the error of sound that does not leave.
var errStuck = errors.New("the bot cannot speak in the call: it is not connected, not encrypted yet, or there is no encoder")

// errLeft is the error of a speech in a call that is over.
var errLeft = errors.New("the call is over")

// A callPlayer is the player on a call. One goroutine encodes what is said, and reports what has
// left; controls act on the call at once, and make the encoder begin anew.
type callPlayer struct {
	call Call
	enc  Encoder
	stop context.CancelFunc

	begun chan *callSpeech
	done  chan struct{} // closed when run has returned

	mu     sync.Mutex
	now    *callSpeech // nil while nothing is said
	closed bool
}

func newCallPlayer(call Call, enc Encoder) *callPlayer {
	return &callPlayer{call: call, enc: enc, begun: make(chan *callSpeech, 1), done: make(chan struct{})}
}

// Lost implements [playback.Player].
func (m *callPlayer) Lost() <-chan struct{} { return m.call.Over() }

// Close implements [playback.Player].
func (m *callPlayer) Close() {
	m.stop()
	<-m.done
}

// Play implements [playback.Player].
func (m *callPlayer) Play(moved func(sound.Position)) (playback.Playing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, errLeft
	case m.now != nil:
		return nil, sound.ErrBusy
	}
	m.now = &callSpeech{
		mouth: m, moved: moved, well: time.Now(), stirred: make(chan struct{}, 1), over: make(chan struct{}),
		room: make(chan struct{}, 1), reel: newSpeechBuffer(), sentAt: m.call.Sent(),
	}
	m.begun <- m.now
	return m.now, nil
}

// run says what is played until ctx ends.
func (m *callPlayer) run(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		select {
		case s := <-m.begun:
			s.run(ctx)
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	select { // what began meanwhile
	case s := <-m.begun:
		s.run(ctx)
	default:
	}
}

// encoded takes a frame.
func (m *callPlayer) encoded(ctx context.Context, opus []byte) {
	m.mu.Lock()
	s := m.now
	m.mu.Unlock()
	if s != nil {
		s.encoded(ctx, opus)
	}
}

// A callSpeech is one speech in the call.
type callSpeech struct {
	mouth   *callPlayer
	moved   func(sound.Position)
	stirred chan struct{} // holds a token when there may be something to do
	room    chan struct{} // holds a token when there may be room to write
	over    chan struct{} // closed when the end is about to be reported

	// The following fields belong to the goroutine that says it.
	buf   [audio.Samples]int16
	told  int64
	well  time.Time // when something last left, or nothing was to leave
	until time.Time // when it is time to look again; zero for never

	mu     sync.Mutex
	reel   *speechBuffer
	wrote  time.Time // when sound last came
	sentAt int64     // how many frames the call had sent when the run began
	dirty  bool      // the encoder's content is to be dropped
	paused bool
	cut    bool
	err    error
	hasten context.CancelFunc // ends the waiting for the encoder; nil if nobody waits
}

// Write implements [playback.Playing].
func (s *callSpeech) Write(ctx context.Context, pcm []int16) error {
	for len(pcm) > 0 {
		s.mu.Lock()
		n := min(len(pcm), s.reel.room())
		if n > 0 {
			s.reel.write(pcm[:n])
			s.wrote = time.Now()
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return err
		}
		s.stir()
		pcm = pcm[n:]
		if n > 0 {
			continue
		}
		select {
		case <-s.room:
		case <-s.over:
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.err != nil {
				return s.err
			}
			return sound.ErrOver
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Finish implements [playback.Playing].
func (s *callSpeech) Finish() {
	s.mu.Lock()
	s.reel.whole = true
	s.mu.Unlock()
	s.stir()
}

// Do implements [playback.Playing].
func (s *callSpeech) Do(c earshot.Control) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cut:
		return
	case c == earshot.Cut:
		s.cut = true
		s.giveUp()
	case c == earshot.Pause:
		s.paused = true
		s.giveUp()
	default:
		s.paused = false
		s.reel.tell(c)
	}
	s.stir()
}

// giveUp drops what has not left; s.mu is held.
func (s *callSpeech) giveUp() {
	if s.dirty {
		return
	}
	s.dirty = true
	s.mouth.call.Hush()
	s.reel.leave(s.mouth.call.Sent() - s.sentAt)
	if s.hasten != nil {
		s.hasten()
	}
}

func (s *callSpeech) stir() {
	select {
	case s.stirred <- struct{}{}:
	default:
	}
}

// encoded takes a frame. There is always room: fewer than ten are on their way.
func (s *callSpeech) encoded(ctx context.Context, opus []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty && s.mouth.call.Say(ctx, opus) == nil {
		s.reel.frames++
	}
}

// A speechAction is what to do next.
type speechAction int

const (
	wait   speechAction = iota // for anything to change
	encode                     // what is in the buffer
	flush                      // what the encoder holds back
	anew                       // reset the encoder
	ended
)

// run says the speech to its end, and reports the end.
func (s *callSpeech) run(ctx context.Context) {
	for {
		moved := s.mouth.call.Moved()
		do, pcm := s.look(ctx)
		s.tell()
		switch do {
		case wait:
			s.wait(ctx, moved)
		case encode:
			s.try(ctx, func(ctx context.Context) error { return s.mouth.enc.Encode(ctx, audio.Rate, pcm) })
		case flush:
			s.try(ctx, s.flush)
		case anew:
			s.mouth.enc.Drop()
			s.begin()
		case ended:
			s.end()
			return
		}
	}
}

// look records what has left, and returns what to do next; the samples to encode are valid until
// the next look.
func (s *callSpeech) look(ctx context.Context) (do speechAction, pcm []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, before := time.Now(), s.told
	if !s.dirty {
		s.reel.leave(s.mouth.call.Sent() - s.sentAt)
	}
	if s.reel.at() > before || s.paused || !s.reel.waits() {
		s.well = now
	}
	select {
	case <-s.mouth.call.Over():
		s.err = errLeft
	default:
		if now.Sub(s.well) >= patience {
			s.err = errStuck
		}
	}
	s.until = time.Time{}
	switch {
	case ctx.Err() != nil || s.cut || s.err != nil:
		return ended, nil
	case s.dirty:
		return anew, nil
	case s.paused:
		return wait, nil
	case s.reel.gone():
		return ended, nil
	}
	return s.feed(now)
}

// feed returns what to give the encoder; s.mu is held.
func (s *callSpeech) feed(now time.Time) (do speechAction, pcm []int16) {
	if s.reel.over() {
		s.sentAt = s.mouth.call.Sent()
		s.reel.anew()
	}
	lulls := s.wrote.Add(lull)
	all := s.reel.whole || !now.Before(lulls)
	if pcm = s.reel.next(s.buf[:], all); len(pcm) > 0 {
		return encode, pcm
	}
	if all && s.reel.starved() {
		return flush, nil
	}
	if s.reel.waits() {
		s.until = s.well.Add(patience)
		if !all && lulls.Before(s.until) {
			s.until = lulls
		}
	}
	return wait, nil
}

// tell reports what has left.
func (s *callSpeech) tell() {
	s.mu.Lock()
	at := s.reel.at()
	s.mu.Unlock()
	if at == s.told {
		return
	}
	s.told = at
	s.moved(sound.Position{Samples: at})
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// wait waits until there may be something to do.
func (s *callSpeech) wait(ctx context.Context, moved <-chan struct{}) {
	var late <-chan time.Time
	if !s.until.IsZero() {
		t := time.NewTimer(time.Until(s.until))
		defer t.Stop()
		late = t.C
	}
	select {
	case <-moved:
	case <-s.stirred:
	case <-late:
	case <-s.mouth.call.Over():
	case <-ctx.Done():
	}
}

// try has the encoder do something, unless its content is to be dropped. If it fails, the content
// is dropped.
func (s *callSpeech) try(ctx context.Context, do func(context.Context) error) {
	trying, stop := context.WithDeadline(ctx, s.well.Add(patience))
	defer stop()
	s.mu.Lock()
	if s.dirty {
		s.mu.Unlock()
		return
	}
	s.hasten = stop
	s.mu.Unlock()
	err := do(trying)
	s.mu.Lock()
	s.hasten = nil
	fault := err != nil && !s.dirty
	if fault {
		s.giveUp()
	}
	s.mu.Unlock()
	if fault && trying.Err() == nil {
		select {
		case <-time.After(again):
		case <-trying.Done():
		}
	}
}

// flush gets the last frames of a run.
func (s *callSpeech) flush(ctx context.Context) error {
	if err := s.mouth.enc.Flush(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reel.flushed = !s.dirty
	return nil
}

// begin begins another run, when nothing is on its way.
func (s *callSpeech) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty, s.sentAt = false, s.mouth.call.Sent()
	s.reel.rewind()
}

// end reports the end. Nothing of the speech is on its way any more.
func (s *callSpeech) end() {
	s.mu.Lock()
	if !s.reel.gone() {
		s.giveUp()
	}
	dirty, at := s.dirty, s.reel.at()
	s.dirty = true // whatever the encoder still has
	s.mu.Unlock()
	if dirty {
		s.mouth.enc.Drop()
	}
	close(s.over)
	s.mouth.mu.Lock()
	s.mouth.now = nil
	s.mouth.mu.Unlock()
	s.moved(sound.Position{Samples: at, End: true})
}
