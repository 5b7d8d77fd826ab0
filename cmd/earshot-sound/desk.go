//go:build cgo

package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gordonklaus/portaudio"

	"earshot/internal/sound"
)

// open opens a stream, or reports why not.
func (c *card) open(o sound.Open) {
	defer c.server.Guard(opening)()
	on, fault := c.choose(o)
	if fault == nil {
		fault = c.begin(o, on)
	}
	if fault != nil {
		c.lost(o.Number, fault)
		return
	}
	c.server.Send(sound.SayOpened, sound.Opened{Number: o.Number, Device: on.Name})
}

// retune opens the loudspeaker again if a speech has another rate, and lets its sound come.
func (c *card) retune(p sound.Play) {
	defer c.server.Guard(opening)()
	c.mu.Lock()
	out := c.playback
	c.mu.Unlock()
	var fault *sound.Fault
	if out != nil && out.number == p.Output && out.rate != p.Rate {
		o := out.open
		o.Rate = p.Rate
		var on sound.Device
		if on, fault = c.choose(o); fault == nil {
			fault = c.begin(o, on)
		}
	}
	c.mu.Lock()
	c.tuning--
	c.mu.Unlock()
	if fault != nil {
		c.lost(p.Output, fault)
		return
	}
	c.grant(p)
}

// begin opens the device and starts its loop.
func (c *card) begin(o sound.Open, on sound.Device) *sound.Fault {
	if !c.free(o.Output) {
		return &sound.Fault{Text: fmt.Sprintf("the lost %s cannot be closed", what(o.Output)), Fix: "plug it in again, or wake it up in the sound settings"}
	}
	c.mu.Lock()
	idle := c.capture == nil && c.playback == nil
	c.mu.Unlock()
	rate, size := frameOf(o)
	buf := make([]int16, size)
	stream, err := open(c.where(o.Device, o.Output), o.Output, rate, buf)
	if err != nil && idle { // the list of devices may be old
		if err = initialize(true); err == nil {
			stream, err = open(c.where(o.Device, o.Output), o.Output, rate, buf)
		}
	}
	if err != nil {
		return c.unopened(o, err)
	}
	if fault := c.run(o, on, stream, buf); fault != nil {
		closeStream(stream)
		return fault
	}
	return nil
}

// run starts the loop of a stream, once its place is known.
func (c *card) run(o sound.Open, on sound.Device, s *portaudio.Stream, buf []int16) *sound.Fault {
	at := place{number: o.Number, want: o.Device, on: on.Name, monitors: on.Monitors, cleaned: on.Cleaned}
	size, err := capacity(s, o.Output) // at once: nothing is in it yet
	if err != nil {
		return &sound.Fault{Text: fmt.Sprintf("the %s does not report its buffer size: %s", what(o.Output), describe(err)), Fix: "earshot devices"}
	}
	if c.pulse != nil {
		delay, fault := c.arrival(o.Output)
		if fault != nil {
			return fault
		}
		at.delay = at.latency.Note(delay)
	}
	if o.Output {
		c.startPlayback(at, o, size, s, buf)
		return nil
	}
	if err := c.startCapture(at, s, buf); err != nil {
		return &sound.Fault{Text: describe(err)}
	}
	return nil
}

// errNoSize is the error of a loudspeaker that cannot tell what it has played.
var errNoSize = errors.New("its buffer is empty")

// capacity returns how many samples a newly opened loudspeaker can take.
func capacity(s *portaudio.Stream, output bool) (int, error) {
	if !output {
		return 0, nil
	}
	size, err := s.AvailableToWrite()
	if err == nil && size <= 0 {
		err = errNoSize
	}
	return size, err
}

// arrival waits until the sound server lists the stream that was opened, and returns the delay of
// sound on its way there. A stream that never arrives is on another device than the chosen one.
func (c *card) arrival(output bool) (delay time.Duration, f *sound.Fault) {
	limit := time.NewTimer(arriving)
	defer limit.Stop()
	again := time.NewTicker(arriving / 50)
	defer again.Stop()
	for {
		r, err := c.pulse.Route(os.Getpid())
		switch {
		case err != nil:
			c.fail(serverGone(err))
			return 0, &sound.Fault{Text: sound.ErrCard.Error()}
		case output && r.Sink != nil:
			return r.Out, nil
		case !output && r.Source != nil:
			return r.In, nil
		}
		select {
		case <-again.C:
		case <-limit.C:
			return 0, &sound.Fault{Text: fmt.Sprintf("the %s cannot be opened through the sound server", what(output)), Fix: plugIn}
		}
	}
}

// free waits until the previous stream is closed, and reports whether it is.
func (c *card) free(output bool) bool {
	c.mu.Lock()
	var done <-chan struct{}
	if output && c.playback != nil {
		done = c.playback.end()
	} else if !output && c.capture != nil {
		done = c.capture.end()
	}
	c.mu.Unlock()
	if done == nil {
		return true
	}
	limit := time.NewTimer(letting)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
		return false
	}
}

// plugIn is the package that leads ALSA, which PortAudio uses, to the server.
const plugIn = "apt-get install libasound2-plugins"

// unopened returns why a device could not be opened.
func (c *card) unopened(o sound.Open, err error) *sound.Fault {
	f := &sound.Fault{Text: fmt.Sprintf("the %s cannot be opened: %s", what(o.Output), describe(err))}
	switch {
	case c.pulse != nil && (err == portaudio.NoDefaultInputDevice || err == portaudio.NoDefaultOutputDevice):
		f.Fix = plugIn
	case err == errNoDevice || err == portaudio.NoDefaultInputDevice || err == portaudio.NoDefaultOutputDevice:
		f.Fix = "earshot devices"
	case err == portaudio.DeviceUnavailable:
		f.Fix = "close the program that uses it, or use a sound server"
	}
	return f
}

// what returns the name of a kind of device.
func what(output bool) string {
	if output {
		return "loudspeaker"
	}
	return "microphone"
}

// close closes a stream, if it is still open.
func (c *card) close(s sound.Stream) {
	defer c.server.Guard(opening)()
	c.mu.Lock()
	in, out := c.capture, c.playback
	c.mu.Unlock()
	if in != nil && in.number == s.Number {
		<-in.end()
	}
	if out != nil && out.number == s.Number {
		<-out.end()
	}
	c.server.Send(sound.SayClosed, s)
}

// where returns PortAudio's name of a device. With a sound server that is the server's, and the
// device is chosen through the environment, which its library reads whenever it opens one.
func (c *card) where(device string, output bool) string {
	if c.pulse == nil {
		return device
	}
	name := "PULSE_SOURCE"
	if output {
		name = "PULSE_SINK"
	}
	os.Unsetenv(name) // an empty variable would mean a device without a name
	if device != "" {
		os.Setenv(name, device)
	}
	return viaPulse
}

// choose returns the device that o means, by the names of the server. It refuses a missing device,
// and one that would let the assistant hear itself.
func (c *card) choose(o sound.Open) (on sound.Device, f *sound.Fault) {
	d, err := c.devices()
	if err != nil {
		c.fail(serverGone(err))
		return on, &sound.Fault{Text: sound.ErrCard.Error()}
	}
	all := d.Inputs
	if o.Output {
		all = d.Outputs
	}
	for _, dev := range all {
		if o.Device == dev.Name || o.Device == "" && dev.Default {
			return dev, c.looped(o, dev, d)
		}
	}
	if o.Device == "" && len(all) > 0 && c.pulse == nil {
		return on, nil // PortAudio has no name for a default
	}
	f = &sound.Fault{Text: "there is no " + what(o.Output), Fix: "plug one in; list the devices with earshot devices"}
	if o.Device != "" {
		f.Text += fmt.Sprintf(" %q", o.Device)
	}
	return on, f
}

// looped refuses a device that would bring our own sound straight back.
func (c *card) looped(o sound.Open, dev sound.Device, all sound.Devices) *sound.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Output {
		if c.capture != nil && !c.capture.lost && c.capture.monitors == dev.Name {
			return &sound.Fault{Text: fmt.Sprintf("the loudspeaker %q is the one that the microphone records", dev.Name), Fix: "choose another one; list them with earshot devices"}
		}
		return nil
	}
	for _, out := range all.Outputs {
		used := out.Default
		if c.playback != nil && !c.playback.lost {
			used = out.Name == c.playback.on
		}
		if used && dev.Monitors == out.Name {
			return &sound.Fault{Text: fmt.Sprintf("the only microphone is %q, which records the loudspeaker", dev.Name), Fix: "plug one in"}
		}
	}
	return nil
}
