package helper

import (
	"log/slog"
	"slices"
)

// The helpers of earshot: the programs that hold C.
const (
	SoundProgram  = "earshot-sound"
	SpeechProgram = "earshot-speech"
	CameraProgram = "earshot-camera"
)

// NewDialer returns what starts a helper of earshot. What it writes of itself goes to log, of
// all that are started together no more than of one.
func NewDialer(log *slog.Logger, name string, args ...string) Dialer {
	said := new(LogLimit)
	return func() (Link, error) {
		p, err := Start(Command{Name: name, Args: args, Log: log, Said: said, Net: name == CameraProgram || slices.Contains(args, "media")})
		if err != nil {
			return nil, err // not p, which is nil but not a nil Link
		}
		return p, nil
	}
}
