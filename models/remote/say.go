package remote

import (
	"context"
	"errors"
	"strings"
	"sync"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// Say returns a dialer, for package tts, of the voice v, which people know by name. How fast it
// speaks is its own matter. Its sound is passed on at the given rate, in samples a second, which
// should be its own.
func Say(name string, rate int, v Voice) helper.Dialer {
	return func() (helper.Link, error) {
		ready := wire.ReadySay{Rate: rate, Voice: name} // which says the same again, give or take a little
		return &saying{link: newLink(name, v.Check, ready), of: v, rate: rate, letter: usual * float64(rate)}, nil
	}
}

// A saying is a voice as package tts sees it.
type saying struct {
	*link
	of     Voice
	rate   int
	letter float64 // samples that one took in the texts before; of the text that is being said

	mu  sync.Mutex
	now speech // the last text
}

// A speech is one text that is being said.
type speech struct {
	stream uint32
	cancel context.CancelFunc
	done   chan struct{} // nil before the first
}

// Send implements [helper.Link].
func (s *saying) Send(name string, body any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, is := body.(wire.Cancel); is && s.now.stream == c.Stream {
		s.now.cancel()
	}
	return nil
}

// SendSound implements [helper.Link]: data is a text.
func (s *saying) SendSound(stream uint32, data []byte) (err error) {
	text, done := string(data), make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now
	if before.done != nil {
		before.cancel()
	}
	s.now = speech{stream: stream, done: done}
	s.now.cancel, err = s.begin(func(ctx context.Context) {
		defer close(done)
		if before.done != nil {
			<-before.done
		}
		if err := s.speak(ctx, stream, text); err != nil && ctx.Err() == nil {
			s.died(conceal(err, text))
		}
	})
	if err != nil {
		s.now = speech{}
	}
	return err
}

// errRepeats stands for what a server says if that repeats the text: it would stand in the log.
var errRepeats = errors.New("the server refuses a text")

// conceal returns err without the text that was to be said.
func conceal(err error, text string) error {
	beginning := strings.Join(strings.Fields(text), " ")
	beginning = beginning[:min(len(beginning), 20)]
	if strings.Contains(err.Error(), beginning) {
		return errRepeats
	}
	return err
}

// speak says one text. It keeps back the newest piece of its sound, so that a text that comes in
// one piece, or whose end is near, has its words where they are.
func (s *saying) speak(ctx context.Context, stream uint32, text string) error {
	var to *audio.Resampler
	var held, next []int16
	words, given := newWordTimer(text), 0
	err := s.of.Synthesize(ctx, text, func(from int, pcm []int16) error {
		if to == nil {
			to = audio.NewResampler(from, s.rate)
		}
		next = to.Append(next[:0], pcm)
		marks := words.before(given+len(held), given, s.letter)
		if err := s.give(stream, marks, held); err != nil {
			return err
		}
		given += len(held)
		held, next = next, held
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if to != nil {
		held = to.Flush(held)
	}
	total := given + len(held)
	if words.total > 0 {
		s.letter = (s.letter + float64(total)/words.total) / 2
	}
	if err := s.give(stream, words.rest(total, given), held); err != nil {
		return err
	}
	return s.sound(stream, nil)
}

// give passes on marks, and the sound in which the words begin.
func (s *saying) give(stream uint32, marks []wire.Mark, pcm []int16) error {
	if len(marks) > 0 {
		if err := s.sound(stream|wire.Words, wire.AppendMarks(nil, marks...)); err != nil {
			return err
		}
	}
	for len(pcm) > 0 {
		n := min(len(pcm), helper.MaxSound/2)
		if err := s.sound(stream, audio.AppendPCM(nil, pcm[:n])); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// sound passes sound to the client, which returns once it wants more.
func (s *saying) sound(stream uint32, data []byte) error {
	err := s.to.Sound(helper.Sound{Stream: stream, Data: data})
	if err != nil {
		s.fail(err)
	}
	return err
}
