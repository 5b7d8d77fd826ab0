package main

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/models/voiceprint/acoustic"
	"earshot/models/voiceprint/cast"
)

// channels is how many there are besides the clean one, and through how many of
// them each line goes.
const (
	channels = 40
	through  = 2
)

// A raw is what an utterance comes to.
type raw [acoustic.Raw]float64

// A take is a line that somebody says once, through one channel.
type take struct {
	person, channel, line int // channel -1 is the clean one
	whole                 raw
	cuts                  []cut
}

// A cut is what is left of a take.
type cut struct {
	half   int // of the take: 0 is its beginning
	frames int // that are voiced
	raw    raw
}

// cuts are how many voiced frames are left, so that what is made of a word is
// known too.
var cuts = []int{30, 60, 120}

// record has everybody say everything.
func record(ctx context.Context, people []cast.Person, mixture *acoustic.Mixture) ([]take, error) {
	lines := cast.Lines()
	takes := make([]take, len(people)*len(lines)*(1+through))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	listener := mixture.Listen()
	for p, person := range people {
		g.Go(func() error {
			for l := range lines {
				at := (p*len(lines) + l) * (1 + through)
				if err := perform(ctx, takes[at:at+1+through], listener.Again(), person, p, l); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return takes, g.Wait()
}

// perform records one line.
func perform(ctx context.Context, takes []take, listener *acoustic.Listener, person cast.Person, p, l int) error {
	luck := draw(person.Name, l)
	pcm, err := say(ctx, person, l, luck)
	if err != nil {
		return err
	}
	for i := range takes {
		t := &takes[i]
		*t = take{person: p, channel: -1, line: l}
		c := cast.Clean
		if i > 0 {
			t.channel = luck.IntN(channels)
			c = cast.Some(uint64(t.channel))
		}
		t.listen(listener, cast.Frames(c.Through(pcm, luck)))
	}
	return nil
}

// say has a person say a line in some mood. Each third line is left in the
// middle.
func say(ctx context.Context, person cast.Person, l int, luck *rand.Rand) ([]float64, error) {
	mood := cast.Mood{Pitch: math.Exp(0.1 * (2*luck.Float64() - 1)), Pace: 0.88 + 0.24*luck.Float64()}
	text := cast.Lines()[l]
	if l%3 == 0 {
		words := strings.Fields(text)
		text = strings.Join(words[:len(words)/2+1], " ")
	}
	return person.Say(ctx, mood, text)
}

// draw returns a source of luck that is the same for the same line of the same
// person.
func draw(name string, line int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(line)))
}

// listen fills in what there is to be heard.
func (t *take) listen(l *acoustic.Listener, frames []audio.Frame) {
	l.Reset()
	for i := range frames {
		l.Step(&frames[i])
	}
	l.Raw((*[acoustic.Raw]float64)(&t.whole))
	var voiced []audio.Frame
	for _, f := range frames {
		if f.Voiced {
			voiced = append(voiced, f)
		}
	}
	for _, n := range cuts {
		for half := range 2 {
			from := half * (len(voiced) / 2)
			if n > len(voiced)/2 && half == 1 || from+n > len(voiced) {
				continue
			}
			c := cut{half: half, frames: n}
			l.Reset()
			for i := range voiced[from : from+n] {
				l.Step(&voiced[from+i])
			}
			l.Raw((*[acoustic.Raw]float64)(&c.raw))
			t.cuts = append(t.cuts, c)
		}
	}
}
