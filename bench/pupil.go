package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/models/stt"
	"earshot/providers/microphone"
)

// A pupil is a recogniser that knows when it has understood all that was said.
type pupil struct {
	*stt.Recogniser

	mu   sync.Mutex
	open int           // utterances that are over and not understood yet
	rest chan struct{} // of capacity 1: open has become 0
}

// newPupil returns one that looks for phrases and tells on of them, if there
// are any.
func newPupil(d dial, on func(stt.Phrase), phrases ...string) *pupil {
	return &pupil{
		Recogniser: stt.New(stt.Config{
			Dial: d.to(speechHelper, "hear"), Names: []string{executive.DefaultConfig().Name}, Phrases: phrases, On: on, Log: silent,
		}),
		rest: make(chan struct{}, 1),
	}
}

// Begin implements [microphone.Recogniser].
func (p *pupil) Begin(on func(microphone.Result)) microphone.Session {
	u := &utterance{of: p}
	u.Session = p.Recogniser.Begin(func(r stt.Result) {
		on(r)
		if r.Final {
			u.settle()
		}
	})
	return u
}

// An utterance is one that a pupil listens to.
type utterance struct {
	microphone.Session
	of             *pupil
	ended, settled bool
}

// End implements [microphone.Session].
func (u *utterance) End() {
	u.of.mu.Lock()
	if !u.ended && !u.settled {
		u.ended = true
		u.of.open++
	}
	u.of.mu.Unlock()
	u.Session.End()
}

// Cancel implements [microphone.Session].
func (u *utterance) Cancel() {
	u.settle()
	u.Session.Cancel()
}

// settle notes that nothing more comes of u.
func (u *utterance) settle() {
	p := u.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if u.settled {
		return
	}
	if u.settled = true; !u.ended {
		return
	}
	if p.open--; p.open > 0 {
		return
	}
	select {
	case p.rest <- struct{}{}:
	default:
	}
}

// rested waits until all is understood that somebody has finished saying. What is still
// being said only goes on with the sound.
func (p *pupil) rested(ctx context.Context) error {
	for {
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-p.rest:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ready waits until the recogniser has loaded its models: it has understood
// something.
func (p *pupil) ready(ctx context.Context) error {
	for {
		var err error
		p.Begin(func(r microphone.Result) { err = r.Err }).End()
		if wait := p.rested(ctx); wait != nil || !errors.Is(err, stt.ErrAway) {
			return cmp.Or(wait, err)
		}
	}
}

// An answer is what was understood of a passage.
type answer struct {
	text       string
	utterances int // that it came in
	took       time.Duration
}

// margin is how much of the gap around a passage is given to a recogniser that
// has no ear.
const margin = 300 * time.Millisecond

// read returns what is understood of each passage as a whole.
func (p *pupil) read(ctx context.Context, r *reel) (answers []answer, err error) {
	for _, s := range r.passages {
		a := answer{utterances: 1}
		began := time.Now()
		session := p.Begin(func(res microphone.Result) {
			if res.Final {
				a.text, err = string(res.Text), res.Err
			}
		})
		for f := range frames(r.pcm[s.from-inSamples(margin) : s.to+inSamples(margin)]) {
			session.Feed(f)
		}
		session.End()
		if err := p.rested(ctx); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		a.took = time.Since(began)
		answers = append(answers, a)
	}
	return answers, nil
}

// frames cuts sound into frames, the last of which may end in silence.
func frames(pcm []int16) iter.Seq[*audio.Frame] {
	return func(yield func(*audio.Frame) bool) {
		for at := 0; at < len(pcm); at += audio.Samples {
			var f audio.Frame
			copy(f.PCM[:], pcm[at:])
			if !yield(&f) {
				return
			}
		}
	}
}

// listen returns what the microphone understands of each passage of a recording.
func (p *pupil) listen(ctx context.Context, d dial, r *reel, source codec.Source) ([]answer, error) {
	heard := &audience{answers: make([]answer, len(r.passages)), reel: r, base: source.Base}
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{
		Capture:    player{heard, codec.Open(ctx, d.to(speechHelper, "media"), source), p.rested},
		Recogniser: p,
	})
	return heard.answers, mic.Run(ctx, heard.emit)
}

// An audience notes what was understood.
type audience struct {
	reel *reel
	base time.Time

	mu      sync.Mutex
	answers []answer
}

// emit takes what the microphone hears.
func (h *audience) emit(_ context.Context, e earshot.Event) error {
	u, ok := e.Body.(earshot.Utterance)
	if !ok {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := &h.answers[h.reel.at(inSamples(e.At.Sub(h.base)))]
	a.utterances++
	a.text += " " + string(u.Text)
	return nil
}

// A player plays a recording, and goes on to the next passage when the one
// before has been understood.
type player struct {
	heard  *audience
	frames iter.Seq2[*audio.Frame, error]
	rested func(context.Context) error
}

// Frames implements [microphone.Capture].
func (l player) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		sample, now, began := 0, 0, time.Now()
		for f, err := range l.frames {
			if n := l.heard.reel.at(sample); n != now && err == nil {
				if err = l.rested(ctx); err != nil {
					err = fmt.Errorf("understanding passage %d: %w", now, err)
				}
				l.took(now, &began)
				now = n
			}
			if !yield(f, err) || err != nil {
				return
			}
			sample += audio.Samples
		}
		l.rested(ctx) // or else ctx has ended, which whoever listens sees
		l.took(now, &began)
	}
}

// took notes how long a passage took, and begins the next.
func (l player) took(n int, began *time.Time) {
	l.heard.mu.Lock()
	defer l.heard.mu.Unlock()
	l.heard.answers[n].took = time.Since(*began)
	*began = time.Now()
}
