// Command earshot-replay performs a recorded day again, for earshot replay --day, which
// starts it: what is to be performed comes by standard input, and what came of it goes to
// standard output. See package replay.
//
// It is a program of its own for its clock, which is the one of testing/synctest: the
// runtime's own, and not another that all of the executive would have to be asked to use.
// Package testing is linked into this program alone, and none of its flags are read. It
// needs no model, no device and no network, and writes nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"earshot/replay"
)

func main() {
	if err := replay.Serve(context.Background(), os.Stdin, os.Stdout, bubble); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bubble calls do within a bubble. It takes a test, of which it needs only that there is
// one.
func bubble(do func(settle func())) {
	synctest.Test(new(testing.T), func(*testing.T) { do(synctest.Wait) })
}
