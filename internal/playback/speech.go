package playback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/models/tts"
)

const (
	// ahead is how much sound may be left of what was said before, in seconds,
	// when the next clause is made into sound. A voice takes up to a tenth of that
	// to begin, on a busy machine several.
	ahead = 1

	// most is how much sound waits here at all, in seconds: more than any clause.
	most = 30

	// blocks is in how many pieces a second of sound is written.
	blocks = 10
)

// errLost is the end of a speech that nobody cut.
var errLost = errors.New("the output was lost")

// A speech is one reply on its way to the device. One goroutine has the voice
// make sound of it, another writes the sound; the device tells where it is.
type speech struct {
	play      Playing
	protected bool // the next one waits for its end
	cancel    context.CancelFunc
	over      chan struct{} // closed when the end has been told
	reader    tts.Reader    // the voice's
	rate      int           // of the device, in samples a second: the voice's at the beginning

	// Of the goroutine that has the voice make sound:
	convert *audio.Resampler // nil while the voice has that rate
	from    int              // what it converts from
	pieces  []int16          // converted

	mu       sync.Mutex
	changed  sync.Cond // anything below
	clause   *earshot.Clause
	err      error   // why the voice or the device failed
	pcm      []int16 // made and not written
	finished bool    // no clause follows
	done     bool    // no sound follows
	cut      bool
	ended    bool

	telling sync.Mutex // held while heard is called; never together with mu
	heard   func(earshot.Heard)
	track   track
	told    bool // the end
}

// begin begins a speech, and returns the context of its goroutines.
func begin(ctx context.Context, player Player, rate int, heard func(earshot.Heard)) (*speech, context.Context, error) {
	s := &speech{rate: rate, heard: heard, over: make(chan struct{})}
	s.changed.L = &s.mu
	making, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	play, err := player.Play(rate, s.moved)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	s.play = play
	return s, making, nil
}

// Say implements [earshot.Speaking]. It returns when the clause has been made
// into sound, most of which is then still to be heard.
func (s *speech) Say(c earshot.Clause) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return nil
	}
	s.clause = &c
	s.changed.Broadcast()
	for s.clause != nil && !s.stopped() {
		s.changed.Wait()
	}
	switch {
	case s.cut:
		return nil
	case s.err != nil:
		return fmt.Errorf("speaking: %w", s.err)
	case s.ended:
		return fmt.Errorf("speaking: %w", errLost)
	}
	return nil
}

// stopped reports whether nothing more is said; s.mu is held.
func (s *speech) stopped() bool { return s.cut || s.ended || s.err != nil }

// Do implements [earshot.Speaking]. The sound is told before whoever makes it.
func (s *speech) Do(c earshot.Control) {
	if c != earshot.Cut {
		s.play.Do(c)
		return
	}
	s.mu.Lock()
	s.cut = s.cut || !s.ended // by now: the device may say at once that it is over
	s.mu.Unlock()
	s.play.Do(c)
	s.mu.Lock()
	s.pcm = nil
	s.changed.Broadcast()
	s.mu.Unlock()
	s.cancel()
}

// Finish implements [earshot.Speaking].
func (s *speech) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
	s.changed.Broadcast()
}

// fail notes that nothing more can be said.
func (s *speech) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.changed.Broadcast()
}

// speak has the voice say the clauses as they come.
func (s *speech) speak(ctx context.Context, voice Voice) {
	defer s.noMore()
	for {
		c, ok := s.next()
		if !ok {
			return
		}
		if err := s.make(ctx, voice, c); err != nil {
			s.fail(err)
			return
		}
		s.mu.Lock()
		s.clause = nil
		s.changed.Broadcast()
		s.mu.Unlock()
	}
}

// next waits for a clause, and for the sound of those before it to be written
// but for what is ahead.
func (s *speech) next() (earshot.Clause, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped() && (s.clause == nil && !s.finished || len(s.pcm) > ahead*s.rate) {
		s.changed.Wait()
	}
	if s.stopped() || s.clause == nil {
		return earshot.Clause{}, false
	}
	return *s.clause, true
}

// noMore says that no sound follows.
func (s *speech) noMore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.changed.Broadcast()
}

// make makes sound of c.
func (s *speech) make(ctx context.Context, voice Voice, c earshot.Clause) error {
	form := s.form(c)
	s.follow(func(t *track) { t.begin(c, form) })
	if form.Spoken != "" {
		for chunk, err := range voice.Say(ctx, form.Spoken) {
			if err != nil {
				return err
			}
			if !s.add(s.converted(chunk)) {
				return nil
			}
		}
		if rest := s.rest(); len(rest) > 0 && !s.add(tts.Chunk{PCM: rest}) {
			return nil
		}
	}
	if ctx.Err() == nil { // else the voice may have stopped early
		s.follow((*track).end)
	}
	return nil
}

// form returns how c is said.
func (s *speech) form(c earshot.Clause) tts.Speech {
	if c.Spoken != "" || len(c.Marks) > 0 {
		return tts.Speech{Spoken: string(c.Spoken), Marks: c.Marks}
	}
	return s.reader.Next(string(c.Text))
}

// converted returns c at the rate of the speech, if the voice has changed since that began.
func (s *speech) converted(c tts.Chunk) tts.Chunk {
	from := cmp.Or(c.Rate, audio.Rate)
	if from == s.rate && s.convert == nil {
		return c
	}
	s.pieces = s.pieces[:0]
	if s.convert == nil || s.from != from {
		s.pieces = append(s.pieces, s.rest()...)
		s.convert, s.from = audio.NewResampler(from, s.rate), from
	}
	s.pieces = s.convert.Append(s.pieces, c.PCM)
	c.Words = slices.Clone(c.Words)
	for i, w := range c.Words {
		c.Words[i].Sample = int(int64(w.Sample) * int64(s.rate) / int64(from))
	}
	c.PCM = s.pieces
	return c
}

// rest returns what the conversion holds back.
func (s *speech) rest() []int16 {
	if s.convert == nil {
		return nil
	}
	return s.convert.Flush(nil)
}

// add takes sound from the voice, and reports false when there is no use for
// more.
func (s *speech) add(c tts.Chunk) bool {
	s.mu.Lock()
	for !s.stopped() && len(s.pcm) > most*s.rate {
		s.changed.Wait()
	}
	stopped := s.stopped()
	s.mu.Unlock()
	if stopped {
		return false
	}
	s.follow(func(t *track) { t.add(c) }) // before it can be played
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pcm = append(s.pcm, c.PCM...)
	s.changed.Broadcast()
	return true
}

// write writes what is made, and says when that was all.
func (s *speech) write(ctx context.Context) {
	buf := make([]int16, s.rate/blocks)
	for {
		n, more := s.take(buf)
		if !more {
			return
		}
		if n == 0 {
			s.play.Finish()
			return
		}
		if err := s.play.Write(ctx, buf[:n]); err != nil {
			s.fail(err)
			return
		}
	}
}

// take waits for sound and moves up to a block of it into buf; 0 if there will
// be none. It reports false if nothing is to be written any more.
func (s *speech) take(buf []int16) (n int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pcm) == 0 && !s.done && !s.cut && !s.ended {
		s.changed.Wait()
	}
	if s.cut || s.ended {
		return 0, false
	}
	n = copy(buf, s.pcm)
	s.pcm = s.pcm[:copy(s.pcm, s.pcm[n:])]
	s.changed.Broadcast()
	return n, true
}

// follow changes the track, and tells what was heard if that is more now: a
// clause without sound is heard as soon as it is reached.
func (s *speech) follow(change func(*track)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.told {
		return
	}
	change(&s.track)
	if at, further := s.track.look(s.track.played); further {
		s.heard(at)
	}
}

// moved takes the position of the device.
func (s *speech) moved(p sound.Position) {
	s.telling.Lock()
	if s.told {
		s.telling.Unlock()
		return
	}
	at, further := s.track.look(p.Samples)
	at.End = p.End
	s.told = p.End
	if further || p.End {
		s.heard(at)
	}
	s.telling.Unlock()
	if p.End {
		s.end()
	}
}

// lost ends a speech whose device is gone, should it not have said so.
func (s *speech) lost() {
	s.telling.Lock()
	played := s.track.played
	s.telling.Unlock()
	s.moved(sound.Position{Samples: played, End: true})
}

// end lets everybody go who waits.
func (s *speech) end() {
	s.mu.Lock()
	s.ended = true
	s.changed.Broadcast()
	s.mu.Unlock()
	s.cancel()
	close(s.over)
}
