//go:build cgo

package main

import (
	"context"
	"slices"
	"strings"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// A seeker listens for phrases only, beside the hearer: it goes on while an
// utterance is being finished.
type seeker struct {
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

// ahead is how many messages may wait for the seeker, a second of frames. Then
// the pipe waits: a machine that is so slow hears nothing in time anyway.
const ahead = 50

// threshold is how sure the recogniser must be of a phrase. The smaller the
// number the more is heard, and heard wrongly; a longer phrase stands out more
// and may have a smaller one. With these, each of 48 sentences of four synthetic
// voices in which a phrase was said was noticed, and none of 80 in which none
// was.
func (d *decoder) threshold(words []string) float64 {
	sounds := 0
	for _, word := range words {
		sounds += len(strings.Fields(d.pronunciation(word)))
	}
	switch {
	case sounds <= 4: // "stop"
		return 1
	case sounds <= 6: // "earshot"
		return 1e-6
	case sounds <= 8: // "be quiet"
		return 1e-10
	}
	return 1e-20 // "stop talking"
}

// newSeeker returns one that seeks phrases. If there are none it only listens.
func newSeeker(s *helper.Server, phrases, in []string) (*seeker, error) {
	defer s.Guard(opens)()
	k := &seeker{s: s, sounds: make(chan stretch, ahead), failed: make(chan error, 1)}
	if len(phrases) == 0 {
		return k, nil
	}
	d, err := openDecoder(in...)
	if err != nil {
		return nil, err
	}
	can, err := d.seek(phrases)
	if err != nil || !can {
		d.close()
		return k, err
	}
	k.d = d
	return k, nil
}

// take hands sound to run, or returns why that has ended.
func (k *seeker) take(ctx context.Context, m helper.Sound) error {
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
func (k *seeker) run(ctx context.Context) {
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

// listen listens to more of a stream, or to the first of another.
func (k *seeker) listen(m stretch) error {
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

// tell says what was found, and begins anew: what was found once stays found
// until the library's utterance ends.
func (k *seeker) tell() error {
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
func (k *seeker) again() error {
	if k.begun {
		if err := k.d.end(); err != nil {
			return err
		}
	}
	k.begun = true
	return k.d.start(nil)
}
