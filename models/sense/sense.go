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
	cfg   Config
	queue chan item // of what is to be sent; empty while the helper is not ready

	mu        sync.Mutex
	alive     bool // the helper is ready
	listeners []*Listener
	streams   uint32 // that have begun
	dropped   int    // frames, since that was logged
	told      time.Time
}

// An item is a message that waits to be sent: a frame, a question, or the end of a stream.
type item struct {
	stream uint32
	size   int // of the data
	data   [2 * audio.Samples]byte
}

// New returns a sensor that senses once it runs.
func New(cfg Config) *Sensor { return &Sensor{cfg: cfg, queue: make(chan item, mostQueued)} }

// A Listener follows the sound of one microphone or of one person. It is for one goroutine.
type Listener struct {
	of *Sensor
	listening
}

// listening is what a listener knows, under the sensor's mutex.
type listening struct {
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
	if l.stream == 0 {
		s.streams++
		l.stream = s.streams
	}
	it := item{stream: l.stream}
	it.size = len(audio.AppendPCM(it.data[:0], f.PCM[:]))
	if !s.push(it) {
		s.dropped++
		l.leave()
		return
	}
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
	samples := min((said+before)*audio.Rate/time.Second, longest)
	it := item{stream: l.stream | wire.Turn}
	it.size = len(wire.Question{Number: l.asked + 1, Samples: uint32(samples)}.Append(it.data[:0]))
	if l.of.push(it) {
		l.asked++
	}
}

// leave ends the stream of l. An end that finds no room is not missed: the helper forgets streams
// without sound when there are many.
func (l *Listener) leave() {
	if l.stream != 0 {
		l.of.push(item{stream: l.stream})
		l.reset()
	}
}

// reset forgets the stream of l.
func (l *Listener) reset() {
	l.listening = listening{turn: hear.Undecided, first: 1}
	if l.of.cfg.Sets.Turn == "" {
		l.turn = math.NaN()
	}
}

// push queues an item, and reports whether there was room.
func (s *Sensor) push(it item) bool {
	select {
	case s.queue <- it:
		return true
	default:
		return false
	}
}

// errSilent is what a helper is killed for that does not load its models.
var errSilent = errors.New("the models for voices did not load in time; the process was killed")

// Run starts a helper and lives as long as it does. It returns nil when ctx ends, and otherwise why the
// helper ended: a [*helper.DeathError], or a [*helper.FaultError] if the helper knows the cause. It may
// be called again after it has returned, never twice at a time.
func (s *Sensor) Run(ctx context.Context) error {
	link, err := s.cfg.Dial()
	if err != nil {
		return fmt.Errorf("starting what senses voices: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var load helper.LoadTimer
	defer load.Stop()
	var sending sync.WaitGroup
	sending.Go(func() {
		if link.Send(wire.OpenName, s.cfg.Sets) == nil {
			load.Start(slow, func() { stop(errSilent) })
			s.send(ctx, link)
		}
	})
	err = link.Run(ctx, helper.Handler{
		Control: func(c helper.Control) error {
			switch {
			case c.Name == wire.FaultName:
				return helper.DecodeFault(c)
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
	s.alive = alive
	for range len(s.queue) { // which is empty while somebody sends
		select {
		case <-s.queue:
		default:
		}
	}
	for _, l := range s.listeners {
		l.reset()
	}
}

// send sends what there is to send until ctx ends or sending fails, which the helper's end explains.
func (s *Sensor) send(ctx context.Context, link helper.Link) {
	var it item
	for err := error(nil); err == nil; {
		select {
		case it = <-s.queue:
			err = link.SendSound(it.stream, it.data[:it.size])
			s.tell()
		case <-ctx.Done():
			return
		}
	}
}

// tell logs what was dropped, once a second at most.
func (s *Sensor) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.dropped > 0 && now.Sub(s.told) >= time.Second {
		s.cfg.Log.Info("sound was dropped in which voices were sensed", "frames", s.dropped)
		s.dropped, s.told = 0, now
	}
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
