package arbiter

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/audio"
)

// A recording is a microphone in which somebody speaks, that gives its frames as they come.
type recording struct {
	frames []*audio.Frame
	end    error
}

func (r recording) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		tick := time.NewTicker(audio.Time)
		defer tick.Stop()
		for _, f := range r.frames {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if !yield(f, nil) {
				return
			}
		}
		if r.end != nil {
			yield(nil, r.end)
		}
	}
}

// TestWrap: two captures of a room give each sentence once, each gives all its frames in order, however
// it ends, and its error last.
func TestWrap(t *testing.T) {
	lost := errors.New("lost")
	ann := speak(1, 3*second, [2]time.Duration{second, 3 * second})
	for _, tt := range []struct {
		name string
		end  error
		stop time.Duration // when the listener leaves
	}{
		{"ended", nil, 0},
		{"lost", lost, 0},
		{"left", nil, 1500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := new(Arbiter)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.stop > 0 {
					time.AfterFunc(tt.stop, cancel)
				}
				var both sync.WaitGroup
				var voiced, came [2]int
				for i, in := range [][]*audio.Frame{frames(1, -60, way{ann, 0.3, 0, 0.4}), frames(2, -60, way{ann, 1, 0, 0.2})} {
					both.Go(func() {
						var err error
						for f, e := range a.Wrap([]string{"desk", "kitchen"}[i], recording{in, tt.end}).Frames(ctx) {
							if err = e; err != nil {
								continue
							}
							if !f.At.Equal(in[came[i]].At) {
								t.Errorf("frame %d of %d is not the next", came[i], i)
							}
							if came[i]++; f.Voiced {
								voiced[i]++
							}
						}
						if tt.stop == 0 && (came[i] != len(in) || !errors.Is(err, tt.end)) {
							t.Errorf("%d of %d frames came, and then %v", came[i], len(in), err)
						}
					})
				}
				both.Wait()
				if voiced[0] > 0 || voiced[1] == 0 {
					t.Errorf("%d and %d frames with a voice came; want none of the farther", voiced[0], voiced[1])
				}
				if len(a.sources) > 0 {
					t.Error("a capture that has ended is still there")
				}
			})
		})
	}
}
