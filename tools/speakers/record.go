package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint"
	"earshot/models/voiceprint/cast"
)

// A saying is something that somebody says once, through one channel.
type saying struct {
	who, what int
	voice     *earshot.Voice
	plain     bool // through a good microphone, where it is quiet
}

const (
	home = "home" // the channel that people are known by

	// leastSaid is how much of a voice a saying has, and mostSaid how much of it is heard.
	leastSaid, mostSaid = 1500 * time.Millisecond, 5 * time.Second
)

// hums is a quiet noise at home, as of a fan.
var hums = cast.Channel{Name: "hums", SNR: 20}

// record has everybody say everything: at home, there while something hums, and through two
// channels of all kinds.
func record(ctx context.Context, people []cast.Person) ([]saying, error) {
	each := make([][]saying, len(people))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for who, p := range people {
		g.Go(func() (err error) {
			each[who], err = perform(ctx, who, p)
			return err
		})
	}
	err := g.Wait()
	return slices.Concat(each...), err
}

// perform records one of them.
func perform(ctx context.Context, who int, p cast.Person) (all []saying, err error) {
	luck := rand.New(rand.NewPCG(uint64(who), 3))
	elsewhere := []cast.Channel{cast.Some(luck.Uint64N(channels)), cast.Some(luck.Uint64N(channels))}
	var pcm []float64
	what := 0
	for _, line := range cast.Talk() {
		said, err := p.Say(ctx, cast.Calm, line)
		if err != nil {
			return nil, err
		}
		if pcm = append(pcm, said...); cast.Voiced(cast.Frames(pcm)) < leastSaid {
			continue
		}
		hear := func(c cast.Channel, through string) {
			if v, ok := listen(cast.Frames(c.Through(pcm, luck)), through); ok {
				all = append(all, saying{who, what, &v, c.Name == cast.Clean.Name})
			}
		}
		hear(cast.Clean, home)
		hear(hums, home)
		for _, c := range elsewhere {
			hear(c, c.Name)
		}
		pcm, what = nil, what+1
	}
	return all, nil
}

// channels is how many there are besides home.
const channels = 40

// listen returns what the first of a voice sounds like, if it is enough.
func listen(frames []audio.Frame, through string) (earshot.Voice, bool) {
	x := voiceprint.New()
	heard := time.Duration(0)
	for i := range frames {
		if heard == mostSaid {
			break
		}
		x.Step(&frames[i])
		if frames[i].Voiced {
			heard += audio.Time
		}
	}
	return x.Voice(through)
}
