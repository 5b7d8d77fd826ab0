// Package neural is the daemon's side of the helper earshot-neural: which sets of models are on this
// machine, whether their files are what they should be, and how well they run here. A set is tried in
// a process of its own before it is used, since a file that is damaged ends the process that loads it.
//
// Nothing is read continuously here, so there is no slow reader.
package neural

import "earshot/internal/helper"

// A Result is how well a set runs on this machine, as earshot-neural prints it when it probes.
type Result struct {
	Chunk  int     `json:"chunk,omitempty"` // of one that hears, in samples; see wire.ReadyHear
	Tail   int     `json:"tail,omitempty"`
	Rate   int     `json:"rate,omitempty"`  // of a voice, in samples per second
	First  float64 `json:"first,omitempty"` // of a voice: after how many seconds a short sentence is heard
	Memory int64   `json:"memory"`          // of the process that runs it, at most, in bytes
	Start  float64 `json:"start"`           // how long it takes to load, in seconds
	Speed  float64 `json:"speed"`           // the real-time factor: seconds of computing for a second of sound

	Fault *helper.Fault `json:"fault,omitempty"` // why it cannot be used, if that can be said
}

const (
	// fast is the speed from which a set is too slow for who did not choose it: beside it, the machine
	// has other things to do.
	fast = 0.5

	// slowStart is how many seconds to the first sound of a sentence make a voice too slow for who did
	// not choose it: people take a longer silence for none that is answered.
	slowStart = 0.7
)

// Slow reports whether a set is too slow here for who did not choose it.
func (r Result) Slow() bool { return r.First >= slowStart || r.First == 0 && r.Speed >= fast }
