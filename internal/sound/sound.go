// Package sound is the one client of earshot-sound, the helper that holds the
// sound card: [Card.Input] is a microphone, [Card.Output] a loudspeaker.
//
// When the helper or the sound server fails, [Card.Run] returns the error, and
// whoever supervises it reports the outage once; inputs and outputs that were
// open end with [ErrCard], and who opens a new one waits until the card is
// back. When one device goes, only its input or output ends, with a *[Fault].
//
// What happens when a reader is slow: of captured frames the newest are kept,
// for [Late], and the next one says how many are missing; what is played waits for
// credit, so that no more than 200 ms are ahead; positions are told from the
// goroutine that reads what the helper says, and must be taken at once.
package sound

import (
	"errors"
	"strings"
	"time"
)

// Late is how late whoever takes captured frames may be, on either side of the
// pipe, before any are lost.
const Late = 5 * time.Second

// Errors of inputs and outputs, beside *[Fault].
var (
	// ErrCard is the end of whatever was open when the card went. The reason is
	// told once, by [Card.Run].
	ErrCard = errors.New("the sound card is gone")

	// ErrBusy is a second input, output or speech beside the first.
	ErrBusy = errors.New("in use already")

	// ErrOver is sound for a speech that is over.
	ErrOver = errors.New("the speech is over")
)

// A Fault is what is wrong with a device or with the sound server, as the
// helper found it.
type Fault struct {
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"` // the command or the step that mends it

	// Absent says that there is no device at all.
	Absent bool `json:"absent,omitempty"`
}

// Error says what is wrong.
func (f *Fault) Error() string { return f.Text }

// Cure returns what to do about it; empty if that is not known.
func (f *Fault) Cure() string { return f.Fix }

// A Device is one that can be opened, by its Name.
type Device struct {
	Name        string `json:"name"`        // stays the same when others come and go
	Description string `json:"description"` // for people
	Default     bool   `json:"default,omitempty"`

	// Monitors is the output whose sound this input repeats, if it is no
	// microphone.
	Monitors string `json:"monitors,omitempty"`

	// Cleaned says of an input that the sound server removes from it what comes
	// back of the loudspeaker.
	Cleaned bool `json:"cleaned,omitempty"`
}

// Devices are all that there are.
type Devices struct {
	Server  string   `json:"server"` // what they were asked of, such as "PulseAudio"
	Inputs  []Device `json:"inputs"`
	Outputs []Device `json:"outputs"`
}

// StableName returns the name of a PortAudio device without its place on the
// bus, which changes with the order of plugging in.
func StableName(name string) string {
	if at := strings.LastIndex(name, " (hw:"); at > 0 && strings.HasSuffix(name, ")") {
		return name[:at]
	}
	return name
}
