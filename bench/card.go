package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
)

// cutOnCard measures how long it takes from the onset of a voice until the agent
// lowers its own, and until it is silent, with the devices and their buffers: from
// the onset in what a virtual microphone was given to the silence in what a
// virtual loudspeaker played. The bare thing is the ear alone on the same frames, as
// if nothing took any time: it must have heard three frames that are voiced, and five.
func cutOnCard(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("card", []string{"speech", "pulse"}, "flite", "pulseaudio", "pactl", "parec", "pacat"); rows != nil {
		return rows, nil
	}
	server, err := soundtest.New(ctx)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	d, err := b.dial(ctx, server.Env()...)
	if err != nil {
		return nil, err
	}
	s := newStage(d)
	card := sound.New(d.to(soundHelper), silent)
	ctx, stop := beside(ctx, s.Run, card.Run)
	defer func() { err = errors.Join(err, stop()) }()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	c := &carded{stage: s, card: card, server: server}
	for i := range min(b.rounds, len(voices)) {
		t, err := b.tape(ctx, d, voices[i], "no tell me about the moon")
		if err != nil {
			return nil, err
		}
		if err := c.measure(ctx, t); err != nil {
			return nil, err
		}
	}
	return c.rows()
}

// A carded is a stage with a sound card.
type carded struct {
	*stage
	card   *sound.Card
	server *soundtest.Server

	duck, still         []float64 // milliseconds
	bareDuck, bareStill []float64
	asked               int
}

// measure plays a tape into the microphone while the agent speaks, and looks at
// what the loudspeaker played.
func (c *carded) measure(ctx context.Context, t *tape) (err error) {
	in, err := record(c.server, soundtest.Source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.stop()) }()
	out, err := record(c.server, soundtest.Echo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.stop()) }()
	open := &opening{Capture: microphone.OnCard(c.card, ""), open: make(chan struct{})}
	err = c.play(ctx, scene{
		loud:    loudspeaker.New(loudspeaker.DefaultConfig(), loudspeaker.OnCard(c.card), drone{}),
		capture: open,
		act: func(ctx context.Context) error {
			if _, err := await("the microphone is open", open.open); err != nil {
				return err
			}
			return c.server.Play(ctx, t.pcm)
		},
	})
	if err != nil {
		return err
	}
	c.note(t, in, out)
	return nil
}

// note notes what the recordings show.
func (c *carded) note(t *tape, in, out *recorder) {
	c.asked++
	heard, began := in.sound()
	n := onset(heard)
	if n < 0 {
		return
	}
	at := began.Add(inTime(n))
	played, since := out.sound()
	if after := inSamples(at.Sub(since)); after > 0 && after < len(played) {
		duck, still := yields(played[after:])
		if duck < 0 || still < 0 {
			return
		}
		c.duck, c.still = append(c.duck, micros(inTime(duck))/1000), append(c.still, micros(inTime(still))/1000)
		duck1, still1 := t.alone()
		c.bareDuck, c.bareStill = append(c.bareDuck, duck1), append(c.bareStill, still1)
	}
}

// yields returns the sample at which a drone has become half as loud, and from
// which it is silent for a tenth of a second, or -1.
func yields(pcm []int16) (duck, still int) {
	const piece, quiet = audio.Rate / 100, audio.Rate / 10
	duck, still = -1, -1
	for at := 0; at+quiet <= len(pcm); at++ {
		if duck < 0 && peak(pcm[at:at+piece]) < strength/2 {
			duck = at
		}
		if abs(pcm[at]) == 0 && peak(pcm[at:at+quiet]) == 0 {
			return duck, at
		}
	}
	return duck, still
}

// peak returns the loudest of samples.
func peak(pcm []int16) (most int) {
	for _, s := range pcm {
		most = max(most, abs(s))
	}
	return most
}

// rows returns the table.
func (c *carded) rows() ([]Row, error) {
	if len(c.still) == 0 {
		return nil, fmt.Errorf("no interruption of %d can be seen in the recordings", c.asked)
	}
	still := spread(c.still)
	note := fmt.Sprintf("from the recording of a virtual microphone to that of a virtual loudspeaker, of PulseAudio, %d of %d times; what is more than in B2 is their buffers and the helper", len(c.still), c.asked)
	return []Row{
		row("through a sound card: onset → duck", "ms", spread(c.duck), spread(c.bareDuck), note),
		row("through a sound card: onset → silence", "ms", still, spread(c.bareStill), "").goal("p99", still.P99, 250),
	}, nil
}

// An opening is a capture that says when its first frame comes.
type opening struct {
	microphone.Capture
	open chan struct{}
}

// Frames implements [microphone.Capture].
func (o *opening) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		first := sync.OnceFunc(func() { close(o.open) })
		for f, err := range o.Capture.Frames(ctx) {
			first()
			if !yield(f, err) {
				return
			}
		}
	}
}

// A recorder records a device, and knows when each sample was there.
type recorder struct {
	cmd     *exec.Cmd
	reading sync.WaitGroup

	mu    sync.Mutex
	pcm   []int16
	began time.Time // when the first sample was, by the one that came soonest
}

// record begins to record.
func record(server *soundtest.Server, device string) (*recorder, error) {
	r := &recorder{cmd: exec.Command("parec", "--raw", "--rate=16000", "--channels=1", "--format=s16le", "--latency-msec=10", "--device="+device)}
	r.cmd.Env = append(os.Environ(), server.Env()...)
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	r.reading.Go(func() { r.read(out) }) // until it is stopped
	return r, nil
}

func (r *recorder) read(out io.Reader) {
	buf := make([]byte, 2*audio.Samples)
	pcm := make([]int16, audio.Samples)
	for {
		n, err := io.ReadFull(out, buf)
		at := time.Now()
		n = audio.DecodePCM(pcm, buf[:n])
		r.mu.Lock()
		r.pcm = append(r.pcm, pcm[:n]...)
		if began := at.Add(-inTime(len(r.pcm))); r.began.IsZero() || began.Before(r.began) {
			r.began = began
		}
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sound returns what was recorded, and since when.
func (r *recorder) sound() ([]int16, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pcm[:len(r.pcm):len(r.pcm)], r.began
}

// stop ends it.
func (r *recorder) stop() error {
	err := r.cmd.Process.Kill()
	r.reading.Wait()
	r.cmd.Wait() // with the signal that killed it
	return err
}
