package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/satellite"
)

// errNoCamera is the error of a camera whose satellite is not there.
var errNoCamera = errors.New("its satellite is not connected")

// A cameraLink is one time that the hub watches through the camera of a satellite.
type cameraLink struct {
	*helper.Peer
	session *link         // within which it is
	number  uint64        // of its own session
	opened  chan struct{} // closed when the satellite receives
	over    chan struct{} // closed when it is to end
	conn    *satellite.Conn
	once    sync.Once
}

// Camera is a [helper.Dialer] for the camera of the satellite, which is opened when the link runs.
func (s *Satellite) Camera() (helper.Link, error) {
	l := s.current()
	if l == nil {
		return nil, errNoCamera
	}
	_, number := s.hub.next()
	return &cameraLink{session: l, number: number, opened: make(chan struct{}), over: make(chan struct{})}, nil
}

// CameraMode returns [earshot.Live] while the camera of the satellite can be opened, else
// [earshot.Paused], and a channel that is closed when that may have changed.
func (s *Satellite) CameraMode() (earshot.Mode, <-chan struct{}) {
	changed := s.camera.Changed()
	if is := s.State(); is.Connected && is.Camera && !is.Muted {
		return earshot.Live, changed
	}
	return earshot.Paused, changed
}

// Run implements [helper.Link].
func (c *cameraLink) Run(ctx context.Context, h helper.Handler) (err error) {
	s := c.session.satellite
	defer c.Kill() // also if it cannot begin: whoever has something to send waits
	b, _ := s.hub.next()
	if c.conn, err = satellite.OpenHubCamera(context.WithoutCancel(ctx), b, s.cfg.ID, c.number, &s.old); err != nil {
		return err
	}
	defer c.conn.Close()
	c.Peer = helper.NewPeer("camera of "+s.cfg.ID, c.conn.Conn, c)
	select {
	case <-c.session.joined().Greeted(): // before that, it receives nothing
	case <-c.session.gone:
		return errNoCamera
	case <-ctx.Done():
		return nil
	}
	if err := c.session.Send(satellite.SayWatch, satellite.Watch{Session: c.number}); err != nil {
		return err
	}
	defer func() { _ = c.session.Send(satellite.SayWatch, satellite.Watch{}) }() // an error ends the session
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() {
		select {
		case <-c.Greeted():
			close(c.opened)
		case <-c.over:
		}
	})
	err = c.Peer.Run(ctx, h)
	if errors.Is(err, helper.ErrHung) { // the whole machine, perhaps, which is found out at about the same time
		late := time.NewTimer(satellite.Silence)
		defer late.Stop()
		select {
		case <-late.C:
		case <-c.session.gone:
		case <-ctx.Done():
		}
	}
	return err
}

// Send implements [helper.Link].
func (c *cameraLink) Send(name string, body any) error {
	select {
	case <-c.opened:
		return c.Peer.Send(name, body)
	case <-c.over:
		return helper.ErrGone
	}
}

// HangUp, Kill and Wait implement [helper.Life].
func (c *cameraLink) HangUp() { c.Kill() }

func (c *cameraLink) Kill() {
	c.once.Do(func() {
		close(c.over)
		if c.conn != nil {
			c.conn.HangUp()
		}
	})
}

func (c *cameraLink) Wait(context.Context) error {
	select {
	case <-c.over:
	case <-c.session.gone:
		c.Kill()
	}
	return nil
}
