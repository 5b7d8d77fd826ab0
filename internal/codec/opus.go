package codec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// A Packet is 20 ms of one speaker of a call, as Opus. One that is shorter or
// longer is decoded too; the frames follow each other as its sound does.
type Packet struct {
	Speaker uint32    // a decoder each
	At      time.Time // of its first sample
	Lost    int       // how many packets before it are missing: silence of their length comes first
	Data    []byte    // of one Opus packet; empty if there are only lost ones
}

// OpusConfig is what an Opus is made of. Its functions are called from goroutines
// of Run, one for each.
type OpusConfig struct {
	Dial helper.Dialer

	// Lead is the longest time that packets wait for the helper, so that no word is lost
	// while it starts. If zero, packets that come before it has started are dropped.
	Lead time.Duration

	// Heard takes frames of 16 kHz, annotated, in the order of each speaker's packets.
	// The frame is valid until it returns. It must not wait.
	Heard func(speaker uint32, f *audio.Frame)

	// Encoded takes Opus frames of 20 ms, 48 kHz stereo at 64 kb/s, in order. The bytes
	// are valid until it returns. It may wait, until ctx ends, which Drop does too.
	Encoded func(ctx context.Context, opus []byte)
}

// An Opus is a helper that decodes what is heard in a call, and encodes what is
// said. Its methods may be called from any goroutine, whether it runs or not.
type Opus struct {
	cfg OpusConfig
	hearing
	speaking
}

// NewOpus returns one that does nothing until it runs.
func NewOpus(cfg OpusConfig) *Opus {
	o := &Opus{cfg: cfg}
	o.hearing.init(cfg.Lead)
	o.speaking.init()
	return o
}

// Run is one life of a helper: it returns what it died of, or nil when ctx has
// ended. Then nothing of the helper is left. Decoders are made when a speaker's
// first packet comes, so another life goes on with the next one. It is not called
// twice at a time.
func (o *Opus) Run(ctx context.Context) error {
	link, err := o.cfg.Dial()
	if err != nil {
		return fmt.Errorf("opening Opus: %w", err)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	o.hearing.begin()
	o.speaking.begin(link)
	parts.Go(func() {
		if link.Send(MsgCall, nil) == nil {
			o.hearing.send(inner, link)
		}
	})
	parts.Go(func() { o.speaking.deliver(inner, o.cfg.Encoded) })
	err = link.Run(inner, helper.Handler{Control: unable, Sound: o.sound})
	stop()
	o.hearing.end()
	o.speaking.end()
	parts.Wait()
	return err
}

// sound takes what the helper made.
func (o *Opus) sound(s helper.Sound) error {
	if s.Stream == 0 {
		return o.hearing.take(s.Data, o.cfg.Heard)
	}
	return o.speaking.take(s.Stream, s.Data)
}

// unable takes the one thing that the helper may say.
func unable(c helper.Control) error {
	if c.Name != MsgUnable {
		return fmt.Errorf("%w: %q is not known", helper.ErrProtocol, c.Name)
	}
	return errLacking
}

// errLacking is that there is no libopus.
var errLacking error = lacking{}

type lacking struct{}

func (lacking) Error() string { return "this FFmpeg has no libopus, by which calls are coded" }

// Cure says how to mend it.
func (lacking) Cure() string { return "apt-get install libavcodec59" }

// Is reports that the error is lasting.
func (lacking) Is(target error) bool { return target == errors.ErrUnsupported }

// encrypted reports whether data still seems to be a frame of Discord's end-to-end
// encryption, which ends in this marker. Those were opened long before; this is the
// last belt. One good packet in 65,536 ends like that, too.
func encrypted(data []byte) bool { return bytes.HasSuffix(data, []byte{0xfa, 0xfa}) }

// Counts count the outcome of everything since the Opus was made.
type Counts struct {
	Packets int64 // that were handed over to be decoded
	Lost    int64 // that were missing, and are silence
	Damaged int64 // that could not be decoded, and are silence
	Refused int64 // that cannot be Opus, or are encrypted, and are silence
	Dropped int64 // because the helper was busy or away
}

// Counts returns them.
func (o *Opus) Counts() Counts { return o.hearing.counted() }
