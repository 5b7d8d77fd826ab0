package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"earshot/replay"
)

// beDayHelper makes this test binary act as cmd/earshot-replay.
func beDayHelper() {
	code := 1
	defer func() { os.Exit(code) }() // deferred, because the bubble ends this goroutine when the race detector has found something
	err := replay.Serve(context.Background(), os.Stdin, os.Stdout, func(do func(func())) {
		synctest.Test(new(testing.T), func(*testing.T) { do(synctest.Wait) })
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = 0
}
