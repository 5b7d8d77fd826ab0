package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/models/remote"
	"earshot/models/stt"
	"earshot/models/tts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// An ear is a recogniser that hears as many words as there are tenths of a second.
type ear struct {
	check error
	fails func() error // asked at the end of each utterance; may be nil
	ends  chan error   // why each utterance ended; may be nil
}

func (e ear) Check(context.Context) error { return e.check }

func (e ear) Transcribe(ctx context.Context, pcm io.Reader, partial func(string)) (text string, err error) {
	defer func() {
		if e.ends != nil {
			e.ends <- err
		}
	}()
	b := make([]byte, 2*audio.Rate/10)
	for n := 1; ; n++ {
		if _, err := io.ReadFull(pcm, b); err == io.EOF {
			if e.fails != nil {
				if err := e.fails(); err != nil {
					return "", err
				}
			}
			return text, nil
		} else if err != nil {
			return "", err
		}
		text = strings.TrimSpace(text + fmt.Sprintf(" w%d", n))
		partial(text)
		partial(text) // a server may say more than anybody wants to know
	}
}

// hear runs a recogniser while test lasts, and returns why it ended.
func hear(t *testing.T, e ear, test func(r *stt.Recogniser)) error {
	t.Helper()
	r := stt.New(stt.Config{Dial: remote.Hear("an ear", e), Names: []string{"Earshot"}, Phrases: []string{"stop"}, Log: quiet})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	synctest.Wait()
	test(r)
	stop()
	return <-ended
}

// say tells a recogniser half a second of sound, and returns what it says of it.
func say(r *stt.Recogniser) (results []stt.Result) {
	var mu sync.Mutex
	s := r.Begin(func(res stt.Result) {
		mu.Lock()
		defer mu.Unlock()
		results = append(results, res)
	})
	for range 25 {
		s.Feed(&audio.Frame{})
		time.Sleep(audio.Time)
	}
	s.End()
	time.Sleep(time.Minute)
	mu.Lock()
	defer mu.Unlock()
	return results
}

// TestHear: words come while somebody speaks and at the end, for one utterance after the other.
func TestHear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := hear(t, ear{}, func(r *stt.Recogniser) {
			for range 3 {
				r.Spot(&audio.Frame{})
				results := say(r)
				last := results[len(results)-1]
				if !last.Final || last.Text != "w1 w2 w3 w4 w5" || last.Confidence != 1 || last.Heard != 500*time.Millisecond {
					t.Errorf("%+v", last)
				}
				if n := len(results) - 1; n < 4 || n > 6 || results[0].Text != "w1" || results[0].Final {
					t.Errorf("%d partial results: %+v", n, results)
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestCancelledUtterance: the engine is told, and hears the next.
func TestCancelledUtterance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan error, 9)
		err := hear(t, ear{ends: ends}, func(r *stt.Recogniser) {
			s := r.Begin(func(res stt.Result) {
				if res.Final {
					t.Errorf("a cancelled utterance was %+v", res)
				}
			})
			s.Feed(&audio.Frame{})
			synctest.Wait()
			s.Cancel()
			synctest.Wait()
			if err := <-ends; !errors.Is(err, context.Canceled) {
				t.Errorf("the engine was told %v", err)
			}
			if results := say(r); results[len(results)-1].Text != "w1 w2 w3 w4 w5" {
				t.Errorf("then it heard %+v", results)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestHearAgain: an utterance on which the engine fails is heard again by the next, and one on
// which it fails each time is given up.
func TestHearAgain(t *testing.T) {
	for _, tt := range []struct {
		fails int
		want  error
	}{{2, nil}, {9, stt.ErrKill}} {
		synctest.Test(t, func(t *testing.T) {
			broken := errors.New("the server closed the connection")
			asked := 0
			e := ear{fails: func() error {
				if asked++; asked <= tt.fails {
					return broken
				}
				return nil
			}}
			r := stt.New(stt.Config{Dial: remote.Hear("an ear", e), Log: quiet})
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() {
				for ctx.Err() == nil {
					if err := r.Run(ctx); err != nil && (!errors.Is(err, broken) || !strings.Contains(err.Error(), "an ear")) {
						t.Errorf("it ended with %v", err)
					}
				}
			})
			results := say(r)
			if last := results[len(results)-1]; !last.Final || !errors.Is(last.Err, tt.want) || tt.want == nil && last.Text != "w1 w2 w3 w4 w5" {
				t.Errorf("after %d failures: %+v", tt.fails, last)
			}
			stop()
			all.Wait()
		})
	}
}

// A wrongError is one that no restart mends.
type wrongError struct{}

func (wrongError) Error() string        { return "the server at x is no recogniser" }
func (wrongError) Cure() string         { return "give the address of one" }
func (wrongError) Is(target error) bool { return target == errors.ErrUnsupported }

// TestCannot: why an engine cannot be used is said, with what to do, and whether it is worth trying
// again.
func TestCannot(t *testing.T) {
	type curable interface {
		error
		Cure() string
	}
	for _, tt := range []struct {
		err     error
		lasting bool
		cure    string
	}{{errors.New("nobody answers"), false, ""}, {wrongError{}, true, "give the address of one"}} {
		synctest.Test(t, func(t *testing.T) {
			_, hears := errors.AsType[curable](hear(t, ear{check: tt.err}, func(*stt.Recogniser) {}))
			if !hears {
				t.Fatal("the recogniser's error has no cure")
			}
			say := tts.New(tts.Config{Dial: remote.Say("a mouth", audio.Rate, mouth{check: tt.err}), Log: quiet})
			err := say.Run(t.Context())
			c, _ := errors.AsType[curable](err)
			if c == nil || err.Error() != tt.err.Error() || errors.Is(err, errors.ErrUnsupported) != tt.lasting || c.Cure() != tt.cure {
				t.Errorf("%v", err)
			}
		})
	}
}

// A mouth is a voice that takes letter samples for each byte of a text, in pieces.
type mouth struct {
	check  error
	rate   int
	letter int
	piece  int
	fails  func() error // asked before each piece; may be nil
}

func (m mouth) Check(context.Context) error { return m.check }

func (m mouth) Synthesize(ctx context.Context, text string, sound func(int, []int16) error) error {
	pcm := make([]int16, len(text)*m.letter)
	for i := range pcm {
		pcm[i] = 1000
	}
	for some := range slices.Chunk(pcm, m.piece) {
		if m.fails != nil {
			if err := m.fails(); err != nil {
				return err
			}
		}
		if err := sound(m.rate, some); err != nil {
			return err
		}
	}
	return nil
}

// speak says a text, and returns its samples, and where its words begin.
func speak(t *testing.T, m mouth, texts ...string) (pcm []int16, words []tts.Word, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Dial: remote.Say("a mouth", audio.Rate, m), Log: quiet})
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			for ctx.Err() == nil {
				s.Run(ctx)
			}
		})
		for _, text := range texts {
			pcm, words, err = nil, nil, nil
			for c, e := range s.Say(ctx, text) {
				pcm, words, err = append(pcm, c.PCM...), append(words, c.Words...), e
			}
		}
		stop()
		all.Wait()
	})
	return pcm, words, err
}

// TestSay: a text is said at the rate of the house, and its words begin where they should,
// whatever the pieces and the rate of the voice: exactly, if it is known how fast the voice speaks.
func TestSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := mouth{
			rate:   rapid.SampledFrom([]int{8000, 16000, 22050, 24000, 48000}).Draw(rt, "rate"),
			letter: rapid.IntRange(100, 3000).Draw(rt, "letter"),
			piece:  rapid.IntRange(200, 100_000).Draw(rt, "piece"),
		}
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}[.,]?`), 1, 8).Draw(rt, "words"), " ")
		pcm, words, err := speak(t, m, text)
		if want := len(text) * m.letter * audio.Rate / m.rate; err != nil || len(pcm) < want-1 || len(pcm) > want+200 {
			rt.Fatalf("%d samples for %d, %v", len(pcm), want, err)
		}
		at := 0
		for i, w := range strings.Fields(text) {
			if i >= len(words) || words[i].Byte != at || words[i].Sample > len(pcm) || i > 0 && words[i].Sample < words[i-1].Sample || i == 0 && words[i].Sample != 0 {
				rt.Fatalf("word %d of %q is at %+v of %d samples", i, text, words, len(pcm))
			}
			at += len(w) + 1
		}
		if len(words) != len(strings.Fields(text)) {
			rt.Fatalf("%d words of %q", len(words), text)
		}
	})
}

// TestSayLearns: from its second text on, the words of a voice are where they should be, although
// its sound comes in small pieces.
func TestSayLearns(t *testing.T) {
	m := mouth{rate: 16000, letter: 400, piece: 320}
	texts := slices.Repeat([]string{"aaaa bbbb cccc dddd eeee ffff"}, 9)
	pcm, words, err := speak(t, m, texts...)
	if err != nil || len(words) != 6 {
		t.Fatalf("%v, %v", words, err)
	}
	for i, w := range words {
		if want := len(pcm) * i / 6; max(w.Sample-want, want-w.Sample) > len(pcm)/30 {
			t.Errorf("word %d begins at %d, not %d", i, w.Sample, want)
		}
	}
}

// TestSayAgain: if a voice fails in the middle, the next goes on where it was, and every word
// begins once.
func TestSayAgain(t *testing.T) {
	n := 0
	m := mouth{rate: 16000, letter: 400, piece: 320, fails: func() error {
		if n++; n == 17 || n == 40 {
			return errors.New("the server closed the connection")
		}
		return nil
	}}
	text := "one two three four five six"
	pcm, words, err := speak(t, m, text)
	if err != nil || len(pcm) != len(text)*400 || len(words) != 6 {
		t.Errorf("%d samples of %d, %v, %v", len(pcm), len(text)*400, words, err)
	}
}

// TestTextIsConcealed: a server that repeats what it was to say does not bring it into the log.
func TestTextIsConcealed(t *testing.T) {
	for _, complaint := range []string{"cannot say \"the door code is 1234\"", "422: the door code is 1234 is too long"} {
		synctest.Test(t, func(t *testing.T) {
			s := tts.New(tts.Config{Dial: remote.Say("a mouth", audio.Rate, mouth{rate: 16000, letter: 1, piece: 1, fails: func() error { return errors.New(complaint) }}), Log: quiet})
			ended := make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			go func() { ended <- s.Run(ctx) }()
			for range s.Say(ctx, "the door code is 1234") {
			}
			stop()
			if err := <-ended; err == nil || strings.Contains(err.Error(), "1234") {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestCutSpeech: a voice whose text nobody wants any more is told, and says the next.
func TestCutSpeech(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Dial: remote.Say("a mouth", audio.Rate, mouth{rate: 24000, letter: 24000, piece: 480}), Log: quiet})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		for range 3 {
			for c, err := range s.Say(ctx, "a long text that is not wanted") {
				if err != nil {
					t.Fatal(err)
				}
				if len(c.PCM) > 0 {
					break
				}
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
