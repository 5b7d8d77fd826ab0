package sound_test

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/testkit"
)

// still is how long a process is stopped.
const still = 1500 * time.Millisecond

// TestRealLate: speech is captured whole, without a gap, even if the sound server, the helper or
// the daemon stands still meanwhile.
func TestRealLate(t *testing.T) {
	nobody := func(*rig) error { return nil }
	for _, tt := range []struct {
		name      string
		stop, go_ func(*rig) error
	}{
		{"the sound server", func(r *rig) error { return r.server.Freeze() }, func(r *rig) error { return r.server.Thaw() }},
		{"the helper", func(r *rig) error { return r.signal(syscall.SIGSTOP) }, func(r *rig) error { return r.signal(syscall.SIGCONT) }},
		{"the daemon", nobody, nobody},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			words := counted(2 * audio.Rate)
			heard := r.heard(t, 0, words, func() {
				if err := tt.stop(r); err != nil {
					t.Error(err)
				}
				<-time.After(still)
				if err := tt.go_(r); err != nil {
					t.Error(err)
				}
			})
			same(t, "what was heard", heard, words)
			if n := r.said(); n > 0 {
				t.Errorf("%d notices, though nothing was lost", n)
			}
		})
	}
}

// TestRealCalm: nothing is missing of what begins after seconds in which nothing was heard, when frames
// are read a few at a time.
func TestRealCalm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	words := counted(audio.Rate)
	same(t, "what was heard", r.heard(t, int(4*time.Second/audio.Time), words, func() {}), words)
	if n := r.said(); n > 0 {
		t.Errorf("%d notices, though nothing was lost", n)
	}
}

// heard plays words after so many frames of calm, and returns what is captured of them, from the first
// sample to the last. In the middle it calls amid.
func (r *rig) heard(t *testing.T, calm int, words []int16, amid func()) (heard []int16) {
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	var player sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "who plays", player.Wait)
	begin := sync.OnceFunc(func() {
		player.Go(func() {
			if err := r.server.Play(ctx, words); err != nil {
				t.Error(err)
			}
		})
	})
	amid = sync.OnceFunc(amid)
	for f, err := range r.input(ctx, "").Frames(ctx) {
		if err != nil {
			t.Error(err)
			break
		}
		if calm--; calm < 0 {
			begin()
		}
		silent := len(sounding(f.PCM[:])) == 0
		if silent && len(heard) >= len(words) {
			break
		}
		if silent && len(heard) == 0 {
			continue
		}
		if heard = append(heard, f.PCM[:]...); len(heard) > len(words)/4 {
			amid()
		}
	}
	return trimmed(heard)
}

// trimmed returns pcm without the silence before and behind it.
func trimmed(pcm []int16) []int16 {
	for len(pcm) > 0 && pcm[0] == 0 {
		pcm = pcm[1:]
	}
	return pcm[:lastSound(pcm)]
}
