package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"earshot/rerun"
)

// beDayHelper is cmd/earshot-replay.
func beDayHelper() {
	err := rerun.Serve(context.Background(), os.Stdin, os.Stdout, func(do func(func())) {
		synctest.Test(new(testing.T), func(*testing.T) { do(synctest.Wait) })
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
