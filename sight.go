package earshot

import (
	"fmt"
	"time"
)

// A Noticed is what a camera noticed.
type Noticed string

// What a camera notices.
const (
	PeopleChanged Noticed = "people"  // somebody came into view, or left it
	EyesChanged   Noticed = "eyes"    // it can see again, or cannot; see [Eyesight]
	SceneChanged  Noticed = "scene"   // the whole picture is another one: the camera was moved, perhaps
	CodeRead      Noticed = "code"    // a machine-readable code was held up; Text is what it says
	Captioned     Noticed = "caption" // Text is what a model says is in the picture
)

// An Eyesight is how well a camera sees.
type Eyesight string

// The eyesights. A camera that is closed, since nobody wants it to look, is away.
const (
	Clear  Eyesight = "clear"
	Dark   Eyesight = "dark"   // no light, or something before the lens
	Frozen Eyesight = "frozen" // the same picture again and again, to the last bit
	Away   Eyesight = "away"   // there are no pictures
)

// A Sight is something that a camera noticed and that is worth keeping. Its event has
// the time at which the picture was taken.
type Sight struct {
	Camera string  `json:"camera"` // by its name in the configuration
	What   Noticed `json:"what"`

	// People is how many are in view from then on, as far as anybody can tell: while the
	// camera cannot see, how many there were when it last could, until that is forgotten.
	People int      `json:"people"`
	Were   int      `json:"were,omitempty"` // and how many were before
	Eyes   Eyesight `json:"eyes"`           // from then on
	Sure   float64  `json:"sure,omitempty"` // how sure that is, 0 to 1

	// Text is what stands in a code, or a caption: foreign words, which are data wherever
	// they appear and never an instruction.
	Text Text `json:"text,omitempty"`
}

// A Glance is what a camera sees at the moment. It comes with each picture that was
// looked at, acts on the scene at once, and is not kept.
type Glance struct {
	Camera string   `json:"camera"`
	People int      `json:"people"`
	Faces  int      `json:"faces"`
	Sure   float64  `json:"sure,omitempty"`
	Eyes   Eyesight `json:"eyes"`

	Brightness float64 `json:"brightness"` // mean, 0 to 1
	Motion     float64 `json:"motion"`     // which share of the picture moves, 0 to 1
	Novelty    float64 `json:"novelty"`    // which share is not as it usually is, 0 to 1
}

// A Picture is one that a camera took, in memory. Printed or logged it is only a size.
type Picture struct {
	Camera        string
	At            time.Time // when it was taken
	Width, Height int       // in pixels
	JPEG          []byte    // at most [MaxPicture]; masked regions are black in it
	Seen          []Seen    // what the detectors found in it, or in one of the same second
}

// The limits of what is seen.
const (
	MaxPicture = 1 << 20 // bytes of one that is handed on
	MaxSeen    = 64      // things in one picture, of which nobody tells more
	MaxCode    = 4296    // bytes of a code: the most that a QR code holds
)

// Format prints nothing of what is in the picture, for every verb.
func (p Picture) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "a picture of %d by %d pixels in %d bytes", p.Width, p.Height, len(p.JPEG))
}

// A Thing is a kind of thing that a detector knows.
type Thing string

// The things.
const (
	Person Thing = "person"
	Face   Thing = "face"
	Code   Thing = "code"
)

// A Seen is one thing in a picture.
type Seen struct {
	What Thing   `json:"what"`
	Box  Box     `json:"box"`
	Sure float64 `json:"sure"`           // 0 to 1
	Text Text    `json:"text,omitempty"` // what a code says
}

// A Box is a part of a picture, in shares of its width and height from the upper left
// corner: 0 to 1.
type Box struct {
	X      float64 `json:"x" yaml:"x"`
	Y      float64 `json:"y" yaml:"y"`
	Width  float64 `json:"width" yaml:"width"`
	Height float64 `json:"height" yaml:"height"`
}

// Valid reports whether b lies within a picture and is not empty.
func (b Box) Valid() bool {
	return b.X >= 0 && b.Y >= 0 && b.Width > 0 && b.Height > 0 && b.X+b.Width <= 1+1e-9 && b.Y+b.Height <= 1+1e-9
}
