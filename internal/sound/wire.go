package sound

import (
	"earshot"
	"earshot/internal/sound/deck"
)

// Helper is the name of the helper's program.
const Helper = "earshot-sound"

// The client's messages. Every stream has a number of its own, which is not reused, so that late
// messages are recognised.
const (
	SayDevices = "devices" // requests a list of devices.
	SayOpen    = "open"    // with an [Open]
	SayClose   = "close"   // with a [Stream]
	SayPlay    = "play"    // with a [Play]; its sound comes as that of stream Play.Number
	SayDo      = "do"      // with a [Do]
	SayFinish  = "finish"  // with a [Finish]
)

// The helper's messages. Frames come as the sound of their stream.
const (
	SayReady  = "ready"  // the helper has found a sound system
	SayDown   = "down"   // with a [Fault]: there is none, or it is gone; the helper ends
	SayListed = "listed" // with [Devices]
	SayOpened = "opened" // with an [Opened]
	SayLost   = "lost"   // with a [Lost]: it did not open, or is gone
	SayMoved  = "moved"  // with an [Opened]: the server has moved the stream
	SayClosed = "closed" // with a [Stream]
	SayPlayed = "played" // with a [Played]
)

// An Open opens a stream: a capture, or a playback.
type Open struct {
	Number uint32  `json:"number"`
	Output bool    `json:"output,omitempty"`
	Device string  `json:"device,omitempty"` // empty means the system's default
	Volume float64 `json:"volume,omitempty"` // of an output, 0 to 1
	Rate   int     `json:"rate,omitempty"`   // of an output, samples a second; 0 is [audio.Rate]
}

// A Stream names a stream.
type Stream struct {
	Number uint32 `json:"number"`
}

// An Opened says which device a stream is on.
type Opened struct {
	Number uint32 `json:"number"`
	Device string `json:"device"`
}

// A Lost says why a stream has ended.
type Lost struct {
	Number uint32 `json:"number"`
	Fault
}

// A Play begins a speech on an open output, which the helper opens anew if its rate is another.
type Play struct {
	Output uint32 `json:"output"`
	Number uint32 `json:"number"`
	Rate   int    `json:"rate"` // samples a second
}

// A Do is a control for a speech.
type Do struct {
	Number  uint32          `json:"number"`
	Control earshot.Control `json:"control"`
}

// A Finish says how many samples a speech has.
type Finish struct {
	Number  uint32 `json:"number"`
	Samples int64  `json:"samples"`
}

// A Played says how far a speech has come.
type Played = deck.Report
