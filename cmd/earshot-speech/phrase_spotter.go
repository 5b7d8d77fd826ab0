//go:build cgo

package main

import (
	"context"
	"slices"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// A phraseSpotter listens for phrases only, beside the hearer: while an utterance is being
// finished it continues with its backlog, up to a second of sound.
type phraseSpotter struct {
	s      *helper.Server
	d      *decoder // nil if there are no phrases
	sounds chan stretch
	failed chan error

	stream uint32
	heard  int  // samples of it
	begun  bool // the library has an utterance open
}

// A stretch is some samples of a stream.
type stretch struct {
	stream uint32
	pcm    []int16
}

// ahead is how many messages may wait, a second of frames. Then the pipe waits: a machine that is
// so slow finds nothing in time anyway.
const ahead = 50

// newPhraseSpotter returns a spotter for those of the phrases that have a pronunciation; words has
// the pronunciations. Without any it only drains its input.
func newPhraseSpotter(s *helper.Server, words *decoder, phrases, in []string) (*phraseSpotter, error) {
	defer s.Guard(opens)()
	d, err := openPhrases(words, phrases, in)
	if err != nil {
		return nil, err
	}
	return &phraseSpotter{s: s, d: d, sounds: make(chan stretch, ahead), failed: make(chan error, 1)}, nil
}

// take passes sound to run, or returns why that has ended.
func (k *phraseSpotter) take(ctx context.Context, m helper.Sound) error {
	select {
	case k.sounds <- stretch{m.Stream, samples(m.Data)}:
		return nil
	case err := <-k.failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run listens until ctx ends.
func (k *phraseSpotter) run(ctx context.Context) {
	if k.d != nil {
		defer k.d.close()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-k.sounds:
			if err := k.listen(m); err != nil {
				k.failed <- err
				return
			}
		}
	}
}

// listen processes more of a stream, or the beginning of another.
func (k *phraseSpotter) listen(m stretch) error {
	if k.d == nil {
		return nil
	}
	defer k.s.Guard(steps)()
	if m.stream != k.stream {
		if err := k.again(); err != nil {
			return err
		}
		k.stream, k.heard = m.stream, 0
	}
	for piece := range slices.Chunk(m.pcm, audio.Samples) {
		if err := k.d.feed(piece); err != nil {
			return err
		}
		k.heard += len(piece)
		if err := k.tell(); err != nil {
			return err
		}
	}
	return nil
}

// tell reports what was found, and begins anew: a found phrase stays found until the library's
// utterance ends.
func (k *phraseSpotter) tell() error {
	found := k.d.found()
	for _, phrase := range found {
		err := k.s.Send(wire.PhraseName, wire.Phrase{Stream: k.stream, Text: earshot.Text(phrase), Sample: k.heard})
		if err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return nil
	}
	return k.again()
}

// again ends the library's utterance, if there is one, and begins the next.
func (k *phraseSpotter) again() error {
	if k.begun {
		if err := k.d.end(); err != nil {
			return err
		}
	}
	k.begun = true
	return k.d.start(nil)
}
