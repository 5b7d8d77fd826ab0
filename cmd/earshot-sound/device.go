//go:build cgo

package main

import (
	"sync"
	"time"

	"github.com/gordonklaus/portaudio"

	"earshot/internal/audio"
)

// A device is an open microphone or loudspeaker, in a loop that moves its sound.
type device struct {
	place
	card   *card
	stream *portaudio.Stream
	buf    []int16 // what stream reads into, or writes
	stop   chan struct{}
	done   chan struct{}
	halt   sync.Once
}

// A place says where a stream is. All of it but the number is guarded by card.mu.
type place struct {
	number   uint32
	want     string        // the requested device, or ""
	on       string        // the device that it is on, as far as known
	monitors string        // the sink that this repeats
	cleaned  bool          // the server removes the echo from it
	latency  audio.Latency // in the server, on the way
	delay    time.Duration // the current estimate of it
	away     time.Time     // since when it is not where it should be; zero if it is
	lost     bool          // the loss was reported, and it is being closed
}

func newDevice(c *card, at place, s *portaudio.Stream, buf []int16) device {
	return device{place: at, card: c, stream: s, buf: buf, stop: make(chan struct{}), done: make(chan struct{})}
}

// end ends the loop, as soon as the device allows it.
func (d *device) end() <-chan struct{} {
	d.halt.Do(func() { close(d.stop) })
	return d.done
}

// close closes the stream.
func (d *device) close() {
	defer d.card.server.Guard(opening)()
	closeStream(d.stream)
}

// gone says that the loop has ended, with the error of a device that failed. It has forget take the
// device from the card.
func (d *device) gone(err error, forget func()) {
	d.card.mu.Lock()
	forget()
	d.card.mu.Unlock()
	close(d.done)
	if err != nil {
		d.card.ended(d.number, err)
	}
}
