package testkit_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAwait(t *testing.T) {
	for _, tt := range []struct {
		name            string
		after, deadline time.Duration
		most            time.Duration // how long it may take to notice
	}{
		{"at once", 0, time.Second, 0},
		{"at once without patience", 0, 0, 0},
		{"soon", 3 * time.Millisecond, time.Second, 3 * time.Millisecond},
		{"late", 10 * time.Second, time.Minute, 10*time.Second + 50*time.Millisecond},
		{"on the edge", time.Second, time.Second, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				testkit.Await(t, tt.deadline, "the time to pass", func() bool { return time.Since(began) >= tt.after })
				if took := time.Since(began); took < tt.after || took > tt.most {
					t.Errorf("took %v, want %v to %v", took, tt.after, tt.most)
				}
			})
		})
	}
}

// A failing replaces a test that is expected to fail.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}

func TestAwaitInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failing{TB: t}
		began := time.Now()
		defer func() {
			if recover() != f || f.said != "waited 2s in vain: a server that answers" {
				t.Errorf("said %q", f.said)
			}
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("gave up after %v", took)
			}
		}()
		testkit.Await(f, 2*time.Second, "a server that answers", func() bool { return false })
		t.Error("did not fail")
	})
}

func TestReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := make(chan string)
		go func() {
			time.Sleep(time.Minute - 1)
			ch <- "late"
			close(ch)
		}()
		if got := testkit.Receive(t, time.Minute, "a word", ch); got != "late" {
			t.Errorf("received %q", got)
		}
		if got := testkit.Receive(t, time.Second, "the end", ch); got != "" {
			t.Errorf("received %q of a channel that is closed", got)
		}
	})
}

func TestFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		testkit.Finish(t, time.Minute, "a nap", func() { time.Sleep(time.Second) })
		if took := time.Since(began); took != time.Second {
			t.Errorf("returned after %v", took)
		}
	})
}

// TestWaitsInVain: the failure tells what was waited for, and where all goroutines are.
func TestWaitsInVain(t *testing.T) {
	for name, wait := range map[string]func(t testing.TB, over chan struct{}){
		"receive": func(t testing.TB, over chan struct{}) {
			testkit.Receive(t, 2*time.Second, "the end of the helper", over)
		},
		"finish": func(t testing.TB, over chan struct{}) {
			testkit.Finish(t, 2*time.Second, "the end of the helper", func() { <-over })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, over, began := &failing{TB: t}, make(chan struct{}), time.Now()
				defer func() {
					if recover() != f || !strings.HasPrefix(f.said, "waited 2s in vain: the end of the helper\ngoroutine ") {
						t.Errorf("said %q", f.said)
					}
					if took := time.Since(began); took != 2*time.Second {
						t.Errorf("gave up after %v", took)
					}
					close(over)
					synctest.Wait()
				}()
				wait(f, over)
				t.Error("did not fail")
			})
		})
	}
}
