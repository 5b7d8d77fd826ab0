package see

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/see/wire"
)

// A helperSession is one life of the helper, with the pictures requested from it.
type helperSession struct {
	c     *Camera
	link  helper.Link
	stop  context.CancelCauseFunc
	looks chan wire.Look // of those who wait; there is room for each

	number uint64    // of the last observation; used by the reader of control alone
	at     time.Time // when it was taken; likewise

	// Under the camera's mutex:
	asked map[uint32]*pictureRequest
}

// A pictureRequest is a requested picture. Its size comes by control and its bytes as sound;
// either may be first.
type pictureRequest struct {
	request uint32
	late    *time.Timer // ends the life of a helper that does not answer

	sent   bool // the helper was told
	told   bool // the head has come
	head   wire.Picture
	at     time.Time
	bytes  []byte
	ended  bool // the last of the bytes has come
	closed bool // picture and err are final

	done    chan struct{}
	picture earshot.Picture
	err     error
}

// send sends what there is to send until ctx ends or sending fails, which the helper's end
// explains.
func (l *helperSession) send(ctx context.Context) {
	err := l.link.Send(wire.OpenName, l.c.config.Open)
	for err == nil {
		select {
		case ask := <-l.looks:
			l.sending(ask.Request)
			err = l.link.Send(wire.LookName, ask)
		case <-ctx.Done():
			return
		}
	}
}

// sending records that a request is sent: before that, no answer is valid.
func (l *helperSession) sending(request uint32) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if a := l.asked[request]; a != nil {
		a.sent = true
	}
}

// control handles the helper's messages.
func (l *helperSession) control(m helper.Control, late *time.Timer) error {
	switch m.Name {
	case wire.FaultName:
		return helper.DecodeFault(m)
	case wire.ReadyName:
		r, err := wire.DecodeReady(m)
		if err != nil {
			return err
		}
		return l.ready(r, late)
	}
	if !l.open() {
		return fmt.Errorf("%w: the helper sent %q before it was ready", helper.ErrProtocol, m.Name)
	}
	switch m.Name {
	case wire.ObservationName:
		o, err := wire.DecodeObservation(m)
		if err != nil {
			return err
		}
		return l.observed(o)
	case wire.PictureName:
		p, err := wire.DecodePicture(m)
		if err != nil {
			return err
		}
		return l.head(p)
	case wire.EndName:
		l.stop(errOver)
		return nil
	}
	return fmt.Errorf("%w: %q", helper.ErrProtocol, m.Name)
}

// open reports whether pictures come.
func (l *helperSession) open() bool {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.c.life == l
}

// ready records that pictures come from now on.
func (l *helperSession) ready(r wire.Ready, late *time.Timer) error {
	if !late.Stop() || l.open() {
		return fmt.Errorf("%w: ready twice, or too late", helper.ErrProtocol)
	}
	l.c.config.Log.Info("opened a camera", "width", r.Width, "height", r.Height, "rate", r.Rate)
	l.c.opened(l)
	return nil
}

// observed reports an observation. Pictures are numbered in order.
func (l *helperSession) observed(o wire.Observation) error {
	if o.Number <= l.number {
		return fmt.Errorf("%w: the helper reported a picture twice", helper.ErrProtocol)
	}
	l.number = o.Number
	at := time.Now().Add(-o.Age)
	if at.Before(l.at) { // the messages were not sent equally fast
		at = l.at
	}
	l.at = at
	l.c.config.On(Observation{At: at, Observation: o})
	return nil
}

// head handles the head of a requested picture.
func (l *helperSession) head(p wire.Picture) error {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	a := l.asked[p.Request]
	if a == nil || !a.sent || a.told {
		return fmt.Errorf("%w: a picture that nobody asked for", helper.ErrProtocol)
	}
	a.told, a.head, a.at = true, p, time.Now().Add(-p.Age)
	if p.Bytes == 0 && len(a.bytes) == 0 && !a.ended {
		a.ended = true // none come
	}
	return l.complete(a)
}

// bytes handles a part of a picture, or its end.
func (l *helperSession) bytes(s helper.Sound) error {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	a := l.asked[s.Stream]
	switch {
	case a == nil || !a.sent || a.ended:
		return fmt.Errorf("%w: bytes of a picture that nobody asked for", helper.ErrProtocol)
	case len(s.Data) > wire.MaxChunk || len(a.bytes)+len(s.Data) > a.most():
		return fmt.Errorf("%w: a picture is larger than announced", helper.ErrProtocol)
	case len(s.Data) == 0:
		a.ended = true
		return l.complete(a)
	}
	a.bytes = append(a.bytes, s.Data...)
	return nil
}

// most is how many bytes a may have.
func (a *pictureRequest) most() int {
	if a.told {
		return a.head.Bytes
	}
	return earshot.MaxPicture
}

// complete finishes a if all of it has come.
func (l *helperSession) complete(a *pictureRequest) error {
	if !a.told || !a.ended {
		return nil
	}
	delete(l.asked, a.request)
	a.late.Stop()
	switch {
	case len(a.bytes) != a.head.Bytes:
		a.finish(earshot.Picture{}, ErrAway)
		return fmt.Errorf("%w: a picture of %d bytes was to have %d", helper.ErrProtocol, len(a.bytes), a.head.Bytes)
	case len(a.bytes) == 0:
		a.finish(earshot.Picture{}, ErrNone)
	default:
		a.finish(earshot.Picture{
			Camera: l.c.config.Name, At: a.at, Width: a.head.Width, Height: a.head.Height,
			JPEG: slices.Clip(a.bytes), Seen: a.head.Seen,
		}, nil)
	}
	return nil
}

// finish reports the result, once.
func (a *pictureRequest) finish(p earshot.Picture, err error) {
	if !a.closed {
		a.closed, a.picture, a.err = true, p, err
		a.bytes = nil
		close(a.done)
	}
}
