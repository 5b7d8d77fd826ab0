package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/models/tts"
	"earshot/models/wire"
	"earshot/outlets/loudspeaker"
)

// clause is what is said to measure how it is said: twelve words.
const clause = "i think we should go to the store after lunch and rest"

// speak measures how long it takes until a clause is heard: from the outlet's
// Say to the first sample that a device is given, beside a helper that is asked
// for the same words directly. And how long a second of sound takes to be made,
// beside flite's own command.
func speak(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("speak", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	bare, err := newReciter(d)
	if err != nil {
		return nil, err
	}
	say := tts.New(tts.Config{Dial: d.to(speechHelper, "say"), Log: silent})
	o := &orator{say: say, entered: make(chan struct{}), ended: make(chan struct{}, 1)}
	o.Loudspeaker = loudspeaker.New(loudspeaker.DefaultConfig(), o.open, say)
	ctx, stop := beside(ctx, bare.run, say.Run, o.run)
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := await(o.entered); err != nil {
		return nil, err
	}
	b.rounds, b.repeats = min(b.rounds, 5), min(b.repeats, 3) // a round takes a tenth of a second and more
	first, direct, err := b.compare(func() ([]float64, error) { return o.first(ctx) }, bare.first)
	if err != nil {
		return nil, err
	}
	made, command, err := b.compare(func() ([]float64, error) { return o.pace(ctx) }, func() ([]float64, error) { return o.command(ctx) })
	if err != nil {
		return nil, err
	}
	return []Row{
		row("clause → first sample to the device", "ms", first, direct, "twelve words; beside the helper for speech, asked for the same").goal("p99", first.P99, 100),
		row("to make a second of speech", "s", made, command, "the real-time factor, beside flite's own command with its start"),
	}, nil
}

// An orator is a loudspeaker whose device takes no time.
type orator struct {
	*loudspeaker.Loudspeaker
	say     *tts.Synthesiser
	entered chan struct{}
	ended   chan struct{}

	mu    sync.Mutex
	began time.Time // when the device was given its first sample
	given int       // samples
	moved func(sound.Position)
}

func (o *orator) run(ctx context.Context) error {
	return o.Run(ctx, func(earshot.Outlet) func() {
		close(o.entered)
		return func() {}
	})
}

// open implements [loudspeaker.Open].
func (o *orator) open(context.Context, string, float64) (loudspeaker.Player, error) { return o, nil }

// Play implements [loudspeaker.Player].
func (o *orator) Play(moved func(sound.Position)) (loudspeaker.Playing, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began, o.given, o.moved = time.Time{}, 0, moved
	return o, nil
}

// Lost implements [loudspeaker.Player].
func (o *orator) Lost() <-chan struct{} { return nil }

// Err implements [loudspeaker.Player].
func (o *orator) Err() error { return nil }

// Close implements [loudspeaker.Player].
func (o *orator) Close() {}

// Write implements [loudspeaker.Playing].
func (o *orator) Write(_ context.Context, pcm []int16) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.given == 0 {
		o.began = time.Now()
	}
	o.given += len(pcm)
	return nil
}

// Do implements [loudspeaker.Playing].
func (o *orator) Do(earshot.Control) {}

// Finish implements [loudspeaker.Playing].
func (o *orator) Finish() { o.moved(sound.Position{Samples: int64(o.given), End: true}) }

// speak says the clause and returns how long it took until its first sample,
// and until the last; and how much sound that was.
func (o *orator) speak(ctx context.Context) (first, all, sounds time.Duration, err error) {
	s, err := o.Open(ctx, earshot.Opening{}, func(h earshot.Heard) {
		if h.End {
			o.ended <- struct{}{}
		}
	})
	if err != nil {
		return 0, 0, 0, err
	}
	at := time.Now()
	err = s.Say(earshot.Clause{Text: clause})
	all = time.Since(at)
	s.Finish()
	if _, late := await(o.ended); late != nil || err != nil {
		return 0, 0, 0, errors.Join(err, late)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.began.Sub(at), all, inTime(o.given), nil
}

// first is a round of how long it takes to the first sample, in milliseconds.
func (o *orator) first(ctx context.Context) ([]float64, error) {
	first, _, _, err := o.speak(ctx)
	return millis([]float64{micros(first)}), err
}

// pace is a round of how long a second of sound takes.
func (o *orator) pace(ctx context.Context) ([]float64, error) {
	_, all, sounds, err := o.speak(ctx)
	return []float64{all.Seconds() / sounds.Seconds()}, err
}

// command is the same by flite's own command, for as much sound.
func (o *orator) command(ctx context.Context) ([]float64, error) {
	at := time.Now()
	out, err := exec.CommandContext(ctx, "flite", "-voice", "slt", "-t", clause, "-o", "none").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("flite: %w: %s", err, out)
	}
	took := time.Since(at)
	o.mu.Lock()
	defer o.mu.Unlock()
	return []float64{took.Seconds() / inTime(o.given).Seconds()}, nil
}

// A reciter is the helper that speaks, asked without a client.
type reciter struct {
	link   helper.Link
	stream uint32
	ready  chan struct{}
	sounds chan time.Time // when there was the first of a stream
	ends   chan struct{}

	sounding bool // of the goroutine that takes sound
}

func newReciter(d dial) (*reciter, error) {
	link, err := d.to(speechHelper, "say")()
	return &reciter{link: link, ready: make(chan struct{}), sounds: make(chan time.Time, 1), ends: make(chan struct{}, 1)}, err
}

func (r *reciter) run(ctx context.Context) error {
	return r.link.Run(ctx, helper.Handler{Sound: r.sound, Control: func(c helper.Control) error {
		if c.Name == wire.ReadyName {
			close(r.ready)
		}
		return nil
	}})
}

// sound takes what the helper says.
func (r *reciter) sound(m helper.Sound) error {
	switch {
	case m.Stream&wire.Words != 0:
	case len(m.Data) == 0:
		r.sounding = false
		r.ends <- struct{}{}
	case !r.sounding:
		r.sounding = true
		r.sounds <- time.Now()
	}
	return nil
}

// first is a round of how long it takes to the first sample, in milliseconds.
func (r *reciter) first() ([]float64, error) {
	if r.stream++; r.stream == 1 {
		if err := r.link.Send(wire.OpenName, wire.OpenSay{Voice: "slt", Speed: 1}); err != nil {
			return nil, err
		}
		if _, err := await(r.ready); err != nil {
			return nil, err
		}
	}
	at := time.Now()
	if err := r.link.SendSound(r.stream, []byte(clause)); err != nil {
		return nil, err
	}
	first, err := await(r.sounds)
	if err != nil {
		return nil, err
	}
	_, err = await(r.ends)
	return millis([]float64{micros(first.Sub(at))}), err
}
