package main

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/audio"
	"earshot/providers/microphone"
)

const (
	// splitGoal is how many of 100 recordings of one voice may be taken for two.
	splitGoal = 1.0

	// mixes is how many recordings of two voices there are at most of each kind, and
	// through each channel.
	mixes = 100

	// near is how far from where another voice begins it may be found.
	near = 500 * time.Millisecond

	// breath is between the sentences of one voice, less than ends an utterance.
	breath = 160 * time.Millisecond
)

// A mixture is a recording of one voice or two, and what a microphone makes of it.
type mixture struct {
	frames  []audio.Frame
	channel string
	changes time.Duration // when the second voice begins, 0 if both speak at once

	began   []time.Duration // when each utterance began that was heard
	crowded bool            // two were heard at once in one of them
}

// split reports whether a second voice was heard in the recording.
func (m *mixture) split() bool { return len(m.began) > 1 }

// found reports whether it was heard where it is.
func (m *mixture) found() bool {
	return slices.ContainsFunc(m.began, func(at time.Duration) bool { return at > 0 && (at-m.changes).Abs() <= near })
}

// mixtures measures what the microphone makes of one voice, of two that follow each other
// without a pause, and of two at once, of so many of each.
func mixtures(ctx context.Context, all []saying, n int) (rows []Row, err error) {
	luck := rand.New(rand.NewPCG(5, 6))
	one, after, both := monologues(all, luck), takeovers(all, n, luck), choruses(all, n, luck)
	for _, some := range [][]mixture{one, after, both} {
		if err := listenTo(ctx, some); err != nil {
			return nil, err
		}
	}
	rows = append(rows, share("B12 one voice taken for two that follow each other", one, (*mixture).split).goal("p50", percent(one, (*mixture).split), splitGoal))
	rows = append(rows, share("B12 one voice taken for two at once", one, func(m *mixture) bool { return m.crowded }))
	rows = append(rows, share("B12 another voice that takes over, missed", after, func(m *mixture) bool { return !m.found() }))
	return append(rows, share("B12 two at once, missed", both, func(m *mixture) bool { return !m.crowded })), nil
}

// percent returns of how many of 100 recordings something is so.
func percent(all []mixture, is func(*mixture) bool) float64 {
	n := 0.0
	for i := range all {
		if is(&all[i]) {
			n++
		}
	}
	return 100 * n / max(float64(len(all)), 1)
}

// share is a row of that, with where it lies if other recordings had been drawn, and what
// it is through each channel.
func share(name string, all []mixture, is func(*mixture) bool) Row {
	rate := percent(all, is)
	low, high := wilson(rate/100, float64(len(all)))
	var each []string
	for _, c := range noisy {
		of := slices.DeleteFunc(slices.Clone(all), func(m mixture) bool { return m.channel != c.Name })
		each = append(each, fmt.Sprintf("%s %.1f %%", c.Name, percent(of, is)))
	}
	return Row{
		Name: name, Unit: "%", Ours: Spread{rate, 100 * high, 100 * high},
		Note: fmt.Sprintf("%d recordings, 95 %% interval %.1f to %.1f %% (p99 shows the upper); %s", len(all), 100*low, 100*high, strings.Join(each, ", ")),
	}
}

// wilson returns the interval of 95 % in which a share lies that was found among so many.
func wilson(share, n float64) (low, high float64) {
	const z = 1.96
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	wide := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n)) / (1 + z*z/n)
	return max(0, middle-wide), min(1, middle+wide)
}

// of returns what somebody said through a channel.
func of(all []saying, who int, channel string) (some []saying) {
	for _, s := range all {
		if s.who == who && s.channel == channel {
			some = append(some, s)
		}
	}
	return some
}

// monologues are of one voice each: two things that they say, and six.
func monologues(all []saying, luck *rand.Rand) (some []mixture) {
	for _, c := range noisy {
		for who := range all[len(all)-1].who + 1 {
			for _, n := range []int{2, 2, 2, 6, 6} {
				said := of(all, who, c.Name)
				m := mixture{channel: c.Name}
				for _, i := range luck.Perm(len(said))[:min(n, len(said))] {
					m.frames = append(m.frames, said[i].frames...)
					m.frames = append(m.frames, quiet(breath, luck)...)
				}
				some = append(some, m)
			}
		}
	}
	return some
}

// takeovers are of two voices, of which the second takes over without a pause.
func takeovers(all []saying, n int, luck *rand.Rand) (some []mixture) {
	for _, c := range noisy {
		for range n {
			one, other := pair(all, c.Name, luck)
			m := mixture{channel: c.Name}
			for i, said := range [][]saying{one, other} {
				for _, j := range luck.Perm(len(said))[:min(2, len(said))] {
					m.frames = append(m.frames, trimmed(said[j].frames)...)
				}
				if i == 0 {
					m.changes = time.Duration(len(m.frames)) * audio.Time
				}
			}
			some = append(some, m)
		}
	}
	return some
}

// choruses are of two voices at once, of which the second is up to 6 dB softer.
func choruses(all []saying, n int, luck *rand.Rand) (some []mixture) {
	for _, c := range noisy {
		for range n {
			one, other := pair(all, c.Name, luck)
			a, b := trimmed(one[luck.IntN(len(one))].frames), trimmed(other[luck.IntN(len(other))].frames)
			gain := math.Pow(10, -6*luck.Float64()/20)
			some = append(some, mixture{channel: c.Name, frames: blend(a, b, gain)})
		}
	}
	return some
}

// pair returns what two people say through a channel.
func pair(all []saying, channel string, luck *rand.Rand) (one, other []saying) {
	people := luck.Perm(all[len(all)-1].who + 1)
	return of(all, people[0], channel), of(all, people[1], channel)
}

// blend adds two recordings, the second as soft as said, as long as both last.
func blend(a, b []audio.Frame, gain float64) []audio.Frame {
	frames := slices.Clone(a[:min(len(a), len(b))])
	for i := range frames {
		frames[i].Voiced = a[i].Voiced || b[i].Voiced
		for j := range frames[i].PCM {
			v := float64(a[i].PCM[j]) + gain*float64(b[i].PCM[j])
			frames[i].PCM[j] = int16(min(max(v, math.MinInt16), math.MaxInt16))
		}
	}
	return frames
}

// trimmed returns frames without what is before and after the voice in them.
func trimmed(frames []audio.Frame) []audio.Frame {
	voiced := func(f audio.Frame) bool { return f.Voiced }
	from := max(0, slices.IndexFunc(frames, voiced))
	to := len(frames)
	for to > from && !frames[to-1].Voiced {
		to--
	}
	return frames[from:to]
}

// quiet is a quiet room.
func quiet(d time.Duration, luck *rand.Rand) []audio.Frame {
	frames := make([]audio.Frame, d/audio.Time)
	for i := range frames {
		for j := range frames[i].PCM {
			frames[i].PCM[j] = int16(3 * luck.NormFloat64())
		}
	}
	return frames
}

// listenTo has a microphone listen to recordings.
func listenTo(ctx context.Context, all []mixture) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i := range all {
		g.Go(func() error { return all[i].listen(ctx) })
	}
	return g.Wait()
}

// listen has one listen to m, whose sentences are one utterance each as long as one voice
// says them.
func (m *mixture) listen(ctx context.Context) error {
	cfg := microphone.DefaultConfig()
	cfg.Ear.End, cfg.Ear.EndOpen = 2, 2 // s: no breath ends what is said
	mic := microphone.New(cfg, microphone.Parts{Capture: tapeOf(m.frames), Recogniser: scribe{}, Voices: true})
	return mic.Run(ctx, func(_ context.Context, e earshot.Event) error {
		if u, ok := e.Body.(earshot.Utterance); ok {
			m.began = append(m.began, e.At.Sub(dawn))
			m.crowded = m.crowded || u.Overlaps
		}
		return nil
	})
}

// dawn is when recordings begin.
var dawn = time.Unix(0, 0)

// tapeOf is a capture of frames, from dawn.
type tapeOf []audio.Frame

// Frames implements [microphone.Capture].
func (t tapeOf) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		for i, f := range t {
			f.At = dawn.Add(time.Duration(i) * audio.Time)
			if !yield(&f, ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

// A scribe understands the same of all that is said.
type scribe struct{}

// Begin implements [microphone.Recogniser].
func (scribe) Begin(on func(microphone.Result)) microphone.Session { return note(on) }

// Spot implements [microphone.Recogniser].
func (scribe) Spot(*audio.Frame) {}

// A note is one utterance of it.
type note func(microphone.Result)

// Feed implements [microphone.Session].
func (note) Feed(*audio.Frame) {}

// End implements [microphone.Session].
func (n note) End() { n(microphone.Result{Text: "so it is", Confidence: 1, Final: true}) }

// Cancel implements [microphone.Session].
func (note) Cancel() {}
