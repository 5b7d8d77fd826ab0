package calls

import (
	"context"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound"
)

// stuckAfter is how long sound may wait to leave: while a connection is lost for a moment, it waits,
// and is said afterwards. Later nobody remembers what it was about.
const stuckAfter = 5 * time.Second

// voicePause is how long a voice may make no sound before what it has made is encoded to its end, in
// the middle of a frame: it is between two clauses then.
const voicePause = 2 * audio.Time

// encoderRest is how long a failing encoder is left alone.
const encoderRest = 100 * time.Millisecond

// errStuck is the error of sound that does not leave.
var errStuck = errors.New("the bot cannot speak in the call: it is not connected, not encrypted yet, or there is no encoder")

// errOver is the error of a speech in a call that is over.
var errOver = errors.New("the call is over")

// A Sender sends sound in a call; a [*voice.Call] is one. Nobody else uses these methods of it. They
// may be called from any goroutine.
type Sender interface {
	// Say queues one Opus frame of 20 ms. It waits while ten are queued.
	Say(ctx context.Context, opus []byte) error

	// Hush drops the frames that have not left; when it returns, none of them will leave any more.
	Hush() (dropped int)

	// Sent returns how many frames have left. Moved returns a channel that is closed when another
	// has left or was dropped.
	Sent() int64
	Moved() <-chan struct{}

	// Over is closed when the call has ended.
	Over() <-chan struct{}
}

// An Encoder encodes sound as Opus. [earshot/internal/codec.Opus] is one. It passes its frames to
// [Player.Take].
type Encoder interface {
	// Encode takes samples. If it fails, what it has taken before and not passed on is lost, and it
	// begins anew with the next samples.
	Encode(ctx context.Context, rate int, pcm []int16) error

	// Flush returns when everything has been passed on.
	Flush(ctx context.Context) error

	// Drop discards what has not been passed on.
	Drop()
}

// A Player plays the agent's speech in a call, as package playback wants it played. One goroutine
// encodes what is said, and reports what has left; controls act on the call at once, and make the
// encoder begin anew.
//
// What is heard is what has left: a frame that waits for encryption is not heard yet. At most 100
// ms are encoded in advance. A pause or a cut drops those frames, so that the next frame is
// silence; a speech that goes on continues at the first sample that has not left.
type Player struct {
	call Sender
	enc  Encoder
	stop context.CancelFunc

	begun chan *Playing
	done  chan struct{} // closed when run has returned

	mu     sync.Mutex
	now    *Playing // nil while nothing is said
	closed bool
}

// NewPlayer returns a player that plays until ctx ends, and must be closed. When it is, nothing uses
// call and enc any more.
func NewPlayer(ctx context.Context, call Sender, enc Encoder) *Player {
	ctx, stop := context.WithCancel(ctx)
	p := &Player{call: call, enc: enc, stop: stop, begun: make(chan *Playing, 1), done: make(chan struct{})}
	go p.run(ctx) // Close waits for it
	return p
}

// Lost is closed when the call has ended.
func (p *Player) Lost() <-chan struct{} { return p.call.Over() }

// Close ends the speech, and returns when nothing is played any more.
func (p *Player) Close() {
	p.stop()
	<-p.done
}

// Play begins a speech of sound at a rate, in samples a second. It calls moved, which does not block,
// with positions that never go back, from one goroutine at a time; the last has End set, exactly once.
func (p *Player) Play(rate int, moved func(sound.Position)) (*Playing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, errOver
	case p.now != nil:
		return nil, sound.ErrBusy
	}
	p.now = &Playing{
		player: p, moved: moved, progressed: time.Now(), changed: newBell(), over: make(chan struct{}),
		room: newBell(), buffer: newSoundBuffer(rate), buf: make([]int16, rate/frames), sentAt: p.call.Sent(),
	}
	p.begun <- p.now
	return p.now, nil
}

// run says what is played until ctx ends.
func (p *Player) run(ctx context.Context) {
	defer close(p.done)
	for ctx.Err() == nil {
		select {
		case s := <-p.begun:
			s.run(ctx)
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	select { // what began meanwhile
	case s := <-p.begun:
		s.run(ctx)
	default:
	}
}

// Take takes a frame from the encoder. It does not block.
func (p *Player) Take(ctx context.Context, opus []byte) {
	p.mu.Lock()
	s := p.now
	p.mu.Unlock()
	if s != nil {
		s.take(ctx, opus)
	}
}

// A Playing is one speech in the call. Do may be called from any goroutine at any time.
type Playing struct {
	player  *Player
	moved   func(sound.Position)
	changed bell          // there may be something to do
	room    bell          // there may be room to write
	over    chan struct{} // closed when the end is about to be reported

	// The following fields belong to the goroutine that says it.
	buf        []int16 // a frame
	reported   int64
	progressed time.Time // when something last left, or nothing was to leave
	until      time.Time // when it is time to look again; zero for never

	mu          sync.Mutex
	buffer      *soundBuffer
	wrote       time.Time // when sound last came
	sentAt      int64     // how many frames the call had sent when the run began
	dirty       bool      // the encoder's content is to be dropped
	paused      bool
	cut         bool
	err         error
	stopEncoder context.CancelFunc // ends the waiting for the encoder; nil if nobody waits
}

// Write waits until pcm has been taken, the speech is over or ctx ends.
func (s *Playing) Write(ctx context.Context, pcm []int16) error {
	for len(pcm) > 0 {
		s.mu.Lock()
		n := min(len(pcm), s.buffer.room())
		if n > 0 {
			s.buffer.write(pcm[:n])
			s.wrote = time.Now()
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return err
		}
		s.changed.ring()
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

// Finish says that nothing more is written.
func (s *Playing) Finish() {
	s.mu.Lock()
	s.buffer.complete = true
	s.mu.Unlock()
	s.changed.ring()
}

// Do pauses, cuts, ducks or resumes the speech.
func (s *Playing) Do(c earshot.Control) {
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
		s.buffer.setVolume(c)
	}
	s.changed.ring()
}

// giveUp drops what has not left; s.mu is held.
func (s *Playing) giveUp() {
	if s.dirty {
		return
	}
	s.dirty = true
	s.player.call.Hush()
	s.buffer.leave(s.player.call.Sent() - s.sentAt)
	if s.stopEncoder != nil {
		s.stopEncoder()
	}
}

// take takes a frame. There is always room: fewer than ten are on their way.
func (s *Playing) take(ctx context.Context, opus []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty && s.player.call.Say(ctx, opus) == nil {
		s.buffer.frames++
	}
}

// A speechAction is what to do next.
type speechAction int

const (
	actWait   speechAction = iota // for anything to change
	actEncode                     // what is in the buffer
	actFlush                      // what the encoder holds back
	actReset                      // the encoder
	actEnd
)

// run says the speech to its end, and reports the end.
func (s *Playing) run(ctx context.Context) {
	for {
		moved := s.player.call.Moved()
		do, pcm := s.decide(ctx)
		s.report()
		switch do {
		case actWait:
			s.wait(ctx, moved)
		case actEncode:
			s.runEncoder(ctx, func(ctx context.Context) error { return s.player.enc.Encode(ctx, s.buffer.rate, pcm) })
		case actFlush:
			s.runEncoder(ctx, s.flush)
		case actReset:
			s.player.enc.Drop()
			s.begin()
		case actEnd:
			s.end()
			return
		}
	}
}

// decide records what has left, and returns what to do next; the samples to encode are valid until
// the next decision.
func (s *Playing) decide(ctx context.Context) (do speechAction, pcm []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, before := time.Now(), s.reported
	if !s.dirty {
		s.buffer.leave(s.player.call.Sent() - s.sentAt)
	}
	if s.buffer.position() > before || s.paused || !s.buffer.waiting() {
		s.progressed = now
	}
	select {
	case <-s.player.call.Over():
		s.err = errOver
	default:
		if now.Sub(s.progressed) >= stuckAfter {
			s.err = errStuck
		}
	}
	s.until = time.Time{}
	switch {
	case ctx.Err() != nil || s.cut || s.err != nil:
		return actEnd, nil
	case s.dirty:
		return actReset, nil
	case s.paused:
		return actWait, nil
	case s.buffer.allLeft():
		return actEnd, nil
	}
	return s.feed(now)
}

// feed returns what to give the encoder; s.mu is held.
func (s *Playing) feed(now time.Time) (do speechAction, pcm []int16) {
	if s.buffer.runOver() {
		s.sentAt = s.player.call.Sent()
		s.buffer.beginRun()
	}
	pausesAt := s.wrote.Add(voicePause)
	all := s.buffer.complete || !now.Before(pausesAt)
	if pcm = s.buffer.next(s.buf, all); len(pcm) > 0 {
		return actEncode, pcm
	}
	if all && s.buffer.starving() {
		return actFlush, nil
	}
	if s.buffer.waiting() {
		s.until = s.progressed.Add(stuckAfter)
		if !all && pausesAt.Before(s.until) {
			s.until = pausesAt
		}
	}
	return actWait, nil
}

// report reports what has left.
func (s *Playing) report() {
	s.mu.Lock()
	at := s.buffer.position()
	s.mu.Unlock()
	if at == s.reported {
		return
	}
	s.reported = at
	s.moved(sound.Position{Samples: at})
	s.room.ring()
}

// wait waits until there may be something to do.
func (s *Playing) wait(ctx context.Context, moved <-chan struct{}) {
	var late <-chan time.Time
	if !s.until.IsZero() {
		late = time.After(time.Until(s.until))
	}
	select {
	case <-moved:
	case <-s.changed:
	case <-late:
	case <-s.player.call.Over():
	case <-ctx.Done():
	}
}

// runEncoder has the encoder do something, unless its content is to be dropped. If it fails, the
// content is dropped.
func (s *Playing) runEncoder(ctx context.Context, do func(context.Context) error) {
	trying, stop := context.WithDeadline(ctx, s.progressed.Add(stuckAfter))
	defer stop()
	s.mu.Lock()
	if s.dirty {
		s.mu.Unlock()
		return
	}
	s.stopEncoder = stop
	s.mu.Unlock()
	err := do(trying)
	s.mu.Lock()
	s.stopEncoder = nil
	fault := err != nil && !s.dirty
	if fault {
		s.giveUp()
	}
	s.mu.Unlock()
	if fault && trying.Err() == nil {
		select {
		case <-time.After(encoderRest):
		case <-trying.Done():
		}
	}
}

// flush gets the last frames of a run.
func (s *Playing) flush(ctx context.Context) error {
	if err := s.player.enc.Flush(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffer.flushed = !s.dirty
	return nil
}

// begin begins another run, when nothing is on its way.
func (s *Playing) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty, s.sentAt = false, s.player.call.Sent()
	s.buffer.rewind()
}

// end reports the end. Nothing of the speech is on its way any more.
func (s *Playing) end() {
	s.mu.Lock()
	if !s.buffer.allLeft() {
		s.giveUp()
	}
	dirty, at := s.dirty, s.buffer.position()
	s.dirty = true // whatever the encoder still has
	s.mu.Unlock()
	if dirty {
		s.player.enc.Drop()
	}
	close(s.over)
	s.player.mu.Lock()
	s.player.now = nil
	s.player.mu.Unlock()
	s.moved(sound.Position{Samples: at, End: true})
}
