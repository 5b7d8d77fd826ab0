package codec

import (
	"context"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// A Packet is 20 ms of one speaker of a call, as Opus.
type Packet struct {
	Speaker uint32    // a decoder each
	At      time.Time // of its first sample
	Lost    int       // how many packets before it are missing: silence of their length comes first
	Data    []byte    // of one Opus packet; empty if there are only lost ones
}

// An Opus is a helper that decodes what is heard in a call, and encodes what is said.
type Opus struct{ _ int }

// OpusConfig is what an Opus is made of.
type OpusConfig struct {
	Dial helper.Dialer

	// Heard takes frames of 16 kHz, annotated, in the order of each speaker's packets.
	// The frame is valid until it returns. It must not wait.
	Heard func(speaker uint32, f *audio.Frame)

	// Encoded takes Opus frames of 20 ms, 48 kHz stereo at 64 kb/s, in order. The bytes
	// are valid until it returns. It may wait, until ctx ends, which Drop does too.
	Encoded func(ctx context.Context, opus []byte)
}

// NewOpus returns one that does nothing until it runs.
func NewOpus(cfg OpusConfig) *Opus { return nil }

// Run keeps a helper until ctx ends or the helper dies. Decoders are made when a
// speaker's first packet comes.
func (o *Opus) Run(ctx context.Context) error { return nil }

// Decode hands over a batch. It does not wait: what a busy helper has not taken is
// dropped at two seconds, and counted.
func (o *Opus) Decode(batch []Packet) {}

// Forget gives up a speaker's decoder.
func (o *Opus) Forget(speaker uint32) {}

// Encode hands over mono samples at a rate, 8 to 48 kHz, which are encoded when 20 ms
// of them are there. It waits for a helper, and while 400 ms are ahead of Encoded. Flush
// fills up the last frame with silence, and waits until Encoded has taken it. Both are
// for one goroutine at a time. Drop gives up what is ahead: when it returns, Encoded is
// not called with it any more. It must not be called from within Encoded.
func (o *Opus) Encode(ctx context.Context, rate int, pcm []int16) error { return nil }
func (o *Opus) Flush(ctx context.Context) error                         { return nil }
func (o *Opus) Drop()                                                   {}

// Counts are what has become of everything since the Opus was made.
type Counts struct {
	Packets int64 // that were handed over to be decoded
	Lost    int64 // that were missing, and are silence
	Damaged int64 // that could not be decoded, and are silence
	Refused int64 // that cannot be Opus, or are encrypted, and are silence
	Dropped int64 // because the helper was busy or away
}

// Counts returns them.
func (o *Opus) Counts() Counts { return Counts{} }
