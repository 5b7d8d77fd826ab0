package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/models/hear"
	"earshot/outlets/loudspeaker"
)

// interruptions are what is said into a reply.
var interruptions = []string{"no tell me about the moon", "stop talking"}

// cut measures how long it takes from the onset of a voice until the agent
// lowers its own, and until it is silent: voices in recordings, which come as
// they would from a microphone, through the ear, the room and the floor to the
// outlet. The bare thing is the ear alone on the same frames, as if nothing took
// any time: it must have heard three frames that are voiced, and five.
func cut(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("cut", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := newStage(d)
	ctx, stop := beside(ctx, s.Run)
	defer func() { err = errors.Join(err, stop()) }()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	var all cuts
	for i := range min(b.rounds, len(interruptions)*len(voices)) {
		t, err := b.tape(ctx, d, voices[i%len(voices)], interruptions[i/len(voices)])
		if err != nil {
			return nil, err
		}
		dev, roll := newDeck(), make(chan time.Time, 1)
		var began time.Time
		err = s.play(ctx, scene{
			loud: loudspeaker.New(loudspeaker.DefaultConfig(), dev.open, drone{}), capture: rolling{t, roll, true},
			act: func(ctx context.Context) error {
				began = time.Now()
				roll <- began
				select {
				case <-dev.cut:
				case <-ctx.Done(): // the tape is over
				}
				return nil
			},
		})
		if err != nil {
			return nil, err
		}
		all.add(t, began, dev)
	}
	return all.rows()
}

// cuts are how long it took, in milliseconds.
type cuts struct {
	duck, still, cut    []float64
	bareDuck, bareStill []float64
	asked               int
}

// add notes what came of a tape that began at began.
func (c *cuts) add(t *tape, began time.Time, dev *deck) {
	onset := began.Add(inTime(t.onset))
	since := func(to *[]float64, any ...earshot.Control) {
		if at, ok := dev.when(any...); ok {
			*to = append(*to, micros(at.Sub(onset))/1000)
		}
	}
	c.asked++
	since(&c.duck, earshot.Duck)
	since(&c.still, earshot.Pause, earshot.Cut)
	since(&c.cut, earshot.Cut)
	duck, still := t.alone()
	c.bareDuck, c.bareStill = append(c.bareDuck, duck), append(c.bareStill, still)
}

// rows returns the table of them.
func (c *cuts) rows() ([]Row, error) {
	if len(c.duck) == 0 || len(c.still) == 0 {
		return nil, fmt.Errorf("nothing that was said interrupted anything, %d times", c.asked)
	}
	duck, still := spread(c.duck), spread(c.still)
	words := Row{Name: "onset of a voice → cut by its words", Note: "not measured: none of them cut"}
	if len(c.cut) > 0 {
		words.Unit, words.Ours = "ms", spread(c.cut)
		words.Note = fmt.Sprintf("by two words or a stop phrase, which must be said first; %d of %d did not cut", c.asked-len(c.cut), c.asked)
	}
	return []Row{
		row("onset of a voice → duck", "ms", duck, spread(c.bareDuck), "recordings as a microphone would bring them, annotated by the voice detector; without the buffers of devices").goal("p99", duck.P99, 100),
		row("onset of a voice → silence", "ms", still, spread(c.bareStill), "no sample is handed over any more").goal("p99", still.P99, 250),
		words,
	}, nil
}

// A tape is a recording, in frames as a microphone brings them.
type tape struct {
	frames []audio.Frame
	onset  int // sample
	pcm    []int16
}

// lead is how long it is quiet on a tape before anybody speaks.
const lead = 600 * time.Millisecond

// tape returns how a voice says text.
func (b bench) tape(ctx context.Context, d dial, voice, text string) (*tape, error) {
	r, err := b.reel(ctx, voice, text)
	if err != nil {
		return nil, err
	}
	r.pcm = r.pcm[inSamples(gap-lead):]
	return b.annotate(ctx, d, r)
}

// annotate returns a recording as a tape, annotated by the role media.
func (b bench) annotate(ctx context.Context, d dial, r *reel) (*tape, error) {
	source, err := b.source(r, "tape")
	if err != nil {
		return nil, err
	}
	t := &tape{onset: onset(r.pcm), pcm: r.pcm}
	for f, err := range codec.Open(ctx, d.to(speechHelper, "media"), source) {
		if err != nil {
			return nil, err
		}
		t.frames = append(t.frames, *f)
	}
	return t, nil
}

// alone returns after how many milliseconds an ear that takes no time notices
// the voice, and believes in it.
func (t *tape) alone() (began, lasts float64) {
	ear := hear.New(hear.DefaultConfig())
	for i := range t.frames {
		after := micros(time.Duration(i+1)*audio.Time-inTime(t.onset)) / 1000
		switch ear.Step(&t.frames[i]) {
		case hear.Began:
			began = after
		case hear.Lasts:
			return began, after
		}
	}
	return began, lasts
}

// A rolling is a tape that plays from when it is told to.
type rolling struct {
	*tape
	roll <-chan time.Time
	own  bool // the agent speaks meanwhile
}

// Frames implements [microphone.Capture]. Each frame comes when its last sample
// would have been captured. The agent, if it speaks, is not heard by a microphone
// that is close to a mouth.
func (r rolling) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		var began time.Time
		select {
		case began = <-r.roll:
		case <-ctx.Done():
			return
		}
		for i, f := range r.frames {
			f.At, f.Own = began.Add(time.Duration(i)*audio.Time), r.own
			due := time.NewTimer(time.Until(f.At.Add(audio.Time)))
			select {
			case <-due.C:
			case <-ctx.Done():
				due.Stop()
				return
			}
			if !yield(&f, nil) {
				return
			}
		}
	}
}
