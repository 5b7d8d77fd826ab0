package engine_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/supervise"
	"earshot/models/engine"
	"earshot/models/remote"
	"earshot/models/stt"
	"earshot/models/tts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// A recogniser hears its own name, unless it is broken.
type recogniser struct {
	name string

	mu     sync.Mutex
	broken error
	silent bool // it never answers
}

func (r *recogniser) set(broken error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = broken
}

func (r *recogniser) Check(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

func (r *recogniser) Transcribe(ctx context.Context, pcm io.Reader, _ func(string)) (string, error) {
	if _, err := io.Copy(io.Discard, pcm); err != nil {
		return "", err
	}
	if r.silent {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	return r.name, r.Check(ctx)
}

// A house hears by a list of recognisers.
type house struct {
	*stt.Recogniser

	mu      sync.Mutex
	notices []earshot.Notice
}

// live runs a house while test lasts.
func live(t *testing.T, test func(h *house), all ...*recogniser) {
	h := new(house)
	var engines []engine.Engine
	for _, r := range all {
		engines = append(engines, engine.Engine{Name: r.name, Dial: remote.Hear(r.name, r), Check: r.Check})
	}
	chooser := engine.New("hears", engines, func(n earshot.Notice) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.notices = append(h.notices, n)
	})
	h.Recogniser = stt.New(stt.Config{Dial: chooser.Dial, Log: quiet})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		supervise.Run(ctx, "recognition", h.Run, supervise.Config{})
	})
	synctest.Wait()
	test(h)
	stop()
	running.Wait()
}

// hears says something, and returns who heard it.
func (h *house) hears(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	var got stt.Result
	s := h.Begin(func(r stt.Result) {
		mu.Lock()
		defer mu.Unlock()
		got = r
	})
	for range 10 {
		s.Feed(&audio.Frame{})
		time.Sleep(audio.Time)
	}
	s.End()
	time.Sleep(90 * time.Second)
	mu.Lock()
	defer mu.Unlock()
	if !got.Final {
		t.Error("there is no result")
	}
	if got.Err != nil {
		return got.Err.Error()
	}
	return string(got.Text)
}

// told returns the notices since the last call.
func (h *house) told() (texts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.notices {
		texts = append(texts, n.Text)
	}
	h.notices = nil
	return texts
}

var errBroken = errors.New("the server closed the connection")

// TestGivesWay: an engine that fails repeatedly gives way to the next, which hears the utterance on
// which it failed; that is said once. When it is well, it hears again.
func TestGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &recogniser{name: "first"}, &recogniser{name: "second"}
		live(t, func(h *house) {
			if got := h.hears(t); got != "first" {
				t.Errorf("at first %q hears", got)
			}
			first.set(errBroken)
			for range 3 {
				if got := h.hears(t); got != "second" {
					t.Errorf("then %q", got)
				}
			}
			if told := h.told(); len(told) != 1 || !strings.Contains(told[0], "first failed repeatedly") || !strings.Contains(told[0], "second hears until it is well") {
				t.Errorf("people are told %q", told)
			}
			time.Sleep(time.Hour)
			if got := h.hears(t); got != "second" || h.told() != nil {
				t.Errorf("an hour later %q", got)
			}
			first.set(nil)
			time.Sleep(2 * time.Minute)
			if got := h.hears(t); got != "first" {
				t.Errorf("when it is well %q", got)
			}
			if told := h.told(); len(told) != 1 || !strings.Contains(told[0], "first is well") {
				t.Errorf("people are told %q", told)
			}
		}, first, second)
	})
}

// TestNotThere: an engine that cannot be used from the beginning, and one that is of the wrong
// kind, give way, too; and the last never does.
func TestNotThere(t *testing.T) {
	for name, broken := range map[string]error{"away": errBroken, "wrong": errors.ErrUnsupported} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := &recogniser{name: "first", broken: broken}, &recogniser{name: "second"}
				live(t, func(h *house) {
					time.Sleep(30 * time.Second)
					if got := h.hears(t); got != "second" {
						t.Errorf("%q hears", got)
					}
					if told := h.told(); len(told) != 1 {
						t.Errorf("people are told %q", told)
					}
					second.set(errBroken)
					h.hears(t)
					if told := h.told(); len(told) != 0 {
						t.Errorf("when the last fails, people are told %q", told)
					}
					second.set(nil)
					time.Sleep(time.Minute)
					if got := h.hears(t); got != "second" {
						t.Errorf("in the end %q hears", got)
					}
				}, first, second)
			})
		})
	}
}

// TestSilent: an engine that never answers gives way.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live(t, func(h *house) {
			for range 3 {
				h.hears(t)
			}
			if got := h.hears(t); got != "second" {
				t.Errorf("%q hears", got)
			}
		}, &recogniser{name: "first", silent: true}, &recogniser{name: "second"})
	})
}

// TestAccidents: failures that are far apart change nothing.
func TestAccidents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &recogniser{name: "first"}, &recogniser{name: "second"}
		live(t, func(h *house) {
			for range 6 {
				first.set(errBroken)
				s := h.Begin(func(stt.Result) {})
				s.Feed(&audio.Frame{})
				s.End()
				time.Sleep(time.Millisecond)
				synctest.Wait()
				first.set(nil)
				time.Sleep(6 * time.Minute)
				if got := h.hears(t); got != "first" {
					t.Fatalf("%q hears", got)
				}
			}
			if told := h.told(); len(told) != 0 {
				t.Errorf("people are told %q", told)
			}
		}, first, second)
	})
}

// A voice says each byte of a text in a hundred samples with its number.
type voice struct {
	number int16
	check  func() error
}

func (v *voice) Check(context.Context) error { return v.check() }

func (v *voice) Synthesize(ctx context.Context, text string, sound func(int, []int16) error) error {
	pcm := make([]int16, 1600)
	for i := range pcm {
		pcm[i] = v.number
	}
	for range text {
		if err := errors.Join(v.check(), sound(audio.Rate, pcm)); err != nil {
			return err
		}
	}
	return nil
}

// TestTextInOneVoice: a voice that is well again does not take the word from the other in the
// middle of a text.
func TestTextInOneVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		broken := errBroken
		first := &voice{1, func() error { mu.Lock(); defer mu.Unlock(); return broken }}
		second := &voice{2, func() error { return nil }}
		c := engine.New("speaks", []engine.Engine{
			{Name: "first", Dial: remote.Say("first", audio.Rate, first), Check: first.Check},
			{Name: "second", Dial: remote.Say("second", audio.Rate, second)},
		}, func(earshot.Notice) {})
		say := tts.New(tts.Config{Dial: c.Dial, Log: quiet})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			supervise.Run(ctx, "synthesis", say.Run, supervise.Config{})
		})
		time.Sleep(time.Minute)
		speak := func(text string) (voices map[int16]bool) {
			voices = make(map[int16]bool)
			for chunk, err := range say.Say(ctx, text) {
				if err != nil {
					t.Error(err)
				}
				for _, s := range chunk.PCM {
					voices[s] = true
				}
				time.Sleep(time.Minute) // it is heard slowly
				mu.Lock()
				broken = nil
				mu.Unlock()
			}
			return voices
		}
		if voices := speak(strings.Repeat("a ", 40)); len(voices) != 1 || !voices[2] {
			t.Errorf("a text was said by %v", voices)
		}
		time.Sleep(time.Minute)
		if voices := speak("b"); len(voices) != 1 || !voices[1] {
			t.Errorf("the next was said by %v", voices)
		}
		stop()
		running.Wait()
	})
}
