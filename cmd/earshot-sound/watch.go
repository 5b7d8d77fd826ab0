//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"earshot/internal/sound"
	"earshot/internal/sound/pulse"
)

// look is how often the server is asked where the streams are, beside when it
// says that something changed; so it is known too whether it answers at all.
const look = time.Second

// watch looks after the streams until ctx ends or the server is gone.
func (c *card) watch(ctx context.Context) error {
	every := time.NewTicker(look)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-c.pulse.Changed():
		case <-ctx.Done():
			return ctx.Err()
		}
		r, err := c.pulse.Route(os.Getpid())
		if err != nil {
			c.fail(serverGone(err))
			return nil
		}
		c.routed(r)
	}
}

// routed compares where the streams are with where they should be. When sound
// comes straight back it is the stream that was moved which is at fault.
func (c *card) routed(r pulse.Route) {
	c.mu.Lock()
	in, out := c.capture, c.playback
	if out != nil && out.lost { // what is being closed is nobody's fault any more
		out = nil
	}
	if in != nil && in.lost {
		in = nil
	}
	outMoved := out != nil && r.Sink != nil && out.on != r.Sink.Name
	inMoved := in != nil && r.Source != nil && in.on != r.Source.Name
	var said []func()
	if out != nil && r.Sink != nil {
		out.delay = r.Out
		said = append(said, c.judge(&out.place, r.Sink, outMoved && r.Looped(), true, out.end))
	}
	if in != nil && r.Source != nil {
		in.delay = r.In
		loop := inMoved && r.Source.Monitors != "" || out != nil && !outMoved && r.Looped()
		said = append(said, c.judge(&in.place, r.Source, loop, false, in.end))
	}
	c.mu.Unlock()
	for _, say := range said {
		say()
	}
}

// judge notes where a stream is, and returns what is to be done about it. c.mu
// is held.
func (c *card) judge(p *place, on *pulse.Device, loop, output bool, end func() <-chan struct{}) func() {
	number, before := p.number, p.on
	p.on, p.monitors = on.Name, on.Monitors
	f := new(sound.Fault)
	switch {
	case p.want != "" && p.want != on.Name:
		*f = sound.Fault{Text: fmt.Sprintf("the %s %q was taken away", what(output), p.want), Fix: "plug it in again"}
	case loop:
		*f = sound.Fault{Text: fmt.Sprintf("the %s was taken away, and is now %q, by which earshot would hear itself", what(output), on.Name), Fix: "plug it in again"}
	case on.Suspended:
		*f = sound.Fault{Text: fmt.Sprintf("the %s %q was suspended", what(output), on.Name), Fix: "wake it up in the sound settings"}
	case before != on.Name:
		return func() { c.server.Send(sound.SayMoved, sound.Opened{Number: number, Device: on.Name}) }
	default:
		return func() {}
	}
	p.lost = true
	return func() {
		end()
		c.lost(number, f)
	}
}
