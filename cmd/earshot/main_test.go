package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"earshot/internal/helper/helpertest"
	"earshot/internal/supervise"
	"earshot/internal/testkit"
)

// TestMain makes this test binary the program under test: when called as earshot, it is earshot. So
// the race detector covers the program as well, and nothing has to be built.
func TestMain(m *testing.M) {
	testscript.Main(still{m}, map[string]func(){"earshot": main, hasty: func() {
		restarts = supervise.Config{First: 50 * time.Millisecond, Most: 200 * time.Millisecond, Well: 300 * time.Millisecond}
		main()
	}, newer: func() { release = "99.0.0"; main() }, fakeCamera: beFakeCamera, dayHelper: beDayHelper, soaking: beSoaking})
}

// newer is the name for earshot with a later version number.
const newer = "earshot-newer"

// hasty is the name for earshot that restarts failed parts at once.
const hasty = "earshot-hasty"

// still runs the tests, and fails if a goroutine is left running afterwards.
type still struct{ *testing.M }

// Run implements [testscript.TestingM].
func (s still) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup, which would let every program under test outlive its terminal
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code := s.M.Run()
	if skips := testkit.Skips(); skips > 0 {
		fmt.Printf("SKIPPED %d of the tests that talk in real time, because other programs kept the processors busy.\n", skips)
	}
	helpertest.Remove()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
