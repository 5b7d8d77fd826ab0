package main

import (
	"context"
	"iter"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/models/hear"
)

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
	own  bool  // the agent speaks meanwhile
	asks *tape // what is heard before, at once, while it is silent; nil if nothing is
}

// Frames implements [microphone.Capture]. Each frame comes when its last sample
// would have been captured. The agent, if it speaks, is not heard by a microphone
// that is close to a mouth.
func (r rolling) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		var began time.Time
		if r.asks != nil {
			for i, f := range r.asks.frames {
				f.At = time.Now().Add(time.Duration(i-len(r.asks.frames)) * audio.Time)
				if !yield(&f, nil) {
					return
				}
			}
		}
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
