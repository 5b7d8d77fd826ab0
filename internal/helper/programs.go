package helper

import (
	"log/slog"
	"slices"
)

// The helpers of earshot: the programs that contain C, and the server of the bus, which does not.
const (
	BusProgram    = "earshot-bus"
	SoundProgram  = "earshot-sound"
	SpeechProgram = "earshot-speech"
	CameraProgram = "earshot-camera"
	NeuralProgram = "earshot-neural"
)

// NewDialer returns a dialer for a helper of earshot. Its own output goes to log; all processes
// that it starts share one limit.
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
