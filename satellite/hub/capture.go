package hub

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/satellite"
)

const (
	// kept is from which age on packets are some that a satellite kept while it was away.
	kept = time.Second

	// keptEvery is how fast they are taken: four times as fast as they were spoken, which decoder and
	// recogniser bear.
	keptEvery = audio.Time / 4

	// mostNotes is how many packets may be in the decoder: more than wait for it.
	mostNotes = 256
)

// A capture makes frames of the packets of an open microphone.
type capture struct {
	hub *Hub

	mu      sync.Mutex
	pass    func(helper.Sound) error // nil before and after the session
	end     func(error)
	speaker uint32
	stream  uint32 // the last that was opened
	line    timeline
	notes   []audio.Frame // of the packets that are being decoded, without their samples
	buf     []byte
}

// start has frames passed on from now on; end is told an error of that.
func (c *capture) start(pass func(helper.Sound) error, end func(error), speaker uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass, c.end, c.speaker = pass, end, speaker
}

// stop returns when no frame is passed on any more.
func (c *capture) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass, c.notes = nil, nil
}

// open begins a stream.
func (c *capture) open(stream uint32, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stream, c.line, c.notes = stream, timeline{opened: now}, nil
}

// take takes a packet of a stream that was captured at a time. It waits while too much is ahead.
func (c *capture) take(ctx context.Context, stream uint32, p *satellite.Packet, at time.Time) error {
	if !p.Quiet {
		c.wait(ctx, at)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if stream != c.stream || c.pass == nil {
		return nil // it is late
	}
	if p.Quiet {
		c.line.hush(at, p.Level)
		return nil
	}
	next := c.line.next
	begins, quiet := c.line.voice(at, time.Now())
	for range quiet {
		c.quiet(next)
		next = next.Add(audio.Time)
	}
	note := p.Frame
	note.At = begins
	if len(c.notes) >= mostNotes {
		c.notes = c.notes[1:]
	}
	c.notes = append(c.notes, note)
	c.hub.opus.Decode([]codec.Packet{{Speaker: c.speaker, At: begins, Data: p.Opus}})
	return nil
}

// wait waits while more frames were passed on than there was time for, and a moment for sound that was
// kept, until ctx ends.
func (c *capture) wait(ctx context.Context, at time.Time) {
	now := time.Now()
	c.mu.Lock()
	d := time.Duration(c.line.ahead(now)-burst) * audio.Time
	c.mu.Unlock()
	if now.Sub(at) > kept {
		d = max(d, keptEvery)
	}
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// decoded takes a frame that the decoder made of a packet.
func (c *capture) decoded(f *audio.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.notes) > 0 && c.notes[0].At.Before(f.At) {
		c.notes = c.notes[1:]
	}
	if len(c.notes) == 0 || !c.notes[0].At.Equal(f.At) {
		return // it is of a stream that is closed, or of a packet that is longer than allowed
	}
	n := c.notes[0]
	c.notes = c.notes[1:]
	n.Lost = uint16(min(int(n.Lost)+int(f.Lost), math.MaxUint16))
	n.PCM = f.PCM
	c.give(&n)
}

// fill makes frames while it is quiet, until ctx ends.
func (c *capture) fill(ctx context.Context) {
	tick := time.NewTicker(audio.Time)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.fillDue(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// fillDue makes the quiet frames that are due.
func (c *capture) fillDue(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		at, due := c.line.quiet(now)
		if !due {
			return
		}
		c.quiet(at)
	}
}

// quiet gives a frame of noise that is as loud as it is there while it is quiet.
func (c *capture) quiet(at time.Time) {
	f := audio.Frame{At: at}
	// The power of evenly distributed noise is a third of that of its peak. At least the last bit of
	// a sample is noise: whether a microphone is broken is known where it is.
	peak := max(1, math.Sqrt(3)*math.Pow(10, float64(c.line.level)/20)*-math.MinInt16)
	for i := range f.PCM {
		f.PCM[i] = int16(max(math.MinInt16, min(math.MaxInt16, math.Round((2*rand.Float64()-1)*peak))))
	}
	c.give(&f)
}

// give passes a frame on. The mutex is held.
func (c *capture) give(f *audio.Frame) {
	if c.pass == nil {
		return
	}
	c.buf = f.Append(c.buf[:0])
	if err := c.pass(helper.Sound{Stream: c.stream, Data: c.buf}); err != nil {
		c.end(err)
	}
}
