package client

import (
	"context"
	"fmt"
	"sync/atomic"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/satellite"
)

// catchUp is how many packets that were kept are sent with each frame.
const catchUp = 8

// numbers are those of the microphone: at the hub, 0 if it has not opened it in this session, and at
// the device.
type numbers struct{ hub, device uint32 }

// A capture is an open microphone.
type capture struct {
	ring   *audio.Ring
	gate   gate
	opens  atomic.Int64 // frames for which the gate is to let voices through
	cancel context.CancelFunc
	done   chan struct{} // closed when nothing is encoded any more

	// Guarded by the mutex of the client.
	name string // of the device; empty until it is open
	busy bool   // somebody is heard, and it is let through
}

// open lets voices through that begin within n frames.
func (c *Client) open(n int) {
	if c.mic != nil {
		c.mic.opens.Store(int64(n))
	}
}

// startCapture starts to send what is captured, until the capture is cancelled.
func (c *Client) startCapture() {
	m, last := &capture{ring: audio.NewRing(int(sound.Late / audio.Time)), gate: gate{waits: c.cfg.Wake}, done: make(chan struct{})}, c.last
	c.mic, c.last = m, m.done
	m.cancel = c.device.start(func(ctx context.Context) {
		defer close(m.done)
		if last != nil {
			<-last // the encoder is for one at a time
		}
		c.listen(ctx, m)
		c.encoder.Drop()
		c.encoder.forget()
	})
}

// deviceSound takes a captured frame.
func (c *Client) deviceSound(s helper.Sound) error {
	var f audio.Frame
	if err := f.Decode(s.Data); err != nil {
		return fmt.Errorf("%w: %w", helper.ErrProtocol, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mic != nil && c.heard.device == s.Stream {
		c.mic.ring.Put(&f)
	}
	return nil
}

// listen sends what is captured until ctx ends.
func (c *Client) listen(ctx context.Context, m *capture) {
	var f audio.Frame
	for m.ring.Take(ctx, &f) == nil {
		m.gate.open(int(m.opens.Swap(0)))
		is := m.gate.step(&f)
		c.mu.Lock()
		spotter := c.spotter
		c.mu.Unlock()
		if spotter != nil {
			for i := range is.near {
				spotter.Spot(&is.near[i])
			}
		}
		c.recognise(is.send)
		if c.encoder.encode(ctx, is.send, is.ends, func(p satellite.Packet) { c.put(m, p) }) != nil {
			return
		}
		c.change(func() { c.next(m, &f, is.quiet) })
	}
}

// put sends a packet, or keeps it until it can be sent.
func (c *Client) put(m *capture, p satellite.Packet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mic == m {
		c.box.add(p.At, p.Append(nil))
		c.send(1)
	}
}

// next does what is due after a frame.
func (c *Client) next(m *capture, f *audio.Frame, quiet bool) {
	if c.mic != m {
		return
	}
	m.busy = m.gate.passing
	if c.send(catchUp) && quiet {
		p := satellite.Packet{Frame: audio.Frame{At: f.At}, Opus: silence, Quiet: true, Level: m.gate.background()}
		_ = c.session.server.SendSound(c.heard.hub, p.Append(nil)) // the next one comes in a second
	}
	c.rest()
}

// send sends up to n packets that wait, and reports whether none waits then.
func (c *Client) send(n int) bool {
	for ; c.session != nil && c.heard.hub != 0; n-- {
		data, more := c.box.next()
		if !more {
			return true
		}
		if n == 0 || c.session.server.SendSound(c.heard.hub, data) != nil {
			return false
		}
		c.box.sent++
	}
	return false
}
