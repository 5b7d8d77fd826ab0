//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/sound/deck"
	"earshot/internal/sound/pulse"
)

const (
	// opening is how long a device may take to open or close; the daemon waits
	// no longer either.
	opening = 6 * time.Second

	// letting is how long a lost device may take to be released, before the next is opened.
	letting = time.Second

	// arriving is how long the sound server may take to list a stream that was opened.
	arriving = time.Second

	// jobs is how many requests to open and close may wait: more than one client sends.
	jobs = 16
)

// A card is the running sound card.
type card struct {
	server *helper.Server
	pulse  *pulse.Server // nil where there is none
	jobs   chan func()
	loops  sync.WaitGroup

	mu       sync.Mutex
	capture  *capture        // or nil
	playback *playback       // or nil
	deck     *deck.Deck      // of the loudspeaker that was opened last; nil if none was
	deckOf   uint32          // the number of its stream
	tuning   int             // speeches that wait for a device with their rate
	far      audio.Reference // what is played, as the microphone hears it
	down     bool
}

func newCard(s *helper.Server) *card {
	return &card{server: s, jobs: make(chan func(), jobs)}
}

// work is the helper's life: it ends when the daemon closes its input.
func (c *card) work(ctx context.Context) error {
	if err := c.start(); err != nil {
		c.fail(err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.server.Controls(c.control) })
	g.Go(func() error { return c.server.Sounds(c.sound) })
	g.Go(func() error { return c.desk(ctx) })
	if c.pulse != nil {
		defer c.pulse.Close()
		g.Go(func() error { return c.watch(ctx) })
	}
	err := g.Wait()
	c.end()
	return err
}

// start finds the sound system.
func (c *card) start() (err error) {
	defer c.server.Guard(opening)()
	c.pulse, err = pulse.Dial()
	if err != nil && !errors.Is(err, pulse.ErrNone) {
		return serverGone(err)
	}
	if err := initialize(false); err != nil {
		return &sound.Fault{Text: "there is no sound system: " + describe(err)}
	}
	if d, err := c.devices(); err != nil {
		return serverGone(err)
	} else if len(d.Inputs)+len(d.Outputs) == 0 {
		return &sound.Fault{Absent: true, Text: "there is no sound device", Fix: "plug one in"}
	}
	return c.server.Send(sound.SayReady, nil)
}

// serverGone returns the fault of a sound server that failed with err.
func serverGone(err error) error {
	return &sound.Fault{Text: err.Error(), Fix: "systemctl --user restart pipewire-pulse, or pulseaudio --start"}
}

// fail reports, once, that everything is over. The daemon then ends this process.
func (c *card) fail(err error) {
	c.mu.Lock()
	said := c.down
	c.down = true
	c.mu.Unlock()
	fault, ok := errors.AsType[*sound.Fault](err)
	if !ok {
		fault = &sound.Fault{Text: err.Error()}
	}
	if !said {
		c.server.Send(sound.SayDown, fault) // if nobody is there, it is over anyway
	}
}

// desk opens and closes streams, one after another, so that a cut never waits for it.
func (c *card) desk(ctx context.Context) error {
	for {
		select {
		case job := <-c.jobs:
			job()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// end closes what is open.
func (c *card) end() {
	c.mu.Lock()
	in, out := c.capture, c.playback
	c.mu.Unlock()
	if in != nil {
		in.end()
	}
	if out != nil {
		out.end()
	}
	c.loops.Wait() // if a device does not let go, the process ends without it
}

// control handles urgent messages at once, and queues the rest for desk.
func (c *card) control(m helper.Control) error {
	switch m.Name {
	case sound.SayPlay:
		var p sound.Play
		if err := m.Decode(&p); err != nil {
			return err
		}
		return c.play(p)
	case sound.SayDo:
		return with(m, func(d sound.Do) {
			if k := c.played(); k != nil {
				k.Do(d.Number, d.Control)
			}
		})
	case sound.SayFinish:
		return with(m, func(f sound.Finish) {
			if k := c.played(); k != nil {
				k.Finish(f.Number, f.Samples)
			}
		})
	case sound.SayOpen:
		var o sound.Open
		if err := m.Decode(&o); err != nil {
			return err
		}
		return c.later(func() { c.open(o) })
	case sound.SayClose:
		var s sound.Stream
		if err := m.Decode(&s); err != nil {
			return err
		}
		return c.later(func() { c.close(s) })
	case sound.SayDevices:
		return c.later(c.listed)
	}
	return fmt.Errorf("%w: the daemon said %q", helper.ErrProtocol, m.Name)
}

// with calls do with the decoded body of m.
func with[T any](m helper.Control, do func(T)) error {
	var body T
	if err := m.Decode(&body); err != nil {
		return err
	}
	do(body)
	return nil
}

// later queues a job for desk.
func (c *card) later(job func()) error {
	select {
	case c.jobs <- job:
		return nil
	default:
		return fmt.Errorf("%w: too much to open and close", helper.ErrProtocol)
	}
}

// played returns the deck of the loudspeaker, or nil if there was none yet. It stays the same when
// the device is opened again at another rate, so that a cut is not lost meanwhile.
func (c *card) played() *deck.Deck {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deck
}

// play begins a speech. Its sound comes once the device has its rate.
func (c *card) play(p sound.Play) error {
	if p.Rate < lowestRate || p.Rate > deck.MaxRate {
		return fmt.Errorf("%w: a speech of %d samples a second", helper.ErrProtocol, p.Rate)
	}
	c.mu.Lock()
	out := c.playback
	tune := c.tuning > 0 || out != nil && out.rate != p.Rate
	if tune {
		c.tuning++
	}
	c.mu.Unlock()
	if k := c.played(); k != nil {
		k.Play(p.Number, p.Rate)
	}
	if tune {
		return c.later(func() { c.retune(p) })
	}
	if out != nil && out.number == p.Output {
		c.grant(p)
	}
	return nil
}

// lowestRate is the lowest rate of a speech, in samples a second: that of a telephone.
const lowestRate = 8000

// grant lets the sound of a speech come.
func (c *card) grant(p sound.Play) {
	c.server.Send(sound.SayPlayed, sound.Played{Play: p.Number, Credit: deck.Most(p.Rate)})
}

// sound handles sound for the loudspeaker.
func (c *card) sound(m helper.Sound) error {
	k := c.played()
	if k == nil {
		return nil // it is late
	}
	var pcm [deck.MaxRate / 5]int16
	n := audio.DecodePCM(pcm[:], m.Data)
	if 2*n != len(m.Data) {
		return fmt.Errorf("%w: sound that is more than the credit, or half a sample", helper.ErrProtocol)
	}
	if err := k.Add(m.Stream, pcm[:n]); err != nil {
		return fmt.Errorf("%w: %w", helper.ErrProtocol, err)
	}
	return nil
}

// listed answers with the devices.
func (c *card) listed() {
	defer c.server.Guard(opening)()
	d, err := c.devices()
	if err != nil {
		c.fail(serverGone(err))
		return
	}
	c.server.Send(sound.SayListed, d)
}

// devices returns the devices, with the names of the sound server if there is one.
func (c *card) devices() (sound.Devices, error) {
	if c.pulse == nil {
		return list()
	}
	sources, sinks, err := c.pulse.Devices()
	if err != nil {
		return sound.Devices{}, err
	}
	return sound.Devices{Server: "PulseAudio", Inputs: named(sources), Outputs: named(sinks)}, nil
}

func named(all []pulse.Device) (d []sound.Device) {
	for _, p := range all {
		d = append(d, sound.Device{Name: p.Name, Description: p.Description, Default: p.Default, Monitors: p.Monitors, Cleaned: p.Cleaned})
	}
	return d
}

// ended is called by a loop whose device failed, with the number of its stream. If the whole
// server is gone, only that is reported.
func (c *card) ended(number uint32, err error) {
	if c.pulse != nil {
		if _, err := c.pulse.Route(os.Getpid()); err != nil {
			c.fail(serverGone(err))
			return
		}
	}
	c.lost(number, &sound.Fault{Text: "the device failed: " + describe(err), Fix: "plug it in again; list the devices with earshot devices"})
}

// lost reports that a stream is gone, unless that was requested.
func (c *card) lost(number uint32, f *sound.Fault) {
	c.mu.Lock()
	over := c.down
	c.mu.Unlock()
	if !over {
		c.server.Send(sound.SayLost, sound.Lost{Number: number, Fault: *f})
	}
}
