//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/see/wire"
)

// serve runs the helper: it opens the camera it is told, and shows recent pictures on request,
// until its input closes.
func serve(ctx context.Context, s *helper.Server) error {
	ctx, stop := context.WithCancel(ctx)
	d := &requestHandler{server: s, pictureBuffer: newPictureBuffer(), answers: make(chan answer, requests), places: make(chan struct{}, requests), open: make(chan wire.Open, 1)}
	told := make(chan error, 1)
	go func() { told <- s.Controls(d.take) }() // ends with the connection, which ends when serve does
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	working.Go(func() { d.answer(ctx) })
	gone := make(chan error, 1)
	for {
		select {
		case err := <-told:
			return err
		case o := <-d.open:
			working.Go(func() { gone <- watch(ctx, s, o, d.pictureBuffer) })
		case err := <-gone:
			if err != nil {
				return errors.Join(err, tell(s, err))
			}
			// A recording is over; its pictures may still be requested.
		}
	}
}

// tell tells the daemon why there are no pictures.
func tell(s *helper.Server, err error) error {
	if f := (*fault)(nil); errors.As(err, &f) {
		return s.Send(wire.FaultName, f.wire())
	}
	return nil
}

// A requestHandler receives and answers the daemon's requests.
type requestHandler struct {
	server        *helper.Server
	pictureBuffer *pictureBuffer
	open          chan wire.Open // the one
	opened        bool
	answers       chan answer   // no more than there may be requests
	places        chan struct{} // holds one for each request that is not answered
}

// requests is how many there may be at a time: the daemon receives an answer before its sender
// knows that it is sent.
const requests = 2 * wire.MaxRequests

// An answer is one picture for who asked.
type answer struct {
	look            wire.Look
	bufferedPicture *bufferedPicture // nil if there is none
}

// take takes one message.
func (d *requestHandler) take(c helper.Control) error {
	switch {
	case c.Name == wire.OpenName && !d.opened:
		var o wire.Open
		if err := c.Decode(&o); err != nil {
			return err
		}
		if len(o.Masks) > wire.MaxMasks || slices.ContainsFunc(o.Masks, func(b earshot.Box) bool { return !b.Valid() }) {
			return fmt.Errorf("%w: invalid masks", helper.ErrProtocol)
		}
		d.opened = true
		d.open <- o
		return nil
	case c.Name == wire.LookName && d.opened:
		var l wire.Look
		if err := c.Decode(&l); err != nil {
			return err
		}
		return d.look(l)
	}
	return fmt.Errorf("%w: %q at this point", helper.ErrProtocol, c.Name)
}

// look has a request answered, at once or with the next picture.
func (d *requestHandler) look(l wire.Look) error {
	select {
	case d.places <- struct{}{}:
	default:
		return d.server.Send(wire.PictureName, wire.Picture{Request: l.Request})
	}
	if l.Age > 0 {
		d.answers <- answer{l, d.pictureBuffer.nearest(l.Age)}
		return nil
	}
	d.pictureBuffer.await(func(p *bufferedPicture) { d.answers <- answer{l, p} })
	return nil
}

// answer sends one picture after the other until ctx ends.
func (d *requestHandler) answer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-d.answers:
			if d.send(a) != nil {
				return // the daemon is gone
			}
			<-d.places
		}
	}
}

func (d *requestHandler) send(a answer) error {
	p := wire.Picture{Request: a.look.Request}
	if a.bufferedPicture == nil {
		return d.server.Send(wire.PictureName, p)
	}
	jpeg := a.bufferedPicture.jpeg
	if a.look.Boxes {
		jpeg = drawn(jpeg, a.bufferedPicture.seen)
	}
	p.Bytes, p.Width, p.Height, p.Seen, p.Age = len(jpeg), a.bufferedPicture.width, a.bufferedPicture.height, a.bufferedPicture.seen, d.pictureBuffer.age(a.bufferedPicture)
	if err := d.server.Send(wire.PictureName, p); err != nil {
		return err
	}
	for chunk := range slices.Chunk(jpeg, wire.MaxChunk) {
		if err := d.server.SendSound(a.look.Request, chunk); err != nil {
			return err
		}
	}
	return d.server.SendSound(a.look.Request, nil)
}
