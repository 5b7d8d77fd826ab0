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

// The program under test is this test binary: called earshot, it is earshot.
// So the race detector sees the program as well, and nothing has to be built.
func TestMain(m *testing.M) {
	testscript.Main(still{m}, map[string]func(){"earshot": main, hasty: func() {
		restarts = supervise.Config{First: 50 * time.Millisecond, Most: 200 * time.Millisecond, Well: 300 * time.Millisecond}
		main()
	}, newer: func() { release = "99.0.0"; main() }, fakeCamera: beFakeCamera, dayHelper: beDayHelper, soaking: beSoaking})
}

// newer is earshot as it will be once.
const newer = "earshot-newer"

// hasty is earshot as well, which starts again at once what fails.
const hasty = "earshot-hasty"

// still is a test run after which nothing may be left running.
type still struct{ *testing.M }

// Run implements [testscript.TestingM].
func (s still) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // by nohup, which would let every program under test outlast its terminal
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
