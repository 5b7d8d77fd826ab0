// Package wire defines the messages between the daemon and the helper earshot-camera, over the
// pipes of package helper: one process per camera.
//
// The daemon sends Open first, and the helper answers Ready, or a [helper.Fault] and ends. From then on it
// sends an Observation for each picture that it examines, a few per second at most, and End when a
// recording is over. A Look is answered by Picture, whose bytes come as messages of sound with the
// number of the request as their stream, and end with an empty message; the two pipes are not
// ordered with each other. For a missing picture, no sound comes; nothing else is sent as sound.
//
// Times are ages: how long before the message was sent something happened. So the two processes
// need no common clock, and an impossible age is refused.
//
// What happens when a reader is slow: control is read at once by both sides, and a
// helper whose observations are not read is hung. One picture is sent at a time;
// requests beyond MaxRequests are refused.
package wire

import (
	"fmt"
	"time"

	"earshot"
	"earshot/internal/helper"
)

// The names of the messages of control.
const (
	OpenName        = "open"
	LookName        = "look"
	ReadyName       = "ready"
	FaultName       = "fault"
	ObservationName = "observation"
	PictureName     = "picture"
	EndName         = "end"
)

// The limits of what is accepted.
const (
	MaxSide     = 4096             // of a picture, in pixels
	MaxSource   = 2048             // bytes of the name of a source
	MaxMasks    = 16               // regions
	MaxRequests = 4                // looks at a time
	MaxChunk    = 32 << 10         // bytes of a picture in one message
	MaxAge      = time.Minute      // of a picture
	Memory      = 10 * time.Second // how far back pictures are kept for a Look
)

// Open says which camera, and how to look.
type Open struct {
	// Source is the index or the path of a device, the path of a file, or an address that begins
	// with rtsp://, rtsps://, http:// or https://.
	Source string `json:"source"`

	Width  int `json:"width"`  // requested; the camera may have another
	Height int `json:"height"` // likewise

	// Idle and Active are how many pictures per second are examined while nothing moves, and while
	// something does.
	Idle   float64 `json:"idle"`
	Active float64 `json:"active"`

	Masks []earshot.Box `json:"masks,omitempty"` // areas that are blackened before anything looks
	Loop  bool          `json:"loop,omitempty"`  // a recording begins again at its end

	// Unpaced reads a recording as fast as it can be, for tests and figures.
	Unpaced bool `json:"unpaced,omitempty"`
}

// Ready says that pictures come.
type Ready struct {
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Rate   float64 `json:"rate"` // pictures a second that the source has, 0 if it does not say
}

// An Observation is what the helper finds in one picture.
type Observation struct {
	Number uint64        `json:"number"` // of the picture, counted from 1
	Age    time.Duration `json:"age"`    // since it was taken
	Width  int           `json:"width"`
	Height int           `json:"height"`

	Brightness float64       `json:"brightness"`     // mean, 0 to 1
	Contrast   float64       `json:"contrast"`       // standard deviation of brightness, 0 to 1
	Motion     float64       `json:"motion"`         // share of the picture that moved since the last, 0 to 1
	Novelty    float64       `json:"novelty"`        // share that differs from the baseline, 0 to 1
	Cut        bool          `json:"cut,omitempty"`  // the whole picture has changed
	Same       time.Duration `json:"same,omitempty"` // how long the pictures have been identical to the last bit

	// Detected says that the detectors ran, and Seen is what they found. They run when something
	// moves, at most once a second, and some times afterwards: see scenery.Looks.
	Detected bool           `json:"detected,omitempty"`
	Seen     []earshot.Seen `json:"seen,omitempty"`

	Cost Cost `json:"cost"` // what it cost the helper
}

// A Cost is how long the stages took.
type Cost struct {
	Read   time.Duration `json:"read"`   // take and decode
	Motion time.Duration `json:"motion"` // make it small, compare it
	People time.Duration `json:"people"`
	Faces  time.Duration `json:"faces"`
	Codes  time.Duration `json:"codes"`
	Keep   time.Duration `json:"keep"` // encode it for a later Look
}

// A Look asks for a picture.
type Look struct {
	Request uint32        `json:"request"`         // a number that is never used again
	Age     time.Duration `json:"age"`             // how long ago the picture was taken that is meant; 0 is the next that comes
	Boxes   bool          `json:"boxes,omitempty"` // draw what was seen into it
}

// A Picture announces the sound of its request, before or after it.
type Picture struct {
	Request uint32         `json:"request"`
	Bytes   int            `json:"bytes"` // 0: no picture that old, or none yet
	Age     time.Duration  `json:"age"`
	Width   int            `json:"width"`
	Height  int            `json:"height"`
	Seen    []earshot.Seen `json:"seen,omitempty"`
}

// DecodeObservation decodes one, and refuses what no correct helper sends.
func DecodeObservation(c helper.Control) (o Observation, err error) {
	if err := c.Decode(&o); err != nil {
		return o, err
	}
	if !o.Valid() {
		return Observation{}, fmt.Errorf("%w: an invalid observation", helper.ErrProtocol)
	}
	return o, nil
}

// Valid reports whether o can be one.
func (o Observation) Valid() bool {
	ok := size(o.Width, o.Height) && age(o.Age) && o.Same >= 0 && o.Number > 0 &&
		share(o.Brightness) && share(o.Contrast) && share(o.Motion) && share(o.Novelty) && things(o.Seen)
	for _, d := range []time.Duration{o.Cost.Read, o.Cost.Motion, o.Cost.People, o.Cost.Faces, o.Cost.Codes, o.Cost.Keep} {
		ok = ok && d >= 0
	}
	return ok
}

// DecodePicture decodes one, and refuses what no correct helper sends.
func DecodePicture(c helper.Control) (p Picture, err error) {
	if err := c.Decode(&p); err != nil {
		return p, err
	}
	if ok := p.Bytes >= 0 && p.Bytes <= earshot.MaxPicture && (p.Bytes == 0 || size(p.Width, p.Height)) && age(p.Age) && things(p.Seen); !ok {
		return Picture{}, fmt.Errorf("%w: an invalid picture", helper.ErrProtocol)
	}
	return p, nil
}

// DecodeReady decodes one, and refuses what no correct helper sends.
func DecodeReady(c helper.Control) (r Ready, err error) {
	if err := c.Decode(&r); err != nil {
		return r, err
	}
	if !size(r.Width, r.Height) || !(r.Rate >= 0 && r.Rate <= 1000) {
		return Ready{}, fmt.Errorf("%w: an invalid camera", helper.ErrProtocol)
	}
	return r, nil
}

func share(x float64) bool { return x >= 0 && x <= 1 }

func size(width, height int) bool {
	return width > 0 && width <= MaxSide && height > 0 && height <= MaxSide
}

func age(d time.Duration) bool { return d >= 0 && d <= MaxAge }

func things(seen []earshot.Seen) bool {
	for _, s := range seen {
		known := s.What == earshot.Person || s.What == earshot.Face || s.What == earshot.Code
		if !known || !s.Box.Valid() || !share(s.Sure) || len(s.Text) > earshot.MaxCode {
			return false
		}
	}
	return len(seen) <= earshot.MaxSeen
}
