package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"earshot/bus"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/models/see/wire"
	"earshot/satellite"
)

// A Camera is the camera of this machine. It is open while the hub watches, and nobody has muted the
// satellite.
type Camera struct {
	Dial   helper.Dialer // starts earshot-camera
	Source func() string // its device, whenever it is opened: the hub has no say in that

	// Connect connects to the bus for the time that the camera is open, until done is called: pictures
	// have connections of their own, so that neither sound nor a control waits behind them.
	Connect func(context.Context) (b bus.Bus, done func(), err error)
}

// pictureRate is how many bytes of pictures are sent in a second, at most, since whatever has
// connections of its own still has one network with the rest: a usual picture takes a tenth of one.
const pictureRate = 1 << 20

// A CameraState is the state of the camera; it is empty if there is to be none.
type CameraState string

// The states of the camera.
const (
	CameraOn      CameraState = "on"
	CameraOff     CameraState = "off"     // the hub does not watch, or somebody here has muted
	CameraMissing CameraState = "missing" // it cannot be opened
)

// camera returns the state of the camera.
func (c *Client) camera() CameraState {
	switch {
	case c.cfg.Camera == nil:
		return ""
	case c.watched > 0:
		return CameraOn
	case c.missing[cameraKey]:
		return CameraMissing
	}
	return CameraOff
}

// watch closes the camera, and opens it for a session if there is one.
func (c *Client) watch(s *session, number uint64) {
	c.unwatch()
	if number == 0 || c.muted || c.cfg.Camera == nil {
		return
	}
	last, done := c.closed, make(chan struct{})
	c.closed = done
	c.unwatch = s.start(func(ctx context.Context) {
		defer close(done)
		<-last // there is one device
		if err := c.show(ctx, number); err != nil && ctx.Err() == nil {
			c.change(func() { c.tellDevice(cameraKey, true, faultOf(err)) })
		}
	})
}

// show has the hub watch in a session until ctx or that ends, or the camera fails.
func (c *Client) show(ctx context.Context, number uint64) error {
	b, done, err := c.cfg.Camera.Connect(ctx)
	if err != nil {
		return err
	}
	defer done()
	conn, err := satellite.OpenCamera(ctx, b, c.cfg.ID, number, &c.old)
	if err != nil {
		return err
	}
	defer conn.Close()
	return helper.Serve(ctx, "camera", conn.Conn, func(ctx context.Context, hub *helper.Server) error {
		err := c.relay(ctx, hub, conn.HangUp)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		f := faultOf(err)
		c.change(func() { c.tellDevice(cameraKey, true, f) }) // before the hub knows, and closes it
		return hub.Send(wire.FaultName, helper.Fault{Text: f.Text, Cure: f.Fix})
	})
}

// relay is one life of earshot-camera. HangUp ends what comes from the hub.
func (c *Client) relay(ctx context.Context, hub *helper.Server, hangUp func()) error {
	link, err := c.cfg.Camera.Dial()
	if err != nil {
		return err
	}
	c.change(func() { c.watched++ })
	defer c.change(func() { c.watched-- })
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	defer parts.Wait()
	defer hangUp()
	parts.Go(func() {
		defer stop()
		_ = hub.Controls(func(m helper.Control) error { // whatever ends it, the hub begins anew
			if m.Name != wire.OpenName {
				return link.Send(m.Name, m.Body)
			}
			var o wire.Open
			if err := m.Decode(&o); err != nil {
				return err
			}
			o.Source, o.Unpaced = c.cfg.Camera.Source(), false
			return link.Send(m.Name, o)
		})
	})
	err = link.Run(ctx, helper.Handler{
		Control: func(m helper.Control) error {
			switch m.Name {
			case wire.FaultName:
				return helper.DecodeFault(m)
			case wire.ReadyName:
				c.change(func() { c.tellDevice(cameraKey, false, sound.Fault{}) })
			}
			return hub.Send(m.Name, m.Body)
		},
		Sound: func(m helper.Sound) error {
			pace := time.NewTimer(time.Duration(len(m.Data)) * time.Second / pictureRate)
			defer pace.Stop()
			select {
			case <-pace.C:
			case <-ctx.Done():
			}
			return hub.SendSound(m.Stream, m.Data)
		},
	})
	if death, ok := errors.AsType[*helper.DeathError](err); ok {
		err = death.Err
	}
	return err
}
