// Package sense says by the sound alone whether there is a voice, and whether its speaker has finished.
// It is the daemon's side of the role sense of earshot-neural, where the models run; that process may
// die at any time, and then nothing is said until another runs.
//
// What happens when a reader is slow: whoever brings frames never waits. Frames wait for the helper, up
// to [mostQueued] of all listeners together; then one is dropped, and its listener begins anew, which
// is counted and logged. A verdict that comes late is of an older frame.
package sense

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models"
	"earshot/models/hear"
	"earshot/models/wire"
)

const (
	// slow is how long a helper may take to load its models: as long as one that recognises.
	slow = 20 * time.Second

	// every is after how much silence a model is asked whether the speaker has finished, and how much
	// later again: smart-turn was made for silences of 200 ms.
	every = 200 * time.Millisecond

	// enough is as much sound as a model hears, at most.
	enough = 8 * time.Second

	// before is how much sound from before a voice a model is given, as it was trained.
	before = 500 * time.Millisecond

	// longest is how many samples a stream has, 18 hours. Then another begins, since they are counted.
	longest = 1 << 30

	// mostQueued is how many frames may wait, in all: five seconds of one listener, half a second of
	// eight in a call.
	mostQueued = 256
)

// Config says by what is sensed.
type Config struct {
	Dial helper.Dialer  // starts the helper
	Sets wire.OpenSense // at least one
	Log  *slog.Logger
}

// A Sensor senses for any number of listeners. It may be used from many goroutines, before it runs and
// between its runs.
type Sensor struct {
	cfg  Config
	more chan struct{} // of capacity 1: there is something to send

	mu        sync.Mutex
	alive     bool // the helper is ready
	listeners []*Listener
	streams   uint32 // that have begun
	queue     [mostQueued]item
	first, n  int // of the queue
	dropped   int // frames, since that was logged
	told      time.Time
}

// An item waits to be sent: a frame, a question, or the end of a stream.
type item struct {
	stream   uint32
	question wire.Question // if its number is not 0
	end      bool
	pcm      [audio.Samples]int16
}

// New returns a sensor that senses once it runs.
func New(cfg Config) *Sensor { return &Sensor{cfg: cfg, more: make(chan struct{}, 1)} }

// A Listener follows the sound of one microphone or of one person. It is for one goroutine.
type Listener struct {
	of *Sensor

	// Under the sensor's mutex:
	stream   uint32 // of its sound; 0 if nothing is sent
	fed      uint32 // samples of it
	known    uint32 // of them, those with a verdict
	sensed   hear.Sensed
	turn     float64
	asked    uint32 // the last question
	first    uint32 // the first one of this silence
	answered uint32 // the last one that was answered
	times    int    // the silence, counted in every, when a question was due last
}

// Listen returns a listener, which must be closed.
func (s *Sensor) Listen() *Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &Listener{of: s}
	l.reset()
	s.listeners = append(s.listeners, l)
	return l
}

// Close says that no more frames come.
func (l *Listener) Close() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.leave()
	l.of.listeners = slices.DeleteFunc(l.of.listeners, func(other *Listener) bool { return other == l })
}

// Step takes the next frame, how long somebody has been saying something at its end, and how long they
// have been silent; both are 0 if nobody speaks. It returns what is known about the last 64 frames, and
// the probability that the speaker has finished, as [hear.Evidence] has it. It does not block, and keeps
// no reference to f.
func (l *Listener) Step(f *audio.Frame, said, still time.Duration) (hear.Sensed, float64) {
	s := l.of
	s.mu.Lock()
	defer s.mu.Unlock()
	l.sensed.Voice <<= 1 + f.Lost
	l.sensed.None <<= 1 + f.Lost
	if !s.alive {
		return hear.Sensed{}, math.NaN()
	}
	if f.Lost > 0 || l.fed >= longest {
		l.leave()
	}
	l.feed(f)
	if s.cfg.Sets.Turn != "" {
		l.ask(said, still)
	}
	return l.sensed, l.turn
}

// feed sends a frame, in a new stream if there is none.
func (l *Listener) feed(f *audio.Frame) {
	s := l.of
	it := s.push()
	if it == nil {
		s.dropped++
		l.leave()
		return
	}
	if l.stream == 0 {
		s.streams++
		l.stream = s.streams
	}
	it.stream, it.pcm = l.stream, f.PCM
	l.fed += audio.Samples
}

// ask asks whether the speaker has finished, when it is time to. Of somebody whose beginning the helper
// has not heard, it would know too little.
func (l *Listener) ask(said, still time.Duration) {
	n := int(still / every)
	if n == 0 {
		l.turn, l.first, l.times = hear.Undecided, l.asked+1, 0
		return
	}
	if heard := time.Duration(l.fed) * time.Second / audio.Rate; n == l.times || heard < min(said, enough) {
		return
	}
	l.times = n
	if it := l.of.push(); it != nil {
		l.asked++
		samples := min((said+before)*audio.Rate/time.Second, longest)
		it.stream, it.question = l.stream, wire.Question{Number: l.asked, Samples: uint32(samples)}
	}
}

// leave ends the stream of l. An end that finds no room is not missed: the helper forgets streams
// without sound when there are many.
func (l *Listener) leave() {
	if l.stream == 0 {
		return
	}
	if it := l.of.push(); it != nil {
		it.stream, it.end = l.stream, true
	}
	l.reset()
}

// reset forgets the stream of l.
func (l *Listener) reset() {
	*l = Listener{of: l.of, turn: hear.Undecided, first: 1}
	if l.of.cfg.Sets.Turn == "" {
		l.turn = math.NaN()
	}
}

// push returns a new item at the end of the queue, or nil if that is full.
func (s *Sensor) push() *item {
	if s.n == len(s.queue) {
		return nil
	}
	it := &s.queue[(s.first+s.n)%len(s.queue)]
	it.stream, it.question, it.end = 0, wire.Question{}, false
	s.n++
	select {
	case s.more <- struct{}{}:
	default:
	}
	return it
}

// errSilent is what a helper is killed for that does not load its models.
var errSilent = errors.New("the models for voices did not load in time; the process was killed")

// Run starts a helper and lives as long as it does. It returns nil when ctx ends, and otherwise why the
// helper ended: a [*helper.DeathError], or a [*models.FaultError] if the helper knows the cause. It may
// be called again after it has returned, never twice at a time.
func (s *Sensor) Run(ctx context.Context) error {
	link, err := s.cfg.Dial()
	if err != nil {
		return fmt.Errorf("starting what senses voices: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	load := time.AfterFunc(slow, func() { stop(errSilent) })
	defer load.Stop()
	var sending sync.WaitGroup
	sending.Go(func() { s.send(ctx, link) })
	err = link.Run(ctx, helper.Handler{
		Control: func(c helper.Control) error {
			switch {
			case c.Name == wire.FaultName:
				return models.DecodeFault(c)
			case c.Name != wire.ReadyName || !load.Stop():
				return fmt.Errorf("%w: %q", helper.ErrProtocol, c.Name)
			}
			s.live(true)
			return nil
		},
		Sound: s.take,
	})
	stop(nil)
	sending.Wait()
	s.live(false)
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// live notes whether there is a helper. A new one knows nothing of what was sent to the one before.
func (s *Sensor) live(alive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive, s.n = alive, 0
	clear(s.queue[:]) // what was said
	for _, l := range s.listeners {
		l.reset()
	}
}

// send sends what there is to send until ctx ends or sending fails, which the helper's end explains.
func (s *Sensor) send(ctx context.Context, link helper.Link) {
	buf := make([]byte, 0, 2*audio.Samples)
	err := link.Send(wire.OpenName, s.cfg.Sets)
	for err == nil {
		stream, data, ok := s.next(buf)
		if ok {
			err = link.SendSound(stream, data)
			continue
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return
		}
	}
}

// next takes the oldest item, and returns its message, in buf.
func (s *Sensor) next(buf []byte) (stream uint32, data []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.dropped > 0 && now.Sub(s.told) >= time.Second {
		s.cfg.Log.Info("sound was dropped in which voices were sensed", "frames", s.dropped)
		s.dropped, s.told = 0, now
	}
	if s.n == 0 {
		return 0, nil, false
	}
	it := &s.queue[s.first]
	s.first, s.n = (s.first+1)%len(s.queue), s.n-1
	switch {
	case it.end:
		return it.stream, nil, true
	case it.question.Number > 0:
		return it.stream | wire.Turn, it.question.Append(buf), true
	}
	data = audio.AppendPCM(buf, it.pcm[:])
	clear(it.pcm[:])
	return it.stream, data, true
}

// take takes a result. One for a stream that has ended is late; any other that was not asked for is a
// lie.
func (s *Sensor) take(m helper.Sound) error {
	p, err := wire.DecodeProbability(m.Data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := m.Stream &^ wire.Turn
	i := slices.IndexFunc(s.listeners, func(l *Listener) bool { return l.stream == stream })
	switch {
	case stream == 0 || stream > s.streams:
	case i < 0:
		return nil
	case m.Stream == stream && s.listeners[i].voice(p), m.Stream != stream && s.listeners[i].answer(p):
		return nil
	}
	return fmt.Errorf("%w: the helper says something of what it was not sent", helper.ErrProtocol)
}

// voice notes whether there is a voice in the samples up to p.Of, in which the last window of the model
// ends; and reports whether that can be.
func (l *Listener) voice(p wire.Probability) bool {
	if p.Of <= l.known || p.Of > l.fed {
		return false
	}
	for end := (l.known/audio.Samples + 1) * audio.Samples; end <= p.Of; end += audio.Samples {
		back := (l.fed - end) / audio.Samples // 64 and more are shifted out
		if p.P >= isVoice {
			l.sensed.Voice |= 1 << back
		} else {
			l.sensed.None |= 1 << back
		}
	}
	l.known = p.Of
	return true
}

// isVoice is the probability from which on a window of Silero's holds a voice, as its authors have it.
// Of 210 onsets of voices of flite and espeak-ng it was there after 35 ms in the median, after 57 ms in
// nine of ten, and after 119 ms in 99 of 100.
const isVoice = 0.5

// answer notes the answer to a question, and reports whether that can be. One about an earlier silence
// is of no use.
func (l *Listener) answer(p wire.Probability) bool {
	if p.Of <= l.answered || p.Of > l.asked {
		return false
	}
	if l.answered = p.Of; p.Of >= l.first {
		l.turn = float64(p.P)
	}
	return true
}
