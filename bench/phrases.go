package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/executive"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// stops are the phrases that the daemon listens for while it speaks, beside its
// name.
var stops = []string{"stop talking", "be quiet", "stop it"}

// phrases measures the search for what stops the agent while it speaks: how
// often it is missed, and how often it is heard where nobody said it. The
// helper is asked directly, since it can be made to wait, so that not one frame
// is dropped.
func phrases(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("phrases", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	s, stop, err := seek(ctx, d)
	if err != nil {
		return nil, err
	}
	rows, err := s.measure(ctx, b)
	return rows, errors.Join(err, stop())
}

// seek starts a search, which stop ends.
func seek(ctx context.Context, d dial) (s *search, stop func() error, err error) {
	link, err := d.to(speechHelper, "hear")()
	if err != nil {
		return nil, nil, err
	}
	s = &search{link: link, ready: make(chan struct{}), found: make(map[uint32][]string)}
	ctx, stop = beside(ctx, func(ctx context.Context) error { return link.Run(ctx, helper.Handler{Control: s.control}) })
	if err := link.Send(wire.OpenName, wire.OpenHear{Names: []string{executive.DefaultConfig().Name}, Phrases: stops}); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	select {
	case <-s.ready:
		return s, stop, nil
	case <-ctx.Done():
		return nil, nil, errors.Join(context.Cause(ctx), stop())
	}
}

// A search is a helper that looks for phrases.
type search struct {
	link  helper.Link
	ready chan struct{}

	mu    sync.Mutex
	found map[uint32][]string // in each stream
}

// control takes what the helper says.
func (s *search) control(c helper.Control) error {
	switch c.Name {
	case wire.ReadyName:
		close(s.ready)
	case wire.PhraseName:
		p, err := wire.DecodePhrase(c)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		n := p.Stream &^ wire.Spot
		s.found[n] = append(s.found[n], strings.ToLower(string(p.Text)))
	case wire.FaultName:
		var f wire.Fault
		return errors.Join(c.Decode(&f), errors.New(f.Text))
	}
	return nil
}

// measure plays every phrase and every sentence, in all voices.
func (s *search) measure(ctx context.Context, b bench) ([]Row, error) {
	sought := append([]string{strings.ToLower(executive.DefaultConfig().Name)}, stops...)
	said := strings.Split(strings.TrimSpace(sentencesText), "\n")
	said = append(said[:min(len(said), b.rounds)], sought...)
	var texts []string // of the streams, from 1
	var sound, took time.Duration
	for _, voice := range voices {
		r, err := b.reel(ctx, voice, said...)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		for _, p := range r.passages {
			texts = append(texts, p.text)
			pcm := r.pcm[p.from-inSamples(margin) : p.to+inSamples(margin)]
			if err := s.play(uint32(len(texts)), pcm); err != nil {
				return nil, err
			}
			sound += inTime(len(pcm))
		}
		took += time.Since(began)
	}
	if err := s.flush(uint32(len(texts) + 1)); err != nil {
		return nil, err
	}
	return s.rows(texts, sought, sound, took), nil
}

// play plays a stream, as fast as the helper hears.
func (s *search) play(stream uint32, pcm []int16) error {
	var buf []byte
	for f := range frames(pcm) {
		buf = audio.AppendPCM(buf[:0], f.PCM[:])
		if err := s.link.SendSound(stream|wire.Spot, buf); err != nil {
			return err
		}
	}
	return nil
}

// flush returns when the helper has heard all that was played: what is sent now
// only fits into the pipe, and into what waits behind it, when nothing else is
// there any more.
func (s *search) flush(stream uint32) error {
	const more = 6 * time.Second // the pipe holds two, and the helper one
	return s.play(stream, make([]int16, inSamples(more)))
}

// rows says what was found in the streams of those texts.
func (s *search) rows(texts, sought []string, sound, took time.Duration) []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	missed, with, falsely := 0, 0, 0
	for i, text := range texts {
		found := s.found[uint32(i+1)]
		if said := slices.ContainsFunc(sought, func(p string) bool { return strings.Contains(text, p) }); said {
			with++
			if len(found) == 0 {
				missed++
			}
		} else if len(found) > 0 {
			falsely++
		}
	}
	factor := took.Seconds() / sound.Seconds()
	return []Row{
		{Name: "stop phrases missed", Unit: fmt.Sprintf("of %d", with), Ours: same(float64(missed))},
		{Name: "sentences taken for a stop phrase", Unit: fmt.Sprintf("of %d", len(texts)-with), Ours: same(float64(falsely))},
		{Name: "to seek phrases in a second of speech", Unit: "s", Ours: same(factor)},
	}
}
