//go:build cgo

package main

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/gordonklaus/portaudio"

	"earshot/internal/audio"
	"earshot/internal/sound"
)

const (
	// settling is how many frames after opening are thrown away: the voice detector reports a voice
	// in the first, and devices click.
	settling = int(500 * time.Millisecond / audio.Time)

	// calm is for how many frames nothing must have been heard, while the loudspeaker rests, for the next
	// ones to be read a few together: each time that something comes wakes this process and the next ones.
	calm     = int(2 * time.Second / audio.Time)
	together = 5

	// ringed is how many frames wait for the daemon.
	ringed = int(sound.Late / audio.Time)
)

// A capture is an open microphone.
type capture struct {
	device
	clean *echoRemover
	ring  *audio.Ring
	still int // frames since something was heard
}

// frameOf returns the rate of a stream, and how many samples it moves at a time: of an output 10 ms,
// so that a cut does not wait long for its turn.
func frameOf(o sound.Open) (rate, samples int) {
	rate = cmp.Or(o.Rate, audio.Rate)
	if o.Output {
		return rate, rate / 100
	}
	return rate, audio.Samples
}

// startCapture starts the loop of a stream that is open.
func (c *card) startCapture(at place, s *portaudio.Stream, buf []int16) error {
	clean, err := newEchoRemover()
	if err != nil {
		return err
	}
	k := &capture{device: newDevice(c, at, s, buf), clean: clean, ring: audio.NewRing(ringed)}
	c.mu.Lock()
	c.capture = k
	c.mu.Unlock()
	c.loops.Go(k.run)
	return nil
}

// run reads the device and sends its frames until it is closed or fails.
func (k *capture) run() {
	var sender sync.WaitGroup
	sender.Go(k.send)
	err := k.read()
	k.close()
	k.clean.close()
	k.ring.Close(nil)
	sender.Wait()
	k.gone(err, func() { k.card.capture = nil })
}

// read puts frames into the ring, and waits for nothing but the device.
func (k *capture) read() error {
	var f audio.Frame
	var clock audio.Clock
	var far [audio.Samples]int16
	var last time.Time
	wake := time.NewTimer(0)
	defer wake.Stop()
	for n := 0; ; n++ {
		select {
		case <-k.stop:
			return nil
		default:
		}
		k.await(wake)
		err := k.stream.Read()
		if err != nil && err != portaudio.InputOverflowed {
			return err
		}
		if err != nil {
			clock = audio.Clock{} // frames are missing, so it is wrong
		}
		f.At = clock.Next(k.captured(time.Now()))
		f.Lost = 0
		if err != nil {
			f.Lost = missing(f.At.Sub(last))
		}
		last = f.At
		copy(f.PCM[:], k.buf)
		follows, off := k.reference(&f, &far)
		k.clean.clean(&f, &far, follows, off)
		if n >= settling {
			k.ring.Put(&f)
		}
		if k.still++; f.Voiced || f.Own {
			k.still = 0
		}
	}
}

const (
	// looks is how often to look whether a frame has come that is due, and mostLooks how often it may not
	// have: then whatever is wrong with the device is left to PortAudio.
	looks     = time.Millisecond
	mostLooks = 500
)

// await waits until the device has a frame, or is closed. A call of C that
// blocks would have Go's scheduler look after it some thousand times a second, which costs more than all
// that is done with the sound of a silent room.
func (k *capture) await(wake *time.Timer) {
	k.card.mu.Lock()
	want := audio.Samples
	if k.still > calm && (k.card.playback == nil || k.card.playback.rests) {
		want *= together
	}
	k.card.mu.Unlock()
	for i := range mostLooks {
		n, err := k.stream.AvailableToRead()
		if err != nil || n >= audio.Samples {
			return
		}
		wake.Reset(looks)
		if i == 0 {
			wake.Reset(max(looks, samples(int64(want-n))-2*looks))
		}
		select {
		case <-wake.C:
		case <-k.stop:
			return
		}
	}
}

// captured returns when the first sample of the frame just read was captured.
func (k *capture) captured(now time.Time) time.Time {
	behind := audio.Samples
	if n, err := k.stream.AvailableToRead(); err == nil {
		behind += n
	}
	k.card.mu.Lock()
	defer k.card.mu.Unlock()
	return now.Add(-samples(int64(behind)) - k.delay)
}

// reference returns what the loudspeaker plays meanwhile, whether that continues what it played
// last, and whether the sound server removes its echo.
func (k *capture) reference(f *audio.Frame, far *[audio.Samples]int16) (follows, off bool) {
	k.card.mu.Lock()
	defer k.card.mu.Unlock()
	return k.card.far.Captured(f.At, f.Lost, far), k.cleaned
}

// missing returns how many frames an overflowed device has lost, given the time since the previous
// one.
func missing(passed time.Duration) uint16 {
	return uint16(max(1, min(passed/audio.Time-1, 1<<16-1)))
}

// send sends the frames to the daemon, which may be slow.
func (k *capture) send() {
	var f audio.Frame
	buf := make([]byte, 0, audio.Size)
	for k.ring.Take(context.Background(), &f) == nil {
		buf = f.Append(buf[:0])
		if k.card.server.SendSound(k.number, buf) != nil {
			return
		}
	}
}

// samples returns how long n samples of the microphone last.
func samples(n int64) time.Duration { return time.Duration(n) * time.Second / audio.Rate }
