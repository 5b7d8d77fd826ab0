// Package sound is the one client of earshot-sound, the helper that holds the
// sound card: [Card.Input] is a microphone, [Card.Output] a loudspeaker.
//
// When the helper or the sound server fails, [Card.Run] returns the error, and its supervisor
// reports the outage once; open inputs and outputs end with [ErrCard], and opening a new one waits
// until the card is back. When one device goes, only its input or output ends, with a *[Fault].
//
// What happens when a reader is slow: the newest captured frames are kept, for [Late], and the
// next one says how many are missing; played sound waits for credit, so that no more than 200 ms
// are ahead; positions are reported from the goroutine that reads the helper's messages, and must
// be handled at once.
package sound

import (
	"errors"
	"strings"
	"time"
)

// Late is how late a reader of captured frames may be, on either side of the pipe, before any are
// lost.
const Late = 5 * time.Second

// Errors of inputs and outputs, besides *[Fault].
var (
	// ErrCard is the end of everything that was open when the card went. [Card.Run] reports the
	// reason once.
	ErrCard = errors.New("the sound card is gone")

	// ErrBusy refuses a second input, output or speech at the same time.
	ErrBusy = errors.New("in use already")

	// ErrOver is the error of sound for a speech that is over.
	ErrOver = errors.New("the speech is over")
)

// A Fault is what is wrong with a device or with the sound server, as the helper found it.
type Fault struct {
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"` // the command or the step that helps

	// Absent says that there is no device at all.
	Absent bool `json:"absent,omitempty"`
}

// Error says what is wrong.
func (f *Fault) Error() string { return f.Text }

// Cure returns what to do about it; empty if that is not known.
func (f *Fault) Cure() string { return f.Fix }

// A Device is a device that can be opened, by its Name.
type Device struct {
	Name        string `json:"name"`        // stays the same when others come and go
	Description string `json:"description"` // for people
	Default     bool   `json:"default,omitempty"`

	// Monitors is the output whose sound this input repeats; empty for a microphone.
	Monitors string `json:"monitors,omitempty"`

	// Cleaned says that the sound server removes the loudspeaker's echo from this input.
	Cleaned bool `json:"cleaned,omitempty"`
}

// Devices are all devices.
type Devices struct {
	Server  string   `json:"server"` // where the list comes from, such as "PulseAudio"
	Inputs  []Device `json:"inputs"`
	Outputs []Device `json:"outputs"`
}

// StableName returns the name of a PortAudio device without its place on the bus, which depends on
// the order of plugging in.
func StableName(name string) string {
	if at := strings.LastIndex(name, " (hw:"); at > 0 && strings.HasSuffix(name, ")") {
		return name[:at]
	}
	return name
}
