package testkit_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"earshot/internal/testkit"
)

// TestNeedProcessors: while four programs for each processor compute all the time, a test in real
// time is skipped, and the skip is counted.
func TestNeedProcessors(t *testing.T) {
	defer testkit.Hurry(time.Second)()
	for range 4 * runtime.NumCPU() {
		loop := testkit.Command(t, "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = loop.Process.Kill()
			testkit.Finish(t, testkit.Patience, "the end of a loop", func() { _ = loop.Wait() }) // the error says that it was killed
		})
	}
	before := testkit.Skips()
	s := &skipping{TB: t}
	func() {
		defer func() { _ = recover() }()
		testkit.NeedProcessors(s)
	}()
	if !strings.Contains(s.said, "of the processors to this one") || testkit.Skips() != before+1 {
		t.Errorf("said %q, and counts %d skips after %d", s.said, testkit.Skips(), before)
	}
}

// A skipping replaces a test that is expected to be skipped.
type skipping struct {
	testing.TB
	said string
}

func (s *skipping) Helper() {}

func (s *skipping) Skipf(format string, args ...any) {
	s.said = fmt.Sprintf(format, args...)
	panic(s)
}
