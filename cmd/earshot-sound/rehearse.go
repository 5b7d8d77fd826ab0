//go:build cgo

package main

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
)

// rehearse processes a client's frames like those of a card: see [sound.Rehearse].
func rehearse(s *helper.Server) error {
	clean, err := newEchoRemover()
	if err != nil {
		return err
	}
	defer clean.close()
	r := rehearsal{server: s, clean: clean, far: new(audio.Reference)}
	var g errgroup.Group
	g.Go(func() error {
		return s.Controls(func(m helper.Control) error { return fmt.Errorf("%w: the client said %q", helper.ErrProtocol, m.Name) })
	})
	g.Go(func() error { return s.Sounds(r.take) })
	return g.Wait()
}

// A rehearsal is one microphone beside one loudspeaker.
type rehearsal struct {
	server *helper.Server
	clean  *echoRemover
	far    *audio.Reference
	f      audio.Frame
	buf    []byte
}

// take processes a frame, and answers one of the microphone.
func (r *rehearsal) take(m helper.Sound) error {
	if err := r.f.Decode(m.Data); err != nil {
		return fmt.Errorf("%w: %w", helper.ErrProtocol, err)
	}
	switch m.Stream {
	case sound.RehearseNear:
		var far [audio.Samples]int16
		follows := r.far.Captured(r.f.At, r.f.Lost, &far)
		r.clean.clean(&r.f, &far, follows, false)
		r.buf = r.f.Append(r.buf[:0])
		return r.server.SendSound(m.Stream, r.buf)
	case sound.RehearseFar:
		r.far.Played(r.f.PCM[:], r.f.At, r.f.Lost > 0)
		return nil
	}
	return fmt.Errorf("%w: the client names stream %d", helper.ErrProtocol, m.Stream)
}
