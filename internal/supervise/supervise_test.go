package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/supervise"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A diary keeps the notices, with the time since it began.
type diary struct {
	began time.Time
	lines []string
}

func (d *diary) report(n earshot.Notice) {
	line := fmt.Sprintf("%v %s: %s", time.Since(d.began), n.Key, n.Text)
	if n.Cure != "" {
		line += " -> " + n.Cure
	}
	if n.Over {
		line += " (over)"
	}
	d.lines = append(d.lines, line)
}

func (d *diary) want(t *testing.T, want ...string) {
	t.Helper()
	if fmt.Sprint(d.lines) != fmt.Sprint(want) {
		t.Errorf("reported\n%q\nwant\n%q", d.lines, want)
	}
}

// late makes every wait as long as possible.
func late() float64 { return 1 }

// A curable error knows its cure.
type curable struct{ error }

func (curable) Cure() string { return "plug it in" }

func TestRunSaysItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{began: time.Now()}
		runs := 0
		err := supervise.Run(t.Context(), "mic", func(ctx context.Context) error {
			runs++
			switch runs {
			case 1, 2, 3:
				return fmt.Errorf("opening: %w", curable{errors.New("no such device")})
			case 4:
				time.Sleep(time.Minute)
				return io.ErrUnexpectedEOF
			case 5:
				time.Sleep(time.Minute)
			}
			return nil
		}, supervise.Config{Report: d.report, Jitter: late})
		if err != nil || runs != 5 {
			t.Errorf("ended with %v after %d runs, want nil after 5", err, runs)
		}
		d.want(t,
			"0s mic: mic was lost: opening: no such device -> plug it in",
			"8.5s mic: mic is back (over)", // 0.5s + 1s + 2s of waiting, then 5s without a fault
			"1m3.5s mic: mic was lost: unexpected EOF",
			"1m9s mic: mic is back (over)",
		)
	})
}

// TestRunOfWhatIsLostAlready: people know of the loss, so only the return is reported.
func TestRunOfWhatIsLostAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{began: time.Now()}
		runs := 0
		_ = supervise.Run(t.Context(), "mic", func(context.Context) error {
			if runs++; runs < 3 {
				return io.EOF
			}
			time.Sleep(time.Minute)
			return nil
		}, supervise.Config{Report: d.report, Jitter: late, Lost: true})
		d.want(t, "6.5s mic: mic is back (over)")
	})
}

func TestRunWaits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		jitter float64
		want   []time.Duration
	}{
		{"longest", 1, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second}},
		{"shortest", 0, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []time.Duration
				last := time.Now()
				runs := 0
				_ = supervise.Run(t.Context(), "mic", func(context.Context) error {
					if runs++; runs > 1 {
						got = append(got, time.Since(last))
					}
					last = time.Now()
					if runs > len(tt.want) {
						return nil
					}
					return io.EOF
				}, supervise.Config{Jitter: func() float64 { return tt.jitter }})
				if fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("waited %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestRunEnds(t *testing.T) {
	unsupported := fmt.Errorf("no camera in this build: %w", errors.ErrUnsupported)
	for _, tt := range []struct {
		name string
		run  func(context.Context) error
		want error
		say  []string
	}{
		{"by itself", func(context.Context) error { return nil }, nil, nil},
		{"never begun", func(context.Context) error { return unsupported }, unsupported,
			[]string{"0s eye: eye cannot work here: no camera in this build: unsupported operation"}},
		{"told to, with an error", func(ctx context.Context) error { <-ctx.Done(); return io.EOF }, nil, nil},
		{"told to, slowly", func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Hour); return ctx.Err() }, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				d := &diary{began: time.Now()}
				returned := false
				err := supervise.Run(ctx, "eye", func(ctx context.Context) error {
					defer func() { returned = true }()
					return tt.run(ctx)
				}, supervise.Config{Report: d.report})
				if !returned {
					t.Error("returned before what it supervises")
				}
				if !errors.Is(err, tt.want) {
					t.Errorf("ended with %v, want %v", err, tt.want)
				}
				d.want(t, tt.say...)
			})
		})
	}
}

func TestRunEndsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := supervise.Run(ctx, "mic", func(context.Context) error { return io.EOF }, supervise.Config{Jitter: late}); err != nil {
			t.Errorf("ended with %v, want nil", err)
		}
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("ended after %v, want 10ms", took)
		}
	})
}

func TestRunNoticesTheSilentlyDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{began: time.Now()}
		pulse := new(supervise.Pulse)
		runs := 0
		_ = supervise.Run(t.Context(), "mic", func(ctx context.Context) error {
			runs++
			for i := 0; i < 3*runs; i++ { // the first run hears for three seconds, the second for six, …
				time.Sleep(time.Second)
				pulse.Beat()
			}
			if runs == 3 {
				return nil
			}
			<-ctx.Done()
			return nil // nil after cancelling, so this does not count as its own end
		}, supervise.Config{Report: d.report, Jitter: late, Deaf: 2 * time.Second, Pulse: pulse})
		if runs != 3 {
			t.Errorf("ran %d times, want 3", runs)
		}
		d.want(t,
			"5s mic: mic was lost: it sent nothing for 2s",
			"10.5s mic: mic is back (over)",
			"13.5s mic: mic was lost: it sent nothing for 2s",
			"19s mic: mic is back (over)",
		)
	})
}

// TestRunIsNeverBackWithoutABeat: a part that opens and stays deaf has not come back, however long
// it is open.
func TestRunIsNeverBackWithoutABeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		d := &diary{began: time.Now()}
		_ = supervise.Run(ctx, "mic", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, supervise.Config{Report: d.report, Deaf: 10 * time.Second, Pulse: new(supervise.Pulse)})
		d.want(t, "10s mic: mic was lost: it sent nothing for 10s")
	})
}

// TestRunWaitsForWhatItWorksWith: a part that waits for a device is back only when it has shown
// that it has one.
func TestRunWaitsForWhatItWorksWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, pulse := &diary{began: time.Now()}, new(supervise.Pulse)
		_ = supervise.Run(t.Context(), "mic", func(context.Context) error {
			time.Sleep(time.Hour + time.Second)
			pulse.Beat()
			time.Sleep(time.Minute)
			return nil
		}, supervise.Config{Report: d.report, Lost: true, Pulse: pulse})
		d.want(t, "1h0m5s mic: mic is back (over)")
	})
}

// TestRunThousandCycles: however a part fails, an outage makes two lines, and nothing is left
// behind.
func TestRunThousandCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const cycles = 1000
		pulse := new(supervise.Pulse)
		before := runtime.NumGoroutine()
		lost, back, most, runs := 0, 0, 0, 0
		_ = supervise.Run(t.Context(), "mic", func(ctx context.Context) error {
			runs++
			most = max(most, runtime.NumGoroutine())
			if runs > 2*cycles {
				return nil
			}
			if runs%2 == 0 { // every other run works for a while
				for range 12 {
					time.Sleep(time.Second)
					pulse.Beat()
				}
				return io.EOF
			}
			switch runs / 2 % 3 {
			case 0:
				return errors.New("cannot be opened")
			case 1:
				return io.EOF
			}
			<-ctx.Done()
			return ctx.Err()
		}, supervise.Config{Deaf: 2 * time.Second, Pulse: pulse, Report: func(n earshot.Notice) {
			if n.Over {
				back++
			} else {
				lost++
			}
		}})
		if lost < cycles || lost != back {
			t.Errorf("%d losses and %d returns in %d cycles, want as many of each", lost, back, cycles)
		}
		if most > before+2 {
			t.Errorf("%d goroutines at most, %d before", most, before)
		}
	})
}

// TestReportAlternates: whatever is supervised, each loss is followed by a return before the next
// loss, and waits keep their bounds.
func TestReportAlternates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type run struct {
			lasts, every time.Duration
		}
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) run {
			return run{
				lasts: time.Duration(rapid.IntRange(0, 20_000).Draw(t, "lasts")) * time.Millisecond,
				every: time.Duration(rapid.IntRange(1, 5_000).Draw(t, "every")) * time.Millisecond,
			}
		}), 1, 30).Draw(rt, "runs")
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			pulse := new(supervise.Pulse)
			lost := false
			var ended time.Time
			i := 0
			_ = supervise.Run(t.Context(), "mic", func(ctx context.Context) error {
				if wait := time.Since(ended); i > 0 && (wait < 250*time.Millisecond || wait > 30*time.Second) {
					faults = append(faults, fmt.Sprintf("run %d began after %v", i, wait))
				}
				defer func() { ended = time.Now() }()
				if i == len(runs) {
					return nil
				}
				r := runs[i]
				i++
				for end := time.Now().Add(r.lasts); time.Now().Before(end); pulse.Beat() {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(min(r.every, time.Until(end))):
					}
				}
				return io.EOF
			}, supervise.Config{Deaf: 3 * time.Second, Pulse: pulse, Report: func(n earshot.Notice) {
				if n.Over != lost {
					faults = append(faults, "out of turn: "+n.Text)
				}
				lost = !n.Over
			}})
			if lost {
				faults = append(faults, "its own end left the loss standing")
			}
		})
		if len(faults) > 0 {
			rt.Fatal(faults)
		}
	})
}
