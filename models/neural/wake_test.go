package neural_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
	"earshot/models/neural"
	"earshot/models/wire"
)

// spotting returns a library with a set "kws" whose tokens are those of the tones.
func spotting(t testing.TB, change func(dir string) error, tokens ...string) neural.Library {
	t.Helper()
	l := neural.Library{Dir: t.TempDir(), Log: quiet}
	dir := filepath.Join(l.Dir, "kws")
	err := modeltest.WriteSpotter(dir, tokens...)
	if change != nil {
		err = errors.Join(err, change(dir))
	}
	if err := errors.Join(err, modeltest.Describe(dir, catalog.Wake, catalog.LSTM)); err != nil {
		t.Fatal(err)
	}
	return l
}

// A seeker is the real helper that seeks phrases.
type seeker struct {
	t     testing.TB
	link  helper.Link
	ready chan struct{}
	found chan wire.Phrase
	next  uint32
}

// seek starts it, until the test ends.
func seek(t testing.TB, l neural.Library, open wire.OpenHear) *seeker {
	t.Helper()
	set := find(t, l, "kws")
	link, err := l.Wake(set, func(ctx context.Context) error { _, err := l.Check(ctx, set); return err })()
	if err != nil {
		t.Fatal(err)
	}
	s := &seeker{t, link, make(chan struct{}), make(chan wire.Phrase, 99), 0}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- link.Run(ctx, helper.Handler{Control: func(c helper.Control) error {
			switch c.Name {
			case wire.ReadyName:
				close(s.ready)
			case wire.PhraseName:
				p, err := wire.DecodePhrase(c)
				s.found <- p
				return err
			default:
				return fmt.Errorf("it says %s %s", c.Name, c.Body)
			}
			return nil
		}})
	}()
	t.Cleanup(func() {
		stop()
		if err := testkit.Receive(t, testkit.Patience, "the end of the helper", ended); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	if err := link.Send(wire.OpenName, open); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, testkit.Patience, "a helper that is ready", s.ready)
	return s
}

// hears has it seek in sound, as a stream of its own, and returns its number.
func (s *seeker) hears(pcm []int16) uint32 {
	s.t.Helper()
	s.next++
	for some := range slices.Chunk(pcm, audio.Samples) {
		if err := s.link.SendSound(s.next|wire.Spot, audio.AppendPCM(nil, some)); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.next | wire.Spot
}

// TestSpots: the real helper finds names and phrases in the sound in which it is to seek them, and
// nothing in any other; also if one was found just before.
func TestSpots(t *testing.T) {
	program(t)
	noise := make([]int16, 3*audio.Rate)
	for i := range noise {
		noise[i] = int16(rand.Int32N(1<<14) - 1<<13)
	}
	pieces, phones := []string{"▁one", "▁two", "▁three", "▁four"}, []string{"M", "IY1", "AH0", "T"}
	for _, tt := range []struct {
		name   string
		tokens []string
		open   wire.OpenHear
		has    map[string]string // the phrase that is found in a text of tones
		hasNot []string
	}{
		{"pieces", pieces, wire.OpenHear{Names: []string{"Three, two!"}, Phrases: []string{"one four", "Ева"}},
			map[string]string{"three two": "Three, two!", "four three two three": "Three, two!", "one four": "one four"}, []string{"two three", "four one", "three four two", "one"}},
		{"phones", phones, wire.OpenHear{Names: []string{"Mia"}, Phrases: []string{"tea"}},
			map[string]string{"one two three": "Mia", "four two": "tea"}, []string{"one three two", "three two one", "two four"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := seek(t, spotting(t, nil, tt.tokens...), tt.open)
			for text, want := range tt.has {
				for _, other := range tt.hasNot {
					s.hears(modeltest.Tones(other))
				}
				s.hears(noise)
				s.hears(nil)
				pcm := modeltest.Tones(text)
				at := s.hears(pcm)
				p := testkit.Receive(t, testkit.Patience, fmt.Sprintf("%q in %q", want, text), s.found)
				if p.Stream != at || string(p.Text) != want || p.Sample < len(pcm)/4 || p.Sample > len(pcm) {
					t.Errorf("in stream %x with %q of %d samples, %q is found at %d in %x", at, text, len(pcm), string(p.Text), p.Sample, p.Stream)
				}
				twice := s.hears(slices.Concat(pcm, pcm))
				for range 2 {
					if p := testkit.Receive(t, testkit.Patience, "the second phrase", s.found); p.Stream != twice || string(p.Text) != want {
						t.Errorf("of two, it found %+v", p)
					}
				}
			}
			if n := len(s.found); n > 0 {
				t.Errorf("it also found %d phrases", n)
			}
		})
	}
}

// TestSpotsNothing: if a set can spell none of the phrases, the helper says so in a sentence with a
// cure, and lives.
func TestSpotsNothing(t *testing.T) {
	program(t)
	l := spotting(t, nil, "▁one", "▁two", "▁three", "▁four")
	for name, open := range map[string]wire.OpenHear{
		"nothing": {}, "another script": {Names: []string{"Ева"}}, "unknown pieces": {Names: []string{"Earshot"}, Phrases: []string{"stop talking", "@ZERO", "<blk>", ":9 #9"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := find(t, l, "kws")
			link, err := l.Wake(set, func(context.Context) error { return nil })()
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), testkit.Patience)
			defer stop()
			ended := make(chan error, 1)
			go func() {
				ended <- link.Run(ctx, helper.Handler{Control: func(c helper.Control) error {
					if c.Name != wire.FaultName {
						return fmt.Errorf("it says %s", c.Name)
					}
					return helper.DecodeFault(c)
				}})
			}()
			if err := link.Send(wire.OpenName, open); err != nil {
				t.Fatal(err)
			}
			err = testkit.Receive(t, testkit.Patience, "what is wrong", ended)
			if err == nil || !strings.HasSuffix(err.Error(), ": the model kws cannot spell what it is to listen for") || helper.NewFault(err).Cure == "" || !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// TestBadSpotters: what is wrong with a set that seeks phrases is one sentence, found out before it is
// used.
func TestBadSpotters(t *testing.T) {
	program(t)
	l := spotting(t, nil, "▁one", "▁two", "▁three", "▁four")
	if r, err := l.Check(t.Context(), find(t, l, "kws")); err != nil || r.Speed <= 0 || r.Memory < 1<<20 || r.Slow() {
		t.Errorf("a good one runs like %+v, %v", r, err)
	}
	for name, tt := range map[string]struct {
		change func(string) error
		says   string
	}{
		"empty":            {put("encoder.onnx", ""), "it is damaged (Load model from "},
		"cut":              {cut("joiner.onnx"), "it is damaged (Load model from "},
		"missing":          {gone("decoder.onnx"), "a lstm has a file decoder, and its description names none"},
		"without a fact":   {func(dir string) error { return modeltest.WriteTransducer(dir, "d_model") }, "it is not a model of the kind that its description says"},
		"no tokens":        {put("tokens.txt", ""), "it has no tokens"},
		"malformed tokens": {put("tokens.txt", "<!DOCTYPE html>\n▁one 1\n"), "it is not a model of the kind that its description says"},
	} {
		l := spotting(t, tt.change, "▁one", "▁two", "▁three", "▁four")
		_, err := l.Check(t.Context(), find(t, l, "kws"))
		if err == nil || !strings.HasPrefix(err.Error(), "the model kws cannot be used: "+tt.says) || helper.NewFault(err).Cure == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
