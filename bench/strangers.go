package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/models/voiceprint"
	"earshot/models/voiceprint/cast"
)

// A saying is something that a stranger said, through one channel.
type saying struct {
	who, what int
	channel   string
	frames    []audio.Frame
	print     []float32
	heard     time.Duration
}

// How long what is compared is, in voice: shorter sayings are joined, longer ones
// are cut off.
const (
	leastSaid = 1500 * time.Millisecond
	mostSaid  = 5 * time.Second
)

// channels are those that people are heard through, and noisy those and the best of them
// where something roars.
var (
	channels = []cast.Channel{cast.Clean, cast.Dull, cast.Room}
	noisy    = append(slices.Clone(channels), cast.Noisy)
)

// utterances has each of some people say so many things, through some channels.
func utterances(ctx context.Context, people []cast.Person, lines int, channels []cast.Channel) ([]saying, error) {
	each := make([][]saying, len(people))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for who, p := range people {
		g.Go(func() (err error) {
			each[who], err = stranger(ctx, who, p, lines, channels)
			return err
		})
	}
	err := g.Wait()
	return slices.Concat(each...), err
}

// stranger is one of them, who says so many lines.
func stranger(ctx context.Context, who int, p cast.Person, lines int, channels []cast.Channel) (all []saying, err error) {
	var pcm []float64
	what := 0
	for _, line := range cast.Talk() {
		said, err := p.Say(ctx, cast.Calm, line)
		if err != nil {
			return nil, err
		}
		pcm = append(pcm, said...)
		if cast.Voiced(cast.Frames(pcm)) < leastSaid {
			continue
		}
		for _, c := range channels {
			luck := rand.New(rand.NewPCG(uint64(who), uint64(what)))
			s := saying{who: who, what: what, channel: c.Name, frames: cast.Frames(c.Through(pcm, luck))}
			s.print, s.heard = printOf(s.frames, mostSaid)
			all = append(all, s)
		}
		pcm, what = nil, what+1
		if what >= lines {
			break
		}
	}
	return all, nil
}

// printOf returns what the first of a voice sounds like; nil if it is too little.
func printOf(frames []audio.Frame, most time.Duration) ([]float32, time.Duration) {
	x := voiceprint.New()
	heard := time.Duration(0)
	for i := range frames {
		if heard == most {
			break
		}
		x.Step(&frames[i])
		if frames[i].Voiced {
			heard += audio.Time
		}
	}
	v, ok := x.Voice("")
	if !ok || heard < min(most, leastSaid) {
		return nil, 0
	}
	return v.Print, v.Heard
}
