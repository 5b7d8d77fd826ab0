package hear_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/internal/field"
	"earshot/models/hear"
)

// A judge checks the promises of an ear at each step.
type judge struct {
	*hear.Ear
	cfg   hear.Config
	state hear.Edge // Began, Lasts, or None
	ended time.Time // the last frame of the previous utterance
}

// step steps the ear, and returns the promise that it broke, if any.
func (j *judge) step(f *audio.Frame) error {
	e := j.Step(f)
	allowed := map[hear.Edge][]hear.Edge{
		hear.None:  {hear.None, hear.Began},
		hear.Began: {hear.None, hear.Lasts, hear.Nothing},
		hear.Lasts: {hear.None, hear.End, hear.TooLong},
	}
	ok := false
	for _, a := range allowed[j.state] {
		ok = ok || a == e
	}
	if !ok {
		return fmt.Errorf("%v after %v", e, j.state)
	}
	began, lasted, own := j.Utterance()
	switch {
	case own < 0 || own > 1:
		return fmt.Errorf("own is %v", own)
	case e == hear.TooLong && lasted > j.cfg.Longest.Duration()+audio.Time*(1+time.Duration(f.Lost)):
		return fmt.Errorf("too long at %v", lasted)
	case e != hear.None && (lasted <= 0 || began.After(f.At)):
		return fmt.Errorf("%v with an utterance of %v that began at %v", e, lasted, began.Sub(epoch))
	}
	switch e {
	case hear.Began, hear.Lasts:
		j.state = e
		return j.roll(f, began)
	case hear.Nothing:
		j.state = hear.None
	case hear.End, hear.TooLong:
		j.state = hear.None
		if e == hear.TooLong {
			j.ended = f.At
		} else {
			j.ended = began.Add(lasted - audio.Time)
		}
	}
	return nil
}

// roll checks that the pre-roll has everything from the onset until now, nothing twice, nothing of
// the previous utterance, and no more than it should.
func (j *judge) roll(now *audio.Frame, began time.Time) error {
	var last time.Time
	onset := false
	for f := range j.PreRoll() {
		switch {
		case !last.IsZero() && f.At.Sub(last) != audio.Time*(1+time.Duration(f.Lost)):
			return fmt.Errorf("pre-roll jumps from %v to %v", last.Sub(epoch), f.At.Sub(epoch))
		case !f.At.After(j.ended):
			return fmt.Errorf("pre-roll repeats %v", f.At.Sub(epoch))
		case began.Sub(f.At) > j.cfg.PreRoll.Duration()+audio.Time/2:
			return fmt.Errorf("pre-roll reaches back by %v", began.Sub(f.At))
		}
		onset = onset || f.At.Equal(began)
		last = f.At
	}
	if !onset || !last.Equal(now.At) {
		return fmt.Errorf("pre-roll ends at %v, and has the onset: %v", last.Sub(epoch), onset)
	}
	return nil
}

func newJudge(c hear.Config) *judge { return &judge{Ear: hear.New(c), cfg: c} }

// configs draws a valid configuration.
func configs(t *rapid.T) hear.Config {
	c := hear.DefaultConfig()
	c.Duck = rapid.IntRange(1, 5).Draw(t, "duck")
	c.Begin = rapid.IntRange(1, 8).Draw(t, "begin")
	draw := func(key string, from, to float64) field.Seconds {
		return field.Seconds(rapid.Float64Range(from, to).Draw(t, key))
	}
	c.End, c.EndFinished, c.EndOpen = draw("end", 0.1, 0.9), 0.1, draw("open", 1, 2)
	c.PreRoll, c.Longest = draw("roll", 0, 1), draw("longest", 5, 6)
	return c
}

func TestPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := newJudge(configs(t))
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			sign := rapid.SampledFrom([]string{"#", ".", "o", "e", "#.", "#..", "##.", "-", "#-"}).Draw(t, "sign")
			return strings.Repeat(sign, rapid.IntRange(1, 100).Draw(t, "n"))
		}), 1, 10).Draw(t, "runs")
		all := draw(strings.Join(runs, ""))
		open := rapid.IntRange(1, 100).Draw(t, "open")
		for i := range all {
			if i%open == 0 {
				j.Wait(time.Duration(i/open%3) * 500 * time.Millisecond)
			}
			if err := j.step(&all[i]); err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
		}
	})
}

// FuzzEar feeds an ear arbitrary frames.
func FuzzEar(f *testing.F) {
	f.Add([]byte("##########...............###..................----####"), uint16(0))
	f.Add([]byte("#-#-#-#-#-#-#-#-#-#-#-#-#-#-#-#-#-#-#-#"), uint16(65535))
	f.Fuzz(func(t *testing.T, picture []byte, lost uint16) {
		j := newJudge(short())
		at := epoch
		for i, c := range picture {
			frame := kinds['.']
			if c%4 != 0 {
				frame = kinds['#']
			}
			frame.Own = c%8 > 4
			if c >= 250 {
				frame.Lost = lost
			}
			at = at.Add(audio.Time * (1 + time.Duration(frame.Lost)))
			frame.At = at
			if err := j.step(&frame); err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
		}
	})
}

// TestNoAllocation: an ear allocates nothing, whatever it hears.
func TestNoAllocation(t *testing.T) {
	e := hear.New(hear.DefaultConfig())
	all := draw(strings.Repeat("##########....................###............o#o#o##-#####....................", 5))
	i, edges, rolled := 0, 0, 0
	if n := testing.AllocsPerRun(len(all)-1, func() {
		if e.Step(&all[i]) != hear.None {
			edges++
			for range e.PreRoll() {
				rolled++
			}
		}
		i++
	}); n > 0 || edges == 0 || rolled == 0 {
		t.Errorf("%v allocations a frame, with %d edges", n, edges)
	}
}

func BenchmarkStep(b *testing.B) {
	e := hear.New(hear.DefaultConfig())
	all := draw(strings.Repeat("##########....................", 10))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		e.Step(&all[i%len(all)])
		i++
	}
}
