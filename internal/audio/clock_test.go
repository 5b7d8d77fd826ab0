package audio_test

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// TestClockIsEven: jitter is removed; drift is kept.
func TestClockIsEven(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const drift = 2 * time.Microsecond // for each frame: 100 ppm
	var c audio.Clock
	began := time.Unix(0, 0)
	last := c.Next(began)
	for i := 1; i < 1000; i++ {
		true := began.Add(time.Duration(i) * (audio.Time + drift))
		at := c.Next(true.Add(time.Duration(r.IntN(15)) * time.Millisecond))
		if apart := at.Sub(last); apart < 18*time.Millisecond || apart > 22*time.Millisecond {
			t.Fatalf("frame %d came %v after the one before", i, apart)
		}
		if off := at.Sub(true); off < -2*time.Millisecond || off > 17*time.Millisecond {
			t.Fatalf("frame %d is off by %v", i, off)
		}
		last = at
	}
}

// TestClockFollows: half a second after a gap the clock is right again.
func TestClockFollows(t *testing.T) {
	var c audio.Clock
	c.Next(time.Unix(0, 0))
	var at, want time.Time
	for i := range 26 {
		want = time.Unix(7, 0).Add(time.Duration(i) * audio.Time)
		at = c.Next(want)
	}
	if !at.Equal(want) {
		t.Errorf("after a gap it says %v, want %v", at, want)
	}
}

// TestClockWhileLate: frames that waited, since their reader had no processor, get the times at
// which they were captured.
func TestClockWhileLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c audio.Clock
		began := time.Unix(0, 0)
		now := began
		for i := range 500 {
			captured := began.Add(time.Duration(i) * audio.Time)
			if now.Before(captured) {
				now = captured
				if i > 0 && rapid.IntRange(0, 10).Draw(t, "one in ten") == 0 {
					now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "late")) * time.Millisecond)
				}
			}
			at := c.Next(now)
			if off := at.Sub(captured); off < 0 || off > 100*time.Millisecond {
				t.Fatalf("frame %d, which was read %v late, is off by %v", i, now.Sub(captured), off)
			}
		}
	})
}

func TestClockNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c audio.Clock
		var last time.Time
		for range 50 {
			at := c.Next(time.Unix(1000, 0).Add(time.Duration(rapid.Int64Range(-1e10, 1e10).Draw(t, "measured"))))
			if at.Before(last) {
				t.Fatalf("%v after %v", at, last)
			}
			last = at
		}
	})
}

// TestClockAfterSleep: after the wall clock was set, or went on alone while the machine slept,
// frames get the new time and not one from long ago.
func TestClockAfterSleep(t *testing.T) {
	for _, slept := range []time.Duration{time.Hour, time.Second, -time.Second, -time.Hour} {
		var c audio.Clock
		now := time.Now()
		for i := range 100 {
			c.Next(now.Add(time.Duration(i) * audio.Time))
		}
		var at time.Time
		for i := range 100 {
			now := stepped(now.Add(time.Duration(100+i)*audio.Time), slept)
			at = c.Next(now)
			if off := at.Round(0).Sub(now.Round(0)); off < -time.Millisecond || off > time.Millisecond {
				t.Fatalf("after a step of %v frame %d is off by %v", slept, i, off)
			}
		}
	}
}

// stepped returns t as if the wall clock had been stepped by whole seconds, and the monotonic clock
// had not. A test cannot do that to the real clocks, so it changes the representation: the seconds
// since 1885 are above the 30 bits of the nanoseconds.
func stepped(t time.Time, by time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(by/time.Second) << 30
	return t
}
