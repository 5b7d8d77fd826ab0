package playback_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
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

func (d *device) Play(_ int, moved func(sound.Position)) (playback.Playing, error) {
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

// A changing voice says each word in a tenth of a second, each text at the next of its rates.
type changing struct{ rates []int }

func (v *changing) Ready() (bool, <-chan struct{}) { return true, nil }
func (v *changing) Rate() int                      { return v.rates[0] }

func (v *changing) Say(_ context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	rate := v.rates[0]
	v.rates = v.rates[1:]
	return func(yield func(tts.Chunk, error) bool) {
		at := 0
		for i, word := range strings.Fields(spoken) {
			c := tts.Chunk{PCM: make([]int16, rate/10), Rate: rate, Words: []tts.Word{{Byte: at, Sample: i * rate / 10}}}
			if at += len(word) + 1; !yield(c, nil) {
				return
			}
		}
	}
}

// A tape is a device that keeps the rate and the length of a speech, and is moved by the test.
type tape struct {
	rate    int
	samples chan int
	playing
}

func (d *tape) Lost() <-chan struct{} { return nil }
func (d *tape) Close()                { d.moved(sound.Position{End: true}) }
func (d *tape) Do(earshot.Control)    {}
func (d *tape) Finish()               { d.samples <- int(d.playing.samples) }

func (d *tape) Play(rate int, moved func(sound.Position)) (playback.Playing, error) {
	d.rate, d.moved = rate, moved
	return d, nil
}

// TestRates: a speech has the rate of the voice with which it begins; if the voice has another one
// later, what was heard of the text is still right, to the word.
func TestRates(t *testing.T) {
	for _, rates := range [][]int{{16000, 16000}, {24000, 24000}, {24000, 16000}, {22050, 16000}, {16000, 48000}} {
		t.Run(fmt.Sprint(rates), func(t *testing.T) {
			d := &tape{samples: make(chan int, 1)}
			o := playback.New(&changing{rates: slices.Clone(rates)})
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			entered := make(chan struct{})
			running.Go(func() { o.Run(ctx, d, func() func() { close(entered); return func() {} }) })
			<-entered
			var at earshot.Heard
			s, err := o.Open(ctx, earshot.Opening{}, func(h earshot.Heard) { at = h })
			if err != nil {
				t.Fatal(err)
			}
			texts := []string{"one two three. ", "four five six."}
			for n, text := range texts {
				if err := s.Say(earshot.Clause{N: n, Text: earshot.Text(text)}); err != nil {
					t.Error(err)
				}
			}
			s.Finish()
			tenth := rates[0] / 10
			if n := <-d.samples; d.rate != rates[0] || n < 6*tenth-2 || n > 6*tenth+2 {
				t.Errorf("%d samples at %d a second, want %d at %d", n, d.rate, 6*tenth, rates[0])
			}
			for _, tt := range []struct {
				tenths float64
				clause int
				heard  string
			}{{0.4, 0, ""}, {0.6, 0, "one "}, {1.6, 0, "one two "}, {3.4, 0, texts[0]}, {3.6, 1, "four "}, {4.4, 1, "four "}, {4.6, 1, "four five "}, {6.1, 1, texts[1]}} {
				d.moved(sound.Position{Samples: int64(tt.tenths * float64(tenth))})
				if want := (earshot.Heard{Clause: tt.clause, Byte: len(tt.heard)}); at != want {
					t.Errorf("after %v words %+v was heard, want %+v", tt.tenths, at, want)
				}
			}
			stop()
			running.Wait()
		})
	}
}
