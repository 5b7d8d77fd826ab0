package audio_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// A crystal is the clock of a device.
type crystal struct {
	ppm    float64       // how much too fast it is
	off    time.Duration // by how much it is late
	jitter time.Duration // largest error of a reading, in either direction
	r      *rand.Rand
	n      int64
	pace   audio.Pace
}

var dawn = time.Unix(1000, 0)

// at returns when sample n is really due.
func (c *crystal) at(n int64) time.Time {
	return dawn.Add(c.off + time.Duration(float64(n)/audio.Rate/(1+c.ppm*1e-6)*float64(time.Second)))
}

// run lets the device count for some time, read block by block.
func (c *crystal) run(d time.Duration, block int64) {
	for end := c.n + int64(d.Seconds()*audio.Rate); c.n < end; c.n += block {
		wrong := time.Duration(0)
		if c.jitter > 0 {
			wrong = time.Duration(c.r.Int64N(2*int64(c.jitter))) - c.jitter
		}
		c.pace.Note(c.n, c.at(c.n).Add(wrong))
	}
}

// wrong returns by how much the pace errs about sample n.
func (c *crystal) wrong() time.Duration { return c.pace.Time(float64(c.n)).Sub(c.at(c.n)).Abs() }

func (c *crystal) ppmWrong() float64 { return math.Abs((c.pace.Speed()-1)*1e6 - c.ppm) }

// TestPace: whatever the drift, and however wrong each reading is, after two minutes the speed of
// the device is known, and the times of its samples to a millisecond or two. Time and Sample agree
// with each other.
func TestPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := crystal{
			ppm:    rapid.Float64Range(-150, 150).Draw(t, "ppm"),
			off:    time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "off")),
			jitter: time.Duration(rapid.Int64Range(0, int64(10*time.Millisecond)).Draw(t, "jitter")),
			r:      rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
		}
		c.run(2*time.Minute, int64(rapid.SampledFrom([]int{160, 320}).Draw(t, "block")))
		if off := c.ppmWrong(); off > 12 {
			t.Errorf("the speed is wrong by %.1f ppm", off)
		}
		if off := c.wrong(); off > 2*time.Millisecond {
			t.Errorf("it is wrong by %v", off)
		}
		if n := c.pace.Sample(c.pace.Time(float64(c.n))); math.Abs(n-float64(c.n)) > 0.01 {
			t.Errorf("sample %d is due when %v is", c.n, n)
		}
	})
}

// TestPaceAtOnce: the first reading is believed until there are more.
func TestPaceAtOnce(t *testing.T) {
	c := crystal{r: rand.New(rand.NewPCG(1, 2))}
	if c.pace.Known() {
		t.Error("it knows something at the beginning")
	}
	c.run(20*time.Millisecond, 320)
	if off := c.wrong(); !c.pace.Known() || off > time.Microsecond {
		t.Errorf("after one reading it is wrong by %v", off)
	}
}

// TestPaceLeaps: after a stutter, the line moves within two seconds, or at once if it is told of
// it. What is known of the speed stays.
func TestPaceLeaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := crystal{
			ppm: rapid.Float64Range(-100, 100).Draw(t, "ppm"), jitter: 3 * time.Millisecond,
			r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
		}
		c.run(2*time.Minute, 320)
		for range rapid.IntRange(1, 5).Draw(t, "leaps") {
			by := time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(time.Second)).Draw(t, "by"))
			if rapid.Bool().Draw(t, "back") && c.off > 0 {
				by = -by
			}
			c.off += by
			if rapid.Bool().Draw(t, "told") {
				c.pace.Leap()
				c.run(100*time.Millisecond, 320)
			} else {
				c.run(3*time.Second, 320)
			}
			if off := c.wrong(); off > 4*time.Millisecond {
				t.Errorf("after a leap of %v it is wrong by %v", by, off)
			}
			c.run(10*time.Second, 320)
			if off := c.ppmWrong(); off > 25 {
				t.Errorf("after a leap of %v the speed is wrong by %.1f ppm", by, off)
			}
		}
	})
}

// TestPaceBadSecond: a machine that stands still for a second does not change what is known about
// its devices.
func TestPaceBadSecond(t *testing.T) {
	c := crystal{r: rand.New(rand.NewPCG(1, 2)), jitter: time.Millisecond}
	c.run(time.Minute, 320)
	c.off += 300 * time.Millisecond
	c.run(time.Second, 320)
	c.off -= 300 * time.Millisecond
	c.run(time.Second, 320)
	if off := c.wrong(); off > time.Millisecond {
		t.Errorf("it is wrong by %v", off)
	}
}

func TestPaceAllocatesNothing(t *testing.T) {
	c := crystal{r: rand.New(rand.NewPCG(1, 2)), jitter: time.Millisecond}
	if n := testing.AllocsPerRun(200, func() { c.run(audio.Time, 320) }); n != 0 {
		t.Errorf("%v allocations a note", n)
	}
}
