package main

import (
	"context"
	"errors"
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

// spot returns in how many sounds a stop phrase is found.
func spot(ctx context.Context, d dial, sounds [][]int16) (n int, err error) {
	s, stop, err := seek(ctx, d)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for i, pcm := range sounds {
		if err := s.play(uint32(i+1), pcm); err != nil {
			return 0, err
		}
	}
	if err := s.flush(uint32(len(sounds) + 1)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range sounds {
		n += min(1, len(s.found[uint32(i+1)]))
	}
	return n, nil
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

// A search is a helper that looks for phrases. It is asked directly, since it can be made to
// wait, so that not one frame is dropped.
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
		var f helper.Fault
		return errors.Join(c.Decode(&f), errors.New(f.Text))
	}
	return nil
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
