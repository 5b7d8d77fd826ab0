//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/pulse"
)

// look is how often the server is asked where the streams are, besides when it reports a change;
// this also shows whether it answers at all.
const look = time.Second

// straying is how long a stream may be nowhere, or its loudspeaker suspended: servers also report
// that of a stream that is being moved and of a device that is waking.
const straying = look / 2

// watch watches the streams until ctx ends or the server is gone.
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

// routed compares where the streams are with where they should be. If sound comes straight back,
// the stream that was moved is at fault.
func (c *card) routed(r pulse.Route) {
	c.mu.Lock()
	in, out := c.capture, c.playback
	if out != nil && out.lost { // the fault of a stream that is being closed is of no interest
		out = nil
	}
	if in != nil && in.lost {
		in = nil
	}
	outMoved := out != nil && r.Sink != nil && out.on != r.Sink.Name
	inMoved := in != nil && r.Source != nil && in.on != r.Source.Name
	var said []func()
	if out != nil && (r.Sink != nil || !out.rests) {
		delay := r.Out
		if out.rests { // nothing is on its way
			delay = out.delay
		}
		said = append(said, c.judge(&out.device, r.Sink, delay, outMoved && r.Looped(), true))
	}
	if in != nil {
		loop := inMoved && r.Source.Monitors != "" || out != nil && !outMoved && r.Looped()
		said = append(said, c.judge(&in.device, r.Source, r.In, loop, false))
	}
	c.mu.Unlock()
	for _, say := range said {
		say()
	}
}

// judge records where a stream is, nowhere if on is nil, and returns what to do about it. c.mu is
// held.
func (c *card) judge(p *device, on *pulse.Device, delay time.Duration, loop, output bool) func() {
	number, before := p.number, p.on
	if on != nil {
		if before != on.Name {
			p.latency = audio.Latency{}
		}
		p.on, p.monitors, p.cleaned, p.delay = on.Name, on.Monitors, on.Cleaned, p.latency.Note(delay)
	}
	strays := p.strays(on == nil || on.Suspended && output, time.Now())
	f := new(sound.Fault)
	switch {
	case on == nil && !strays:
		return func() {}
	case on == nil:
		*f = sound.Fault{Text: fmt.Sprintf("the sound server no longer knows the %s", what(output)), Fix: "earshot devices"}
	case p.want != "" && p.want != on.Name:
		*f = sound.Fault{Text: fmt.Sprintf("the %s %q was removed", what(output), p.want), Fix: "plug it in again"}
	case loop:
		*f = sound.Fault{Text: fmt.Sprintf("the %s was removed, and is now %q, through which earshot would hear itself", what(output), on.Name), Fix: "plug it in again"}
	case on.Suspended && (strays || !output):
		*f = sound.Fault{Text: fmt.Sprintf("the %s %q was suspended", what(output), on.Name), Fix: "wake it up in the sound settings"}
	case before != on.Name:
		return func() { c.server.Send(sound.SayMoved, sound.Opened{Number: number, Device: on.Name}) }
	default:
		return func() {}
	}
	p.lost = true
	return func() {
		p.end()
		c.lost(number, f)
	}
}

// strays reports whether a stream has been away for too long.
func (p *place) strays(away bool, now time.Time) bool {
	switch {
	case !away:
		p.away = time.Time{}
	case p.away.IsZero():
		p.away = now
	}
	return away && now.Sub(p.away) >= straying
}
