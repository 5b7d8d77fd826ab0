package main

import (
	"context"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/providers/microphone"
)

// A pretence is a recogniser that understands the first thing that is said, and nothing else.
type pretence struct{ began int }

func (p *pretence) Begin(on func(microphone.Result)) microphone.Session {
	r := microphone.Result{Final: true}
	if p.began++; p.began == 1 {
		r.Text, r.Confidence = "tell me about the tides", 1
	}
	return pretended{on, r}
}

func (*pretence) Spot(*audio.Frame) {}

type pretended struct {
	on     func(microphone.Result)
	result microphone.Result
}

func (pretended) Feed(*audio.Frame) {}
func (p pretended) End()            { p.on(p.result) }
func (pretended) Cancel()           {}

// A film is a question, and what is heard over the reply.
type film struct{ asks, then *tape }

func (m film) Frames(context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		tick := time.NewTicker(audio.Time)
		defer tick.Stop()
		for n, t := range []*tape{m.asks, m.then} {
			for _, f := range t.frames {
				f.At, f.Own = <-tick.C, n == 1
				if !yield(&f, nil) {
					return
				}
			}
		}
	}
}

// pauses reports whether a microphone tells a room of a voice that lasts, over the agent, and how
// long after its onset.
func pauses(t *testing.T, m film) (lasts bool, after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: m, Recogniser: new(pretence)})
		err := mic.Run(t.Context(), func(_ context.Context, e earshot.Event) error {
			if s, is := e.Body.(earshot.Speech); is && s.Stage == earshot.VoiceLasts && s.Own && !lasts {
				lasts, after = true, time.Since(e.At)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return lasts, after
}

// TestFalsePauses counts of which distractions a microphone says that they are a voice, by their
// sound alone; the words that a real recogniser finds in them are measured by the figure yield. What
// must be a voice to everybody, an overture, is one. By their level alone it is nearly all of them.
func TestFalsePauses(t *testing.T) {
	if withoutVoice("yield", []string{"speech"}, "flite", "espeak-ng") != nil || testing.Short() {
		t.Skip("starts programs that speak")
	}
	b := bench{dir: t.TempDir()}
	d, err := b.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range collections {
		asker, err := b.asker(t.Context(), d, c.asker)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.make(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		paused := make(map[string]int)
		odd := 0
		for n, one := range all {
			r := &reel{pcm: slices.Concat(make([]int16, inSamples(lead)), one.pcm, make([]int16, inSamples(gap)))}
			breathe(r.pcm)
			then, err := b.annotate(t.Context(), d, r)
			if err != nil {
				t.Fatal(err)
			}
			if lasts, _ := pauses(t, film{asker.asks, then}); lasts {
				paused[one.kind]++
				odd += n % 2
			}
		}
		total := 0
		for _, n := range paused {
			total += n
		}
		t.Logf("%s: %d of %d, %d at odd places: %v", c.name, total, len(all), odd, paused)
		if most := []int{24, 19}[i]; total > most {
			t.Errorf("%s: %d of %d are taken for a voice, want at most %d", c.name, total, len(all), most)
		}
	}
	for i := range len(overtures) * len(voices) {
		voice := voices[i%len(voices)]
		asker, err := b.asker(t.Context(), d, voice)
		if err != nil {
			t.Fatal(err)
		}
		then, err := b.tape(t.Context(), d, voice, overtures[i/len(voices)])
		if err != nil {
			t.Fatal(err)
		}
		lasts, after := pauses(t, film{asker.asks, then})
		t.Logf("%s, %q: %v", voice, overtures[i/len(voices)], after)
		if !lasts || after > 300*time.Millisecond {
			t.Errorf("%s, %q, is a voice: %v, after %v", voice, overtures[i/len(voices)], lasts, after)
		}
	}
}
