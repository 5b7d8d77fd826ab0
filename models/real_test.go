package models_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/stt"
	"earshot/models/tts"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

// A real is a real helper that a test may kill.
type real struct {
	testing.TB
	path string
	args []string

	mu   sync.Mutex
	last *helper.Process
}

// speech returns the real speech helper in the role that args name.
func speech(t testing.TB, args ...string) *real {
	t.Helper()
	return &real{TB: t, path: filepath.Join(helpertest.Build(t, "earshot-speech"), "earshot-speech"), args: args}
}

// dial starts the helper.
func (r *real) dial() (helper.Link, error) {
	p, err := helper.Start(helper.Command{Name: "earshot-speech", Path: r.path, Args: r.args, Log: quiet})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = p
	return p, nil
}

// process returns the process that was started last, or nil.
func (r *real) process() *helper.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// kill kills that process.
func (r *real) kill() {
	if p, err := os.FindProcess(r.process().Pid()); err == nil {
		p.Kill()
	}
}

var quiet = slog.New(slog.DiscardHandler)

// live runs a client until the test ends, like a supervisor that restarts it without waiting.
func live(t testing.TB, run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := run(ctx); errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		testkit.Receive(t, testkit.Patience, "the end of the client", done)
	})
}

// mouth returns a running synthesiser.
func mouth(t testing.TB, voice string, speed float64) (*tts.Synthesiser, *real) {
	r := speech(t, "say")
	s := tts.New(tts.Config{Dial: r.dial, Voice: voice, Speed: speed, Log: quiet})
	live(t, s.Run)
	return s, r
}

// ear returns a running recogniser.
func ear(t testing.TB, cfg stt.Config) (*stt.Recogniser, *real) {
	r := speech(t, "hear")
	cfg.Dial, cfg.Log = r.dial, quiet
	s := stt.New(cfg)
	live(t, s.Run)
	return s, r
}

// patience is how long a test waits for a machine under load.
const patience = time.Minute

// say returns all of the sound of a text, and its words.
func say(t testing.TB, s *tts.Synthesiser, text string) (pcm []int16, words []tts.Word) {
	t.Helper()
	for {
		var err error
		pcm, words = nil, nil
		for c, e := range s.Say(t.Context(), text) {
			pcm, words, err = append(pcm, c.PCM...), append(words, c.Words...), e
		}
		switch {
		case errors.Is(err, tts.ErrAway): // the helper is still loading
		case err != nil:
			t.Fatal(err)
		default:
			return pcm, words
		}
	}
}

// frames cuts sound into frames, with the silence of a quiet room around it.
func frames(pcm []int16) (out []*audio.Frame) {
	const around = audio.Rate * 3 / 10
	pcm = slices.Concat(make([]int16, around), pcm, make([]int16, around))
	noise := uint32(1)
	at := time.Unix(1000, 0)
	for chunk := range slices.Chunk(pcm, audio.Samples) {
		f := &audio.Frame{At: at}
		copy(f.PCM[:], chunk)
		for i := range f.PCM {
			noise = noise*1664525 + 1013904223
			f.PCM[i] += int16(noise>>29) - 4
		}
		out = append(out, f)
		at = at.Add(audio.Time)
	}
	return out
}

// understand returns the final result of an utterance, and the partial ones. It calls between with
// the number of each frame before that is fed.
func understand(t testing.TB, r *stt.Recogniser, sound []*audio.Frame, between func(int)) (final stt.Result, partials []stt.Result) {
	t.Helper()
	var mu sync.Mutex
	over := false
	s := r.Begin(func(res stt.Result) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			t.Error("a result came after the final one")
		}
		if over = res.Final; over {
			final = res
		} else {
			partials = append(partials, res)
		}
	})
	for i, f := range sound {
		if between != nil {
			between(i)
		}
		s.Feed(f)
	}
	s.End()
	testkit.Await(t, patience, "the final result", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return over
	})
	mu.Lock()
	defer mu.Unlock()
	return final, partials
}

// ready waits until the recogniser answers.
func ready(t testing.TB, r *stt.Recogniser) {
	t.Helper()
	testkit.Await(t, patience, "a recogniser", func() bool {
		final, _ := understand(t, r, frames(nil), nil)
		return final.Err == nil
	})
}
