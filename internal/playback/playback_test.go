package playback_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/playback"
	"earshot/internal/sound"
	"earshot/models/tts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A drone is a voice that speaks every text for one second.
type drone struct{}

func (drone) Say(context.Context, string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) { yield(tts.Chunk{PCM: make([]int16, audio.Rate)}, nil) }
}

// A device pretends to play sound, and takes as long as the sound lasts.
type device struct {
	lost chan struct{}
	busy sync.WaitGroup
}

func (d *device) Lost() <-chan struct{} { return d.lost }
func (d *device) Close()                { d.busy.Wait() }

func (d *device) Play(moved func(sound.Position)) (playback.Playing, error) {
	p := &playing{moved: moved, cut: make(chan struct{}), finished: make(chan struct{})}
	d.busy.Go(p.run)
	return p, nil
}

type playing struct {
	moved    func(sound.Position)
	cut      chan struct{}
	once     sync.Once
	finished chan struct{}
	samples  int64 // written only before finished is closed
}

func (p *playing) run() {
	select {
	case <-p.finished:
		select {
		case <-time.After(time.Duration(p.samples) * time.Second / audio.Rate):
			p.moved(sound.Position{Samples: p.samples, End: true})
			return
		case <-p.cut:
		}
	case <-p.cut:
	}
	p.moved(sound.Position{End: true})
}

func (p *playing) Write(_ context.Context, pcm []int16) error {
	p.samples += int64(len(pcm))
	return nil
}

func (p *playing) Finish() { close(p.finished) }

func (p *playing) Do(c earshot.Control) {
	if c == earshot.Cut {
		p.once.Do(func() { close(p.cut) })
	}
}

// TestOneAfterTheOther: a new speech cuts the one before it, but waits for the end of a protected
// one.
func TestOneAfterTheOther(t *testing.T) {
	for _, tt := range []struct {
		name      string
		protected bool
		took      time.Duration
		heard     int // how many bytes of the first text were heard
	}{
		{"any", false, 500 * time.Millisecond, 0},
		{"protected", true, time.Second, len("somebody listens")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := playback.New(drone{})
				var running sync.WaitGroup
				ctx, stop := context.WithCancel(t.Context())
				running.Go(func() { o.Run(ctx, &device{lost: make(chan struct{})}, func() func() { return func() {} }) })
				synctest.Wait()
				began := time.Now()
				var at earshot.Heard
				first, err := o.Open(ctx, earshot.Opening{Protected: tt.protected}, func(h earshot.Heard) { at = h })
				if err != nil {
					t.Fatal(err)
				}
				first.Say(earshot.Clause{Text: "somebody listens"})
				first.Finish()
				time.Sleep(500 * time.Millisecond)
				brief, enough := context.WithTimeout(ctx, 100*time.Millisecond)
				defer enough()
				if _, err := o.Open(brief, earshot.Opening{}, func(earshot.Heard) {}); tt.protected != (err != nil) {
					t.Errorf("opened within 100 ms: %v", err)
				}
				if _, err := o.Open(ctx, earshot.Opening{}, func(earshot.Heard) {}); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != tt.took || at.Byte != tt.heard || !at.End {
					t.Errorf("the next one began after %v, when %+v was heard", took, at)
				}
				stop()
				running.Wait()
			})
		})
	}
}
