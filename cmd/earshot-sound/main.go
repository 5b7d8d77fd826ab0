//go:build cgo

// Command earshot-sound is the helper that holds the sound card: a thin loop between PortAudio and
// the daemon, over the protocol of package helper. Package sound, its client, defines the
// messages; package deck decides what the loudspeaker is given; package pulse asks the sound
// server where streams really end.
//
// What happens when a reader is slow: the microphone is always read; its newest frames wait, for
// [sound.Late], and the next one says how many are missing. Sound for the loudspeaker waits at its
// sender, by credit.
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

// environment holds settings that the libraries take only from there.
var environment = map[string]string{
	"PA_ALSA_PLUGHW":       "1", // devices that do not know our rate are adapted
	"PULSE_PROP":           "application.name=earshot",
	"JACK_NO_START_SERVER": "1", // PortAudio looks for one, and must not make one
}
