//go:build cgo

// Command earshot-sound is the helper that holds the sound card: a thin loop
// between PortAudio and the daemon, over the protocol of package helper. What is
// said there stands in package sound, which is its client; what the loudspeaker
// is given is decided by package deck; where streams really end is asked of the
// sound server by package pulse.
//
// What happens when a reader is slow: the microphone is read whatever happens;
// of its frames the newest wait, for [sound.Late], and the next one says how many
// are missing. Sound for the loudspeaker waits at its sender, by credit.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"earshot/internal/helper"
	"earshot/internal/sound"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout)) }

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, in, out *os.File) int {
	for name, value := range environment {
		os.Setenv(name, value)
	}
	hushALSA()
	err := helper.Serve(ctx, sound.Helper, helper.Stdio(in, out), func(ctx context.Context, s *helper.Server) error {
		if slices.Equal(args, []string{sound.RehearseArg}) {
			return rehearse(s)
		}
		return newCard(s).work(ctx)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", sound.Helper, err)
		return 1
	}
	return 0
}

// environment is how the libraries are told what they cannot be asked.
var environment = map[string]string{
	"PA_ALSA_PLUGHW":       "1", // devices that do not know our rate are adapted
	"PULSE_PROP":           "application.name=earshot",
	"JACK_NO_START_SERVER": "1", // PortAudio looks for one, and must not make one
}
